/* SPDX-License-Identifier: MIT */
/* event_comm.c - see event_comm.h. */
#include "trace/event_comm.h"

#include <string.h>

void wm_comm_bind(const struct wm_event_type *type, struct wm_field_ref *ret)
{
	static const enum wm_part parts[] = {WM_PART_CONTEXT, WM_PART_STREAM_CONTEXT};
	static const char *const names[] = {"procname", "comm"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (wm_field_ref_find_in(type, parts[i], names[k], ret) &&
			    ret->type->kind == WM_TYPE_STRING)
				return;
	*ret = (struct wm_field_ref){0};
}

const char *wm_comm_of_thread(const struct wm_trace *t, const struct wm_event *e)
{
	const char *comm = t->ops->comm ? t->ops->comm(t, e) : "", *word;

	if (comm[0] || !e->stream)
		return comm;
	word = wm_trace_stream_word(t, e->stream, "procname");
	return word ? word : "";
}

const char *wm_comm_of_event(const struct wm_trace *t, const struct wm_field_ref *context,
			     const struct wm_event *e, size_t *ret_bytes)
{
	const struct wm_item *item = context->type ? wm_field_ref_item(context, e) : NULL;
	const char *comm;

	if (item) {
		*ret_bytes = item->count;
		return item->text;
	}
	comm = wm_comm_of_thread(t, e);
	*ret_bytes = strlen(comm);
	return comm;
}
