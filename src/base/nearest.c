/* SPDX-License-Identifier: MIT */
/*
 * nearest.c - see nearest.h. Computes the optimal string alignment distance with three rows; names
 * are short, so the quadratic cost does not matter.
 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

static bool nearest_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned wm_nearest_distance(const char *a, const char *b)
{
	unsigned rows[3][WM_NEAREST_NAME_MAX];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na >= WM_NEAREST_NAME_MAX || nb >= WM_NEAREST_NAME_MAX)
		return WM_NEAREST_NAME_MAX;
	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *spare = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned change = nearest_same(a[i - 1], b[j - 1]) ? 0 : 1;

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
			if (i > 1 && j > 1 && nearest_same(a[i - 1], b[j - 2]) &&
			    nearest_same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = above;
		above = row;
		row = spare;
	}
	return above[nb];
}

void wm_nearest_init(struct wm_nearest *n, const char *wanted)
{
	size_t length = 0;

	n->nr = 0;
	for (; *wanted && length + 1 < sizeof(n->wanted); wanted++) {
		if (!strchr("*?[]", *wanted))
			n->wanted[length++] = *wanted;
	}
	n->wanted[length] = '\0';
	n->limit = length < 3 ? 1 : 1 + (unsigned)length / 4;
}

/* A name that contains the whole wanted name is nearer than any name that needs edits. */
static unsigned distance_to(const struct wm_nearest *n, const char *name)
{
	size_t wanted = strlen(n->wanted);

	if (wanted >= 3 && strcasestr(name, n->wanted))
		return strlen(name) == wanted ? 0 : 1;
	if (strlen(name) + n->limit < wanted || strlen(name) > wanted + n->limit)
		return n->limit + 1;
	return wm_nearest_distance(n->wanted, name);
}

void wm_nearest_offer(struct wm_nearest *n, const char *name)
{
	unsigned distance, at;

	if (!*n->wanted || strlen(name) >= WM_NEAREST_NAME_MAX)
		return;
	distance = distance_to(n, name);
	if (distance > n->limit)
		return;
	for (unsigned i = 0; i < n->nr; i++) {
		if (!strcmp(n->best[i].name, name))
			return;
	}
	for (at = n->nr; at > 0 && n->best[at - 1].distance > distance; at--)
		;
	if (at == WM_NEAREST_NR)
		return;
	if (n->nr < WM_NEAREST_NR)
		n->nr++;
	memmove(&n->best[at + 1], &n->best[at], (n->nr - 1 - at) * sizeof(n->best[0]));
	n->best[at].distance = distance;
	strcpy(n->best[at].name, name);
}

const char *wm_nearest_sentence(const struct wm_nearest *n, const char *prefix, char *buf,
				size_t bytes)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < n->nr && at < bytes; i++) {
		const char *before = i == 0 ? WM_NEAREST_QUESTION : i + 1 == n->nr ? " or " : ", ";
		int wrote = snprintf(buf + at, bytes - at, "%s'%s%s'%s", before, prefix,
				     n->best[i].name, i + 1 == n->nr ? "?" : "");

		at += wrote > 0 ? (size_t)wrote : 0;
	}
	return buf;
}
