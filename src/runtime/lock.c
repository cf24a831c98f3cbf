/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the runtime's only lock, a futex that holds the owner's tid, and the allocator for
 * memory that is never freed. The lock is in memory that a fork wipes, so a child never finds it
 * held by a thread that exists only in the parent. All signals are blocked while it is held: a
 * handler that leaves by siglongjmp would leave it locked, and one that traces would see an
 * unfinished change.
 */
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

#include "base/atomic.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

static uint64_t owners_mask; /* the owner's signal mask before it took the lock */

static uint64_t set_mask(uint64_t mask)
{
	uint64_t old = 0;

	(void)WM_SYS_4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof(old));
	return old;
}

bool wm_try_lock(void)
{
	uint64_t mask = set_mask(~0ull);
	uint32_t none = 0;

	if (wm_cas_acq_rel(wm_thread_lock_word(), &none, wm_sys_tid())) {
		owners_mask = mask;
		return true;
	}
	(void)set_mask(mask);
	return false;
}

void wm_lock_wait(unsigned ms)
{
	struct timespec limit = {ms / 1000, (long)(ms % 1000) * 1000000};
	uint32_t owner = wm_load_relaxed(wm_thread_lock_word());

	if (owner)
		(void)WM_SYS_4(SYS_futex, wm_thread_lock_word(), FUTEX_WAIT_PRIVATE, owner, &limit);
}

void wm_lock(void)
{
	/* The caller is a new child: the state it would change is still the parent's. */
	if (wm_thread_forked())
		wm_runtime_forked();
	while (!wm_try_lock())
		wm_lock_wait(1000);
}

void wm_unlock(void)
{
	uint64_t mask = owners_mask;

	wm_store_release(wm_thread_lock_word(), 0);
	(void)WM_SYS_3(SYS_futex, wm_thread_lock_word(), FUTEX_WAKE_PRIVATE, 1);
	(void)set_mask(mask);
}

#define KEEP_BYTES (256u << 10)

void *wm_keep(size_t bytes)
{
	static unsigned char *at;
	static size_t left;
	void *p;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > KEEP_BYTES / 4)
		return wm_sys_map(bytes);
	if (bytes > left) {
		at = wm_sys_map(KEEP_BYTES);
		left = at ? KEEP_BYTES : 0;
		if (!at)
			return NULL;
	}
	p = at;
	at += bytes;
	left -= bytes;
	return p;
}
