/* SPDX-License-Identifier: MIT */
/*
 * metadata.h - the text of a trace's `metadata` file, in CTF 1.8 (TSDL) and in CTF 2 (JSON). The
 * caller describes the trace with the structures below, and one table of functions for each
 * language prints them. Used by the trace writer (describe.c) and by the CTF exporters. Independent
 * of files and packets.
 *
 * Every field starts on a byte boundary, and numbers are little-endian. Names must be valid in the
 * language: the caller makes identifiers for TSDL. Strings may come from hostile programs: the
 * output is always well-formed.
 */
#ifndef WM_WRITE_METADATA_H
#define WM_WRITE_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "event/item.h"
#include "trace/ctf_words.h"
#include "trace/trace_layout.h"

#define WM_META_COUNT_BITS 32u /* width of an added length or tag */
#define WM_META_FRAME_MAX  12u /* fields */

enum wm_meta_language { WM_META_TSDL, WM_META_JSON };

/* A reference to a length or a tag. */
struct wm_meta_ref {
	enum wm_ctf_scope scope; /* RELATIVE: counted from the enclosing structure */
	uint32_t up;             /* RELATIVE: number of structures to leave */
	uint32_t nr_names;       /* 0: no reference */
	const char *const *names;
	bool is_last; /* JSON: written after the class of the elements */
};

/* A field and its class. */
struct wm_meta_field {
	const struct wm_type *type;
	const char *name;       /* NULL: an element */
	const char *alias;      /* declared name of its class; BYTES and STRING: of one byte's */
	const char *role;       /* in the frame of a packet or an event; only CTF 2 has roles */
	const char *clock;      /* the clock whose value it holds; only in CTF 1.8 */
	const char *count;      /* name of the length or tag added before it; NULL: none */
	struct wm_meta_ref ref; /* to a length or tag that is a field of the trace */
	uint32_t length;        /* for BYTES and STRING: in bytes, if fixed */
	uint32_t nr_parts;
	struct wm_meta_field *parts; /* members, options, the single element */
	uint32_t nr_ranges;          /* for an option or optional: tag values that select it */
	const struct wm_ctf_range *ranges;
	/* for the caller, not printed */
	const char *label; /* for an option: the label of the tag that selects it */
	const char *source_name;
	const void *source;
};

/* Returns whether an added count precedes the field, in a structure around both. */
static inline bool wm_meta_is_wrapped(const struct wm_meta_field *f,
				      const struct wm_meta_field *around)
{
	return f->count && (!around || around->type->kind != WM_TYPE_STRUCT);
}

/* A structure with the members of both. NULL: none. */
struct wm_meta_scope {
	const struct wm_meta_field *first, *second;
};

/* An entry of the environment; when `text` is NULL, a number. */
struct wm_meta_word {
	const char *key, *text;
	int64_t number;
	bool is_unsigned; /* the number is a uint64_t */
};

struct wm_meta_clock {
	const char *id, *name, *description; /* description NULL: none */
	const unsigned char *uuid;           /* NULL: none, or identity.uid */
	struct wm_ctf_identity identity;     /* its name is `name` */
	struct wm_ctf_identity origin;       /* only CTF 2 has origins other than the epoch */
	uint64_t hz, precision;
	int64_t seconds, cycles;
	bool is_epoch;
	bool rate_first; /* frequency and offset precede precision and origin */
};

/* Everything that precedes the first stream class. */
struct wm_meta_trace {
	const unsigned char *uuid; /* NULL: none */
	uint32_t nr_aliases, nr_words, nr_clocks;
	const struct wm_meta_field *aliases; /* name and class of each */
	const struct wm_meta_word *words;
	const struct wm_meta_clock *clocks;
	struct wm_meta_scope packet_header;
};

struct wm_meta_stream {
	uint64_t id;
	const char *clock; /* id of its clock; NULL: events without times */
	struct wm_meta_scope packet_context, header, event_context;
	uint32_t header_align; /* in bits; 0: not declared */
	bool header_first;     /* CTF 1.8: the event header precedes the packet context */
};

/* waymark's notes about an event that it records. */
struct wm_meta_note {
	uint32_t kind, line, flags, contexts, level;
	const char *file, *print; /* NULL or "": unknown */
};

struct wm_meta_event {
	uint64_t stream, id;
	const char *name;
	int level;                       /* in LTTng's numbering; below 0: none */
	const struct wm_meta_note *note; /* NULL: none */
	struct wm_meta_scope context, fields;
};

/* The functions append to `t`. Text after the trace's never changes when more is appended. */
struct wm_meta_format {
	void (*trace)(struct wm_text *t, const struct wm_meta_trace *trace);
	void (*stream)(struct wm_text *t, const struct wm_meta_stream *stream);
	void (*event)(struct wm_text *t, const struct wm_meta_event *event);
};

extern const struct wm_meta_format wm_meta_formats[]; /* by language */

/*
 * Returns a number of 8 to 64 bits in the frame of a packet or an event; its role follows from its
 * name. "uuid": 16 bytes. `alias` and `clock` may be NULL.
 */
struct wm_meta_field wm_meta_frame_field(const char *name, uint32_t bits, const char *alias,
					 const char *clock);

/*
 * A structure with few fields, zeroed before the first is added. It points to itself, so it must
 * not be copied.
 */
struct wm_meta_frame {
	struct wm_meta_field fields[WM_META_FRAME_MAX], structure;
};
void wm_meta_frame_add(struct wm_meta_frame *frame, struct wm_meta_field field);

/* Returns a structure with these fields, which must outlive it. */
struct wm_meta_field wm_meta_structure(struct wm_meta_field *fields, uint32_t nr);

#endif
