/* SPDX-License-Identifier: MIT */
/* perf_ring.c - see perf_ring.h. */
#include "kernel/sampling/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int wm_perf_ring_map(int fd, size_t bytes, struct wm_perf_ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct wm_perf_ring r = {.bytes = bytes};
	void *at;

	if (bytes < page || bytes & (bytes - 1))
		return -EINVAL;
	at = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	r.whole = malloc(WM_PERF_RECORD_MAX);
	if (!r.whole) {
		(void)munmap(at, page + bytes);
		return -ENOMEM;
	}
	r.page = at;
	r.data = (const unsigned char *)at + page;
	*ret = r;
	return 0;
}

void wm_perf_ring_unmap(struct wm_perf_ring *r)
{
	if (r->page)
		(void)munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->bytes);
	free(r->whole);
	*r = (struct wm_perf_ring){0};
}

uint64_t wm_perf_ring_begin(struct wm_perf_ring *r)
{
	/*
	 * Acquire pairs with the kernel's barrier between writing a record and advancing the head.
	 */
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	return r->head - r->tail;
}

const void *wm_perf_ring_next(struct wm_perf_ring *r, size_t *ret_bytes)
{
	size_t at = r->tail & (r->bytes - 1), to_end = r->bytes - at;
	struct perf_event_header header;
	const unsigned char *record = r->data + at;

	if (r->head - r->tail < sizeof(header))
		return NULL;
	memcpy(&header, record,
	       sizeof(header)); /* records are multiples of 8: a header never wraps */
	if (header.size < sizeof(header) || header.size > r->head - r->tail) {
		/* The kernel never writes this size, so the rest cannot be parsed. */
		r->tail = r->head;
		return NULL;
	}
	if (header.size > to_end) {
		memcpy(r->whole, record, to_end);
		memcpy(r->whole + to_end, r->data, header.size - to_end);
		record = r->whole;
	}
	r->tail += header.size;
	*ret_bytes = header.size;
	return record;
}

void wm_perf_ring_end(struct wm_perf_ring *r)
{
	/* Release pairs with the kernel's read of the tail before it overwrites records. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}
