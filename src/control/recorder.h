/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - a recording from its beginning to its end: a session, the pump that
 * writes its trace, and whose events they are: CMD, processes that run already, or
 * all there are.
 *
 *   wm_recorder_create()   everything is there, nothing runs, nothing is recorded
 *   wm_recorder_begin()    RUNNING: processes are reached, CMD is let go
 *   wm_recorder_wait()     RUNNING --CMD ended, targets gone, end()--> ENDING --DONE--> OVER
 *
 * CMD is our child in our process group, held until the kernel follows it. The
 * pump has a session of its own and ends when told, or when we are gone; when it
 * is gone, CMD runs on and its status is still ours.
 *
 * Files: recorder.c the phases, events.c what names mean, threads_and_cpus.c
 * single threads and CPUs, targets.c processes that run already,
 * kernel_tasks.c whose tasks the kernel follows, environment.c what CMD finds
 * in its environment, check_filters.c whether filters fit. Prints nothing, and
 * takes no signal; one thread.
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
#include "control/pump/recording.h"
#include "control/recorder/events.h"

#define WM_RECORDER_TARGETS_MAX 1024u

/* All of it is the caller's and lives as long as the recorder. */
struct wm_recorder_plan {
	struct wm_recorder_events *events;
	uint32_t nr_asked; /* rules people asked for, the first; 0: all events, by default */
	const char *dir;   /* of the trace */
	/* Read while it runs: `dir` is the live one's, and reports go to `report`, too. NULL: not
	 * so. */
	struct wm_live *live;
	void (*report)(void *data, const struct wm_report *report);
	void *report_data;
	enum wm_trace_format format;
	const char *preload; /* "malloc,pthread", "none"; NULL: nothing but the runtime */
	bool all;            /* every process */
	bool quiet;          /* words only of what is wrong */
	bool counts;         /* nothing is recorded, see counting.h; and */
	bool beside;         /* the kernel's events, too: a process without marks is no failure */
	const pid_t *pids;
	size_t nr_pids;
	const pid_t *tids; /* only these threads of theirs; none: all, and what they fork */
	size_t nr_tids;
	const int *cpus; /* only what happens there; none: everywhere */
	size_t nr_cpus;
	char *const *command; /* NULL-terminated; NULL: none. With pids or all it is not recorded */
	const struct wm_words *words;
	/* Where we are: $PATH, $XDG_RUNTIME_DIR, the folder of this code's own file, environ. */
	const char *search, *runtime_dir, *folder;
	char *const *environment;
};

/* What diag->where is when CMD could not be run, or processes not be reached. */
#define WM_RECORDER_IN_COMMAND "command"
#define WM_RECORDER_IN_TARGETS "processes"

struct wm_recorder;

/*
 * 0, or with a sentence: nothing was made then, not even the trace's folder,
 * unless that is what failed.
 */
int wm_recorder_create(const struct wm_recorder_plan *plan, struct wm_recorder **ret,
		       struct wm_diag *diag);

/* Ends what still runs, but CMD, as if the caller had died. Accepts NULL. */
void wm_recorder_destroy(struct wm_recorder *r);

/*
 * 0, or with a sentence; the recording ends then, and waiting for that leaves a
 * trace that is whole and empty.
 */
int wm_recorder_begin(struct wm_recorder *r, struct wm_diag *diag);

/* Until the trace is whole and CMD has ended: 1; 0 when the time is over (-1: never); -errno. */
int wm_recorder_wait(struct wm_recorder *r, int timeout_ms);

/* One step of that wait: 1 when it is over, else 0; -errno. */
int wm_recorder_step(struct wm_recorder *r, int timeout_ms);

/* Until the trace is whole; CMD may run on. 0 or -errno. */
int wm_recorder_finish(struct wm_recorder *r);

void wm_recorder_end(struct wm_recorder *r);     /* no more is recorded: it will be over soon */
void wm_recorder_abandon(struct wm_recorder *r); /* nobody can join any more */
int wm_recorder_snapshot(struct wm_recorder *r); /* the pump writes what it holds */
int wm_recorder_look(struct wm_recorder *r);     /* wm_live_look() of the plan's */

/* For signals and timers of the caller's, which it runs while it waits. */
struct wm_loop *wm_recorder_loop(struct wm_recorder *r);
pid_t wm_recorder_command(const struct wm_recorder *r); /* 0: none, or it has ended */
/* As of command.h: what came to us is CMD's, the second kills it; or it is to end. */
bool wm_recorder_signal(struct wm_recorder *r, int signo, pid_t from);
void wm_recorder_stop_command(struct wm_recorder *r, int signo);

/* Says why those of -p that never joined did not. Returns how many. */
uint32_t wm_recorder_say_missing(const struct wm_recorder *r);

struct wm_recorder_result {
	bool done;    /* the pump's last report came: `totals` and `err` are of it */
	bool is_lost; /* the pump ended without */
	int err;      /* the trace's last error */
	int status;   /* of CMD, as from waitpid(2); -1: unknown, or it has not ended */
	struct wm_recording_totals totals; /* of a live one: as of the last batch */
};
void wm_recorder_result(const struct wm_recorder *r, struct wm_recorder_result *ret);

/*
 * Calls fn for each event in the file of CMD until it returns other than 0;
 * returns that. A script, or events of a library, are not seen.
 */
struct wm_elf_event;
int wm_recorder_each_event(const struct wm_recorder_plan *plan,
			   int (*fn)(const struct wm_class *c, const struct wm_elf_event *e,
				     void *data),
			   void *data);

#endif
