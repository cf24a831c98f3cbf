/* SPDX-License-Identifier: MIT */
/*
 * sample.h - what an event says of where it was: its address and call chain,
 * and what it counts for. Bound to the kinds of events once, so that a profile
 * reads perf's samples, our own, and any event with a stack alike.
 */
#ifndef WM_ANALYSIS_SAMPLE_H
#define WM_ANALYSIS_SAMPLE_H

#include "analysis/pass.h"
#include "symbol/unwind.h"

#define WM_CHAIN_MAX     4096u             /* addresses of one call chain that are looked at */
#define WM_CHAIN_MARKERS ((uint64_t)-4095) /* from here on: perf's PERF_CONTEXT_*, no address */

struct wm_sample_fields {
	struct wm_field_ref ip, chain, period;
	bool has_stack; /* registers and a copy of the stack: its callers are found by those */
};

struct wm_samples {
	struct wm_pass *pass;
	struct wm_sample_fields **fields;   /* by trace and index of the kind */
	struct wm_field_ref **weights;      /* the same: of a field; NULL: it is none */
	bool count;                         /* every event counts one */
	bool any_ip, any_chain, any_period; /* some selected kind has it */
	bool any_stack;
	uint64_t nr_cut;          /* chains longer than WM_CHAIN_MAX */
	struct wm_unwind *unwind; /* NULL: no kind has a stack */
};

/*
 * `weight`: "count", "period" or a field; NULL: the period, one where there is
 * none. 0, -ENOENT with `diag`, -ENOMEM.
 */
int wm_samples_init(struct wm_samples *s, struct wm_pass *pass, const char *weight,
		    struct wm_diag *diag);
void wm_samples_done(struct wm_samples *s);

/* What the event counts for. False: it lacks the field. */
bool wm_samples_weight(const struct wm_samples *s, const struct wm_sight *sight, uint64_t *ret);

/*
 * The addresses of the event's call chain into `ret` (WM_CHAIN_MAX of them),
 * innermost first, perf's markers of user and kernel among them; of an event
 * without a chain its address alone. What a copy of the stack tells stands
 * behind the kernel's part. Their count; 0: it has neither.
 */
uint32_t wm_samples_chain(struct wm_samples *s, const struct wm_sight *sight, bool whole,
			  uint64_t *ret);

/* Adds notes on chains that are not whole, and why. */
void wm_samples_notes(const struct wm_samples *s, struct wm_result *r);

#endif
