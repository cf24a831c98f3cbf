/* SPDX-License-Identifier: MIT */
/*
 * pass.h - one walk over traces in order of time, for any number of analyses.
 *
 * Every event that tells of threads, names or memory is followed, whatever was
 * selected: a profile of one second in the middle still knows who is who. The
 * analyses see what was selected and lies in the window.
 */
#ifndef WM_ANALYSIS_PASS_H
#define WM_ANALYSIS_PASS_H

#include "analysis/analysis.h"
#include "symbol/address_spaces.h"
#include "symbol/lines.h"
#include "symbol/symbols.h"
#include "trace/reader.h"

struct wm_pass_input {
	struct wm_trace *const *traces; /* open, of one machine */
	uint32_t nr_traces;
	int64_t begin_ns, end_ns; /* begin <= time < end */

	/* The selection: kinds (NULL: all, but those about the recording), then each event. */
	const struct wm_want *const *wants;
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e); /* NULL: all */
	const void *data;

	uint32_t nr_threads; /* 0: as many as there are processors and the traces are long for */

	/* Called now and then with how much was read, 0 .. 1; NULL: nobody wants to know. */
	void (*progress)(void *data, double done);
	void *progress_data;

	const char *symfs;  /* root of the files with symbols; NULL: / */
	const char *builds; /* folder of files by build-id, as perf's cache; NULL: none */
};

struct wm_reading;

struct wm_pass {
	const struct wm_pass_input *in;
	struct wm_state state;
	struct wm_modules *modules;
	struct wm_spaces *spaces;   /* what is mapped where */
	struct wm_symbols *symbols; /* names of addresses */
	struct wm_lines *lines;     /* their source lines */
	uint32_t **event_ids;       /* by trace and index of the kind: names, "provider:name" */
	uint64_t nr_events;         /* fed to the analyses */
	uint64_t nr_told;           /* that told of threads, names or memory */
	int64_t first_ns, last_ns;  /* of those with a time; first > last: none */
	struct wm_reading *reading; /* of wm_pass_want(); NULL: nobody asked */
	uint8_t **kinds;            /* by trace and index of the kind: bits of enum wm_pass_kind */
	uint64_t seed;              /* of tables that are joined with those of other parts */
	bool is_part;               /* of another pass, which will join it: nobody asks for names */
};

/* Why events of a kind are read. */
enum wm_pass_kind {
	WM_PASS_SELECTED = 1, /* analyses see them */
	WM_PASS_TOLD = 2,     /* they tell of threads, names or memory */
};

/* The input outlives the pass. 0 or -ENOMEM. */
int wm_pass_init(struct wm_pass *p, const struct wm_pass_input *in);
void wm_pass_done(struct wm_pass *p);

/* Are events of that kind among what the analyses see? */
static inline bool wm_pass_selects(const struct wm_pass *p, uint32_t trace,
				   const struct wm_event_type *t)
{
	return p->kinds[trace][t->index] & WM_PASS_SELECTED;
}

/* The id of the event's name in the state's names. */
static inline uint32_t wm_pass_event_id(const struct wm_pass *p, const struct wm_sight *s)
{
	return p->event_ids[s->trace][s->event->type->index];
}

struct wm_pass_run {
	const struct wm_analysis *analysis;
	void *own;          /* what its create() made */
	const void *values; /* of which it made it */
};

/*
 * Walks once; on several threads where that gives the same. 0, or the first error:
 * of a reader, of an analysis.
 */
int wm_pass_walk(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs);

/*
 * The same by and by, of one trace that grows (read/growing.h): what of it
 * is wanted, and each event as it comes. The want is the pass's until it is
 * bound again. NULL: out of memory.
 */
const struct wm_want *wm_pass_want(struct wm_pass *p);
int wm_pass_feed(struct wm_pass *p, const struct wm_pass_run *runs, uint32_t nr_runs,
		 uint32_t trace, const struct wm_event *e);

/*
 * The input's traces were opened anew, with the same and more kinds of events,
 * and those before are still there. What was learnt stays. 0 or -ENOMEM.
 */
int wm_pass_rebind(struct wm_pass *p);

/*
 * What stands above every result: what the traces are, what was lost in them,
 * what could not be read, and which needed events are missing.
 */
int wm_pass_head(const struct wm_pass *p, const struct wm_analysis *a, struct wm_result *r);

#endif
