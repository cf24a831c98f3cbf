/* SPDX-License-Identifier: MIT */
/*
 * counters.c - the counters that are read with each sample of a group such as
 * {cycles,instructions}:S; see perfdata_int.h. A sample has each member's value so far, so a
 * member's period is the difference from its last value.
 *
 * Packets must be readable in any order, so for each packet the index records the previous values
 * of the counters that occur in it (pd->starts).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "read/perfdata/perfdata_int.h"

/*
 * Inherited counters have the id of their parent, but count per thread: the kernel lets them be
 * read with samples only if the samples include the thread.
 */
static uint32_t counter_tid(const struct wm_pd_attr *a, const struct wm_perf_sample *s)
{
	return wm_kperf_attr_has(&a->attr, WM_PERF_ATTR_INHERIT) ? s->tid : 0;
}

static uint64_t hash_of(const struct wm_pd *pd, uint64_t id, uint32_t tid)
{
	return wm_mix(pd->counter_table.seed ^ id, pd->counter_table.seed + tid);
}

static struct wm_pd_counter *find_counter(const struct wm_pd *pd, uint64_t id, uint32_t tid)
{
	struct wm_table_walk w = wm_table_walk(hash_of(pd, id, tid));

	while (wm_table_next(&pd->counter_table, &w))
		if (pd->counters[w.index].id == id && pd->counters[w.index].tid == tid)
			return &pd->counters[w.index];
	return NULL;
}

/* Returns the counter, added if it is new; NULL: no event has its id, or -ENOMEM in *ret_err. */
static struct wm_pd_counter *get_counter(struct wm_pd *pd, uint64_t id, uint32_t tid, int *ret_err)
{
	const struct wm_pd_attr *a = wm_pd_attr_find(pd, id);
	struct wm_pd_counter *c = a ? find_counter(pd, id, tid) : NULL;
	uint32_t nr = pd->counter_table.nr;

	*ret_err = 0;
	if (c || !a || nr >= WM_PD_IDS_MAX)
		return c;
	if (!nr)
		wm_table_init(&pd->counter_table);
	*ret_err = WM_ARRAY_GROW(pd->counters, pd->room_counters, (size_t)nr + 1);
	if (!*ret_err)
		*ret_err = wm_table_add(&pd->counter_table, hash_of(pd, id, tid), nr);
	if (*ret_err)
		return NULL;
	c = &pd->counters[nr];
	*c = (struct wm_pd_counter){.id = id, .tid = tid, .attr = (uint32_t)(a - pd->attrs)};
	return c;
}

/* Records the value before the packet when the counter first occurs in it. 0 or -ENOMEM. */
static int note_start(struct wm_pd *pd, struct wm_pd_counter *c, struct wm_packet *p)
{
	uint64_t packet = pd->trace->nr_packets + 1;
	int err;

	if (c->packet == packet)
		return 0;
	err = WM_ARRAY_GROW(pd->starts, pd->room_starts, (size_t)pd->nr_starts + 1);
	if (err)
		return err;
	c->packet = packet;
	if (!(p->own >> WM_PD_STARTS_SHIFT))
		p->part = pd->nr_starts;
	p->own += UINT64_C(1) << WM_PD_STARTS_SHIFT;
	pd->starts[pd->nr_starts++] = (struct wm_pd_start){(uint32_t)(c - pd->counters), c->value};
	return 0;
}

int wm_pd_counters_note(struct wm_pd *pd, const unsigned char *record,
			const struct wm_perf_header *h, struct wm_packet *p)
{
	const struct wm_pd_attr *a = wm_pd_attr_of(pd, record);
	struct wm_perf_sample s;
	int nr = 0, nr_known = 0, err;

	if (!a || !wm_pd_reads(a) || wm_kperf_sample_parse(&a->shape, record, h->size, &s, NULL))
		return 1;
	for (uint64_t i = 0; i < s.read.nr; i++) {
		struct wm_perf_counter now = wm_kperf_read_counter(&a->shape, &s.read, i);
		struct wm_pd_counter *c = get_counter(pd, now.id, counter_tid(a, &s), &err);

		if (!err && c)
			err = note_start(pd, c, p);
		if (err)
			return err;
		if (!c)
			continue;
		nr_known++;
		nr += now.value != c->value;
		c->value = now.value;
	}
	return nr_known ? nr : 1;
}

int wm_pd_counters_begin(const struct wm_pd *pd, const struct wm_packet *p, uint64_t **values)
{
	uint64_t nr = p->own >> WM_PD_STARTS_SHIFT;

	if (nr && !*values)
		*values = calloc(pd->counter_table.nr, sizeof(**values));
	if (nr && !*values)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		(*values)[pd->starts[p->part + i].counter] = pd->starts[p->part + i].value;
	return 0;
}

bool wm_pd_counter_next(const struct wm_pd *pd, const struct wm_pd_attr *a,
			const struct wm_perf_sample *s, uint64_t i, uint64_t *values,
			struct wm_pd_delta *ret)
{
	struct wm_perf_counter now = wm_kperf_read_counter(&a->shape, &s->read, i);
	const struct wm_pd_counter *c = values ? find_counter(pd, now.id, counter_tid(a, s)) : NULL;
	uint64_t *last = c ? &values[c - pd->counters] : NULL;

	if (!c)
		return false;
	*ret = (struct wm_pd_delta){&pd->attrs[c->attr], now.value - *last};
	*last = now.value;
	return true;
}
