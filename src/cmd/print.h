/* SPDX-License-Identifier: MIT */
/* print.h - the parts of waymark print: print.c has the options, print_run.c prints. */
#ifndef WM_CMD_PRINT_H
#define WM_CMD_PRINT_H

#include "cmd/inputs.h"
#include "cmd/select.h"
#include "view/writer.h"

struct wm_print_values {
	bool json, jsonl, all, follow;
	int format; /* enum wm_view_format */
	const char *begin, *end, *fields;
	int64_t limit, tail, threads;
	const char *inputs[WM_INPUTS_MAX];
	uint32_t nr_inputs;
	struct wm_select select;
};

/* An exit status; what went wrong was said. */
int wm_print_run(struct wm_print_values *v);

#endif
