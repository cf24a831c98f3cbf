/* SPDX-License-Identifier: MIT */
/*
 * count_by.h - one tracepoint counted apart by the values of its fields, in
 * the kernel: a BPF program makes the key and counts it in a map, so no event
 * leaves the kernel and none is lost on the way. Whose events are counted is
 * the program's business too (a tracepoint's BPF program is run for
 * everybody): threads are known by id, and their children are followed.
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

#define WM_BY_PARTS_MAX   8u
#define WM_BY_TEXT_BYTES  64u     /* of a string in a key, cut there */
#define WM_BY_KEYS_MAX    16384u  /* different keys; more are counted as left over */
#define WM_BY_THREADS_MAX 131072u /* that are followed */

/* The threads that are counted, shared by all events of a run. */
struct wm_by_threads;

/*
 * `tids`: counted from the start; or, `on_exec`, once they call execve(2).
 * Children are followed when `inherit`. 0 or -errno with a sentence.
 */
int wm_by_threads_create(const struct wm_tracefs *t, const pid_t *tids, size_t nr, bool on_exec,
			 bool inherit, struct wm_by_threads **ret, struct wm_diag *diag);
/*
 * After all wm_count_by_start(), so that a thread's end is counted before it is
 * forgotten; again when more are started later.
 */
int wm_by_threads_begin(struct wm_by_threads *threads, const struct wm_tracefs *t,
			struct wm_diag *diag);
void wm_by_threads_destroy(struct wm_by_threads *t); /* accepts NULL */

struct wm_count_by;

/*
 * `fields`: "comm,count": fields of the event, or pid, tid, comm, cpu when it
 * has none of that name ($pid etc. in any case). `threads` NULL: everybody.
 * -ENOENT: no such field; -EINVAL: not something to count by; as bpf.h.
 */
int wm_count_by_create(const struct wm_tracefs *t, const struct wm_event_def *def,
		       const char *fields, const struct wm_by_threads *threads,
		       struct wm_count_by **ret, struct wm_diag *diag);
void wm_count_by_destroy(struct wm_count_by *c); /* accepts NULL */

/*
 * Whether the kernel lets such programs be made and attached here, tried with
 * those that would be. False: `diag` says why not. What else is wrong with
 * events or fields is said when they are counted.
 */
bool wm_count_by_works(const struct wm_tracefs *t, const struct wm_event_defs *defs,
		       const char *fields, struct wm_diag *diag);

/* Counts from here to there. 0 or -errno with a sentence. */
int wm_count_by_start(struct wm_count_by *c, struct wm_diag *diag);
void wm_count_by_stop(struct wm_count_by *c);

struct wm_by_value {
	const char *name; /* of the field */
	bool is_text, is_signed;
	int64_t number;
	char text[WM_BY_TEXT_BYTES + 1];
};

struct wm_by_row {
	uint64_t count;
	struct wm_by_value values[WM_BY_PARTS_MAX];
};

/* What was counted, most first; free() the rows. 0 or -errno. */
int wm_count_by_read(const struct wm_count_by *c, struct wm_by_row **ret_rows, size_t *ret_nr);
unsigned wm_count_by_parts(const struct wm_count_by *c);
/* Events that are in no row: more different keys than fit, or the program could not run. */
uint64_t wm_count_by_left_over(const struct wm_count_by *c);

#endif
