/* SPDX-License-Identifier: MIT */
/* words.c - see words.h. */
#include "base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE_MAX 4096

void wm_words_say(const struct wm_words *w, const char *fmt, ...)
{
	char sentence[SENTENCE_MAX];
	va_list args;

	if (!w || !w->say)
		return;
	va_start(args, fmt);
	/* A sentence that is too long is truncated. */
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	w->say(sentence, w->data);
}

void wm_words_cannot(const struct wm_words *w, const char *verb, const char *object, int err)
{
	bool another = err == -EACCES && !strncmp(verb, "write", 5);

	wm_words_say(w, "cannot %s '%s': %s%s", verb, object, wm_diag_errno(err < 0 ? err : -err),
		     another ? ", or choose another path" : "");
}

void wm_words_diag(const struct wm_words *w, const char *verb, const char *object, int err,
		   const struct wm_diag *diag)
{
	char place[64] = "";

	if (!diag || !diag->sentence[0]) {
		wm_words_cannot(w, verb, object, err);
		return;
	}
	if (diag->where && strcmp(diag->where, object))
		wm_words_say(w, "cannot %s '%s': in '%s':", verb, object, diag->where);
	if (diag->line && diag->offset >= 0)
		(void)snprintf(place, sizeof(place), "line %" PRIu32 ", at offset %" PRId64 ": ",
			       diag->line, diag->offset);
	else if (diag->line)
		(void)snprintf(place, sizeof(place), "line %" PRIu32 ": ", diag->line);
	else if (diag->offset >= 0)
		(void)snprintf(place, sizeof(place), "at offset %" PRId64 ": ", diag->offset);
	wm_words_say(w, "cannot %s '%s': %s%s", verb, object, place, diag->sentence);
}

const char *wm_words_of(int err, const struct wm_diag *diag)
{
	return diag && diag->sentence[0] ? diag->sentence : wm_diag_errno(err < 0 ? err : -err);
}
