/* SPDX-License-Identifier: MIT */
/*
 * info.h - the parts of waymark info: info.c is the verb, count.c counts events, own_trace.c prints
 * waymark's own traces, any_trace.c those from other tracers.
 */
#ifndef WM_CMD_INFO_INFO_H
#define WM_CMD_INFO_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "trace/reader.h"

struct wm_info_values {
	bool repair, json, verify, hash, names, metadata;
	int64_t threads;
};

/* A trace and the counts of its events. */
struct wm_info {
	const char *path;
	struct wm_trace *t;
	uint64_t *counts;   /* indexed like trace->types */
	uint32_t *order;    /* type indexes, sorted by name */
	uint64_t nr_events; /* readable events, excluding the recorder's own */
	uint64_t bytes;     /* size of all packets */
	struct wm_text out;
};

/* count.c: counts events without decoding fields, on nr_threads threads. Returns 0 or -errno. */
int wm_info_count(struct wm_info *i, uint32_t nr_threads);
void wm_info_done(struct wm_info *i);

/*
 * Returns the number of events named as at order[*at], over all types with this name: an event can
 * be declared in several streams. Moves *at past these types.
 */
uint64_t wm_info_take_name(const struct wm_info *i, uint32_t *at);

/* Describe the trace and its contents, in i->out or in an open JSON object. */
void wm_info_own_text(struct wm_info *i);
void wm_info_any_text(struct wm_info *i);
void wm_info_own_json(const struct wm_info *i, struct wm_json *j);
void wm_info_any_json(const struct wm_info *i, struct wm_json *j);
void wm_info_faults(struct wm_info *i); /* adds the list of faults to i->out */

/* These print a message and return an exit status. */
int wm_info_verify(const struct wm_info_values *v, const char *path); /* --verify */
int wm_info_hash(const struct wm_info_values *v, const char *path);   /* --hash */

#endif
