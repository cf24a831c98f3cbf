/* SPDX-License-Identifier: MIT */
/*
 * pass_parts.c - a walk on several threads: each has a period of time and its own pass, which first
 * learns the state before its period. Then the parts are joined in time order, starting with the
 * caller's pass. Names, modules and everything else that is numbered get the same numbers as in a
 * single walk, so results are identical to the byte.
 *
 * The threads share only the timeline and the traces, which are immutable except for their faults.
 * Therefore they need no lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/pass_int.h"
#include "trace/scan.h"

/* minimum size of a part's packets: less is not worth a thread */
#define PART_BYTES ((uint64_t)2 << 20)

struct part {
	struct wm_pass_part what;
	struct wm_pass *pass; /* the caller's pass for the first part; `own` for the others */
	struct wm_pass own;
	struct wm_pass_input in; /* input of `own` */
	struct wm_pass_run run;
	pthread_t thread;
	bool is_running;
	int err;
};

/* --- cuts --------------------------------------------------------------------------------- */

bool wm_pass_divides(const struct wm_pass *p, const struct wm_pass_run *run)
{
	/* Several traces may each describe the same threads differently. */
	return p->in->nr_traces == 1 && p->in->traces[0]->divisible && run->analysis->divides &&
	       run->analysis->divides(run->own);
}

int64_t wm_pass_cut(const struct wm_pass *p, const struct wm_pass_run *run,
		    const struct wm_timeline *timeline, int64_t **ret)
{
	int64_t nr = wm_scan_threads(p->in->nr_threads), slices;
	int64_t *cuts;

	if (nr < 2 || !wm_pass_divides(p, run))
		return 1;
	slices = wm_timeline_cut(timeline, p->in->begin_ns, p->in->end_ns, PART_BYTES, &cuts);
	if (slices < 0)
		return slices;
	nr = nr < slices ? nr : slices;
	for (int64_t i = 1; i <= nr; i++)
		cuts[i] = cuts[slices * i / nr];
	*ret = cuts;
	return nr;
}

/* --- threads -------------------------------------------------------------------------------- */

static void *parts_work(void *data)
{
	struct part *x = data;

	if (x->what.begin_ns != INT64_MIN)
		x->err = wm_pass_walk_told(x->pass, &x->what);
	if (!x->err)
		x->err = wm_pass_walk_part(x->pass, &x->run, 1, &x->what);
	return NULL;
}

/* Creates a pass and an analysis like the caller's. */
static int parts_make(struct part *x, const struct wm_pass *p, const struct wm_pass_run *run)
{
	int err;

	x->in = *p->in;
	x->in.progress = NULL;
	err = wm_pass_init(&x->own, &x->in);
	if (err)
		return err;
	x->pass = &x->own;
	x->own.seed = p->seed;
	x->own.is_part = true;
	x->run = (struct wm_pass_run){run->analysis, NULL, run->values};
	return run->analysis->create(&x->own, run->values, &x->run.own, NULL);
}

static void done_part(struct part *x)
{
	if (x->run.own)
		x->run.analysis->destroy(x->run.own);
	if (x->own.in)
		wm_pass_done(&x->own);
}

/* --- joining -------------------------------------------------------------------------------- */

static uint32_t *join_names(struct wm_names *n, const struct wm_names *later)
{
	uint32_t *map = malloc((later->nr + 1) * sizeof(*map));

	for (uint32_t i = 0; map && i < later->nr; i++) {
		map[i] = wm_names_id(n, later->texts[i], later->bytes[i]);
		if (map[i] == WM_NAMES_NONE)
			map[i] = 0; /* like all names beyond the limit */
	}
	return map;
}

static void join_counts(struct wm_pass *p, const struct wm_pass *later)
{
	p->nr_events += later->nr_events;
	p->nr_told = later->nr_told; /* the later part has read all of these events */
	p->first_ns = later->first_ns < p->first_ns ? later->first_ns : p->first_ns;
	p->last_ns = later->last_ns > p->last_ns ? later->last_ns : p->last_ns;
	wm_spaces_join(p->spaces, later->spaces);
}

static int parts_join(struct wm_pass *p, const struct wm_pass_run *run, const struct part *later)
{
	struct wm_module **modules = NULL;
	uint32_t *names = join_names(&p->state.names, &later->pass->state.names);
	int err = names ? wm_modules_join(p->modules, later->pass->modules, &modules) : -ENOMEM;
	const struct wm_join j = {names, modules};

	if (!err)
		err = run->analysis->join(run->own, later->run.own, &j);
	join_counts(p, later->pass);
	free(modules);
	free(names);
	return err;
}

/* --- the walk -------------------------------------------------------------------------------- */

static void run_parts(struct part *parts, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++)
		parts[i].is_running =
		    !pthread_create(&parts[i].thread, NULL, parts_work, &parts[i]);
	(void)parts_work(&parts[0]);
	for (uint32_t i = 1; i < nr; i++)
		if (parts[i].is_running)
			pthread_join(parts[i].thread, NULL);
		else
			(void)parts_work(&parts[i]); /* thread creation failed: run it here */
}

static int walk_on(struct wm_pass *p, const struct wm_pass_run *run, struct part *parts,
		   uint32_t nr)
{
	uint32_t nr_faults = p->in->traces[0]->nr_faults;
	int err = 0;

	parts[0].pass = p;
	parts[0].run = *run;
	for (uint32_t i = 1; i < nr && !err; i++)
		err = parts_make(&parts[i], p, run);
	if (!err)
		run_parts(parts, nr);
	wm_trace_sort_faults(p->in->traces[0], nr_faults);
	for (uint32_t i = 0; i < nr && !err; i++) {
		err = parts[i].err;
		if (!err && i)
			err = parts_join(p, run, &parts[i]);
	}
	parts[0].run.own = NULL; /* owned by the caller */
	for (uint32_t i = 0; i < nr; i++)
		done_part(&parts[i]);
	return err;
}

int wm_pass_walk_parts(struct wm_pass *p, const struct wm_pass_run *run,
		       const struct wm_timeline *timeline, const int64_t *cuts, uint32_t nr)
{
	struct part *parts = calloc(nr, sizeof(*parts));
	int err;

	if (!parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		parts[i].what = (struct wm_pass_part){timeline, cuts[i], cuts[i + 1], nr};
	err = walk_on(p, run, parts, nr);
	free(parts);
	return err;
}
