/* SPDX-License-Identifier: MIT */
/* fuzz_tsdl.c - parses and checks metadata of CTF 1.8, also in packets. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "read/ctf/meta/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wm_ctf_metadata *m = NULL;
	struct wm_diag damage, diag;
	char *text = fuzz_copy(data, bytes);

	if (!text)
		return 0;
	if (!wm_ctf_metadata_parse("metadata", text, bytes, &m, &damage, &diag))
		wm_ctf_metadata_destroy(m);
	else if (!diag.sentence[0])
		abort();
	free(text);
	return 0;
}
