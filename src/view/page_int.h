/* SPDX-License-Identifier: MIT */
/* page_int.h - web pages from share/pages/, embedded by the build (tools/embed). */
#ifndef WM_VIEW_PAGE_INT_H
#define WM_VIEW_PAGE_INT_H

#include <stddef.h>

extern const char wm_page_flame[];
extern const size_t wm_page_flame_bytes;

#endif
