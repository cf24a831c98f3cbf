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
#include "runtime/agent.h" /* WM_RULES_NR_MAX */

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
	bool counts; /* events are counted, not recorded: ring/counts.h */
};

/* Block mode: a thread waits at most so long for room. */
#define WM_RULES_BLOCK_MS 1000u

/* Whether processes can have a pool of that size, at least this, and mode. */
#define WM_RULES_BUFFER_MIN 65536u
bool wm_rules_has_pool(uint64_t buffer_bytes, uint32_t pool_mode);

/* What chunks a buffer is cut into, so that several threads have some each. */
uint32_t wm_rules_chunk_bytes(uint64_t buffer_bytes);

int wm_rules_create(const struct wm_rules_options *o, struct wm_rules **ret);
void wm_rules_destroy(struct wm_rules *r); /* accepts NULL */

/*
 * One more rule. `filter` is text (NULL: none); the caller's strings are
 * copied. Returns the rule's index, -EINVAL with a sentence (and a column in
 * the filter), -E2BIG when the rules outgrow their file, or -ENOMEM.
 */
int wm_rules_add(struct wm_rules *r, const char *glob, const char *filter, uint32_t contexts,
		 uint32_t level_max, struct wm_diag *diag);

/* The same for a rule that switches off what the others of its change switch on. */
int wm_rules_exclude(struct wm_rules *r, const char *glob, struct wm_diag *diag);

uint32_t wm_rules_count(const struct wm_rules *r);
uint64_t wm_rules_generation(const struct wm_rules *r);          /* as last written; 0: never */
const char *wm_rules_glob(const struct wm_rules *r, uint32_t i); /* as it was given */
const struct wm_rules_options *wm_rules_options(const struct wm_rules *r);

/* Whether all rules together switch an event on; filters are not asked. */
bool wm_rules_enable(const struct wm_rules *r, const char *provider, const char *name,
		     uint32_t level);

/* Whether rule `i` names an event; its filter is not asked. */
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

/* ------------------------------------------------------------------ *
 * Changes: rules added later. For an event only the rules of the last change
 * that names it count, so a change says all about the events it names.
 * ------------------------------------------------------------------ */

/* The rules of the file `rules` in that folder. 0, -EBADMSG or another errno. */
int wm_rules_load(int dirfd, struct wm_rules **ret);

/*
 * The rules as records of the file. Returns how many bytes they take; what
 * does not fit into `size` is not written.
 */
size_t wm_rules_encode(const struct wm_rules *r, void *buf, size_t size);

/*
 * Adds `nr` encoded rules as one change, the last `nr` of the result, and drops
 * older ones that mean nothing any more. Replaces *r; on failure it stays:
 * -EBADMSG, -E2BIG with a sentence, or -ENOMEM.
 */
int wm_rules_change(struct wm_rules **r, const void *records, size_t bytes, uint32_t nr,
		    struct wm_diag *diag);

#endif
