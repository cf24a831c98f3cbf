/* SPDX-License-Identifier: MIT */
/*
 * perf_ring.h - a ring of perf_event_open(2): mapped, and read record after
 * record. The kernel writes behind `head`, we say with `tail` what was read;
 * a full ring takes no more, and the kernel counts what it left out.
 *
 *   for each wake-up:  wm_perf_ring_begin(r);
 *                      while ((p = wm_perf_ring_next(r, &bytes))) ...
 *                      wm_perf_ring_end(r);
 *
 * One thread at a time.
 */
#ifndef WM_KERNEL_SAMPLING_PERF_RING_H
#define WM_KERNEL_SAMPLING_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define WM_PERF_RECORD_MAX 65536u /* its size has 16 bits */

struct wm_perf_ring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t bytes;         /* of data: a power of two */
	uint64_t head, tail;  /* as read last, and how far we are */
	unsigned char *whole; /* a record that lies around the end is put together here */
};

/* Maps the ring of a descriptor, of a power of two of pages. 0, -EPERM: too large for us, -errno.
 */
int wm_perf_ring_map(int fd, size_t bytes, struct wm_perf_ring *ret);
void wm_perf_ring_unmap(struct wm_perf_ring *r); /* accepts one that is not mapped */

/* Looks how far the kernel is. Bytes to be read. */
uint64_t wm_perf_ring_begin(struct wm_perf_ring *r);
/* The next whole record, valid until the next call; NULL: there is none. */
const void *wm_perf_ring_next(struct wm_perf_ring *r, size_t *ret_bytes);
/* What was read is the kernel's again. */
void wm_perf_ring_end(struct wm_perf_ring *r);

#endif
