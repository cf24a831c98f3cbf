/* SPDX-License-Identifier: MIT */
/*
 * words.h - delivers messages for the user from code that does not print. A notice that is not an
 * error ("2 processes of other users are left out") goes to the caller's function, which prints,
 * stores or drops it.
 */
#ifndef WM_BASE_WORDS_H
#define WM_BASE_WORDS_H

#include "base/diag.h"

struct wm_words {
	void (*say)(const char *sentence, void *data); /* NULL: dropped */
	void *data;
};

/* Passes on one sentence, without a newline. `w` may be NULL. */
void wm_words_say(const struct wm_words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Reports "cannot VERB 'OBJECT': REASON", where the reason is the description of a negative errno
 * and its hint.
 */
void wm_words_cannot(const struct wm_words *w, const char *verb, const char *object, int err);

/*
 * Like wm_words_cannot(), when a parser filled `diag`: reports its position (file, line or offset)
 * and its sentence, or the errno's description when the sentence is empty.
 */
void wm_words_diag(const struct wm_words *w, const char *verb, const char *object, int err,
		   const struct wm_diag *diag);

/*
 * The reason for a failure: the sentence in `diag`, or the errno's description and hint when the
 * sentence is empty.
 */
const char *wm_words_of(int err, const struct wm_diag *diag);

#endif
