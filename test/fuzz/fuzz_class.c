/* SPDX-License-Identifier: MIT */
/*
 * fuzz_class.c - parses an event's description, as a traced program sends it to the recorder, and a
 * payload after it. The input begins with two bytes for the description's length.
 */
#include <stdlib.h>

#include "event/payload_test_kit.h"
#include "harness.h"

static void walk(const struct wm_class *class, const uint8_t *payload, size_t bytes)
{
	uint8_t *copy = fuzz_copy(payload, bytes);
	struct wm_payload_cursor c = {.class = class, .data = copy, .bytes = bytes};
	struct wm_value v;

	while (copy && wm_payload_next(&c, &v) == 1)
		;
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wm_class *class = NULL;
	size_t desc_bytes;
	uint8_t *desc;

	if (bytes < 2)
		return 0;
	desc_bytes = (size_t)data[0] | (size_t)data[1] << 8;
	desc_bytes = desc_bytes < bytes - 2 ? desc_bytes : bytes - 2;
	desc = fuzz_copy(data + 2, desc_bytes);
	if (desc && !wm_class_parse(desc, desc_bytes, "fuzz", &class, NULL)) {
		walk(class, data + 2 + desc_bytes, bytes - 2 - desc_bytes);
		wm_class_destroy(class);
	}
	free(desc);
	return 0;
}
