/* SPDX-License-Identifier: MIT */
/*
 * reader.h - one interface for all traces: CTF, perf.data, trace.dat, waymark's own.
 *
 * A trace is a set of *packets*: pieces of a file that can be decoded separately and in which time
 * does not decrease (a CTF packet, a page of ftrace's ring, a sorted round of perf.data). Opening
 * makes the list of packets and reads no event. Callers that need order use merge.h, which opens a
 * packet when time reaches it; the others read packets on several threads (scan.h).
 *
 * A format is one table of functions, struct wm_reader_ops, and one entry in read/open.c. It fills
 * the public parts of struct wm_trace when it opens, and decodes packets into batches afterwards.
 * Everything in a file is hostile.
 *
 * Damage is not an error: all readable parts are read, and each loss is a wm_fault with file,
 * offset and reason. Errors are: out of memory, a read refused by the system, a file that is not a
 * trace.
 *
 * Threads: a wm_trace is immutable after opening except for its list of faults, which is locked.
 * Packet readers belong to one thread each.
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

#define WM_TIME_NONE     INT64_MIN    /* time of an event without a clock */
#define WM_TRACE_FAULTS  1000u        /* faults kept; more are counted */
#define WM_BATCH_EVENTS  64u          /* wanted in one batch, so that it fits the L1 cache */
#define WM_READER_WINDOW (256u << 10) /* bytes of a packet read at a time */
#define WM_BUILD_ID_MAX  64u          /* bytes; current ones have 20 */
#define WM_KALLSYMS_MAX  (256u << 20) /* bytes of text */

#define WM_TRACE_BINARIES (1u << 20) /* kept */

struct wm_trace;
struct wm_packet_reader;

/* The description of an event: its name and the types of its parts. Belongs to the trace. */
struct wm_event_type {
	const char *name;                         /* as the tracer wrote it; may lack a provider */
	int level;                                /* in the tracer's numbering; -1: none */
	uint64_t id;                              /* in its stream class */
	uint32_t index;                           /* into trace->types */
	const struct wm_type *parts[WM_NR_PARTS]; /* STRUCT each, or NULL */
	const char *provider; /* the part before the first colon, or the kernel's system; or "" */
	const char *print;    /* print form, as the tracer wrote it, or NULL */
	bool prints;          /* ops->print() has a text for each of its events */
	uint32_t print_parts; /* bits 1 << enum wm_part: parts whose items it reads */
	uint32_t nr_contexts; /* number of leading fields that are contexts */
	bool meta;            /* about the recording; shown only on request */
	uint64_t period;      /* of samples without a period of their own */
	uint64_t user_regs;   /* registers in samples' regs_user: bits as in perf */
	const void *own;      /* private to the format */
};

struct wm_trace_clock {
	const char *name;
	uint64_t hz;
	int64_t offset_ns; /* of tick 0 since the origin, rounded down; */
	uint64_t rest;     /* remainder in parts of a nanosecond: below hz */
	uint64_t error_ns; /* accuracy of the offset; UINT64_MAX: unknown */
	bool is_epoch;     /* the origin is 1970: wall time can be printed */
};

/* A property of the trace: host, tracer, kernel, command... */
struct wm_trace_word {
	const char *key, *text;
};

/* One of several traces in a folder that were opened as one. */
struct wm_trace_origin {
	const char *name; /* its folder relative to the trace's path */
	const char *uuid; /* as text, or NULL */
	uint32_t nr_words;
	const struct wm_trace_word *words; /* its own words: hostname, procname, vpid... */
};

struct wm_stream {
	const char *file; /* relative to the trace's path; "" when the path is a file */
	uint64_t class_id, instance;
	uint32_t index;                       /* into trace->streams; orders equal times */
	int32_t cpu;                          /* the stream's only CPU; -1: none or several */
	const struct wm_trace_clock *clock;   /* NULL: its events have no time */
	const struct wm_trace_origin *origin; /* NULL: the trace is a single one */
	bool meta;                            /* all its events are about the recording */
};

/* One entry of the index, 64 bytes. The format sorts entries by stream, then by place. */
struct wm_packet {
	uint64_t offset, bytes;   /* in the stream's file */
	int64_t begin_ns, end_ns; /* bounds of all events; MIN and MAX when unknown */
	uint64_t nr_events;       /* UINT64_MAX: unknown without decoding */
	uint32_t stream;          /* index */
	uint32_t part;            /* private to the format: index of its data about the packet */
	uint64_t lost;            /* events lost directly in front of it; 0: none known */
	uint64_t own;             /* private to the format */
};

