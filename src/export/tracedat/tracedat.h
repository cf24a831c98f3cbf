/* SPDX-License-Identifier: MIT */
/*
 * tracedat.h - writes trace.dat, version 7, for trace-cmd and KernelShark. Kernel records are
 * copied unchanged (trace.dat, tracepoints from perf.data) or recreated from the kernel's formats
 * (waymark recordings); all other events get formats created here.
 */
#ifndef WM_EXPORT_TRACEDAT_TRACEDAT_H
#define WM_EXPORT_TRACEDAT_TRACEDAT_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_tracedat, wm_export_tracedat_plain;

#endif
