/* SPDX-License-Identifier: MIT */
/*
 * agent.c - the one thread of ours in a traced process, there only while a
 * recorder is. Made with a bare clone: own stack, all signals blocked, its own
 * thread pointer, no libc state. It listens to recorders and to the control
 * page, and does the work that emitting threads must not.
 */
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#define STACK_BYTES (128u << 10)
#define TICK_MS     100

static void on_message(unsigned k, const struct wm_msg *m)
{
	struct wm_session *s = &wm_rt.session[k];

	wm_lock();
	if (m->type == WM_MSG_DETACH) {
		wm_session_leave(k, true);
	} else if (m->type == WM_MSG_RULES && s->active) {
		if (wm_session_read_rules(s) >= 0) {
			wm_plan_update_all();
			wm_session_synced(s);
		}
	}
	wm_unlock();
}

static void on_readable(unsigned k)
{
	struct wm_session *s = &wm_rt.session[k];
	union {
		struct wm_msg m;
		char room[256];
	} in;
	long n = WM_SYS_6(SYS_recvfrom, s->socket, &in, sizeof(in), MSG_DONTWAIT, 0, 0);

	if (n == -11 || n == -4)
		return;
	if (n <= 0) { /* the recorder is gone */
		wm_lock();
		wm_session_leave(k, false);
		wm_unlock();
		return;
	}
	if (n >= (long)sizeof(in.m) && in.m.bytes == (uint32_t)n)
		on_message(k, &in.m);
}

static unsigned fill_polls(struct pollfd *p, unsigned *slot)
{
	unsigned n = 0;
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		if (!wm_load_acquire(&wm_rt.session[k].active))
			continue;
		p[n] = (struct pollfd){wm_rt.session[k].socket, POLLIN, 0};
		slot[n++] = k;
	}
	return n;
}

static void agent_main(void)
{
	struct pollfd p[WM_SLOTS];
	unsigned slot[WM_SLOTS], n;

	(void)WM_SYS_2(SYS_prctl, PR_SET_NAME, "waymark");
	for (;;) {
		struct timespec tick = {0, TICK_MS * 1000000};
		n = fill_polls(p, slot);
		if (!n)
			break;
		(void)WM_SYS_6(SYS_ppoll, p, n, &tick, 0, 0, 0);
		for (unsigned i = 0; i < n; i++)
			if (p[i].revents)
				on_readable(slot[i]);
		if (waymark_control.attach_request != waymark_control.attach_done)
			wm_runtime_attach_check();
		(void)wm_thread_reap(16);
	}
	wm_store_release(&wm_rt.agent_tid, 0);
	waymark_control.flags &= ~WM_CONTROL_AGENT;
	(void)WM_SYS_1(SYS_exit, 0); /* the stack stays: one a process, reused by the next agent */
}

/* entry_*.S: a thread that runs fn on that stack with that thread pointer; its tid. */
long wm_clone(unsigned long flags, void *stack_top, void (*fn)(void), void *tls);

int wm_agent_start(void)
{
	static unsigned char *stack;
	static void *tls[64]; /* zeros, and itself first: all that anybody looks for there */
	uint64_t all = ~0ull, old = 0;
	long tid;

	if (wm_rt.agent_tid)
		return 0;
	if (!stack)
		stack = wm_sys_map(STACK_BYTES);
	if (!stack)
		return -12;
	tls[0] = tls;
	tls[2] = tls;
	wm_rt.agent_tid = UINT32_MAX; /* before it runs, so that it can clear it */
	(void)WM_SYS_4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	tid = wm_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			   CLONE_SYSVSEM | CLONE_SETTLS,
		       stack + STACK_BYTES - 64, agent_main, tls);
	(void)WM_SYS_4(SYS_rt_sigprocmask, SIG_SETMASK, &old, 0, 8);
	if (wm_sys_failed(tid)) {
		wm_rt.agent_tid = 0;
		return (int)tid;
	}
	waymark_control.flags |= WM_CONTROL_AGENT;
	return 0;
}

void wm_agent_stop_in_child(void)
{
	wm_rt.agent_tid = 0; /* it did not come along */
	waymark_control.flags &= ~WM_CONTROL_AGENT;
}
