/* SPDX-License-Identifier: MIT */
/*
 * export.h - one interface for all formats that are written from events. The caller opens traces,
 * chooses an exporter, and passes it the events in time order (merge.h), whatever tracer recorded
 * them.
 *
 * An exporter is one table of functions, struct wm_exporter_ops, and one line in the table below.
 * Output is written next to OUT under another name (file.h) and renamed to OUT when it is complete.
 *
 * Data that the format cannot hold is not an error: it is counted by reason with wm_export_skip()
 * and reported at the end. Not thread-safe.
 */
#ifndef WM_EXPORT_EXPORT_H
#define WM_EXPORT_EXPORT_H

#include "base/diag.h"
#include "trace/reader.h"
#include "trace/timeline.h"

#define WM_EXPORT_REASONS     16u   /* distinct reasons for omitting data */
#define WM_EXPORT_TICK_EVENTS 8192u /* events between two calls to tick() */

struct wm_export;
struct wm_view_places;

struct wm_export_options {
	const char *path;     /* the output, OUT */
	uint64_t split_bytes; /* maximum size of a file: larger output is split; 0: never */
	bool force;           /* replace an existing file or folder of traces */
	const char *tracer;   /* "waymark VERSION", for formats that name their writer */
	const struct wm_view_places *places; /* resolves addresses to names; NULL: no names */
};

struct wm_exporter_ops {
	const char *suffixes; /* ".dat|.trace": suffixes that select this format; NULL: none */
	const char *summary;  /* one line, lower case, no full stop */
	bool is_folder;       /* OUT is a folder */
	bool keeps_clocks;    /* each stream keeps its clock: their times are not compared */
	bool splits;          /* honours split_bytes */
	bool needs_meta;      /* event() also gets unselected events about tasks and mappings */
	uint32_t no_parts;    /* bits 1 << enum wm_part: items that the exporter does not read */

	/* At least one trace is open. -errno with `diag` when the format cannot hold the traces. */
	int (*open)(struct wm_export *x, struct wm_diag *diag);

	/*
	 * Receives the events of all traces in time order; `trace` is the index of its trace. 0
	 * or -errno.
	 */
	int (*event)(struct wm_export *x, uint32_t trace, const struct wm_event *e);

	/*
	 * If `whole`, all events were passed: completes the output and gives it its name. Otherwise
	 * removes the output. Also called when open() or event() has failed; `own` may then be
	 * NULL. Frees everything.
	 */
	int (*close)(struct wm_export *x, bool whole, struct wm_diag *diag);
};

struct wm_export_reason {
	/*
	 * Such as "counts of perf stat", printed after "N events left out of FORMAT: ". If
	 * `written`, the part that is missing from the output, printed after "N events written to
	 * FORMAT without ".
	 */
	const char *text;
	bool written;
	uint64_t nr;
};

struct wm_export {
	const struct wm_exporter_ops *ops;
	struct wm_trace *const *traces;
	uint32_t nr_traces;
	struct wm_export_options options;
	/* only events in [begin, end) are passed; INT64_MIN and INT64_MAX for all */
	int64_t begin_ns, end_ns;
	void *own;          /* the exporter's private data */
	uint64_t nr_events; /* events passed to event() */
	uint32_t nr_files;  /* number of output files: several when the output was split */
	uint32_t nr_reasons;
	struct wm_export_reason reasons[WM_EXPORT_REASONS];
};

/* Selects the events, and receives progress reports. */
struct wm_export_input {
	const struct wm_timeline *timeline; /* timeline of the same traces */
	int64_t begin_ns, end_ns;
	const struct wm_want *const *wants; /* as in wm_merge_options */

	/* Returns whether the event is selected. NULL: all are. */
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e);
	const void *passes_data;

	/* Receives the number of packet bytes read; -errno stops the export. May be NULL. */
	int (*tick)(void *data, uint64_t done_bytes);
	void *tick_data;
};

/*
 * The table of exporters: the name of each, which is an argument of --to, and its ops. By default
 * the first one whose suffixes match the path is chosen.
 */
#define WM_EXPORTERS(EXPORTER)                                                                     \
	EXPORTER("ctf-1.8", wm_export_ctf1)                                                        \
	EXPORTER("ctf-2", wm_export_ctf2)                                                          \
	EXPORTER("trace.dat", wm_export_tracedat)                                                  \
	EXPORTER("trace.dat-plain", wm_export_tracedat_plain)                                      \
	EXPORTER("perf.data", wm_export_perfdata)                                                  \
	EXPORTER("perfetto", wm_export_perfetto)                                                   \
	EXPORTER("chrome", wm_export_chrome)

struct wm_exporter {
	const char *name;
	const struct wm_exporter_ops *ops;
};

extern const struct wm_exporter wm_exporters[]; /* ends with a NULL name */

/*
 * Writes the input to options.path. On failure returns -errno with `diag`, and removes the output.
 * Fills `x`, so that the caller can report the result.
 */
int wm_export_run(struct wm_export *x, const struct wm_exporter_ops *ops,
		  const struct wm_export_options *options, const struct wm_export_input *input,
		  struct wm_diag *diag);

/* --- for exporters --------------------------------------------------------- */

/* Counts events that the format cannot hold. `reason` is a literal. */
void wm_export_skip(struct wm_export *x, const char *reason, uint64_t nr);

/*
 * Counts events that are written without a part. `part` is a literal that names the part and gives
 * the reason.
 */
void wm_export_reduce(struct wm_export *x, const char *part, uint64_t nr);

#endif
