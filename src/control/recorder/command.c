/* SPDX-License-Identifier: MIT */
/* command.c - see command.h. */
#include "control/recorder/command.h"

#include <signal.h>

#include "base/clock.h"

/* A second signal within this time is a duplicate, sent to both the group and its leader. */
#define AGAIN_NS 100000000u

static void command_on_end(pid_t pid, int status, void *data)
{
	struct wm_command *c = data;

	(void)pid;
	c->pid = 0;
	c->status = status;
	wm_watch_remove(c->grace);
	c->grace = NULL;
	c->ended(c->data);
}

int wm_command_go(struct wm_command *c, struct wm_loop *loop, struct wm_child *child,
		  void (*ended)(void *data), void *data)
{
	int err;

	*c = (struct wm_command){.loop = loop, .status = -1, .ended = ended, .data = data};
	err = wm_loop_child(loop, child->pid, command_on_end, c, &c->end);
	if (err) {
		wm_child_drop(child);
		return err;
	}
	err = wm_child_go(child);
	if (err)
		wm_watch_remove(c->end);
	else
		c->pid = child->pid;
	return err;
}

/* Sends a signal. The pid is valid until the child is reaped. */
static void command_tell(const struct wm_command *c, int signo)
{
	if (c->pid)
		(void)kill(c->pid, signo);
}

bool wm_command_signal(struct wm_command *c, int signo, pid_t from)
{
	uint64_t now = wm_clock_monotonic_ns();

	if (!c->told_ns) {
		c->told_ns = now;
		if (from != 0)
			command_tell(c, signo);
		return true;
	}
	if (now - c->told_ns < AGAIN_NS)
		return true;
	command_tell(c, SIGKILL);
	return c->pid != 0;
}

static void command_on_grace_over(void *data)
{
	command_tell(data, SIGKILL);
}

void wm_command_stop(struct wm_command *c, int signo)
{
	if (!c->pid || c->grace)
		return;
	if (signo)
		command_tell(c, signo);
	c->told_ns = c->told_ns ? c->told_ns : wm_clock_monotonic_ns();
	/* If there is no memory for a timer, the grace period is omitted. */
	if (wm_loop_timer(c->loop, WM_COMMAND_GRACE_NS, 0, command_on_grace_over, c, &c->grace))
		command_on_grace_over(c);
}
