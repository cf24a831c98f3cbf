/* SPDX-License-Identifier: MIT */
/*
 * ctf2_parse.c - parses the fragments of CTF 2 metadata. jansson parses the JSON, ctf2_type.c the
 * field classes.
 */
#include "read/ctf/meta/ctf2_parse.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/meta/ctf2_int.h"

#define RECORD_SEPARATOR 0x1e

/* --- errors and members ------------------------------------------------------------ */

int wm_ctf2_fail(struct ctf2 *p, int err, const char *fmt, ...)
{
	char sentence[WM_DIAG_SENTENCE];
	va_list args;

	if (p->err)
		return p->err;
	p->err = err;
	va_start(args, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	(void)wm_diag_set(p->diag, err, p->where, p->offset, "%s", sentence);
	if (p->diag)
		p->diag->line = p->line;
	return err;
}

void *wm_ctf2_memory(struct ctf2 *p, void *piece)
{
	if (!piece)
		(void)wm_ctf2_fail(p, -ENOMEM, "out of memory for metadata of this size");
	return piece;
}

json_t *wm_ctf2_need(struct ctf2 *p, json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!value)
		(void)wm_ctf2_fail(p, -EBADMSG, "no '%s'", key);
	return value;
}

const char *wm_ctf2_copy(struct ctf2 *p, const json_t *string)
{
	return wm_ctf2_memory(
	    p, wm_arena_copy(&p->m->arena, json_string_value(string), json_string_length(string)));
}

/* Numbers too large for jansson arrive as strings with this prefix; see quote_large(). */
static const char large_mark[] = "\x7flarge:";

/* Returns the digits of a number that is too large for jansson; NULL: any other value. */
static const char *large_digits(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t mark = sizeof(large_mark) - 1;

	return text && !strncmp(text, large_mark, mark) ? text + mark : NULL;
}

static const char *copied_text(struct ctf2 *p, const char *text)
{
	return wm_ctf2_memory(p, wm_arena_copy(&p->m->arena, text, strlen(text)));
}

const char *wm_ctf2_text(struct ctf2 *p, json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!value)
		return NULL;
	if (!json_is_string(value) || large_digits(value) ||
	    json_string_length(value) > WM_CTF_TEXT_MAX) {
		(void)wm_ctf2_fail(p, -EBADMSG, "'%s' is not a string of up to %u bytes", key,
				   WM_CTF_TEXT_MAX);
		return NULL;
	}
	return wm_ctf2_copy(p, value);
}

bool wm_ctf2_number(const json_t *value, bool *ret_negative, uint64_t *ret_bits)
{
	const char *digits = large_digits(value);

	if (digits) {
		char *end;

		errno = 0;
		*ret_bits = strtoull(digits, &end, 10);
		*ret_negative = false;
		return errno == 0 && *digits != '-' && !*end;
	}
	if (!json_is_integer(value))
		return false;
	*ret_bits = (uint64_t)json_integer_value(value);
	*ret_negative = json_integer_value(value) < 0;
	return true;
}

uint64_t wm_ctf2_unsigned(struct ctf2 *p, json_t *object, const char *key, uint64_t initial,
			  uint64_t max)
{
	json_t *value = json_object_get(object, key);
	bool negative = false;
	uint64_t n = 0;

	if (!value)
		return initial;
	if (!wm_ctf2_number(value, &negative, &n) || negative || n > max) {
		(void)wm_ctf2_fail(p, -EBADMSG, "'%s' is not a number from 0 to %llu", key,
				   (unsigned long long)max);
		return initial;
	}
	return n;
}

static int64_t ctf2_signed(struct ctf2 *p, json_t *object, const char *key, int64_t initial)
{
	json_t *value = json_object_get(object, key);

	if (!value)
		return initial;
	if (!json_is_integer(value)) {
		(void)wm_ctf2_fail(p, -EBADMSG, "'%s' is not a 64-bit number", key);
		return initial;
	}
	return json_integer_value(value);
}

/* --- fragments ----------------------------------------------------------------------- */

