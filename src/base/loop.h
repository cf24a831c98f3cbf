/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a small event loop over epoll: descriptors, timers, signals (signalfd) and process exits
 * (pidfd). One thread; the only global state is the thread's signal mask, which wm_loop_signal()
 * changes and wm_loop_destroy() restores.
 *
 * Each thing waited for is a watch. A watch lives until wm_watch_remove(), which any callback may
 * call, even the watch's own; once it returns, the callback does not run again. Destroying the loop
 * removes the remaining watches. A callback must not destroy the loop or call wm_loop_step().
 *
 * Meant for few timers (each insertion walks the list) and many descriptors.
 */
#ifndef WM_BASE_LOOP_H
#define WM_BASE_LOOP_H

#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

struct wm_loop;
struct wm_watch;

int wm_loop_create(struct wm_loop **ret);
void wm_loop_destroy(struct wm_loop *l); /* accepts NULL */

/*
 * Waits at most timeout_ms (-1: for ever, 0: not at all), then runs the callbacks that are due.
 * Returns the number of callbacks run, or -errno. A signal that is not watched ends the wait early
 * with 0.
 */
int wm_loop_step(struct wm_loop *l, int timeout_ms);

/* Steps until wm_loop_stop(); returns the value given there, or -errno. */
int wm_loop_run(struct wm_loop *l);
/* Makes wm_loop_run() return `result` (>= 0) at the end of the current step. */
void wm_loop_stop(struct wm_loop *l, int result);

/* In all functions below, `ret` may be NULL: the watch then lives as long as the loop. */

/*
 * Level-triggered; `events` are EPOLLIN, EPOLLOUT, EPOLLPRI. EPOLLHUP and EPOLLERR are always
 * reported. The caller keeps the descriptor: remove the watch before closing it. -EPERM: a regular
 * file, which epoll does not accept.
 */
int wm_loop_fd(struct wm_loop *l, int fd, uint32_t events,
	       void (*fn)(int fd, uint32_t events, void *data), void *data, struct wm_watch **ret);

/*
 * Fires after first_ns, then every interval_ns (0: once; the watch then stays idle until set again
 * or removed). Never early, at most about 1 ms late. Missed firings are dropped: the next one is a
 * whole interval later.
 */
int wm_loop_timer(struct wm_loop *l, uint64_t first_ns, uint64_t interval_ns,
		  void (*fn)(void *data), void *data, struct wm_watch **ret);
/* Restarts a timer. first_ns UINT64_MAX: idle. May be called from its callback. */
void wm_watch_timer(struct wm_watch *w, uint64_t first_ns, uint64_t interval_ns);

/*
 * Blocks the signal in this thread (call before starting other threads) and reports it; -EEXIST
 * when it is watched already. Removing the watch unblocks the signal if it was not blocked before.
 */
int wm_loop_signal(struct wm_loop *l, int signo, void (*fn)(int signo, pid_t from, void *data),
		   void *data, struct wm_watch **ret);
/*
 * Like wm_loop_signal(), for each of SIGINT, SIGTERM and SIGHUP that is not ignored: programs such
 * as nohup ignore a signal so that it does not end the command. SIGINT is watched even when
 * ignored, because a shell without job control ignores it for `CMD &` only to keep the terminal's
 * Ctrl-C away. In that case, an interrupt from the terminal is dropped and one sent by a process is
 * reported.
 */
int wm_loop_signals_that_end(struct wm_loop *l, void (*fn)(int signo, pid_t from, void *data),
			     void *data);
/* The thread's signal mask before the loop was created: a child restores it before exec. */
const sigset_t *wm_loop_original_mask(const struct wm_loop *l);

/*
 * Watches for the exit of a child of this process and reaps it; `status` is as from waitpid(2), or
 * -1 when other code reaped the child. The callback runs once; the watch stays idle until removed.
 * -ESRCH: no such process.
 */
int wm_loop_child(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		  void *data, struct wm_watch **ret);
/* Watches for the exit of any process, which is not reaped; `status` is -1. */
int wm_loop_process(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		    void *data, struct wm_watch **ret);

/* Accepts NULL. */
void wm_watch_remove(struct wm_watch *w);

#endif
