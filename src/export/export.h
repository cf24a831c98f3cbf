/* SPDX-License-Identifier: MIT */
/*
 * export.h - one face for all formats that are written from events: who
 * converts opens traces, chooses an exporter, and gives it the events in order
 * of time (merge.h), whatever their tracer was.
 *
 * An exporter is one table of functions, struct wm_exporter_ops, and one line
 * in export.c. Output is written beside OUT under another name (file.h) and
 * renamed to OUT when it is complete.
 *
 * What the format cannot hold is not an error: it is counted by reason with
 * wm_export_skip(), and said at the end. One thread at a time.
 */
#ifndef WM_EXPORT_EXPORT_H
#define WM_EXPORT_EXPORT_H

#include "base/diag.h"
#include "trace/reader.h"
#include "trace/timeline.h"

#define WM_EXPORT_REASONS     16u   /* different ones, for what was left out */
#define WM_EXPORT_TICK_EVENTS 8192u /* between two questions whether to go on */

struct wm_export;

struct wm_export_options {
	const char *path;     /* OUT */
	uint64_t split_bytes; /* what is larger becomes several files; 0: never */
	bool force;           /* a file that is there is replaced; a folder never is */
	const char *tracer;   /* "waymark VERSION", for formats that name who wrote them */
};

struct wm_exporter_ops {
	const char *name;     /* "ctf-2", "trace.dat", "chrome": what --to takes */
	const char *suffixes; /* ".dat|.trace": names that end so mean this format; NULL: none */
	const char *summary;  /* one line, lower case, no full stop */
	bool is_folder;       /* OUT is one */
	bool splits;          /* knows split_bytes */
	bool needs_meta;      /* what is told of tasks and mappings comes too, chosen or not */
	uint32_t no_parts;    /* bits 1 << enum wm_part: items it does not look at */

	/* The traces are open, one at least. -errno with `diag` for what it cannot hold. */
	int (*open)(struct wm_export *x, struct wm_diag *diag);

	/* In order of time over all traces; `trace` is an index. 0 or -errno. */
	int (*event)(struct wm_export *x, uint32_t trace, const struct wm_event *e);

	/*
	 * Also after open() or event() failed; `own` may be NULL then. `whole`:
	 * all events came; the output is completed and gets its name. Else it is
	 * removed. Releases all in any case.
	 */
	int (*close)(struct wm_export *x, bool whole, struct wm_diag *diag);
};

struct wm_export_reason {
	const char *text; /* "of 1024 members and more": after "N events left out, " */
	uint64_t nr;
};

struct wm_export {
	const struct wm_exporter_ops *ops;
	struct wm_trace *const *traces;
	uint32_t nr_traces;
	struct wm_export_options options;
	int64_t begin_ns, end_ns; /* events are in [begin, end): MIN and MAX for all */
	void *own;                /* the exporter's */
	uint64_t nr_events;       /* that event() took */
	uint32_t nr_files;        /* of the output; more than one when it was split */
	uint32_t nr_reasons;
	struct wm_export_reason reasons[WM_EXPORT_REASONS];
};

/* Which events, and who is asked while it lasts. */
struct wm_export_input {
	const struct wm_timeline *timeline; /* over the same traces */
	int64_t begin_ns, end_ns;
	const struct wm_want *const *wants; /* as wm_merge_options has them */

	/* Is the event meant? NULL: all are. */
	bool (*passes)(const void *data, uint32_t trace, const struct wm_event *e);
	const void *passes_data;

	/* Told how many bytes of packets are done; -errno ends it all. May be NULL. */
	int (*tick)(void *data, uint64_t done_bytes);
	void *tick_data;
};

/* All exporters; NULL ends the list. */
extern const struct wm_exporter_ops *const wm_exporters[];

/*
 * Writes all of the input to options.path. 0, or -errno with `diag`: nothing is
 * left of the output then. `x` is filled for who wants to tell what became of it.
 */
int wm_export_run(struct wm_export *x, const struct wm_exporter_ops *ops,
		  const struct wm_export_options *options, const struct wm_export_input *input,
		  struct wm_diag *diag);

/* --- for exporters --------------------------------------------------------- */

/* Counts an event, or a part of one, that the format cannot hold. `reason` is a literal. */
void wm_export_skip(struct wm_export *x, const char *reason, uint64_t nr);

#endif
