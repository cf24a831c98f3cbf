/* SPDX-License-Identifier: MIT */
/* event_format.c - parses the lines of a format file one by one. */
#include "kdata/event_format.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

void wm_kmachine_init(struct wm_kmachine *m, unsigned long_bytes, bool big_endian)
{
	*m = (struct wm_kmachine){(uint8_t)long_bytes, big_endian, wm_order_swap(big_endian)};
}

/* What a field's line says after its declaration. */
enum { OFFSET, SIZE, SIGNED, NR_ATTRIBUTES };

struct slice {
	const char *at, *end;
};

struct parser {
	struct wm_arena *arena;
	const struct wm_kmachine *machine;
	const char *text;
	struct wm_diag *diag;
	struct wm_kformat *format;
	struct wm_kfield *fields; /* room for WM_KFORMAT_FIELDS_MAX, outside of the arena */
	bool has_id;
};

static int event_format_refuse(const struct parser *p, const char *at, const char *what)
{
	return wm_diag_set(p->diag, -EBADMSG, NULL, at - p->text, "event format: %s", what);
}

static bool event_format_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool event_format_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static struct slice event_format_trim(struct slice s)
{
	while (s.at < s.end && event_format_is_space(*s.at))
		s.at++;
	while (s.at < s.end && event_format_is_space(s.end[-1]))
		s.end--;
	return s;
}

static bool starts(struct slice s, const char *prefix)
{
	size_t n = strlen(prefix);

	return (size_t)(s.end - s.at) >= n && memcmp(s.at, prefix, n) == 0;
}

static bool contains(struct slice s, const char *word)
{
	return s.at < s.end && memmem(s.at, (size_t)(s.end - s.at), word, strlen(word)) != NULL;
}

static const char *event_format_keep(const struct parser *p, struct slice s)
{
	return wm_arena_copy(p->arena, s.at, (size_t)(s.end - s.at));
}

/* Parses a decimal number that makes up the whole string; UINT32_MAX: not a number. */
static uint32_t event_format_number(struct slice s)
{
	uint64_t value = 0;

	s = event_format_trim(s);
	if (s.at == s.end)
		return UINT32_MAX;
	for (; s.at < s.end; s.at++) {
		if (*s.at < '0' || *s.at > '9')
			return UINT32_MAX;
		value = 10 * value + (uint64_t)(*s.at - '0');
		if (value >= UINT32_MAX)
			return UINT32_MAX;
	}
	return (uint32_t)value;
}

/* Returns the size of an element if the type's name is known, else 0. */
static uint8_t event_format_width_of(const struct wm_kmachine *m, struct slice type)
{
	static const struct {
		const char *word;
		uint8_t bytes;
	} words[] = {
	    {"long long", 8}, {"64", 8},   {"32", 4},   {"16", 2},    {"u8", 1},     {"s8", 1},
	    {"int8_t", 1},    {"char", 1}, {"bool", 1}, {"short", 2}, {"double", 8}, {"float", 4},
	};

	if (contains(type, "*"))
		return m->long_bytes;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (contains(type, words[i].word))
			return words[i].bytes;
	}
	if (contains(type, "long") || contains(type, "size_t") || contains(type, "cpumask"))
		return m->long_bytes;
	return contains(type, "int") || contains(type, "unsigned") ? 4 : 0;
}

