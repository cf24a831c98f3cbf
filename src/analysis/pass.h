/* SPDX-License-Identifier: MIT */
/*
 * pass.h - reads traces once, in time order, for any number of analyses.
 *
 * All events that describe threads, names or memory are read, whatever the selection, so that a
 * profile of one second in the middle has all names. The analyses receive only the selected events
 * inside the time window.
 */
#ifndef WM_ANALYSIS_PASS_H
#define WM_ANALYSIS_PASS_H

#include "analysis/analysis.h"
#include "symbol/address_spaces.h"
#include "symbol/lines.h"
#include "symbol/symbols.h"
#include "trace/reader.h"

struct wm_pass_input {
	struct wm_trace *const *traces; /* open traces, recorded on one machine */
	uint32_t nr_traces;
	int64_t begin_ns, end_ns; /* begin <= time < end */

	/*
	 * The selection: event types (NULL: all except those about the
	 * recording), then single events.
	 */
	const struct wm_want *const *wants;
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e); /* NULL: all */
	const void *data;

	uint32_t nr_threads; /* 0: at most one per CPU, fewer for small traces */

	/* Called now and then with the fraction read, 0 .. 1; may be NULL. */
	void (*progress)(void *data, double done);
	void *progress_data;

	const char *symfs;  /* root folder of the files with symbols; NULL: / */
	const char *builds; /* folder of files indexed by build-id, like perf's cache; NULL: none */
};

struct wm_reading;

struct wm_pass {
	const struct wm_pass_input *in;
	struct wm_state state;
	struct wm_modules *modules;
	struct wm_spaces *spaces;   /* mappings over time */
	struct wm_symbols *symbols; /* names of addresses */
	struct wm_lines *lines;     /* their source lines */
	uint32_t **event_ids;       /* ids of names "provider:name", indexed by trace and type */
	uint64_t nr_events;         /* events passed to the analyses */
	uint64_t nr_told;           /* events that describe threads, names or memory */
	int64_t first_ns, last_ns;  /* time range of the events passed; first > last: none */
	struct wm_reading *reading; /* set by wm_pass_want(); NULL: not used */
	uint8_t **kinds;            /* bits of enum wm_pass_kind, indexed by trace and type */
	/* seed of hash tables; must be the same in all parts that are merged */
	uint64_t seed;
	/* it will be merged into another pass and needs no function names */
	bool is_part;
};

/* Reasons for reading events of a type. */
enum wm_pass_kind {
	WM_PASS_SELECTED = 1, /* the analyses receive them */
	WM_PASS_TOLD = 2,     /* they describe threads, names or memory */
};

/* The input must outlive the pass. Returns 0 or -ENOMEM. */
int wm_pass_init(struct wm_pass *p, const struct wm_pass_input *in);
void wm_pass_done(struct wm_pass *p);

/* Returns whether the analyses receive events of that type. */
static inline bool wm_pass_selects(const struct wm_pass *p, uint32_t trace,
				   const struct wm_event_type *t)
{
	return p->kinds[trace][t->index] & WM_PASS_SELECTED;
}

/* Returns the id of the event's name in the state's names. */
static inline uint32_t wm_pass_event_id(const struct wm_pass *p, const struct wm_sight *s)
{
	return p->event_ids[s->trace][s->event->type->index];
}

struct wm_pass_run {
	const struct wm_analysis *analysis;
	void *own;          /* the analysis's state, from its create() */
	const void *values; /* passed to its create() */
};

/*
 * Reads the traces once and feeds the analyses, on several threads if the result is the same.
 * Returns 0, or the first error of a reader or an analysis.
 */
int wm_pass_walk(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs);

/*
 * For one trace that grows (read/growing.h): wm_pass_want() returns the types
 * that the caller must read, and wm_pass_feed() takes each event. The pass
 * owns the wm_want, which is valid until wm_pass_rebind(). NULL: out of
 * memory.
 */
const struct wm_want *wm_pass_want(struct wm_pass *p);
int wm_pass_feed(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		 uint32_t trace, const struct wm_event *e);

/*
 * Call it when the input's traces have been reopened, with the same types and possibly more, before
 * the old ones are closed. Keeps the state and all counts. Returns 0 or -ENOMEM.
 */
int wm_pass_rebind(struct wm_pass *p);

/*
 * Adds the notes above every result: the traces, their losses, read errors, and
 * missing events that the analysis requires.
 */
int wm_pass_head(const struct wm_pass *p, const struct wm_analysis *a, struct wm_result *r);

#endif
