/* SPDX-License-Identifier: MIT */
/* mutate.c - see mutate.h. Each edit is a function in one of two tables. */
#include "mutate.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define EDITS_MAX  16u
#define GROWTH_MAX 4096u /* limit for the bytes that one edit adds */

void fuzz_random_init(struct fuzz_random *r, uint64_t seed, uint64_t number)
{
	r->state[0] = seed * 0x9e3779b97f4a7c15ull + number + 1;
	r->state[1] = (number ^ 0x2545f4914f6cdd1dull) * 0xbf58476d1ce4e5b9ull + seed;
	for (int i = 0; i < 8; i++)
		(void)fuzz_random_next(r);
}

/* xorshift128+ */
uint64_t fuzz_random_next(struct fuzz_random *r)
{
	uint64_t a = r->state[0], b = r->state[1];

	r->state[0] = b;
	a ^= a << 23;
	a ^= a >> 17 ^ b ^ b >> 26;
	r->state[1] = a;
	return a + b;
}

uint64_t fuzz_random_below(struct fuzz_random *r, uint64_t limit)
{
	return (fuzz_random_next(r) >> 16) % limit;
}

size_t fuzz_mutate_room(size_t bytes)
{
	return bytes + (size_t)EDITS_MAX * GROWTH_MAX;
}

/* --- bytes and numbers ----------------------------------------------------------- */

/*
 * Chooses an offset with `bytes` bytes after it; prefers the first kilobytes, which contain
 * headers.
 */
static size_t place(const struct fuzz_bytes *b, size_t bytes, struct fuzz_random *r)
{
	size_t limit = b->bytes - bytes + 1;

	if (limit > 4096 && fuzz_random_below(r, 3) == 0)
		limit = fuzz_random_below(r, 2) ? 4096 : 256;
	return fuzz_random_below(r, limit);
}

static void flip_bit(struct fuzz_bytes *b, struct fuzz_random *r)
{
	b->data[place(b, 1, r)] ^= (unsigned char)(1u << fuzz_random_below(r, 8));
}

static void set_byte(struct fuzz_bytes *b, struct fuzz_random *r)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 8, 0x20, '"', '{'};
	uint64_t which = fuzz_random_below(r, 2 * sizeof(values));

	b->data[place(b, 1, r)] =
	    which < sizeof(values) ? values[which] : (unsigned char)fuzz_random_next(r);
}

static uint64_t load(const unsigned char *p, unsigned width, bool big)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)p[big ? width - 1 - i : i] << 8 * i;
	return v;
}

static void store(unsigned char *p, unsigned width, bool big, uint64_t v)
{
	for (unsigned i = 0; i < width; i++)
		p[big ? width - 1 - i : i] = (unsigned char)(v >> 8 * i);
}

/* Returns a value that a size, count or offset should not have. */
static uint64_t bad_number(const struct fuzz_bytes *b, size_t at, uint64_t old,
			   struct fuzz_random *r)
{
	const uint64_t values[] = {
	    0,
	    1,
	    old + 1,
	    old - 1,
	    old * 2,
	    old + 8,
	    old - 8,
	    ~0ull,
	    ~0ull >> 1,
	    1ull << 63,
	    UINT32_MAX,
	    INT32_MAX,
	    0xffff,
	    b->bytes,
	    b->bytes + 1,
	    b->bytes - 1,
	    b->bytes * 8,
	    b->bytes - at,
	    1ull << 32,
	    1ull << 20,
	    1ull << 30,
	    old + (1u << 16),
	    old << 32,
	    old ^ 0x80,
	    7,
	    8 * b->bytes,
	    0xfff0,
	    at,
	    at - 8,
	    old / 2,
	};
	size_t nr = sizeof(values) / sizeof(values[0]);
	uint64_t which = fuzz_random_below(r, nr + 2);

	return which < nr ? values[which] : fuzz_random_next(r) >> fuzz_random_below(r, 64);
}

static unsigned a_width(const struct fuzz_bytes *b, struct fuzz_random *r)
{
	unsigned width = 1u << fuzz_random_below(r, 4);

	return width <= b->bytes ? width : 1;
}

