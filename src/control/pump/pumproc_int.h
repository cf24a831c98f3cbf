/* SPDX-License-Identifier: MIT */
/*
 * pumproc_int.h - the pump process's state, shared by main.c (phases and rounds), members.c
 * (connected processes and tools), change.c (rule changes), kernel_change.c (kernel event changes),
 * sources.c, kernel.c, sample.c and symbols.c. Private to these files.
 */
#ifndef WM_CONTROL_PUMP_PUMPROC_INT_H
#define WM_CONTROL_PUMP_PUMPROC_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "collect/calibrate.h"
#include "collect/pump.h"
#include "control/kernel_events.h"
#include "control/pump/channel.h"
#include "control/session/member.h"

/* A connection: a recorded process, or a tool with a request. */
struct wm_pumproc_member {
	struct wm_app *app;
	struct wm_pumproc_member *next;
	bool counted;    /* the process is included in totals.nr_processes */
	bool asks;       /* the connection is a tool waiting for a snapshot */
	void *change;    /* a tool's pending change request, malloc'ed; NULL: none */
	uint64_t told;   /* the rules' generation in the last WM_MSG_RULES sent to it */
	uint64_t missed; /* its filtered_missing when last read */
};

struct wm_order_sample;

struct wm_pumproc {
	const struct wm_recording_options *o;
	struct wm_order_sample *order; /* buffer for the command's orders */
	int channel;
	struct wm_loop *loop;
	struct wm_trace_writer *writer;
	struct wm_pump *pump;
	void *sources[WM_SOURCES_NR];             /* NULL: the source is not recorded */
	struct wm_recorder_kernel *kernel_events; /* NULL: no kernel events are recorded */
	bool symbols_begun;   /* the symbols are in the trace, or the helper will write them */
	pid_t command_pid;    /* CMD's pid if it is recorded, else 0 */
	pid_t symbols_helper; /* process that writes the kernel's symbols; 0: not running */
	/* The helper waits here for the start; valid while the helper exists. */
	int symbols_gate;
	struct wm_app_host host;
	struct wm_watch *accept_watch, *order_watch;
	uint32_t accepted;                 /* connections accepted in this round */
	bool accept_blocked;               /* no descriptors are left until a process leaves */
	struct wm_pumproc_member *members; /* newest first */
	uint32_t nr_members;
	uint32_t turn;          /* the member at which wm_pumproc_release() goes on */
	struct wm_rules *rules; /* the rules after a change; NULL: those in the options */
	struct wm_pumproc_member *changing; /* the tool whose change is in progress */
	uint64_t change_until_ns;
	bool overwrite, stop, snapshot, command_gone;
	struct wm_calibrate clock;
	struct wm_recording_totals totals;
	uint64_t start_ns, sealed_ns, fitted_ns;
	int wait_ms, quiet;
	int last_error; /* the last write error reported to the command */
	uint32_t quarantines_said;
	bool look;        /* the command waits for WM_REPORT_LOOKED */
	uint64_t freed;   /* number of bytes the command has read and removed from the files */
	uint64_t written; /* clock value before which all events are written */
};

/* An order with arguments. */
struct wm_order_sample {
	uint32_t order; /* WM_ORDER_SAMPLE */
	uint32_t on_exec, alone, nr_tids;
	pid_t tids[];
};

struct wm_order_look {
	uint32_t order; /* WM_ORDER_LOOK */
	uint32_t reserved;
	uint64_t freed;
};

struct wm_order_follow {
	uint32_t order; /* WM_ORDER_FOLLOW */
	pid_t pid;
};

#define WM_ORDER_BYTES_MAX (sizeof(struct wm_order_sample) + WM_SAMPLING_TIDS_MAX * sizeof(pid_t))