#define APPEND(p, array, count, item)                                                              \
	do {                                                                                       \
		void *larger_ = wm_ctf2_memory(                                                    \
		    (p), wm_arena_grow(&(p)->m->arena, (array), (count), sizeof(*(array))));       \
		if (larger_) {                                                                     \
			(array) = larger_;                                                         \
			(array)[(count)++] = (item);                                               \
		}                                                                                  \
	} while (0)

/* Parses the structure of a scope; NULL when the fragment has none. */
static struct wm_ctf_type *ctf2_parse_scope(struct ctf2 *p, json_t *f, const char *key)
{
	json_t *value = json_object_get(f, key);
	struct wm_ctf_type *t = value ? wm_ctf2_type(p, value) : NULL;

	if (t && t->kind != WM_CTF_STRUCT)
		(void)wm_ctf2_fail(p, -EBADMSG, "'%s' is not a structure", key);
	return t;
}

/*
 * Extensions change the meaning of bytes, so a reader that does not support one must refuse the
 * trace.
 */
static void refuse_extensions(struct ctf2 *p, json_t *f)
{
	json_t *spaces = json_object_get(f, "extensions"), *names, *one;
	const char *space, *name;

	json_object_foreach(spaces, space, names)
	{
		json_object_foreach(names, name, one)
		{
			(void)one;
			(void)wm_ctf2_fail(p, -EBADMSG,
					   "it requires extension '%.80s' of '%.80s', which is "
					   "not supported",
					   name, space);
		}
	}
	if (json_object_size(spaces))
		(void)wm_ctf2_fail(p, -EBADMSG, "it requires extensions, which are not supported");
}

static void ctf2_parse_preamble(struct ctf2 *p, json_t *f)
{
	json_t *uuid = json_object_get(f, "uuid"), *byte;
	size_t i;

	if (p->m->major == 2)
		(void)wm_ctf2_fail(p, -EBADMSG, "a second preamble");
	if (wm_ctf2_unsigned(p, f, "version", 0, UINT32_MAX) != 2)
		(void)wm_ctf2_fail(p, -EBADMSG, "this is not CTF version 2");
	refuse_extensions(p, f);
	p->m->major = 2;
	if (!uuid)
		return;
	p->m->has_uuid = json_array_size(uuid) == 16;
	json_array_foreach(uuid, i, byte)
	{
		if (!p->m->has_uuid || !json_is_integer(byte) || json_integer_value(byte) < 0 ||
		    json_integer_value(byte) > 255) {
			p->m->has_uuid = false;
			break;
		}
		p->m->uuid[i] = (unsigned char)json_integer_value(byte);
	}
	if (!p->m->has_uuid)
		(void)wm_ctf2_fail(p, -EBADMSG, "uuid is not 16 bytes");
}

static void environment(struct ctf2 *p, json_t *f)
{
	json_t *env = json_object_get(f, "environment"), *value;
	const char *key;

	json_object_foreach(env, key, value)
	{
		struct wm_ctf_pair pair = {0};

		pair.key = copied_text(p, key);
		if (large_digits(value))
			pair.text = copied_text(p, large_digits(value));
		else if (json_is_string(value))
			pair.text = wm_ctf2_copy(p, value);
		else if (json_is_integer(value))
			pair.number = json_integer_value(value);
		else
			(void)wm_ctf2_fail(p, -EBADMSG,
					   "environment '%.60s' is neither a string nor a number",
					   key);
		APPEND(p, p->m->env, p->m->nr_env, pair);
	}
}

static void ctf2_parse_trace_class(struct ctf2 *p, json_t *f)
{
	if (p->has_trace)
		(void)wm_ctf2_fail(p, -EBADMSG, "a second trace class");
	if (p->m->nr_streams)
		(void)wm_ctf2_fail(p, -EBADMSG, "a trace class after a data stream class");
	p->has_trace = true;
	p->m->trace_uid = wm_ctf2_text(p, f, "uid");
	environment(p, f);
	p->m->packet_header = ctf2_parse_scope(p, f, "packet-header-field-class");
}

