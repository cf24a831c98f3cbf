/* SPDX-License-Identifier: MIT */
/*
 * name_table.h - interns strings: each distinct string gets a small integer id, which is cheap to
 * compare, to hash and to use as part of a key. Id 0 is "".
 *
 * Strings keep their original bytes: code that prints them must escape them.
 */
#ifndef WM_TRACE_NAME_TABLE_H
#define WM_TRACE_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"

/* returned instead of an id: out of memory, or a limit was reached */
#define WM_NAMES_NONE      UINT32_MAX
#define WM_NAMES_MAX       (1u << 26)
#define WM_NAMES_ARENA_MAX ((size_t)2 << 30) /* bytes of all strings */

struct wm_names {
	struct wm_arena arena;
	const char **texts; /* by id */
	uint32_t *bytes;    /* by id */
	uint32_t nr, room;
	struct wm_table table; /* of ids */
};

/* 0 or -ENOMEM. */
int wm_names_init(struct wm_names *n);
void wm_names_done(struct wm_names *n);

/* Returns the id of these bytes, which are copied when they are new, or WM_NAMES_NONE. */
uint32_t wm_names_id(struct wm_names *n, const char *text, size_t bytes);

/* NUL-terminated; valid as long as the table is. */
static inline const char *wm_names_text(const struct wm_names *n, uint32_t id)
{
	return id < n->nr ? n->texts[id] : "";
}

#endif
