/* SPDX-License-Identifier: MIT */
/*
 * tracedat.h - writes trace.dat, version 7, for trace-cmd and
 * KernelShark. Records of the kernel are passed on as they are (trace.dat,
 * tracepoints of perf.data) or made again by the kernel's formats (our own
 * recordings); all other events get formats of their own.
 */
#ifndef WM_EXPORT_TRACEDAT_TRACEDAT_H
#define WM_EXPORT_TRACEDAT_TRACEDAT_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_tracedat, wm_export_tracedat_plain;

#endif
