/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - the entry points into the runtime: the constructor, a forked child, an attach
 * request. Without a recorder, the constructor only reads the environment and creates one private
 * mapping; it creates no threads and no descriptors.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/atomic.h"
#include "runtime/patch_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define FORK_WAITS 100 /* number of waits of 10 ms */

struct wm_runtime wm_rt;
WM_GUEST_API struct wm_control waymark_control = {
    .magic = WM_CONTROL_MAGIC,
    .abi = WAYMARK_ABI,
    .flags = WM_CONTROL_LIST,
};

intptr_t wm_guest_writer_offset(void)
{
	uintptr_t thread_pointer;
#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(thread_pointer));
#endif
	return (intptr_t)((uintptr_t)&wm_current - thread_pointer);
}

#if defined(__x86_64__)
static void cpuid(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			 : "0"(leaf), "2"(sub));
}

/* Computes the space for the vector state that callbacks may clobber: x87, SSE, AVX, AVX-512. */
static void find_xsave(void)
{
	uint32_t r[4], lo, hi;

	cpuid(1, 0, r);
	if (!(r[2] & 1u << 27)) /* OSXSAVE */
		return;
	__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	wm_xsave_bytes = 576;
	for (uint32_t i = 2; i < 8; i++) {
		if (!(lo & 0xe7 & 1u << i))
			continue;
		cpuid(0xd, i, r);
		if (r[0] + r[1] > wm_xsave_bytes)
			wm_xsave_bytes = r[0] + r[1];
	}
	wm_xsave_works = 1;
}
#else
/* Sets the space for the part of vector registers beyond the 128 bits that every aarch64 has. */
static void find_xsave(void)
{
	wm_xsave_works = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
}
#endif

/*
 * Joins the recorder of every folder in a ':'-separated list, unless the process has already joined
 * it. Call with the lock held. Returns 0 or the first error.
 */
static int join_list(const char *list, uint32_t flags)
{
	bool any = false;
	int first = 0;

	while (*list) {
		size_t n = 0;
		while (list[n] && list[n] != ':')
			n++;
		if (n) {
			int err = wm_guest_session_join(list, n, flags);

			any |= err == 0;
			if (err != -EEXIST && !first)
				first = err;
		}
		list += n + (list[n] == ':');
	}
	if (any) {
		wm_plan_update_all();
		wm_guest_session_all_synced();
		(void)wm_agent_start();
	}
	return first;
}

static void before_fork(void)
{
	wm_thread_before_fork();
}

static void after_fork(void)
{
	if (wm_thread_after_fork())
		wm_guest_session_hide();
}

static void runtime_set_up(void)
{
	const char *sessions = getauxval(AT_SECURE) ? NULL : getenv(WM_SESSION_ENV);
	const char *enable = getauxval(AT_SECURE) ? NULL : getenv("WAYMARK_ENABLE");
	const char *nopatch = getenv("WAYMARK_NOPATCH");

	wm_registry_init();
	wm_guest_clock_init();
	find_xsave();
	if (!wm_rt.hash || wm_thread_init() < 0)
		return; /* nothing works without thread blocks: all sites stay dormant */
	/* Registered now, while the process has one thread, because it costs milliseconds later. */
	(void)WM_SYS_3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
	(void)WM_SYS_3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	if (nopatch && *nopatch && !(nopatch[0] == '0' && !nopatch[1])) {
		(void)wm_patch_init(true);
		waymark_control.flags |= WM_CONTROL_NOPATCH;
	}
	(void)pthread_atfork(before_fork, after_fork, after_fork);
	wm_rt.pid = wm_sys_pid();
	wm_store_release(&wm_rt.ready, 1);
	if (sessions && *sessions) {
		wm_lock();
		(void)join_list(sessions, 0);
		wm_unlock();
	} else if (enable && *enable) {
		wm_enable_from_environment(enable);
	}
}

bool wm_runtime_ready(void)
{
	if (!wm_rt.ready) {
		static uint32_t once;
		uint32_t none = 0;
		if (wm_cas_acq_rel(&once, &none, 1))
			runtime_set_up();
	}
	return wm_rt.ready;
}

/* A static program's module constructors may run earlier; they call wm_runtime_ready(). */
__attribute__((constructor(101))) static void runtime_constructor(void)
{
	(void)wm_runtime_ready();
}

/*
 * Sets up the runtime in a forked child. If the child has already created threads, several of them
 * may get here at once: one does the work and the others wait. The process counts as forked
 * (wm_thread_forked()) until the setup is done, so that no event is dropped meanwhile.
 */
void wm_runtime_forked(void)
{
	bool locked = wm_try_lock();

	for (unsigned i = 0; i < FORK_WAITS && !locked; i++) {
		wm_lock_wait(10);
		if (!wm_thread_forked())
			return;
		locked = wm_try_lock();
	}
	if (!locked)
		return;
	if (wm_thread_forked()) {
		wm_rt.pid = wm_sys_pid();
		wm_agent_stop_in_child();
		wm_patch_forked();
		wm_guest_session_forked();
		wm_plan_update_all();
		wm_guest_session_all_synced();
		if (wm_thread_init() == 0)
			(void)wm_agent_start();
		/* Its events may be on for its parent's recorders only, so that none meets the
		 * gate. */
		wm_runtime_attach();
	}
	wm_unlock();
	wm_early(0);
}

static bool attach_is_requested(void)
{
	return wm_load_acquire(&waymark_control.attach_request) !=
	       wm_load_acquire(&waymark_control.attach_done);
}

void wm_runtime_attach(void)
{
	uint32_t request = wm_load_acquire(&waymark_control.attach_request);
	char folders[sizeof(waymark_control.folders)];
	int err;

	if (!attach_is_requested())
		return;
	wm_mem_copy(folders, waymark_control.folders, sizeof(folders));
	folders[sizeof(folders) - 1] = 0;
	err = join_list(folders, WM_HELLO_ATTACHED);
	wm_plan_restore();
	waymark_control.attach_error = err;
	wm_store_release(&waymark_control.attach_done, request);
}

void wm_runtime_attach_check(void)
{
	if (!attach_is_requested() || !wm_try_lock())
		return;
	wm_runtime_attach();
	wm_unlock();
}

bool wm_runtime_words_check(void)
{
	if (!wm_try_lock())
		return false;
	wm_runtime_attach();
	wm_plan_restore(); /* the tool may have written words after the request was read */
	wm_unlock();
	return true;
}
