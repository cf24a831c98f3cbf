/* SPDX-License-Identifier: MIT */
/* child.c - see child.h. Both pipes are close-on-exec: the command inherits nothing. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/signals.h"

#define STATUS_NOT_RUN 127

int wm_child_exec_create(enum wm_clock_kind clock, struct wm_child_exec **ret)
{
	struct wm_child_exec *e =
	    mmap(NULL, sizeof(*e), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (e == MAP_FAILED)
		return -errno;
	e->clock = clock;
	*ret = e;
	return 0;
}

void wm_child_exec_destroy(struct wm_child_exec *e)
{
	if (e)
		(void)munmap(e, sizeof(*e));
}

/* Reads one word: returns its size, 0 at end of file, or -errno. */
static ssize_t read_word(int fd, void *word, size_t bytes)
{
	ssize_t n;

	do {
		n = read(fd, word, bytes);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Resets signal handlers, because the handler functions do not exist in the new program. */
static void forget_handlers(void)
{
	for (int i = 1; i < NSIG; i++)
		if (!wm_signal_is_ignored(i))
			/* fails for signals whose handler cannot be set */
			(void)signal(i, SIG_DFL);
}

/* What the child needs; in the parent's memory, which the fork copies. */
struct command {
	const char *path;
	char *const *argv, *const *environment;
	const sigset_t *mask;
	struct wm_child_exec *exec; /* may be NULL */
};

static void __attribute__((noreturn)) be_the_command(const struct command *c, int hold, int error)
{
	char go;
	int err;

	if (read_word(hold, &go, 1) != 1)
		_exit(STATUS_NOT_RUN);
	forget_handlers();
	(void)sigprocmask(SIG_SETMASK, c->mask, NULL);
	if (c->exec)
		atomic_store_explicit(&c->exec->time, wm_clock_read(c->exec->clock),
				      memory_order_release);
	execvpe(c->path, c->argv, c->environment);
	err = errno;
	while (write(error, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(STATUS_NOT_RUN);
}

static void close_both(const int fds[2])
{
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* Forks a held child, with c->mask or the caller's mask. */
static int child_fork(struct command *c, struct wm_child *ret)
{
	int hold[2], error[2], err;
	sigset_t all, before;
	pid_t pid;

	/* A socketpair instead of a pipe: writing to a pipe whose reader died raises SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold) < 0)
		return -errno;
	if (pipe2(error, O_CLOEXEC) < 0) {
		err = -errno;
		close_both(hold);
		return err;
	}
	/* While held, the child blocks all signals; only SIGKILL ends it. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!c->mask)
		c->mask = &before;
	pid = fork();
	if (pid == 0) {
		(void)close(hold[1]);
		be_the_command(c, hold[0], error[1]);
	}
	err = pid < 0 ? -errno : 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)close(hold[0]);
	(void)close(error[1]);
	if (err < 0) {
		(void)close(hold[1]);
		(void)close(error[0]);
		return err;
	}
	*ret = (struct wm_child){pid, hold[1], error[0]};
	return 0;
}

int wm_child_hold_with(char *const *argv, char *const *environment, const sigset_t *mask,
		       struct wm_child_exec *exec, struct wm_child *ret)
{
	char *path = wm_program_find(argv[0], getenv("PATH"));
	/* If the name is not found, execvp(3) provides the errno. */
	struct command c = {path ? path : argv[0], argv, environment, mask, exec};
	int err = child_fork(&c, ret);

	free(path);
	return err;
}

int wm_child_hold(char *const *argv, const sigset_t *mask, struct wm_child *ret)
{
	return wm_child_hold_with(argv, environ, mask, NULL, ret);
}

static void child_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int wm_child_go(struct wm_child *c)
{
	const char go = 1;
	int err = 0;
	ssize_t n;

	do {
		n = send(c->hold, &go, 1, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	(void)close(c->hold);
	n = read_word(c->error, &err, sizeof(err));
	(void)close(c->error);
	if (n != (ssize_t)sizeof(err))
		return 0;
	child_reap(c->pid);
	return -err;
}

void wm_child_drop(struct wm_child *c)
{
	(void)close(c->hold);
	(void)close(c->error);
	child_reap(c->pid);
}
