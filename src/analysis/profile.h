/* SPDX-License-Identifier: MIT */
/*
 * profile.h - who causes events: `waymark report`, and what flame graphs and
 * comparisons are made of.
 *
 *   event --keys--> bucket {words of the keys, call chain} += weight      while the trace is read
 *   bucket --each frame of its chain--> entry {words} self, children      once, at the end
 *
 * A bucket is one combination of values and one whole call chain; traces have
 * millions of events and thousands of buckets, so an event costs one look-up.
 * Entries are what people see: rows, sorted by weight. Self is what was at the
 * chain's end; children is what was anywhere above it, counted once a chain.
 *
 * Weights of samples are their periods and do not add up over events, so
 * each event gets a table of its own unless `event` is a key; counts and
 * fields do add up.
 */
#ifndef WM_ANALYSIS_PROFILE_H
#define WM_ANALYSIS_PROFILE_H

#include "analysis/analysis.h"
#include "analysis/profile_key.h"

#define WM_PROFILE_BUCKETS_MAX (1u << 26)
#define WM_PROFILE_WORDS_MAX   (2 + WM_KEYS_MAX * WM_KEY_WORDS)

/* How call chains are shown below a row. In the order of the option's choices. */
enum wm_profile_graph {
	WM_GRAPH_NONE,
	WM_GRAPH_CALLER, /* from the row's function down to what it called */
	WM_GRAPH_CALLEE, /* from the row's function up to who called it */
	WM_GRAPH_FOLDED, /* no rows: a line a chain */
};

/* What weighs. */
enum wm_profile_mode {
	WM_PROFILE_EVENTS,
	WM_PROFILE_OFF_CPU, /* nanoseconds off the processor, by where it was left */
	WM_PROFILE_WAKEUPS, /* the same, by who ended it */
};

struct wm_profile_values {
	const char *keys;   /* "comm,dso,sym"; NULL: by what the traces have */
	const char *weight; /* "count", "period", a field; NULL: period where there is one */
	int graph;          /* enum wm_profile_graph */
	bool no_children;
	bool hierarchy; /* a row for each value of the first key, below it those of the second... */
	bool lazy;      /* calls are made when they are looked at: wm_profile_expand() */
	bool weights;   /* a column of what rows weigh */
	bool inlines;   /* functions that were inlined are frames */
	/*
	 * Of what happens now: a column of events a second instead of events, which
	 * were fed in so many. 0: of what is over.
	 */
	double seconds;
	bool live;
	double percent_limit;                   /* rows below are left out; percent */
	double graph_percent_limit;             /* the same of calls, of their row */
	const char *comms, *dsos, *syms, *pids; /* lists of what is shown only; NULL: all */
};

struct wm_profile;

int wm_profile_create(struct wm_pass *pass, enum wm_profile_mode mode,
		      const struct wm_profile_values *v, struct wm_profile **ret,
		      struct wm_diag *diag);
int wm_profile_feed(struct wm_profile *p, const struct wm_sight *s);
void wm_profile_destroy(struct wm_profile *p);

/* Adds tables and notes. Events may be fed after it, and another result be had. */
int wm_profile_result(struct wm_profile *p, struct wm_result *r);

/* The pass was bound again: so are keys and weights. 0, or as wm_profile_create(). */
int wm_profile_rebind(struct wm_profile *p, struct wm_diag *diag);

/*
 * What was fed so far weighs so much less from here on, 0 .. 1; what weighs
 * nothing any more is forgotten. Only of a live one. 0 or -ENOMEM.
 */
int wm_profile_decay(struct wm_profile *p, double keep);

/* The calls below a row of it, when they are made lazily. 0 or -ENOMEM. */
int wm_profile_expand(struct wm_profile *p, struct wm_result *r, struct wm_result_row *row);

/* ---- the buckets, for other views of the same -------------------------------- */

struct wm_bucket {
	uint64_t weight, count;
	const uint64_t *words; /* event, then those of the keys of events */
	uint32_t stack;
};

uint32_t wm_profile_nr_buckets(const struct wm_profile *p);
struct wm_bucket wm_profile_bucket(const struct wm_profile *p, uint32_t index);
struct wm_stacks *wm_profile_stacks(struct wm_profile *p);

extern const struct wm_analysis wm_analysis_profile, wm_analysis_off_cpu, wm_analysis_wakeups;

#endif
