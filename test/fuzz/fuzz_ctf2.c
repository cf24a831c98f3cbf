/* SPDX-License-Identifier: MIT */
/* fuzz_ctf2.c - parses and checks metadata of CTF 2: fragments of JSON. */
#include <stdlib.h>

#include "harness.h"
#include "read/ctf/meta/ctf2_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wm_ctf_metadata *m = wm_ctf_metadata_create();
	struct wm_diag diag = {.offset = -1};
	char *text = fuzz_copy(data, bytes);

	if (m && text && !wm_ctf2_parse(m, "metadata", text, bytes, &diag))
		(void)wm_ctf_check(m, &diag);
	wm_ctf_metadata_destroy(m);
	free(text);
	return 0;
}
