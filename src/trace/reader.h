/* SPDX-License-Identifier: MIT */
/*
 * reader.h - one interface for all traces: CTF, perf.data, trace.dat, waymark's own.
 *
 * A trace is a set of *packets*: pieces of a file that can be decoded separately and in which time
 * does not decrease (a CTF packet, a page of ftrace's ring, a sorted round of perf.data). Opening a
 * trace builds the list of packets and reads no events. Callers that need order use merge.h, which
 * opens a packet when time reaches it; others read packets on several threads (scan.h).
 *
 * A format is one table of functions, struct wm_reader_ops, and one entry in read/open.c. It fills
 * the public parts of struct wm_trace when it opens, and decodes packets into batches afterwards.
 * Nothing in a file is trusted.
 *
 * Damage is not an error: all readable parts are read, and each loss is a wm_fault with file,
 * offset and reason. The only errors are running out of memory, a read refused by the system, and a
 * file that is not a trace. A violation of the format that costs no data is a warning.
 *
 * Threads: a wm_trace is immutable after opening except for its lists of faults and warnings, which
 * are locked. Each packet reader belongs to one thread.
 */
#ifndef WM_TRACE_READER_H
#define WM_TRACE_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/table.h"
#include "base/text.h"
#include "event/item.h"
#include "kdata/kernel_names.h"

#define WM_TIME_NONE     INT64_MIN    /* time of an event without a clock */
#define WM_TRACE_FAULTS  1000u        /* faults stored, and warnings; any more are only counted */
#define WM_BATCH_EVENTS  64u          /* events per batch: few enough to fit the L1 cache */
#define WM_READER_WINDOW (256u << 10) /* bytes of a packet read at a time */
#define WM_BUILD_ID_MAX  64u          /* bytes; linkers write 20 today */
#define WM_KALLSYMS_MAX  (256u << 20) /* bytes of text */

#define WM_TRACE_BINARIES (1u << 20) /* binaries that are stored */

struct wm_trace;
struct wm_packet_reader;

/* The description of an event: its name and the types of its parts. Belongs to the trace. */
struct wm_event_type {
	/* as the tracer wrote it, possibly without a provider */
	const char *name;
	/* log level in the tracer's numbering; -1: none */
	int level;
	uint64_t id;                              /* in its stream class */
	uint32_t index;                           /* into trace->types */
	const struct wm_type *parts[WM_NR_PARTS]; /* STRUCT each, or NULL */
	const char *provider; /* the part before the first colon, or the kernel's system; or "" */
	const char *print;    /* print form, as the tracer wrote it, or NULL */
	bool prints;          /* ops->print() formats its events, instead of `print` */
	uint32_t print_parts; /* bits 1 << enum wm_part: the parts that formatting needs */
	uint32_t nr_contexts; /* number of leading fields that are contexts */
	bool meta;            /* describes the recording itself; shown only on request */
	uint64_t period;      /* sampling period, when the samples do not carry it */
	bool has_lbr_chains;  /* the processor recorded the program's part of call chains */
	uint64_t user_regs;   /* registers in samples' regs_user: bits as in perf */
	const void *own;      /* private to the format */
};

struct wm_trace_clock {
	const char *name;
	uint64_t hz;
	int64_t offset_ns; /* time of tick 0 since the origin, rounded down */
	uint64_t rest;     /* remainder of offset_ns, in 1/hz ns */
	uint64_t error_ns; /* accuracy of the offset; UINT64_MAX: unknown */
	bool is_epoch;     /* the origin is 1970: wall time can be printed */
	/*
	 * The tracer's own tool prints times without the offset, and so does view in that tool's
	 * format.
	 */
	bool is_shown_raw;
	/*
	 * What it counts from: clocks with equal strings have the same origin. NULL: 1970 if
	 * is_epoch, else the origin that the kernel's clocks share.
	 */
	const char *origin;
};

/* A property of the trace: host, tracer, kernel, command... */
struct wm_trace_word {
	const char *key, *text;
};

/* One of the traces in a folder that were opened together as one. */
struct wm_trace_origin {
	const char *name;       /* folder of this trace, relative to the path that was opened */
	const char *uuid;       /* as text; equal in all parts of a trace; NULL: unknown */
	const char *shown_uuid; /* the trace's actual UUID, or NULL */
	uint32_t nr_words;
	/* properties of this trace: hostname, procname, vpid... */
	const struct wm_trace_word *words;
};

struct wm_stream {
	const char *file; /* relative to the trace's path; "" when the path is a file */
	uint64_t class_id, instance;
	const char *buffer;                   /* the tracer's buffer if it has a name, else NULL */
	uint32_t index;                       /* into trace->streams; breaks ties of equal times */
	int32_t cpu;                          /* the stream's only CPU; -1: none or several */
	const struct wm_trace_clock *clock;   /* NULL: its events have no time */
	const struct wm_trace_origin *origin; /* NULL: the trace is a single one */
	bool meta;                            /* all its events are about the recording */
};

