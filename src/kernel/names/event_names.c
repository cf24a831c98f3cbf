/* SPDX-License-Identifier: MIT */
/* event_names.c - see event_names.h. */
#include "kernel/event_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/event_name.h"

#define LETTERS "ukhpGHPDSW" /* perf's modifiers, except those with a value */

void wm_event_names_begin(struct wm_event_names *n, const char *list, uint32_t nr_groups)
{
	*n = (struct wm_event_names){.rest = list, .nr_groups = nr_groups};
}

void wm_event_names_done(struct wm_event_names *n)
{
	free(n->inside);
	n->inside = NULL;
	n->group = 0;
}

static int refuse_group(const char *list, const char *why, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%.100s': %s; a group is written {EVENT,EVENT,...}", list, why);
}

/* Reads what follows the closing brace: nothing, or modifiers. Returns its length, or -EINVAL. */
static int read_modifiers(struct wm_event_names *n, const char *text)
{
	size_t bytes = *text == ':' ? strspn(text + 1, LETTERS) : 0, kept = 0;

	if (*text == ':' && !bytes)
		return -EINVAL;
	for (size_t i = 1; i <= bytes; i++) {
		if (strchr("SW", text[i]))
			continue;
		if (kept == sizeof(n->modifiers) - 1)
			return -EINVAL;
		n->modifiers[kept++] = text[i];
	}
	n->modifiers[kept] = '\0';
	bytes += *text == ':';
	return text[bytes] && text[bytes] != ',' ? -EINVAL : (int)bytes;
}

/* Begins the group whose brace is the next character. */
static int begin_group(struct wm_event_names *n, struct wm_diag *diag)
{
	const char *begin = n->rest + 1, *end = strchr(begin, '}');
	const char *nested = strchr(begin, '{');
	int bytes;

	if (!end)
		return refuse_group(n->rest, "the brace of this group is not closed", diag);
	if (nested && nested < end)
		return refuse_group(n->rest, "a group cannot contain another one", diag);
	if (strspn(begin, ",") == (size_t)(end - begin))
		return refuse_group(n->rest, "this group has no events", diag);
	bytes = read_modifiers(n, end + 1);
	if (bytes < 0)
		return refuse_group(end, "only modifiers such as :u can follow a group", diag);
	n->inside = strndup(begin, (size_t)(end - begin));
	if (!n->inside)
		return -ENOMEM;
	n->rest_inside = n->inside;
	n->rest = end + 1 + bytes;
	n->group = ++n->nr_groups;
	return 0;
}

/* The next name of the current group. Returns 0 if there is none, else as wm_event_names_next(). */
static int next_inside(struct wm_event_names *n, char **ret_name)
{
	const char *name;
	size_t bytes = wm_event_name_next(&n->rest_inside, &name);

	if (!bytes)
		return 0;
	return asprintf(ret_name, "%.*s%s%s", (int)bytes, name, *n->modifiers ? ":" : "",
			n->modifiers) < 0
		   ? -ENOMEM
		   : 1;
}

int wm_event_names_next(struct wm_event_names *n, char **ret_name, struct wm_diag *diag)
{
	const char *name;
	size_t bytes;
	int got = n->inside ? next_inside(n, ret_name) : 0;

	if (got > 0)
		return got;
	wm_event_names_done(n);
	if (got < 0)
		return got;
	n->rest += strspn(n->rest, ",");
	if (*n->rest == '{') {
		got = begin_group(n, diag);
		return got < 0 ? got : next_inside(n, ret_name);
	}
	bytes = wm_event_name_next(&n->rest, &name);
	if (!bytes)
		return 0;
	*ret_name = strndup(name, bytes);
	return *ret_name ? 1 : -ENOMEM;
}
