/* SPDX-License-Identifier: MIT */
/*
 * reader.h - one face for all traces: CTF, perf.data, trace.dat, our own.
 *
 * A trace is a set of *packets*: pieces of a file that can be decoded alone and
 * in which time does not run back (a CTF packet, a page of ftrace's ring, a
 * round of perf.data sorted). Opening makes the list of packets and reads no
 * event. Who wants order asks merge.h, which opens a packet when time gets to
 * it; who does not walks packets on as many threads as there are (scan.h).
 *
 * A format is one table of functions, struct wm_reader_ops, and one entry in
 * open.c. It fills the public parts of struct wm_trace when it opens, and
 * decodes packets into batches afterwards. Everything in a file is hostile.
 *
 * Damage is not an error: what can be read is read, and each loss is a
 * wm_fault with file, offset and reason. An error is: no memory, the system
 * refuses a read, the thing is no trace at all.
 *
 * Threads: a wm_trace is immutable after opening but for its list of faults,
 * which is locked. Packet readers belong to one thread each.
 */
#ifndef WM_TRACE_READER_H
#define WM_TRACE_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "event/item.h"

#define WM_TIME_NONE     INT64_MIN    /* of an event without a clock */
#define WM_TRACE_FAULTS  1000u        /* kept; more are counted */
#define WM_BATCH_EVENTS  64u          /* wanted in one batch: it stays in the nearest cache */
#define WM_READER_WINDOW (256u << 10) /* bytes of a packet read at a time */
#define WM_BUILD_ID_MAX  64u          /* bytes; today's have 20 */
#define WM_KALLSYMS_MAX  (256u << 20) /* bytes of text */

#define WM_TRACE_BINARIES (1u << 20) /* kept */

struct wm_trace;
struct wm_packet_reader;

/* What an event is: its name and the types of its parts. Belongs to the trace. */
struct wm_event_type {
	const char *name;                         /* as the tracer wrote it, "prov:name" or not */
	int level;                                /* as the tracer counts them; -1: none */
	uint64_t id;                              /* in its stream class */
	uint32_t index;                           /* of trace->types */
	const struct wm_type *parts[WM_NR_PARTS]; /* STRUCT each; NULL: none */
	const char *provider; /* before the first colon, or the kernel's system; "": none */
	const char *print;    /* print form, as the tracer wrote it; NULL: none */
	bool prints;          /* ops->print() has a text for each of its events */
	uint32_t print_parts; /* bits 1 << enum wm_part: whose items it reads */
	uint32_t nr_contexts; /* so many of the fields, the first ones, are contexts in truth */
	bool meta;            /* about the recording; people see these when they ask */
	uint64_t period;      /* of a sample that does not say its own */
	uint64_t user_regs;   /* which registers a sample's regs_user has: a bit each, as perf's */
	const void *own;      /* the format's */
};

struct wm_trace_clock {
	const char *name;
	uint64_t hz;
	int64_t offset_ns; /* of tick 0 since the origin, rounded down; */
	uint64_t rest;     /* what that left, in parts of a nanosecond: below hz */
	uint64_t error_ns; /* how well that is known; UINT64_MAX: not said */
	bool is_epoch;     /* the origin is 1970: wall time can be shown */
};

/* A word about the trace: host, tracer, kernel, command... */
struct wm_trace_word {
	const char *key, *text;
};

/* One of several traces in a folder, when they were opened as one. */
struct wm_trace_origin {
	const char *name; /* its folder below the trace's path */
	const char *uuid; /* as text; NULL: none */
	uint32_t nr_words;
	const struct wm_trace_word *words; /* of its own: hostname, procname, vpid... */
};

struct wm_stream {
	const char *file; /* below the trace's path; "" when that is a file itself */
	uint64_t class_id, instance;
	uint32_t index;                     /* of trace->streams; equal times come in this order */
	int32_t cpu;                        /* the only one; -1: none or several */
	const struct wm_trace_clock *clock; /* NULL: no event has a time */
	const struct wm_trace_origin *origin; /* NULL: the trace is one */
	bool meta;                            /* all its events are about the recording */
};

