/* SPDX-License-Identifier: MIT */
/*
 * event_test_kit.h - builds synthetic events for tests:
 *
 *   struct kit_event k;
 *   kit_begin(&k, "perf:comm");
 *   kit_number(&k, "pid", 7);
 *   kit_text(&k, "comm", "x");
 *   wm_spaces_feed(s, kit_end(&k));
 *
 * Each event has its own types, which live as long as the kit_event.
 */
#ifndef WM_TRACE_EVENT_TEST_KIT_H
#define WM_TRACE_EVENT_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "trace/reader.h"

#define KIT_FIELDS_MAX 16

struct kit_event {
	struct wm_event event;
	struct wm_event_type type;
	struct wm_member members[KIT_FIELDS_MAX];
	struct wm_item items[KIT_FIELDS_MAX];
	uint32_t nr;
};

static const struct wm_type kit_u64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_type kit_string = {.kind = WM_TYPE_STRING};
static const struct wm_type kit_blob = {.kind = WM_TYPE_BYTES};

static inline void kit_begin(struct kit_event *k, const char *name)
{
	memset(k, 0, sizeof(*k));
	k->type.name = name;
	k->event.type = &k->type;
	k->event.pid = k->event.tid = k->event.cpu = -1;
	k->event.ns = WM_TIME_NONE;
	k->event.items = k->items;
}

static inline struct wm_item *kit_field(struct kit_event *k, const char *name,
					const struct wm_type *type)
{
	struct wm_item *i = &k->items[k->nr];

	assert_true(k->nr < KIT_FIELDS_MAX);
	k->members[k->nr] = (struct wm_member){name, type};
	i->member = &k->members[k->nr];
	i->next = ++k->nr;
	k->event.parts[WM_PART_FIELDS].end = k->nr;
	return i;
}

static inline void kit_number(struct kit_event *k, const char *name, uint64_t value)
{
	kit_field(k, name, &kit_u64)->u = value;
}

static inline void kit_text(struct kit_event *k, const char *name, const char *text)
{
	struct wm_item *i = kit_field(k, name, &kit_string);

	i->text = text;
	i->count = (uint32_t)strlen(text);
}

static inline void kit_bytes(struct kit_event *k, const char *name, const void *data, uint32_t n)
{
	struct wm_item *i = kit_field(k, name, &kit_blob);

	i->bytes = data;
	i->count = n;
}

#endif
