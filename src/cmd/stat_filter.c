/* SPDX-License-Identifier: MIT */
/*
 * stat_filter.c - filters of `waymark stat`, put into the kernel's words:
 * counting happens there, so what it cannot evaluate as we do is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/stat.h"
#include "event/filter.h"
#include "kernel/filter_text.h"

#define ARENA_BYTES (4u << 20)

void wm_stat_events_done(struct wm_stat_events *e)
{
	for (size_t i = 0; i < e->nr_filters; i++)
		free(e->filters[i]);
	free(e->filters);
	wm_event_defs_done(&e->defs);
}

static int no_fields(const struct wm_event_def *d, struct wm_diag *diag)
{
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "'%.100s' cannot be filtered: only tracepoints and system calls have "
			   "fields",
			   d->name);
}

/* Adds what the filter is for this event. -ENOENT: it lacks a field. */
static int translate(const struct wm_event_space *space, const struct wm_event_def *d,
		     const char *filter, struct wm_text *text, struct wm_diag *diag)
{
	struct wm_kmachine machine;
	const struct wm_kformat *format;
	struct wm_arena arena;
	unsigned char *code = NULL;
	size_t code_bytes = 0, bytes;
	bool whole = true;
	char *raw;
	int err;

	if (!d->system)
		return no_fields(d, diag);
	err = wm_tracefs_event_format(space->tracefs, d->system, d->event, &raw, &bytes, diag);
	if (err < 0)
		return err;
	wm_arena_init(&arena, ARENA_BYTES);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&arena, &machine, d->system, raw, bytes, &format, diag);
	if (!err)
		err = wm_filter_parse(filter, &code, &code_bytes, diag);
	if (!err)
		err = wm_kernel_filter_text(code, code_bytes, format, text, &whole, diag);
	if (!err && !whole)
		err = wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "the kernel cannot evaluate '%.120s' as it is meant: there, a field "
		    "is compared with a constant of its range, joined by &&, || and !",
		    filter);
	free(code);
	free(raw);
	wm_arena_done(&arena);
	return err;
}

static int make_filter(const struct wm_event_space *space, const struct wm_event_def *d,
		       const struct wm_stat_filters *filters, char **ret, struct wm_diag *diag)
{
	struct wm_text text;
	int err = 0;

	wm_text_init(&text);
	for (int i = 0; i < 2 && !err; i++) {
		if (filters->text[i])
			err = translate(space, d, filters->text[i], &text, diag);
	}
	if (err < 0) {
		wm_text_done(&text);
		return err;
	}
	*ret = text.data; /* NULL while empty */
	return 0;
}

static int say_refused(const struct wm_stat_filters *filters, int err, const struct wm_diag *diag)
{
	const char *typed = filters->text[1] ? filters->text[1] : filters->text[0];

	if (diag->column)
		wm_say_caret(typed, diag);
	else
		wm_say("stat: %s", diag->sentence[0] ? diag->sentence : strerror(-err));
	return err == -EINVAL || err == -ENOENT ? WM_EXIT_USAGE : (int)wm_exit_of(err);
}

int wm_stat_filter(const struct wm_event_space *space, const char *name,
		   const struct wm_stat_filters *filters, size_t before, struct wm_stat_events *e)
{
	bool wild = wm_glob_is_pattern(name, strlen(name));
	size_t kept = before, nr_left_out = 0;
	char **grown = reallocarray(e->filters, e->defs.nr, sizeof(*grown));

	if (!grown)
		return WM_EXIT_FAILED;
	e->filters = grown;
	for (size_t i = before; i < e->defs.nr; i++) {
		struct wm_diag diag = {.offset = -1};
		char *filter = NULL;
		int err = e->defs.defs[i].implied
			      ? 0
			      : make_filter(space, &e->defs.defs[i], filters, &filter, &diag);

		if (err == -ENOENT && wild) {
			nr_left_out++;
			continue;
		}
		if (err < 0)
			return say_refused(filters, err, &diag);
		e->defs.defs[kept] = e->defs.defs[i];
		e->filters[kept++] = filter;
		e->nr_filters = kept;
	}
	e->defs.nr = kept;
	if (nr_left_out)
		wm_say("%zu events match '%s' but lack a field of the filter: they do not pass",
		       nr_left_out, name);
	return 0;
}
