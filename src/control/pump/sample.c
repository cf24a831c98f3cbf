/* SPDX-License-Identifier: MIT */
/* sample.c - sampling in the pump process; see pump_int.h and sampling.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/words.h"
#include "control/pump/pump_int.h"

#define HELPER_NICE 10 /* the recorded program goes first */

/* --- the kernel's symbols ---------------------------------------------------------------- */

/*
 * It is there before anything is traced, for it is one of us, and begins when the
 * pump says so; a pump that is gone says nothing. Its status is the error, 0 for none.
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
	(void)syscall(SYS_close_range, 3, ~0u,
		      0); /* the pump's rings and locks end with the pump */
	while ((got = read(0, &byte, 1)) < 0 && errno == EINTR)
		;
	if (got != 1)
		_exit(0);
	err = wm_kernel_symbols_read(&text, &bytes);
	if (!err)
		err = wm_trace_kernel_symbols(dir, text, bytes);
	_exit(-err);
}

static void say_no_symbols(struct serving *s, const char *why)
{
	wm_serving_trouble(
	    s,
	    "the kernel's symbols are not in the trace (%s): its functions are shown "
	    "by their addresses",
	    why);
}

static void start_helper(struct serving *s)
{
	int gate[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
		say_no_symbols(s, wm_diag_errno(-errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		be_the_helper(s->o->dir, gate[0]);
	if (pid < 0)
		say_no_symbols(s, wm_diag_errno(-errno));
	(void)close(gate[0]);
	if (pid < 0) {
		(void)close(gate[1]);
		return;
	}
	s->symbols_helper = pid;
	s->symbols_gate = gate[1];
	if (s->kernel_events) /* a kernel that cannot shows it; see wm_instance_exclude() */
		(void)wm_kernel_events_exclude(s->kernel_events, &pid, 1);
	s->symbols_begun = true;
	if (s->samples)
		wm_sample_source_leave_out(s->samples, pid);
}

/*
 * Reading and packing them takes longer than the pump may be away from its
 * rings: a process of its own does it, and is waited for at the end.
 */
static void prepare_symbols(struct serving *s)
{
	/* Who reads a live one asks the kernel that runs. */
	if (!s->o->live_bytes &&
	    ((s->samples && wm_sampling_count(s->o->sampling)) ||
	     (s->kernel_events && wm_kernel_events_show_symbols(s->kernel_events))))
		start_helper(s);
}

/* Nobody is there to take the word when the helper was killed: its status says so. */
static void keep_symbols(struct serving *s)
{
	if (s->symbols_helper)
		(void)send(s->symbols_gate, "", 1, MSG_NOSIGNAL);
}

void wm_serving_want_symbols(struct serving *s)
{
	if (s->symbols_begun)
		return;
	prepare_symbols(s);
	keep_symbols(s);
}

static int end_helper(struct serving *s)
{
	int status = 0;

	if (!s->symbols_helper)
		return 0;
	(void)close(s->symbols_gate);
	while (waitpid(s->symbols_helper, &status, 0) < 0 && errno == EINTR)
		;
	s->symbols_helper = 0;
	return status;
}

static void wait_for_symbols(struct serving *s)
{
	int status = end_helper(s);

	if (WIFSIGNALED(status))
		say_no_symbols(s, "the process that packs them was killed");
	else if (WEXITSTATUS(status))
		say_no_symbols(s, WEXITSTATUS(status) == EACCES
				      ? "it hides them: run as root, see kernel.kptr_restrict"
				      : wm_diag_errno(-WEXITSTATUS(status)));
	wm_trace_kernel_adopt(s->writer);
}

int wm_serving_begin_sampling(struct serving *s, struct wm_diag *diag)
{
	int err = wm_sampling_source(s->o->sampling, s->writer, &s->clock, &s->samples, diag);

	if (!err)
		prepare_symbols(s);
	if (!err && wm_sampling_count(s->o->sampling))
		wm_trace_writer_samples(s->writer, wm_sampler_regs(), 0);
	return err;
}

/* --- rings ----------------------------------------------------------------------------------- */

/* Wakes the loop; a ring nobody writes to any more would wake it forever. */
static void on_ring(int fd, uint32_t events, void *data)
{
	struct wm_watch **watch = data;

	(void)fd;
	if (!(events & (EPOLLHUP | EPOLLERR)))
		return;
	wm_watch_remove(*watch);
	*watch = NULL;
}

static int watch_rings(struct serving *s)
{
	struct wm_sampler *sampler = wm_sample_source_sampler(s->samples);
	size_t nr = wm_sampler_nr_cpus(sampler);
	int err = 0;

	s->ring_watches = calloc(nr, sizeof(struct wm_watch *));
	if (!s->ring_watches)
		return -ENOMEM;
	s->nr_ring_watches = nr;
	for (size_t i = 0; i < nr && !err; i++)
		if (wm_sampler_ring(sampler, i))
			err = wm_loop_fd(s->loop, wm_sampler_fd(sampler, i), EPOLLIN, on_ring,
					 &s->ring_watches[i], &s->ring_watches[i]);
	return err;
}

void wm_serving_sample(struct serving *s, const struct wm_order_sample *o, size_t bytes)
{
	const pid_t ours[] = {getpid(), getppid()};
	struct wm_report r = {.kind = WM_REPORT_SAMPLING};
	struct wm_diag diag = {.offset = -1};
	struct wm_sampling_whom whom;
	struct wm_kernel_text text;
	int err = -EINVAL;

	if (s->samples && !wm_sample_source_sampler(s->samples) && bytes >= sizeof(*o) &&
	    bytes == sizeof(*o) + (size_t)o->nr_tids * sizeof(pid_t)) {
		whom = (struct wm_sampling_whom){o->tids, o->nr_tids, o->alone, o->on_exec};
		err = wm_sampling_begin(s->o->sampling, s->samples, &whom, ours, 2,
					wm_kernel_text_find(&text) ? NULL : &text, &diag);
	}
	if (!err)
		err = watch_rings(s);
	r.err = err < 0 ? err : 0;
	(void)snprintf(r.sentence, sizeof(r.sentence), "%s", wm_words_of(r.err, &diag));
	wm_serving_report(s, &r, true);
	keep_symbols(s);
}

void wm_serving_stop_sampling(struct serving *s)
{
	if (s->samples && wm_sample_source_sampler(s->samples))
		wm_sampler_stop(wm_sample_source_sampler(s->samples));
}

void wm_serving_end_sampling(struct serving *s)
{
	struct wm_source_totals t;

	if (!s->samples && s->symbols_begun)
		wait_for_symbols(s);
	if (!s->samples)
		return;
	wm_serving_stop_sampling(s);
	(void)wm_sample_source_finish(s->samples); /* errors are in the totals */
	wm_sample_source_totals(s->samples, &t);
	if (wm_sampling_count(s->o->sampling))
		wm_trace_writer_samples(s->writer, wm_sampler_regs(),
					t.more[WM_SAMPLE_MORE_CLOCK_ERROR_NS]);
	wait_for_symbols(s);
}

void wm_serving_release_sampling(struct serving *s)
{
	for (size_t i = 0; i < s->nr_ring_watches; i++)
		if (s->ring_watches[i])
			wm_watch_remove(s->ring_watches[i]);
	free(s->ring_watches);
	s->ring_watches = NULL;
	s->nr_ring_watches = 0;
	(void)end_helper(s); /* of a recording that did not begin */
	wm_sample_source_destroy(s->samples);
	s->samples = NULL;
}
