/* SPDX-License-Identifier: MIT */
/*
 * say.h - what waymark says to people, on standard error, one line each:
 *
 *   waymark: cannot open 'x': No such file or directory
 *
 * Results go to standard output by the verbs themselves. Only cmd speaks;
 * every other room returns errors.
 */
#ifndef WM_CMD_SAY_H
#define WM_CMD_SAY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/words.h"

/* "waymark: SENTENCE". No newline in fmt. */
void wm_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What rooms below have to say goes there, each as one line. */
extern const struct wm_words wm_say_words;

/* "waymark: cannot VERB 'OBJECT': REASON" with the reason of a negative errno. */
void wm_say_cannot(const char *verb, const char *object, int err);

/*
 * The same when a parser filled `diag`: its place (file, line or offset) and
 * its sentence; the errno's words when the sentence is empty.
 */
void wm_say_diag(const char *verb, const char *object, int err, const struct wm_diag *diag);

/*
 * A wrong expression typed by a person: the sentence, then the text with a
 * caret under diag->column.
 */
void wm_say_caret(const char *text, const struct wm_diag *diag);

/*
 * Puts text of unknown origin on a stream that may be a terminal: control
 * bytes and backslashes become \n, \t, \\ or \xNN.
 */
void wm_say_clean(FILE *stream, const char *text);

/* Colours are wanted there: a terminal, no NO_COLOR, no TERM=dumb. */
bool wm_say_color(FILE *stream);

/* Columns of the terminal behind `stream`; 80 when it is none. */
unsigned wm_say_columns(FILE *stream);

/*
 * Flushes standard output before exiting with `status`. A reader that went
 * away (EPIPE) is no error and no word; any other failure is said and turns
 * success into WM_EXIT_FAILED. main calls it; verbs need not.
 */
int wm_say_finish(int status);

#endif
