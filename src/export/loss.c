/* SPDX-License-Identifier: MIT */
/* loss.c - see loss_int.h. */
#include "export/loss_int.h"

#include <errno.h>
#include <stdlib.h>

static int by_end(const void *a, const void *b, void *all)
{
	const struct wm_trace_loss *losses = all;
	const uint32_t *x = a, *y = b;

	if (losses[*x].end_ns != losses[*y].end_ns)
		return losses[*x].end_ns < losses[*y].end_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

int wm_export_losses(struct wm_arena *arena, const struct wm_trace *t, bool packets_only,
		     struct wm_export_losses **ret)
{
	struct wm_export_losses *all =
	    wm_arena_array(arena, t->nr_streams + (size_t)1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_losses; i++) {
		const struct wm_trace_loss *l = &t->losses[i];
		struct wm_export_losses *s = &all[l->stream < t->nr_streams ? l->stream : 0];
		uint32_t *more;

		if (packets_only && !l->packets)
			continue;
		more = wm_arena_grow(arena, s->list, s->nr, sizeof(*more));
		if (!more)
			return -ENOMEM;
		more[s->nr++] = i;
		s->list = more;
	}
	for (uint32_t i = 0; i < t->nr_streams; i++) {
		all[i].losses = t->losses;
		if (all[i].nr)
			qsort_r(all[i].list, all[i].nr, sizeof(*all[i].list), by_end, t->losses);
	}
	*ret = all;
	return 0;
}
