/* SPDX-License-Identifier: MIT */
/*
 * plan.h - the plan of a CTF trace, which describes how its packets and events are decoded:
 * metadata compiled to programs, one for each scope. plan.c creates the plan, compile.c the
 * programs, and decode.c runs them.
 *
 * A program is a list of operations. Fields at constant distances from one another form a *run*:
 * its first operation aligns and checks that all bits are present, so the following ones need only
 * load. A field of variable length (a string, a sequence, a variant, LEB128) ends a run.
 *
 * Values that other fields need (lengths, tags, ids, times) go to *slots*, 64-bit numbers in the
 * decoder. Slot 0 is written and never read, so that operations need no branch.
 */
#ifndef WM_READ_CTF_PLAN_H
#define WM_READ_CTF_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "read/ctf/meta/type.h"
#include "trace/reader.h"

#define WM_CTF_OPS_MAX        (1u << 20) /* operations in all programs of a trace */
#define WM_CTF_SLOTS_MAX      16384u     /* slots of a stream class and one event */
#define WM_CTF_RUN_BITS_MAX   (1u << 24)
#define WM_CTF_FRAMES_MAX     (2 * WM_CTF_DEPTH_MAX + 4)
#define WM_CTF_UNROLLED_BYTES 4096u /* longer strings are not part of a run */

enum wm_ctf_slot {
	WM_CTF_SLOT_TRASH,
	/* slots 1 to NR_ROLES - 1: the field with that role */
	WM_CTF_SLOT_CPU = WM_CTF_NR_ROLES,
	WM_CTF_SLOT_PID,
	WM_CTF_SLOT_TID,
	WM_CTF_SLOT_VPID,
	WM_CTF_SLOT_VTID,
	WM_CTF_SLOT_OTHERS, /* from here on: lengths, tags and selectors */
};

enum wm_ctf_code {
	WM_CTF_OP_END,
	/*
	 * begins a run of `length` bits and `n` items; `at`: number of its operations, if none has
	 * a slot
	 */
	WM_CTF_OP_RUN,

	/*
	 * Within a run: load the number `at` bytes from the run's start; ordered by kind, byte
	 * order and size.
	 */
	WM_CTF_OP_U8,
	WM_CTF_OP_U16,
	WM_CTF_OP_U32,
	WM_CTF_OP_U64,
	WM_CTF_OP_U16_SWAP,
	WM_CTF_OP_U32_SWAP,
	WM_CTF_OP_U64_SWAP,
	WM_CTF_OP_S8,
	WM_CTF_OP_S16,
	WM_CTF_OP_S32,
	WM_CTF_OP_S64,
	WM_CTF_OP_S16_SWAP,
	WM_CTF_OP_S32_SWAP,
	WM_CTF_OP_S64_SWAP,
	WM_CTF_OP_F32,
	WM_CTF_OP_F64,
	WM_CTF_OP_F32_SWAP,
	WM_CTF_OP_F64_SWAP,
	WM_CTF_OP_BITS,   /* a number of `bits` bits, `at` bits from the run's start */
	WM_CTF_OP_TEXT,   /* text of `n` bytes, or up to a NUL */
	WM_CTF_OP_BYTES,  /* `n` bytes */
	WM_CTF_OP_LIST,   /* `n` elements of `bits` bits, each loaded by the code `length` */
	WM_CTF_OP_STRUCT, /* `n` members, `length` items in all */

