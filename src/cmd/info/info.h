/* SPDX-License-Identifier: MIT */
/*
 * info.h - the parts of waymark info: info.c is the verb, count.c counts
 * events, own_trace.c shows our own traces, any_trace.c all others.
 */
#ifndef WM_CMD_INFO_INFO_H
#define WM_CMD_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/reader.h"

struct wm_info_values {
	bool repair, json, verify, hash, names;
	int64_t threads;
};

/* A trace whose events were counted. */
struct wm_info {
	const char *path;
	struct wm_trace *t;
	uint64_t *counts;   /* by index of trace->types */
	uint32_t *order;    /* of types: by name */
	uint64_t nr_events; /* that could be read, of the recorder's own none */
	uint64_t bytes;     /* of packets */
	struct wm_text out;
};

/* count.c: counts events with no field decoded, on so many threads. 0 or -errno. */
int wm_info_count(struct wm_info *i, uint32_t nr_threads);
void wm_info_done(struct wm_info *i);

/*
 * The same event can be declared in several streams: adds up all of the name at
 * order[*at], and moves on behind them.
 */
uint64_t wm_info_take_name(const struct wm_info *i, uint32_t *at);

/* What it is and holds, into i->out, or into the JSON object that was begun. */
void wm_info_own_text(struct wm_info *i);
void wm_info_any_text(struct wm_info *i);
void wm_info_own_json(const struct wm_info *i, struct wm_json *j);
void wm_info_any_json(const struct wm_info *i, struct wm_json *j);
void wm_info_faults(struct wm_info *i); /* the list of what is damaged, into i->out */

/* Exit statuses; what went wrong was said. */
int wm_info_verify(const struct wm_info_values *v, const char *path); /* --verify */
int wm_info_hash(const struct wm_info_values *v, const char *path);   /* --hash */

#endif
