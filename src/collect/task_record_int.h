/* SPDX-License-Identifier: MIT */
/*
 * task_record_int.h - writes perf's records of tasks (mappings, forks, names, exits)
 * as events of a trace: perf:mmap2, perf:comm and so on, with the fields that the
 * reader of perf.data gives them. Must not know rings and clocks.
 */
#ifndef WM_COLLECT_TASK_RECORD_INT_H
#define WM_COLLECT_TASK_RECORD_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "kdata/perf_record.h"
#include "write/trace_writer.h"

/* limit for a payload: a record of the kernel has at most 64 KiB, and a few bytes are added */
#define WM_TASK_RECORD_BYTES (65536u + 64u)

/*
 * Declares the events; the id of an event is the type of its record. perf:switch is declared only
 * with `switches`, and must not be written without. Returns 0 or -errno.
 */
int wm_task_records_declare(struct wm_kernel_stream *tasks, bool switches);

/* Writes the payload of a record. Returns its size, or 0 for records of a type that is not kept. */
size_t wm_task_record_put(const struct wm_perf_record *r, unsigned char *to);

#endif
