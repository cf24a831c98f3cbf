/* SPDX-License-Identifier: MIT */
/*
 * chains.c - bench-chains N: N page faults, each below a path of 3 to 18 calls through 512
 * functions that call each other at random, some far more often than others. Recorded by
 * `perf record -g -e page-faults -c 1`, nearly every call chain differs, as in a profile of a large
 * program. Built with frame pointers.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "functions.h"

#define PAGE  4096u
#define PAGES 4096u

typedef void step(volatile char *p, uint32_t depth, uint64_t *state);

static uint32_t chains_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

static step *choose(uint64_t *state);

/* The empty asm keeps the call from becoming a jump, which would leave no frame. */
#define STEP(n)                                                                                    \
	static __attribute__((noinline)) void step_##n(volatile char *p, uint32_t depth,           \
						       uint64_t *state)                            \
	{                                                                                          \
		if (depth)                                                                         \
			choose(state)(p, depth - 1, state);                                        \
		else                                                                               \
			*(volatile int *)p = n;                                                    \
		__asm__ volatile("");                                                              \
	}
ALL(STEP)

#define NAME(n) step_##n,
static step *const steps[] = {ALL(NAME)};

static step *choose(uint64_t *state)
{
	uint32_t r = chains_random(state);

	return steps[(r >> 3) & (r >> 12) & (sizeof(steps) / sizeof(steps[0]) - 1)];
}

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;
	uint64_t state = 1;
	char *pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	(void)madvise(pages, (size_t)PAGE * PAGES, MADV_NOHUGEPAGE);
	while (left > 0) {
		for (uint32_t i = 0; i < PAGES && left > 0; i++, left--)
			choose (&state)(pages + (size_t)i * PAGE, 2 + chains_random(&state) % 16,
					&state);
		if (madvise(pages, (size_t)PAGE * PAGES, MADV_DONTNEED))
			return 1;
	}
	return 0;
}
