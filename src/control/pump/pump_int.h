/* SPDX-License-Identifier: MIT */
/*
 * pump_int.h - the pump process's state, shared by main.c (its
 * life and its rounds), members.c (the processes and tools that are
 * connected), change.c (rules that change), kernel_change.c
 * (events of the kernel that do), sources.c, kernel.c, sample.c and symbols.c.
 * For those only.
 */
#ifndef WM_CONTROL_PUMP_PUMP_INT_H
#define WM_CONTROL_PUMP_PUMP_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "collect/calibrate.h"
#include "collect/pump.h"
#include "control/pump/recording.h"
#include "control/session/member.h"

/* Whatever is connected: a process, or a tool that asked something. */
struct member {
	struct wm_app *app;
	struct member *next;
	bool counted;    /* among those that joined */
	bool asks;       /* a tool that waits for a snapshot */
	void *change;    /* a tool's question for a change, not answered yet; ours */
	uint64_t told;   /* generation of the rules it was last told to read */
	uint64_t missed; /* filtered_missing, as last seen */
};

struct wm_order_sample;

struct serving {
	const struct wm_recording_options *o;
	struct wm_order_sample *order; /* room for whatever the command says */
	int channel;
	struct wm_loop *loop;
	struct wm_trace_writer *writer;
	struct wm_pump *pump;
	void *sources[WM_SOURCES_NR];           /* NULL: not recorded */
	struct wm_kernel_events *kernel_events; /* NULL: nothing of the kernel */
	bool symbols_begun;                     /* they are in the trace, or will be */
	pid_t command_pid;                      /* of CMD, when it is recorded; 0 */
	pid_t symbols_helper;                   /* writes the kernel's symbols; 0: nobody does */
	int symbols_gate; /* it waits there for the word; while there is a helper */
	struct wm_app_host host;
	struct wm_watch *accept_watch, *order_watch;
	uint32_t accepted;      /* in this round */
	bool accept_blocked;    /* no descriptors left, until a process leaves */
	struct member *members; /* newest first */
	uint32_t nr_members;
	struct wm_rules *rules;  /* as changed; NULL: as they were at the beginning */
	struct member *changing; /* whose change is being taken by the processes */
	uint64_t change_until_ns;
	bool overwrite, stop, snapshot, command_gone;
	struct wm_calibrate clock;
	struct wm_recording_totals totals;
	uint64_t start_ns, sealed_ns, fitted_ns;
	int wait_ms, quiet;
	int last_error; /* of a write, as it was reported */
	uint32_t quarantines_said;
	bool look;        /* the command asked what there is */
	uint64_t freed;   /* bytes it read and took out of the files */
	uint64_t written; /* the clock, before the last round that took all there was */
};

/* What the command says besides its words: whose samples are wanted. */
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

/* main.c: words to the command */
void wm_serving_report(struct serving *s, const struct wm_report *r, bool must_arrive);
void wm_serving_trouble(struct serving *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* members.c */
void wm_serving_on_class(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
void wm_serving_on_tool(struct wm_app *a, const void *message, size_t bytes, void *data);
void wm_serving_on_connection(int fd, uint32_t events, void *data);
void wm_serving_pause_accepting(struct serving *s);
void wm_serving_resume_accepting(struct serving *s);
/* Between rounds: members come to the pump and leave it. */
void wm_serving_settle(struct serving *s, bool keep_dead);
/*
 * Who connected before the address went may have emitted, and ended, since. The
 * kernel's queue of them is short and gets no longer.
 */
void wm_serving_take_last(struct serving *s);
void wm_serving_drop_members(struct serving *s); /* at the end: whoever is left */

/* change.c */
/* Takes a tool's question; false when it makes no sense. */
bool wm_serving_change_asked(struct member *m, const void *message, size_t bytes);
/* Between rounds: begins a change, answers one that is in force or took too long. */
void wm_serving_change_round(struct serving *s);
void wm_serving_change_gone(struct serving *s, struct member *m); /* the tool left */

/* kernel_change.c: what the member asks for is done, and answered */
void wm_serving_change_kernel(struct serving *s, struct member *m);

/* look.c */
void wm_serving_look(struct serving *s, const struct wm_order_look *o, size_t bytes);
bool wm_serving_is_full(const struct serving *s); /* too much waits to be read */
void wm_serving_answer_look(struct serving *s);   /* between rounds */
void wm_serving_end_live(struct serving *s);      /* nobody is there to read it: the folder goes */

/* main.c: what was recorded and lost by now, of all sources */
void wm_serving_totals(struct serving *s);

/* sources.c: all sources that there are, in the order of source.h */
int wm_serving_create_source(struct serving *s, unsigned place, void *options,
			     struct wm_diag *diag);
bool wm_serving_round_sources(struct serving *s, enum wm_source_round what); /* packets moved */
void wm_serving_follow(struct serving *s, const struct wm_order_follow *o, size_t bytes);
void wm_serving_stop_sources(struct serving *s);
void wm_serving_finish_sources(struct serving *s);
void wm_serving_destroy_sources(struct serving *s);
/* Adds to t->lost, and sets t->sources. Returns the last error of a write; 0: none. */
int wm_serving_account_sources(struct serving *s, struct wm_recording_totals *t);

/* kernel.c */
struct wm_kernel_source *wm_serving_kernel_source(const struct serving *s); /* NULL: none */

/* sample.c */
void wm_serving_sample(struct serving *s, const struct wm_order_sample *o, size_t bytes);
void wm_serving_leave_out(struct serving *s, pid_t pid); /* samples of it are not wanted */

/*
 * symbols.c: the kernel's symbols, when an event or a call chain shows some. The
 * helper process is forked before anything is traced, and waits.
 */
void wm_serving_prepare_symbols(struct serving *s);
void wm_serving_keep_symbols(struct serving *s);     /* the helper begins to write them */
void wm_serving_want_symbols(struct serving *s);     /* both, unless they are prepared */
void wm_serving_wait_for_symbols(struct serving *s); /* reports why they are missing */
int wm_serving_end_symbols(struct serving *s);       /* waits; the helper's wait status */

#endif
