/* SPDX-License-Identifier: MIT */
/*
 * mix.h - hashing for tables in memory: fast, and resistant to keys made to collide, because each
 * table has a random seed. Hashes are never written to files.
 *
 * One step multiplies 64 by 64 bits and folds the halves, as wyhash does (Wang Yi, public domain).
 * The seed goes into both factors: if one factor were known, an attacker could choose key
 * differences whose products are alike for any seed.
 */
#ifndef WM_BASE_MIX_H
#define WM_BASE_MIX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WM_MIX_A 0xa0761d6478bd642full
#define WM_MIX_B 0xe7037ed1a0b428dbull

static inline uint64_t wm_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ WM_MIX_A) * (b ^ WM_MIX_B);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns a random number; while the kernel has none, one that differs from run to run. */
uint64_t wm_mix_seed(void);

static inline uint64_t wm_mix_words(uint64_t h, const uint64_t *words, size_t nr)
{
	const uint64_t factor = h ^ nr;

	for (size_t i = 0; i < nr; i++)
		h = wm_mix(h ^ words[i], factor);
	return h;
}

static inline uint64_t wm_mix_bytes(uint64_t h, const void *data, size_t bytes)
{
	const uint64_t factor = h ^ bytes;
	const unsigned char *p = data;
	uint64_t word;

	for (; bytes >= 8; p += 8, bytes -= 8) {
		memcpy(&word, p, 8);
		h = wm_mix(h ^ word, factor);
	}
	word = 0;
	if (bytes) /* `data` may be NULL when there are none */
		memcpy(&word, p, bytes);
	return wm_mix(h ^ word, factor);
}

#endif