/* One entry of the index, 64 bytes. Sorted by the format: stream, then place. */
struct wm_packet {
	uint64_t offset, bytes;   /* in the stream's file */
	int64_t begin_ns, end_ns; /* no event is outside; MIN and MAX when nobody knows */
	uint64_t nr_events;       /* UINT64_MAX: not known without decoding */
	uint32_t stream;          /* index */
	uint32_t part;            /* the format's: of what it keeps about the packet */
	uint64_t lost;            /* events lost right before it; 0: none known */
	uint64_t own;             /* the format's */
};

/* Events the tracer itself said it lost. */
struct wm_trace_loss {
	uint32_t stream; /* index; UINT32_MAX: the whole trace */
	uint64_t count;  /* UINT64_MAX: some */
	bool packets;    /* counts packets, not events */
	int64_t begin_ns, end_ns;
	const char *cause; /* a word; "" unknown */
};

/* A file that was mapped, the kernel or a module of it; and which build of it that was. */
struct wm_trace_binary {
	const char *path; /* as the tracer wrote it; of the kernel often "[kernel.kallsyms]" */
	const unsigned char *build_id;
	uint32_t build_id_bytes; /* 1 to WM_BUILD_ID_MAX */
	bool kernel;             /* the kernel, or a module of it */
};

#define WM_CAUSE_UNKNOWN "unknown"

/* All that was lost for one cause, where the tracer keeps such accounts. */
struct wm_trace_cause {
	const char *name;
	uint64_t count;
};

/* A process of the recording, from its joining to its end. */
struct wm_trace_process {
	uint32_t pid, ppid, vpid, uid;
	int64_t begin_ns, end_ns; /* end INT64_MAX: not seen to end */
	const char *comm, *path;
};

struct wm_fault {
	const char *file;
	uint64_t offset;
	const char *reason;
};

/*
 * The items of one part: its members, without an item for the part itself.
 * The events of a packet may share those of its header and context.
 */
struct wm_part_range {
	uint32_t at, end;
};

/* What the processor was doing; perf's numbers. */
enum wm_event_mode {
	WM_MODE_UNKNOWN,
	WM_MODE_KERNEL,
	WM_MODE_USER,
	WM_MODE_HYPERVISOR,
	WM_MODE_GUEST_KERNEL,
	WM_MODE_GUEST_USER,
};

struct wm_event {
	int64_t ns;     /* since the clock's origin, rounded down; or WM_TIME_NONE */
	uint64_t clock; /* ticks */
	const struct wm_event_type *type;
	const struct wm_stream *stream;
	const struct wm_packet *packet;
	int32_t cpu, pid, tid;    /* -1: not known. pid is the process, tid the thread */
	uint8_t mode;             /* enum wm_event_mode */
	const unsigned char *raw; /* the record's bytes, where a print form needs them */
	uint32_t raw_bytes;
	const unsigned char *record; /* of perf.data: all of it; others leave it alone */
	const struct wm_item *items; /* of the batch; all indices count from here */
	struct wm_part_range parts[WM_NR_PARTS];
};

/*
 * Events of one packet, decoded. Everything is valid until the next batch is
 * read into it. Items may move while a
 * batch grows, so wm_batch_read() sets wm_event.items at the end.
 */
struct wm_batch {
	struct wm_event *events;
	struct wm_item *items;
	uint32_t nr_events, nr_items;
	uint32_t room_events, room_items;
};

/* What a consumer does not need is not made. Zero is: everything. */
struct wm_want {
	const bool *types; /* by index of trace->types; NULL: all. Unwanted ones are stepped over */
	uint32_t no_parts; /* bits 1 << enum wm_part: make no items of these */
	uint32_t nr_open;  /* readers there may be at a time; many get less memory each */
	/*
	 * Whether a packet's first events, up to one at from_ns, may be left
	 * out: they are before what is asked for. A reader need not.
	 */
	bool has_from;
	int64_t from_ns;
};

