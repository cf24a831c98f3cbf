/* SPDX-License-Identifier: MIT */
/*
 * pump.h - moves packets from pools to a trace, with no work per event. It
 * knows pools and writers, not sessions: control/ adds and removes sources.
 *
 * One round (wm_pump_round):
 *   1. snapshot: state and commit word of every chunk in use
 *   2. call options.before_write: the caller drains its sockets, so that
 *      every id met in the snapshot is known
 *   3. packets, sorted by begin, straight from shared memory to the writer
 *   4. release what was consumed, account what was lost
 *
 * A packet never spans 2^46 ticks. Single-threaded.
 */
#ifndef WM_COLLECT_PUMP_H
#define WM_COLLECT_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "format/trace_writer.h"
#include "ring/pool.h"

struct wm_pump;
struct wm_pump_source;

struct wm_pump_options {
	struct wm_trace_writer *writer; /* NULL until a snapshot asks for one (overwrite mode) */
	enum wm_clock_kind clock_kind;
	bool (*tid_alive)(uint32_t pid, uint32_t tid, void *data); /* NULL: /proc */
	void (*before_write)(void *data);
	void *data;
};

struct wm_pump_totals {
	uint64_t events, bytes, packets;
	uint64_t lost[WM_LOST_NR];
	uint32_t quarantined; /* sources that broke the rules */
};

int wm_pump_create(const struct wm_pump_options *o, struct wm_pump **ret);
void wm_pump_destroy(struct wm_pump *p);

/* Takes over `pool` (and maps nothing itself); `producer` stays the caller's. */
int wm_pump_add(struct wm_pump *p, struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		struct wm_pump_source **ret);

/* The process has ended: OWNED chunks are final. Drains and forgets the source. */
int wm_pump_finish(struct wm_pump *p, struct wm_pump_source *s);

/*
 * Drains all sources. `seal` also takes the committed part of chunks still
 * being written (every 100 ms, at the end). Returns the packets moved.
 */
int wm_pump_round(struct wm_pump *p, bool seal);

void wm_pump_totals(const struct wm_pump *p, struct wm_pump_totals *ret);

#endif
