/* SPDX-License-Identifier: MIT */
/*
 * loss_int.h - the losses recorded in a trace, by stream and in time order, for exporters that
 * write each loss between the events where it happened.
 */
#ifndef WM_EXPORT_LOSS_INT_H
#define WM_EXPORT_LOSS_INT_H

#include "base/arena.h"
#include "trace/reader.h"

/* The losses of one stream. */
struct wm_export_losses {
	const struct wm_trace_loss *losses; /* the trace's array */
	uint32_t *list;                     /* indices into `losses`, sorted by end time */
	uint32_t nr, next;
};

/*
 * Creates one list per stream, in the arena; losses without a stream are in the first list. With
 * `packets_only`, losses of events are omitted, because the caller reports them in another way. 0
 * or -ENOMEM.
 */
int wm_export_losses(struct wm_arena *arena, const struct wm_trace *t, bool packets_only,
		     struct wm_export_losses **ret);

/* Returns the next loss that ended at or before `ns`; NULL: none. */
static inline const struct wm_trace_loss *wm_export_next_loss(const struct wm_export_losses *l,
							      int64_t ns)
{
	const struct wm_trace_loss *loss;

	if (l->next == l->nr)
		return NULL;
	loss = &l->losses[l->list[l->next]];
	return loss->end_ns <= ns ? loss : NULL;
}

#endif
