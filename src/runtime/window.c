/* SPDX-License-Identifier: MIT */
/*
 * window.c - flips thousands of sites at once. A write to /proc/self/mem takes a microsecond; so
 * for many sites the code is made writable for a short time (a window), and the kernel copies the
 * bytes to their addresses: process_vm_readv() on this process, with one destination per site.
 *
 * Plain stores are not safe: if other code in the process changed protections meanwhile, a store
 * would fault and end the program. The copy merely ends early, and the rest is written with
 * wm_patch_write(). Each byte is stored separately: bytes between sites belong to the program and
 * are never written.
 *
 * Not used on aarch64: a copy of four bytes need not be a single store, and pages protected by BTI
 * would lose that protection.
 */
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "runtime/patch_int.h"
#include "runtime/sys_int.h"

#ifdef __x86_64__
#define WINDOWS true
#else
#define WINDOWS false
#endif
#define ON          0xe9 /* the first byte of a site */
#define OFF         0xa9
#define QUEUE_SITES 512u
#define PAGE        4095ul

struct queue {
	size_t nr;
	struct iovec to[QUEUE_SITES];
	unsigned char bytes[QUEUE_SITES];
};

static struct {
	uintptr_t start, end; /* page-aligned; 0 when no window is open */
	bool was_writable;
	struct queue *queue;
	uint32_t failed;
} window;

/* Writes the queued bytes and empties the queue; returns how many were written. */
static size_t write_queue(struct queue *q)
{
	struct iovec from = {q->bytes, q->nr};
	long got = WM_SYS_6(SYS_process_vm_readv, wm_sys_pid(), q->to, q->nr, &from, 1, 0);

	q->nr = 0;
	return got < 0 ? 0 : (size_t)got;
}

static void window_drain(void)
{
	struct queue *q = window.queue;
	size_t nr = q->nr;

	for (size_t i = write_queue(q); i < nr; i++)
		window.failed += !wm_patch_write(q->to[i].iov_base, &q->bytes[i], 1);
}

static void window_put(struct queue *q, unsigned char *at, unsigned char byte)
{
	q->to[q->nr] = (struct iovec){at, 1};
	q->bytes[q->nr++] = byte;
}

/* Whether the byte can be written without mprotect(): stores the value that it already has. */
static bool is_writable(unsigned char *at)
{
	window_put(window.queue, at, *at);
	return write_queue(window.queue) == 1;
}

static bool protect(int more)
{
	return !wm_sys_failed(WM_SYS_3(SYS_mprotect, window.start, window.end - window.start,
				       PROT_READ | PROT_EXEC | more));
}

static bool window_open_at(uintptr_t start, uintptr_t end)
{
	window.queue = wm_sys_map(sizeof(*window.queue));
	if (!window.queue)
		return false;
	window.was_writable = is_writable((unsigned char *)start);
	window.start = start & ~PAGE;
	window.end = (end + PAGE) & ~PAGE;
	window.failed = 0;
	if (window.was_writable || protect(PROT_WRITE))
		return true;
	window.start = window.end = 0;
	wm_sys_unmap(window.queue, sizeof(*window.queue));
	return false;
}

static void close_it(void)
{
	if (!window.was_writable)
		(void)protect(0);
	wm_sys_unmap(window.queue, sizeof(*window.queue));
	window.start = window.end = 0;
}

/* Whether the private site jumps as it should; a way of writing code is used only if so. */
static bool obeys(unsigned char *at, bool on)
{
	bool written;

	if (!window_open_at((uintptr_t)at, (uintptr_t)at + 1))
		return false;
	window_put(window.queue, at, on ? ON : OFF);
	written = write_queue(window.queue) == 1;
	close_it();
	wm_patch_sync();
	return written && wm_patch_private_jumps() == on;
}

static bool window_works(void)
{
	static enum { UNTRIED, YES, NO } found = WINDOWS ? UNTRIED : NO;

	if (found == UNTRIED) {
		unsigned char *at = wm_patch_private();
		found = obeys(at, true) && obeys(at, false) ? YES : NO;
		if (*at != OFF)
			(void)wm_patch_write(at, &(unsigned char){OFF}, 1);
	}
	return found == YES;
}

bool wm_window_open(uintptr_t start, uintptr_t end)
{
	enum wm_patch_way way = wm_patch_init(false);

	return (way == WM_PATCH_MEM || way == WM_PATCH_MPROTECT) && window_works() &&
	       window_open_at(start, end);
}

bool wm_window_put(unsigned char *at, unsigned char byte)
{
	if ((uintptr_t)at < window.start || (uintptr_t)at >= window.end)
		return false;
	window_put(window.queue, at, byte);
	if (window.queue->nr == QUEUE_SITES)
		window_drain();
	return true;
}

uint32_t wm_window_close(void)
{
	if (!window.start)
		return 0;
	window_drain();
	close_it();
	return window.failed;
}

/*
 * Closes the window in a child that was forked while it was open: the child inherited the window,
 * but not the thread that would close it.
 */
void wm_window_forked(void)
{
	if (window.start)
		close_it();
}
