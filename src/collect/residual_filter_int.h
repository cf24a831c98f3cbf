/* SPDX-License-Identifier: MIT */
/*
 * residual_filter_int.h - evaluates the part of a filter that the kernel could not evaluate
 * (kernel/event_filter.h) on each record that is read. Events without such a filter incur no cost.
 *
 * $cpu, $tid and $time are those of the record. For records without $pid and $comm these come from
 * the kernel's records about the task, or from /proc, where they are cached for a tenth of a
 * second. For a task that has exited, the name comes from the kernel's list, if listed there, and
 * $pid is the thread's id.
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

/*
 * `instance` (may be NULL): task names are read from its tracefs. Returns NULL when out of memory.
 */
struct wm_sieve *wm_sieve_create(enum wm_clock_kind clock, const struct wm_instance *instance);
void wm_sieve_destroy(struct wm_sieve *s); /* accepts NULL */

/*
 * Links bytecode to an event's description; the sieve owns the program. Returns 0, -ENOENT, -EINVAL
 * or -EBADMSG as wm_filter_link() does, or -ENOMEM.
 */
int wm_sieve_link(struct wm_sieve *s, const unsigned char *code, size_t bytes,
		  const unsigned char *desc, size_t desc_bytes, const struct wm_filter **ret);

/* Like wm_sieve_link(), but the caller owns *ret and frees it. */
int wm_sieve_make(const unsigned char *code, size_t bytes, const unsigned char *desc,
		  size_t desc_bytes, struct wm_filter **ret);

/* A record's contexts. pid is -1 when the record does not contain it. */
struct wm_sieve_context {
	int64_t pid;
	uint32_t tid, cpu;
	uint64_t clock;
};
bool wm_sieve_pass(struct wm_sieve *s, const struct wm_filter *f, const struct wm_sieve_context *c,
		   const unsigned char *payload, size_t bytes);

/*
 * Call it for each kernel record that names a task (not NUL-terminated) or reports a fork.
 */
void wm_sieve_renamed(struct wm_sieve *s, uint32_t pid, uint32_t tid, const char *comm,
		      size_t bytes);
void wm_sieve_forked(struct wm_sieve *s, uint32_t pid, uint32_t tid, uint32_t parent_tid);

#endif
