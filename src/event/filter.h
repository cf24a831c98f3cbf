/* SPDX-License-Identifier: MIT */
/*
 * filter.h - the filter language of DESIGN decision 10, in three steps:
 *
 *   text --wm_filter_parse()--> bytecode        in the tool, once
 *   bytecode --wm_filter_link()--> program      where events are: in the traced
 *                                               process or in a reader
 *   program --wm_filter_run()--> yes or no      per event
 *
 * The bytecode is portable, self-contained and untrusted: wm_filter_link()
 * verifies it (sizes, jumps, stack depth, types) against the fields of one
 * event before anything runs. Programs have no loops: time is bounded by
 * their length plus the strings they look at.
 *
 * link and run are guest code: no libc, no allocation, no call to the system.
 * run of a program without floats uses general registers only.
 */
#ifndef WM_EVENT_FILTER_H
#define WM_EVENT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_FILTER_BYTES_MAX 8192u
#define WM_FILTER_STACK_MAX 32u
#define WM_FILTER_TEXT_MAX  4096u

/* Values of contexts, filled only when the program asks (see `needs`). */
enum wm_filter_context {
	WM_FILTER_PID = 1u << 0,
	WM_FILTER_TID = 1u << 1,
	WM_FILTER_CPU = 1u << 2,
	WM_FILTER_TIME = 1u << 3, /* nanoseconds on the session's clock */
	WM_FILTER_COMM = 1u << 4,
};

struct wm_filter_contexts {
	int64_t pid, tid, cpu, time_ns;
	char comm[16];
};

/* --- tool side ------------------------------------------------------- */

/*
 * Compiles text to bytecode (malloc'ed, the caller frees it). -EINVAL with
 * diag->column under the wrong place; names are not checked here.
 */
int wm_filter_parse(const char *text, unsigned char **ret_code, size_t *ret_bytes,
		    struct wm_diag *diag);

/* Calls `fn` for each event field name the bytecode mentions (wm_filter_check uses it). */
int wm_filter_names(const unsigned char *code, size_t bytes,
		    int (*fn)(const char *name, void *data), void *data);

/* --- both sides ------------------------------------------------------ */

struct wm_filter; /* a linked program; lives in storage the caller gives */

/*
 * Links bytecode against a description (see <waymark/abi.h>) into `storage`.
 * Returns the bytes used, -ENOENT when the event lacks a field it names,
 * -EINVAL for a type error (a string compared with a number), -EBADMSG for
 * bytecode that fails verification, -ENOSPC when storage is too small.
 */
int64_t wm_filter_link(const void *code, size_t bytes, const void *desc, size_t desc_bytes,
		       void *storage, size_t storage_bytes);

#define WM_FILTER_STORAGE_MAX 32768u

uint32_t wm_filter_needs(const struct wm_filter *f); /* enum wm_filter_context bits */
bool wm_filter_uses_float(const struct wm_filter *f);

/* Payload bytes as packed by the emit macro; malformed payloads give false. */
bool wm_filter_run(const struct wm_filter *f, const unsigned char *payload, size_t bytes,
		   const struct wm_filter_contexts *contexts);

#endif
