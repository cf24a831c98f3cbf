/* SPDX-License-Identifier: MIT */
/* print.h - the parts of waymark print: print.c has the options, run.c does the printing. */
#ifndef WM_CMD_PRINT_PRINT_H
#define WM_CMD_PRINT_PRINT_H

#include "cmd/input_options.h"
#include "view/writer.h"

struct wm_print_values {
	bool json, jsonl, all, follow;
	bool clock_seconds, clock_cycles, clock_date, clock_gmt, no_delta, intersection;
	const char *clock_offset, *names, *head;
	int format;         /* enum wm_view_format */
	bool babeltrace_21; /* for the babeltrace format: as version 2.1 */
	bool no_symbols;
	const char *fields, *columns, *symfs;
	int64_t limit, tail, threads;
	struct wm_asked asked;
};

/*
 * Sets the members of `ret` that the line layout options determine. Returns an exit status, after a
 * message if they are wrong.
 */
int wm_print_line_options(const struct wm_print_values *v, struct wm_view_options *ret);

/* Parses the argument of -F into bits of enum wm_view_column. Returns an exit status likewise. */
int wm_print_columns(const char *list, uint32_t *ret);

/* Prints; returns an exit status, after a message if it failed. */
int wm_print_run(struct wm_print_values *v);

#endif
