/* SPDX-License-Identifier: MIT */
/* replay.c - fuzz-NAME FILE...: runs a harness over files, without a fuzzer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "harness.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t bytes;
		char *data;
		int err = wm_file_read(AT_FDCWD, argv[i], SIZE_MAX, &data, &bytes);

		if (err) {
			(void)fprintf(stderr, "%s: %s: %s\n", argv[0], argv[i], strerror(-err));
			return 2;
		}
		(void)LLVMFuzzerTestOneInput((const uint8_t *)data, bytes);
		free(data);
	}
	(void)printf("%d files\n", argc - 1);
	return 0;
}
