/* SPDX-License-Identifier: MIT */
/* loop_test.c - the event loop: each kind of watch, removal from callbacks, timing. */
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define MS 1000000u

static int setup(void **state)
{
	return wm_loop_create((struct wm_loop **)state);
}

static int teardown(void **state)
{
	wm_loop_destroy(*state);
	return 0;
}

struct pipes {
	struct wm_watch *watch[2];
	int ran;
};

/* Whichever callback runs first removes both watches: the other must not run. */
static void remove_both(int fd, uint32_t events, void *data)
{
	struct pipes *p = data;

	assert_true(events & EPOLLIN);
	p->ran++;
	wm_watch_remove(p->watch[0]);
	wm_watch_remove(p->watch[1]);
}

static void test_remove_in_batch(void **state)
{
	struct wm_loop *l = *state;
	struct pipes p = {.ran = 0};
	int a[2], b[2];

	assert_int_equal(pipe(a) | pipe(b), 0);
	assert_int_equal(wm_loop_fd(l, a[0], EPOLLIN, remove_both, &p, &p.watch[0]), 0);
	assert_int_equal(wm_loop_fd(l, b[0], EPOLLIN, remove_both, &p, &p.watch[1]), 0);
	assert_int_equal(wm_loop_step(l, 0), 0);
	assert_int_equal(write(a[1], "x", 1) + write(b[1], "x", 1), 2);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(wm_loop_step(l, 0), 0);
	assert_int_equal(p.ran, 1);
	close(a[0]), close(a[1]), close(b[0]), close(b[1]);
}

static void count_fd(int fd, uint32_t events, void *data)
{
	++*(int *)data;
}

static void test_fd_events(void **state)
{
	struct wm_loop *l = *state;
	struct wm_watch *w;
	int ran = 0, p[2];
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(wm_loop_fd(l, file, EPOLLIN, count_fd, &ran, &w), -EPERM);
	close(file);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(wm_loop_fd(l, p[1], 0, count_fd, &ran, &w), 0);
	assert_int_equal(wm_loop_step(l, 0), 0);
	wm_watch_remove(w);
	assert_int_equal(wm_loop_fd(l, p[1], EPOLLOUT, count_fd, &ran, &w), 0);
	assert_int_equal(wm_loop_step(l, 0), 1);
	assert_int_equal(wm_loop_step(l, 0), 1); /* level-triggered */
	wm_watch_remove(w);
	assert_int_equal(wm_loop_step(l, 0), 0);
	assert_int_equal(ran, 2);
	close(p[0]), close(p[1]);
}

struct ticks {
	struct wm_loop *loop;
	struct wm_watch *watch;
	char order[16];
	int n;
};

static void tick_a(void *data)
{
	struct ticks *t = data;

	t->order[t->n++] = 'a';
	if (t->n > 8)
		wm_loop_stop(t->loop, 7);
}

static void tick_b(void *data)
{
	struct ticks *t = data;

	t->order[t->n++] = 'b';
}

static void test_timers(void **state)
{
	struct wm_loop *l = *state;
	struct ticks t = {.loop = l};
	struct wm_watch *idle;
	uint64_t before = wm_clock_monotonic_ns();

	/* The earlier timer runs first, even when the step comes after both deadlines. */
	assert_int_equal(wm_loop_timer(l, 1 * MS, 0, tick_b, &t, NULL), 0);
	assert_int_equal(wm_loop_timer(l, 2 * MS, 2 * MS, tick_a, &t, &t.watch), 0);
	assert_int_equal(wm_loop_timer(l, UINT64_MAX, 0, tick_b, &t, &idle), 0);
	assert_int_equal(wm_loop_run(l), 7);
	assert_string_equal(t.order, "baaaaaaaa");
	assert_true(wm_clock_monotonic_ns() - before >= 16 * MS);
	wm_watch_timer(t.watch, UINT64_MAX, 0);
	wm_watch_timer(idle, 0, 0);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(wm_loop_step(l, 3), 0);
	assert_string_equal(t.order, "baaaaaaaab");
}

