/* SPDX-License-Identifier: MIT */
/*
 * count_by.h - counts one tracepoint separately for each value of its fields, in the kernel: a BPF
 * program builds the key and counts it in a map, so no event is copied to user space or lost on the
 * way. A tracepoint's BPF program runs for every task, so the program also selects the tasks: it
 * looks up the thread id and follows children.
 */
#ifndef WM_KERNEL_COUNT_BY_H
#define WM_KERNEL_COUNT_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "kernel/event_def.h"
#include "kernel/tracefs.h"

#define WM_BY_PARTS_MAX  8u
#define WM_BY_TEXT_BYTES 64u /* limit for a string in a key; longer strings are truncated */
/* Limit for distinct keys; events with any other key are counted as left over. */
#define WM_BY_KEYS_MAX    16384u
#define WM_BY_THREADS_MAX 131072u /* limit for threads followed at once */

/* The threads that are counted, shared by all events of a run. */
struct wm_by_threads;

/*
 * Counts the threads `tids`, from the start or, with `on_exec`, from their execve(2) on. With
 * `inherit`, their children are counted, too. Returns 0, or -errno with an error message.
 */
int wm_by_threads_create(const struct wm_tracefs *t, const pid_t *tids, size_t nr, bool on_exec,
			 bool inherit, struct wm_by_threads **ret, struct wm_diag *diag);
/*
 * Must be called after all calls to wm_count_by_start(), so that events at a thread's end are
 * counted before the thread is forgotten; call it again when more events are started later.
 */
int wm_by_threads_begin(struct wm_by_threads *threads, const struct wm_tracefs *t,
			struct wm_diag *diag);
void wm_by_threads_destroy(struct wm_by_threads *t); /* accepts NULL */

struct wm_count_by;

/*
 * Counts by `fields`, for example "comm,count": the event's fields, or pid, tid, comm, cpu when the
 * event has no field with that name ($pid etc. always mean the context). `threads` NULL: all tasks.
 * Returns 0, -ENOENT if there is no such field, -EINVAL if the field cannot be a key; other errors
 * as in bpf.h.
 */
int wm_count_by_create(const struct wm_tracefs *t, const struct wm_event_def *def,
		       const char *fields, const struct wm_by_threads *threads,
		       struct wm_count_by **ret, struct wm_diag *diag);
void wm_count_by_destroy(struct wm_count_by *c); /* accepts NULL */

/*
 * Whether the kernel lets this process load and attach such programs, tested with the programs for
 * `defs`. If not, `diag` has the reason. Other errors in events or fields are reported when
 * the events are counted.
 */
bool wm_count_by_works(const struct wm_tracefs *t, const struct wm_event_defs *defs,
		       const char *fields, struct wm_diag *diag);

/* Counts between these two calls. Returns 0, or -errno with an error message. */
int wm_count_by_start(struct wm_count_by *c, struct wm_diag *diag);
void wm_count_by_stop(struct wm_count_by *c);

struct wm_by_value {
	const char *name; /* the field's name */
	bool is_text, is_signed;
	int64_t number;
	char text[WM_BY_TEXT_BYTES + 1];
};

struct wm_by_row {
	uint64_t count;
	struct wm_by_value values[WM_BY_PARTS_MAX];
};

/* Returns the rows, highest count first; free() them. Returns 0 or -errno. */
int wm_count_by_read(const struct wm_count_by *c, struct wm_by_row **ret_rows, size_t *ret_nr);
unsigned wm_count_by_parts(const struct wm_count_by *c);
/*
 * The number of events that are in no row: there were too many distinct keys, or the program could
 * not run.
 */
uint64_t wm_count_by_left_over(const struct wm_count_by *c);

#endif
