/* SPDX-License-Identifier: MIT */
/*
 * mutate.h - damages a piece of a file, in the same way for the same seed: bits, bytes, numbers and
 * blocks, at random and in ways that are typical for file formats. Knows nothing about the format
 * except whether it is text.
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

/* Initialises a random generator; different numbers give independent sequences of the same seed. */
void fuzz_random_init(struct fuzz_random *r, uint64_t seed, uint64_t number);
uint64_t fuzz_random_next(struct fuzz_random *r);
/* Returns a number below `limit`, which must not be 0. */
uint64_t fuzz_random_below(struct fuzz_random *r, uint64_t limit);

/* The room that fuzz_mutate() may need for `bytes` bytes. */
size_t fuzz_mutate_room(size_t bytes);

/* Makes one to sixteen edits, more often few than many. */
void fuzz_mutate(struct fuzz_bytes *b, bool is_text, struct fuzz_random *r);

#endif
