/* SPDX-License-Identifier: MIT */
/* id_list.c - see id_list.h. */
#include "cmd/id_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

static struct wm_ids *ids_of(const struct wm_option *o, void *values)
{
	return (struct wm_ids *)(void *)((char *)values + o->offset);
}

static int add_one(struct wm_ids *ids, const char *word, const char *what, size_t max,
		   struct wm_diag *diag)
{
	pid_t *grown;
	int64_t id;

	if (wm_number_parse_integer(word, 1, INT32_MAX, &id) < 0)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "'%.40s' is not a %s id", word, what);
	if (ids->nr >= max)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "at most %zu ids", max);
	grown = reallocarray(ids->ids, ids->nr + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ids->ids = grown;
	ids->ids[ids->nr++] = (pid_t)id;
	return 0;
}

static int id_list_add(struct wm_ids *ids, const char *argument, const char *what, size_t max,
		       struct wm_diag *diag)
{
	char *copy = strdup(argument), *save = NULL;
	int err = copy ? 0 : -ENOMEM;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word && err == 0;
	     word = strtok_r(NULL, ",", &save))
		err = add_one(ids, word, what, max, diag);
	free(copy);
	return err;
}

int wm_ids_on_pid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	return id_list_add(ids_of(o, values), argument, "process", (size_t)o->max, diag);
}

int wm_ids_on_tid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	return id_list_add(ids_of(o, values), argument, "thread", (size_t)o->max, diag);
}
