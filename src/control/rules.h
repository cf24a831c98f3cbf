/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the rules that select a session's events: built from the user's globs, filters and
 * contexts, and written to DIR/rules in the layout of runtime/agent.h. Each change replaces the
 * whole file.
 *
 * A glob is "provider:name". Without a ':' it matches that name from any provider;
 * "user:provider:name" is the same event, for cases where the kernel also has an event with that
 * name.
 */
#ifndef WM_CONTROL_RULES_H
#define WM_CONTROL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/diag.h"
#include "event/class.h"
#include "runtime/agent.h" /* WM_RULES_NR_MAX */

#define WM_RULES_GLOB_MAX   512u
#define WM_RULES_ALL_LEVELS 255u

struct wm_rules;

/* The parameters for each process's pool; see struct wm_rules_header. */
struct wm_rules_options {
	uint32_t pool_mode; /* enum wm_pool_mode */
	uint64_t buffer_bytes;
	uint32_t chunk_bytes; /* 0: the default */
	uint32_t block_ms;
	enum wm_clock_kind clock_kind;
	bool counts; /* events are counted, not recorded: see ring/counts.h */
};

/* Block mode: the longest time a thread waits for room. */
#define WM_RULES_BLOCK_MS 1000u

/* Whether a pool can have this size (at least the minimum below) and mode. */
#define WM_RULES_BUFFER_MIN 65536u
bool wm_rules_has_pool(uint64_t buffer_bytes, uint32_t pool_mode);

/* Chooses the chunk size for a buffer, so that each of several threads can have several chunks. */
uint32_t wm_rules_chunk_bytes(uint64_t buffer_bytes);

int wm_rules_create(const struct wm_rules_options *o, struct wm_rules **ret);
void wm_rules_destroy(struct wm_rules *r); /* accepts NULL */

/*
 * Adds a rule. `filter` is text (NULL: no filter); the strings are copied. Returns the rule's
 * index, -EINVAL with diag (and a column in the filter), -E2BIG if the rules outgrow their file, or
 * -ENOMEM.
 */
int wm_rules_add(struct wm_rules *r, const char *glob, const char *filter, uint32_t contexts,
		 uint32_t level_max, struct wm_diag *diag);

/* Adds a rule that disables events that other rules in the same change enable. */
int wm_rules_exclude(struct wm_rules *r, const char *glob, struct wm_diag *diag);

uint32_t wm_rules_count(const struct wm_rules *r);
/* The generation last written; 0: never written. */
uint64_t wm_rules_generation(const struct wm_rules *r);
/* The glob as passed to wm_rules_add() */
const char *wm_rules_glob(const struct wm_rules *r, uint32_t i);
const struct wm_rules_options *wm_rules_options(const struct wm_rules *r);

/* Changes the session's clock; call it before the rules are written. */
void wm_rules_set_clock(struct wm_rules *r, enum wm_clock_kind kind);

/* Whether the rules together enable an event. Filters are not evaluated. */
bool wm_rules_enable(const struct wm_rules *r, const char *provider, const char *name,
		     uint32_t level);

/* Whether rule `i` matches an event. Its filter is not evaluated. */
bool wm_rules_wants(const struct wm_rules *r, uint32_t i, const char *provider, const char *name,
		    uint32_t level);

/*
 * Checks that the filters of rules that name this event exactly (without wildcards) fit its fields.
 * Returns 0, or -EINVAL with diag. `desc` is the description from which `c` was parsed.
 */
int wm_rules_check(const struct wm_rules *r, const struct wm_class *c, const void *desc,
		   size_t bytes, struct wm_diag *diag);

/* Replaces the file `rules` in the folder with a new generation (the first is 1). */
int wm_rules_write(struct wm_rules *r, int dirfd, uint32_t file_mode);

/* ------------------------------------------------------------------ *
 * Changes: rules added later. For an event, only the rules of the last change that matches it
 * count, so a change is complete for the events it matches.
 * ------------------------------------------------------------------ */

/* Loads the rules from the file `rules` in the folder. Returns 0, -EBADMSG or another errno. */
int wm_rules_load(int dirfd, struct wm_rules **ret);

/*
 * Encodes the rules as file records. Returns their size in bytes; records that do not fit into
 * `size` are not written.
 */
size_t wm_rules_encode(const struct wm_rules *r, void *buf, size_t size);

/*
 * Adds `nr` encoded rules as one change, the last `nr` of the result, and drops older rules that no
 * longer have any effect. Replaces *r, or leaves it unchanged on failure: -EBADMSG, -E2BIG with
 * diag, or -ENOMEM.
 */
int wm_rules_change(struct wm_rules **r, const void *records, size_t bytes, uint32_t nr,
		    struct wm_diag *diag);

#endif
