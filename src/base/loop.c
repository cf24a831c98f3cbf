/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the event loop, see loop.h.
 *
 * Every watch except a timer is one descriptor in the epoll set; its epoll data is the address of
 * the watch. All signals share one signalfd, whose epoll data is the address of the loop. Timers
 * are a list sorted by deadline. A removed watch leaves the epoll set at once, but its memory is
 * freed at the end of the step, because the current batch of epoll events may still point to it.
 */
#include "base/loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"

#define BATCH     64
#define NS_PER_MS 1000000u

enum watch_kind { WATCH_FD, WATCH_TIMER, WATCH_SIGNAL, WATCH_CHILD, WATCH_PROCESS };

struct wm_watch {
	struct wm_loop *loop;
	struct wm_watch *prev, *next;     /* links in loop->all; `next` also links loop->dead */
	struct wm_watch *earlier, *later; /* in loop->timers */
	enum watch_kind kind;
	bool dead, queued; /* `queued`: the watch is in loop->timers */
	bool is_deaf;      /* a signal watch that ignores signals from the terminal */
	int fd;            /* FD: owned by the caller; CHILD, PROCESS: a pidfd, -1 after the exit */
	int signo;
	pid_t pid;
	uint64_t due_ns, interval_ns;
	union {
		void (*fd)(int fd, uint32_t events, void *data);
		void (*timer)(void *data);
		void (*signal)(int signo, pid_t from, void *data);
		void (*exit)(pid_t pid, int status, void *data);
	} fn;
	void *data;
};

struct wm_loop {
	int epoll, signals; /* `signals` is -1 until the first signal is watched */
	struct wm_watch *all, *dead, *timers;
	struct wm_watch *by_signal[_NSIG];
	sigset_t watched, original;
	bool stopped;
	int result;
};

int wm_loop_create(struct wm_loop **ret)
{
	struct wm_loop *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->signals = -1;
	sigemptyset(&l->watched);
	pthread_sigmask(SIG_SETMASK, NULL, &l->original);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0) {
		int err = -errno;

		free(l);
		return err;
	}
	*ret = l;
	return 0;
}

static void bury(struct wm_loop *l)
{
	while (l->dead) {
		struct wm_watch *w = l->dead;

		l->dead = w->next;
		free(w);
	}
}

void wm_loop_destroy(struct wm_loop *l)
{
	if (!l)
		return;
	while (l->all)
		wm_watch_remove(l->all);
	bury(l);
	if (l->signals >= 0)
		close(l->signals);
	close(l->epoll);
	free(l);
}

const sigset_t *wm_loop_original_mask(const struct wm_loop *l)
{
	return &l->original;
}

/* --- watches ----------------------------------------------------------- */

static struct wm_watch *watch_new(struct wm_loop *l, enum watch_kind kind, void *data)
{
	struct wm_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->loop = l;
	w->kind = kind;
	w->fd = -1;
	w->data = data;
	w->next = l->all;
	if (l->all)
		l->all->prev = w;
	l->all = w;
	return w;
}

static int watch_give(struct wm_watch *w, struct wm_watch **ret)
{
	if (ret)
		*ret = w;
	return 0;
}

static int epoll_change(struct wm_loop *l, int op, int fd, uint32_t events, void *datum)
{
	struct epoll_event e = {.events = events, .data.ptr = datum};

	return epoll_ctl(l->epoll, op, fd, &e) ? -errno : 0;
}

int wm_loop_fd(struct wm_loop *l, int fd, uint32_t events,
	       void (*fn)(int fd, uint32_t events, void *data), void *data, struct wm_watch **ret)
{
	struct wm_watch *w = watch_new(l, WATCH_FD, data);
	int err;

	if (!w)
		return -ENOMEM;
	w->fn.fd = fn;
	err = epoll_change(l, EPOLL_CTL_ADD, fd, events, w);
	if (err) {
		wm_watch_remove(w);
		return err;
	}
	w->fd = fd;
	return watch_give(w, ret);
}

/* --- timers ------------------------------------------------------------ */

static void timer_unqueue(struct wm_watch *w)
{
	if (!w->queued)
		return;
	if (w->earlier)
		w->earlier->later = w->later;
	else
		w->loop->timers = w->later;
	if (w->later)
		w->later->earlier = w->earlier;
	w->queued = false;
}