/* One entry of the index, 64 bytes. The format sorts entries by stream, then by position. */
struct wm_packet {
	uint64_t offset, bytes; /* range in the stream's file */
	/* time range of its events; INT64_MIN and INT64_MAX when unknown */
	int64_t begin_ns, end_ns;
	uint64_t nr_events; /* UINT64_MAX: unknown without decoding */
	uint32_t stream;    /* index */
	uint32_t part;      /* private to the format: index of its data for the packet */
	uint64_t lost;      /* events lost just before the packet; 0: none known */
	uint64_t own;       /* private to the format */
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
	/* path as the tracer wrote it; for the kernel often "[kernel.kallsyms]" */
	const char *path;
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

/* A recorded process, from the time it joined until its end. */
struct wm_trace_process {
	uint32_t pid, ppid, vpid, uid;
	int64_t begin_ns, end_ns; /* end_ns is INT64_MAX when the end was not recorded */
	const char *comm, *path;
};

struct wm_fault {
	const char *file;
	uint64_t offset;
	const char *reason;
};

/*
 * The items of one part: its members, without an item for the part itself. The events of a packet
 * may share those of the packet's header and context.
 */
struct wm_part_range {
	uint32_t at, end;
};

/* Processor mode, numbered as in perf. */
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
	const unsigned char *raw; /* the record's bytes, set when print() needs them */
	uint32_t raw_bytes;
	const unsigned char *record; /* perf.data: the whole record; not set by other formats */
	const struct wm_item *items; /* the batch's items; all indices refer to this array */
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

/*
 * What the consumer needs: readers may skip everything else. An all-zero struct requests
 * everything.
 */
struct wm_want {
	/* indexed like trace->types: events of types set to false are skipped; NULL: all types */
	const bool *types;
	uint32_t no_parts; /* bits 1 << enum wm_part: make no items for these parts */
	/* readers in use at a time; the more there are, the less memory each uses */
	uint32_t nr_open;
	/*
	 * The consumer ignores events before from_ns: a reader may skip them, as an optimisation.
	 */
	bool has_from;
	int64_t from_ns;
};

/* Return the number of events to decode per batch, and the bytes of a file to buffer per reader. */
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

	/* Fills the trace; t->own is for the format's private data. 0 or -errno with `diag`. */
	int (*open)(struct wm_trace *t, const char *path, struct wm_diag *diag);
	/*
	 * Like open(), for several folders below t->path that are parts of one recording. NULL: the
	 * format has no such parts.
	 */
	int (*open_parts)(struct wm_trace *t, const char *const *parts, uint32_t nr,
			  struct wm_diag *diag);
	void (*close)(struct wm_trace *t); /* also called after a failed open() */

	/*
	 * Creates a reader of packets, for one thread at a time. It is created once and pointed at
	 * packets in turn, so that memory is reused; reader_begin() discards the data of the
	 * previous packet. The caller keeps ownership of `want`.
	 */
	struct wm_packet_reader *(*reader_create)(struct wm_trace *t, const struct wm_want *want);
	int (*reader_begin)(struct wm_packet_reader *r, const struct wm_packet *p);
	/*
	 * Adds up to about wm_want_events() events to the batch, which is empty. Returns their
	 * number, 0 at the end of the packet, or -errno. A bad record ends the packet with a fault.
	 */
	int (*reader_read)(struct wm_packet_reader *r, struct wm_batch *b);
	void (*reader_destroy)(struct wm_packet_reader *r);

	/*
	 * Returns the name of the event's thread at the event's time, or "". May be NULL.
	 */
	const char *(*comm)(const struct wm_trace *t, const struct wm_event *e);

	/*
	 * Appends the print form of an event whose type has `prints` set; false: not available. The
	 * forms of other types are printf formats in which each conversion takes the next field.
	 * `names` (optional) names addresses for which the trace has no symbol.
	 * May be NULL.
	 */
	bool (*print)(const struct wm_trace *t, const struct wm_event *e,
		      const struct wm_kernel_names *names, struct wm_text *out);

	/*
	 * Returns the traced kernel's symbols, malloc'ed. 0; -ENOENT: the trace has none; -errno.
	 * Called once. May be NULL.
	 */
	int (*kallsyms)(struct wm_trace *t, char **ret_text, size_t *ret_bytes);
};

struct wm_trace {
	const struct wm_reader_ops *ops;
	char *path;
	struct wm_arena arena; /* memory for everything that lives as long as the trace */

	uint32_t nr_types, nr_streams, nr_clocks, nr_words, nr_losses;
	struct wm_event_type **types;
	struct wm_stream **streams;
	struct wm_trace_clock **clocks;
	struct wm_trace_word *words;
	struct wm_trace_loss *losses;
	struct wm_packet *packets; /* malloc'ed: there can be millions */
	uint64_t nr_packets, room_packets;
	uint64_t nr_repeated;     /* packets left out because another file has them, too */
	int64_t begin_ns, end_ns; /* time range of all packets; begin > end when there are none */
	char version[16];         /* the format's version: "1.8", "7" */

