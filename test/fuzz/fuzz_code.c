/* SPDX-License-Identifier: MIT */
/*
 * fuzz_code.c - verifies and runs a filter's bytecode, as a traced program receives it. The input
 * is two bytes for its length, the bytecode, and a payload.
 */
#include <stdlib.h>

#include "event/desc_build.h"
#include "event/filter.h"
#include "harness.h"

static const struct wm_filter_contexts contexts = {1, 2, 3, 4, "app"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char schema[] = "a:u1;b:i2;c:u4;d:i8;f:f8;s:s;list:u2[];name:s";
	size_t code_bytes, desc_bytes = 0;
	unsigned char *desc, *code, *payload;
	void *storage;

	if (bytes < 2)
		return 0;
	code_bytes = (size_t)data[0] | (size_t)data[1] << 8;
	code_bytes = code_bytes < bytes - 2 ? code_bytes : bytes - 2;
	desc = wm_desc_simple("fuzz", "event", schema, NULL, 0, &desc_bytes);
	code = fuzz_copy(data + 2, code_bytes);
	payload = fuzz_copy(data + 2 + code_bytes, bytes - 2 - code_bytes);
	storage = aligned_alloc(8, WM_FILTER_STORAGE_MAX);
	if (desc && code && payload && storage &&
	    wm_filter_link(code, code_bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX) > 0)
		(void)wm_filter_run_float(storage, payload, bytes - 2 - code_bytes, &contexts);
	free(storage);
	free(payload);
	free(code);
	free(desc);
	return 0;
}
