/* SPDX-License-Identifier: MIT */
/* fuzz_perfdata.c - reads a perf.data file; the input is changed to begin with its magic. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = bytes >= 16 ? fuzz_copy(data, bytes) : NULL;

	if (copy && memcmp(copy, "2ELIFREP", 8) != 0)
		memcpy(copy, "PERFILE2", 8);
	if (copy)
		fuzz_read_file(copy, bytes);
	free(copy);
	return 0;
}