static void timer_queue(struct wm_watch *w)
{
	struct wm_watch *before = NULL, *after = w->loop->timers;

	for (; after && after->due_ns <= w->due_ns; after = after->later)
		before = after;
	w->earlier = before;
	w->later = after;
	if (before)
		before->later = w;
	else
		w->loop->timers = w;
	if (after)
		after->earlier = w;
	w->queued = true;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void wm_watch_timer(struct wm_watch *w, uint64_t first_ns, uint64_t interval_ns)
{
	timer_unqueue(w);
	w->interval_ns = interval_ns;
	if (first_ns == UINT64_MAX)
		return;
	w->due_ns = add_capped(wm_clock_monotonic_ns(), first_ns);
	timer_queue(w);
}

int wm_loop_timer(struct wm_loop *l, uint64_t first_ns, uint64_t interval_ns,
		  void (*fn)(void *data), void *data, struct wm_watch **ret)
{
	struct wm_watch *w = watch_new(l, WATCH_TIMER, data);

	if (!w)
		return -ENOMEM;
	w->fn.timer = fn;
	wm_watch_timer(w, first_ns, interval_ns);
	return watch_give(w, ret);
}

/* Runs the timers that are due. A timer that is restarted by its callback runs in a later step. */
static int timers_run(struct wm_loop *l)
{
	uint64_t now = wm_clock_monotonic_ns();
	int n = 0;

	while (l->timers && l->timers->due_ns <= now) {
		struct wm_watch *w = l->timers;

		timer_unqueue(w);
		if (w->interval_ns) {
			w->due_ns = add_capped(now, w->interval_ns);
			timer_queue(w);
		}
		w->fn.timer(w->data);
		n++;
	}
	return n;
}

/* --- signals ----------------------------------------------------------- */

static int signals_update(struct wm_loop *l)
{
	int fd = signalfd(l->signals, &l->watched, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (l->signals < 0) {
		int err = epoll_change(l, EPOLL_CTL_ADD, fd, EPOLLIN, l);

		if (err) {
			close(fd);
			return err;
		}
		l->signals = fd;
	}
	return 0;
}

static void signal_mask(int how, int signo)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signo);
	pthread_sigmask(how, &one, NULL);
}

static void signal_forget(struct wm_watch *w)
{
	struct wm_loop *l = w->loop;

	if (!w->signo)
		return;
	l->by_signal[w->signo] = NULL;
	sigdelset(&l->watched, w->signo);
	(void)signals_update(l); /* a smaller set of a valid signalfd cannot fail */
	if (!sigismember(&l->original, w->signo))
		signal_mask(SIG_UNBLOCK, w->signo);
}

int wm_loop_signal(struct wm_loop *l, int signo, void (*fn)(int signo, pid_t from, void *data),
		   void *data, struct wm_watch **ret)
{
	struct wm_watch *w;
	int err;

	if (signo <= 0 || signo >= _NSIG || signo == SIGKILL || signo == SIGSTOP)
		return -EINVAL;
	if (l->by_signal[signo])
		return -EEXIST;
	w = watch_new(l, WATCH_SIGNAL, data);
	if (!w)
		return -ENOMEM;
	w->fn.signal = fn;
	sigaddset(&l->watched, signo);
	err = signals_update(l);
	if (err) {
		sigdelset(&l->watched, signo);
		wm_watch_remove(w);
		return err;
	}
	signal_mask(SIG_BLOCK, signo);
	w->signo = signo;
	l->by_signal[signo] = w;
	return watch_give(w, ret);
}

int wm_loop_signals_that_end(struct wm_loop *l, void (*fn)(int signo, pid_t from, void *data),
			     void *data)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	int err = 0;

	for (size_t i = 0; err == 0 && i < sizeof(signals) / sizeof(signals[0]); i++) {
		bool ignored = wm_signal_is_ignored(signals[i]);
		struct wm_watch *w;

		if (ignored && signals[i] != SIGINT)
			continue;
		err = wm_loop_signal(l, signals[i], fn, data, &w);
		if (!err)
			w->is_deaf = ignored;
	}
	return err;
}

static int signals_run(struct wm_loop *l)
{
	struct signalfd_siginfo info;
	int n = 0;

	while (read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		struct wm_watch *w = info.ssi_signo < _NSIG ? l->by_signal[info.ssi_signo] : NULL;

		if (!w || (w->is_deaf && info.ssi_pid == 0))
			continue;
		w->fn.signal(w->signo, (pid_t)info.ssi_pid, w->data);
		n++;
	}
	return n;
}

