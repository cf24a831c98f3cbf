/* SPDX-License-Identifier: MIT */
/*
 * ctf_int.h - declarations shared by the files that write CTF 1.8 and CTF 2 from any trace:
 *
 *   ctf.c       entry points: folders, streams, events, the two tables
 *   class.c     stream classes and their events, created on first use
 *   model.c     converts the reader's types to CTF types: a tree of fields
 *   names.c     their names, and references to lengths and tags
 *   metadata.c  describes them; room write prints the description (write/metadata.h)
 *   encode.c    converts items to bytes
 *   packet.c    packets: when one begins, its frame, the index
 *
 * Every field starts on a byte boundary, so that no two fields share a byte; numbers are
 * little-endian. The bytes of an event depend neither on the metadata language nor on the structure
 * in which its parts are declared.
 *
 * A list needs a length before it and a variant needs a tag. If the trace has these fields, as CTF
 * traces do, the output refers to them: the types created by item_type.h point to the CTF types
 * through `own`. Otherwise the exporter adds a field.
 */
#ifndef WM_EXPORT_CTF_CTF_INT_H
#define WM_EXPORT_CTF_CTF_INT_H

#include "base/text.h"
#include "export/export.h"
#include "export/file.h"
#include "export/loss_int.h"
#include "read/ctf.h"
#include "read/ctf_tree.h"
#include "trace/trace_layout.h"
#include "write/metadata.h"

#define WM_CX_MODEL_MAX (256u << 20) /* maximum bytes of all fields of an output */
#define WM_CX_EVENT_MAX (256u << 20) /* maximum bytes of an event: larger ones are omitted */

/* Returns the field's type in the metadata; NULL: the trace is not CTF. */
static inline const struct wm_ctf_type *wm_cx_source(const struct wm_meta_field *f)
{
	return f->source;
}

/* --- model.c ------------------------------------------------------ */

/* State while fields are built: the scopes of an event, and the enclosing structures. */
struct wm_cx_build {
	struct wm_arena *arena;
	enum wm_meta_language language;
	const struct wm_ctf_metadata *metadata; /* NULL: the trace is not CTF */
	enum wm_ctf_scope scope;
	const struct wm_meta_field *roots[WM_CTF_NR_SCOPES];
	struct wm_cx_frame {
		const struct wm_meta_field *field; /* NULL: a structure added around a length */
		uint32_t done;                     /* members whose fields are complete */
	} frames[2 * WM_CTF_DEPTH_MAX + 2];
	uint32_t nr_frames;
};

/* Builds the fields of a scope, and stores the topmost one in b->roots. 0, -ENOMEM or -E2BIG. */
int wm_cx_build(struct wm_cx_build *b, enum wm_ctf_scope scope, const struct wm_type *type,
		struct wm_meta_field **ret);

/* Returns whether both describe the same bytes with the same names. */
bool wm_cx_same(const struct wm_meta_field *a, const struct wm_meta_field *b);

/* Returns whether the field contains a list without a fixed length. */
bool wm_cx_has_sequence(const struct wm_meta_field *n);

/* --- names.c ------------------------------------------------------ */

/*
 * Names the members, options and counts in a field whose parts have type and source_name set. 0 or
 * -ENOMEM.
 */
int wm_cx_name_parts(const struct wm_cx_build *b, struct wm_meta_field *n);

/*
 * Finds the field that holds the length or tag of `n`; sets n->ref if the output language can refer
 * to it. Otherwise n->ref stays empty and the caller adds a field. 0 or -ENOMEM.
 */
int wm_cx_resolve(const struct wm_cx_build *b, struct wm_meta_field *n);

/*
 * Renames those parts of `a` whose names also occur in `b`, because both will be in the same
 * structure.
 */
int wm_cx_make_apart(struct wm_arena *arena, struct wm_meta_field *a,
		     const struct wm_meta_field *b);

/* Turns any text into a TSDL identifier, in the arena. NULL: no memory. */
const char *wm_cx_identifier(struct wm_arena *a, const char *text);

/* --- encode.c ----------------------------------------------------- */

/*
 * Appends the bytes of the items [at, end), encoded as the scope's members; missing items become 0.
 */
void wm_cx_encode(struct wm_text *out, const struct wm_meta_field *scope,
		  const struct wm_item *items, struct wm_part_range range);
void wm_cx_put(struct wm_text *out, uint64_t value, uint32_t bytes);

/* Returns whether a number in the field does not fill its bytes. */
bool wm_cx_has_odd_bits(const struct wm_meta_field *n);

/*
 * Returns the bits of the last byte that the items leave unused, when they follow something that
 * leaves `unused` bits. Only needed when wm_cx_has_odd_bits() is true.
 */
uint32_t wm_cx_unused_bits(const struct wm_meta_field *scope, const struct wm_item *items,
			   struct wm_part_range range, uint32_t unused);

/* --- class.c ------------------------------------------------------ */

struct wm_cx_event {
	const struct wm_event_type *type;
	struct wm_cx_class *class;
	uint64_t id;
	/* [STREAM_CONTEXT]: the event's own, when its class has none */
	struct wm_meta_field *parts[WM_NR_PARTS];
	/* The common fields precede the event's own, in the same structure. */
	bool common_in_fields;
	bool has_odd_bits;                /* may end inside a byte */
	struct wm_cx_event *next;         /* next event in the class, by id */
	struct wm_cx_event *next_of_type; /* next event of the same type, in another class */
};

