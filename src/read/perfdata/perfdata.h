/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h - reads what `perf record` wrote: file form, pipe form and
 * folders, compressed or not, of any kernel and byte order.
 *
 * Samples are events called as perf calls them; their parts are items of
 * WM_PART_STREAM_CONTEXT (ip, pid, tid, callchain...). The kernel's other
 * records are events "perf:mmap2", "perf:comm" and their like, marked meta.
 * Counts of `perf stat record` are events called as what they count.
 */
#ifndef WM_READ_PERFDATA_PERFDATA_H
#define WM_READ_PERFDATA_PERFDATA_H

#include "trace/reader.h"

extern const struct wm_reader_ops wm_perfdata_ops;

#endif
