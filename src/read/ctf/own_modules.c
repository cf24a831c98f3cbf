/* SPDX-License-Identifier: MIT */
/* own_modules.c - adds the binaries that were mapped while waymark recorded; see own.h. */
#include <string.h>

#include "read/ctf/own.h"

/* Copies a blob, which CTF 1.8 declares as a sequence of numbers. Returns its number of bytes. */
static uint32_t get_bytes(const struct wm_event *e, const char *name,
			  unsigned char to[WM_BUILD_ID_MAX])
{
	const struct wm_item *i = wm_ctf_own_field(e, name);
	uint32_t n = i && i->count <= WM_BUILD_ID_MAX ? i->count : 0;

	if (n && i->member->type->kind == WM_TYPE_BYTES) {
		memcpy(to, i->bytes, n);
		return n;
	}
	if (!n || i->member->type->kind != WM_TYPE_LIST ||
	    i->next != (uint32_t)(i - e->items) + n + 1) /* each number is one item */
		return 0;
	for (uint32_t k = 0; k < n; k++)
		to[k] = (unsigned char)i[k + 1].u;
	return n;
}

static int add_binary(struct wm_trace *t, const struct wm_event *e, const char *path_name)
{
	const struct wm_item *path = wm_ctf_own_field(e, path_name);
	const struct wm_item *pid = wm_ctf_own_field(e, "pid");
	unsigned char id[WM_BUILD_ID_MAX];
	uint32_t bytes = get_bytes(e, "build_id", id);

	if (!path || path->member->type->kind != WM_TYPE_STRING)
		return 0;
	return wm_trace_add_binary(t, path->text, path->count, id, bytes,
				   pid && pid->member->type->kind == WM_TYPE_SIGNED &&
				       pid->s == -1);
}

int wm_ctf_own_module(struct wm_trace *t, const struct wm_event *e)
{
	return add_binary(t, e, "path");
}

int wm_ctf_own_mmap(struct wm_trace *t, const struct wm_event *e)
{
	return add_binary(t, e, "filename");
}
