/* SPDX-License-Identifier: MIT */
/*
 * own_read_test_kit.h - reads back traces written with writer_test_kit.h. Separate from it, because
 * tests of the writer's internals use other streams and lanes.
 */
#ifndef WM_READ_CTF_OWN_READ_TEST_KIT_H
#define WM_READ_CTF_OWN_READ_TEST_KIT_H

#include "read/open.h"
#include "trace/merge.h"
#include "write/writer_test_kit.h"

static inline struct wm_trace *kit_open(void)
{
	struct wm_diag d = {.offset = -1};
	struct wm_trace *t = NULL;

	if (wm_read_open(kit_dir, &t, &d))
		fail_msg("%s: line %u: %s", d.where ? d.where : "", d.line, d.sentence);
	return t;
}

static inline struct wm_merge *kit_merge(struct wm_trace *t)
{
	const struct wm_merge_options all = {INT64_MIN, INT64_MAX, NULL, 0};
	struct wm_merge *m = wm_merge_create(&t, 1, &all);

	assert_non_null(m);
	return m;
}

/* Returns the next event of the traced programs, skipping the recorder's own. */
static inline int kit_next(struct wm_merge *m, const struct wm_event **ret)
{
	int got;

	do
		got = wm_merge_next(m, ret);
	while (got == 1 && (*ret)->type->meta);
	return got;
}

/* Returns the number of events lost for that cause. */
static inline uint64_t kit_lost(const struct wm_trace *t, const char *cause)
{
	for (uint32_t i = 0; i < t->nr_causes; i++)
		if (!strcmp(t->causes[i].name, cause))
			return t->causes[i].count;
	fail_msg("no cause '%s'", cause);
	return 0;
}

/* Returns the event's field with that name. */
static inline const struct wm_item *kit_field(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *part = &e->parts[WM_PART_FIELDS];

	for (uint32_t i = part->at; i < part->end; i = e->items[i].next)
		if (!strcmp(e->items[i].member->name, name))
			return &e->items[i];
	fail_msg("no field '%s'", name);
	return NULL;
}

#endif
