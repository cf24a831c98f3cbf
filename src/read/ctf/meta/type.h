/* SPDX-License-Identifier: MIT */
/*
 * type.h - the metadata of a CTF trace as a tree: types, stream classes, event classes, clocks,
 * environment. Filled by tsdl_parse.h (CTF 1.8) and ctf2_parse.h (CTF 2); independent of data
 * streams.
 *
 * Types are shared: an alias used a hundred times is one node, so the tree is a graph without
 * cycles. wm_ctf_check() walks it once from each scope within WM_CTF_WALK_MAX steps, so another
 * walk is bounded too.
 *
 * Ownership: everything is in the arena of the metadata. Strings are NUL-terminated and contain no
 * other NUL.
 */
#ifndef WM_READ_CTF_META_TYPE_H
#define WM_READ_CTF_META_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

#define WM_CTF_METADATA_MAX (64u << 20)  /* bytes of a metadata file */
#define WM_CTF_MEMORY_MAX   (512u << 20) /* bytes of the tree made from it */
#define WM_CTF_DEPTH_MAX    48u          /* nested types */
#define WM_CTF_WALK_MAX     (1u << 22)   /* fields of all scopes, aliases expanded */
#define WM_CTF_TEXT_MAX     65536u       /* bytes of one string or name */
#define WM_CTF_MEMBERS_MAX  65536u       /* of one structure or variant */
#define WM_CTF_CLOCKS_MAX   256u
#define WM_CTF_ENV_MAX      4096u
#define WM_CTF_LABELS_MAX   65536u     /* of one enumeration */
#define WM_CTF_LENGTH_MAX   (1u << 28) /* elements of a fixed array */
#define WM_CTF_BITS_MAX     65528u     /* of an integer */

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

/* The place of a reference or a type: the six scopes, outermost first. */
enum wm_ctf_scope {
	WM_CTF_PACKET_HEADER,
	WM_CTF_PACKET_CONTEXT,
	WM_CTF_EVENT_HEADER,
	WM_CTF_STREAM_EVENT_CONTEXT, /* "event.context" of a stream; CTF 2 common context */
	WM_CTF_EVENT_CONTEXT,        /* "context" of an event; CTF 2 specific context */
	WM_CTF_EVENT_FIELDS,
	WM_CTF_NR_SCOPES,
	WM_CTF_RELATIVE = WM_CTF_NR_SCOPES, /* searched outwards from the place of use */
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
	const char *name; /* as written, without the one leading underscore of CTF 1.8 */
	const char *raw;  /* as written */
	struct wm_ctf_type *type;
	/* VARIANT and OPTIONAL of CTF 2: selector values that choose the option. */
	uint32_t nr_ranges;
	const struct wm_ctf_range *ranges;
};

struct wm_ctf_range {
	int64_t low, high; /* as unsigned 64-bit when the enumeration is unsigned */
};

struct wm_ctf_label {
	const char *name;
	struct wm_ctf_range range;
};

/* A path to the field that gives a length or chooses an option. */
struct wm_ctf_ref {
	enum wm_ctf_scope scope;
	uint32_t nr_names;        /* > 0 when there is a reference */
	const char *const *names; /* NULL entry: CTF 2, one structure up */
	uint32_t line, column;
	int64_t offset;
};

struct wm_ctf_type {
	enum wm_ctf_kind kind;
	uint8_t order;     /* enum wm_ctf_order; integer, float: never NATIVE once checked */
	uint8_t role;      /* enum wm_ctf_role; CTF 2 only */
	bool is_signed;    /* integer, varint, enum */
	bool is_bool;      /* CTF 2 fixed-length-boolean */
	bool is_flags;     /* CTF 2 bit map: labels name ranges of bits */
	bool reversed;     /* CTF 2: its bits are in the order opposite to `order` */
	uint8_t encoding;  /* enum wm_ctf_encoding, of text */
	bool text;         /* integer, array, sequence: characters, not numbers */
	bool blob;         /* array, sequence: bytes */
	bool is_bare;      /* blob, is_bool: by name only; the file has numbers */
	uint8_t base;      /* integer: 2, 8, 10, 16 */
	uint16_t bits;     /* integer, float, enum */
	uint32_t align;    /* in bits, a power of two, >= 1; the largest of its parts */
	const char *alias; /* the name it was declared by, or NULL */
	const char *clock; /* integer mapped to that clock, or NULL */
	struct wm_ctf_type *element; /* array, sequence, optional; container of an enum */
	uint64_t length;             /* array */
	struct wm_ctf_ref ref;       /* sequence, variant, optional */
	uint32_t nr_members;         /* struct, variant, optional (1: its ranges) */
	struct wm_ctf_member *members;
	uint32_t nr_labels; /* enum; a CTF 2 integer with mappings is an enum */
	struct wm_ctf_label *labels;
	uint32_t line, column;       /* place of its declaration */
	struct wm_ctf_type *next;    /* list of all types of the metadata */
	uint16_t depth;              /* levels of types below it */
	const struct wm_type *shape; /* shown to readers, made by item_type.c; or NULL */
};

