/* SPDX-License-Identifier: MIT */
/*
 * schema_int.h - walks an event's description (struct waymark_desc in <waymark/abi.h>) field by
 * field. This is the only parser of its schema: class.c (tools) and filter_link.c (guest) both use
 * it, so they always agree on a field's name and place.
 *
 * Guest rules: no libc, no allocation, no state; hence inline. Every byte is untrusted. Names
 * (doc/format/event.md):
 *
 *   base name   of a marker's argument: the word before the conversion in its
 *               format, else its spelling; of other fields: the name in the
 *               schema; always turned into an identifier
 *   final name  the base name; the k-th field with the same base name, k > 1,
 *               is named NAME_k
 */
#ifndef WM_EVENT_SCHEMA_INT_H
#define WM_EVENT_SCHEMA_INT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/class.h"

#define WM_DESC_BYTES_MAX  (1u << 20)
#define WM_SCHEMA_NAME_MAX 200u /* longer field names are truncated */

/*
 * A bit of waymark_desc.flags in descriptions built at run time (desc_build.h): the schema names
 * and types the fields, even for a marker. Descriptions in programs never have it.
 */
#define WM_DESC_NAMED (1u << 31)

/* Types for unaligned loads that no compiler turns into a call. */
struct wm_u16u {
	uint16_t v;
} __attribute__((packed, may_alias));
struct wm_u32u {
	uint32_t v;
} __attribute__((packed, may_alias));
struct wm_u64u {
	uint64_t v;
} __attribute__((packed, may_alias));

static inline uint16_t wm_load_u16(const void *p)
{
	return ((const struct wm_u16u *)p)->v;
}
static inline uint32_t wm_load_u32(const void *p)
{
	return ((const struct wm_u32u *)p)->v;
}
static inline uint64_t wm_load_u64(const void *p)
{
	return ((const struct wm_u64u *)p)->v;
}

/* The strings of a description, in order. Only LINKED descriptions have the last one. */
enum wm_desc_text {
	WM_TEXT_PROVIDER,
	WM_TEXT_NAME,
	WM_TEXT_SCHEMA,
	WM_TEXT_PRINT,
	WM_TEXT_FILE,
	WM_TEXT_CARRIER,
	WM_TEXT_NR
};

/* The state of a scan through a marker's format for the words that name its arguments. */
struct wm_format_words {
	const char *pos, *end;
	const char *word; /* the word before the conversion of the next argument */
	uint32_t word_bytes;
	uint32_t stars;  /* number of '*' arguments that precede it */
	char conversion; /* letter of the conversion; 0: none is pending */
};

struct wm_schema {
	const unsigned char *desc;
	const char *text[WM_TEXT_NR]; /* NUL-terminated strings inside the description */
	uint32_t text_bytes[WM_TEXT_NR];
	uint32_t nr_values, next_value;
	const char *pos;
	struct wm_format_words words;
	bool marker;    /* the fields are the arguments of a marker's format */
	bool spelled;   /* a marker whose schema contains the source text of each argument */
	uint32_t index; /* index of the next field */
	uint8_t kind, level;
	uint32_t line, flags;
	const char *why; /* after -EBADMSG: the reason */
	uint32_t at;     /* after -EBADMSG: the offset of the error in the description */
};

struct wm_schema_field {
	const char *name; /* as written in the schema */
	uint32_t name_bytes;
	const char *word; /* the word in the format; NULL: there is none */
	uint32_t word_bytes;
	uint32_t index;
	uint8_t shape, scalar, bytes; /* as in struct wm_field */
	uint32_t length;
	const char *labels; /* "L#,L#}" */
	uint32_t nr_labels, first_value;
};

static inline int wm_schema_bad(struct wm_schema *s, const void *at, const char *why)
{
	s->why = why;
	s->at = (uint32_t)((const unsigned char *)at - s->desc);
	return -EBADMSG;
}

/* Returns values[i]. The caller has checked i. */
static inline int64_t wm_schema_value(const struct wm_schema *s, uint32_t i)
{
	return (int64_t)wm_load_u64(s->desc + sizeof(struct waymark_desc) + (size_t)i * 8);
}

/*
 * Truncates `value` to `bytes` bytes and extends it again, with its sign if `scalar` is signed: the
 * result of storing `value` in a field and reading it back.
 */
