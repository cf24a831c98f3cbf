/* SPDX-License-Identifier: MIT */
/* counters.c - see counters.h. One perf descriptor per event, thread and CPU. */
#include "kernel/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/privilege.h"
#include "kernel/probe_events.h"

/* Number of other files that the counting process has open, plus a reserve. */
#define FILES_OF_OURS 24u

/* One descriptor. `fd` is -1 if the thread had ended or the CPU has no such counter. */
struct cell {
	int fd;
	struct wm_perf_count now, before;
};

/* One def. Several may belong to one event, such as a probe in several places. */
struct row {
	const struct wm_event_def *def;
	uint64_t dynamic_id; /* id of the tracefs event that was created for a probe; 0: none */
	const char *filter;
	size_t event;
	uint32_t group;     /* number of the rows' group; 0: none, or it was split */
	struct cell *cells; /* an array of nr_tids x nr_cpus */
};

struct wm_counters {
	struct wm_counters_event *events;
	size_t nr_events;
	struct row *rows;
	size_t nr_rows;
	size_t nr_tids, nr_cpus; /* both are at least 1 */
	struct wm_dynamic *dynamic;
};

/* ---- opening ------------------------------------------------------------------ */

static int counters_add_row(struct wm_counters *c, const struct wm_event_def *def,
			    const char *filter)
{
	struct row *r = &c->rows[c->nr_rows];

	if (!def->more || !c->nr_events)
		c->events[c->nr_events++] =
		    (struct wm_counters_event){.def = def, .why = {.offset = -1}};
	*r = (struct row){
	    .def = def, .filter = filter, .event = c->nr_events - 1, .group = def->group};
	r->cells = calloc(c->nr_tids * c->nr_cpus, sizeof(*r->cells));
	if (!r->cells)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_tids * c->nr_cpus; i++)
		r->cells[i].fd = -1;
	c->nr_rows++;
	return 0;
}

/*
 * The descriptor that leads a row's group in a cell: that of the first row with one there. -1: the
 * row itself leads, or it is in no group.
 */
static int leader_of(const struct wm_counters *c, const struct row *r, size_t cell)
{
	for (size_t i = 0; r->group && &c->rows[i] < r; i++) {
		if (c->rows[i].group == r->group && c->rows[i].cells[cell].fd >= 0)
			return c->rows[i].cells[cell].fd;
	}
	return -1;
}

/*
 * Opens one counter, as a member of the group that `leader` leads (-1: alone). Returns the
 * descriptor or -errno, with the reason recorded in the event.
 */
static int open_cell(struct wm_counters_event *e, const struct row *r,
		     const struct wm_counters_plan *plan, struct wm_perf_where where, int leader)
{
	struct perf_event_attr attr;
	int fd, err;

	if (r->dynamic_id)
		wm_perf_attr_init(&attr, PERF_TYPE_TRACEPOINT, r->dynamic_id);
	else
		wm_event_def_attr(r->def, &attr);
	wm_perf_attr_counting(&attr, plan->inherit, plan->on_exec && leader < 0);
	attr.disabled = leader < 0; /* a member counts when its leader does */
	attr.exclude_kernel |= e->user_only;
	fd = wm_perf_open(&attr, where, leader, r->def->name, &e->why);
	if (fd < 0 && !e->user_only && wm_event_def_may_narrow(r->def, fd)) {
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
		fd = wm_perf_open(&attr, where, leader, r->def->name, &e->why);
		e->user_only = fd >= 0;
	}
	if (fd < 0 || !r->filter)
		return fd;
	err = wm_perf_filter(fd, r->filter, r->def->name, &e->why);
	if (err < 0)
		(void)close(fd);
	return err < 0 ? err : fd;
}

static void close_row(struct wm_counters *c, struct row *r)
{
	for (size_t i = 0; r->cells && i < c->nr_tids * c->nr_cpus; i++) {
		if (r->cells[i].fd >= 0)
			(void)close(r->cells[i].fd);
		r->cells[i].fd = -1;
	}
}

/* Gives up an event in all places, because a sum over only some of them would be too small. */
static void give_up(struct wm_counters *c, size_t event, int err)
{
	for (size_t i = 0; i < c->nr_rows; i++) {
		if (c->rows[i].event == event)
			close_row(c, &c->rows[i]);
	}
	c->events[event].err = err;
	c->events[event].nr_open = 0;
}

