/* SPDX-License-Identifier: MIT */
/*
 * harness.h - runs one parser over given bytes. Each fuzz_NAME.c has the function that libFuzzer
 * and AFL++ call; replay.c calls it with files, in every build. An input for which a harness found
 * a bug becomes a file in corpus/NAME, which make check replays.
 */
#ifndef WM_FUZZ_HARNESS_H
#define WM_FUZZ_HARNESS_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/*
 * Splits an input at its first NUL, for harnesses that need two parts. Returns a copy of the text
 * with a NUL, to be freed, or NULL when out of memory; the rest follows the NUL.
 */
char *fuzz_split(const uint8_t *data, size_t bytes, size_t *ret_text, const uint8_t **ret_rest,
		 size_t *ret_rest_bytes);

/*
 * Returns a copy of exactly this size on the heap, so that sanitizers detect reads past its end;
 * free it.
 */
void *fuzz_copy(const void *data, size_t bytes);

/*
 * Reads the bytes as a trace that consists of one file, completely; aborts when the result is a
 * bug.
 */
void fuzz_read_file(const uint8_t *data, size_t bytes);

/* The same for a folder that contains these two files. */
void fuzz_read_folder(const void *metadata, size_t metadata_bytes, const void *stream,
		      size_t stream_bytes);

#endif
