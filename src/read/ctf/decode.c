/* SPDX-License-Identifier: MIT */
/*
 * decode.c - see decode.h. A single loop over a program, compiled twice: with items and without.
 */
#include "read/ctf/step.h"

#define ITEMS 1
#define RUN   run_with_items
#include "read/ctf/loop.h"
#undef ITEMS
#undef RUN
#define ITEMS 0
#define RUN   run_without
#include "read/ctf/loop.h"

bool wm_ctf_decode_quick(struct wm_ctf_decoder *d, const struct wm_ctf_quick *q)
{
	return quick_header(d, q);
}

enum wm_ctf_status wm_ctf_decode(struct wm_ctf_decoder *d, struct wm_ctf_program p,
				 struct wm_batch *b)
{
	if (!p.ops)
		return WM_CTF_OK;
	return b ? run_with_items(d, &p.ops, 1, b, NULL) : run_without(d, &p.ops, 1, NULL, NULL);
}

enum wm_ctf_status wm_ctf_decode_all(struct wm_ctf_decoder *d, const struct wm_ctf_op *const *p,
				     uint32_t nr, struct wm_batch *b, struct wm_part_range *parts)
{
	while (nr && !*p) {
		if (b)
			*parts++ = (struct wm_part_range){b->nr_items, b->nr_items};
		p++;
		nr--;
	}
	if (!nr)
		return WM_CTF_OK;
	return b ? run_with_items(d, p, nr, b, parts) : run_without(d, p, nr, NULL, NULL);
}