/* How many events a batch should have, and the bytes of a file a reader should hold. */
static inline uint32_t wm_want_events(const struct wm_want *w)
{
	return !w || w->nr_open <= 64 ? WM_BATCH_EVENTS
	       : w->nr_open <= 512    ? WM_BATCH_EVENTS / 8
				      : 8;
}
static inline uint32_t wm_want_window(const struct wm_want *w)
{
	return !w || w->nr_open <= 64 ? WM_READER_WINDOW
	       : w->nr_open <= 512    ? WM_READER_WINDOW / 8
				      : WM_READER_WINDOW / 32;
}

struct wm_reader_ops {
	const char *name; /* "ctf", "perf.data", "trace.dat" */

	/*
	 * Does the path look like one? `head` holds its first bytes (0 of a
	 * folder). Reads nothing else but names in a folder.
	 */
	bool (*probe)(const char *path, bool is_folder, const unsigned char *head, size_t bytes);

	/* Fills the trace; `own` is what it keeps. 0 or -errno with `diag`. */
	int (*open)(struct wm_trace *t, const char *path, struct wm_diag *diag);
	void (*close)(struct wm_trace *t); /* also when open() failed anywhere */

	/*
	 * A reader of packets, for one thread at a time. Made once and pointed
	 * at packets in turn, so that memory is used again; what it held of the
	 * packet before is gone with reader_begin(). `want` stays the caller's.
	 */
	struct wm_packet_reader *(*reader_create)(struct wm_trace *t, const struct wm_want *want);
	int (*reader_begin)(struct wm_packet_reader *r, const struct wm_packet *p);
	/*
	 * Adds up to about wm_want_events() events to the batch (which is
	 * empty). Their count, 0 at the end of the packet, -errno. A bad
	 * record ends the packet with a fault.
	 */
	int (*reader_read)(struct wm_packet_reader *r, struct wm_batch *b);
	void (*reader_destroy)(struct wm_packet_reader *r);

	/* The name the event's thread had, or "". May be NULL. */
	const char *(*comm)(const struct wm_trace *t, const struct wm_event *e);

	/*
	 * Adds the print form of an event whose type `prints`; false: it has
	 * none. Forms of other types are printf's, each conversion takes the
	 * next field. May be NULL.
	 */
	bool (*print)(const struct wm_trace *t, const struct wm_event *e, struct wm_text *out);

	/*
	 * The traced kernel's symbols, malloc'ed. 0, -ENOENT: there are none,
	 * -errno. Asked once. May be NULL.
	 */
	int (*kallsyms)(struct wm_trace *t, char **ret_text, size_t *ret_bytes);
};

struct wm_trace {
	const struct wm_reader_ops *ops;
	char *path;
	struct wm_arena arena; /* of everything that lives as long as the trace */

	uint32_t nr_types, nr_streams, nr_clocks, nr_words, nr_losses;
	struct wm_event_type **types;
	struct wm_stream **streams;
	struct wm_trace_clock **clocks;
	struct wm_trace_word *words;
	struct wm_trace_loss *losses;
	struct wm_packet *packets; /* malloc'ed: there can be millions */
	uint64_t nr_packets;
	int64_t begin_ns, end_ns; /* of all packets; begin > end: none */
	char version[16];         /* of the format: "1.8", "7" */

	uint32_t nr_binaries;
	struct wm_trace_binary *binaries; /* each build of each path once */
	uint32_t nr_binary_places;
	uint32_t *binary_places; /* malloc'ed: index + 1, by hash; 0: free */
	char *kallsyms;          /* malloc'ed; NULL: nobody has asked */
	size_t kallsyms_bytes;

	/*
	 * Each event says when it was and whose, but for those that come first of
	 * all: who was told of threads and mappings up to a moment can read on from
	 * there, without the other events before.
	 */
	bool divisible;

