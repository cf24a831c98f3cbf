/* SPDX-License-Identifier: MIT */
/*
 * ctf_tree.h - the metadata of a CTF trace as a tree: types, stream classes, event classes, clocks,
 * environment. The reader builds it from CTF 1.8 or CTF 2, and the CTF exporter reads it.
 *
 * Types are shared: an alias used a hundred times is one node, so the "tree" is really a graph
 * without cycles. Types are nested at most WM_CTF_DEPTH_MAX levels deep.
 *
 * Ownership: everything is in the metadata's arena. Strings are NUL-terminated and contain no other
 * NUL.
 */
#ifndef WM_READ_CTF_TREE_H
#define WM_READ_CTF_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "trace/ctf_words.h"

#define WM_CTF_METADATA_MAX (64u << 20)  /* maximum bytes of a metadata file */
#define WM_CTF_MEMORY_MAX   (512u << 20) /* maximum bytes of its tree */
#define WM_CTF_DEPTH_MAX    300u         /* maximum depth of nested types */
#define WM_CTF_WALK_MAX     (1u << 22)   /* limit on fields in all scopes, aliases expanded */
#define WM_CTF_TEXT_MAX     65536u       /* maximum bytes of a string or name */
#define WM_CTF_MEMBERS_MAX  65536u       /* maximum number of members of a structure or variant */
#define WM_CTF_CLOCKS_MAX   256u
#define WM_CTF_ENV_MAX      4096u
#define WM_CTF_LABELS_MAX   65536u     /* maximum number of labels of an enumeration */
#define WM_CTF_LENGTH_MAX   (1u << 28) /* maximum number of elements of a fixed-length array */
#define WM_CTF_BITS_MAX     65528u     /* maximum bits of an integer */
#define WM_CTF_WARNINGS_MAX 1000u      /* further ones are dropped */

enum wm_ctf_kind {
	WM_CTF_INTEGER,
	WM_CTF_FLOAT,
	WM_CTF_STRING, /* NUL-terminated */
	WM_CTF_ENUM,
	WM_CTF_STRUCT,
	WM_CTF_VARIANT,
	WM_CTF_ARRAY,
	WM_CTF_SEQUENCE,
	WM_CTF_VARINT,   /* CTF 2: LEB128 */
	WM_CTF_OPTIONAL, /* CTF 2 */
	WM_CTF_NR_KINDS
};

enum wm_ctf_order { WM_CTF_NATIVE, WM_CTF_LITTLE, WM_CTF_BIG };

/* Encoding of CTF 2 strings; all others are UTF-8. */
enum wm_ctf_encoding {
	WM_CTF_UTF8,
	WM_CTF_UTF16_LE,
	WM_CTF_UTF16_BE,
	WM_CTF_UTF32_LE,
	WM_CTF_UTF32_BE,
	WM_CTF_NR_ENCODINGS
};

/* The purpose of a field; derived from its name in CTF 1.8, from roles in CTF 2. */
enum wm_ctf_role {
	WM_CTF_NO_ROLE,
	WM_CTF_MAGIC,
	WM_CTF_UUID,
	WM_CTF_STREAM_ID,
	WM_CTF_STREAM_INSTANCE,
	WM_CTF_PACKET_SIZE,
	WM_CTF_CONTENT_SIZE,
	WM_CTF_TIME_BEGIN,
	WM_CTF_TIME_END,
	WM_CTF_DISCARDED,
	WM_CTF_SEQUENCE_NUMBER,
	WM_CTF_EVENT_ID,
	WM_CTF_EVENT_TIME,
	WM_CTF_NR_ROLES
};

struct wm_ctf_type;
struct wm_type;

struct wm_ctf_member {
	const char *name; /* in CTF 1.8, one leading underscore is removed */
	const char *raw;  /* the name as written in the metadata */
	struct wm_ctf_type *type;
	/* VARIANT and OPTIONAL in CTF 2: selector values that choose this option. */
	uint32_t nr_ranges;
	const struct wm_ctf_range *ranges;
};

struct wm_ctf_label {
	const char *name;
	struct wm_ctf_range range;
};

/* A reference to the field that holds a length, or chooses an option. */
struct wm_ctf_ref {
	enum wm_ctf_scope scope;
	uint32_t nr_names;        /* 0: no reference */
	const char *const *names; /* a NULL entry goes to the enclosing structure (CTF 2) */
	uint32_t line, column;
	int64_t offset;
};

