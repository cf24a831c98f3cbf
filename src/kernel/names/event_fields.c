/* SPDX-License-Identifier: MIT */
/* event_fields.c - reads an event's format; see event_fields.h. */
#include "kernel/event_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"

#define FORMAT_ARENA (4u << 20)

bool wm_event_fields_read(const struct wm_event_space *s, const struct wm_event_def *d,
			  struct wm_event_fields *ret)
{
	struct wm_kmachine machine;
	size_t bytes;
	char *text;
	int err;

	if (!d->system || !s->tracefs ||
	    wm_tracefs_event_format(s->tracefs, d->system, d->event, &text, &bytes, NULL) < 0)
		return false;
	wm_arena_init(&ret->arena, FORMAT_ARENA);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&ret->arena, &machine, d->system, text, bytes, &ret->format, NULL);
	free(text);
	if (err < 0)
		wm_arena_done(&ret->arena);
	return err == 0;
}

void wm_event_fields_done(struct wm_event_fields *f)
{
	wm_arena_done(&f->arena);
}

const char *wm_event_fields_type(const struct wm_kfield *f, char *buf, size_t bytes)
{
	if (f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))
		(void)snprintf(buf, bytes, "%s[]", f->type);
	else if (f->flags & WM_KFIELD_ARRAY)
		(void)snprintf(buf, bytes, "%s[%" PRIu32 "]", f->type, f->length);
	else
		(void)snprintf(buf, bytes, "%s", f->type);
	return buf;
}

const char *wm_event_fields_hint(const struct wm_kformat *f, const char *const *more,
				 const char *name, char *buf, size_t bytes)
{
	struct wm_nearest near;

	wm_nearest_init(&near, name);
	for (unsigned i = f ? f->nr_common : 0; f && i < f->nr_fields; i++)
		wm_nearest_offer(&near, f->fields[i].name);
	for (; more && *more; more++)
		wm_nearest_offer(&near, *more);
	if (!*wm_nearest_sentence(&near, "", buf, bytes))
		(void)snprintf(buf, bytes, "run 'waymark list --fields' to see its fields");
	return buf;
}
