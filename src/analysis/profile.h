/* SPDX-License-Identifier: MIT */
/*
 * profile.h - counts events by the code, thread or object that caused them. It produces the tables
 * of `waymark report`, flame graphs and comparisons.
 *
 *   event --keys--> bucket {words of the keys, call chain} += weight      while the trace is read
 *   bucket --each frame of its chain--> entry {words} self, children      once, at the end
 *
 * A bucket is one combination of values and one whole call chain; traces have millions of events
 * but only thousands of buckets, so an event costs one look-up.
 * Entries become the rows shown, sorted by weight. Self counts events at the
 * chain's end; children counts events of all chains that contain the entry,
 * once per chain.
 *
 * The weights of samples are their periods, which cannot be added across events, so
 * each event gets its own table unless `event` is a key; counts and fields can
 * be added.
 */
#ifndef WM_ANALYSIS_PROFILE_H
#define WM_ANALYSIS_PROFILE_H

#include "analysis/analysis.h"
#include "analysis/profile_key_int.h"

#define WM_PROFILE_BUCKETS_MAX (1u << 26)
#define WM_PROFILE_WORDS_MAX   (3 + WM_KEYS_MAX * WM_KEY_WORDS)

/* How call chains are shown below a row, in the order of the option's choices. */
enum wm_profile_graph {
	WM_GRAPH_NONE,
	WM_GRAPH_CALLER, /* graph from the row's function to the functions it called */
	WM_GRAPH_CALLEE, /* graph from the row's function to its callers */
	WM_GRAPH_FOLDED, /* no rows: one line per chain */
};

/* The weight of an event. */
enum wm_profile_mode {
	WM_PROFILE_EVENTS,
	WM_PROFILE_OFF_CPU, /* nanoseconds off the CPU, by the code that went to sleep */
	/* nanoseconds off the CPU, by the thread that ended the wait */
	WM_PROFILE_WAKEUPS,
};

struct wm_profile_values {
	const char *keys;   /* such as "comm,dso,sym"; NULL: chosen to suit the traces */
	const char *weight; /* "count", "period" or a field; NULL: the period if there is one */
	int graph;          /* enum wm_profile_graph */
	bool no_children;
	bool hierarchy; /* a row for each value of the first key, below it rows of the second... */
	bool lazy;      /* call graphs are made on demand by wm_profile_expand() */
	bool weights;   /* add a column with the weight */
	bool inlines;   /* inlined functions are frames of their own */
	bool branches;  /* the branches in samples are counted, not the samples */
	/*
	 * In a live profile, rates are shown instead of events (enum wm_rate), of what was counted
	 * during `seconds`.
	 */
	double seconds;
	bool live;
	/* in percent; rows with a smaller share are left out */
	double percent_limit;
	/* in percent of their row; calls with less are left out */
	double graph_percent_limit;
	const char *comms, *dsos, *syms, *pids; /* lists that restrict the result; NULL: all */
};

struct wm_profile;

int wm_profile_create(struct wm_pass *pass, enum wm_profile_mode mode,
		      const struct wm_profile_values *v, struct wm_profile **ret,
		      struct wm_diag *diag);
int wm_profile_feed(struct wm_profile *p, const struct wm_sight *s);
void wm_profile_destroy(struct wm_profile *p);

/* Returns whether any of the events is sampled: their number is not that of the records. */
bool wm_profile_samples(const struct wm_profile *p);

/* Adds tables and notes. More events may be fed afterwards, for another result. */
int wm_profile_result(struct wm_profile *p, struct wm_result *r);

/*
 * Call it after the pass has been rebound: rebinds keys and weights. Returns 0, or errors like
 * wm_profile_create().
 */
int wm_profile_rebind(struct wm_profile *p, struct wm_diag *diag);

/*
 * Multiplies all weights by `keep`, 0 .. 1, and removes buckets whose weight becomes 0. For live
 * profiles only. Returns 0 or -ENOMEM.
 */
int wm_profile_decay(struct wm_profile *p, double keep);

/* Creates the calls below a row of the result, if `lazy` is set. Returns 0 or -ENOMEM. */
int wm_profile_expand(struct wm_profile *p, struct wm_result *r, struct wm_result_row *row);

/* ---- the buckets, for other views of them ------------------------------------ */

struct wm_bucket {
	uint64_t weight, count;
	const uint64_t *words; /* the event, then the words of its event keys */
	uint32_t stack;
};

uint32_t wm_profile_nr_buckets(const struct wm_profile *p);
struct wm_bucket wm_profile_bucket(const struct wm_profile *p, uint32_t index);
struct wm_stacks *wm_profile_stacks(struct wm_profile *p);

#endif