/* --- process exits ------------------------------------------------------ */

static int watch_exit(struct wm_loop *l, enum watch_kind kind, pid_t pid,
		      void (*fn)(pid_t, int, void *), void *data, struct wm_watch **ret)
{
	struct wm_watch *w = watch_new(l, kind, data);
	int err;

	if (!w)
		return -ENOMEM;
	w->fn.exit = fn;
	w->pid = pid;
	w->fd = (int)syscall(SYS_pidfd_open, pid, 0); /* always close-on-exec */
	err = w->fd < 0 ? -errno : epoll_change(l, EPOLL_CTL_ADD, w->fd, EPOLLIN | EPOLLET, w);
	if (err) {
		wm_watch_remove(w);
		return err;
	}
	return watch_give(w, ret);
}

int wm_loop_child(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		  void *data, struct wm_watch **ret)
{
	return watch_exit(l, WATCH_CHILD, pid, fn, data, ret);
}

int wm_loop_process(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		    void *data, struct wm_watch **ret)
{
	return watch_exit(l, WATCH_PROCESS, pid, fn, data, ret);
}

static void exit_run(struct wm_watch *w)
{
	int status = -1;

	if (w->kind == WATCH_CHILD) {
		pid_t got = waitpid(w->pid, &status, WNOHANG);

		if (got == 0)
			/*
			 * A debugger still holds the process; epoll reports it again when the
			 * debugger detaches.
			 */
			return;
		if (got != w->pid)
			status = -1;
	}
	close(w->fd); /* this also removes it from the epoll set */
	w->fd = -1;
	w->fn.exit(w->pid, status, w->data);
}

/* --- removing and running ----------------------------------------------- */

void wm_watch_remove(struct wm_watch *w)
{
	struct wm_loop *l;

	if (!w || w->dead)
		return;
	l = w->loop;
	w->dead = true;
	timer_unqueue(w);
	if (w->kind == WATCH_SIGNAL)
		signal_forget(w);
	if (w->kind == WATCH_FD && w->fd >= 0)
		/* fails when the caller closed the descriptor, which removed it already */
		(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	if ((w->kind == WATCH_CHILD || w->kind == WATCH_PROCESS) && w->fd >= 0)
		close(w->fd);
	if (w->prev)
		w->prev->next = w->next;
	else
		l->all = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->next = l->dead;
	l->dead = w;
}

static int wait_ms(const struct wm_loop *l, int timeout_ms)
{
	uint64_t now, left_ms;

	if (!l->timers || timeout_ms == 0)
		return timeout_ms;
	now = wm_clock_monotonic_ns();
	if (l->timers->due_ns <= now)
		return 0;
	/* rounds up, so that no timer fires early */
	left_ms = (l->timers->due_ns - now - 1) / NS_PER_MS + 1;
	if (left_ms > INT_MAX)
		left_ms = INT_MAX;
	return timeout_ms >= 0 && (uint64_t)timeout_ms < left_ms ? timeout_ms : (int)left_ms;
}

static int dispatch(struct wm_loop *l, const struct epoll_event *e)
{
	struct wm_watch *w = e->data.ptr;

	if (e->data.ptr == l)
		return signals_run(l);
	if (w->dead)
		return 0;
	if (w->kind == WATCH_FD)
		w->fn.fd(w->fd, e->events, w->data);
	else
		exit_run(w);
	return 1;
}

int wm_loop_step(struct wm_loop *l, int timeout_ms)
{
	struct epoll_event batch[BATCH];
	int n = epoll_wait(l->epoll, batch, BATCH, wait_ms(l, timeout_ms));
	int ran = 0;

	if (n < 0 && errno != EINTR)
		return -errno;
	for (int i = 0; i < n; i++)
		ran += dispatch(l, &batch[i]);
	ran += timers_run(l);
	bury(l);
	return ran;
}

int wm_loop_run(struct wm_loop *l)
{
	l->stopped = false;
	while (!l->stopped) {
		int n = wm_loop_step(l, -1);

		if (n < 0)
			return n;
	}
	return l->result;
}

void wm_loop_stop(struct wm_loop *l, int result)
{
	l->stopped = true;
	l->result = result;
}
