/* SPDX-License-Identifier: MIT */
/* plural.h - the form of a word that follows a count: "1 event", "0 events", "2 events". */
#ifndef WM_BASE_PLURAL_H
#define WM_BASE_PLURAL_H

#include <stdint.h>

/* Returns `one` if n is 1, else `many`. */
static inline const char *wm_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

#endif
