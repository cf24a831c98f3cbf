/* SPDX-License-Identifier: MIT */
/*
 * comm.c - the names of threads over time, from COMM records, and from FORK records since a child
 * starts with its parent's name. They are sorted, so that packets can be read in any order.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

#include "read/perfdata/perfdata_int.h"

static int perfdata_comm_add(struct wm_pd *pd, const struct wm_pd_comm *c)
{
	if (pd->nr_comms == WM_PD_COMMS_MAX)
		return 0;
	if (WM_ARRAY_GROW(pd->comms, pd->room_comms, (size_t)pd->nr_comms + 1))
		return -ENOMEM;
	pd->comms[pd->nr_comms++] = *c;
	return 0;
}

int wm_pd_comm_note(struct wm_pd *pd, const unsigned char *record, const struct wm_perf_header *h,
		    int64_t ns)
{
	const struct wm_pd_attr *a = wm_pd_attr_of(pd, record);
	struct wm_pd_comm c = {.time = ns, .order = pd->nr_comms};
	struct wm_perf_record r;

	if (!a || wm_kperf_record_parse(&a->shape, record, h->size, &r, NULL) != 1)
		return 0; /* the damage is reported when the record is read as an event */
	if (h->type == WM_PERF_COMM) {
		c.pid = (int32_t)r.comm.pid;
		c.tid = (int32_t)r.comm.tid;
		c.name = wm_arena_copy(&pd->trace->arena, r.comm.comm.data, r.comm.comm.bytes);
		return c.name ? perfdata_comm_add(pd, &c) : -ENOMEM;
	}
	c.pid = (int32_t)r.task.pid;
	c.tid = (int32_t)r.task.tid;
	c.parent = (int32_t)r.task.ptid;
	return perfdata_comm_add(pd, &c);
}

static int perfdata_comm_by_time(const void *a, const void *b)
{
	const struct wm_pd_comm *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_time_of(const void *a, const void *b, void *comms)
{
	const struct wm_pd_comm *list = comms;

	return perfdata_comm_by_time(&list[*(const uint32_t *)a], &list[*(const uint32_t *)b]);
}

static int by_thread(const void *a, const void *b)
{
	const struct wm_pd_comm *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return perfdata_comm_by_time(a, b);
}

/* Returns the thread's last entry not after (time, order), in by_thread order. */
static const struct wm_pd_comm *perfdata_comm_find(const struct wm_pd_comm *list, uint32_t n,
						   int32_t tid, int64_t time, uint32_t order)
{
	const struct wm_pd_comm key = {.tid = tid, .time = time, .order = order};
	uint32_t low = WM_SEARCH(0, n, i, by_thread(&list[i], &key) <= 0);
	return low && list[low - 1].tid == tid ? &list[low - 1] : NULL;
}

/* Returns the name of a thread that has no record. */
static const char *perfdata_comm_unknown(int32_t tid)
{
	return tid == 0 ? "swapper" : "";
}

/*
 * Names forks after their parent at that time. Forks are named oldest first, so the parent's own
 * fork already has its name.
 */
static int perfdata_comm_name_forks(struct wm_pd *pd)
{
	uint32_t *forks = malloc((pd->nr_comms + 1) * sizeof(*forks)), n = 0;

	if (!forks)
		return -ENOMEM;
	for (uint32_t i = 0; i < pd->nr_comms; i++)
		if (!pd->comms[i].name)
			forks[n++] = i;
	qsort_r(forks, n, sizeof(*forks), by_time_of, pd->comms);
	for (uint32_t i = 0; i < n; i++) {
		struct wm_pd_comm *c = &pd->comms[forks[i]];
		const struct wm_pd_comm *parent =
		    perfdata_comm_find(pd->comms, pd->nr_comms, c->parent, c->time, c->order);

		c->name = parent && parent->name ? parent->name : perfdata_comm_unknown(c->parent);
	}
	free(forks);
	return 0;
}

/* Notes the last entry of each thread: nearly all events come after it. */
static int perfdata_comm_hash(struct wm_pd *pd)
{
	struct wm_table *t = &pd->last_comms;
	int err = 0;

	if (!t->room)
		wm_table_init(t);
	wm_table_clear(t);
	for (uint32_t i = 0; i < pd->nr_comms && !err; i++)
		if (i + 1 == pd->nr_comms || pd->comms[i + 1].tid != pd->comms[i].tid)
			err = wm_table_add(t, wm_table_hash(t, (uint32_t)pd->comms[i].tid), i);
	return err;
}

int wm_pd_comm_sort(struct wm_pd *pd)
{
	int err;

	if (!pd->nr_comms)
		return 0;
	qsort(pd->comms, pd->nr_comms, sizeof(*pd->comms), by_thread);
	err = perfdata_comm_hash(pd);
	return err ? err : perfdata_comm_name_forks(pd);
}

static const struct wm_pd_comm *last_of_thread(const struct wm_pd *pd, int32_t tid)
{
	const struct wm_table *t = &pd->last_comms;
	struct wm_table_walk w = wm_table_walk(wm_table_hash(t, (uint32_t)tid));

	while (wm_table_next(t, &w))
		if (pd->comms[w.index].tid == tid)
			return &pd->comms[w.index];
	return NULL;
}

const char *wm_pd_comm(const struct wm_trace *t, const struct wm_event *e)
{
	const struct wm_pd *pd = t->own;
	const struct wm_pd_comm *c = last_of_thread(pd, e->tid);

	if (c && c->time > e->ns)
		c = perfdata_comm_find(pd->comms, pd->nr_comms, e->tid, e->ns, UINT32_MAX);
	if (c)
		return c->name;
	return perfdata_comm_unknown(e->tid);
}
