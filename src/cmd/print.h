/* SPDX-License-Identifier: MIT */
/*
 * print.h - the two ways of waymark print: print_own.c for a trace of our own
 * in our own formats, which knows processes and causes of loss; print_any.c for
 * everything else: other tracers' files, several traces, windows, filters.
 */
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

/* Exit statuses; what went wrong was said. */
int wm_print_own(const struct wm_print_values *v, const char *dir);
int wm_print_any(struct wm_print_values *v);

#endif
