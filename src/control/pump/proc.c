/* SPDX-License-Identifier: MIT */
/* proc.c - counters of /proc in the pump process; see pump_int.h. */
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/pump/pump_int.h"

#define NS_PER_S 1000000000u
#define FULL_NS  10000000u /* when nobody reads a live recording: look again then */

/* A timer of the kernel's, since the loop's own may be a millisecond late. */
static void wait_until(struct serving *s, uint64_t ns)
{
	const struct itimerspec at = {.it_value = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)}};

	(void)timerfd_settime(s->proc_timer, TFD_TIMER_ABSTIME, &at, NULL); /* it is ours */
}

static void wait_for_next(struct serving *s)
{
	wait_until(s, wm_proc_source_next(s->proc));
}

static void on_due(int fd, uint32_t events, void *data)
{
	struct serving *s = data;
	uint64_t nr;

	(void)events;
	if (read(fd, &nr, sizeof(nr)) < 0)
		return;              /* it was not due after all */
	if (wm_serving_is_full(s)) { /* what is due meanwhile will have been missed */
		wait_until(s, wm_clock_monotonic_ns() + FULL_NS);
		return;
	}
	wm_proc_source_tick(s->proc, wm_clock_monotonic_ns());
	wait_for_next(s);
}

static void say_left_out(struct serving *s)
{
	uint32_t nr;
	const struct wm_proc_event *e = wm_proc_source_left_out(s->proc, &nr);

	if (e)
		wm_serving_trouble(s,
				   "proc:%s is recorded without %u of its counters: an event has "
				   "room for %u",
				   e->name, nr, WM_CLASS_FIELDS_MAX);
}

int wm_serving_begin_proc(struct serving *s, struct wm_diag *diag)
{
	const struct wm_recording_proc *p = &s->o->proc;
	const pid_t ours[] = {getpid(), getppid()};
	int err =
	    wm_proc_source_create(s->writer, wm_rules_options(s->o->rules)->clock_kind, p->choices,
				  p->nr_choices, p->everything, ours, &s->proc, diag);

	if (err)
		return err;
	for (size_t i = 0; !err && i < p->nr_pids; i++)
		err = wm_proc_source_follow(s->proc, p->pids[i]);
	s->proc_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!err && s->proc_timer < 0)
		err = -errno;
	if (!err)
		err = wm_loop_fd(s->loop, s->proc_timer, EPOLLIN, on_due, s, NULL);
	if (err)
		return err;
	say_left_out(s);
	/* The first reading is what the counters were before anything of it began. */
	wm_proc_source_tick(s->proc, wm_clock_monotonic_ns());
	wait_for_next(s);
	return 0;
}

void wm_serving_follow_proc(struct serving *s, const struct wm_order_follow *o, size_t bytes)
{
	int err = s->proc && bytes == sizeof(*o) ? wm_proc_source_follow(s->proc, o->pid) : 0;

	if (bytes == sizeof(*o))
		s->command_pid = o->pid;
	if (err)
		wm_serving_trouble(s, "no memory to follow the processes of the command");
	if (s->proc)
		wait_for_next(s);
}

void wm_serving_last_proc(struct serving *s)
{
	if (s->proc)
		wm_proc_source_last(s->proc);
}

void wm_serving_end_proc(struct serving *s)
{
	if (s->proc)
		(void)wm_proc_source_flush(s->proc); /* errors are in the totals */
}

void wm_serving_release_proc(struct serving *s)
{
	if (!s->proc)
		return;
	if (s->proc_timer >= 0)
		close(s->proc_timer);
	wm_proc_source_destroy(s->proc);
	s->proc = NULL;
}
