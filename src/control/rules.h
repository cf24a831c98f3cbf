/* SPDX-License-Identifier: MIT */
/*
 * rules.h - what a session wants enabled: built from the globs, filters and
 * contexts people gave, written to DIR/rules in the layout of
 * runtime/agent.h, replaced whole when it changes.
 *
 * A glob is "provider:name". Without a ':' it means that name of any
 * provider; "user:provider:name" is the same event, for when the kernel has
 * an event of that name too.
 */
#ifndef WM_CONTROL_RULES_H
#define WM_CONTROL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/diag.h"
#include "event/class.h"

#define WM_RULES_NR_MAX     1024u
#define WM_RULES_GLOB_MAX   512u
#define WM_RULES_ALL_LEVELS 255u

struct wm_rules;

/* What every process of the session makes its pool of; see struct wm_rules_header. */
struct wm_rules_options {
	uint32_t pool_mode; /* enum wm_pool_mode */
	uint64_t buffer_bytes;
	uint32_t chunk_bytes; /* 0: the default */
	uint32_t block_ms;
	enum wm_clock_kind clock_kind;
};

int wm_rules_create(const struct wm_rules_options *o, struct wm_rules **ret);
void wm_rules_destroy(struct wm_rules *r); /* accepts NULL */

/*
 * One more rule. `filter` is text (NULL: none); the caller's strings are
 * copied. Returns the rule's index, -EINVAL with a sentence (and a column in
 * the filter), -E2BIG when the rules outgrow their file, or -ENOMEM.
 */
int wm_rules_add(struct wm_rules *r, const char *glob, const char *filter, uint32_t contexts,
		 uint32_t level_max, struct wm_diag *diag);

uint32_t wm_rules_count(const struct wm_rules *r);
const char *wm_rules_glob(const struct wm_rules *r, uint32_t i); /* as it was given */
const struct wm_rules_options *wm_rules_options(const struct wm_rules *r);

/* Whether rule `i` wants an event; its filter is not asked. */
bool wm_rules_wants(const struct wm_rules *r, uint32_t i, const char *provider, const char *name,
		    uint32_t level);

/*
 * Whether the filters of rules that name this event outright (no wildcard)
 * fit its fields: 0, or -EINVAL with a sentence. `desc` is the description
 * `c` was parsed from.
 */
int wm_rules_check(const struct wm_rules *r, const struct wm_class *c, const void *desc,
		   size_t bytes, struct wm_diag *diag);

/* Replaces the file `rules` in that folder with a new generation (the first is 1). */
int wm_rules_write(struct wm_rules *r, int dirfd, uint32_t file_mode);

#endif
