/* SPDX-License-Identifier: MIT */
/* perfetto.h - exporter for Perfetto's own format (export/export.h). */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_H
#define WM_EXPORT_TIMELINE_PERFETTO_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_perfetto;

#endif
