/* SPDX-License-Identifier: MIT */
/*
 * input.h - a trace in memory, file by file, to be written out again with one of
 * its files changed. A trace that is one file has one, with an empty name.
 */
#ifndef WM_FUZZ_INPUT_H
#define WM_FUZZ_INPUT_H

#include "mutate.h"

struct fuzz_file {
	char *name; /* below the trace's path */
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

/* 0 or -errno. Links and what is no file are left out. */
int fuzz_input_load(struct fuzz_input *in, const char *path);
void fuzz_input_done(struct fuzz_input *in);

/*
 * Writes it to `path`, which is not there, with `changed` instead of what file
 * `which` holds (SIZE_MAX: as it is). 0 or -errno.
 */
int fuzz_input_write(const struct fuzz_input *in, const char *path, size_t which,
		     const struct fuzz_bytes *changed);

/* Removes what fuzz_input_write() wrote. */
void fuzz_input_remove(const struct fuzz_input *in, const char *path);

#endif
