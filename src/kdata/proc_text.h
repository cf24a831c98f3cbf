/* SPDX-License-Identifier: MIT */
/*
 * proc_text.h - turns the counters that the kernel keeps in /proc into events: the list of files,
 * the fields in a file's text, and the packed fields of a record from the values in a later text of
 * the file. These functions receive text; they open no files.
 *
 * The fields come from the running kernel's own files, so counters of future kernels are recorded,
 * too. A field has the kernel's own name, turned into an identifier; values that are not plain
 * counts are converted to bytes or nanoseconds, as the end of the field's name shows (_bytes, _ns).
 * Values are those in the file: sums since boot or since the process began, not differences.
 */
#ifndef WM_KDATA_PROC_TEXT_H
#define WM_KDATA_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_PROC_PROVIDER "proc"

struct wm_proc_event {
	const char *name; /* for example "vmstat", for the event proc:vmstat */
	const char *file; /* path below /proc, or below /proc/PID */
	const char *help;
	bool of_task; /* there is one such file per process */
};

/* Returns the i-th event, or NULL after the last. */
const struct wm_proc_event *wm_kproc_event(size_t i);
#define WM_PROC_EVENTS_MAX 32u /* upper bound on the number of events */

/* The units in which this machine's kernel counts. */
struct wm_proc_machine {
	uint64_t ticks_hz;   /* sysconf(_SC_CLK_TCK) */
	uint64_t page_bytes; /* sysconf(_SC_PAGESIZE) */
};

struct wm_proc_field {
	const char *name;
	const char *unit; /* "bytes", "ns" or "percent"; "" for a count or a word */
	const char *type; /* as in a schema (doc/format/event.md): "u8", "i8", "f8", "u4" or "s" */
};

/* How to read the file of one event. Immutable. */
struct wm_kproc_plan;

/*
 * Creates a plan from the complete text of the file. Returns -EBADMSG when the text has no fields.
 * At most WM_CLASS_FIELDS_MAX fields are recorded; wm_kproc_plan_left_out() returns how many are
 * not.
 */
int wm_kproc_plan_create(const struct wm_proc_event *e, const struct wm_proc_machine *machine,
			 const char *text, size_t bytes, struct wm_kproc_plan **ret,
			 struct wm_diag *diag);
void wm_kproc_plan_destroy(struct wm_kproc_plan *p); /* accepts NULL */

const char *wm_kproc_plan_schema(const struct wm_kproc_plan *p);
size_t wm_kproc_plan_nr_fields(const struct wm_kproc_plan *p);
const struct wm_proc_field *wm_kproc_plan_field(const struct wm_kproc_plan *p, size_t i);
/* Returns the number of counters that are not recorded. */
uint32_t wm_kproc_plan_left_out(const struct wm_kproc_plan *p);

#define WM_PROC_RECORD_BYTES_MAX 4096u /* maximum size of a record's packed fields */

/*
 * Writes the packed fields of the next record in a text to `to` and advances *at. Returns their
 * size; 0: no more records; -EBADMSG: the text at *at differs from the first text (a counter is
 * missing, is not a number, or exceeds 64 bits), in which case *at is past it, and the next record
 * may be valid again.
 */
int64_t wm_kproc_put(const struct wm_kproc_plan *p, const char **at, const char *end,
		     unsigned char to[WM_PROC_RECORD_BYTES_MAX]);

#endif
