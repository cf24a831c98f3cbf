/* SPDX-License-Identifier: MIT */
/* start.c - forks the pump process and waits until it is ready. */
#include "control/pump/pumproc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/pump/pumproc_int.h"

static int pump_start_by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/*
 * Closes all descriptors from 3 on except these: the command's pipes must not stay open in the pump
 * process.
 */
static void close_others(int *keep, size_t nr)
{
	unsigned next = 3;

	qsort(keep, nr, sizeof(*keep), pump_start_by_value);
	for (size_t i = 0; i < nr; i++) {
		if (keep[i] < (int)next)
			continue;
		if (keep[i] > (int)next)
			(void)syscall(SYS_close_range, next, (unsigned)keep[i] - 1, 0);
		next = (unsigned)keep[i] + 1;
	}
	(void)syscall(SYS_close_range, next, ~0u, 0);
}

/*
 * Resets signal handlers, because the command's handlers would run the command's code in the pump
 * process.
 */
static void forget_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL); /* fails for SIGKILL and SIGSTOP */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void leave_the_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid(); /* Ctrl-C is meant for the command, which sends STOP */
	(void)prctl(PR_SET_NAME, "waymark-pump");
	if (null < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		(void)dup2(null, fd);
	if (null > 2)
		close(null);
}

struct fds {
	int *fds;
	size_t nr;
};

static int add_fds(struct fds *to, const int *fds, size_t nr)
{
	int *more = reallocarray(to->fds, to->nr + nr + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	if (nr)
		memcpy(more + to->nr, fds, nr * sizeof(*fds));
	to->fds = more;
	to->nr += nr;
	return 0;
}

static int add_fds_of_sources(struct fds *to, const struct wm_recording_options *o)
{
	int err = 0;

	for (unsigned i = 0; i < WM_SOURCES_NR && !err; i++) {
		int *fds = NULL, nr;

		if (!o->sources[i] || !wm_sources[i]->fds)
			continue;
		nr = wm_sources[i]->fds(o->sources[i], &fds);
		err = nr < 0 ? nr : add_fds(to, fds, (size_t)nr);
		free(fds);
	}
	return err;
}

static void __attribute__((noreturn)) run_pumproc(const struct wm_recording_options *o, int channel)
{
	const int always[] = {channel, o->session->dirfd, o->session->listen_fd,
			      o->session->lock_fd, o->live_bytes ? o->live_lock_fd : channel};
	struct fds keep = {0};

	forget_signals();
	leave_the_terminal();
	if (add_fds(&keep, always, sizeof(always) / sizeof(always[0])) ||
	    add_fds_of_sources(&keep, o))
		_exit(1);
	close_others(keep.fds, keep.nr);
	free(keep.fds);
	_exit(wm_pumproc_main(o, channel) < 0 ? 1 : 0);
}

/*
 * Forks the process. Signals are blocked, so that none of the command's handlers runs in the pump
 * process before it is reset. The child has only this one of the host's threads, and locks that
 * other threads held stay locked. The C library resets its allocator's and its streams' locks, but
 * not those of its calendar functions; so the pump process must not call these
 * (wm_moment_print_utc() does not), load a library, or look up user or host names. record_test.c in
 * room api tests this, with threads that hold these locks most of the time.
 */
static pid_t fork_quietly(const struct wm_recording_options *o, int channel)
{
	sigset_t all, before;
	pid_t pid;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		run_pumproc(o, channel);
	pid = pid < 0 ? -errno : pid;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Returns the process's wait status. */
static int pump_start_reap(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int say_early_end(int status, struct wm_diag *diag)
{
	if (WIFSIGNALED(status))
		return wm_diag_set(diag, -ECHILD, NULL, -1,
				   "signal %d (%s) ended the pump process before it was ready",
				   WTERMSIG(status), strsignal(WTERMSIG(status)));
	return wm_diag_set(diag, -ECHILD, NULL, -1,
			   "the pump process exited with status %d before it was ready",
			   WEXITSTATUS(status));
}

int wm_pumproc_start(const struct wm_recording_options *o, struct wm_channel *ret,
		     struct wm_diag *diag)
{
	struct wm_channel c;
	struct wm_report report;
	int pair[2], got, status;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	c = (struct wm_channel){.fd = pair[0]};
	c.pid = fork_quietly(o, pair[1]);
	if (c.pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return c.pid;
	}
	close(pair[1]);
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (o->sources[i] && wm_sources[i]->forked)
			wm_sources[i]->forked(o->sources[i]);
	got = wm_channel_read(&c, true, &report);
	if (got == 1 && report.kind == WM_REPORT_READY) {
		*ret = c;
		return 0;
	}
	wm_channel_done(&c);
	status = pump_start_reap(c.pid);
	if (got != 1 || report.kind != WM_REPORT_FAILED || report.err >= 0)
		return say_early_end(status, diag);
	return wm_diag_set(diag, report.err, NULL, -1, "%s", report.sentence);
}
