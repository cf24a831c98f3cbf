/* SPDX-License-Identifier: MIT */
/*
 * harness.h - one parser, given bytes. Each fuzz_NAME.c has the one function
 * that libFuzzer and AFL++ call; replay.c calls it with files, in every build.
 * What a harness finds becomes a file in corpus/NAME, which make check replays.
 */
#ifndef WM_FUZZ_HARNESS_H
#define WM_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/*
 * Up to the first NUL, and what is behind it: how harnesses get two things from
 * one input. The text is copied, with a NUL; free it. NULL: no memory.
 */
char *fuzz_split(const uint8_t *data, size_t bytes, size_t *ret_text, const uint8_t **ret_rest,
		 size_t *ret_rest_bytes);

/* An exact copy on the heap, where a byte too many is seen; free it. */
void *fuzz_copy(const void *data, size_t bytes);

/* Reads the bytes as a trace that is one file, wholly; ends the process over what is no answer. */
void fuzz_read_file(const uint8_t *data, size_t bytes);

/* The same of a folder with these two files. */
void fuzz_read_folder(const void *metadata, size_t metadata_bytes, const void *stream,
		      size_t stream_bytes);

#endif
