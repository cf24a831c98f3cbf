/* SPDX-License-Identifier: MIT */
/*
 * compile.h - compiles the scopes of one stream class and of its events to operations (plan.h).
 * Scopes are compiled in the order a decoder meets them; all go to one list, because a field of the
 * packet header may give the length of a field in an event. Its operation then gets a slot.
 */
#ifndef WM_READ_CTF_COMPILE_H
#define WM_READ_CTF_COMPILE_H

#include "read/ctf/plan.h"

/* A compiled field, which references are looked up in. */
struct wm_ctf_node {
	const struct wm_ctf_type *type;
	uint32_t op;               /* of a number; else UINT32_MAX */
	uint32_t nr_parts;         /* STRUCT: members compiled, including the one being compiled */
	struct wm_ctf_node *parts; /* STRUCT: its members */
	struct wm_ctf_node *inner; /* list, variant, optional: the node being compiled inside it */
};

/* What is known of the position: position modulo `known`, a power of two, is `mod`. */
struct wm_ctf_place {
	uint32_t known, mod;
	uint8_t order; /* of the number in front of it: enum wm_ctf_order; 0: unknown */
};

struct wm_ctf_compiler {
	struct wm_ctf_metadata *m;
	struct wm_diag *diag;
	int err; /* the first error */
	struct wm_ctf_op *ops;
	uint32_t nr_ops, room_ops, max_ops;
	struct wm_ctf_op trash; /* operations are written here after an error */
	uint32_t nr_slots, max_slots;
	uint32_t event_op; /* first operation of the event; lower ones are the stream's */
	bool keeps_slots;  /* a field of the stream got a slot because an event refers to it */
	bool has[WM_CTF_SLOT_OTHERS];
	uint8_t bits[WM_CTF_SLOT_OTHERS];
	bool is_own;         /* waymark wrote the trace: a context "cpu" is the processor */
	bool fields_say_pid; /* a field "pid" is the event's process, not data of it */
	bool ids_in_events;  /* a context compiled since this was cleared gives pid, tid or cpu */
	const char *clock; /* the clock its fields are mapped to; "": the only clock; NULL: none */
	const struct wm_member *uuid;

	struct wm_ctf_place place;
	uint32_t run;      /* operation of the open run; UINT32_MAX: no open run */
	uint32_t run_bits; /* of the run */
	uint32_t run_skew; /* bits of its first byte that precede the run */
	uint64_t min_bits; /* lower bound of the bits decoded by all operations up to here */
	uint64_t nr_items, nr_jumps;

	enum wm_ctf_scope scope;
	struct wm_ctf_node *roots[WM_CTF_NR_SCOPES];
	struct wm_ctf_node *frames[WM_CTF_DEPTH_MAX + 2]; /* the enclosing structures */
	uint32_t nr_frames;
	struct wm_arena nodes[2]; /* of the stream's scopes, and of an event's */
};

void wm_ctf_compiler_init(struct wm_ctf_compiler *c, struct wm_ctf_metadata *m, uint32_t max_ops,
			  struct wm_diag *diag);
void wm_ctf_compiler_done(struct wm_ctf_compiler *c);

/*
 * Adds the program of a scope, whose structure is shown as `shape`; both may be NULL. `place` is
 * the position at its begin and is updated to the position at its end. Returns the index of its
 * first operation, UINT32_MAX when it has none or after an error.
 */
uint32_t wm_ctf_compile(struct wm_ctf_compiler *c, enum wm_ctf_scope scope,
			const struct wm_ctf_type *t, const struct wm_type *shape,
			struct wm_ctf_place *place);

/* Forgets the scopes of an event. */
void wm_ctf_compile_event_end(struct wm_ctf_compiler *c);

/* --- for compile*.c ---------------------------------------------------------- */

int wm_ctf_compile_fail(struct wm_ctf_compiler *c, const struct wm_ctf_ref *at, int err,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Appends an operation; `member` is the member it shows, or NULL. Never returns NULL. */
struct wm_ctf_op *wm_ctf_emit(struct wm_ctf_compiler *c, enum wm_ctf_code code,
			      const struct wm_member *member);
struct wm_ctf_op *wm_ctf_op_at(struct wm_ctf_compiler *c, uint32_t index); /* never NULL */
uint8_t wm_ctf_log2(uint32_t power);

/*
 * Takes `bits` bits at the next multiple of `align`. Returns their offset in bits from the first
 * byte of the run, or -1 when the position of byte boundaries is not known here; then nothing was
 * taken.
 */
int64_t wm_ctf_place_bits(struct wm_ctf_compiler *c, uint32_t align, uint64_t bits);
void wm_ctf_align(struct wm_ctf_compiler *c, uint32_t align);
void wm_ctf_move(struct wm_ctf_compiler *c,
		 uint64_t bits); /* skips bits that are decoded elsewhere */
void wm_ctf_end_run(struct wm_ctf_compiler *c);

/* Called after something of unknown length: the position is a multiple of `known`. Ends the run. */
void wm_ctf_place_unknown(struct wm_ctf_compiler *c, uint32_t known);

/* What is known of the position where two branches join. */
struct wm_ctf_place wm_ctf_join(struct wm_ctf_place a, struct wm_ctf_place b);

/* The slot of the field that a reference names; 0 after an error. */
uint16_t wm_ctf_compile_ref(struct wm_ctf_compiler *c, const struct wm_ctf_type *owner,
			    const struct wm_ctf_type **ret_type);

/* Maps values of `tag` to options. NULL after an error. */
struct wm_ctf_choice *wm_ctf_compile_choice(struct wm_ctf_compiler *c,
					    const struct wm_ctf_type *owner,
					    const struct wm_ctf_type *tag);

#endif
