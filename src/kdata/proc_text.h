/* SPDX-License-Identifier: MIT */
/*
 * proc_text.h - counters the kernel keeps in /proc, as events: which files
 * there are, which fields a file's text has, and the values of a later text as
 * the packed fields of records. Text in, bytes out: no descriptors.
 *
 * The fields are taken from a text of the running kernel, so counters of
 * kernels to come are recorded, too. A field has the kernel's own name, made
 * an identifier; what is no plain count is turned into bytes or nanoseconds and
 * says so at the end of its name (_bytes, _ns). Values are as they stand in
 * the file: sums since the machine or the process began, not differences.
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
	bool of_task; /* of each process there is one */
};

/* The i-th there is; NULL behind the last. */
const struct wm_proc_event *wm_proc_event(size_t i);
#define WM_PROC_EVENTS_MAX 32u /* there are fewer */

/* In what the kernel counts here. */
struct wm_proc_machine {
	uint64_t ticks_hz;   /* sysconf(_SC_CLK_TCK) */
	uint64_t page_bytes; /* sysconf(_SC_PAGESIZE) */
};

struct wm_proc_field {
	const char *name;
	const char *unit; /* "bytes", "ns", "percent"; "": a count, or a word */
	const char *type; /* as in a schema (doc/format/event.md): "u8" "i8" "f8" "u4" "s" */
};

/* What is in texts of one event's file. Immutable. */
struct wm_proc_plan;

/*
 * From a text of the file, whole. -EBADMSG when there is no field in it. More
 * than WM_CLASS_FIELDS_MAX fields are not taken: wm_proc_plan_left_out().
 */
int wm_proc_plan_create(const struct wm_proc_event *e, const struct wm_proc_machine *machine,
			const char *text, size_t bytes, struct wm_proc_plan **ret,
			struct wm_diag *diag);
void wm_proc_plan_destroy(struct wm_proc_plan *p); /* accepts NULL */

const char *wm_proc_plan_schema(const struct wm_proc_plan *p);
size_t wm_proc_plan_nr_fields(const struct wm_proc_plan *p);
const struct wm_proc_field *wm_proc_plan_field(const struct wm_proc_plan *p, size_t i);
uint32_t wm_proc_plan_left_out(const struct wm_proc_plan *p); /* counters there was no field for */

#define WM_PROC_RECORD_BYTES_MAX 4096u /* no record's fields are longer */

/*
 * The fields of the next record of a text, packed, at `to`; *at moves behind
 * what was read. Their bytes; 0: no more; -EBADMSG: what stands there is not
 * as it was in the first text (a counter is gone, is no number, or has more
 * than 64 bits), and *at is behind it: the next may be good again.
 */
int64_t wm_proc_put(const struct wm_proc_plan *p, const char **at, const char *end,
		    unsigned char to[WM_PROC_RECORD_BYTES_MAX]);

#endif
