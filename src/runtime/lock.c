/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the runtime's one lock, a futex. Holds the owner's tid. A child
 * forked while another thread held it finds a stale owner and starts anew
 * (wm_runtime_forked() resets it). Also memory that is never given back.
 */
#include <linux/futex.h>

#include "base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

bool wm_try_lock(void)
{
	uint32_t none = 0;
	return wm_cas_acq_rel(&wm_rt.lock, &none, wm_sys_tid());
}

void wm_lock(void)
{
	if (wm_thread_forked())
		wm_store_relaxed(&wm_rt.lock, 0); /* its owner did not come along */
	while (!wm_try_lock()) {
		uint32_t owner = wm_load_relaxed(&wm_rt.lock);
		if (owner)
			(void)WM_SYS_4(SYS_futex, &wm_rt.lock, FUTEX_WAIT_PRIVATE, owner, 0);
	}
}

void wm_unlock(void)
{
	wm_store_release(&wm_rt.lock, 0);
	(void)WM_SYS_3(SYS_futex, &wm_rt.lock, FUTEX_WAKE_PRIVATE, 1);
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