static inline int64_t wm_schema_fit(int64_t value, uint8_t scalar, uint8_t bytes)
{
	uint32_t shift = 64 - 8u * bytes;
	uint64_t top = (uint64_t)value << shift;

	return scalar == WM_SCALAR_SIGNED ? (int64_t)top >> shift : (int64_t)(top >> shift);
}

static inline bool wm_schema_spelled(const struct wm_schema *s);

static inline int wm_schema_texts(struct wm_schema *s, const unsigned char *text, uint32_t bytes)
{
	uint32_t pos = 0;

	s->text[WM_TEXT_CARRIER] = "";
	s->text_bytes[WM_TEXT_CARRIER] = 0;
	for (int i = 0; i < WM_TEXT_NR; i++) {
		uint32_t start = pos;

		if (i == WM_TEXT_CARRIER && (!(s->flags & WAYMARK_DESC_LINKED) || pos == bytes))
			break;
		while (pos < bytes && text[pos])
			pos++;
		if (pos == bytes)
			return wm_schema_bad(s, text + start, "fewer than five strings");
		s->text[i] = (const char *)text + start;
		s->text_bytes[i] = pos++ - start;
	}
	return 0;
}

/* Checks the layout of a description and positions the walk at its first field. */
static inline int wm_schema_open(struct wm_schema *s, const void *desc, size_t bytes)
{
	const unsigned char *d = desc;
	uint64_t size, text_size, need;
	int err;

	s->desc = d;
	s->next_value = s->index = 0;
	if (bytes < sizeof(struct waymark_desc))
		return wm_schema_bad(s, d, "shorter than its header");
	if (wm_load_u32(d) != WAYMARK_DESC_MAGIC)
		return wm_schema_bad(s, d, "wrong magic number");
	size = wm_load_u32(d + offsetof(struct waymark_desc, size));
	s->nr_values = wm_load_u16(d + offsetof(struct waymark_desc, nr_values));
	text_size = wm_load_u32(d + offsetof(struct waymark_desc, text_size));
	need = sizeof(struct waymark_desc) + 8ull * s->nr_values + text_size;
	if (size > bytes || size > WM_DESC_BYTES_MAX)
		return wm_schema_bad(s, d + 4, "its size exceeds the available bytes");
	if (need > size)
		return wm_schema_bad(s, d + 4, "its parts exceed its size");
	s->kind = d[offsetof(struct waymark_desc, kind)];
	s->level = d[offsetof(struct waymark_desc, level)];
	s->line = wm_load_u32(d + offsetof(struct waymark_desc, line));
	s->flags = wm_load_u32(d + offsetof(struct waymark_desc, flags));
	if (s->kind > WAYMARK_KIND_SPAN)
		return wm_schema_bad(s, d + 8, "unknown kind of event");
	if (s->level > WAYMARK_DEBUG)
		return wm_schema_bad(s, d + 9, "unknown log level");
	err = wm_schema_texts(s, d + sizeof(struct waymark_desc) + 8 * s->nr_values,
			      (uint32_t)text_size);
	if (err)
		return err;
	s->pos = s->text[WM_TEXT_SCHEMA];
	s->marker = s->kind == WAYMARK_KIND_MARKER && !(s->flags & WM_DESC_NAMED);
	s->flags &= ~WM_DESC_NAMED;
	s->spelled = s->marker && wm_schema_spelled(s);
	s->words.pos = s->text[WM_TEXT_PRINT];
	s->words.end = s->words.pos + s->text_bytes[WM_TEXT_PRINT];
	s->words.word = NULL;
	s->words.word_bytes = s->words.stars = 0;
	s->words.conversion = 0;
	return 0;
}

static inline bool wm_schema_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* --- names ----------------------------------------------------------- */

/* Finds the last word of [from, to), skipping punctuation and a 0x before the '%'. */
static inline void wm_format_word(struct wm_format_words *w, const char *from, const char *to)
{
	const char *end;

	w->word = NULL;
	if (to - from >= 2 && (to[-1] == 'x' || to[-1] == 'X') && to[-2] == '0' &&
	    (to - from == 2 || !wm_schema_name_char(to[-3])))
		to -= 2;
	while (to > from && !wm_schema_name_char(to[-1]))
		to--;
	end = to;
	while (to > from && wm_schema_name_char(to[-1]))
		to--;
	if (to == end || (*to >= '0' && *to <= '9'))
		return;
	w->word = to;
	w->word_bytes = (uint32_t)(end - to);
}