/* An identity needs a name and a uid. */
static struct wm_ctf_identity identity(struct ctf2 *p, json_t *object)
{
	struct wm_ctf_identity i = {wm_ctf2_text(p, object, "namespace"),
				    wm_ctf2_text(p, object, "name"),
				    wm_ctf2_text(p, object, "uid")};

	return i.name && i.uid ? i : (struct wm_ctf_identity){0};
}

static void ctf2_parse_clock_class(struct ctf2 *p, json_t *f)
{
	json_t *offset = json_object_get(f, "offset-from-origin");
	json_t *origin = json_object_get(f, "origin");
	struct wm_ctf_clock c = {0};

	c.id = wm_ctf2_text(p, f, "id");
	c.name = wm_ctf2_text(p, f, "name");
	if (!c.name)
		c.name = c.id;
	if (!c.id)
		c.id = c.name;
	c.description = wm_ctf2_text(p, f, "description");
	c.hz = wm_ctf2_unsigned(p, f, "frequency", 0, UINT64_MAX);
	c.precision = wm_ctf2_unsigned(p, f, "precision", 0, UINT64_MAX);
	c.offset_seconds = ctf2_signed(p, offset, "seconds", 0);
	c.offset_cycles = (int64_t)wm_ctf2_unsigned(p, offset, "cycles", 0, INT64_MAX);
	c.absolute = json_is_string(origin) && !strcmp(json_string_value(origin), "unix-epoch");
	c.identity = identity(p, f);
	if (json_is_object(origin))
		c.origin = identity(p, origin);
	wm_ctf2_check_properties(p, "clock origin", origin);
	wm_ctf2_check_properties(p, "offset-from-origin", offset);
	if ((uint64_t)c.offset_cycles >= c.hz && c.hz)
		wm_ctf_warn(p->m, p->offset, p->line,
			    "clock class '%.60s': the cycles of its offset are a second or more",
			    c.id ? c.id : "");
	if (!c.id || !c.hz)
		(void)wm_ctf2_fail(p, -EBADMSG, "a clock class without id or frequency");
	if (origin && !c.absolute && !json_is_object(origin))
		(void)wm_ctf2_fail(p, -EBADMSG, "origin is neither \"unix-epoch\" nor an object");
	if (p->m->nr_clocks == WM_CTF_CLOCKS_MAX)
		(void)wm_ctf2_fail(p, -EBADMSG, "more than %u clock classes", WM_CTF_CLOCKS_MAX);
	for (uint32_t i = 0; c.id && i < p->m->nr_clocks; i++)
		if (!strcmp(c.id, p->m->clocks[i].id))
			(void)wm_ctf2_fail(p, -EBADMSG, "clock class '%.60s' is described twice",
					   c.id);
	APPEND(p, p->m->clocks, p->m->nr_clocks, c);
}

static void stream_class(struct ctf2 *p, json_t *f)
{
	struct wm_ctf_stream s = {0};

	s.id = wm_ctf2_unsigned(p, f, "id", 0, UINT64_MAX);
	s.clock = wm_ctf2_text(p, f, "default-clock-class-id");
	if (!s.clock)
		s.clock = wm_ctf2_text(p, f, "default-clock-class-name");
	s.packet_context = ctf2_parse_scope(p, f, "packet-context-field-class");
	s.event_header = ctf2_parse_scope(p, f, "event-record-header-field-class");
	s.event_context = ctf2_parse_scope(p, f, "event-record-common-context-field-class");
	if (!p->err)
		APPEND(p, p->m->streams, p->m->nr_streams, s);
}

/* Copies the attributes that waymark's writer adds to an event. */
static void waymark_pairs(struct ctf2 *p, json_t *f, struct wm_ctf_event *e)
{
	json_t *ours = json_object_get(json_object_get(f, "attributes"), "waymark"), *value;
	const char *key;

	json_object_foreach(ours, key, value)
	{
		struct wm_ctf_pair pair = {0};

		if ((!json_is_string(value) && !json_is_integer(value)) || large_digits(value))
			continue;
		pair.key = copied_text(p, key);
		if (json_is_string(value))
			pair.text = wm_ctf2_copy(p, value);
		pair.number = json_integer_value(value);
		if (!p->err && !strcmp(key, "log-level"))
			e->level = pair.number;
		APPEND(p, e->pairs, e->nr_pairs, pair);
	}
}

