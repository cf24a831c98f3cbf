/* SPDX-License-Identifier: MIT */
/*
 * say.c - see say.h.
 */
#include "cmd/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/exit.h"

#define LINE_MAX_BYTES 4096

/* Writes a line with a single write(2), so that lines from several processes do not mix. */
static void say_put_line(const char *line)
{
	(void)fflush(stdout); /* keeps the order of results and messages */
	(void)fprintf(stderr, "waymark: %s\n", line);
}

void wm_say(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	say_put_line(line);
}

static void say_sentence(const char *sentence, void *data)
{
	(void)data;
	wm_say("%s", sentence);
}

const struct wm_words wm_say_words = {say_sentence, NULL};

void wm_say_cannot(const char *verb, const char *object, int err)
{
	wm_words_cannot(&wm_say_words, verb, object, err);
}

void wm_say_diag(const char *verb, const char *object, int err, const struct wm_diag *diag)
{
	wm_words_diag(&wm_say_words, verb, object, err, diag);
}

void wm_say_caret(const char *text, const struct wm_diag *diag)
{
	wm_say("%s", diag->sentence);
	if (!diag->column || strchr(text, '\n'))
		return;
	(void)fprintf(stderr, "  %s\n  %*s^\n", text, (int)diag->column - 1, "");
}

void wm_say_clean(FILE *stream, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '\n')
			(void)fputs("\\n", stream);
		else if (*c == '\t')
			(void)fputs("\\t", stream);
		else if (*c == '\\')
			(void)fputs("\\\\", stream);
		else if (*c < ' ' || *c == 0x7f)
			(void)fprintf(stream, "\\x%02x", *c);
		else
			(void)putc(*c, stream);
	}
}

bool wm_say_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if ((no_color && *no_color) || (term && !strcmp(term, "dumb")))
		return false;
	return isatty(fileno(stream)) == 1;
}

unsigned wm_say_columns(FILE *stream)
{
	struct winsize size;

	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

int wm_say_finish(int status)
{
	int failed = ferror(stdout);
	int err = fflush(stdout) ? -errno : 0;

	if (!failed && !err)
		return status;
	if (err == -EPIPE || (failed && !err))
		return status; /* the reader closed the pipe, or the verb reported the error */
	wm_say_cannot("write to", "standard output", err);
	return status == WM_EXIT_DONE ? WM_EXIT_FAILED : status;
}
