/* SPDX-License-Identifier: MIT */
/*
 * loss_int.h - what a trace says was lost, by stream and in order of time,
 * for exporters that tell of losses where they happened.
 */
#ifndef WM_EXPORT_LOSS_INT_H
#define WM_EXPORT_LOSS_INT_H

#include "base/arena.h"
#include "trace/reader.h"

/* Of one stream. */
struct wm_export_losses {
	const struct wm_trace_loss *losses; /* the trace's */
	uint32_t *list;                     /* of these, by end */
	uint32_t nr, next;
};

/*
 * One of them a stream, in the arena; losses of no stream are the first one's.
 * `packets_only`: those of events are said elsewhere. 0 or -ENOMEM.
 */
int wm_export_losses(struct wm_arena *arena, const struct wm_trace *t, bool packets_only,
		     struct wm_export_losses **ret);

/* The next one that had ended at `ns`; NULL: none, or none yet. */
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
