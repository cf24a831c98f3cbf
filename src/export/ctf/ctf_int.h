/* SPDX-License-Identifier: MIT */
/*
 * ctf_int.h - what the files that write CTF 1.8 and CTF 2 from any trace
 * share:
 *
 *   ctf.c         the door: folders, streams, events, the two tables
 *   class.c   stream classes and their events, made when they are met
 *   model.c   types of readers to types of CTF: a tree of nodes
 *   names.c   their names; where lengths and tags stand
 *   tsdl.c    that tree in the words of CTF 1.8
 *   json.c    and of CTF 2
 *   encode.c  items to bytes
 *   packet.c  packets: when one begins, its frame, the index
 *
 * Everything begins at a byte, so no bit ever lies in two fields; numbers are
 * little-endian. An event's bytes do not depend on the language, and not on
 * which structure its parts are declared in.
 *
 * A list needs a length before it and a variant a tag. Where the trace itself
 * has them (CTF does), they are told apart from other numbers by item_type.h's
 * `own` and referred to; where it has none, one is made.
 */
#ifndef WM_EXPORT_CTF_CTF_INT_H
#define WM_EXPORT_CTF_CTF_INT_H

#include "base/text.h"
#include "export/export.h"
#include "export/file.h"
#include "export/loss_int.h"
#include "read/ctf.h"
#include "trace/trace_layout.h"

#define WM_CX_MODEL_MAX  (256u << 20) /* bytes of all nodes of an output */
#define WM_CX_EVENT_MAX  (256u << 20) /* and of a packet, before it ends for its size */
#define WM_CX_COUNT_BITS 32u          /* of a length or tag that is made */

enum wm_cx_language { WM_CX_TSDL, WM_CX_JSON };

/* Where a length or a tag stands. */
struct wm_cx_ref {
	enum wm_ctf_scope scope; /* RELATIVE: from the structure around */
	uint32_t up;             /* RELATIVE: so many structures further out */
	uint32_t nr_names;
	const char *const *names; /* as written */
};

/* A field as it is written. */
struct wm_cx_node {
	const struct wm_type *type;     /* of its items; NULL: a scope without any */
	const struct wm_ctf_type *from; /* NULL: not of a CTF trace */
	const char *name;               /* as written; NULL: an element */
	const char *raw;                /* as the trace's metadata wrote it; NULL: not CTF */
	const char *count;              /* name of the length or tag made for it; NULL: none */
	struct wm_cx_ref ref;           /* of the trace's; nr_names 0: none is needed, or made */
	uint32_t length;                /* of bytes that are always so many */
	uint32_t nr_parts;
	struct wm_cx_node *parts; /* members, options, the one element */
	uint32_t nr_ranges;       /* of an option: values of the tag that choose it */
	const struct wm_ctf_range *ranges;
};

/* Does a count stand before it that is made here, in a structure around both? */
static inline bool wm_cx_is_wrapped(const struct wm_cx_node *n, const struct wm_cx_node *around)
{
	return n->count && (!around || around->type->kind != WM_TYPE_STRUCT);
}

/* --- model.c ------------------------------------------------------ */

/* The scopes an event is in, while its nodes are made. */
struct wm_cx_build {
	struct wm_arena *arena;
	enum wm_cx_language language;
	const struct wm_ctf_metadata *metadata; /* NULL: not CTF */
	enum wm_ctf_scope scope;
	const struct wm_cx_node *roots[WM_CTF_NR_SCOPES];
	struct wm_cx_frame {
		const struct wm_cx_node *node; /* NULL: a structure made around a length */
		uint32_t done;                 /* members whose nodes are complete */
	} frames[2 * WM_CTF_DEPTH_MAX + 2];
	uint32_t nr_frames;
};

/* The nodes of a scope, also kept in b->roots. 0, -ENOMEM, -E2BIG. */
int wm_cx_build(struct wm_cx_build *b, enum wm_ctf_scope scope, const struct wm_type *type,
		struct wm_cx_node **ret);

/* Both describe the same bytes in the same words. */
bool wm_cx_same(const struct wm_cx_node *a, const struct wm_cx_node *b);

/* Somewhere in it is a list without a fixed length. */
bool wm_cx_has_sequence(const struct wm_cx_node *n);

/* --- names.c ------------------------------------------------------ */

/* Names of the members, options and counts in a node whose parts have type and raw. 0, -ENOMEM. */
int wm_cx_name_parts(const struct wm_cx_build *b, struct wm_cx_node *n);

/*
 * Finds the field that gives the length or tag of `n`; n->ref is set when it
 * can be referred to in this language. False: one must be made. -ENOMEM.
 */
int wm_cx_resolve(const struct wm_cx_build *b, struct wm_cx_node *n);

/* Gives the parts of `a` names that `b` has not: they come to stand in one structure. */
int wm_cx_make_apart(struct wm_arena *arena, struct wm_cx_node *a, const struct wm_cx_node *b);

/* An identifier of TSDL of any text, in the arena. NULL: no memory. */
const char *wm_cx_identifier(struct wm_arena *a, const char *text);

/* --- encode.c ----------------------------------------------------- */

/* Adds the bytes of the items [at, end) as those of the scope's members; what is missing is 0. */
void wm_cx_encode(struct wm_text *out, const struct wm_cx_node *scope, const struct wm_item *items,
		  struct wm_part_range range);
void wm_cx_put(struct wm_text *out, uint64_t value, uint32_t bytes);

/* --- class.c ------------------------------------------------------ */

