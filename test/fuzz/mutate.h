/* SPDX-License-Identifier: MIT */
/*
 * mutate.h - damages a piece of a file, the same way for the same seed: bits,
 * bytes, numbers and blocks as chance and experience with file formats have it.
 * Knows nothing of any format but whether it is text.
 */
#ifndef WM_FUZZ_MUTATE_H
#define WM_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of memory that may grow to `room`. */
struct fuzz_bytes {
	unsigned char *data;
	size_t bytes, room;
};

struct fuzz_random {
	uint64_t state[2];
};

/* Independent streams for different numbers of the same seed. */
void fuzz_random_init(struct fuzz_random *r, uint64_t seed, uint64_t number);
uint64_t fuzz_random_next(struct fuzz_random *r);
/* Below `limit`, which is not 0. */
uint64_t fuzz_random_below(struct fuzz_random *r, uint64_t limit);

/* The room that fuzz_mutate() may need for so many bytes. */
size_t fuzz_mutate_room(size_t bytes);

/* Between one and sixteen edits; few are likelier. */
void fuzz_mutate(struct fuzz_bytes *b, bool is_text, struct fuzz_random *r);

#endif
