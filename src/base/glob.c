/* SPDX-License-Identifier: MIT */
/*
 * glob.c - see glob.h. Backtracks only to the last '*': whatever an earlier '*' could match
 * differently, the later one can match as well. So the search is a loop with two saved positions
 * instead of a recursion.
 */
#include "base/glob.h"

/* Index after the ']' of the set that begins at p[0] == '['; 0 when the set is not closed. */
static size_t glob_set_end(const char *p, size_t n)
{
	size_t i = 1;

	if (i < n && (p[i] == '!' || p[i] == '^'))
		i++;
	if (i < n && p[i] == ']')
		i++;
	while (i < n && p[i] != ']')
		i++;
	return i < n ? i + 1 : 0;
}

/* Whether the set p[0..end), which includes its brackets, contains `c`. */
static bool set_has(const char *p, size_t end, unsigned char c)
{
	size_t i = 1;
	size_t last = end - 1;
	bool negated = false, found = false;

	if (p[i] == '!' || p[i] == '^') {
		negated = true;
		i++;
	}
	while (i < last) {
		unsigned char low = (unsigned char)p[i], high = low;

		i++;
		if (i + 1 < last && p[i] == '-') {
			high = (unsigned char)p[i + 1];
			i += 2;
		}
		if (c >= low && c <= high)
			found = true;
	}
	return found != negated;
}

/* Number of pattern bytes at p that match the single byte `c`; 0 when they do not match. */
static size_t match_one(const char *p, size_t n, char c)
{
	size_t end;

	if (n == 0)
		return 0;
	switch (p[0]) {
	case '?':
		return 1;
	case '\\':
		if (n >= 2)
			return p[1] == c ? 2 : 0;
		return c == '\\' ? 1 : 0;
	case '[':
		end = glob_set_end(p, n);
		if (end)
			return set_has(p, end, (unsigned char)c) ? end : 0;
		return c == '[' ? 1 : 0;
	default:
		return p[0] == c ? 1 : 0;
	}
}

bool wm_glob_match(const char *pattern, size_t pattern_bytes, const char *text, size_t text_bytes)
{
	size_t p = 0, t = 0;
	/* positions after the last '*' in the pattern, and after the text it matches so far */
	size_t star = 0, star_text = 0;
	bool starred = false;

	while (t < text_bytes) {
		size_t used;

		if (p < pattern_bytes && pattern[p] == '*') {
			star = ++p;
			star_text = t;
			starred = true;
			continue;
		}
		used = match_one(pattern + p, pattern_bytes - p, text[t]);
		if (used) {
			p += used;
			t++;
		} else if (starred) {
			p = star;
			t = ++star_text;
		} else {
			return false;
		}
	}
	while (p < pattern_bytes && pattern[p] == '*')
		p++;
	return p == pattern_bytes;
}

bool wm_glob_is_pattern(const char *pattern, size_t pattern_bytes)
{
	for (size_t i = 0; i < pattern_bytes; i++) {
		char c = pattern[i];

		if (c == '*' || c == '?' || c == '\\')
			return true;
		if (c == '[' && glob_set_end(pattern + i, pattern_bytes - i))
			return true;
	}
	return false;
}
