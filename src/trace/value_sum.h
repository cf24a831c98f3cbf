/* SPDX-License-Identifier: MIT */
/*
 * value_sum.h - the hash of an event (doc/format/hash.md) while its values come
 * one by one: for value_hash.c, which takes them from items, and hash.c,
 * which takes them from the bytes. An event's sum has a factor of its own for
 * each value, so that the multiplications do not wait for one another.
 */
#ifndef WM_TRACE_VALUE_SUM_H
#define WM_TRACE_VALUE_SUM_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "event/item.h"

#define WM_VALUE_FACTOR 0x9e3779b97f4a7c15u
#define WM_VALUE_MIXER  0xd6e8feb86659fd93u

struct wm_value_sum {
	uint64_t sum, factor; /* factor: of the next value */
	uint64_t nr;
};

#define WM_VALUE_SUM_NONE ((struct wm_value_sum){.factor = WM_VALUE_FACTOR})

static inline void wm_value_sum_add(struct wm_value_sum *s, uint64_t value)
{
	s->sum += value * s->factor;
	s->factor *= WM_VALUE_FACTOR;
	s->nr++;
}

/* The event's hash from sum + nr. */
static inline uint64_t wm_value_mix(uint64_t n)
{
	n = (n ^ n >> 32) * WM_VALUE_MIXER;
	n = (n ^ n >> 32) * WM_VALUE_MIXER;
	return n ^ n >> 32;
}

/* A text's hash with one more word of it. */
static inline uint64_t wm_value_text_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * WM_VALUE_FACTOR;
	return h ^ h >> 32;
}

static inline uint64_t wm_value_load(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return le64toh(word);
}

uint64_t wm_value_hash_text(const void *bytes, size_t count);

uint64_t wm_value_of_real(double d);

/* A number that looks like an integer is one, in %g. */
static inline uint64_t wm_value_real(double d)
{
	if (d > -1e6 && d < 1e6 && d == (double)(int32_t)d)
		return (uint64_t)(int64_t)(int32_t)d;
	return wm_value_of_real(d);
}

/* As many low bits as the digits of a negative number's base show. */
uint64_t wm_value_mask(const struct wm_type *t);

/* The value of an item; what holds others has none, but for a list's count. */
void wm_value_sum_item(struct wm_value_sum *s, const struct wm_item *i);

#endif
