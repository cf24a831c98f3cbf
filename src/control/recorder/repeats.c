/* SPDX-License-Identifier: MIT */
/* repeats.c - see repeats.h. */
#include "control/recorder/repeats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"

#define OTHERS_TEXT 64

static struct wm_repeat *repeats_find(struct wm_repeats *r, int err, const char *fmt)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->kinds[i].err == err && !strcmp(r->kinds[i].fmt, fmt))
			return &r->kinds[i];
	return NULL;
}

static const char *others(const struct wm_repeat *k, char text[OTHERS_TEXT])
{
	const uint32_t more = k->nr - 1;

	if (!more)
		return "";
	(void)snprintf(text, OTHERS_TEXT, "; the same holds for %" PRIu32 " more %s", more,
		       wm_plural(more, "process", "processes"));
	return text;
}

void wm_repeats_add(struct wm_repeats *r, int err, const char *fmt, ...)
{
	struct wm_repeat *k = repeats_find(r, err, fmt);
	char text[sizeof(k->first)];
	va_list args;

	if (k) {
		k->nr++;
		return;
	}
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (r->nr == WM_REPEATS_KINDS) {
		wm_words_say(r->words, "%s", text);
		return;
	}
	k = &r->kinds[r->nr++];
	*k = (struct wm_repeat){.fmt = fmt, .err = err, .nr = 1};
	memcpy(k->first, text, sizeof(text));
}

int wm_repeats_take(struct wm_repeats *r, const char *where, struct wm_diag *diag)
{
	char more[OTHERS_TEXT];
	int err;

	if (!r->nr)
		return 0;
	err = r->kinds[0].err;
	(void)wm_diag_set(diag, err, where, -1, "%.190s%s", r->kinds[0].first,
			  others(&r->kinds[0], more));
	memmove(&r->kinds[0], &r->kinds[1], --r->nr * sizeof(r->kinds[0]));
	return err;
}

void wm_repeats_flush(struct wm_repeats *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		char more[OTHERS_TEXT];

		wm_words_say(r->words, "%s%s", r->kinds[i].first, others(&r->kinds[i], more));
	}
	r->nr = 0;
}
