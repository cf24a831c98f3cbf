/* SPDX-License-Identifier: MIT */
/*
 * proc_text.h - counters that the kernel keeps in /proc, as events: the list of
 * files, the fields in a file's text, and the values of a later text as the
 * packed fields of records. Text in, bytes out: no descriptors.
 *
 * The fields come from a text of the running kernel, so counters of future
 * kernels are recorded, too. A field has the kernel's own name, made an
 * identifier; values that are not plain counts are converted to bytes or
 * nanoseconds, which the end of the field's name shows (_bytes, _ns). Values
 * are those in the file: sums since boot or since the process began, not
 * differences.
 */
#ifndef WM_KDATA_PROC_TEXT_H
#define WM_KDATA_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_PROC_PROVIDER "proc"

struct wm_proc_event {
	const char *name; /* "vmstat": the event is proc:vmstat */
	const char *file; /* below /proc, or below /proc/PID */
	const char *help;
	bool of_task; /* one file per process */
};

/* The i-th event; NULL after the last. */
const struct wm_proc_event *wm_proc_event(size_t i);
#define WM_PROC_EVENTS_MAX 32u /* at least the number of events */

/* The kernel's units on this machine. */
struct wm_proc_machine {
	uint64_t ticks_hz;   /* sysconf(_SC_CLK_TCK) */
	uint64_t page_bytes; /* sysconf(_SC_PAGESIZE) */
};

struct wm_proc_field {
	const char *name;
	const char *unit; /* "bytes", "ns", "percent"; "": a count, or a word */
	const char *type; /* as in a schema (doc/format/event.md): "u8" "i8" "f8" "u4" "s" */
};

/* The contents of one event's file. Immutable. */
struct wm_proc_plan;

/*
 * Creates a plan from a complete text of the file. -EBADMSG when it has no
 * field. At most WM_CLASS_FIELDS_MAX fields are used; wm_proc_plan_left_out()
 * counts the others.
 */
int wm_proc_plan_create(const struct wm_proc_event *e, const struct wm_proc_machine *machine,
			const char *text, size_t bytes, struct wm_proc_plan **ret,
			struct wm_diag *diag);
void wm_proc_plan_destroy(struct wm_proc_plan *p); /* accepts NULL */

const char *wm_proc_plan_schema(const struct wm_proc_plan *p);
size_t wm_proc_plan_nr_fields(const struct wm_proc_plan *p);
const struct wm_proc_field *wm_proc_plan_field(const struct wm_proc_plan *p, size_t i);
uint32_t wm_proc_plan_left_out(const struct wm_proc_plan *p); /* counters without a field */

#define WM_PROC_RECORD_BYTES_MAX 4096u /* the fields of a record are never longer */

/*
 * Writes the packed fields of the next record of a text to `to` and advances
 * *at. Returns their size; 0: no more records; -EBADMSG: the text at *at
 * differs from the first text (a counter is missing, is not a number, or has
 * more than 64 bits); *at is then after it, and the next record may be good
 * again.
 */
int64_t wm_proc_put(const struct wm_proc_plan *p, const char **at, const char *end,
		    unsigned char to[WM_PROC_RECORD_BYTES_MAX]);

#endif
