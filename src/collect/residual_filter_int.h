/* SPDX-License-Identifier: MIT */
/*
 * residual_filter_int.h - filters evaluated where the kernel's records are read: what it
 * could not evaluate itself (kernel/event_filter.h). Only events with such a
 * filter cost anything.
 *
 * $cpu, $tid and $time are the record's. $pid and $comm of a record without
 * them are what was told of the task, or asked of /proc and kept for a tenth of
 * a second; of tasks that ended before, the kernel's list of names may know,
 * and the process is the thread.
 */
#ifndef WM_COLLECT_RESIDUAL_FILTER_INT_H
#define WM_COLLECT_RESIDUAL_FILTER_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "event/filter.h"
#include "kernel/instance.h"

struct wm_sieve;

/* `instance`: whose tracefs lists names; NULL: none. NULL: no memory. */
struct wm_sieve *wm_sieve_create(enum wm_clock_kind clock, const struct wm_instance *instance);
void wm_sieve_destroy(struct wm_sieve *s); /* accepts NULL */

/*
 * Links bytecode against an event's description; the program is the sieve's.
 * -ENOENT, -EINVAL, -EBADMSG of wm_filter_link(); -ENOMEM.
 */
int wm_sieve_link(struct wm_sieve *s, const unsigned char *code, size_t bytes,
		  const unsigned char *desc, size_t desc_bytes, const struct wm_filter **ret);

/* The same, malloc'ed for the caller, who may take another one later. */
int wm_sieve_make(const unsigned char *code, size_t bytes, const unsigned char *desc,
		  size_t desc_bytes, struct wm_filter **ret);

/* Of a record. pid -1: the record does not say. */
struct wm_sieve_context {
	int64_t pid;
	uint32_t tid, cpu;
	uint64_t clock;
};
bool wm_sieve_pass(struct wm_sieve *s, const struct wm_filter *f, const struct wm_sieve_context *c,
		   const unsigned char *payload, size_t bytes);

/* What the kernel told of a task: its name (not NUL-terminated), or that it is another's child. */
void wm_sieve_renamed(struct wm_sieve *s, uint32_t pid, uint32_t tid, const char *comm,
		      size_t bytes);
void wm_sieve_forked(struct wm_sieve *s, uint32_t pid, uint32_t tid, uint32_t parent_tid);

#endif