/* Creates a tracefs event for a probe that children inherit: see probe_events.h. */
static int make_dynamic(struct wm_counters *c, struct row *r, const struct wm_counters_plan *plan)
{
	struct wm_counters_event *e = &c->events[r->event];
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
	int err = 0;

	if (r->def->family == WM_FAMILY_EPROBE)
		return wm_diag_set(&e->why, -EOPNOTSUPP, NULL, -1,
				   "'%.80s' cannot be counted, only recorded: perf's counters do "
				   "not support event probes",
				   r->def->name);
	if (r->def->family == WM_FAMILY_PROC)
		return wm_diag_set(
		    &e->why, -EOPNOTSUPP, NULL, -1,
		    "'%.80s' cannot be counted, only recorded: it is read from a file at intervals",
		    r->def->name);
	if (!plan->inherit || r->def->family < WM_FAMILY_USDT)
		return 0;
	if (!plan->tracefs)
		return wm_diag_set(&e->why, -EACCES, NULL, -1,
				   "'%.80s': a probe that counts children needs tracefs, which "
				   "cannot be read here; run 'waymark doctor' for the reason",
				   r->def->name);
	if (!c->dynamic)
		err = wm_dynamic_create(plan->tracefs, &c->dynamic, &e->why);
	if (!err)
		err = wm_dynamic_add(c->dynamic, r->def, system, event, &e->why);
	if (!err)
		err = wm_tracefs_event_id(plan->tracefs, system, event, &r->dynamic_id, &e->why);
	return err;
}

/* Whether an event that was refused as a member of its group can be counted outside of it. */
static bool works_alone(struct wm_counters_event *e, const struct row *r,
			const struct wm_counters_plan *plan, struct wm_perf_where where)
{
	struct wm_diag why = e->why;
	int fd = open_cell(e, r, plan, where, -1);

	e->why = why;
	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/*
 * Opens a row's counters in all cells. Returns 0, also when the event was given up; or -EAGAIN if
 * it can be counted, but not together with the others of its group.
 */
static int counters_open_row(struct wm_counters *c, struct row *r,
			     const struct wm_counters_plan *plan)
{
	struct wm_counters_event *e = &c->events[r->event];

	for (size_t cell = 0; !e->err && cell < c->nr_tids * c->nr_cpus; cell++) {
		const struct wm_perf_where where = {
		    plan->nr_tids ? plan->tids[cell / c->nr_cpus] : -1,
		    plan->nr_cpus ? plan->cpus[cell % c->nr_cpus] : -1,
		};
		int leader = leader_of(c, r, cell), fd = open_cell(e, r, plan, where, leader);

		if (fd >= 0) {
			r->cells[cell].fd = fd;
			e->nr_open++;
		} else if (leader >= 0 && fd != -ESRCH && works_alone(e, r, plan, where)) {
			return -EAGAIN;
		} else if (fd != -ESRCH || c->nr_tids == 1) {
			give_up(c, r->event, fd);
		}
	}
	return 0;
}

/* Closes what is open of a group's rows, which are those from `first` to `end`, to open them alone.
 */
static void split_group(struct wm_counters *c, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct row *r = &c->rows[i];

		close_row(c, r);
		r->group = 0;
		c->events[r->event].nr_open = 0;
	}
}

/* The index after the last row of the group of row `first`; a row in no group is its own. */
static size_t end_of_group(const struct wm_counters *c, size_t first)
{
	size_t end = first + 1;

	while (c->rows[first].group && end < c->nr_rows &&
	       c->rows[end].group == c->rows[first].group)
		end++;
	return end;
}

/* Opens the rows from `first` to `end`. Returns false if they are a group that must be split. */
static bool open_rows(struct wm_counters *c, size_t first, size_t end,
		      const struct wm_counters_plan *plan)
{
	for (size_t i = first; i < end; i++) {
		struct wm_counters_event *e = &c->events[c->rows[i].event];

		if (counters_open_row(c, &c->rows[i], plan) == -EAGAIN) {
			e->is_split = true;
			return false;
		}
	}
	return true;
}

/* Opens a group, or one row that is in none; returns the index of the next row. */
static size_t open_group(struct wm_counters *c, size_t first, const struct wm_counters_plan *plan)
{
	const size_t end = end_of_group(c, first);

	for (size_t i = first; i < end; i++) {
		struct wm_counters_event *e = &c->events[c->rows[i].event];
		int err = e->err ? 0 : make_dynamic(c, &c->rows[i], plan);

		if (err < 0)
			give_up(c, c->rows[i].event, err);
	}
	if (!open_rows(c, first, end, plan)) {
		split_group(c, first, end);
		(void)open_rows(c, first, end, plan);
	}
	return end;
}

/*
 * Adds the total number of descriptors needed to the message, because the refusal of one does not
 * show it.
 */
