/* SPDX-License-Identifier: MIT */
/* table_test_kit.h - counts the probes needed to search for every entry of a table. */
#ifndef WM_BASE_TABLE_TEST_KIT_H
#define WM_BASE_TABLE_TEST_KIT_H

#include "base/table.h"

/* Returns the total number of slots read by searches for all entries: `nr` without collisions. */
static inline uint64_t kit_table_probes(const struct wm_table *t)
{
	uint64_t sum = 0;

	for (uint32_t at = 0; at < t->room; at++)
		if (t->slots[at].index)
			sum += 1 + ((at - t->slots[at].hash) & (t->room - 1));
	return sum;
}

/* Asserts that a search takes at most three probes on average. */
#define KIT_ASSERT_LINEAR(t)                                                                       \
	assert_in_range(kit_table_probes(t), (t)->nr, 3 * (uint64_t)(t)->nr + 100)

#endif
