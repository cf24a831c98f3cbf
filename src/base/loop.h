/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a small event loop over epoll: descriptors, timers, signals
 * (signalfd) and the end of processes (pidfd). One thread; no globals but the
 * thread's signal mask, which wm_loop_signal() changes and destroy restores.
 *
 * What is waited for is a watch. It lives until wm_watch_remove(), which may
 * be called from any callback, the watch's own included; after it returned,
 * the callback does not run again. Destroying the loop removes what is left.
 * A callback must not destroy the loop or call wm_loop_step().
 *
 * Meant for few timers (each insertion walks them) and many descriptors.
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
 * Waits at most timeout_ms (-1: for ever, 0: does not wait), runs what is due.
 * Returns the number of callbacks run, or -errno. A signal that is not
 * watched ends the wait early with 0.
 */
int wm_loop_step(struct wm_loop *l, int timeout_ms);

/* Steps until wm_loop_stop(); returns the value given there, or -errno. */
int wm_loop_run(struct wm_loop *l);
/* Makes wm_loop_run() return `result` (>= 0) once the step at hand is done. */
void wm_loop_stop(struct wm_loop *l, int result);

/* `ret` may be NULL everywhere below: the watch then lives as long as the loop. */

/*
 * Level-triggered; `events` are EPOLLIN, EPOLLOUT, EPOLLPRI. EPOLLHUP and
 * EPOLLERR are always reported. The descriptor stays the caller's: remove the
 * watch before closing it. -EPERM: a regular file, which cannot be waited for.
 */
int wm_loop_fd(struct wm_loop *l, int fd, uint32_t events,
	       void (*fn)(int fd, uint32_t events, void *data), void *data, struct wm_watch **ret);
int wm_watch_events(struct wm_watch *w, uint32_t events);

/*
 * Fires after first_ns, then every interval_ns (0: once; the watch stays, idle,
 * until set again or removed). Never early, at most about 1 ms late. Firings
 * that were missed are not made up for: the next one is a whole interval away.
 */
int wm_loop_timer(struct wm_loop *l, uint64_t first_ns, uint64_t interval_ns,
		  void (*fn)(void *data), void *data, struct wm_watch **ret);
/* Sets a timer anew. first_ns UINT64_MAX: idle. May be called from its callback. */
void wm_watch_timer(struct wm_watch *w, uint64_t first_ns, uint64_t interval_ns);

/*
 * Blocks the signal in this thread (do it before starting others) and reports
 * it; -EEXIST when it is watched already. A removed watch lets it through
 * again if it was let through before.
 */
int wm_loop_signal(struct wm_loop *l, int signo, void (*fn)(int signo, pid_t from, void *data),
		   void *data, struct wm_watch **ret);
/*
 * The same for each of SIGINT, SIGTERM and SIGHUP, unless it is ignored: whoever
 * started us (nohup) does not want it to end us. A shell without job control has
 * what it begins with & ignore SIGINT, for the terminal's is for others: one that
 * somebody sends is reported all the same.
 */
int wm_loop_signals_that_end(struct wm_loop *l, void (*fn)(int signo, pid_t from, void *data),
			     void *data);
/* The thread's mask as it was before the loop: what a child should get before exec. */
const sigset_t *wm_loop_original_mask(const struct wm_loop *l);

/*
 * The end of our own child, which is reaped; `status` as from waitpid(2). Runs
 * once; the watch stays, idle, until removed. -ESRCH: no such process.
 * -ECHILD is passed as status -1: somebody else reaped it.
 */
int wm_loop_child(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		  void *data, struct wm_watch **ret);
/* The end of any process; nothing is reaped and `status` is -1. */
int wm_loop_process(struct wm_loop *l, pid_t pid, void (*fn)(pid_t pid, int status, void *data),
		    void *data, struct wm_watch **ret);

/* Accepts NULL. */
void wm_watch_remove(struct wm_watch *w);

#endif
