/* SPDX-License-Identifier: MIT */
/* filter.c - filters of `waymark stat`, made by kernel/count_filter.h; reports their errors. */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/stat/stat.h"

void wm_stat_events_done(struct wm_stat_events *e)
{
	wm_count_filters_done(&e->filters);
	wm_event_defs_done(&e->defs);
}

static int stat_filter_say_refused(const struct wm_stat_filters *filters, int err,
				   const struct wm_diag *diag)
{
	const char *typed = filters->text[1] ? filters->text[1] : filters->text[0];

	if (diag->column)
		wm_say_caret(typed, diag);
	else
		wm_say("stat: %s", wm_words_of(err, diag));
	return err == -EINVAL || err == -ENOENT ? WM_EXIT_USAGE : (int)wm_exit_of(err);
}

int wm_stat_filter(const struct wm_event_space *space, const char *name,
		   const struct wm_stat_filters *filters, size_t before, struct wm_stat_events *e)
{
	bool wild = wm_glob_is_pattern(name, strlen(name));
	struct wm_diag diag = {.offset = -1};
	size_t nr_left_out;
	int err = wm_count_filters_add(&e->filters, space, filters->text, 2, wild, before, &e->defs,
				       &nr_left_out, &diag);

	if (err < 0)
		return stat_filter_say_refused(filters, err, &diag);
	if (nr_left_out)
		wm_say("events that match '%s' but lack a field of the filter, so they are not "
		       "counted: %zu",
		       name, nr_left_out);
	return 0;
}