/* Lost events that the tracer reported. */
struct wm_trace_loss {
	uint32_t stream; /* index; UINT32_MAX: the whole trace */
	uint64_t count;  /* UINT64_MAX: unknown number */
	bool packets;    /* counts packets, not events */
	int64_t begin_ns, end_ns;
	const char *cause; /* one word, or "" when unknown */
};

/* A mapped file, the kernel or a kernel module, with its build-id. */
struct wm_trace_binary {
	const char *path; /* as the tracer wrote it; for the kernel often "[kernel.kallsyms]" */
	const unsigned char *build_id;
	uint32_t build_id_bytes; /* 1 to WM_BUILD_ID_MAX */
	bool kernel;             /* the kernel, or a module of it */
};

#define WM_CAUSE_UNKNOWN "unknown"

/* Total lost for one cause, when the tracer keeps such counts. */
struct wm_trace_cause {
	const char *name;
	uint64_t count;
};

/* A process of the recording, from the time it joined to its end. */
struct wm_trace_process {
	uint32_t pid, ppid, vpid, uid;
	int64_t begin_ns, end_ns; /* end INT64_MAX: its end was not seen */
	const char *comm, *path;
};

struct wm_fault {
	const char *file;
	uint64_t offset;
	const char *reason;
};

/*
 * The items of one part: its members, without an item for the part itself. The events of a packet
 * may share those of its header and context.
 */
struct wm_part_range {
	uint32_t at, end;
};

/* Processor mode; perf's numbers. */
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
	int32_t cpu, pid, tid;    /* -1: unknown. pid is the process, tid the thread */
	uint8_t mode;             /* enum wm_event_mode */
	const unsigned char *raw; /* the record's bytes, when a print form needs them */
	uint32_t raw_bytes;
	const unsigned char *record; /* perf.data: the whole record; not set by other formats */
	const struct wm_item *items; /* of the batch; all indices are relative to it */
	struct wm_part_range parts[WM_NR_PARTS];
};

/*
 * Decoded events of one packet. Everything is valid until the next batch is read into it. Items may
 * move while a batch grows, so wm_batch_read() sets wm_event.items at the end.
 */
struct wm_batch {
	struct wm_event *events;
	struct wm_item *items;
	uint32_t nr_events, nr_items;
	uint32_t room_events, room_items;
};

/* What the consumer needs; readers need not produce anything else. Zero: everything. */
struct wm_want {
	const bool *types; /* by index of trace->types; NULL: all. Others are skipped */
	uint32_t no_parts; /* bits 1 << enum wm_part: make no items for these parts */
	uint32_t nr_open;  /* readers in use at a time; many get less memory each */
	/*
	 * A reader may leave out a packet's first events, up to one at from_ns: they precede the
	 * requested window. It need not.
	 */
	bool has_from;
	int64_t from_ns;
};

/* The number of events a batch should have, and the bytes of a file a reader should hold. */
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
	 * Returns whether the path looks like this format. `head` holds its first bytes (0 for a
	 * folder). Reads nothing else except names in a folder.
	 */
	bool (*probe)(const char *path, bool is_folder, const unsigned char *head, size_t bytes);

	/* Fills the trace; `own` is private to the format. 0 or -errno with `diag`. */
	int (*open)(struct wm_trace *t, const char *path, struct wm_diag *diag);
	void (*close)(struct wm_trace *t); /* also called after a failed open() */

	/*
	 * A reader of packets, for one thread at a time. Created once and pointed at packets in
	 * turn, so that memory is reused; reader_begin() discards the data of the previous packet.
	 * `want` remains the caller's.
	 */
	struct wm_packet_reader *(*reader_create)(struct wm_trace *t, const struct wm_want *want);
	int (*reader_begin)(struct wm_packet_reader *r, const struct wm_packet *p);
	/*
	 * Adds up to about wm_want_events() events to the batch, which is empty. Returns their
	 * number, 0 at the end of the packet, -errno. A bad record ends the packet with a fault.
	 */
	int (*reader_read)(struct wm_packet_reader *r, struct wm_batch *b);
	void (*reader_destroy)(struct wm_packet_reader *r);

	/* The name of the event's thread at that time, or "". May be NULL. */
	const char *(*comm)(const struct wm_trace *t, const struct wm_event *e);

	/*
	 * Appends the print form of an event whose type `prints`; false: not available. Forms of
	 * other types are printf formats, in which each conversion takes the next field. May be
	 * NULL.
	 */
	bool (*print)(const struct wm_trace *t, const struct wm_event *e, struct wm_text *out);

	/*
	 * The traced kernel's symbols, malloc'ed. 0; -ENOENT: the trace has none; -errno. Called
	 * once. May be NULL.
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
	int64_t begin_ns, end_ns; /* of all packets; begin > end when there are none */
	char version[16];         /* of the format: "1.8", "7" */

	uint32_t nr_binaries;
	struct wm_trace_binary *binaries; /* each build of each path once */
	uint32_t nr_binary_places;
	uint32_t *binary_places; /* malloc'ed: index + 1, by hash; 0: free */
	char *kallsyms;          /* malloc'ed; NULL: not requested yet */
	size_t kallsyms_bytes;

	/*
	 * Each event has its time and task, except for events at the very begin: a consumer that
	 * got the threads and mappings up to a time can start there, without the other events
	 * before it.
	 */
	bool divisible;

	bool is_own; /* waymark recorded it. The following are for its traces only: */
	uint32_t nr_causes, nr_processes;
	struct wm_trace_cause *causes;      /* include `losses`, which packets' counters give */
	struct wm_trace_process *processes; /* by pid, then by begin */

	void *own; /* private to the format */

	pthread_mutex_t fault_lock;
	struct wm_fault *faults; /* in an arena of their own */
	struct wm_arena fault_arena;
	uint32_t nr_faults;
	uint64_t nr_faults_more; /* counted but not kept */
	bool incomplete;         /* the tracer is still writing, or was killed */
};

