/* SPDX-License-Identifier: MIT */
/*
 * profile_key_int.h - the keys by which a profile can be split. A key converts an event, or a frame
 * of its call chain, to one or two comparable words, and such words to text.
 *
 *   comm pid tid cpu event     keys that belong to the event
 *   dso sym srcline            keys that belong to a frame of its call chain
 *   symbol_from mispredict...  keys that belong to a branch in it
 *   FIELD, EVENT.FIELD         any field of the events
 *
 * The names above always mean these keys; a field with the same name must be written as
 * EVENT.FIELD.
 */
#ifndef WM_ANALYSIS_PROFILE_KEY_INT_H
#define WM_ANALYSIS_PROFILE_KEY_INT_H

#include "analysis/pass.h"
#include "analysis/stacks.h"

#define WM_KEYS_MAX  8u
#define WM_KEY_WORDS 2u /* maximum number of words per key */

struct wm_key;

/* A branch in a sample. */
enum wm_branch_member {
	WM_BRANCH_FROM,
	WM_BRANCH_TO,
	WM_BRANCH_MISPREDICTED,
	WM_BRANCH_PREDICTED,
	WM_BRANCH_IN_TX,
	WM_BRANCH_ABORT,
	WM_BRANCH_CYCLES,
	WM_BRANCH_NR_MEMBERS
};

struct wm_branch {
	uint64_t members[WM_BRANCH_NR_MEMBERS]; /* one that the trace lacks is 0 */
};

/* Which of an event's branches a key needs: none; any; the frame of its source or target. */
enum wm_key_branch { WM_KEY_NO_BRANCH, WM_KEY_BRANCH, WM_KEY_SOURCE, WM_KEY_TARGET };

struct wm_key_def {
	const char *name, *title;
	enum wm_cell_kind kind; /* kind of the column */
	uint8_t nr_words;
	bool of_frame;

	/* Stores the words of an event's value; returns false when the event has no such value. */
	bool (*of_event)(const struct wm_key *k, const struct wm_sight *s, uint64_t *words);
	uint64_t (*of_stack)(struct wm_stacks *stacks, uint32_t frame);

	uint64_t none; /* word of an event without a frame; its cell is empty */

	/* Converts words of another part to those of this one; NULL: they are the same. */
	void (*join)(const struct wm_join *j, uint64_t *words);

	/* Builds the cell for these words. Strings are in the result's arena. */
	union wm_cell (*cell)(const struct wm_key *k, const uint64_t *words, struct wm_result *r);

	enum wm_key_branch branch;
};

struct wm_key {
	const struct wm_key_def *def;
	struct wm_pass *pass;
	struct wm_stacks *stacks;
	const char *title;
	char *name; /* name of a field, as the user wrote it; NULL: not a field */
	/*
	 * For fields, indexed by trace and type; its `type` is NULL when that event type lacks the
	 * field.
	 */
	struct wm_field_ref **fields;
	const struct wm_branch
	    *branch; /* the branch being counted, owned by the profile; or NULL */
};

/*
 * Binds one name from a list. `branch` is the branch being counted; NULL: it is not a profile of
 * branches. Returns 0, -ENOMEM, or -ENOENT if no event type has such a field
 * (`diag` names the closest one). Call wm_key_done() also after errors.
 */
int wm_key_bind(struct wm_key *k, struct wm_pass *pass, struct wm_stacks *stacks,
		const struct wm_branch *branch, const char *name, struct wm_diag *diag);
void wm_key_done(struct wm_key *k);

/* Must be called when the pass has been rebound. Returns errors like wm_key_bind(). */
int wm_key_rebind(struct wm_key *k, struct wm_diag *diag);

/* The names of all context keys, for help; NULL-terminated. */
extern const char *const wm_key_names[];

/*
 * Finds FIELD or EVENT.FIELD in each selected event type of the pass. *ret is indexed by trace and
 * type; the caller frees it with wm_key_fields_free(). Returns 0, -ENOENT with `diag`, or -ENOMEM.
 */
int wm_key_fields(const struct wm_pass *pass, const char *name, struct wm_field_ref ***ret,
		  struct wm_diag *diag);
void wm_key_fields_free(const struct wm_pass *pass, struct wm_field_ref **fields);

#endif