	uint32_t nr_binaries;
	struct wm_trace_binary *binaries; /* one entry per path and build-id */
	struct wm_table binary_table;     /* of `binaries` */
	char *kallsyms;                   /* malloc'ed; NULL: not requested yet */
	size_t kallsyms_bytes;

	/*
	 * Whether each event carries its time and its task. If so, a consumer can start at any time
	 * once it knows the threads and mappings at that time; it need not read the earlier events.
	 */
	bool divisible;

	bool is_own; /* waymark recorded the trace. Only then are these set: */
	uint32_t nr_causes, nr_processes;
	/* totals per cause; they include `losses`, which come from the packets' counters */
	struct wm_trace_cause *causes;
	struct wm_trace_process *processes; /* sorted by pid, then by begin */

	void *own; /* private to the format */

	pthread_mutex_t fault_lock;
	struct wm_fault *faults; /* in fault_arena */
	struct wm_arena fault_arena;
	uint32_t nr_faults;
	uint64_t nr_faults_more; /* faults beyond WM_TRACE_FAULTS */
	/* violations of the format that cost no data; in the same arena, under the same lock */
	struct wm_fault *warnings;
	uint32_t nr_warnings;
	uint64_t nr_warnings_more; /* warnings beyond WM_TRACE_FAULTS */
	bool incomplete;           /* the tracer is still writing the trace, or was killed */
};

void wm_trace_close(struct wm_trace *t); /* wm_read_open() in read/open.h opens a trace */

/*
 * Returns the symbols of the traced kernel, in the format of /proc/kallsyms; the text belongs to
 * the trace. 0; -ENOENT: the trace has none; -errno. Thread-safe.
 */
int wm_trace_kallsyms(struct wm_trace *t, const char **ret_text, size_t *ret_bytes);

/* Empties the batch and reads the packet's next one into it; returns the same as reader_read(). */
int wm_batch_read(struct wm_trace *t, struct wm_packet_reader *r, struct wm_batch *b);

/*
 * Sorts the faults from index `first` onwards by file and offset, since threads report them in
 * arbitrary order.
 */
void wm_trace_sort_faults(struct wm_trace *t, uint32_t first);
void wm_batch_done(struct wm_batch *b);

/* --- for formats ----------------------------------------------------------- */

/* Creates a trace without ops; wm_trace_close() frees it. NULL: out of memory. */
struct wm_trace *wm_trace_create(const char *path);

/*
 * Copies its arguments; `file` may be "" for a trace that is one file. Ignores a fault that was
 * reported already. Thread-safe.
 */
void wm_trace_fault(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Like wm_trace_fault(), for a violation of the format that costs no data. */
void wm_trace_warn(struct wm_trace *t, const char *file, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* These fill a trace while it is opened. They return 0 or -ENOMEM. */
int wm_trace_add_type(struct wm_trace *t, struct wm_event_type *type); /* sets its index */
int wm_trace_add_stream(struct wm_trace *t, struct wm_stream *stream); /* sets its index */
int wm_trace_add_clock(struct wm_trace *t, struct wm_trace_clock *clock);
int wm_trace_add_packet(struct wm_trace *t, const struct wm_packet *p);
int wm_trace_add_loss(struct wm_trace *t, const struct wm_trace_loss *loss);
/* copies its arguments */
int wm_trace_add_word(struct wm_trace *t, const char *key, const char *text);
/* NULL: the trace has no such property */
const char *wm_trace_word(const struct wm_trace *t, const char *key);

/*
 * Returns the provider of a full name ("sched" for "sched:sched_switch"), or "" when it has none.
 * NULL: out of memory. The text belongs to the trace.
 */
const char *wm_trace_provider(struct wm_trace *t, const char *name);

/*
 * Returns whether a member of a structure is the length of the following member: it is called
 * _NAME_length, or __NAME_length, and the next one NAME.
 */
bool wm_member_is_length(const struct wm_type *t, const struct wm_member *m);
/* Copies its arguments. Ignores a binary that is already known or lacks a build-id or a path. */
int wm_trace_add_binary(struct wm_trace *t, const char *path, size_t path_bytes,
			const void *build_id, uint32_t build_id_bytes, bool kernel);

/* Returns the property `key` of the stream's origin, else of the trace; NULL if neither has it. */
const char *wm_trace_stream_word(const struct wm_trace *t, const struct wm_stream *s,
				 const char *key);

/* Makes room for one more event and `nr_items` more items; false: out of memory. */
bool wm_batch_grow(struct wm_batch *b, uint32_t nr_items);
static inline bool wm_batch_room(struct wm_batch *b, uint32_t nr_items)
{
	return (b->nr_events < b->room_events && nr_items <= b->room_items - b->nr_items) ||
	       wm_batch_grow(b, nr_items);
}

/*
 * Returns the next item, for which the caller has made room. It starts as a leaf; for an item with
 * parts the caller sets count, and sets `next` once the parts are added.
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
