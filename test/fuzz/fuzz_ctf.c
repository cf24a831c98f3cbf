/* SPDX-License-Identifier: MIT */
/* fuzz_ctf.c - reads a CTF trace. The input is its metadata, a NUL, and its only stream. */
#include <stdlib.h>

#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t text_bytes, stream_bytes;
	const uint8_t *stream;
	char *text = fuzz_split(data, bytes, &text_bytes, &stream, &stream_bytes);

	if (text)
		fuzz_read_folder(text, text_bytes, stream, stream_bytes);
	free(text);
	return 0;
}
