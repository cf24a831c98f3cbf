/* SPDX-License-Identifier: MIT */
/*
 * recording_int.h - the pump process's state, shared by recording_main.c (its
 * life and its rounds), recording_members.c (the processes and tools that are
 * connected), recording_change.c (rules that change), recording_kernel.c and
 * recording_sample.c. For those only.
 */
#ifndef WM_CONTROL_RECORDING_INT_H
#define WM_CONTROL_RECORDING_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "collect/calibrate.h"
#include "collect/pump.h"
#include "control/app.h"
#include "control/recording.h"

/* Whatever is connected: a process, or a tool that asked something. */
struct member {
	struct wm_app *app;
	struct member *next;
	bool counted;    /* among those that joined */
	bool asks;       /* a tool that waits for a snapshot */
	void *change;    /* a tool's struct wm_msg_change, not answered yet; ours */
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
	struct wm_kernel_source *kernel;  /* NULL: nothing of the kernel */
	struct wm_sample_source *samples; /* NULL: nothing is sampled */
	struct wm_watch **ring_watches;   /* by place of the sampler; of those that wake us */
	size_t nr_ring_watches;
	pid_t symbols_helper; /* writes the kernel's symbols; 0: nobody does */
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
};

/* What the command says besides its words: whose samples are wanted. */
struct wm_order_sample {
	uint32_t order; /* WM_ORDER_SAMPLE */
	uint32_t on_exec, nr_tids;
	pid_t tids[];
};

#define WM_ORDER_BYTES_MAX (sizeof(struct wm_order_sample) + WM_SAMPLING_TIDS_MAX * sizeof(pid_t))

/* recording_main.c: words to the command */
void wm_serving_report(struct serving *s, const struct wm_report *r, bool must_arrive);
void wm_serving_trouble(struct serving *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* recording_members.c */
void wm_serving_on_class(const struct wm_class *c, void *data);
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

/* recording_change.c */
/* Takes a tool's question; false when it makes no sense. */
bool wm_serving_change_asked(struct member *m, const void *message, size_t bytes);
/* Between rounds: begins a change, answers one that is in force or took too long. */
void wm_serving_change_round(struct serving *s);
void wm_serving_change_gone(struct serving *s, struct member *m); /* the tool left */

/* recording_kernel.c */
int wm_serving_begin_kernel(struct serving *s, struct wm_diag *diag);
void wm_serving_end_kernel(struct serving *s); /* the last of it, and its totals */

/* recording_sample.c */
int wm_serving_begin_sampling(struct serving *s, struct wm_diag *diag);
void wm_serving_sample(struct serving *s, const struct wm_order_sample *o, size_t bytes);
void wm_serving_stop_sampling(struct serving *s);
void wm_serving_end_sampling(struct serving *s); /* the last of it, and its totals */
void wm_serving_release_sampling(struct serving *s);

#endif
