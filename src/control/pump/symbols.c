/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - writes the kernel's symbols into the trace, in a helper process of the pump; see
 * pumproc_int.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/pump/pumproc_int.h"

#define HELPER_NICE 10 /* a nice value that gives the recorded program priority */

/*
 * The helper's main function. It is forked before tracing begins, so that it can be excluded. It
 * starts when the pump sends a byte, and exits when the pump does. Its exit status is the error, or
 * 0.
 */
static void __attribute__((noreturn)) be_the_helper(const char *dir, int gate)
{
	char *text, byte;
	size_t bytes;
	ssize_t got;
	int err;

	(void)prctl(PR_SET_NAME, "waymark-syms");
	(void)nice(HELPER_NICE);
	(void)dup2(gate, 0);
	/* The pump's rings and locks must end with the pump. */
	(void)syscall(SYS_close_range, 3, ~0u, 0);
	while ((got = read(0, &byte, 1)) < 0 && errno == EINTR)
		;
	if (got != 1)
		_exit(0);
	err = wm_kernel_symbols_read(&text, &bytes);
	if (!err)
		err = wm_writer_kernel_symbols(dir, text, bytes);
	_exit(-err);
}

static void say_no_symbols(struct wm_pumproc *p, const char *why)
{
	wm_pumproc_trouble(
	    p,
	    "the kernel's symbols are not in the trace (%s): its functions are shown "
	    "as addresses",
	    why);
}

static void start_helper(struct wm_pumproc *p)
{
	int gate[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
		say_no_symbols(p, wm_diag_errno(-errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		be_the_helper(p->o->dir, gate[0]);
	if (pid < 0)
		say_no_symbols(p, wm_diag_errno(-errno));
	(void)close(gate[0]);
	if (pid < 0) {
		(void)close(gate[1]);
		return;
	}
	p->symbols_helper = pid;
	p->symbols_gate = gate[1];
	if (p->kernel_events) /* not every kernel can exclude it; see wm_instance_exclude() */
		(void)wm_recorder_kernel_exclude(p->kernel_events, &pid, 1);
	p->symbols_begun = true;
	wm_pumproc_leave_out(p, pid);
}

/*
 * Forks a helper process: reading and compressing the symbols takes longer than the pump may leave
 * its rings unread. The pump waits for the helper at the end.
 */
void wm_pumproc_prepare_symbols(struct wm_pumproc *p)
{
	const struct wm_sampling *sampling = p->o->sources[WM_SOURCE_SAMPLES];

	/* The reader of a live trace uses the running kernel's symbols. */
	if (!p->o->live_bytes &&
	    ((sampling && wm_sampling_count(sampling)) ||
	     (p->kernel_events && wm_recorder_kernel_show_symbols(p->kernel_events))))
		start_helper(p);
}

/* Ignores EPIPE: waitpid() reports that the helper was killed. */
void wm_pumproc_keep_symbols(struct wm_pumproc *p)
{
	if (p->symbols_helper)
		(void)send(p->symbols_gate, "", 1, MSG_NOSIGNAL);
}

void wm_pumproc_want_symbols(struct wm_pumproc *p)
{
	if (p->symbols_begun)
		return;
	wm_pumproc_prepare_symbols(p);
	wm_pumproc_keep_symbols(p);
}

int wm_pumproc_end_symbols(struct wm_pumproc *p)
{
	int status = 0;

	if (!p->symbols_helper)
		return 0;
	(void)close(p->symbols_gate);
	while (waitpid(p->symbols_helper, &status, 0) < 0 && errno == EINTR)
		;
	p->symbols_helper = 0;
	return status;
}

void wm_pumproc_wait_for_symbols(struct wm_pumproc *p)
{
	int status = wm_pumproc_end_symbols(p);

	if (WIFSIGNALED(status))
		say_no_symbols(p, "the process that writes them was killed");
	else if (WEXITSTATUS(status))
		say_no_symbols(p,
			       WEXITSTATUS(status) == EACCES
				   ? "the kernel hides them: run as root; see kernel.kptr_restrict"
				   : wm_diag_errno(-WEXITSTATUS(status)));
	wm_writer_kernel_adopt(p->writer);
}