	/* Outside runs: */
	WM_CTF_OP_FREE_BITS, /* like BITS, aligned to 1 << shift bits */
	WM_CTF_OP_STRING,    /* text up to a NUL */
	WM_CTF_OP_TEXT_N,    /* text whose size in bytes is in `slot`, or up to a NUL */
	WM_CTF_OP_BYTES_N,
	WM_CTF_OP_WIDE,   /* UTF-16 or UTF-32 text up to a zero; `bits` is the encoding */
	WM_CTF_OP_WIDE_N, /* like WIDE, with its size in bytes in `slot` */
	WM_CTF_OP_LIST_N, /* like LIST, with its length in `slot` */
	WM_CTF_OP_LEB_U,
	WM_CTF_OP_LEB_S,
	WM_CTF_OP_ALIGN,
	WM_CTF_OP_WHOLE, /* skips to a multiple of 1 << shift bits, at least a byte */
	WM_CTF_OP_OPEN,  /* a structure of `n` members; CLOSE ends it */
	WM_CTF_OP_CLOSE,
	WM_CTF_OP_LOOP, /* a list; elements have at least `bits` bits; its NEXT is at `at` */
	WM_CTF_OP_NEXT, /* ends an element: jumps back to `at`, or ends the list */
	/*
	 * a variant: jumps to the option chosen by `slot`; CLOSE ends it. With `n`, a hidden one:
	 * the value that an optional must have
	 */
	WM_CTF_OP_CHOOSE,
	WM_CTF_OP_PERHAPS, /* an optional: if `slot` excludes it, jumps to `at`; CLOSE ends it */
	WM_CTF_OP_JUMP,
	WM_CTF_OP_NR
};

#define WM_CTF_FLAG_SIGNED 1u
#define WM_CTF_FLAG_BOOL   2u
#define WM_CTF_FLAG_FLOAT  4u
#define WM_CTF_FLAG_BIG    8u   /* the first bits are the most significant */
#define WM_CTF_FLAG_CLOCK  16u  /* advances the stream's clock */
#define WM_CTF_FLAG_HIDDEN 32u  /* produces no item */
#define WM_CTF_FLAG_TURNED 128u /* the bits are reversed after the load */
#define WM_CTF_FLAG_INPUT  64u  /* the length or tag is in `slot`; otherwise the length is `n` */

struct wm_ctf_op {
	uint8_t code;  /* enum wm_ctf_code */
	uint8_t bits;  /* size of a number */
	uint8_t shift; /* aligned to 1 << shift bits */
	uint8_t flags;
	uint16_t slot, role; /* slots that a number is stored in; 0: none */
	uint32_t at, n;
	const struct wm_member *member;
	union {
		uint64_t length;
		const struct wm_ctf_choice *choice;
	};
};

/* Maps a value to an option by disjoint ranges in ascending order. */
struct wm_ctf_choice {
	uint64_t bias; /* added to values first, so that signed ones compare as unsigned */
	uint32_t nr_ranges;
	struct wm_ctf_choice_range {
		uint64_t low, high;
		uint32_t option, at; /* index of its program */
	} * ranges;
};

struct wm_ctf_program {
	const struct wm_ctf_op *ops; /* NULL: the program is empty */
};

struct wm_ctf_event_plan {
	uint64_t id;
	const struct wm_event_type *type;
	/* Programs of the stream's event context, the event's context, and the fields. */
	const struct wm_ctf_op *body[3];
};

/*
 * How to decode a common event header without its program: id and time are at fixed offsets from an
 * aligned position. Valid for ids from `low` to `high`; other headers, and headers whose items are
 * wanted, need the program.
 */
struct wm_ctf_quick {
	bool is_usable;
	bool id_big, time_big;
	uint8_t shift, id_bits, time_bits; /* time_bits 0: no time; id_bits 0: no id */
	uint16_t id_slot;                  /* slot of the id in addition to the role's */
	uint32_t id_at, time_at, bits; /* offsets from the aligned position; size of the header */
	uint64_t low, high;
	/*
	 * Id and time are little-endian and within the first 64 bits: the id is word >> id_at &
	 * id_mask.
	 */
	bool is_word;
	uint64_t id_mask, time_mask;
};

