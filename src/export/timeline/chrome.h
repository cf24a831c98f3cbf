/* SPDX-License-Identifier: MIT */
/* chrome.h - exporter for Chrome's trace event format (export/export.h). */
#ifndef WM_EXPORT_TIMELINE_CHROME_H
#define WM_EXPORT_TIMELINE_CHROME_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_chrome;

#endif
