/* SPDX-License-Identifier: MIT */
/* input_options.c - see input_options.h. */
#include "cmd/input_options.h"

#include <errno.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"

static struct wm_asked *asked(const struct wm_option *o, void *values)
{
	return (struct wm_asked *)((char *)values + o->offset);
}

static int input_options_add(struct wm_asked *a, const char *path, struct wm_diag *diag)
{
	if (a->nr_inputs == WM_INPUTS_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%s' is one trace too many: at most %u can be read together",
				   path, WM_INPUTS_MAX);
	a->inputs[a->nr_inputs++] = path;
	return 0;
}

int wm_asked_on_input(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	return input_options_add(asked(o, values), argument, diag);
}

int wm_asked_on_event(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	return wm_select_event(&asked(o, values)->select, argument);
}

int wm_asked_on_filter(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag)
{
	return wm_select_filter(&asked(o, values)->select, argument, diag);
}

int wm_asked_add(struct wm_asked *a, const char *verb, int nr_args, char **args)
{
	struct wm_diag diag = {.offset = -1};

	for (int i = 0; i < nr_args; i++)
		if (input_options_add(a, args[i], &diag)) {
			wm_say("%s: %s", verb, diag.sentence);
			return WM_EXIT_USAGE;
		}
	return WM_EXIT_DONE;
}

int wm_asked_find(struct wm_asked *a, const char *verb, int nr_args, char **args)
{
	int status = wm_asked_add(a, verb, nr_args, args);

	if (!status && !a->nr_inputs) {
		status = wm_input_find_dir(0, args, a->newest);
		if (!status)
			a->inputs[a->nr_inputs++] = a->newest;
	}
	return status;
}

void wm_asked_release(void *asked)
{
	wm_select_done(&((struct wm_asked *)asked)->select);
}
