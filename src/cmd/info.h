/* SPDX-License-Identifier: MIT */
/* info.h - the parts of waymark info: info.c for our own traces, info_any.c for all others. */
#ifndef WM_CMD_INFO_H
#define WM_CMD_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct wm_info_values {
	bool repair, json, verify, hash;
	int64_t threads;
};

/* Exit statuses; what went wrong was said. */
int wm_info_any(const struct wm_info_values *v, const char *path);    /* what it is and holds */
int wm_info_verify(const struct wm_info_values *v, const char *path); /* --verify */
int wm_info_hash(const struct wm_info_values *v, const char *path);   /* --hash */

#endif
