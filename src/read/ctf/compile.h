/* SPDX-License-Identifier: MIT */
/*
 * compile.h - one stream class's scopes, and those of its events, to
 * operations (plan.h). Scopes are compiled in the order a decoder meets
 * them; all go to one list, because a length in an event may be given by a
 * field of the packet header, whose operation then gets a slot.
 */
#ifndef WM_READ_CTF_COMPILE_H
#define WM_READ_CTF_COMPILE_H

#include "read/ctf/plan.h"

/* A field that was compiled: what references are looked up in. */
struct wm_ctf_node {
	const struct wm_ctf_type *type;
	uint32_t op;               /* of a number; UINT32_MAX: none */
	uint32_t nr_parts;         /* STRUCT: members done, or being done */
	struct wm_ctf_node *parts; /* STRUCT: of its members */
	struct wm_ctf_node *inner; /* list, variant, optional: what is being compiled in it */
};

/* What is known of the position: it is `mod` modulo `known`, a power of two. */
struct wm_ctf_place {
	uint32_t known, mod;
	uint8_t order; /* of the number before it: enum wm_ctf_order; 0: not known */
};

struct wm_ctf_compiler {
	struct wm_ctf_metadata *m;
	struct wm_diag *diag;
	int err; /* the first */
	struct wm_ctf_op *ops;
	uint32_t nr_ops, room_ops, max_ops;
	struct wm_ctf_op trash; /* written to after an error */
	uint32_t nr_slots, max_slots;
	uint32_t event_op; /* the first operation of the event; before it: of the stream */
	bool keeps_slots;  /* a field of the stream got a slot for the event's sake */
	bool has[WM_CTF_SLOT_OTHERS];
	uint8_t bits[WM_CTF_SLOT_OTHERS];
	bool is_own;         /* waymark wrote it: a context "cpu" is the processor */
	bool fields_say_pid; /* a field "pid" is who the event is about, not data of it */
	bool ids_in_events;  /* a context met since this was cleared says pid, tid or cpu */
	const char *clock;   /* the clock its fields are mapped to; "" the only one; NULL: none */
	const struct wm_member *uuid;

	struct wm_ctf_place place;
	uint32_t run;      /* the open run's operation; UINT32_MAX: none */
	uint32_t run_bits; /* of it */
	uint32_t run_skew; /* bits in its first byte that are before it */
	uint64_t min_bits; /* all operations so far decode at least so many */
	uint64_t nr_items, nr_jumps;

	enum wm_ctf_scope scope;
	struct wm_ctf_node *roots[WM_CTF_NR_SCOPES];
	struct wm_ctf_node *frames[WM_CTF_DEPTH_MAX + 2]; /* the structures around */
	uint32_t nr_frames;
	struct wm_arena nodes[2]; /* of the stream's scopes, of an event's */
};

void wm_ctf_compiler_init(struct wm_ctf_compiler *c, struct wm_ctf_metadata *m, uint32_t max_ops,
			  struct wm_diag *diag);
void wm_ctf_compiler_done(struct wm_ctf_compiler *c);

/*
 * Adds the program of a scope, whose structure is shown as `shape`; both may
 * be NULL. `place` is where it begins and gets where it ends. Returns the index
 * of its first operation, UINT32_MAX when there is none or after an error.
 */
uint32_t wm_ctf_compile(struct wm_ctf_compiler *c, enum wm_ctf_scope scope,
			const struct wm_ctf_type *t, const struct wm_type *shape,
			struct wm_ctf_place *place);

/* Forgets the scopes of an event. */
void wm_ctf_compile_event_end(struct wm_ctf_compiler *c);

/* --- for ctf_compile*.c ------------------------------------------------------ */

int wm_ctf_compile_fail(struct wm_ctf_compiler *c, const struct wm_ctf_ref *at, int err,
			const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* A new operation at the end; `member` is what it shows, NULL: nothing. Never NULL. */
struct wm_ctf_op *wm_ctf_emit(struct wm_ctf_compiler *c, enum wm_ctf_code code,
			      const struct wm_member *member);
struct wm_ctf_op *wm_ctf_op_at(struct wm_ctf_compiler *c, uint32_t index); /* never NULL */
uint8_t wm_ctf_log2(uint32_t power);

/*
 * Takes `bits` bits at the next multiple of `align`. Returns how many bits
 * they are from the first byte of the run, or -1: where a byte begins is not
 * known here, and nothing was taken.
 */
int64_t wm_ctf_place_bits(struct wm_ctf_compiler *c, uint32_t align, uint64_t bits);
void wm_ctf_align(struct wm_ctf_compiler *c, uint32_t align);
void wm_ctf_move(struct wm_ctf_compiler *c, uint64_t bits); /* over bits that are elsewhere */
void wm_ctf_end_run(struct wm_ctf_compiler *c);

/* Behind something of a length nobody knows: a multiple of `known`. Ends the run. */
void wm_ctf_place_unknown(struct wm_ctf_compiler *c, uint32_t known);

/* What is known behind two ways that meet. */
struct wm_ctf_place wm_ctf_join(struct wm_ctf_place a, struct wm_ctf_place b);

/* The slot of the field a reference means; 0 after an error. */
uint16_t wm_ctf_compile_ref(struct wm_ctf_compiler *c, const struct wm_ctf_type *owner,
			    const struct wm_ctf_type **ret_type);

/* Which values of `tag` choose which option. NULL after an error. */
struct wm_ctf_choice *wm_ctf_compile_choice(struct wm_ctf_compiler *c,
					    const struct wm_ctf_type *owner,
					    const struct wm_ctf_type *tag);

#endif