/* Whether `c` is one of the characters of `set`. */
static inline bool wm_char_in(char c, const char *set)
{
	for (; *set; set++)
		if (c == *set)
			return true;
	return false;
}

/* Finds the next conversion that takes an argument. */
static inline void wm_format_conversion(struct wm_format_words *w)
{
	const char *from = w->pos, *p = w->pos, *percent;

	while (p < w->end) {
		if (*p++ != '%')
			continue;
		if (p < w->end && *p == '%') {
			p++;
			continue;
		}
		percent = p - 1;
		w->stars = 0;
		while (p < w->end && wm_char_in(*p, "-+ #0'I123456789.*hlLqjzt")) {
			w->stars += *p == '*';
			p++;
		}
		if (p == w->end)
			break;
		if (*p++ == 'm') {
			from = p;
			continue;
		}
		wm_format_word(w, from, percent);
		w->pos = p;
		w->conversion = p[-1];
		return;
	}
	w->pos = w->end;
}

/*
 * Returns the word for the next argument of a marker's format, or NULL, and the argument's
 * conversion.
 */
static inline const char *wm_format_next(struct wm_format_words *w, uint32_t *ret_bytes,
					 char *ret_conversion)
{
	*ret_conversion = 0;
	*ret_bytes = 0;
	if (!w->conversion)
		wm_format_conversion(w);
	if (!w->conversion)
		return NULL;
	if (w->stars) {
		w->stars--;
		return NULL;
	}
	*ret_conversion = w->conversion;
	w->conversion = 0;
	*ret_bytes = w->word_bytes;
	return w->word;
}

/*
 * Turns arbitrary bytes into an identifier: each run of invalid characters becomes one '_', except
 * at the ends, where it is removed; the result is "argN" when nothing valid remains. Returns its
 * length; `out` has WM_SCHEMA_NAME_MAX + 1 bytes.
 */
static inline uint32_t wm_schema_name_normalise(const char *in, uint32_t bytes, uint32_t index,
						char *out)
{
	uint32_t n = 0;
	bool gap = false;

	for (uint32_t i = 0; i < bytes && n + 1 < WM_SCHEMA_NAME_MAX; i++) {
		if (!wm_schema_name_char(in[i])) {
			gap = true;
			continue;
		}
		if (gap && n && out[n - 1] != '_' && in[i] != '_')
			out[n++] = '_';
		gap = false;
		out[n++] = in[i];
	}
	if (!n || (out[0] >= '0' && out[0] <= '9')) {
		n = 0;
		out[n++] = 'a';
		out[n++] = 'r';
		out[n++] = 'g';
		if (++index >= 100)
			out[n++] = (char)('0' + index / 100);
		if (index >= 10)
			out[n++] = (char)('0' + index / 10 % 10);
		out[n++] = (char)('0' + index % 10);
	}
	out[n] = 0;
	return n;
}

static inline uint32_t wm_schema_base_name(const struct wm_schema_field *f, char *out)
{
	if (f->word)
		return wm_schema_name_normalise(f->word, f->word_bytes, f->index, out);
	return wm_schema_name_normalise(f->name, f->name_bytes, f->index, out);
}

/* --- types ----------------------------------------------------------- */

/* The letters of scalar types and the widths that each may have, as a bit set. */
struct wm_schema_letter {
	char letter;
	uint8_t scalar, widths;
};

static inline int wm_schema_scalar(struct wm_schema *s, const char **p, struct wm_schema_field *f)
{
	static const struct wm_schema_letter letters[] = {
	    {'i', WM_SCALAR_SIGNED, 1 | 2 | 4 | 8}, {'u', WM_SCALAR_UNSIGNED, 1 | 2 | 4 | 8},
	    {'x', WM_SCALAR_HEX, 1 | 2 | 4 | 8},    {'b', WM_SCALAR_BOOL, 1},
	    {'f', WM_SCALAR_FLOAT, 4 | 8},          {'p', WM_SCALAR_POINTER, 8},
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		uint32_t width =
		    (uint32_t)(unsigned char)(*p)[0] == (unsigned char)letters[i].letter
			? (uint32_t)((*p)[1] - '0')
			: 0;

		if (!width)
			continue;
		if (width > 8 || (width & (width - 1)) || !(letters[i].widths & width))
			return wm_schema_bad(s, *p + 1, "invalid width for this type");
		f->scalar = letters[i].scalar;
		f->bytes = (uint8_t)width;
		*p += 2;
		return 0;
	}
	return wm_schema_bad(s, *p, "unknown type");
}