static void set_number(struct fuzz_bytes *b, struct fuzz_random *r)
{
	unsigned width = a_width(b, r);
	bool big = fuzz_random_below(r, 4) == 0;
	size_t at = place(b, width, r);

	if (fuzz_random_below(r, 2))
		at -= at % width;
	store(b->data + at, width, big, bad_number(b, at, load(b->data + at, width, big), r));
}

/*
 * Changes a number that may be a size or an offset: not zero, and not beyond the end of the file.
 */
static void attack_size(struct fuzz_bytes *b, struct fuzz_random *r)
{
	unsigned width = fuzz_random_below(r, 2) ? 4 : 8;
	bool big = fuzz_random_below(r, 4) == 0;

	if (b->bytes < width)
		return;
	for (int i = 0; i < 64; i++) {
		size_t at = place(b, width, r) & ~(size_t)3;
		uint64_t v = load(b->data + at, width, big);

		if (v && v <= 8 * b->bytes) {
			store(b->data + at, width, big, bad_number(b, at, v, r));
			return;
		}
	}
}

static void nudge(struct fuzz_bytes *b, struct fuzz_random *r)
{
	unsigned width = a_width(b, r);
	size_t at = place(b, width, r);
	uint64_t by = 1 + fuzz_random_below(r, 16);

	store(b->data + at, width, false,
	      load(b->data + at, width, false) + (fuzz_random_below(r, 2) ? by : 0 - by));
}

/* --- blocks ------------------------------------------------------------------------ */

static size_t a_length(const struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t most = (size_t)1 << fuzz_random_below(r, 13);

	most = most < b->bytes ? most : b->bytes;
	return 1 + fuzz_random_below(r, most);
}

/* Chooses a block: often of four or eight bytes, at a multiple of that. */
static size_t a_block(const struct fuzz_bytes *b, size_t bytes, struct fuzz_random *r)
{
	size_t at = place(b, bytes, r);

	return fuzz_random_below(r, 2) ? at & ~(size_t)7 : at;
}

static void truncate_at(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t tail = 1 + fuzz_random_below(r, b->bytes < 64 ? b->bytes : 64);

	b->bytes = fuzz_random_below(r, 2) ? fuzz_random_below(r, b->bytes) : b->bytes - tail;
}

static void remove_block(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t bytes = a_length(b, r), at = a_block(b, bytes, r);

	memmove(b->data + at, b->data + at + bytes, b->bytes - at - bytes);
	b->bytes -= bytes;
}

static void double_block(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t bytes = a_length(b, r), at = a_block(b, bytes, r);

	bytes = bytes < GROWTH_MAX ? bytes : GROWTH_MAX;
	if (bytes > b->room - b->bytes)
		return;
	memmove(b->data + at + bytes, b->data + at, b->bytes - at);
	b->bytes += bytes;
}

static void swap_blocks(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t bytes = a_length(b, r), one = a_block(b, bytes, r), other = a_block(b, bytes, r);

	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = b->data[one + i];

		b->data[one + i] = b->data[other + i];
		b->data[other + i] = c;
	}
}

static void copy_block(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t bytes = a_length(b, r), from = a_block(b, bytes, r), to = a_block(b, bytes, r);

	memmove(b->data + to, b->data + from, bytes);
}

