/* SPDX-License-Identifier: MIT */
/*
 * metadata_text.c - what both metadata languages need: safe and unique names, clock arithmetic,
 * names of scalar types. See metadata.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "write/metadata.h"

#ifndef WM_VERSION
#define WM_VERSION "0.0.0"
#endif

const char *wm_meta_clock_name(enum wm_clock_kind kind)
{
	return kind == WM_CLOCK_CYCLES ? "cycles" : "monotonic";
}

void wm_meta_uuid(struct wm_text *t, const unsigned char uuid[WM_TRACE_UUID_BYTES])
{
	uint32_t i;

	for (i = 0; i < WM_TRACE_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			wm_text_char(t, '-');
		wm_text_f(t, "%02x", uuid[i]);
	}
}

void wm_meta_clock_offset(const struct wm_meta_trace *trace, int64_t *ret_seconds,
			  uint64_t *ret_cycles)
{
	__int128 hz = trace->clock_hz, seconds;
	/*
	 * The factors have 64 and 63 bits (hz is below 2^63, as checked at creation), so the
	 * product fits in 127.
	 */
	__int128 cycles =
	    (__int128)trace->start_realtime_ns * hz / WM_NS_PER_SECOND - trace->clock_start;

	seconds = cycles / hz;
	if (cycles % hz < 0)
		seconds--;
	*ret_seconds = (int64_t)seconds;
	*ret_cycles = (uint64_t)(cycles - seconds * hz);
}

void wm_meta_version(uint32_t ret_parts[3])
{
	ret_parts[0] = ret_parts[1] = ret_parts[2] = 0;
	(void)sscanf(WM_VERSION, "%u.%u.%u", &ret_parts[0], &ret_parts[1],
		     &ret_parts[2]); /* missing parts are 0 */
}

struct wm_scalar_name wm_meta_scalar(const struct wm_field *f)
{
	static const char letters[] = {
	    [WM_SCALAR_SIGNED] = 'i', [WM_SCALAR_UNSIGNED] = 'u', [WM_SCALAR_HEX] = 'x',
	    [WM_SCALAR_BOOL] = 'b',   [WM_SCALAR_FLOAT] = 'f',    [WM_SCALAR_POINTER] = 'p',
	};

	if (f->shape == WM_SHAPE_BLOB)
		return (struct wm_scalar_name){"z1"};
	if (f->shape == WM_SHAPE_CHARS)
		return (struct wm_scalar_name){"c1"};
	return (struct wm_scalar_name){{letters[f->scalar], (char)('0' + f->bytes), '\0'}};
}

struct wm_label_value wm_meta_label(const struct wm_field *f, int64_t value)
{
	uint32_t drop = 64u - 8u * f->bytes;

	if (f->scalar == WM_SCALAR_SIGNED)
		return (struct wm_label_value){true, (int64_t)((uint64_t)value << drop) >> drop};
	return (struct wm_label_value){false, (int64_t)((uint64_t)value << drop >> drop)};
}

void wm_meta_event_name(struct wm_text *t, const struct wm_class *class,
			void (*quote)(struct wm_text *t, const char *s))
{
	struct wm_text name;
	size_t i, provider;

	wm_text_init(&name);
	wm_text_str(&name, class->provider);
	provider = name.bytes;
	for (i = 0; i < provider; i++)
		if (name.data[i] == ':')
			name.data[i] = '_';
	wm_text_char(&name, ':');
	wm_text_str(&name, class->name);
	if (name.failed)
		t->failed = true;
	else
		quote(t, name.data);
	wm_text_done(&name);
}

/*
 * Each row: the range of the lead byte, the range of the byte after it, and the number of bytes
 * that follow the lead byte.
 */
uint32_t wm_meta_utf8(const char *s)
{
	static const struct {
		unsigned char lead_min, lead_max, next_min, next_max, follow;
	} forms[] = {
	    {0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
	    {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
	    {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3},
	};
	const unsigned char *u = (const unsigned char *)s;
	uint32_t i, k;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (u[0] < forms[i].lead_min || u[0] > forms[i].lead_max)
			continue;
		if (forms[i].follow && (u[1] < forms[i].next_min || u[1] > forms[i].next_max))
			return 0;
		/* A NUL is not a continuation byte: never reads beyond the string. */
		for (k = 2; k <= forms[i].follow; k++)
			if ((u[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].follow + 1;
	}
	return 0;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static bool is_taken(const struct wm_meta_members *m, uint32_t before, const char *name,
		     const char *const *taken)
{
	uint32_t i;

	for (; taken && *taken; taken++)
		if (!strcmp(*taken, name))
			return true;
	for (i = 0; i < before; i++)
		if (!strcmp(m->at[i].name, name) || !strcmp(m->at[i].length, name))
			return true;
	return false;
}

static void set_names(struct wm_meta_member *m, const struct wm_field *f, bool identifiers,
		      const char *suffix)
{
	uint32_t n;
	char *c;

	(void)snprintf(m->name, sizeof(m->name), "%.*s%s", (int)WM_CLASS_NAME_MAX,
		       f->name ? f->name : "", suffix); /* fits */
	for (c = m->name; *c; c += n ? n : 1) {
		n = identifiers ? is_word(*c) : wm_meta_utf8(c);
		if (!n)
			*c = identifiers ? '_' : '?';
	}
	m->length[0] = '\0';
	if (f->shape == WM_SHAPE_SEQUENCE || f->shape == WM_SHAPE_BLOB)
		(void)snprintf(m->length, sizeof(m->length), "_%s_length", m->name); /* fits */
}

struct wm_meta_members wm_meta_members(const struct wm_class *class, bool identifiers,
				       const char *const *taken)
{
	struct wm_meta_members m = {calloc(class->nr_fields + 1u, sizeof(*m.at)), class->nr_fields};
	uint32_t i, attempt;
	char suffix[16];

	for (i = 0; m.at && i < class->nr_fields; i++) {
		suffix[0] = '\0';
		/* Each clash increases the number by the number of fields, so the loop ends. */
		for (attempt = 0;; attempt++) {
			set_names(&m.at[i], &class->fields[i], identifiers, suffix);
			if (m.at[i].name[0] && !is_taken(&m, i, m.at[i].name, taken) &&
			    !(m.at[i].length[0] && is_taken(&m, i, m.at[i].length, taken)))
				break;
			(void)snprintf(suffix, sizeof(suffix), "_%u",
				       i + attempt * class->nr_fields); /* fits: below 2^20 */
		}
	}
	return m;
}

void wm_meta_members_done(struct wm_meta_members *m)
{
	free(m->at);
	m->at = NULL;
}
