/* SPDX-License-Identifier: MIT */
/*
 * value_hash.c - see value_hash.h. An event's sum has a factor of its own for
 * each value, so that the multiplications do not wait for one another.
 */
#include "format/value_hash.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "format/scan.h"

#define FACTOR 0x9e3779b97f4a7c15u
#define MIXER  0xd6e8feb86659fd93u

struct sum {
	uint64_t sum, factor; /* factor: of the next value */
	uint32_t nr;
};

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 32) * MIXER;
	n = (n ^ n >> 32) * MIXER;
	return n ^ n >> 32;
}

static inline void add(struct sum *s, uint64_t value)
{
	s->sum += value * s->factor;
	s->factor *= FACTOR;
	s->nr++;
}

uint64_t wm_value_hash_text(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;
	uint64_t h = count, word;

	for (; count >= 8; count -= 8, at += 8) {
		memcpy(&word, at, 8);
		h = (h ^ le64toh(word)) * FACTOR;
		h ^= h >> 32;
	}
	if (count) {
		word = 0;
		memcpy(&word, at, count);
		h = (h ^ le64toh(word)) * FACTOR;
		h ^= h >> 32;
	}
	return h;
}

/* A number that looks like an integer is one, in %g. */
static uint64_t real(double d)
{
	char text[WM_DIGITS_MAX];
	size_t bytes;

	if (d > -1e6 && d < 1e6 && d == (double)(int32_t)d)
		return (uint64_t)(int64_t)(int32_t)d;
	bytes = (size_t)(wm_digits_g(text, d) - text);
	text[bytes] = 0;
	for (size_t i = text[0] == '-'; i < bytes; i++)
		if (text[i] < '0' || text[i] > '9')
			return wm_value_hash_text(text, bytes);
	return (uint64_t)strtoll(text, NULL, 10);
}

/* As many low bits as the digits of its base show. */
static uint64_t shown(const struct wm_type *t, uint64_t n)
{
	uint32_t per_digit = t->look == WM_LOOK_OCTAL ? 3 : t->look == WM_LOOK_BINARY ? 1 : 4;
	uint32_t bits = (t->bits + per_digit - 1) / per_digit * per_digit;

	return t->look == WM_LOOK_DECIMAL || t->bits >= 64 || bits >= 64 ? n
									 : n & ((1ull << bits) - 1);
}

static void add_item(struct sum *s, const struct wm_item *i)
{
	const struct wm_type *t = i->member->type;

	switch (t->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		add(s, i->u);
		break;
	case WM_TYPE_SIGNED:
		add(s, shown(t, i->u));
		break;
	case WM_TYPE_FLOAT:
		add(s, real(i->f));
		break;
	case WM_TYPE_STRING:
	case WM_TYPE_BYTES:
		add(s, wm_value_hash_text(i->bytes, i->count));
		break;
	case WM_TYPE_LIST:
		add(s, i->count);
		break;
	default: /* what holds others; those follow */
		break;
	}
}

uint64_t wm_value_hash(const struct wm_event *e)
{
	struct sum s = {.factor = FACTOR};

	for (int part = 0; part < WM_NR_PARTS; part++) {
		if (part == WM_PART_PACKET_HEADER || part == WM_PART_HEADER)
			continue;
		for (uint32_t i = e->parts[part].at; i < e->parts[part].end; i++)
			add_item(&s, &e->items[i]);
	}
	return mix(s.sum + s.nr);
}

/* --- a whole trace --------------------------------------------------------------------- */

struct tally {
	uint64_t events, hash;
	char apart[112]; /* no two threads write to a cache line */
};

static int batch(void *state, const struct wm_batch *b)
{
	struct tally *t = state;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < b->nr_events; i++)
		hash += wm_value_hash(&b->events[i]);
	t->events += b->nr_events;
	t->hash += hash;
	return 0;
}

int wm_value_hash_trace(struct wm_trace *t, uint32_t nr_threads, uint64_t *ret_events,
			uint64_t *ret_hash)
{
	static const struct wm_want want = {.no_parts =
						1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER};
	struct wm_scan_options o = {INT64_MIN, INT64_MAX, &want, wm_scan_threads(nr_threads)};
	struct tally *tallies = calloc(o.nr_threads, sizeof(*tallies));
	void **states = calloc(o.nr_threads, sizeof(void *));
	int err = -ENOMEM;

	for (uint32_t i = 0; tallies && states && i < o.nr_threads; i++)
		states[i] = &tallies[i];
	if (tallies && states)
		err = wm_scan(t, &o, batch, states);
	*ret_events = *ret_hash = 0;
	for (uint32_t i = 0; !err && i < o.nr_threads; i++) {
		*ret_events += tallies[i].events;
		*ret_hash += tallies[i].hash;
	}
	free(tallies);
	free(states);
	return err;
}
