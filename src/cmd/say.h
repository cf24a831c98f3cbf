/* SPDX-License-Identifier: MIT */
/*
 * say.h - messages to the user, on standard error, one line each:
 *
 *   waymark: cannot open 'x': No such file or directory
 *
 * The verbs write results to standard output. Only cmd prints; every other room returns
 * errors.
 */
#ifndef WM_CMD_SAY_H
#define WM_CMD_SAY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/words.h"

/* Prints "waymark: SENTENCE". fmt contains no newline. */
void wm_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints messages from other rooms, each on one line. */
extern const struct wm_words wm_say_words;

/* Prints "waymark: cannot VERB 'OBJECT': REASON" with the reason for a negative errno. */
void wm_say_cannot(const char *verb, const char *object, int err);

/*
 * Like wm_say_cannot(), when a parser filled `diag`: prints the position (file, line or offset) and
 * the message in `diag`, or the reason for `err` when that is empty.
 */
void wm_say_diag(const char *verb, const char *object, int err, const struct wm_diag *diag);

/*
 * Reports an error in an expression: the message in `diag`, then the text with a caret under
 * diag->column.
 */
void wm_say_caret(const char *text, const struct wm_diag *diag);

/*
 * Prints text of unknown origin, safe for terminals: control bytes and backslashes
 * become \n, \t, \\ or \xNN.
 */
void wm_say_clean(FILE *stream, const char *text);

/* Returns whether to print colours: on a terminal, unless NO_COLOR is set or TERM is "dumb". */
bool wm_say_color(FILE *stream);

/* Returns the width of the terminal that `stream` writes to; 80 when it is not a terminal. */
unsigned wm_say_columns(FILE *stream);

/*
 * Flushes standard output before exiting with `status`. A closed pipe (EPIPE) is not an
 * error; any other failure is reported and turns success into WM_EXIT_FAILED. Called by
 * main, not by verbs.
 */
int wm_say_finish(int status);

#endif