struct wm_ctf_stream_plan {
	const struct wm_ctf_stream *class;
	const struct wm_ctf_metadata *metadata;
	const struct wm_type *parts[WM_NR_PARTS]; /* all parts except events' own */
	struct wm_ctf_program packet_header, packet_context, event_header, event_context;
	const struct wm_ctf_op *ops;
	uint32_t nr_slots;
	bool has[WM_CTF_SLOT_OTHERS];       /* slots that are filled by a field */
	uint8_t bits[WM_CTF_SLOT_OTHERS];   /* size of that field */
	const struct wm_trace_clock *clock; /* NULL: the events have no time */
	const char *clock_id;               /* in the metadata; NULL: it has no such clock */
	const struct wm_member *uuid;       /* member of the packet header, or NULL */
	struct wm_ctf_quick quick;
	bool ids_in_events; /* pid, tid or cpu are in the events' contexts */
	bool is_own;        /* waymark recorded the trace */
	bool is_of_cpu;     /* the events of a packet are from one CPU */
	/* the packets are as waymark wrote them: the trace was not converted */
	bool has_own_packets;
	struct wm_ctf_event_plan *events; /* sorted by id */
	uint32_t nr_events;
	uint32_t nr_dense; /* leading events whose index is their id */
};

struct wm_ctf_plan {
	struct wm_ctf_metadata *metadata; /* owned by the plan */
	uint32_t nr_streams;
	struct wm_ctf_stream_plan *streams; /* sorted by id */
	uint32_t align_bytes; /* alignment of windows: the largest of any type, at least 8 */
	uint64_t nr_ops;
};

/*
 * Compiles all stream classes and events, and adds their types and clocks to the trace. Takes
 * ownership of the metadata, even on failure. -ENOMEM, -E2BIG, -EBADMSG with `diag`.
 */
int wm_ctf_plan_create(struct wm_trace *t, struct wm_ctf_metadata *m, struct wm_ctf_plan **ret,
		       struct wm_diag *diag);
void wm_ctf_plan_destroy(struct wm_ctf_plan *p);

/* Return NULL when the plan lacks that stream class or event. */
const struct wm_ctf_stream_plan *wm_ctf_plan_stream(const struct wm_ctf_plan *p, uint64_t id);
const struct wm_ctf_event_plan *wm_ctf_plan_event_search(const struct wm_ctf_stream_plan *s,
							 uint64_t id);
static inline const struct wm_ctf_event_plan *wm_ctf_plan_event(const struct wm_ctf_stream_plan *s,
								uint64_t id)
{
	return id < s->nr_dense ? &s->events[id] : wm_ctf_plan_event_search(s, id);
}

/* Returns the event whose id is in the decoded header; NULL: unknown id. */
static inline const struct wm_ctf_event_plan *wm_ctf_plan_of(const struct wm_ctf_stream_plan *s,
							     const uint64_t *slots)
{
	if (!s->has[WM_CTF_EVENT_ID])
		return s->nr_events == 1 ? &s->events[0] : wm_ctf_plan_event(s, 0);
	return wm_ctf_plan_event(s, slots[WM_CTF_EVENT_ID]);
}

bool wm_ctf_is_own(const struct wm_ctf_metadata *m); /* waymark recorded the trace */
/* and it was not converted afterwards */
bool wm_ctf_has_own_packets(const struct wm_ctf_metadata *m);
/*
 * Returns whether this is the recorder's own stream, or the stream of task events, in one of
 * waymark's traces.
 */
bool wm_ctf_is_about_recording(const struct wm_ctf_metadata *m, const struct wm_ctf_stream *s);

/*
 * Returns whether the events name their thread but not its process, as the kernel's events in
 * waymark's traces do.
 */
static inline bool wm_ctf_is_task(const struct wm_ctf_stream_plan *s)
{
	return s->is_own && s->has[WM_CTF_SLOT_TID] && !s->has[WM_CTF_SLOT_PID] &&
	       !s->has[WM_CTF_SLOT_VPID];
}

/* Fills the stream's struct wm_ctf_quick from the program of the header. */
void wm_ctf_quick_make(struct wm_ctf_stream_plan *p);

/* Returns the range that contains a value, and thereby the option; or NULL. */
const struct wm_ctf_choice_range *wm_ctf_choose(const struct wm_ctf_choice *c, uint64_t value);

#endif
