/* SPDX-License-Identifier: MIT */
/*
 * profile_key.h - what a profile can be split by. A key turns an event, or a
 * frame of its call chain, into one or two words that compare; and such words
 * into what people read.
 *
 *   comm pid tid cpu event     of the event
 *   dso sym srcline            of a frame of its call chain
 *   FIELD, EVENT.FIELD         any field of the events themselves
 *
 * The plain words are the contexts; a field called like one is EVENT.FIELD.
 */
#ifndef WM_ANALYSIS_PROFILE_KEY_H
#define WM_ANALYSIS_PROFILE_KEY_H

#include "analysis/pass.h"
#include "analysis/stacks.h"

#define WM_KEYS_MAX  8u
#define WM_KEY_WORDS 2u /* of one key, at most */

struct wm_key;

struct wm_key_def {
	const char *name, *title;
	enum wm_cell_kind kind; /* of the column */
	uint8_t nr_words;
	bool of_frame;

	/* Puts the event's words there; false: the event has no such value. */
	bool (*of_event)(const struct wm_key *k, const struct wm_sight *s, uint64_t *words);
	uint64_t (*of_stack)(struct wm_stacks *stacks, uint32_t frame);

	/* Makes words of another part those of this one; NULL: they are the same in all. */
	void (*join)(const struct wm_join *j, uint64_t *words);

	/* The cell of these words. Texts go to the result. */
	union wm_cell (*cell)(const struct wm_key *k, const uint64_t *words, struct wm_result *r);
};

struct wm_key {
	const struct wm_key_def *def;
	struct wm_pass *pass;
	struct wm_stacks *stacks;
	const char *title;
	char *name; /* of a field, as it was asked for; NULL: it is none */
	/* Of fields: by trace and index of the kind; type NULL: that kind has none. */
	struct wm_field_ref **fields;
};

/*
 * Binds one name of a list. 0, -ENOENT with `diag` when no kind of event has
 * such a field (the nearest is named), -ENOMEM. Then, too, wm_key_done() is due.
 */
int wm_key_bind(struct wm_key *k, struct wm_pass *pass, struct wm_stacks *stacks, const char *name,
		struct wm_diag *diag);
void wm_key_done(struct wm_key *k);

/* The pass was bound again. 0, or as wm_key_bind(). */
int wm_key_rebind(struct wm_key *k, struct wm_diag *diag);

/* The names of all context keys, for help: a NULL-ended list. */
extern const char *const wm_key_names[];

/*
 * Finds FIELD or EVENT.FIELD in each kind of event of the pass that is
 * selected: an array by trace of arrays by kind, the caller's to free with
 * wm_key_fields_free(). 0, -ENOENT with `diag`, -ENOMEM.
 */
int wm_key_fields(const struct wm_pass *pass, const char *name, struct wm_field_ref ***ret,
		  struct wm_diag *diag);
void wm_key_fields_free(const struct wm_pass *pass, struct wm_field_ref **fields);

#endif
