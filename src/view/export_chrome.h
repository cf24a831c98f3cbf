/* SPDX-License-Identifier: MIT */
/* export_chrome.h - the trace event format of Chrome, as an exporter (export/export.h). */
#ifndef WM_VIEW_EXPORT_CHROME_H
#define WM_VIEW_EXPORT_CHROME_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_chrome;

#endif
