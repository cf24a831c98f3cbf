/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the runtime's one lock, a futex that holds the owner's tid. It lies
 * in memory that a fork wipes, so a child never finds it held by a thread that
 * did not come along. Also memory that is never given back.
 */
#include <linux/futex.h>

#include "base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

bool wm_try_lock(void)
{
	uint32_t none = 0;
	return wm_cas_acq_rel(wm_thread_lock_word(), &none, wm_sys_tid());
}

void wm_lock(void)
{
	if (wm_thread_forked()) /* what we are about to change is still the parent's */
		wm_runtime_forked();
	while (!wm_try_lock()) {
		uint32_t owner = wm_load_relaxed(wm_thread_lock_word());
		if (owner)
			(void)WM_SYS_4(SYS_futex, wm_thread_lock_word(), FUTEX_WAIT_PRIVATE, owner,
				       0);
	}
}

void wm_unlock(void)
{
	wm_store_release(wm_thread_lock_word(), 0);
	(void)WM_SYS_3(SYS_futex, wm_thread_lock_word(), FUTEX_WAKE_PRIVATE, 1);
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