/* Reads a log level: a number in LTTng's numbering, or a name used by babeltrace2. */
static void log_level(struct ctf2 *p, json_t *f, struct wm_ctf_event *e)
{
	json_t *all = json_object_get(f, "attributes");
	json_t *lttng = json_object_get(json_object_get(all, "lttng.org,2009"), "log-level");
	json_t *other = json_object_get(json_object_get(all, "babeltrace.org,2020"), "log-level");
	json_t *level = lttng ? lttng : other;

	if (json_is_integer(level))
		e->level = json_integer_value(level);
	for (size_t i = 0; json_is_string(level) && i < WM_CTF_NR_LEVELS; i++) {
		if (!strcmp(json_string_value(level), wm_ctf_level_names[i]))
			e->level = (int64_t)i;
	}
}

static void event_class(struct ctf2 *p, json_t *f)
{
	struct wm_ctf_event e = {.level = -1, .line = p->line};

	e.id = wm_ctf2_unsigned(p, f, "id", 0, UINT64_MAX);
	e.stream_id = wm_ctf2_unsigned(p, f, "data-stream-class-id", 0, UINT64_MAX);
	if (!wm_ctf_stream_find(p->m, e.stream_id))
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "an event record class of data stream class %llu, which is not "
				   "described before it",
				   (unsigned long long)e.stream_id);
	e.name = wm_ctf2_text(p, f, "name");
	e.context = ctf2_parse_scope(p, f, "specific-context-field-class");
	e.fields = ctf2_parse_scope(p, f, "payload-field-class");
	log_level(p, f, &e);
	waymark_pairs(p, f, &e);
	if (!p->err)
		APPEND(p, p->m->events, p->m->nr_events, e);
}

static const struct {
	const char *type;
	void (*read)(struct ctf2 *p, json_t *f);
} fragments[] = {
    {"preamble", ctf2_parse_preamble},       {"field-class-alias", wm_ctf2_alias_add},
    {"trace-class", ctf2_parse_trace_class}, {"clock-class", ctf2_parse_clock_class},
    {"data-stream-class", stream_class},     {"event-record-class", event_class},
};

static void fragment(struct ctf2 *p, json_t *f)
{
	const char *type = json_string_value(json_object_get(f, "type"));

	if (p->m->major != 2 && (!type || strcmp(type, "preamble") != 0)) {
		(void)wm_ctf2_fail(p, -EBADMSG, "the first fragment is not a preamble");
		return;
	}
	for (size_t i = 0; type && i < sizeof(fragments) / sizeof(*fragments); i++) {
		if (!strcmp(type, fragments[i].type)) {
			wm_ctf2_check_properties(p, type, f);
			fragments[i].read(p, f);
			return;
		}
	}
	(void)wm_ctf2_fail(p, -EBADMSG, "unknown fragment type '%.60s'", type ? type : "");
}

/* --- text ----------------------------------------------------------------------------- */

/* Returns the length in bytes of the number that begins at text[0], or 0 when there is none. */
static size_t number_bytes(const char *text, size_t bytes)
{
	size_t n = bytes && text[0] == '-';

	if (n == bytes || text[n] < '0' || text[n] > '9')
		return 0;
	while (n < bytes && text[n] && strchr("0123456789.eE+-", text[n]))
		n++;
	return n;
}

