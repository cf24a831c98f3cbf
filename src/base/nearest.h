/* SPDX-License-Identifier: MIT */
/*
 * nearest.h - suggests names for a mistyped one: the caller offers every valid name, then receives
 * a sentence that asks whether one of the closest was meant. Wildcards in the wanted name are
 * ignored; a name that contains the wanted one is close. Fixed storage, nothing to free.
 */
#ifndef WM_BASE_NEAREST_H
#define WM_BASE_NEAREST_H

#include <stddef.h>

#define WM_NEAREST_NR       3
#define WM_NEAREST_NAME_MAX 256 /* longer names are never near */

struct wm_nearest {
	char wanted[WM_NEAREST_NAME_MAX];
	unsigned limit; /* names further away are not suggested */
	unsigned nr;
	struct {
		unsigned distance;
		char name[WM_NEAREST_NAME_MAX];
	} best[WM_NEAREST_NR]; /* nearest first; at equal distance, in the order offered */
};

void wm_nearest_init(struct wm_nearest *n, const char *wanted);
void wm_nearest_offer(struct wm_nearest *n, const char *name);

#define WM_NEAREST_QUESTION "did you mean " /* start of the sentence */

/*
 * "did you mean 'a', 'b' or 'c'?", or "" when no name is near. `prefix` precedes each name ("--"
 * for options). Returns buf.
 */
const char *wm_nearest_sentence(const struct wm_nearest *n, const char *prefix, char *buf,
				size_t bytes);

/* Edits (insert, delete, replace, swap neighbours) between two names, ignoring case. */
unsigned wm_nearest_distance(const char *a, const char *b);

#endif
