/* SPDX-License-Identifier: MIT */
/*
 * agent.c - the only thread that the runtime adds to a traced process; it exists only while a
 * recorder is joined. It is created with a bare clone: it has its own stack and thread pointer, all
 * signals are blocked, and it has no libc state. It reads the recorders' messages and the control
 * page, and does the work that emitting threads must not do.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/atomic.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define STACK_BYTES (128u << 10)
#define TICK_MS     100

static void on_message(unsigned k, const struct wm_msg *m)
{
	struct wm_guest_session *s = &wm_rt.session[k];

	wm_lock();
	if (m->type == WM_MSG_LAST && m->bytes == sizeof(struct wm_msg_last))
		wm_rt.exit_status = ((const struct wm_msg_last *)(const void *)m)->status;
	if (m->type == WM_MSG_DETACH || m->type == WM_MSG_LAST) {
		wm_guest_session_leave(k, true);
	} else if (m->type == WM_MSG_RULES && s->active) {
		if (wm_guest_session_read_rules(s) >= 0) {
			wm_plan_update_all();
			wm_guest_session_synced(s);
		}
	}
	wm_unlock();
}

static void agent_on_readable(unsigned k)
{
	struct wm_guest_session *s = &wm_rt.session[k];
	union {
		struct wm_msg m;
		char room[256];
	} in;
	long n;

	if (wm_guest_session_is_deaf(s)) /* skips a descriptor that the program may have reused */
		return;
	n = WM_SYS_6(SYS_recvfrom, s->socket, &in, sizeof(in), MSG_DONTWAIT, 0, 0);

	if (n == -EAGAIN || n == -EINTR)
		return;
	if (n <= 0) { /* the recorder closed its end */
		wm_lock();
		wm_guest_session_leave(k, false);
		wm_unlock();
		return;
	}
	if (n >= (long)sizeof(in.m) && in.m.bytes == (uint32_t)n)
		on_message(k, &in.m);
}

/* Leaves deaf sessions whose recorder has set `closing` in the pool. */
static void leave_closed(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		struct wm_guest_session *s = &wm_rt.session[k];
		if (!wm_load_acquire(&s->active) || !wm_guest_session_is_deaf(s) ||
		    !wm_load_acquire(&wm_pool_header(s->pool)->closing))
			continue;
		wm_lock();
		wm_guest_session_leave(k, false);
		wm_unlock();
	}
}

/*
 * Returns false when no session is left; it has then cleared agent_runs, so wm_agent_start()
 * creates a new agent.
 */
static bool fill_polls(struct pollfd *p)
{
	bool any = false;

	wm_lock();
	wm_runtime_attach(); /* may add a session; the agent then stays */
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		p[k] = (struct pollfd){-1, POLLIN, 0};
		if (!wm_rt.session[k].active)
			continue;
		any = true;
		if (!wm_guest_session_is_deaf(&wm_rt.session[k]))
			p[k].fd = wm_rt.session[k].socket;
	}
	if (!any) {
		wm_rt.agent_runs = false;
		waymark_control.flags &= ~WM_CONTROL_AGENT;
	}
	wm_unlock();
	return any;
}

static void agent_main(void)
{
	struct pollfd p[WM_SLOTS];

	(void)WM_SYS_2(SYS_prctl, PR_SET_NAME, WM_AGENT_NAME);
	while (fill_polls(p)) {
		struct timespec tick = {0, TICK_MS * 1000000};
		(void)WM_SYS_6(SYS_ppoll, p, WM_SLOTS, &tick, 0, 0, 0);
		for (unsigned k = 0; k < WM_SLOTS; k++)
			if (p[k].fd >= 0 && p[k].revents)
				agent_on_readable(k);
		leave_closed();
		(void)wm_thread_reap(16);
	}
	/*
	 * When the thread has ended, the kernel clears agent_tid, and the stack is free to reuse.
	 */
	(void)WM_SYS_1(SYS_exit, wm_rt.exit_status);
}

/*
 * entry_*.S: starts a thread that runs fn on the given stack with the given thread pointer; returns
 * its tid. When the thread has ended, the kernel clears *tid and wakes a futex on it.
 */
long wm_clone(unsigned long flags, void *stack_top, void (*fn)(void), void *tls, uint32_t *tid);

int wm_agent_start(void)
{
	static unsigned char *stack;
	/*
	 * Zeroed, except that it begins with its own address: nothing else is read through the
	 * thread pointer.
	 */
	static void *tls[64];
	uint64_t all = ~0ull, old = 0;
	long tid;

	if (wm_rt.agent_runs)
		return 0;
	/* Waits for the previous agent to end. */
	while ((tid = wm_load_acquire(&wm_rt.agent_tid)) != 0)
		(void)WM_SYS_4(SYS_futex, &wm_rt.agent_tid, FUTEX_WAIT, tid, 0);
	if (!stack)
		stack = wm_sys_map(STACK_BYTES);
	if (!stack)
		return -ENOMEM;
	tls[0] = tls;
	tls[2] = tls;
	wm_rt.agent_tid = UINT32_MAX; /* set before the thread runs; cleared when it ends */
	wm_rt.agent_runs = true;
	(void)WM_SYS_4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	tid = wm_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_CLEARTID,
		       stack + STACK_BYTES - 64, agent_main, tls, &wm_rt.agent_tid);
	(void)WM_SYS_4(SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, 8);
	if (wm_sys_failed(tid)) {
		wm_rt.agent_tid = 0;
		wm_rt.agent_runs = false;
		return (int)tid;
	}
	waymark_control.flags |= WM_CONTROL_AGENT;
	return 0;
}

void wm_agent_stop_in_child(void)
{
	wm_rt.agent_tid = 0; /* fork does not copy the agent thread */
	wm_rt.agent_runs = false;
	waymark_control.flags &= ~WM_CONTROL_AGENT;
}
