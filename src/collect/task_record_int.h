/* SPDX-License-Identifier: MIT */
/*
 * task_record_int.h - writes perf's task records (mappings, forks, names, exits) as trace events:
 * perf:mmap2, perf:comm and so on, with the same fields as the perf.data reader gives them. Must
 * not know about rings and clocks.
 */
#ifndef WM_COLLECT_TASK_RECORD_INT_H
#define WM_COLLECT_TASK_RECORD_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "kdata/perf_record.h"
#include "write/trace_writer.h"

/* limit for a payload: a kernel record has at most 64 KiB, and a few bytes are added */
#define WM_TASK_RECORD_BYTES (65536u + 64u)

/*
 * Declares the events; an event's id is the type of its record. perf:switch is declared only with
 * `switches`, and must not be written otherwise. Returns 0 or -errno.
 */
int wm_task_records_declare(struct wm_kernel_stream *tasks, bool switches);

/* Writes a record's payload. Returns its size, or 0 for records of a type that is not kept. */
size_t wm_task_record_put(const struct wm_perf_record *r, unsigned char *to);

#endif
