/* SPDX-License-Identifier: MIT */
/* mix.c - the seeds of hashes; see mix.h. */
#include "base/mix.h"

#include <sys/random.h>

uint64_t wm_mix_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	return (uint64_t)(uintptr_t)&seed >> 4;
}
