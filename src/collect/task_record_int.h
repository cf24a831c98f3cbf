/* SPDX-License-Identifier: MIT */
/*
 * task_record_int.h - what tasks did (mapped, forked, were renamed, ended), as
 * events of a trace: perf:mmap2, perf:comm and their like, with the fields the
 * readers of perf.data give them. Knows no rings and no clocks.
 */
#ifndef WM_COLLECT_TASK_RECORD_INT_H
#define WM_COLLECT_TASK_RECORD_INT_H

#include <stddef.h>

#include "kdata/perf_record.h"
#include "write/trace_writer.h"

/* No payload is longer: a kernel's record has 64 KiB at most, and so little is added. */
#define WM_TASK_RECORD_BYTES (65536u + 64u)

/* Declares all of them; the event's id is the record's type. 0 or -errno. */
int wm_task_records_declare(struct wm_kernel_stream *tasks);

/* The payload of a record; its bytes, 0: it is none that is kept. */
size_t wm_task_record_put(const struct wm_perf_record *r, unsigned char *to);

#endif
