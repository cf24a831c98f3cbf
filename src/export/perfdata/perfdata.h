/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h - writes perf.data, for perf report, perf script and what
 * else reads it: records of a perf.data as they are, and samples of our own
 * recordings, with what tasks did, as perf would have recorded them.
 */
#ifndef WM_EXPORT_PERFDATA_PERFDATA_H
#define WM_EXPORT_PERFDATA_PERFDATA_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_perfdata;

#endif