struct wm_cx_event {
	const struct wm_event_type *type;
	struct wm_cx_class *class;
	uint64_t id;
	struct wm_cx_node
	    *parts[WM_NR_PARTS];          /* STREAM_CONTEXT: of this event, of a class without */
	bool common_in_fields;            /* it stands before the fields in their structure */
	struct wm_cx_event *next;         /* of the class, in order of ids given */
	struct wm_cx_event *next_of_type; /* of another class */
};

struct wm_cx_class {
	struct wm_cx_folder *folder;
	uint64_t id;
	const struct wm_ctf_stream_plan *plan; /* NULL: not CTF */
	const struct wm_trace_clock *clock;    /* NULL: events without times */
	const char *clock_id;                  /* as it is written */
	bool has_cpu;                          /* packets say which: cpu_id, made here */
	uint8_t id_bytes;                      /* of an event's id: 2 or 8 */
	struct wm_cx_node *packet_context;     /* NULL: none but the frame */
	struct wm_cx_node *stream_context;     /* NULL: none, or each event has its own */
	struct wm_cx_event *events, **events_end;
	uint32_t nr_events;
	struct wm_cx_class *next;
};

/* One CTF trace of the output. */
struct wm_cx_folder {
	struct wm_cx *cx;
	uint32_t trace;
	const char *name;                 /* below the output; "": the output itself */
	const struct wm_ctf_folder *from; /* NULL: not CTF */
	bool has_uuid;
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	struct wm_cx_class *classes;
	struct wm_cx_folder *next;
};

struct wm_cx;

/* The folders of a trace, with the classes its metadata describes, if it is CTF. */
int wm_cx_folders(struct wm_cx *cx, uint32_t trace);
int wm_cx_class_get(struct wm_cx *cx, uint32_t trace, const struct wm_stream *s,
		    struct wm_cx_class **ret);
/* The event of a type in a class, made when it is new. 0 or -errno. */
int wm_cx_event_get(struct wm_cx_class *c, const struct wm_event_type *type,
		    struct wm_cx_event **ret);
/*
 * When everything was seen: common fields that all events have alike become the
 * stream's; else each event declares them in its context, or among its fields
 * when babeltrace2 2.0.4 could not have them there. Their bytes are the same.
 */
int wm_cx_class_finish(struct wm_cx_class *c);

/* --- metadata: tsdl.c, json.c --------------------------- */

void wm_cx_tsdl(struct wm_text *t, const struct wm_cx_folder *f);
void wm_cx_json(struct wm_text *t, const struct wm_cx_folder *f);

/* One word of the environment; text NULL: the number. */
struct wm_cx_word {
	const char *key, *text;
	int64_t number;
};
/* The i-th of a folder's; false behind the last. */
bool wm_cx_word(const struct wm_cx_folder *f, uint32_t i, struct wm_cx_word *ret);

/* A clock of a folder. */
struct wm_cx_clock {
	const char *id, *name, *description;
	uint64_t hz, precision;
	int64_t seconds, cycles;
	bool is_epoch;
};
/* The i-th of a folder's; false behind the last. */
bool wm_cx_clock(const struct wm_cx_folder *f, uint32_t i, struct wm_cx_clock *ret);

/* --- packet.c ------------------------------------------------------ */

/* A stream of the output; one for each of the input's. */
struct wm_cx_stream {
	struct wm_cx_class *class;
	const struct wm_stream *from;
	struct wm_trace *trace;
	const char *file;       /* below the output */
	const char *index;      /* its index, below the output */
	struct wm_text body;    /* bytes behind the frame of the packet being made */
	struct wm_text context; /* fields of its context behind the frame's */
	const struct wm_packet
	    *at;              /* of the input, whose events it gets; NULL: none is being made */
	bool is_begun;        /* an input packet's begin was written already */
	uint64_t first, last; /* ticks of its events */
	uint64_t nr_events;
	uint64_t next_packet, end_packet; /* of the input's: places in `order`, or in the list */
	uint64_t *order;                  /* by time; NULL: as they lie */
	uint64_t lost, sequence;          /* counters as written */
	struct wm_export_losses losses;   /* of packets, and of events when packets do not say */
	uint64_t file_bytes, nr_packets;
};

struct wm_cx {
	struct wm_export *x;
	enum wm_cx_language language;
	struct wm_arena arena;
	struct wm_export_folder out;
	struct wm_cx_folder *folders;
	struct wm_cx_stream **streams; /* of each trace, by index */
	struct wm_cx_event ***events;  /* of each trace, by index of the type */
	size_t packet_bytes;           /* a packet that is larger ends */
	uint64_t nr_renamed;
};

/* That folder of the output and those around it. */
int wm_cx_make_folders(const struct wm_cx *cx, const char *folder);

int wm_cx_stream_open(struct wm_cx *cx, uint32_t trace, const struct wm_stream *from,
		      struct wm_cx_stream *s);
int wm_cx_stream_event(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_cx_event *event,
		       const struct wm_event *e);
int wm_cx_stream_finish(struct wm_cx *cx, struct wm_cx_stream *s);
void wm_cx_stream_done(struct wm_cx_stream *s);

/* Where the clock of a trace that is not CTF begins in the output: not behind its first event. */
int64_t wm_cx_base_ns(const struct wm_trace *t, const struct wm_trace_clock *c);

/* Ticks of the output's clock when the input's shows ns; the last such when `last`. */
uint64_t wm_cx_ticks(const struct wm_trace_clock *c, int64_t ns, bool last);

/* Does the class keep the ticks of the input? Else they are nanoseconds since the clock's begin. */
static inline bool wm_cx_keeps_ticks(const struct wm_cx_class *c)
{
	return c->plan;
}

#endif
