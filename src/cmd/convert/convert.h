/* SPDX-License-Identifier: MIT */
/*
 * convert.h - declarations shared by the files of waymark convert: convert.c has the options,
 * format.c has the table of formats, run.c converts.
 */
#ifndef WM_CMD_CONVERT_CONVERT_H
#define WM_CMD_CONVERT_CONVERT_H

#include "cmd/input_options.h"
#include "export/export.h"
#include "view/writer.h"

/* The text formats of the view: name, suffixes "x|y" (NULL: none), format. */
#define WM_CONVERT_TEXTS(TEXT)                                                                     \
	TEXT("jsonl", ".jsonl|.ndjson", WM_VIEW_JSONL)                                             \
	TEXT("json", NULL, WM_VIEW_JSON)                                                           \
	TEXT("csv", ".csv", WM_VIEW_CSV)

/* The arguments of --to; the first one means that OUT's name determines the format. */
#define WM_CONVERT_CHOICES                                                                         \
	"auto" WM_EXPORTERS(WM_CONVERT_CHOICE_) WM_CONVERT_TEXTS(WM_CONVERT_CHOICE_)
#define WM_CONVERT_CHOICE_(name, ...) "|" name

/* A format that convert writes: an exporter, or text from the view. */
struct wm_convert_format {
	const struct wm_exporter_ops *ops; /* NULL: text */
	const char *name, *suffixes;
	enum wm_view_format text;
};

struct wm_convert_values {
	int to; /* index into WM_CONVERT_CHOICES */
	bool all, force;
	const char *out;
	uint64_t split_bytes;
	int64_t threads;
	struct wm_asked asked;
};

/* Finds the format by this name or by OUT's suffix. Returns false when no format matches. */
bool wm_convert_format_named(const char *name, struct wm_convert_format *ret);
bool wm_convert_format_of_path(const char *path, struct wm_convert_format *ret);

/* Converts; returns an exit status, after a message if it failed. */
int wm_convert_run(struct wm_convert_values *v, const struct wm_convert_format *format);

#endif
