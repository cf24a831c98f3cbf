/* SPDX-License-Identifier: MIT */
/* probe_source.c - see probe_source.h. */
#include "kernel/probe_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/names/event_file.h"

#define FORM "PROGRAM:FUNCTION, PROGRAM:FILE or PROGRAM:FILE:LINE-LINE"

struct sources {
	struct wm_event_place place; /* the first member: it is what wm_event_file_each() passes */
	struct wm_probe_source given;
	int (*fn)(const struct wm_probe_source *source, void *data);
	void *data;
};

static int source_give(const struct wm_elf_source *source, void *data)
{
	struct sources *s = data;

	s->given.source = source;
	return s->fn(&s->given, s->data);
}

/* Takes ":12" or ":12-20" off the end of the text. */
static void take_range(char *text, struct wm_probe_source *to)
{
	char *colon = strrchr(text, ':'), *end;
	unsigned long first, last;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return;
	first = last = strtoul(colon + 1, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (*end || last < first || last > UINT32_MAX)
		return;
	*colon = '\0';
	to->first = (uint32_t)first;
	to->last = (uint32_t)last;
}

static int source_in_file(const struct wm_event_place *p, struct wm_event_file *f, const char *rest)
{
	struct sources *s = (struct sources *)p;
	struct wm_elf_vars *vars = wm_event_file_vars(f);
	char *name;
	int nr;

	if (!vars)
		return wm_diag_set(p->diag, -ENODATA, NULL, -1,
				   "'%.80s' has no debug information, which lines need: build it "
				   "with -g, or install its -dbgsym package",
				   f->path);
	name = strdup(rest);
	if (!name)
		return -ENOMEM;
	s->given = (struct wm_probe_source){.program = f->path};
	take_range(name, &s->given);
	nr = wm_elf_vars_lines(vars, name, source_give, s, p->diag);
	free(name);
	return nr;
}

int wm_probe_source_each(const struct wm_event_space *space, const char *place,
			 int (*fn)(const struct wm_probe_source *source, void *data), void *data,
			 struct wm_diag *diag)
{
	struct sources s = {
	    .place = {.space = space, .family = "uprobe", .text = place, .diag = diag},
	    .fn = fn,
	    .data = data,
	};

	return wm_event_file_each(&s.place, 1, false, FORM, source_in_file);
}
