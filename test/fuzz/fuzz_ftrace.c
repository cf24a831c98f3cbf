/* SPDX-License-Identifier: MIT */
/* fuzz_ftrace.c - reads ftrace's text; adds the header when the input does not begin with it. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char head[] = "# tracer: nop\n";
	uint8_t *text = malloc(bytes + sizeof(head));

	if (!text)
		return 0;
	memcpy(text, head, sizeof(head) - 1);
	if (bytes)
		memcpy(text + sizeof(head) - 1, data, bytes);
	fuzz_read_file(text, bytes + sizeof(head) - 1);
	free(text);
	return 0;
}
