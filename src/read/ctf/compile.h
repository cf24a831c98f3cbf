/* SPDX-License-Identifier: MIT */
/*
 * compile.h - compiles the scopes of one stream class and of its events to operations (plan.h).
 * Scopes are compiled in the order in which they are decoded, into one list of operations for all:
 * a field of the packet header may give the length of a field in an event, and then its operation
 * is changed to store the value in a slot.
 */
#ifndef WM_READ_CTF_COMPILE_H
#define WM_READ_CTF_COMPILE_H

#include "read/ctf/plan.h"

/*
 * A compiled field. The tree of these nodes is searched for the fields that later fields refer to.
 */
struct wm_ctf_node {
	const struct wm_ctf_type *type;
	/* the operation that decodes a number; UINT32_MAX for other types */
	uint32_t op;
	/*
	 * STRUCT, VARIANT: members or options compiled, including the one being compiled; OPTIONAL:
	 * 1 when its value is compiled
	 */
	uint32_t nr_parts;
	struct wm_ctf_node
	    *parts;       /* STRUCT, VARIANT: its members or options; OPTIONAL: its value */
	uint32_t perhaps; /* OPTIONAL: its operation */
	/* list, variant, optional: the node currently compiled inside it */
	struct wm_ctf_node *inner;
};

/*
 * The position in bits, as far as it is known when compiling: it is `mod` modulo `known`, a power
 * of two.
 */
struct wm_ctf_place {
	uint32_t known, mod;
	uint8_t order; /* enum wm_ctf_order of the preceding number; 0: unknown */
};

struct wm_ctf_compiler {
	struct wm_ctf_metadata *m;
	struct wm_diag *diag;
	int err; /* the first error */
	struct wm_ctf_op *ops;
	uint32_t nr_ops, room_ops, max_ops;
	struct wm_ctf_op trash; /* after an error, operations are written here and never read */
	uint32_t nr_slots, max_slots;
	uint64_t nr_steps;  /* nodes visited to find the fields that references name */
	uint32_t nr_merged; /* pairs of slots merged into one */
	uint32_t event_op;  /* first operation of the event; earlier ones are the stream's */
	bool keeps_slots;   /* a field of the stream got a slot because an event refers to it */
	bool has[WM_CTF_SLOT_OTHERS];
	uint8_t bits[WM_CTF_SLOT_OTHERS];
	bool is_own;         /* waymark wrote the trace: a context "cpu" means the processor */
	bool fields_say_pid; /* a field "pid" means the event's process; it is not data */
	bool ids_in_events;  /* a context compiled since this was cleared gives pid, tid or cpu */
	/* clock of the fields mapped to one; "": the only clock; NULL: none yet */
	const char *clock;
	const struct wm_member *uuid;

	struct wm_ctf_place place;
	uint32_t run;      /* operation of the open run; UINT32_MAX: no open run */
	uint32_t run_bits; /* size of the open run */
	uint32_t run_skew; /* bits of the run's first byte that precede the run */
	uint64_t min_bits; /* lower bound on the bits decoded by all operations so far */
	uint64_t nr_items, nr_jumps;

	enum wm_ctf_scope scope;
	struct wm_ctf_node *roots[WM_CTF_NR_SCOPES];
	struct wm_ctf_node *frames[WM_CTF_DEPTH_MAX + 2]; /* nodes of the enclosing structures */
	uint32_t nr_frames;
	struct wm_arena nodes[2]; /* nodes of the stream's scopes, and nodes of the current event */
};

void wm_ctf_compiler_init(struct wm_ctf_compiler *c, struct wm_ctf_metadata *m, uint32_t max_ops,
			  struct wm_diag *diag);
void wm_ctf_compiler_done(struct wm_ctf_compiler *c);

/*
 * Compiles a scope. `t` is its structure, `shape` the same structure as readers show it; both may
 * be NULL. `place` is the position at its start and is updated to the position at its end. Returns
 * the index of its first operation, UINT32_MAX when it has none or after an error.
 */
uint32_t wm_ctf_compile(struct wm_ctf_compiler *c, enum wm_ctf_scope scope,
			const struct wm_ctf_type *t, const struct wm_type *shape,
			struct wm_ctf_place *place);

/* Frees the nodes of the event that was just compiled. */
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
 * Reserves `bits` bits at the next multiple of `align`. Returns their offset in bits from the first
 * byte of the run, or -1, without reserving anything, when the position of byte boundaries is
 * unknown.
 */
int64_t wm_ctf_place_bits(struct wm_ctf_compiler *c, uint32_t align, uint64_t bits);
void wm_ctf_align(struct wm_ctf_compiler *c, uint32_t align);
void wm_ctf_move(struct wm_ctf_compiler *c,
		 uint64_t bits); /* skips bits that are decoded elsewhere */
void wm_ctf_end_run(struct wm_ctf_compiler *c);

/*
 * Ends the run after a field of variable length; afterwards the position is a multiple of `known`.
 */
void wm_ctf_place_unknown(struct wm_ctf_compiler *c, uint32_t known);

/* Combines the positions at the ends of two branches into the position after both. */
struct wm_ctf_place wm_ctf_join(struct wm_ctf_place a, struct wm_ctf_place b);

/* Returns the slot of the field that owner->ref names, or 0 after an error. */
uint16_t wm_ctf_compile_ref(struct wm_ctf_compiler *c, const struct wm_ctf_type *owner,
			    const struct wm_ctf_type **ret_type);

/* Creates the map from values of `tag` to options. NULL after an error. */
struct wm_ctf_choice *wm_ctf_compile_choice(struct wm_ctf_compiler *c,
					    const struct wm_ctf_type *owner,
					    const struct wm_ctf_type *tag);

#endif
