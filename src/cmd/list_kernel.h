/* SPDX-License-Identifier: MIT */
/*
 * list_kernel.h - the kernel's part of `waymark list`: which families of
 * events there are, the events a name means, USDT probes of files and
 * processes, and all of that as text and JSON. Private to list.c,
 * list_kernel.c (finding) and list_kernel_print.c (showing).
 */
#ifndef WM_CMD_LIST_KERNEL_H
#define WM_CMD_LIST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/json.h"
#include "kernel/event_def.h"
#include "kernel/event_space.h"

struct wm_list_kernel {
	struct wm_event_space space;
	struct wm_event_defs defs;
	bool fields;
};

/* 0 or -ENOMEM. */
int wm_list_kernel_open(struct wm_list_kernel *k, bool fields);
void wm_list_kernel_close(struct wm_list_kernel *k);

/* Is it a name of the kernel's that could be taken for a file: "usdt:./app:*:*"? */
bool wm_list_kernel_names(const char *word);

/*
 * Adds what a name means: how many, 0 when it is a program's event or nothing;
 * < 0 with a sentence as wm_event_name_resolve().
 */
int wm_list_kernel_find(struct wm_list_kernel *k, const char *name, struct wm_diag *diag);

/* Adds the USDT probes of a file or a running process that match (NULL: all). Says nothing. */
void wm_list_kernel_add_file(struct wm_list_kernel *k, const char *path, const char *glob);
void wm_list_kernel_add_process(struct wm_list_kernel *k, pid_t pid, const char *glob);

/* What was found: how many events. */
uint32_t wm_list_kernel_text(const struct wm_list_kernel *k, bool blank);
uint32_t wm_list_kernel_json(const struct wm_list_kernel *k, struct wm_json *j);

/* The families, how many events each has, and how to list them. */
void wm_list_families_text(const struct wm_list_kernel *k);
void wm_list_families_json(const struct wm_list_kernel *k, struct wm_json *j);

#endif
