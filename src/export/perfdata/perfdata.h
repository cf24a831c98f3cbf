/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h - writes perf.data, for perf report, perf script and other readers: copies the records
 * of a perf.data file unchanged, and writes samples and task events of waymark recordings as perf
 * would have recorded them.
 */
#ifndef WM_EXPORT_PERFDATA_PERFDATA_H
#define WM_EXPORT_PERFDATA_PERFDATA_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_perfdata;

#endif