/* Returns whether jansson refuses a number because of its size. */
static bool is_large(const char *text, size_t bytes)
{
	char number[64];
	size_t digits = 0, sign = text[0] == '-';

	while (sign + digits < bytes && text[sign + digits] >= '0' && text[sign + digits] <= '9')
		digits++;
	if (sign + digits < bytes) { /* a real number */
		(void)snprintf(number, sizeof(number), "%.*s", (int)bytes, text);
		return bytes < sizeof(number) && isinf(strtod(number, NULL));
	}
	if (digits > 1 && text[sign] == '0')
		return false; /* refused for another reason */
	return digits > 19 ||
	       (digits == 19 &&
		memcmp(text + sign, sign ? "9223372036854775808" : "9223372036854775807", 19) > 0);
}

/*
 * jansson reads signed 64-bit integers, but CTF has integers up to 2^64 - 1, and attributes may
 * have any number. Returns a malloc'ed copy of the text in which numbers that jansson refuses are
 * strings with a prefix that no other string begins with.
 */
static char *quote_large(const char *text, size_t bytes, size_t *ret_bytes)
{
	size_t mark = sizeof(large_mark) - 1, longer = mark + 2, n = 0;
	bool in_string = false;
	char *out;

	/* only numbers of at least 5 characters ("1e999") become longer */
	out = malloc(bytes + bytes / 5 * longer + 1);
	for (size_t i = 0; out && i < bytes;) {
		size_t number = in_string ? 0 : number_bytes(text + i, bytes - i);

		if (number && is_large(text + i, number)) {
			out[n++] = '"';
			memcpy(out + n, large_mark, mark);
			memcpy(out + n + mark, text + i, number);
			n += mark + number;
			out[n++] = '"';
			i += number;
			continue;
		}
		if (text[i] == '"')
			in_string = !in_string;
		if (in_string && text[i] == '\\' && i + 1 < bytes)
			out[n++] = text[i++];
		for (size_t left = number ? number : 1; left; left--)
			out[n++] = text[i++];
	}
	*ret_bytes = n;
	return out;
}

static json_t *ctf2_parse_load(struct ctf2 *p, const char *text, size_t bytes)
{
	const size_t flags = JSON_REJECT_DUPLICATES;
	json_error_t error = {0};
	json_t *f = json_loadb(text, bytes, flags, &error);

	if (!f && json_error_code(&error) == json_error_numeric_overflow) {
		size_t n = 0;
		char *copy = quote_large(text, bytes, &n);

		f = copy ? json_loadb(copy, n, flags, &error) : NULL;
		free(copy);
	}
	if (f && !json_is_object(f)) {
		json_decref(f);
		f = NULL;
		(void)wm_ctf2_fail(p, -EBADMSG, "a fragment that is not a JSON object");
	}
	if (!f && !p->err) {
		p->offset += error.position;
		p->line += error.line > 1 ? (uint32_t)error.line - 1 : 0;
		(void)wm_ctf2_fail(p, -EBADMSG, "not JSON: %s", error.text);
	}
	return f;
}

static uint32_t ctf2_parse_count_lines(const char *text, size_t bytes)
{
	uint32_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += text[i] == '\n';
	return n;
}

static bool is_blank(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (!strchr(" \t\r\n", text[i]) || !text[i])
			return false;
	}
	return true;
}

int wm_ctf2_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  struct wm_diag *diag)
{
	struct ctf2 p = {.m = m, .where = where, .diag = diag, .line = 1};
	uint32_t line = 1;
	size_t at = 0;

	m->major = 0;
	while (at < bytes && !p.err) {
		const char *begin = text + at, *end;
		size_t n;
		json_t *f;

		if (*begin == RECORD_SEPARATOR) {
			begin++;
			at++;
		}
		end = memchr(begin, RECORD_SEPARATOR, bytes - at);
		n = end ? (size_t)(end - begin) : bytes - at;
		p.offset = (int64_t)at;
		p.line = line;
		if (!is_blank(begin, n)) {
			f = ctf2_parse_load(&p, begin, n);
			if (f)
				fragment(&p, f);
			json_decref(f);
		}
		line += ctf2_parse_count_lines(begin, n);
		at += n;
	}
	if (!p.err && m->major != 2)
		(void)wm_ctf2_fail(&p, -EBADMSG, "no preamble");
	return p.err;
}
