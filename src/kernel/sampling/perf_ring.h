/* SPDX-License-Identifier: MIT */
/*
 * perf_ring.h - maps a perf_event_open(2) ring and reads its records one after the other. The
 * kernel writes at `head`, the reader releases the records before `tail`; when the ring is full,
 * the kernel drops and counts records.
 *
 *   for each wake-up:  wm_perf_ring_begin(r);
 *                      while ((p = wm_perf_ring_next(r, &bytes))) ...
 *                      wm_perf_ring_end(r);
 *
 * Only one thread may use a ring at a time.
 */
#ifndef WM_KERNEL_SAMPLING_PERF_RING_H
#define WM_KERNEL_SAMPLING_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define WM_PERF_RECORD_MAX 65536u /* limited by the 16-bit size field */

struct wm_perf_ring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t bytes;         /* size of the data, a power of two */
	uint64_t head, tail;  /* the head as last read, and the next record to read */
	unsigned char *whole; /* buffer for a record that wraps around the end of the ring */
};

/*
 * Maps a descriptor's ring. `bytes` is a power-of-two number of pages. Returns 0; -EPERM if the
 * user would have more locked memory than permitted; or -errno.
 */
int wm_perf_ring_map(int fd, size_t bytes, struct wm_perf_ring *ret);
void wm_perf_ring_unmap(struct wm_perf_ring *r); /* accepts a ring that is not mapped */

/* Reads the kernel's head. Returns the number of bytes to read. */
uint64_t wm_perf_ring_begin(struct wm_perf_ring *r);
/* Returns the next record, which is valid until the next call; NULL: no more. */
const void *wm_perf_ring_next(struct wm_perf_ring *r, size_t *ret_bytes);
/* Gives the space of the records that were read back to the kernel. */
void wm_perf_ring_end(struct wm_perf_ring *r);

#endif