static inline int wm_schema_take(struct wm_schema *s, const char **p, int64_t *ret_value)
{
	if (**p != '#')
		return wm_schema_bad(s, *p, "expected '#'");
	if (s->next_value >= s->nr_values)
		return wm_schema_bad(s, *p, "no value is left for this '#'");
	*ret_value = wm_schema_value(s, s->next_value++);
	++*p;
	return 0;
}

/* Parses "{L#,L#}", the labels of an enumeration; *p is at the brace. */
static inline int wm_schema_labels(struct wm_schema *s, const char **p, struct wm_schema_field *f)
{
	int64_t value;
	int err;

	if (**p != '{')
		return wm_schema_bad(s, *p, "an enumeration needs labels");
	f->labels = *p + 1;
	f->first_value = s->next_value;
	do {
		const char *label = ++*p;

		while ((unsigned char)**p >= ' ' && **p != '#' && *label != '}')
			++*p;
		if (*p == label)
			return wm_schema_bad(s, *p, "a label is missing");
		if (*p - label > WM_CLASS_NAME_MAX)
			return wm_schema_bad(s, label, "a label is too long");
		err = wm_schema_take(s, p, &value);
		if (err)
			return err;
		if (++f->nr_labels > WM_CLASS_LABELS_MAX)
			return wm_schema_bad(s, label, "too many labels");
	} while (**p == ',');
	if (*(*p)++ != '}')
		return wm_schema_bad(s, *p - 1, "expected ',' or '}'");
	return 0;
}

/* Parses a scalar, or an enumeration over an integer. */
static inline int wm_schema_element(struct wm_schema *s, const char **p, struct wm_schema_field *f)
{
	bool enumeration = **p == 'e';
	int err;

	if (enumeration)
		++*p;
	err = wm_schema_scalar(s, p, f);
	if (err || !enumeration)
		return err;
	if (f->scalar > WM_SCALAR_HEX)
		return wm_schema_bad(s, *p - 2, "an enumeration needs an integer type");
	return wm_schema_labels(s, p, f);
}

static inline int wm_schema_length(struct wm_schema *s, const char **p, struct wm_schema_field *f)
{
	const char *at = *p;
	int64_t length;
	int err = wm_schema_take(s, p, &length);

	if (err)
		return err;
	if (length < 0 || length > WM_CLASS_ARRAY_MAX)
		return wm_schema_bad(s, at, "the array length is out of range");
	f->length = (uint32_t)length;
	return 0;
}

/* Parses one type; the first letter gives its shape. */
static inline int wm_schema_type(struct wm_schema *s, const char **p, struct wm_schema_field *f)
{
	static const struct {
		char letter;
		uint8_t shape;
		bool length, element;
	} shapes[] = {
	    {'s', WM_SHAPE_STRING, false, false},  {'z', WM_SHAPE_BLOB, false, false},
	    {'c', WM_SHAPE_CHARS, true, false},    {'a', WM_SHAPE_ARRAY, true, true},
	    {'q', WM_SHAPE_SEQUENCE, false, true},
	};
	int err;

	f->length = f->nr_labels = 0;
	f->labels = NULL;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (**p != shapes[i].letter)
			continue;
		++*p;
		f->shape = shapes[i].shape;
		f->scalar = f->shape == WM_SHAPE_BLOB ? WM_SCALAR_HEX : WM_SCALAR_UNSIGNED;
		f->bytes = 1;
		if (shapes[i].length) {
			err = wm_schema_length(s, p, f);
			if (err)
				return err;
		}
		return shapes[i].element ? wm_schema_element(s, p, f) : 0;
	}
	f->shape = WM_SHAPE_SCALAR;
	f->length = 1;
	return wm_schema_element(s, p, f);
}

/* Parses a typed field: "name:type", followed by ';' or the end of the schema. */
static inline int wm_schema_typed(struct wm_schema *s, struct wm_schema_field *f)
{
	const char *p = s->pos;
	int err;

	f->name = p;
	f->word = NULL;
	while (*p && *p != ':' && *p != ';')
		p++;
	f->name_bytes = (uint32_t)(p - f->name);
	if (*p != ':')
		return wm_schema_bad(s, f->name, "a field without a type");
	if (!f->name_bytes)
		return wm_schema_bad(s, p, "a field without a name");
	p++;
	err = wm_schema_type(s, &p, f);
	if (err)
		return err;
	if (*p && *p != ';')
		return wm_schema_bad(s, p, "expected ';' or the end");
	s->pos = *p ? p + 1 : p;
	return 1;
}

