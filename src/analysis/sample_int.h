/* SPDX-License-Identifier: MIT */
/*
 * sample_int.h - an event's address, call chain and weight. The fields are
 * bound to the event types once, so that a profile can treat perf's samples,
 * waymark's own, and any other event with a stack alike.
 */
#ifndef WM_ANALYSIS_SAMPLE_INT_H
#define WM_ANALYSIS_SAMPLE_INT_H

#include "analysis/pass.h"
#include "analysis/stacks.h"
#include "symbol/unwind.h"

#define WM_CHAIN_MAX 4096u /* maximum addresses per call chain */
#define WM_CHAIN_MARKERS                                                                           \
	((uint64_t)-4095) /* values from here on are perf's PERF_CONTEXT_*, not addresses */

struct wm_sample_fields {
	struct wm_field_ref ip, chain, period;
	uint64_t fixed_period; /* weight of each event without the field `period`; at least 1 */
	uint64_t marker;       /* marker for an ftrace stack, which has none of its own; else 0 */
	bool by_frames;        /* the chain was found by following frame pointers */
	/* chains by frame pointers with a part of the program, and those of them without a caller
	 */
	uint64_t nr_user, nr_broken;
	bool has_stack; /* has registers and a copy of the stack: callers are found by unwinding */
};

struct wm_samples {
	struct wm_pass *pass;
	struct wm_sample_fields **fields; /* indexed by trace and type */
	/* indexed by trace and type if the weight is a field; else NULL */
	struct wm_field_ref **weights;
	bool count;             /* every event has weight one */
	bool any_ip, any_chain; /* whether any selected event type has it */
	bool any_period;        /* whether any has a period, fixed or in each event */
	bool any_clock;         /* whether any is sampled by a clock: its period is a time */
	bool any_stack;
	uint64_t nr_cut;          /* number of chains longer than WM_CHAIN_MAX */
	struct wm_unwind *unwind; /* NULL: no event type has a stack */
};

/*
 * `weight` is "count", "period" or a field; NULL: the period, or 1 for events without one. A
 * recording with a fixed period stores it once per event type instead of in each event. Returns 0,
 * -ENOMEM, or -ENOENT with `diag`.
 */
int wm_samples_init(struct wm_samples *s, struct wm_pass *pass, const char *weight,
		    struct wm_diag *diag);
void wm_samples_done(struct wm_samples *s);

/* Returns whether samples of this event have nanoseconds as their period. */
bool wm_samples_is_clock(const char *event);

/* Gets the event's weight. Returns false when it lacks the field. */
bool wm_samples_weight(const struct wm_samples *s, const struct wm_sight *sight, uint64_t *ret);

/*
 * Stores the addresses of the event's call chain in `ret` (at most WM_CHAIN_MAX), innermost first,
 * with perf's markers of user and kernel addresses; for an event without a chain, only its address.
 * Callers found by unwinding a copied stack follow the kernel's part. Returns their number; 0:
 * neither chain nor address.
 */
uint32_t wm_samples_chain(struct wm_samples *s, const struct wm_sight *sight, bool whole,
			  uint64_t *ret);

/* Counts a chain of the event; `user` is what its program's part is. */
static inline void wm_samples_count_chain(struct wm_samples *s, const struct wm_sight *sight,
					  enum wm_stacks_user user)
{
	struct wm_sample_fields *f = &s->fields[sight->trace][sight->event->type->index];

	if (!f->by_frames || user == WM_STACKS_NO_USER)
		return;
	f->nr_user++;
	f->nr_broken += user == WM_STACKS_BROKEN;
}

/* Adds the counts of a later part of the same traces. */
void wm_samples_join(struct wm_samples *s, const struct wm_samples *later);

/* Adds notes about incomplete chains and the reasons. */
void wm_samples_notes(const struct wm_samples *s, struct wm_result *r);

#endif
