/* SPDX-License-Identifier: MIT */
/*
 * fuzz_filter.c - compiles and runs a filter. The input is its text, a NUL, and a payload of an
 * event with a field of each kind.
 */
#include <errno.h>
#include <stdlib.h>

#include "event/desc_build.h"
#include "event/filter.h"
#include "harness.h"

static const struct wm_filter_contexts contexts = {1, 2, 3, 4, "app"};

static void run(const unsigned char *code, size_t code_bytes, const uint8_t *payload, size_t bytes)
{
	static const char schema[] = "a:u1;b:i2;c:u4;d:i8;f:f8;s:s;list:u2[];name:s";
	size_t desc_bytes = 0;
	unsigned char *desc = wm_desc_simple("fuzz", "event", schema, NULL, 0, &desc_bytes);
	void *storage = aligned_alloc(8, WM_FILTER_STORAGE_MAX);
	uint8_t *copy = fuzz_copy(payload, bytes);

	if (desc && storage && copy &&
	    wm_filter_link(code, code_bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX) > 0)
		(void)wm_filter_run_float(storage, copy, bytes, &contexts);
	free(copy);
	free(storage);
	free(desc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t text_bytes, rest_bytes, code_bytes;
	const uint8_t *rest;
	char *text = fuzz_split(data, bytes, &text_bytes, &rest, &rest_bytes);
	struct wm_diag diag = {.offset = -1};
	unsigned char *code;
	int err;

	if (!text)
		return 0;
	err = wm_filter_parse(text, &code, &code_bytes, &diag);
	if (err && err != -ENOMEM && !diag.sentence[0])
		abort();
	if (!err) {
		run(code, code_bytes, rest, rest_bytes);
		free(code);
	}
	free(text);
	return 0;
}
