/* SPDX-License-Identifier: MIT */
/* value_hash.c - see value_hash.h; doc/format/hash.md defines the hash. */
#include "trace/value_hash.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "trace/scan.h"

#define FACTOR 0x9e3779b97f4a7c15u
#define MIXER  0xd6e8feb86659fd93u

struct sum {
	uint64_t sum, factor; /* factor for the next value */
	uint64_t nr;
};

/* Each value has its own factor, so that multiplications do not depend on one another. */
static void value_hash_add(struct sum *s, uint64_t value)
{
	s->sum += value * s->factor;
	s->factor *= FACTOR;
	s->nr++;
}

/* The finalizer: mixes the event's sum so that every bit affects all others. */
static uint64_t value_hash_mix(uint64_t n)
{
	n = (n ^ n >> 32) * MIXER;
	n = (n ^ n >> 32) * MIXER;
	return n ^ n >> 32;
}

/* Adds one more word of a string to its hash. */
static uint64_t text_word(uint64_t h, uint64_t word)
{
	h = (h ^ word) * FACTOR;
	return h ^ h >> 32;
}

static uint64_t value_hash_load(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return le64toh(word);
}

uint64_t wm_value_hash_text(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;
	unsigned char last[8] = {0};
	uint64_t h = count;

	for (; count >= 8; count -= 8, at += 8)
		h = text_word(h, value_hash_load(at));
	if (count) {
		memcpy(last, at, count);
		h = text_word(h, value_hash_load(last));
	}
	return h;
}

/*
 * Packs six digits and an exponent into one word. A number that %g prints without a point or
 * exponent yields the integer itself.
 */
static uint64_t of_six(const struct wm_six *n, bool is_negative)
{
	uint64_t v = (uint64_t)(n->exponent + 1024) << 20 | n->digits;

	if (n->exponent >= 0 && n->exponent <= 5) {
		uint32_t scale = (uint32_t)wm_digit_powers[5 - n->exponent];

		if (n->digits % scale == 0)
			v = n->digits / scale;
	}
	return is_negative ? 0 - v : v;
}

/*
 * Parses the digits of a number printed with %g, and the decimal exponent of the first nonzero one.
 */
static struct wm_six six_of(const char *text)
{
	struct wm_six n = {0, -1};
	uint32_t digits = 0;
	bool behind = false;

	for (; *text && *text != 'e'; text++) {
		behind |= *text == '.';
		if (*text < '0' || *text > '9')
			continue;
		if (digits || *text != '0') {
			n.digits = n.digits * 10 + (uint32_t)(*text - '0');
			digits++;
			n.exponent += !behind;
		} else {
			n.exponent -= behind;
		}
	}
	for (; digits < 6; digits++)
		n.digits *= 10;
	if (*text == 'e')
		n.exponent += (int)strtol(text + 1, NULL, 10);
	return n;
}

static uint64_t of_real(double d)
{
	char text[WM_DIGITS_MAX];
	struct wm_six n;
	size_t bytes;

	if (wm_digits_six(d, &n))
		return of_six(&n, d < 0);
	bytes = (size_t)(wm_digits_g(text, d) - text);
	text[bytes] = 0;
	if (d == 0 || strpbrk(text, "in")) /* "inf", "nan" */
		return d == 0 ? 0 : wm_value_hash_text(text, bytes);
	n = six_of(text);
	return of_six(&n, d < 0);
}

uint64_t wm_value_real(double d)
{
	if (d > -1e6 && d < 1e6 && d == (double)(int32_t)d)
		return (uint64_t)(int64_t)(int32_t)d;
	return of_real(d);
}

/*
 * A negative number in base 2, 8 or 16 is printed as its low bits, rounded up to whole digits:
 * returns the mask of these bits.
 */
static uint64_t mask_of(const struct wm_type *t)
{
	uint32_t per_digit = t->look == WM_LOOK_OCTAL ? 3 : t->look == WM_LOOK_BINARY ? 1 : 4;
	uint32_t bits = (t->bits + per_digit - 1) / per_digit * per_digit;
	bool is_cut = t->kind == WM_TYPE_SIGNED && t->look != WM_LOOK_DECIMAL;

	return !is_cut || t->bits >= 64 || bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

static void value_hash_add_item(struct sum *s, const struct wm_item *i)
{
	const struct wm_type *t = i->member->type;

	switch (t->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_BOOL:
		value_hash_add(s, i->u);
		break;
	case WM_TYPE_SIGNED:
		value_hash_add(s, i->u & mask_of(t));
		break;
	case WM_TYPE_FLOAT:
		value_hash_add(s, wm_value_real(i->f));
		break;
	case WM_TYPE_BYTES:
		if (t->is_bare) { /* hashed like an array of numbers */
			value_hash_add(s, i->count);
			for (uint32_t k = 0; k < i->count; k++)
				value_hash_add(s, i->bytes[k]);
			break;
		}
		value_hash_add(s, wm_value_hash_text(i->bytes, i->count));
		break;
	case WM_TYPE_STRING:
		value_hash_add(s, wm_value_hash_text(i->bytes, i->count));
		break;
	case WM_TYPE_LIST:
		value_hash_add(s, i->count);
		break;
	default: /* containers; their parts follow */
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
			value_hash_add_item(&s, &e->items[i]);
	}
	return value_hash_mix(s.sum + s.nr);
}

/* --- a whole trace --------------------------------------------------------------------- */

struct tally {
	uint64_t events, hash;
	char apart[112]; /* padding: no two threads write to the same cache line */
};

static int value_hash_batch(void *state, const struct wm_batch *b)
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
		err = wm_scan(t, &o, value_hash_batch, states);
	*ret_events = *ret_hash = 0;
	for (uint32_t i = 0; !err && i < o.nr_threads; i++) {
		*ret_events += tallies[i].events;
		*ret_hash += tallies[i].hash;
	}
	free(tallies);
	free(states);
	return err;
}
