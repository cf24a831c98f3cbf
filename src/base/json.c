/* SPDX-License-Identifier: MIT */
/* json.c - see json.h. The locale does not affect how numbers are printed. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void wm_json_init(struct wm_json *j, FILE *out, unsigned lines)
{
	*j = (struct wm_json){.out = out, .lines = lines};
}

static void put_escaped(FILE *out, unsigned char c)
{
	static const char escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *p = escapes; *p; p += 2) {
		if ((unsigned char)*p == c) {
			(void)fprintf(out, "\\%c", p[1]);
			return;
		}
	}
	(void)fprintf(out, "\\u%04x", c);
}

static void put_quoted(FILE *out, const char *text, size_t bytes)
{
	const unsigned char *s = (const unsigned char *)text, *end = s + bytes;

	(void)putc('"', out);
	while (s < end) {
		const unsigned char *run = s;
		uint32_t length = 1, code;

		while (s < end && *s >= ' ' && *s != '"' && *s != '\\' && *s != 0x7f &&
		       (length = wm_utf8_read(s, (size_t)(end - s), &code)))
			s += length;
		(void)fwrite(run, 1, (size_t)(s - run), out);
		if (s == end)
			break;
		if (length)
			put_escaped(out, *s);
		else
			(void)fputs("\\ufffd", out);
		s++;
	}
	(void)putc('"', out);
}

/* Writes the comma and the key that precede a value. */
static void json_begin(struct wm_json *j, const char *key)
{
	uint32_t bit = 1u << j->depth;

	if (j->filled & bit)
		(void)putc(',', j->out);
	if (j->depth)
		j->filled |= bit;
	if (key && j->depth && !(j->arrays & bit)) {
		put_quoted(j->out, key, strlen(key));
		(void)putc(':', j->out);
	}
}

static void open_level(struct wm_json *j, const char *key, bool array)
{
	uint32_t bit;

	json_begin(j, key);
	if (!array && j->depth && j->depth <= j->lines && j->arrays & 1u << j->depth)
		(void)putc('\n', j->out);
	assert(j->depth + 1 < WM_JSON_DEPTH_MAX);
	(void)putc(array ? '[' : '{', j->out);
	j->depth++;
	bit = 1u << j->depth;
	j->filled &= ~bit;
	j->arrays = array ? j->arrays | bit : j->arrays & ~bit;
}

void wm_json_object(struct wm_json *j, const char *key)
{
	open_level(j, key, false);
}

void wm_json_array(struct wm_json *j, const char *key)
{
	open_level(j, key, true);
}

void wm_json_end(struct wm_json *j)
{
	assert(j->depth);
	(void)putc(j->arrays & 1u << j->depth ? ']' : '}', j->out);
	j->depth--;
	if (!j->depth)
		(void)putc('\n', j->out);
}

void wm_json_bytes(struct wm_json *j, const char *key, const char *value, size_t bytes)
{
	json_begin(j, key);
	put_quoted(j->out, value, bytes);
}

void wm_json_string(struct wm_json *j, const char *key, const char *value)
{
	if (value)
		wm_json_bytes(j, key, value, strlen(value));
	else
		wm_json_null(j, key);
}

void wm_json_i64(struct wm_json *j, const char *key, int64_t value)
{
	json_begin(j, key);
	(void)fprintf(j->out, "%" PRId64, value);
}

void wm_json_u64(struct wm_json *j, const char *key, uint64_t value)
{
	json_begin(j, key);
	(void)fprintf(j->out, "%" PRIu64, value);
}

/* Writes the shortest number that reads back as the same value. */
void wm_json_f64(struct wm_json *j, const char *key, double value)
{
	char text[40];
	char *comma;

	if (!isfinite(value)) {
		wm_json_null(j, key);
		return;
	}
	json_begin(j, key);
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	comma = strchr(text, ','); /* replaces the locale's decimal point */
	if (comma)
		*comma = '.';
	(void)fputs(text, j->out);
}

void wm_json_bool(struct wm_json *j, const char *key, bool value)
{
	json_begin(j, key);
	(void)fputs(value ? "true" : "false", j->out);
}

void wm_json_null(struct wm_json *j, const char *key)
{
	json_begin(j, key);
	(void)fputs("null", j->out);
}
