/* SPDX-License-Identifier: MIT */
/* name_list.c - see name_list.h. */
#include "cmd/list/name_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES ((size_t)64 << 20)

void wm_name_list_init(struct wm_name_list *l)
{
	*l = (struct wm_name_list){0};
	wm_arena_init(&l->arena, NAMES_BYTES);
}

void wm_name_list_done(struct wm_name_list *l)
{
	wm_arena_done(&l->arena);
	*l = (struct wm_name_list){0};
}

static bool name_list_is_plain(const char *name)
{
	for (; *name; name++)
		if (!isascii((unsigned char)*name) ||
		    (!isalnum((unsigned char)*name) && !strchr("_:.-+@/", *name)))
			return false;
	return true;
}

static int name_list_add(struct wm_name_list *l, const char *name, size_t bytes)
{
	const char *copy, **more;

	if (!name_list_is_plain(name) || *name == '-')
		return 0;
	copy = wm_arena_copy(&l->arena, name, bytes);
	if (l->nr && copy && !strcmp(copy, l->names[l->nr - 1]))
		return 0; /* most names arrive sorted by provider */
	more = copy ? wm_arena_grow(&l->arena, l->names, l->nr, sizeof(*more)) : NULL;
	if (!more)
		return -ENOMEM;
	l->names = more;
	l->names[l->nr++] = copy;
	return 0;
}

int wm_name_list_add(struct wm_name_list *l, const char *name)
{
	return name_list_add(l, name, strlen(name));
}

int wm_name_list_offer(struct wm_name_list *l, const char *name, const char *begin)
{
	const char *colon = strchr(begin, ':') ? NULL : strchr(name, ':');

	if (strncmp(name, begin, strlen(begin)) != 0)
		return 0;
	return name_list_add(l, name, colon ? (size_t)(colon + 1 - name) : strlen(name));
}

static int name_list_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void wm_name_list_print(struct wm_name_list *l)
{
	if (l->nr)
		qsort(l->names, l->nr, sizeof(*l->names), name_list_by_name);
	for (size_t i = 0; i < l->nr; i++)
		if (!i || strcmp(l->names[i], l->names[i - 1]) != 0)
			(void)puts(l->names[i]);
}