static void fill_block(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t bytes = a_length(b, r), at = a_block(b, bytes, r);
	uint64_t how = fuzz_random_below(r, 3);

	if (how < 2) {
		memset(b->data + at, how ? 0xff : 0, bytes);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		b->data[at + i] = (unsigned char)fuzz_random_next(r);
}

/* --- text -------------------------------------------------------------------------- */

static bool insert(struct fuzz_bytes *b, size_t at, size_t old, const void *data, size_t bytes)
{
	if (bytes > old && bytes - old > b->room - b->bytes)
		return false;
	memmove(b->data + at + bytes, b->data + at + old, b->bytes - at - old);
	memcpy(b->data + at, data, bytes);
	b->bytes = b->bytes - old + bytes;
	return true;
}

/* Replaces a number in the text by another one. */
static void change_numeral(struct fuzz_bytes *b, struct fuzz_random *r)
{
	static const char *const values[] = {"0",
					     "1",
					     "7",
					     "8",
					     "32",
					     "64",
					     "65",
					     "4294967295",
					     "-1",
					     "63",
					     "128",
					     "2",
					     "16",
					     "1000",
					     "65536",
					     "1e3",
					     "18446744073709551615",
					     "",
					     "3",
					     "5",
					     "0x1",
					     "1.5",
					     "99999999999999999999"};
	const char *value = values[fuzz_random_below(r, sizeof(values) / sizeof(values[0]))];
	size_t at = place(b, 1, r), end;

	while (at < b->bytes && !isdigit(b->data[at]))
		at++;
	for (end = at; end < b->bytes && isdigit(b->data[end]); end++)
		;
	if (at < b->bytes)
		(void)insert(b, at, end - at, value, strlen(value));
}

static size_t line_end(const struct fuzz_bytes *b, size_t at)
{
	const unsigned char *end = memchr(b->data + at, '\n', b->bytes - at);

	return end ? (size_t)(end - b->data) + 1 : b->bytes;
}

static void remove_line(struct fuzz_bytes *b, struct fuzz_random *r)
{
	size_t at = line_end(b, place(b, 1, r)), end;

	if (at >= b->bytes)
		return;
	end = line_end(b, at);
	(void)insert(b, at, end - at, "", 0);
}

static void double_line(struct fuzz_bytes *b, struct fuzz_random *r)
{
	unsigned char line[GROWTH_MAX];
	size_t at = line_end(b, place(b, 1, r)), bytes;

	if (at >= b->bytes)
		return;
	bytes = line_end(b, at) - at;
	if (bytes > sizeof(line))
		return;
	memcpy(line, b->data + at, bytes);
	(void)insert(b, fuzz_random_below(r, 2) ? at : line_end(b, place(b, 1, r)), 0, line, bytes);
}

/* Inserts deep nesting, and words of the languages in which descriptions are written. */
static void insert_words(struct fuzz_bytes *b, struct fuzz_random *r)
{
	static const char *const words[] = {
	    "{",          "}",       "[",         "]",          "\"",           ";",
	    ":=",         "(",       ")",         "struct",     "enum",         "variant",
	    "string",     "integer", "align",     "size = 0;",  "->",           "...",
	    "null",       "true",    "\\u0000",   "/*",         "REC->",        "%s",
	    "__data_loc", "\x1e",    "typealias", "4294967296", "event.header", ".",
	    ",",          "sizeof",  "? 1 :",     "<<",         "\\",           "!"};
	const char *word = words[fuzz_random_below(r, sizeof(words) / sizeof(words[0]))];
	size_t times = fuzz_random_below(r, 8) ? 1 : 1 + fuzz_random_below(r, 300);
	size_t at = place(b, 1, r), bytes = strlen(word);
	unsigned char text[GROWTH_MAX];

	times = times * bytes > sizeof(text) ? sizeof(text) / bytes : times;
	for (size_t i = 0; i < times; i++)
		memcpy(text + i * bytes, word, bytes);
	(void)insert(b, at, 0, text, times * bytes);
}

/* --- the whole --------------------------------------------------------------------- */

typedef void edit_fn(struct fuzz_bytes *b, struct fuzz_random *r);

static edit_fn *const edits[] = {
    flip_bit,     flip_bit,    set_byte,    set_byte,   set_number,  set_number,
    attack_size,  attack_size, attack_size, nudge,      truncate_at, remove_block,
    double_block, swap_blocks, copy_block,  fill_block,
};

static edit_fn *const text_edits[] = {
    change_numeral, change_numeral, change_numeral, remove_line,  double_line, insert_words,
    insert_words,   flip_bit,       set_byte,       remove_block, swap_blocks, copy_block,
};

#define NR(table) (sizeof(table) / sizeof((table)[0]))

void fuzz_mutate(struct fuzz_bytes *b, bool is_text, struct fuzz_random *r)
{
	uint64_t nr = 1;

	/* Several edits, because a single one is rarely enough for some errors. */
	if (fuzz_random_below(r, 2))
		nr += fuzz_random_below(r, 1 + fuzz_random_below(r, EDITS_MAX));
	for (uint64_t i = 0; i < nr && b->bytes; i++) {
		if (is_text)
			text_edits[fuzz_random_below(r, NR(text_edits))](b, r);
		else
			edits[fuzz_random_below(r, NR(edits))](b, r);
	}
}
