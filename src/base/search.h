/* SPDX-License-Identifier: MIT */
/*
 * search.h - the tools' binary search, over anything sorted and indexed.
 */
#ifndef WM_BASE_SEARCH_H
#define WM_BASE_SEARCH_H

#include <stdint.h>

/*
 * Returns the first index from `first` on for which `before` is false, or `end` when there is none.
 * `before` is an expression in `i`, a name that the caller chooses; it must be true for all indices
 * up to some point and false after it:
 *
 *   WM_SEARCH(0, nr, i, keys[i] < key)    the first key that is not less; insert the key there
 *   WM_SEARCH(0, nr, i, keys[i] <= key)   the first greater key; the one before it is not greater
 */
#define WM_SEARCH(first, end, i, before)                                                           \
	__extension__({                                                                            \
		uint64_t low_ = (first), high_ = (end);                                            \
                                                                                                   \
		while (low_ < high_) {                                                             \
			const uint64_t i = low_ + (high_ - low_) / 2;                              \
                                                                                                   \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})

#endif
