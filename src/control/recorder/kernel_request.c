/* SPDX-License-Identifier: MIT */
/* kernel_request.c - see kernel_request.h: encodes and decodes the message. */
#include "control/recorder/kernel_request.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/tool.h"

void wm_request_init(struct wm_kernel_asks *a)
{
	*a = (struct wm_kernel_asks){0};
	wm_text_init(&a->body);
}

void wm_request_done(struct wm_kernel_asks *a)
{
	wm_text_done(&a->body);
}

static void kernel_request_put(struct wm_text *t, const char *text)
{
	wm_text_add(t, text ? text : "", text ? strlen(text) + 1 : 1);
}

int wm_request_add(struct wm_kernel_asks *a, const char *name, const char *filter, bool off,
		   struct wm_diag *diag)
{
	if (a->nr == WM_KERNEL_ASKS_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1,
				   "more than %u kernel events in one change: split it",
				   WM_KERNEL_ASKS_MAX);
	wm_text_char(&a->body, off ? '-' : '+');
	kernel_request_put(&a->body, name);
	kernel_request_put(&a->body, filter);
	a->nr++;
	return a->body.failed ? -ENOMEM : 0;
}

int wm_tool_change_kernel(const char *dir, const struct wm_kernel_asks *asks, const char *search,
			  struct wm_msg_kernel_changed *ret, struct wm_diag *diag)
{
	struct wm_msg_kernel_change head = {.h.type = WM_MSG_CHANGE_KERNEL, .nr_asks = asks->nr};
	char folder[PATH_MAX];
	struct wm_text t;
	int err;

	if (!getcwd(folder, sizeof(folder)))
		return wm_diag_set(diag, -errno, NULL, -1,
				   "cannot determine the current folder: %s", strerror(errno));
	wm_text_init(&t);
	wm_text_add(&t, &head, sizeof(head));
	kernel_request_put(&t, folder);
	kernel_request_put(&t, search);
	wm_text_add(&t, asks->body.data, asks->body.bytes);
	head.h.bytes = (uint32_t)t.bytes;
	if (t.failed)
		err = -ENOMEM;
	else if (t.bytes > WM_MSG_MAX)
		err = wm_diag_set(diag, -E2BIG, NULL, -1,
				  "these names and filters take %zu bytes, at most %u fit into one "
				  "change: split it",
				  t.bytes, WM_MSG_MAX);
	else
		err = 0;
	if (!err) {
		memcpy(t.data, &head, sizeof(head));
		err = wm_tool_ask(dir, t.data, t.bytes, WM_MSG_KERNEL_CHANGED, ret, sizeof(*ret),
				  diag);
	}
	wm_text_done(&t);
	if (err)
		return err;
	ret->sentence[sizeof(ret->sentence) - 1] = '\0';
	ret->words[sizeof(ret->words) - 1] = '\0';
	return 0;
}

/* Returns the string at *at and moves *at past it; NULL if it is not terminated. */
static const char *kernel_request_take(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	if (nul)
		*at = nul + 1;
	return nul ? text : NULL;
}

bool wm_request_read(const void *message, size_t bytes, struct wm_kernel_question *ret)
{
	const char *at = (const char *)message + sizeof(struct wm_msg_kernel_change);
	const char *end = (const char *)message + bytes;
	struct wm_msg_kernel_change head;

	if (bytes < sizeof(head))
		return false;
	memcpy(&head, message, sizeof(head));
	if (!head.nr_asks || head.nr_asks > WM_KERNEL_ASKS_MAX)
		return false;
	ret->folder = kernel_request_take(&at, end);
	ret->search = ret->folder ? kernel_request_take(&at, end) : NULL;
	ret->nr = head.nr_asks;
	for (uint32_t i = 0; ret->search && i < ret->nr; i++) {
		struct wm_kernel_ask *ask = &ret->asks[i];

		if (at == end || (*at != '+' && *at != '-'))
			return false;
		ask->off = *at++ == '-';
		ask->name = kernel_request_take(&at, end);
		ask->filter = ask->name ? kernel_request_take(&at, end) : NULL;
		if (!ask->filter || !*ask->name)
			return false;
		if (!*ask->filter)
			ask->filter = NULL;
	}
	return ret->search && at == end;
}
