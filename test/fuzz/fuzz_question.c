/* SPDX-License-Identifier: MIT */
/*
 * fuzz_question.c - decodes a change of kernel events, as a command sends it to the recorder. The
 * decoded request points into the message, and encoding it again must give the same message.
 */
#include <stdlib.h>
#include <string.h>

#include "control/recorder/kernel_request.h"
#include "harness.h"

/* Checks that a text ends within the message; returns its size with the NUL. */
static size_t check_text(const char *text, const char *begin, size_t bytes)
{
	if (text < begin || text >= begin + bytes ||
	    !memchr(text, '\0', (size_t)(begin + bytes - text)))
		abort();
	return strlen(text) + 1;
}

static void check_again(const struct wm_kernel_question *q, const char *texts, size_t bytes)
{
	size_t head = check_text(q->folder, texts, bytes) + check_text(q->search, texts, bytes);
	struct wm_kernel_asks again;

	if (!q->nr || q->nr > WM_KERNEL_ASKS_MAX)
		abort();
	wm_request_init(&again);
	for (uint32_t i = 0; i < q->nr; i++) {
		const struct wm_kernel_ask *ask = &q->asks[i];

		(void)check_text(ask->name, texts, bytes);
		if (ask->filter)
			(void)check_text(ask->filter, texts, bytes);
		if (wm_request_add(&again, ask->name, ask->filter, ask->off, NULL))
			abort();
	}
	if (head + again.body.bytes != bytes ||
	    memcmp(again.body.data, texts + head, again.body.bytes) != 0)
		abort();
	wm_request_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const size_t head = sizeof(struct wm_msg_kernel_change);
	struct wm_kernel_question *q = malloc(sizeof(*q));
	char *message = fuzz_copy(data, bytes);

	if (q && message && wm_request_read(message, bytes, q))
		check_again(q, message + head, bytes - head);
	free(message);
	free(q);
	return 0;
}
