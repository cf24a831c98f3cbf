/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - a recording from beginning to end: a session, the pump process that writes its
 * trace, and the recorded processes: CMD, processes that are already running, or all processes on
 * the machine.
 *
 *   wm_recorder_create()   everything is prepared, nothing runs, nothing is recorded
 *   wm_recorder_begin()    RUNNING: attaches to processes, releases CMD
 *   wm_recorder_wait()     RUNNING --CMD ended, targets gone, end()--> ENDING --DONE--> OVER
 *
 * CMD is a child of this process in the same process group, and is held until the kernel follows
 * it. The pump process is in its own session and ends on request, or when this process ends; after
 * its end, CMD continues and its status is still reported.
 *
 * Files: recorder.c the phases, events.c resolves names, threads_and_cpus.c single threads and
 * CPUs, targets.c processes that are already running, kernel_tasks.c the tasks the kernel follows,
 * environment.c CMD's environment, check_filters.c whether filters fit. Prints nothing, and handles
 * no signals; one thread.
 */
#ifndef WM_CONTROL_RECORDER_H
#define WM_CONTROL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/words.h"
#include "control/live.h"
#include "control/pump/channel.h"
#include "control/recorder/events.h"

/* Most ids of processes or threads; one argument of a command has room for about as many. */
#define WM_RECORDER_TARGETS_MAX 16384u

/* The caller owns everything; it must live as long as the recorder. */
struct wm_recorder_plan {
	struct wm_recorder_events *events;
	/* How many of the first rules the user requested; 0: all events, by default. */
	uint32_t nr_asked;
	const char *dir; /* the trace's folder */
	/*
	 * To read the trace while it is recorded: `dir` is then the live folder, and reports also
	 * go to `report`. NULL: not live.
	 */
	struct wm_live *live;
	void (*report)(void *data, const struct wm_report *report);
	void *report_data;
	enum wm_trace_format format;
	const char *preload; /* for example "malloc,pthread" or "none"; NULL: only the runtime */
	bool all;            /* every process */
	bool quiet;          /* only messages about problems */
	bool counts;         /* nothing is recorded, only counted: see counting.h */
	/*
	 * When counting: kernel events are counted, too, so it is no failure if a process has no
	 * marks.
	 */
	bool beside;
	const pid_t *pids;
	size_t nr_pids;
	/* Only these threads in the processes; NULL: all threads and their children. */
	const pid_t *tids;
	size_t nr_tids;
	const int *cpus; /* record only events on these CPUs; NULL: on all CPUs */
	size_t nr_cpus;
	/* NULL-terminated; NULL: no command. With pids or all, CMD is not recorded. */
	char *const *command;
	const struct wm_words *words;
	/*
	 * From the environment: $PATH, $XDG_RUNTIME_DIR, the folder that contains waymark's own
	 * file, environ.
	 */
	const char *search, *runtime_dir, *folder;
	char *const *environment;
};

/* Values for diag->where: CMD could not be run, or processes could not be attached to. */
#define WM_RECORDER_IN_COMMAND "command"
#define WM_RECORDER_IN_TARGETS "processes"

/*
 * The folder that contains this executable, without a trailing '/': libraries are found relative to
 * it. Returns 0 or -errno.
 */
int wm_recorder_own_folder(char *buf, size_t size);

struct wm_recorder;

/*
 * Prepares a recording. Returns 0, or -errno with diag, leaving nothing behind, not even the
 * trace's folder, unless the folder itself failed.
 */
int wm_recorder_create(const struct wm_recorder_plan *plan, struct wm_recorder **ret,
		       struct wm_diag *diag);

/* Ends everything except CMD, as if the caller had died. Accepts NULL. */
void wm_recorder_destroy(struct wm_recorder *r);

/*
 * Begins to record. Returns 0, or -errno with diag; the recording then ends, and waiting for it
 * leaves a complete, empty trace.
 */
int wm_recorder_begin(struct wm_recorder *r, struct wm_diag *diag);

/*
 * Waits until the trace is complete and CMD has ended. Returns 1, 0 on timeout (-1: no timeout), or
 * -errno.
 */
int wm_recorder_wait(struct wm_recorder *r, int timeout_ms);

/* Performs one step of that wait. Returns 1 when both have ended, else 0; or -errno. */
int wm_recorder_step(struct wm_recorder *r, int timeout_ms);

/* Waits until the trace is complete; CMD may continue. Returns 0 or -errno. */
int wm_recorder_finish(struct wm_recorder *r);

/* Stops recording; the trace is complete soon afterwards. */
void wm_recorder_end(struct wm_recorder *r);
void wm_recorder_abandon(struct wm_recorder *r); /* lets no more processes join */
int wm_recorder_snapshot(struct wm_recorder *r); /* has the pump process write its buffers */
int wm_recorder_look(struct wm_recorder *r);     /* calls wm_live_look() for the plan's `live` */

/*
 * Returns the event loop, which the recorder runs while it waits; the caller may add signals and
 * timers.
 */
struct wm_loop *wm_recorder_loop(struct wm_recorder *r);
/* CMD's pid; 0: none, or it has ended. */
pid_t wm_recorder_command(const struct wm_recorder *r);
/* As in command.h: handles a signal that waymark received; asks CMD to end. */
bool wm_recorder_signal(struct wm_recorder *r, int signo, pid_t from);
void wm_recorder_stop_command(struct wm_recorder *r, int signo);

/* Reports why processes given by -p have not joined. Returns the number of such processes. */
uint32_t wm_recorder_say_missing(const struct wm_recorder *r);

struct wm_recorder_result {
	bool done;       /* the last report was received: `totals` and `err` are set */
	bool is_lost;    /* the pump process ended without a last report */
	int pump_status; /* if is_lost: its status as from waitpid(2) */
	int err;         /* the trace's last error */
	int status;      /* CMD's status as from waitpid(2); -1: unknown, or CMD has not ended */
	struct wm_recording_totals totals; /* in a live recording, those at the last batch */
};
void wm_recorder_result(const struct wm_recorder *r, struct wm_recorder_result *ret);

/*
 * Calls fn for each event in CMD's file until it returns nonzero; returns that value. Does not find
 * events in scripts and libraries.
 */
struct wm_elf_event;
int wm_recorder_each_event(const struct wm_recorder_plan *plan,
			   int (*fn)(const struct wm_class *c, const struct wm_elf_event *e,
				     void *data),
			   void *data);

#endif