/* main.c: sends a report to the command */
void wm_pumproc_report(struct wm_pumproc *p, const struct wm_report *r, bool must_arrive);
void wm_pumproc_trouble(struct wm_pumproc *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* members.c */
void wm_pumproc_on_class(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
void wm_pumproc_on_tool(struct wm_app *a, const void *message, size_t bytes, void *data);
void wm_pumproc_on_connection(int fd, uint32_t events, void *data);
void wm_pumproc_resume_accepting(struct wm_pumproc *p);
/* Call it between rounds: adds members to the pump and removes them. */
void wm_pumproc_settle(struct wm_pumproc *p, bool keep_dead);
/*
 * Accepts the connections that were queued when the session's address was removed, because their
 * processes may have emitted events and exited. The queue no longer grows.
 */
void wm_pumproc_take_last(struct wm_pumproc *p);
/* Call it once a second: looks for processes that only the agent keeps alive. */
void wm_pumproc_release(struct wm_pumproc *p);
void wm_pumproc_drop_members(struct wm_pumproc *p); /* called at the end */

/* change.c */
/* Stores a tool's request; returns false if it is malformed. */
bool wm_pumproc_change_asked(struct wm_pumproc_member *m, const void *message, size_t bytes);
/*
 * Call it between rounds: begins a change, and answers one that is in effect or took too long.
 */
void wm_pumproc_change_round(struct wm_pumproc *p);
/* Call it when the tool has disconnected. */
void wm_pumproc_change_gone(struct wm_pumproc *p, struct wm_pumproc_member *m);

/* kernel_change.c: performs the member's request and answers it */
void wm_pumproc_change_kernel(struct wm_pumproc *p, struct wm_pumproc_member *m);

/* look.c */
void wm_pumproc_look(struct wm_pumproc *p, const struct wm_order_look *o, size_t bytes);
/* Whether as many bytes as permitted are waiting for the reader. */
bool wm_pumproc_is_full(const struct wm_pumproc *p);
void wm_pumproc_answer_look(struct wm_pumproc *p); /* called between rounds */
void wm_pumproc_end_live(
    struct wm_pumproc *p); /* removes the folder if the command, its reader, is gone */

/* main.c: updates the totals of pools and sources */
void wm_pumproc_totals(struct wm_pumproc *p);

/* sources.c: all sources that exist, in the order of source.h */
int wm_pumproc_create_source(struct wm_pumproc *p, unsigned place, void *options,
			     struct wm_diag *diag);
bool wm_pumproc_round_sources(struct wm_pumproc *p, enum wm_source_round what); /* packets moved */
void wm_pumproc_follow(struct wm_pumproc *p, const struct wm_order_follow *o, size_t bytes);
void wm_pumproc_stop_sources(struct wm_pumproc *p);
void wm_pumproc_finish_sources(struct wm_pumproc *p);
void wm_pumproc_destroy_sources(struct wm_pumproc *p);
/* Adds to t->lost and sets t->sources. Returns the error of the last failed write, or 0. */
int wm_pumproc_account_sources(struct wm_pumproc *p, struct wm_recording_totals *t);

/* kernel.c */
struct wm_kernel_source *wm_pumproc_kernel_source(const struct wm_pumproc *p); /* NULL: none */

/* sample.c */
void wm_pumproc_sample(struct wm_pumproc *p, const struct wm_order_sample *o, size_t bytes);
void wm_pumproc_leave_out(struct wm_pumproc *p, pid_t pid); /* drops a process's samples */

/*
 * symbols.c: writes the kernel's symbols, if an event or a call chain uses them. The helper process
 * is forked before anything is traced, and waits.
 */
void wm_pumproc_prepare_symbols(struct wm_pumproc *p);
void wm_pumproc_keep_symbols(struct wm_pumproc *p); /* lets the helper start writing them */
/* Prepares and starts the helper, unless that has been done. */
void wm_pumproc_want_symbols(struct wm_pumproc *p);
/* Reports why the symbols are missing, if they are. */
void wm_pumproc_wait_for_symbols(struct wm_pumproc *p);
/* Waits for the helper; returns its wait status. */
int wm_pumproc_end_symbols(struct wm_pumproc *p);

#endif
