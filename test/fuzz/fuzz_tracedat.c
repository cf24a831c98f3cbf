/* SPDX-License-Identifier: MIT */
/* fuzz_tracedat.c - reads a trace.dat file; the input is changed to begin with its magic. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = bytes >= 16 ? fuzz_copy(data, bytes) : NULL;

	if (copy)
		memcpy(copy, "\x17\x08\x44tracing", 10);
	if (copy)
		fuzz_read_file(copy, bytes);
	free(copy);
	return 0;
}
