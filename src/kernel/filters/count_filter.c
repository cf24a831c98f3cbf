/* SPDX-License-Identifier: MIT */
/* count_filter.c - see count_filter.h. */
#include "kernel/count_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kernel/event_filter.h"

void wm_count_filters_done(struct wm_count_filters *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->list[i]);
	free(f->list);
	*f = (struct wm_count_filters){0};
}

static int no_fields(const struct wm_event_def *d, struct wm_diag *diag)
{
	return wm_diag_set(
	    diag, -ENOENT, NULL, -1,
	    "'%.100s' cannot be filtered: only tracepoints, system calls and probes have fields",
	    d->name);
}

/*
 * Appends the filter for this event. Returns 0; 1 if the kernel's language cannot express it;
 * -ENOENT if the event lacks a field.
 */
static int translate(const struct wm_event_space *space, const struct wm_event_def *d,
		     const char *filter, struct wm_text *text, struct wm_diag *diag)
{
	struct wm_event_filter made = {0};
	size_t bytes;
	char *format;
	int err;

	if (d->family >= WM_FAMILY_USDT)
		/*
		 * A probe's fetched values exist only when the probe is recorded, not when it is
		 * counted.
		 */
		return 1;
	if (!d->system)
		return no_fields(d, diag);
	err = wm_tracefs_event_format(space->tracefs, d->system, d->event, &format, &bytes, diag);
	if (err < 0)
		return err;
	err = wm_event_filter_make(filter, d->system, format, bytes, &made, diag);
	free(format);
	if (!err && made.rest)
		err = 1;
	else if (!err)
		wm_text_f(text, "%s%s", text->bytes ? " && " : "", made.text);
	wm_event_filter_done(&made);
	return err;
}

/* Makes one event's filter. *ret is NULL if the event has none. */
static int count_filter_make(const struct wm_event_space *space, const struct wm_event_def *d,
			     const char *const *texts, size_t nr_texts, char **ret,
			     struct wm_diag *diag)
{
	struct wm_text text;
	int err = 0;

	wm_text_init(&text);
	for (size_t i = 0; i < nr_texts && !err; i++) {
		if (texts[i] && !d->implied)
			err = translate(space, d, texts[i], &text, diag);
	}
	if (!err && text.failed)
		err = -ENOMEM;
	if (err) {
		wm_text_done(&text);
		return err;
	}
	*ret = text.data;
	return 0;
}

int wm_count_filters_add(struct wm_count_filters *f, const struct wm_event_space *space,
			 const char *const *texts, size_t nr_texts, bool wild, size_t before,
			 struct wm_event_defs *defs, size_t *ret_left_out, struct wm_diag *diag)
{
	char **grown = reallocarray(f->list, defs->nr + 1, sizeof(*grown));
	size_t kept = before, left_out = 0;

	if (!grown)
		return -ENOMEM;
	f->list = grown;
	for (size_t i = before; i < defs->nr; i++) {
		struct wm_diag why = {.offset = -1};
		char *filter = NULL;
		int err = count_filter_make(space, &defs->defs[i], texts, nr_texts, &filter, &why);

		if (err == -ENOENT && wild) {
			left_out++;
			continue;
		}
		if (err < 0) {
			if (diag)
				*diag = why;
			return err;
		}
		f->beyond |= err == 1;
		defs->defs[kept] = defs->defs[i];
		f->list[kept++] = filter;
		f->nr = kept;
	}
	defs->nr = kept;
	*ret_left_out = left_out;
	return 0;
}