/* --- arguments of a marker ------------------------------------------- */

/*
 * Returns the end of the argument that begins at p: a comma outside of brackets and quotes, or the
 * NUL.
 */
static inline const char *wm_schema_argument_end(const char *p)
{
	uint32_t depth = 0;
	char quote = 0;

	for (; *p && (quote || depth || *p != ','); p++) {
		if (*p == '\\' && quote && p[1])
			p++;
		else if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (wm_char_in(*p, "([{"))
			depth++;
		else if (wm_char_in(*p, ")]}") && depth)
			depth--;
	}
	return p;
}

/*
 * Whether the schema contains the text of as many arguments as values[] has. (Commas in a C++
 * template lead to a different number.)
 */
static inline bool wm_schema_spelled(const struct wm_schema *s)
{
	const char *p = s->text[WM_TEXT_SCHEMA];
	uint32_t spelled = 0, nr = 0;

	while (nr < s->nr_values && wm_schema_value(s, nr))
		nr++;
	while (*p) {
		p = wm_schema_argument_end(p);
		spelled++;
		if (*p)
			p++;
	}
	return spelled == nr;
}

/*
 * Reads one argument: its type from values[], its word from the format, its text from the schema.
 */
static inline int wm_schema_argument(struct wm_schema *s, struct wm_schema_field *f)
{
	char letters[3], conversion;
	const char *p = letters;
	int64_t type;
	int err;

	if (s->next_value >= s->nr_values)
		return 0;
	type = wm_schema_value(s, s->next_value);
	if (!type)
		return 0; /* only filler remains after the last argument */
	if (type & ~0xffffll)
		return wm_schema_bad(s, s->pos, "unknown type of an argument");
	letters[0] = (char)(type >> 8);
	letters[2] = 0;
	letters[1] = letters[0] == 's' ? 0 : (char)('0' + (type & 15));
	if (!wm_char_in(letters[0], "iubfps") || (letters[1] && (type & 0xf0)))
		return wm_schema_bad(s, s->pos, "unknown type of an argument");
	err = wm_schema_type(s, &p, f);
	if (err)
		return wm_schema_bad(s, s->pos, "unknown type of an argument");
	s->next_value++;
	f->name = s->pos;
	if (s->spelled) {
		s->pos = wm_schema_argument_end(s->pos);
		f->name_bytes = (uint32_t)(s->pos - f->name);
		if (*s->pos)
			s->pos++;
	} else {
		f->name_bytes = 0; /* named argN */
	}
	f->word = wm_format_next(&s->words, &f->word_bytes, &conversion);
	if (f->scalar <= WM_SCALAR_UNSIGNED && f->shape == WM_SHAPE_SCALAR &&
	    wm_char_in(conversion, "xXo"))
		f->scalar = WM_SCALAR_HEX;
	return 1;
}

/* Reads the next field. Returns 1, 0 after the last field, or -EBADMSG. */
static inline int wm_schema_next(struct wm_schema *s, struct wm_schema_field *ret)
{
	int more;

	if (!s->marker && !*s->pos)
		return 0;
	more = s->marker ? wm_schema_argument(s, ret) : wm_schema_typed(s, ret);
	if (more <= 0)
		return more;
	if (s->index == WM_CLASS_FIELDS_MAX)
		return wm_schema_bad(s, ret->name, "too many fields");
	ret->index = s->index++;
	return 1;
}

/* The size in bytes of a field, or its minimum size when it is variable. */
static inline uint32_t wm_schema_least_bytes(const struct wm_schema_field *f)
{
	switch (f->shape) {
	case WM_SHAPE_STRING:
		return 1;
	case WM_SHAPE_SEQUENCE:
	case WM_SHAPE_BLOB:
		return 4;
	default:
		return f->length * f->bytes;
	}
}

static inline bool wm_schema_dynamic(const struct wm_schema_field *f)
{
	return f->shape == WM_SHAPE_STRING || f->shape == WM_SHAPE_SEQUENCE ||
	       f->shape == WM_SHAPE_BLOB;
}

#endif
