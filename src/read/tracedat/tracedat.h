/* SPDX-License-Identifier: MIT */
/*
 * tracedat.h - reads trace.dat, what trace-cmd and KernelShark write: versions
 * 6 and 7, compressed by zlib or zstd or not at all, with any number of
 * buffers, of machines of 32 and 64 bits and either byte order.
 *
 * Events are called "system:name". The fields all of them share are items of
 * WM_PART_STREAM_CONTEXT, their own of WM_PART_FIELDS.
 */
#ifndef WM_READ_TRACEDAT_TRACEDAT_H
#define WM_READ_TRACEDAT_TRACEDAT_H

#include "trace/reader.h"

extern const struct wm_reader_ops wm_tracedat_ops;

#endif
