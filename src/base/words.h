/* SPDX-License-Identifier: MIT */
/*
 * words.h - sentences for people from where nothing is printed: what is not a
 * failure but should be known ("2 processes of other users are left out") goes
 * to whoever asked, who shows it, keeps it, or has no ear for it.
 */
#ifndef WM_BASE_WORDS_H
#define WM_BASE_WORDS_H

#include "base/diag.h"

struct wm_words {
	void (*say)(const char *sentence, void *data); /* NULL: nobody listens */
	void *data;
};

/* One sentence, without a line end. `w` may be NULL. */
void wm_words_say(const struct wm_words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "cannot VERB 'OBJECT': REASON", with the reason of a negative errno, and its cure. */
void wm_words_cannot(const struct wm_words *w, const char *verb, const char *object, int err);

/*
 * The same when a parser filled `diag`: its place (file, line or offset) and
 * its sentence; the errno's words when the sentence is empty.
 */
void wm_words_diag(const struct wm_words *w, const char *verb, const char *object, int err,
		   const struct wm_diag *diag);

/* What a failure says by itself: the sentence, or the errno's words, and its cure, when there is
 * none. */
const char *wm_words_of(int err, const struct wm_diag *diag);

#endif