void wm_trace_close(struct wm_trace *t); /* read/open.h opens a trace */

/*
 * The symbols of the traced kernel, lines as in /proc/kallsyms; the text belongs to the trace. 0;
 * -ENOENT: the trace has none; -errno. Thread-safe.
 */
int wm_trace_kallsyms(struct wm_trace *t, const char **ret_text, size_t *ret_bytes);

/* Empties the batch and reads the next one of the packet; returns like reader_read(). */
int wm_batch_read(struct wm_trace *t, struct wm_packet_reader *r, struct wm_batch *b);

/*
 * Sorts the faults from that index on by file and offset, because threads report them in any order.
 */
void wm_trace_sort_faults(struct wm_trace *t, uint32_t first);
void wm_batch_done(struct wm_batch *b);

/* --- for formats ----------------------------------------------------------- */

/* A new trace without ops; wm_trace_close() frees it. NULL: out of memory. */
struct wm_trace *wm_trace_create(const char *path);

/*
 * Copies its arguments; `file` may be "" for a trace that is one file. A repeated fault is not
 * kept. Thread-safe.
 */
void wm_trace_fault(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* 0 or -ENOMEM; only while opening. */
int wm_trace_add_type(struct wm_trace *t, struct wm_event_type *type); /* sets its index */
int wm_trace_add_stream(struct wm_trace *t, struct wm_stream *stream); /* sets its index */
int wm_trace_add_clock(struct wm_trace *t, struct wm_trace_clock *clock);
int wm_trace_add_packet(struct wm_trace *t, const struct wm_packet *p);
int wm_trace_add_loss(struct wm_trace *t, const struct wm_trace_loss *loss);
int wm_trace_add_word(struct wm_trace *t, const char *key, const char *text); /* copies */
const char *wm_trace_word(const struct wm_trace *t, const char *key); /* NULL: no such word */

/*
 * "sched" for "sched:sched_switch", in the trace's arena; "" without a provider. NULL: out of
 * memory.
 */
const char *wm_trace_provider(struct wm_trace *t, const char *name);

/* Returns whether the member of that structure is the length of the next one: _NAME_length. */
bool wm_member_is_length(const struct wm_type *t, const struct wm_member *m);
/*
 * Copies its arguments; binaries known already, and those without build-id or path, are left out.
 */
int wm_trace_add_binary(struct wm_trace *t, const char *path, size_t path_bytes,
			const void *build_id, uint32_t build_id_bytes, bool kernel);

/* The word of the stream's origin, else of the trace; or NULL. */
const char *wm_stream_word(const struct wm_trace *t, const struct wm_stream *s, const char *key);

/* Makes room for one more event and `nr_items` more items; false: out of memory. */
bool wm_batch_grow(struct wm_batch *b, uint32_t nr_items);
static inline bool wm_batch_room(struct wm_batch *b, uint32_t nr_items)
{
	return (b->nr_events < b->room_events && nr_items <= b->room_items - b->nr_items) ||
	       wm_batch_grow(b, nr_items);
}

/*
 * The next item; the caller made room for it. It is a leaf; for an item with parts the caller sets
 * count, and `next` after its parts were added.
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
