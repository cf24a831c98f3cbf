/* SPDX-License-Identifier: MIT */
/*
 * sync.c - converts a guest's clock to its host's: the TIME_SHIFT option holds corrections for each
 * CPU, each valid from a given time on. As in trace-cmd 3.1.6, a single correction is only an
 * offset; with several, the segment that contains a time gives the scale and, unless the protocol
 * interpolates, the offset.
 */
#include <errno.h>

#include "base/search.h"
#include "read/tracedat/tracedat_int.h"

#define FLAG_INTERPOLATE 1u
#define FRACTION_MAX     63u
#define ENTRY_BYTES      24u /* time, offset, scale */

static int take_words(struct wm_td *td, struct wm_td_in *in, uint32_t nr, uint64_t **ret)
{
	uint64_t *words = wm_arena_array(&td->trace->arena, nr ? nr : 1, sizeof(*words));

	if (!words)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		words[i] = wm_td_u64(in);
	*ret = words;
	return 0;
}

static int take_cpu(struct wm_td *td, struct wm_td_in *in, struct wm_td_sync *s)
{
	uint32_t nr = wm_td_u32(in);
	int err;

	if (in->failed || nr > (in->end - in->at) / ENTRY_BYTES) {
		in->failed = true;
		return 0;
	}
	err = take_words(td, in, nr, &s->times);
	if (!err)
		err = take_words(td, in, nr, &s->offsets);
	if (!err)
		err = take_words(td, in, nr, &s->scales);
	s->nr = nr;
	return err;
}

int wm_td_read_sync(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	struct wm_td_sync *syncs;
	uint32_t flags, nr;
	int err = 0;

	(void)wm_td_u64(in); /* skip the trace id of the peer */
	flags = wm_td_u32(in);
	nr = wm_td_u32(in);
	if (in->failed || nr > (in->end - in->at) / 4) {
		in->failed = true;
		return wm_td_verdict(in, "time corrections", diag);
	}
	syncs = wm_arena_array(&td->trace->arena, nr ? nr : 1, sizeof(*syncs));
	if (!syncs)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < nr; i++) {
		syncs[i].interpolate = flags & FLAG_INTERPOLATE;
		err = take_cpu(td, in, &syncs[i]);
	}
	if (!err)
		err = wm_td_verdict(in, "time corrections", diag);
	/* Files of older versions end here: scales are whole numbers. */
	for (uint32_t i = 0; !err && i < nr && in->at < in->end; i++)
		err = take_words(td, in, syncs[i].nr, &syncs[i].fractions);
	if (err)
		return err;
	td->syncs = syncs;
	td->nr_syncs = nr;
	return wm_td_verdict(in, "time corrections", diag);
}

/* Returns the last entry that is not after `ticks`, but never the final one. */
static uint32_t segment(const struct wm_td_sync *s, uint64_t ticks)
{
	return (uint32_t)WM_SEARCH(1, s->nr - 1, i, s->times[i] <= ticks) - 1;
}

/* Interpolates between entries `i` and i + 1, rounded as in trace-cmd. */
static uint64_t interpolate(const struct wm_td_sync *s, uint32_t i, uint64_t ticks)
{
	__int128 run = (__int128)s->times[i + 1] - s->times[i];
	__int128 rise = (__int128)(int64_t)s->offsets[i + 1] - (int64_t)s->offsets[i];
	__int128 by = (__int128)ticks - s->times[i], product;

	if (run <= 0 || __builtin_mul_overflow(rise, by, &product) ||
	    __builtin_add_overflow(product, run / 2, &product))
		return s->offsets[i];
	return s->offsets[i] + (uint64_t)(product / run);
}

uint64_t wm_td_sync_apply(const struct wm_td_sync *s, uint64_t ticks)
{
	unsigned __int128 scaled;
	uint64_t fraction, offset;
	uint32_t i;

	if (s->nr < 2)
		return s->nr ? ticks + s->offsets[0] : ticks;
	i = segment(s, ticks);
	offset = s->interpolate ? interpolate(s, i, ticks) : s->offsets[i];
	fraction = s->fractions ? s->fractions[i] : 0;
	scaled = (unsigned __int128)ticks * s->scales[i];
	return (uint64_t)(scaled >> (fraction < FRACTION_MAX ? fraction : FRACTION_MAX)) + offset;
}
