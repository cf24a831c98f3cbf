/* SPDX-License-Identifier: MIT */
/*
 * events.h - the events requested on a command line and their options, for `waymark record` and for
 * verbs that record and show the result at once. --filter, --context, --every, -F, -c and -g apply
 * to the preceding -e; before the first -e, they apply to all.
 *
 * A verb's values begin with a struct wm_record_asked, so that its option table can include these
 * rows.
 */
#ifndef WM_CMD_RECORD_EVENTS_H
#define WM_CMD_RECORD_EVENTS_H

#include <limits.h>

#include "cmd/event_list.h"
#include "cmd/id_list.h"
#include "cmd/record/record.h"

/* The kinds of events in a recording. */
enum wm_record_kind {
	WM_RECORD_PROGRAMS = 1,
	WM_RECORD_KERNEL = 2, /* tracepoints, system calls, probes, functions, markers */
	WM_RECORD_SAMPLES = 4,
	WM_RECORD_PROC = 8,
};

struct wm_record_asked {
	struct wm_event_list list;
	const char *dir, *preload, *snapshot, *change;
	struct wm_ids pids, tids;
	uint64_t buffer_bytes; /* 0: the defaults */
	int mode, format;
	bool all, quiet, fail_on_loss;
	struct wm_recorder_events events;
	unsigned kinds;              /* enum wm_record_kind, of all events */
	struct wm_kernel_asks later; /* with --change: the request to the recorder */
	struct wm_record_more more;
	int *cpus; /* NULL: all */
	size_t nr_cpus;
	char folder[PATH_MAX]; /* folder of this executable */
	char *single;          /* filter for -t and -C; NULL: none */
};

/* Rows for option tables; `text` is the help text. */
#define WM_RECORD_EVENT(text)                                                                      \
	WM_EVENT_LIST_EVENT(struct wm_record_asked, list, "GLOB", WM_RULES_NR_MAX - 1, text)
#define WM_RECORD_EXCLUDE(text)                                                                    \
	WM_EVENT_LIST_EXCLUDE(struct wm_record_asked, list, WM_RULES_NR_MAX - 1, text)
#define WM_RECORD_FILTER(text)     WM_EVENT_LIST_FILTER(struct wm_record_asked, list, text)
#define WM_RECORD_LISTED(function) WM_EVENT_LIST_CALL(struct wm_record_asked, list, function)
#define WM_RECORD_RATES(text)                                                                      \
	{.name = "freq",                                                                           \
	 .letter = 'F',                                                                            \
	 .argument = "HZ",                                                                         \
	 .help = (text),                                                                           \
	 WM_RECORD_LISTED(wm_record_on_rate)},                                                     \
	{                                                                                          \
		.name = "count", .letter = 'c', .argument = "N",                                   \
		.help = "like -F, but take one sample every N events",                             \
		WM_RECORD_LISTED(wm_record_on_rate)                                                \
	}
#define WM_RECORD_CALL_GRAPH(text)                                                                 \
	{                                                                                          \
		.name = "call-graph", .letter = 'g', .argument = "MODE", .optional = true,         \
		.choices = "fp|dwarf", .help = (text), WM_RECORD_LISTED(wm_record_on_chain)        \
	}
#define WM_RECORD_PROCESSES(text)                                                                  \
	WM_IDS_PROCESSES(struct wm_record_asked, pids, WM_RECORDER_TARGETS_MAX, text)
#define WM_RECORD_THREADS(text)                                                                    \
	WM_IDS_THREADS(struct wm_record_asked, tids, WM_RECORDER_TARGETS_MAX, text)
#define WM_RECORD_CPUS(text)                                                                       \
	{                                                                                          \
		.name = "cpu", .letter = 'C', .argument = "LIST", .help = (text),                  \
		.kind = WM_OPTION_CALL, .call = wm_record_on_cpus                                  \
	}
#define WM_RECORD_ALL(text)                                                                        \
	{                                                                                          \
		.name = "all", .letter = 'a', .help = (text),                                      \
		WM_OPTION_TO_FLAG(struct wm_record_asked, all)                                     \
	}

int wm_record_on_context(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_record_on_trigger(const struct wm_option *o, const char *argument, void *values,
			 struct wm_diag *diag);
int wm_record_on_synthetic(const struct wm_option *o, const char *argument, void *values,
			   struct wm_diag *diag);
int wm_record_on_stacks(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag);
int wm_record_on_rate(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);
int wm_record_on_every(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_record_on_chain(const struct wm_option *o, const char *argument, void *values,
		       struct wm_diag *diag);
int wm_record_on_cpus(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag);

/* The size of a program's buffer. */
uint64_t wm_record_asked_buffer(const struct wm_record_asked *r);

/* Fills a recorder's plan, which points into `r`. Returns 0, or an exit status after a message. */
int wm_record_asked_plan(struct wm_record_asked *r, char *const *command,
			 struct wm_recorder_plan *ret);

/*
 * Refuse options that would have no effect (unused.c): those for the whole recording or before the
 * first -e, and those of one -e, whose event is of this kind. Return 0, or an exit status after a
 * message.
 */
int wm_record_check_uses(const struct wm_record_asked *r);
int wm_record_check_own_uses(const struct wm_listed_event *own, unsigned kind);

/* Whether a rule may match events of one of the libraries of --preload. */
bool wm_record_names_helpers(const struct wm_record_asked *r);

void wm_record_asked_done(struct wm_record_asked *r);

#endif
