/* SPDX-License-Identifier: MIT */
/*
 * input.h - a trace in memory, file by file, which can be written with one of its files changed. A
 * trace that is a single file has one entry with an empty name.
 */
#ifndef WM_FUZZ_INPUT_H
#define WM_FUZZ_INPUT_H

#include "mutate.h"

struct fuzz_file {
	char *name; /* path below that of the trace */
	unsigned char *data;
	size_t bytes;
	bool is_text;
};

struct fuzz_input {
	char *path;
	bool is_folder;
	struct fuzz_file *files;
	size_t nr_files, bytes;
};

/* Loads a trace. Links and special files are left out. Returns 0 or -errno. */
int fuzz_input_load(struct fuzz_input *in, const char *path);
void fuzz_input_done(struct fuzz_input *in);

/*
 * Writes the trace to `path`, which must not exist, with `changed` in place of the content of file
 * `which` (SIZE_MAX: no change). Returns 0 or -errno.
 */
int fuzz_input_write(const struct fuzz_input *in, const char *path, size_t which,
		     const struct fuzz_bytes *changed);

/* Removes the files that fuzz_input_write() wrote. */
void fuzz_input_remove(const struct fuzz_input *in, const char *path);

#endif
