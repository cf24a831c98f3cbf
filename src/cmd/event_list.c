/* SPDX-License-Identifier: MIT */
/* event_list.c - see event_list.h. */
#include "cmd/event_list.h"

#include <errno.h>
#include <stdlib.h>

static struct wm_event_list *list_of(const struct wm_option *o, void *values)
{
	return (struct wm_event_list *)(void *)((char *)values + o->offset);
}

static int event_list_add(struct wm_event_list *l, const char *names)
{
	struct wm_listed_event *grown = reallocarray(l->events, l->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->events = grown;
	l->events[l->nr++] = (struct wm_listed_event){.names = names};
	return 0;
}

int wm_listed_init(struct wm_event_list *l)
{
	return l->nr ? 0 : event_list_add(l, NULL);
}

int wm_listed_on_event(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag)
{
	struct wm_event_list *l = list_of(o, values);
	int err = wm_listed_init(l);

	if (err)
		return err;
	if (l->nr > o->max)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "given more than %d times", (int)o->max);
	return event_list_add(l, argument);
}

int wm_listed_on_exclude(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag)
{
	struct wm_event_list *l = list_of(o, values);
	int err = wm_listed_on_event(o, argument, values, diag);

	if (err == 0)
		l->events[l->nr - 1].exclude = true;
	return err;
}

int wm_listed_last(const struct wm_option *o, void *values, struct wm_listed_event **ret,
		   struct wm_diag *diag)
{
	struct wm_event_list *l = list_of(o, values);
	int err = wm_listed_init(l);

	if (err)
		return err;
	*ret = &l->events[l->nr - 1];
	if (!(*ret)->exclude)
		return 0;
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%s' is excluded and takes no options: put this option after an -e",
			   (*ret)->names);
}

int wm_listed_on_filter(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag)
{
	struct wm_listed_event *e;
	int err = wm_listed_last(o, values, &e, diag);

	if (err)
		return err;
	if (e->filter)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "there is already a filter for %s: join the two with &&",
				   e->names ? e->names : "all events");
	e->filter = argument;
	return 0;
}

void wm_listed_done(struct wm_event_list *l)
{
	free(l->events);
	*l = (struct wm_event_list){0};
}
