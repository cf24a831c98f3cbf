/* SPDX-License-Identifier: MIT */
/* print.h - the parts of waymark print: print.c has the options, run.c prints. */
#ifndef WM_CMD_PRINT_PRINT_H
#define WM_CMD_PRINT_PRINT_H

#include "cmd/input_options.h"
#include "view/writer.h"

struct wm_print_values {
	bool json, jsonl, all, follow;
	int format; /* enum wm_view_format */
	bool no_symbols;
	const char *fields, *symfs;
	int64_t limit, tail, threads;
	struct wm_asked asked;
};

/* Prints; returns an exit status, after a message if it failed. */
int wm_print_run(struct wm_print_values *v);

#endif