	bool is_own; /* waymark recorded it. Only then: */
	uint32_t nr_causes, nr_processes;
	struct wm_trace_cause *causes; /* they include what `losses`, from packets' counters, say */
	struct wm_trace_process *processes; /* by pid, then by begin */

	void *own; /* the format's */

	pthread_mutex_t fault_lock;
	struct wm_fault *faults; /* in an arena of their own */
	struct wm_arena fault_arena;
	uint32_t nr_faults;
	uint64_t nr_faults_more; /* not kept */
	bool incomplete;         /* the tracer is still writing, or was killed */
};

void wm_trace_close(struct wm_trace *t); /* read/open.h opens one */

/*
 * The symbols of the kernel that was traced, lines as in /proc/kallsyms; the
 * text is the trace's. 0; -ENOENT: they did not come with it; -errno. Thread-safe.
 */
int wm_trace_kallsyms(struct wm_trace *t, const char **ret_text, size_t *ret_bytes);

/* Empties the batch and reads the next one of the packet, as reader_read() says. */
int wm_batch_read(struct wm_trace *t, struct wm_packet_reader *r, struct wm_batch *b);

/*
 * Faults from the one with that index on by file and offset: threads told of
 * them in any order.
 */
void wm_trace_sort_faults(struct wm_trace *t, uint32_t first);
void wm_batch_done(struct wm_batch *b);

/* --- for formats ----------------------------------------------------------- */

/* An empty one, without ops; wm_trace_close() takes it. NULL: out of memory. */
struct wm_trace *wm_trace_create(const char *path);

/*
 * Copies what it is given; a trace that is one file may be "". The same fault
 * again is not kept. Thread-safe.
 */
void wm_trace_fault(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* 0 or -ENOMEM; for opening only. */
int wm_trace_add_type(struct wm_trace *t, struct wm_event_type *type); /* sets its index */
int wm_trace_add_stream(struct wm_trace *t, struct wm_stream *stream); /* sets its index */
int wm_trace_add_clock(struct wm_trace *t, struct wm_trace_clock *clock);
int wm_trace_add_packet(struct wm_trace *t, const struct wm_packet *p);
int wm_trace_add_loss(struct wm_trace *t, const struct wm_trace_loss *loss);
int wm_trace_add_word(struct wm_trace *t, const char *key, const char *text); /* copies */
const char *wm_trace_word(const struct wm_trace *t, const char *key);         /* NULL: none */

/* "sched" of "sched:sched_switch", in the trace's arena; "": there is none. NULL: no memory. */
const char *wm_trace_provider(struct wm_trace *t, const char *name);

/* Is the member, of that structure, the length of the one behind it: _NAME_length? */
bool wm_member_is_length(const struct wm_type *t, const struct wm_member *m);
/* Copies; one that is there already, without build-id or path, is left out. */
int wm_trace_add_binary(struct wm_trace *t, const char *path, size_t path_bytes,
			const void *build_id, uint32_t build_id_bytes, bool kernel);

/* The word of the stream's origin, else of the trace; NULL: none. */
const char *wm_stream_word(const struct wm_trace *t, const struct wm_stream *s, const char *key);

/* Makes room for one more event and `nr_items` more items; false: no memory. */
bool wm_batch_grow(struct wm_batch *b, uint32_t nr_items);
static inline bool wm_batch_room(struct wm_batch *b, uint32_t nr_items)
{
	return (b->nr_events < b->room_events && nr_items <= b->room_items - b->nr_items) ||
	       wm_batch_grow(b, nr_items);
}

/*
 * The next item; room was asked for. A leaf as it stands; who adds what has
 * parts sets count, and `next` when they are there.
 */
static inline struct wm_item *wm_batch_item(struct wm_batch *b, const struct wm_member *m)
{
	struct wm_item *i = &b->items[b->nr_items++];

	i->member = m;
	i->count = 0;
	i->next = b->nr_items;
	return i;
}

#endif
