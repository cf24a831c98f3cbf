/* SPDX-License-Identifier: MIT */
/* event_fields.c - reads an event's format; see event_fields.h. */
#include "kernel/event_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