static bool is_width(uint32_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/*
 * Splits a declaration such as "unsigned short x", "char c[16]", "__data_loc char[] s" or "u8
 * a[4][6]" into name and type.
 */
static int event_format_declared(const struct parser *p, struct slice decl, struct slice *ret_type,
				 struct slice *ret_name, struct slice *ret_length)
{
	struct slice s = event_format_trim(decl), name;

	*ret_length = (struct slice){s.end, s.end};
	while (s.at < s.end && s.end[-1] == ']') {
		const char *open = memrchr(s.at, '[', (size_t)(s.end - s.at));

		if (!open)
			return event_format_refuse(p, s.at, "a ']' without '['");
		*ret_length = (struct slice){open + 1, s.end - 1};
		s = event_format_trim((struct slice){s.at, open});
	}
	name = s;
	name.at = name.end;
	while (name.at > s.at && event_format_is_word(name.at[-1]))
		name.at--;
	if (name.at == name.end)
		return event_format_refuse(p, decl.at, "a field without a name");
	*ret_name = name;
	*ret_type = event_format_trim((struct slice){s.at, name.at});
	return 0;
}

static uint16_t event_format_flags_of(struct slice type, bool is_array)
{
	uint16_t flags = 0;

	if (starts(type, "__data_loc"))
		flags |= WM_KFIELD_DATA_LOC | WM_KFIELD_ARRAY;
	else if (starts(type, "__rel_loc"))
		flags |= WM_KFIELD_REL_LOC | WM_KFIELD_ARRAY;
	else if (is_array)
		flags |= WM_KFIELD_ARRAY;
	if (contains(type, "mask") && (contains(type, "cpumask") || contains(type, "bitmask")))
		flags |= WM_KFIELD_BITMASK;
	if (memchr(type.at, '*', (size_t)(type.end - type.at)))
		flags |= WM_KFIELD_POINTER;
	if (starts(type, "bool") || starts(type, "_Bool"))
		flags |= WM_KFIELD_BOOL;
	return flags;
}

/* Determines the number and size of the elements. */
static int event_format_shape(const struct parser *p, struct wm_kfield *f, struct slice type,
			      struct slice length, const char *at)
{
	uint32_t nr = event_format_number(length);

	if (f->bytes == 0) /* "u32 buf[]" or, in old kernels, "u32 buf" */
		f->flags |= WM_KFIELD_ARRAY | WM_KFIELD_TAIL;
	if (f->flags & WM_KFIELD_ARRAY && !(f->flags & WM_KFIELD_POINTER) && contains(type, "char"))
		f->flags |= WM_KFIELD_CHARS;
	if (f->flags & WM_KFIELD_DYNAMIC) {
		if (f->bytes != 4)
			return event_format_refuse(
			    p, at, "a dynamic array whose descriptor is not 4 bytes long");
		f->element_bytes = event_format_width_of(p->machine, type);
		return 0;
	}
	if (!(f->flags & WM_KFIELD_ARRAY)) {
		f->element_bytes = is_width(f->bytes) ? (uint8_t)f->bytes : 0;
		return 0;
	}
	f->element_bytes = event_format_width_of(p->machine, type);
	/* The length is a name, or the array has several dimensions: use the type's size. */
	if (nr != UINT32_MAX && nr && f->bytes % nr == 0 && f->bytes / nr <= 8 && f->bytes)
		f->element_bytes = is_width(f->bytes / nr) ? (uint8_t)(f->bytes / nr) : 0;
	if (f->element_bytes && f->bytes % f->element_bytes)
		f->element_bytes = 0;
	f->length = f->element_bytes ? f->bytes / f->element_bytes : 0;
	return 0;
}

/* Reads the rest of a field's line, "offset:8; size:4; signed:1;", into `ret`; others are ignored.
 */
static void event_format_attributes(struct slice rest, uint32_t ret[NR_ATTRIBUTES])
{
	static const char *const keys[NR_ATTRIBUTES] = {"offset:", "size:", "signed:"};

	for (int i = 0; i < NR_ATTRIBUTES; i++)
		ret[i] = UINT32_MAX;
	while (rest.at < rest.end) {
		const char *end = memchr(rest.at, ';', (size_t)(rest.end - rest.at));
		struct slice s = event_format_trim((struct slice){rest.at, end ? end : rest.end});

		for (int i = 0; i < NR_ATTRIBUTES; i++)
			if (ret[i] == UINT32_MAX && starts(s, keys[i])) {
				s.at += strlen(keys[i]);
				ret[i] = event_format_number(s);
				break;
			}
		rest.at = end ? end + 1 : rest.end;
	}
}

static int event_format_add_field(struct parser *p, struct slice line)
{
	struct wm_kformat *f = p->format;
	const char *semicolon = memchr(line.at, ';', (size_t)(line.end - line.at));
	struct slice type = {0}, name = {0}, length = {0};
	struct wm_kfield k = {0};
	uint32_t values[NR_ATTRIBUTES];
	int err;

	if (!semicolon)
		return event_format_refuse(p, line.at, "a field's line without ';'");
	if (f->nr_fields >= WM_KFORMAT_FIELDS_MAX)
		return event_format_refuse(p, line.at, "more than 256 fields");
	err = event_format_declared(p, (struct slice){line.at, semicolon}, &type, &name, &length);
	if (err)
		return err;
	event_format_attributes((struct slice){semicolon + 1, line.end}, values);
	k.offset = values[OFFSET];
	k.bytes = values[SIZE];
	if (k.offset > WM_KFORMAT_RECORD_MAX || k.bytes > WM_KFORMAT_RECORD_MAX)
		return event_format_refuse(p, line.at, "a field without a usable offset and size");
	k.flags = event_format_flags_of(type, length.at != length.end ||
						  line.at[semicolon - line.at - 1] == ']');
	if (values[SIGNED] == 1)
		k.flags |= WM_KFIELD_SIGNED;
	err = event_format_shape(p, &k, type, length, line.at);
	if (err)
		return err;
	k.name = event_format_keep(p, name);
	k.type = event_format_keep(p, type);
	if (!k.name || !k.type)
		return -ENOMEM;
	p->fields[f->nr_fields] = k;
	if (f->nr_common == f->nr_fields && starts(name, "common_"))
		f->nr_common++;
	f->nr_fields++;
	if (k.offset + k.bytes > f->fixed_bytes)
		f->fixed_bytes = k.offset + k.bytes;
	return 0;
}

static int event_format_take_line(struct parser *p, struct slice line)
{
	line = event_format_trim(line);
	if (starts(line, "name:")) {
		line.at += strlen("name:");
		p->format->name = event_format_keep(p, event_format_trim(line));
		return p->format->name ? 0 : -ENOMEM;
	}
	if (starts(line, "ID:")) {
		line.at += strlen("ID:");
		p->format->id = event_format_number(line);
		p->has_id = p->format->id != UINT32_MAX;
		return p->has_id ? 0
				 : event_format_refuse(p, line.at, "an ID that is not a number");
	}
	if (starts(line, "field:") || starts(line, "field special:")) {
		line.at = (const char *)memchr(line.at, ':', (size_t)(line.end - line.at)) + 1;
		return event_format_add_field(p, line);
	}
	return 0; /* ignores "format:", and lines that later kernels may add */
}

static int event_format_take_lines(struct parser *p, struct slice text)
{
	while (text.at < text.end) {
		const char *nl = memchr(text.at, '\n', (size_t)(text.end - text.at));
		struct slice line = {text.at, nl ? nl : text.end};
		int err;

		if (starts(line, "print fmt:")) {
			line = event_format_trim(
			    (struct slice){text.at + strlen("print fmt:"), text.end});
			p->format->print = event_format_keep(p, line);
			return p->format->print ? 0 : -ENOMEM;
		}
		err = event_format_take_line(p, line);
		if (err)
			return err;
		text.at = nl ? nl + 1 : text.end;
	}
	return 0;
}

/*
 * An array at the end of one of ftrace's own events extends to the end of the record. It may be
 * shorter than its format says: the format of a stack has room for eight addresses.
 */
static void event_format_set_tail(struct wm_kformat *format, struct wm_kfield *f)
{
	if (!(f->flags & WM_KFIELD_ARRAY))
		return;
	f->flags |= WM_KFIELD_TAIL;
	f->bytes = f->length = 0;
	format->fixed_bytes = f->offset;
}

/* Parses the text into p->format and p->fields. */
static int event_format_parse(struct parser *p, const char *system, size_t bytes)
{
	int err;

	if (bytes > WM_KFORMAT_TEXT_MAX)
		return event_format_refuse(p, p->text, "more than 1 MiB of text");
	if (memchr(p->text, 0, bytes))
		return event_format_refuse(p, memchr(p->text, 0, bytes), "a NUL in the text");
	p->format = wm_arena_get(p->arena, sizeof(*p->format));
	if (!p->format)
		return -ENOMEM;
	p->format->print = "";
	p->format->system = wm_arena_copy(p->arena, system, strlen(system));
	err = event_format_take_lines(p, (struct slice){p->text, p->text + bytes});
	if (err)
		return err;
	if (!p->format->system)
		return -ENOMEM;
	if (!p->format->name || !p->format->name[0])
		return event_format_refuse(p, p->text, "no name");
	return p->has_id ? 0 : event_format_refuse(p, p->text, "no ID");
}

int wm_kformat_parse(struct wm_arena *arena, const struct wm_kmachine *m, const char *system,
		     const char *text, size_t bytes, const struct wm_kformat **ret,
		     struct wm_diag *diag)
{
	struct wm_kfield room[WM_KFORMAT_FIELDS_MAX], *fields;
	struct parser p = {
	    .arena = arena, .machine = m, .text = text, .diag = diag, .fields = room};
	int err = event_format_parse(&p, system, bytes);

	if (err)
		return err;
	fields = wm_arena_copy(arena, room, p.format->nr_fields * sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	p.format->fields = fields;
	if (strcmp(system, "ftrace") == 0 && p.format->nr_fields)
		event_format_set_tail(p.format, &fields[p.format->nr_fields - 1]);
	*ret = p.format;
	return 0;
}

const struct wm_kfield *wm_kformat_field(const struct wm_kformat *f, const char *name)
{
	for (unsigned i = 0; i < f->nr_fields; i++) {
		if (strcmp(f->fields[i].name, name) == 0)
			return &f->fields[i];
	}
	return NULL;
}

unsigned wm_kfield_sign_bits(const struct wm_kfield *f)
{
	static const char begin[] = "sbits";
	size_t n = sizeof(begin) - 1;
	unsigned bits;

	if (strncmp(f->type, begin, n) || f->flags & (WM_KFIELD_ARRAY | WM_KFIELD_DYNAMIC) ||
	    f->element_bytes != f->bytes || f->type[n] < '1' || f->type[n] > '9' ||
	    strlen(f->type + n) > 2)
		return 0;
	bits = (unsigned)f->type[n] - '0';
	if (f->type[n + 1])
		bits = 10 * bits + (unsigned)f->type[n + 1] - '0';
	return bits < 8 * f->bytes ? bits : 0;
}