struct wm_ctf_type {
	enum wm_ctf_kind kind;
	uint8_t order;     /* enum wm_ctf_order; after wm_ctf_check() never NATIVE */
	uint8_t role;      /* enum wm_ctf_role; CTF 2 only */
	bool is_signed;    /* integer, varint, enum */
	bool is_bool;      /* CTF 2 fixed-length-boolean */
	bool is_flags;     /* CTF 2 bit map: labels name ranges of bits */
	bool reversed;     /* CTF 2: its bits are not in the usual order for `order` */
	uint8_t encoding;  /* enum wm_ctf_encoding of a string */
	bool text;         /* integer, array, sequence: characters, not numbers */
	bool blob;         /* array, sequence: bytes */
	bool is_bare;      /* declared as numbers; `blob` or `is_bool` is from the alias */
	uint8_t base;      /* integer: base of its text, 2, 8, 10 or 16 */
	uint16_t bits;     /* integer, float, enum */
	uint32_t align;    /* in bits, a power of two, >= 1; the largest of its parts */
	const char *alias; /* the name in its declaration, or NULL */
	const char *clock; /* name of the clock that an integer is mapped to, or NULL */
	/* type of the elements of an array, sequence, optional; integer type of an enum */
	struct wm_ctf_type *element;
	uint64_t length;       /* of an array */
	struct wm_ctf_ref ref; /* length of a sequence; selector of a variant or optional */
	/* members of a struct or variant; an optional has one, for its ranges */
	uint32_t nr_members;
	struct wm_ctf_member *members;
	uint32_t nr_labels; /* labels of an enum; a CTF 2 integer with mappings is an enum */
	struct wm_ctf_label *labels;
	uint32_t line, column;    /* position of its declaration */
	struct wm_ctf_type *next; /* list of all types of the metadata */
	uint16_t depth;           /* depth of nested types */
	/* the type that readers show, made on demand by item_type.c; or NULL */
	const struct wm_type *shape;
};

struct wm_ctf_pair {
	const char *key, *text; /* when text is NULL, `number` is the value */
	int64_t number;
};

struct wm_ctf_clock {
	const char *id, *name, *description;
	struct wm_ctf_identity identity, origin; /* only CTF 2 has origins other than the epoch */
	uint64_t hz, precision;
	int64_t offset_seconds, offset_cycles;
	bool absolute;
};

struct wm_ctf_stream {
	uint64_t id;
	const char *clock; /* CTF 2: id of the default clock class */
	struct wm_ctf_type *packet_context, *event_header, *event_context; /* NULL when absent */
};

struct wm_ctf_event {
	uint64_t id, stream_id;
	bool has_stream; /* CTF 1.8: stream_id was given; required when there are several streams */
	const char *name;
	int64_t level;                        /* -1 when absent */
	struct wm_ctf_type *context, *fields; /* NULL when absent */
	/* attributes that no other member of this struct holds */
	uint32_t nr_pairs;
	struct wm_ctf_pair *pairs;
	const char *note; /* text of a comment that begins with "waymark ", or NULL */
	uint32_t line;
};

/* A violation of the specification that changes no value. */
struct wm_ctf_warning {
	int64_t offset; /* -1: unknown */
	uint32_t line;
	const char *sentence;
};

struct wm_ctf_metadata {
	struct wm_arena arena;
	uint32_t major, minor;
	uint8_t order; /* byte order of NATIVE types */
	bool has_uuid; /* the trace's; in CTF 2, the metadata's */
	unsigned char uuid[16];
	const char *trace_uid;             /* CTF 2: the trace's; or NULL */
	struct wm_ctf_type *packet_header; /* NULL when absent */
	uint32_t nr_env, nr_clocks, nr_streams, nr_events;
	struct wm_ctf_pair *env;
	struct wm_ctf_clock *clocks;
	struct wm_ctf_stream *streams;
	struct wm_ctf_event *events;
	struct wm_ctf_type *types; /* newest first */
	uint32_t nr_warnings;
	struct wm_ctf_warning *warnings;
};

/*
 * Finds the scope of a reference, which in CTF 1.8 is given by the first names of its path. Returns
 * the number of these names.
 */
uint32_t wm_ctf_ref_scope(const struct wm_ctf_ref *ref, enum wm_ctf_scope *ret);

/* Returns whether a member of a scope's structure is part of the converted structure. */
bool wm_ctf_is_shown(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
		     const struct wm_ctf_member *member);

#endif