struct signals {
	int n, signo;
	pid_t from;
};

static void on_signal(int signo, pid_t from, void *data)
{
	struct signals *s = data;

	s->n++;
	s->signo = signo;
	s->from = from;
}

static void test_signals(void **state)
{
	struct wm_loop *l = *state;
	struct signals s = {0};
	struct wm_watch *usr1, *again;
	sigset_t now;

	assert_int_equal(wm_loop_signal(l, SIGKILL, on_signal, &s, NULL), -EINVAL);
	assert_int_equal(wm_loop_signal(l, SIGUSR1, on_signal, &s, &usr1), 0);
	assert_int_equal(wm_loop_signal(l, SIGUSR1, on_signal, &s, &again), -EEXIST);
	assert_int_equal(wm_loop_signal(l, SIGUSR2, on_signal, &s, NULL), 0);
	kill(getpid(), SIGUSR1);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(s.signo, SIGUSR1);
	assert_int_equal(s.from, getpid());
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	assert_int_equal(wm_loop_step(l, -1), 2);
	wm_watch_remove(usr1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	assert_false(sigismember(&now, SIGUSR1));
	assert_true(sigismember(&now, SIGUSR2));
	assert_false(sigismember(wm_loop_original_mask(l), SIGUSR2));
	assert_int_equal(wm_loop_signal(l, SIGUSR1, on_signal, &s, &usr1), 0);
}

struct exits {
	struct wm_loop *loop;
	pid_t pid;
	int status, n;
};

static void on_exit_of(pid_t pid, int status, void *data)
{
	struct exits *e = data;

	e->pid = pid;
	e->status = status;
	e->n++;
}

/* As under nohup: the ignored SIGHUP is dropped and the other signals are reported. */
static void test_ignored_signals(void **state)
{
	struct wm_loop *l = *state;
	struct signals s = {0};

	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	assert_int_equal(wm_loop_signals_that_end(l, on_signal, &s), 0);
	raise(SIGHUP);
	raise(SIGTERM);
	assert_int_equal(wm_loop_step(l, 5000), 1);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.signo, SIGTERM);
	assert_int_equal(wm_loop_step(l, 0), 0);
	kill(getpid(), SIGINT);
	assert_int_equal(wm_loop_step(l, 5000), 1);
	assert_int_equal(s.signo, SIGINT);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
}

static pid_t child(int signo, int code)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (signo)
		kill(getpid(), signo);
	_exit(code);
}

static void test_child(void **state)
{
	struct wm_loop *l = *state;
	struct exits e = {.loop = l};
	struct wm_watch *w;
	pid_t pid = child(0, 42);

	assert_int_equal(wm_loop_child(l, pid, on_exit_of, &e, &w), 0);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(e.pid, pid);
	assert_true(WIFEXITED(e.status));
	assert_int_equal(WEXITSTATUS(e.status), 42);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); /* reaped */
	assert_int_equal(wm_loop_step(l, 0), 0);
	wm_watch_remove(w);

	pid = child(SIGKILL, 0);
	assert_int_equal(wm_loop_process(l, pid, on_exit_of, &e, NULL), 0);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(e.status, -1);
	assert_int_equal(waitpid(pid, &e.status, 0), pid); /* not reaped */
	assert_true(WIFSIGNALED(e.status));
	assert_int_equal(e.n, 2);
	assert_int_equal(wm_loop_child(l, pid, on_exit_of, &e, &w), -ESRCH);
}

static void test_reaped_elsewhere(void **state)
{
	struct wm_loop *l = *state;
	struct exits e = {.loop = l};
	pid_t pid = child(0, 3);

	assert_int_equal(wm_loop_child(l, pid, on_exit_of, &e, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(wm_loop_step(l, -1), 1);
	assert_int_equal(e.status, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_remove_in_batch, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fd_events, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_timers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_ignored_signals, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_child, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_reaped_elsewhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
