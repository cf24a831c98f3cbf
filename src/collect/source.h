/* SPDX-License-Identifier: MIT */
/*
 * source.h - what all sources of the pump have in common, except programs' pools
 * (pump.h): the kernel's events, samples, counters of /proc.
 */
#ifndef WM_COLLECT_SOURCE_H
#define WM_COLLECT_SOURCE_H

#include <stdint.h>

#include "ring/pool.h"

#define WM_SOURCE_MORE_MAX 6u

struct wm_source_totals {
	uint64_t events, packets, bytes; /* written; bytes of payload */
	/* By cause; WM_LOST_DISK: read from the source, but not written, see error. */
	uint64_t lost[WM_LOST_NR];
	uint64_t filtered;     /* records that did not pass their event's filter */
	uint64_t torn;         /* records or texts that do not match their description */
	uint64_t buffer_bytes; /* of all rings, now */
	int error;             /* the last write that failed: -errno; 0: none did */
	uint64_t more[WM_SOURCE_MORE_MAX]; /* counters of one source, by an enum of its header */
};

#endif