struct wm_ctf_pair {
	const char *key, *text; /* text NULL: `number` is the value */
	int64_t number;
};

struct wm_ctf_clock {
	const char *id, *name, *description;
	uint64_t hz, precision;
	int64_t offset_seconds, offset_cycles;
	bool absolute;
};

struct wm_ctf_stream {
	uint64_t id;
	const char *clock; /* CTF 2: default clock class id */
	struct wm_ctf_type *packet_context, *event_header, *event_context; /* NULL when absent */
};

struct wm_ctf_event {
	uint64_t id, stream_id;
	bool has_stream; /* CTF 1.8: stream_id was given; required when there are several streams */
	const char *name;
	int64_t level;                        /* -1 when absent */
	struct wm_ctf_type *context, *fields; /* NULL when absent */
	uint32_t nr_pairs;                    /* attributes without a field of their own */
	struct wm_ctf_pair *pairs;
	const char *note; /* text of a comment that begins with "waymark ", or NULL */
	uint32_t line;
};

struct wm_ctf_metadata {
	struct wm_arena arena;
	uint32_t major, minor;
	uint8_t order; /* of NATIVE types */
	bool has_uuid;
	unsigned char uuid[16];
	struct wm_ctf_type *packet_header; /* NULL when absent */
	uint32_t nr_env, nr_clocks, nr_streams, nr_events;
	struct wm_ctf_pair *env;
	struct wm_ctf_clock *clocks;
	struct wm_ctf_stream *streams;
	struct wm_ctf_event *events;
	struct wm_ctf_type *types; /* newest first */
};

struct wm_ctf_metadata *wm_ctf_metadata_create(void); /* NULL: out of memory */
void wm_ctf_metadata_destroy(struct wm_ctf_metadata *m);

/* A new type with defaults; NULL when out of memory. */
struct wm_ctf_type *wm_ctf_type_create(struct wm_ctf_metadata *m, enum wm_ctf_kind kind);

/*
 * Records that `owner` contains `part`: takes over the part's alignment and depth. -E2BIG when the
 * owner becomes deeper than WM_CTF_DEPTH_MAX.
 */
int wm_ctf_type_contain(struct wm_ctf_type *owner, const struct wm_ctf_type *part);

/* Index of a member by its raw name, or -ENOENT. */
int wm_ctf_member_find(const struct wm_ctf_type *t, const char *raw);

/*
 * The checks common to both languages: NATIVE is resolved, every reference names an earlier field
 * of the right kind, the stream of every event exists, no id is used twice. -EBADMSG, -ENOMEM or
 * -E2BIG with `diag`.
 */
int wm_ctf_check(struct wm_ctf_metadata *m, struct wm_diag *diag);

/* Names of scopes in CTF 1.8: two words, or three. */
extern const char *const wm_ctf_scope_words[WM_CTF_NR_SCOPES][3];

/* In CTF 1.8 the first names of a path are its scope. Returns the number of these names. */
uint32_t wm_ctf_ref_scope(const struct wm_ctf_ref *ref, enum wm_ctf_scope *ret);

const struct wm_ctf_pair *wm_ctf_env(const struct wm_ctf_metadata *m, const char *key);
const struct wm_ctf_stream *wm_ctf_stream_find(const struct wm_ctf_metadata *m, uint64_t id);

/* The role of a member: from its type in CTF 2, from its name in CTF 1.8. */
enum wm_ctf_role wm_ctf_member_role(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
				    const struct wm_ctf_member *member);

/*
 * Parses a metadata file: plain text, metadata packets, or a CTF 2 JSON sequence. When `ret_damage`
 * is not NULL and a later part is damaged, keeps the parts in front of it, returns 0 and describes
 * the damage in *ret_damage (ret_damage->sentence is empty otherwise).
 */
int wm_ctf_metadata_parse(const char *where, const char *text, size_t bytes,
			  struct wm_ctf_metadata **ret, struct wm_diag *ret_damage,
			  struct wm_diag *diag);

#endif
