/* SPDX-License-Identifier: MIT */
/* recording.c - see recording.h. */
#include "control/pump/recording.h"

uint64_t wm_recording_lost(const struct wm_recording_totals *t)
{
	uint64_t sum = 0;

	for (int i = 0; i < WM_LOST_NR; i++)
		sum += t->lost[i];
	return sum;
}