struct wm_cx_class {
	struct wm_cx_folder *folder;
	uint64_t id;
	const struct wm_ctf_stream_plan *plan; /* NULL: the trace is not CTF */
	const struct wm_trace_clock *clock;    /* NULL: the events have no times */
	const char *clock_id;                  /* id of the clock in the output */
	bool has_cpu;                          /* packets get an added field cpu_id */
	uint8_t id_bytes;                      /* size of an event id: 2 or 8 */
	struct wm_meta_field *packet_context;  /* NULL: only the frame's fields */
	struct wm_meta_field *stream_context;  /* NULL: none, or each event has its own */
	struct wm_cx_event *events, **events_end;
	uint32_t nr_events;
	struct wm_cx_class *next;
};

/* One CTF trace in the output. */
struct wm_cx_folder {
	struct wm_cx *cx;
	uint32_t trace;
	/* relative to the output; "": the output folder itself */
	const char *name;
	const struct wm_ctf_folder *from; /* NULL: the trace is not CTF */
	bool has_uuid;
	unsigned char uuid[WM_TRACE_UUID_BYTES];
	struct wm_cx_class *classes;
	struct wm_cx_folder *next;
};

struct wm_cx;

/* Creates the folders of a trace; for CTF, also the classes that its metadata describes. */
int wm_cx_folders(struct wm_cx *cx, uint32_t trace);
int wm_cx_class_get(struct wm_cx *cx, uint32_t trace, const struct wm_stream *s,
		    struct wm_cx_class **ret);
/* Returns the event of a type in a class; creates it on first use. 0 or -errno. */
int wm_cx_event_get(struct wm_cx_class *c, const struct wm_event_type *type,
		    struct wm_cx_event **ret);
/*
 * Called after the last event, when it is known whether all events have the same common fields. If
 * so, the stream declares them; otherwise each event declares them in its context, or among its
 * fields where babeltrace2 2.0.4 does not accept them in the context. The bytes are the same in all
 * cases.
 */
int wm_cx_class_finish(struct wm_cx_class *c);

/* Returns the i-th clock of a folder; false past the last. */
bool wm_cx_clock(const struct wm_cx_folder *f, uint32_t i, struct wm_meta_clock *ret);

/* Returns the metadata of a folder's trace; NULL: the trace is not CTF. */
const struct wm_ctf_metadata *wm_cx_source_metadata(const struct wm_cx_folder *f);

/* --- metadata.c ---------------------------------------------------- */

/* Appends the metadata of a folder, in the output's language. 0 or -ENOMEM. */
int wm_cx_metadata(struct wm_text *t, const struct wm_cx_folder *f);

/* --- packet.c ------------------------------------------------------ */

/* A stream in the output; one for each stream in the input. */
struct wm_cx_stream {
	struct wm_cx_class *class;
	const struct wm_stream *from;
	struct wm_trace *trace;
	const char *file;       /* relative to the output */
	const char *index;      /* path of its index, relative to the output */
	struct wm_text body;    /* records of the packet being filled */
	struct wm_text context; /* fields of the packet context after those of the frame */
	/* the input packet from which a packet is being filled; NULL: none */
	const struct wm_packet *at;
	bool is_begun; /* a packet with the input packet's start was written */
	/* ticks of the first and last event in the packet being filled */
	uint64_t first, last;
	uint64_t nr_events;
	uint64_t end_ticks; /* the previous packet's end in the output */
	/* bits in the last byte of `body`, and of `context`, that are not content */
	uint32_t unused, context_unused;
	/* input packets: indices into `order`, or into the packet list */
	uint64_t next_packet, end_packet;
	uint64_t *order;         /* packets sorted by time; NULL: the list is sorted */
	uint64_t lost, sequence; /* counters as written to the output */
	/* lost packets, and lost events unless the packets count them */
	struct wm_export_losses losses;
	uint64_t file_bytes, nr_packets;
};

struct wm_cx {
	struct wm_export *x;
	enum wm_meta_language language;
	struct wm_arena arena;
	struct wm_export_folder out;
	struct wm_cx_folder *folders;
	struct wm_cx_stream **streams; /* indexed by trace, then by stream */
	struct wm_cx_event ***events;  /* indexed by trace, then by type */
	size_t packet_bytes;           /* a packet that reaches this size ends */
};

/* Creates a folder in the output, and its parents. */
int wm_cx_make_folders(const struct wm_cx *cx, const char *folder);

int wm_cx_stream_open(struct wm_cx *cx, uint32_t trace, const struct wm_stream *from,
		      struct wm_cx_stream *s);
int wm_cx_stream_event(struct wm_cx *cx, struct wm_cx_stream *s, const struct wm_cx_event *event,
		       const struct wm_event *e);
int wm_cx_stream_finish(struct wm_cx *cx, struct wm_cx_stream *s);
void wm_cx_stream_done(struct wm_cx_stream *s);

/*
 * Returns the origin of the output's clock for a trace that is not CTF. It is not later than the
 * first event.
 */
int64_t wm_cx_base_ns(const struct wm_trace *t, const struct wm_trace_clock *c);

/*
 * Returns the tick of the output's clock at which the input's clock reads `ns`; with `last`, the
 * last such tick.
 */
uint64_t wm_cx_ticks(const struct wm_trace_clock *c, int64_t ns, bool last);

/*
 * Returns whether times in the output are the input's ticks. Otherwise they are nanoseconds since
 * the clock's origin.
 */
static inline bool wm_cx_keeps_ticks(const struct wm_cx_class *c)
{
	return c->plan;
}

#endif