static void explain_files(struct wm_counters *c)
{
	size_t nr = c->nr_rows * c->nr_tids * c->nr_cpus;
	struct wm_privilege p;

	wm_privilege_read(&p);
	for (size_t i = 0; i < c->nr_events; i++) {
		struct wm_counters_event *e = &c->events[i];

		if (e->err == -EMFILE)
			(void)wm_diag_set(
			    &e->why, -EMFILE, NULL, -1,
			    "too many open files for '%.60s': these events need %zu, one for each "
			    "event and each CPU or thread, and the limit is %" PRIu64
			    "; raise it with 'ulimit -n %zu' or name fewer events",
			    e->def->name, nr, p.files, nr + FILES_OF_OURS);
	}
}

int wm_counters_open(const struct wm_counters_plan *plan, struct wm_counters **ret)
{
	struct wm_counters *c = calloc(1, sizeof(*c));
	size_t nr = plan->defs->nr;
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->nr_tids = plan->nr_tids ? plan->nr_tids : 1;
	c->nr_cpus = plan->nr_cpus ? plan->nr_cpus : 1;
	c->events = calloc(nr + 1, sizeof(*c->events));
	c->rows = calloc(nr + 1, sizeof(*c->rows));
	if (!c->events || !c->rows || c->nr_tids > SIZE_MAX / c->nr_cpus)
		err = -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++) {
		if (!plan->defs->defs[i].implied)
			err = counters_add_row(c, &plan->defs->defs[i],
					       plan->filters ? plan->filters[i] : NULL);
	}
	if (err < 0) {
		wm_counters_close(c);
		return err;
	}
	(void)wm_privilege_raise_files();
	for (size_t i = 0; i < c->nr_rows;)
		i = open_group(c, i, plan);
	for (size_t i = 0; i < c->nr_events; i++) {
		if (!c->events[i].nr_open && !c->events[i].err)
			c->events[i].err = -ESRCH;
	}
	explain_files(c);
	*ret = c;
	return 0;
}

void wm_counters_close(struct wm_counters *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_rows; i++) {
		close_row(c, &c->rows[i]);
		free(c->rows[i].cells);
	}
	/* Possible only now that the descriptors of its events are closed. */
	wm_dynamic_destroy(c->dynamic);
	free(c->rows);
	free(c->events);
	free(c);
}

/* ---- counting ------------------------------------------------------------------- */

size_t wm_counters_nr(const struct wm_counters *c)
{
	return c->nr_events;
}

const struct wm_counters_event *wm_counters_event(const struct wm_counters *c, size_t event)
{
	return &c->events[event];
}

/* Members of groups follow their leaders. */
static void each_leader(struct wm_counters *c, int (*fn)(int fd, bool group))
{
	for (size_t i = 0; i < c->nr_rows; i++) {
		for (size_t k = 0; k < c->nr_tids * c->nr_cpus; k++) {
			if (c->rows[i].cells[k].fd >= 0 && leader_of(c, &c->rows[i], k) < 0)
				(void)fn(c->rows[i].cells[k].fd, false);
		}
	}
}

void wm_counters_enable(struct wm_counters *c)
{
	each_leader(c, wm_perf_enable);
}

void wm_counters_disable(struct wm_counters *c)
{
	each_leader(c, wm_perf_disable);
}

int wm_counters_read(struct wm_counters *c)
{
	for (size_t i = 0; i < c->nr_rows; i++) {
		for (size_t k = 0; k < c->nr_tids * c->nr_cpus; k++) {
			struct cell *cell = &c->rows[i].cells[k];
			int err;

			cell->before = cell->now;
			err = cell->fd < 0 ? 0 : wm_perf_read(cell->fd, &cell->now);
			if (err < 0)
				return err;
		}
	}
	return 0;
}

static void add_cell(struct wm_counters_sum *sum, const struct cell *cell, bool since)
{
	struct wm_perf_count count = cell->now;

	if (cell->fd < 0)
		return;
	if (since)
		wm_perf_count_since(&count, &cell->before);
	wm_perf_count_add(&sum->count, &count);
	sum->scaled += wm_perf_count_scaled(&count);
	sum->nr++;
}

void wm_counters_sum(const struct wm_counters *c, size_t event, size_t tid, size_t cpu, bool since,
		     struct wm_counters_sum *ret)
{
	*ret = (struct wm_counters_sum){0};
	for (size_t i = 0; i < c->nr_rows; i++) {
		if (c->rows[i].event != event)
			continue;
		for (size_t k = 0; k < c->nr_tids * c->nr_cpus; k++) {
			if ((tid == WM_COUNTERS_ALL || tid == k / c->nr_cpus) &&
			    (cpu == WM_COUNTERS_ALL || cpu == k % c->nr_cpus))
				add_cell(ret, &c->rows[i].cells[k], since);
		}
	}
}
