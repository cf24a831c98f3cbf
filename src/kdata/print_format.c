/* SPDX-License-Identifier: MIT */
/*
 * print_format.c - compiles a print form: splits its format string into conversions, each with its
 * argument.
 */
#include <errno.h>

#include "base/digits.h"
#include "kdata/print_tree_int.h"

#define CONVERSIONS_MAX 512u

struct cutter {
	struct wm_kparser *parser;
	const char *at;
	struct wm_kconv *convs;
	uint32_t nr;
};

/* Parses the next argument: ", EXPR". */
static const struct wm_knode *argument(struct wm_kparser *p)
{
	if (!wm_kparser_skip(p, ','))
		return NULL;
	return wm_kparser_expression(p);
}

static const char *read_flags(const char *at, struct wm_kconv *k)
{
	for (;; at++) {
		switch (*at) {
		case '-':
			k->left = true;
			break;
		case '0':
			k->zero = true;
			break;
		case '#':
			k->alternate = true;
			break;
		case '+':
			k->plus = true;
			break;
		case ' ':
			k->space = true;
			break;
		default:
			return at;
		}
	}
}

/* Parses a width or precision: digits or '*'. */
static const char *read_measure(const char *at, int32_t *ret)
{
	int32_t value = 0;

	if (*at == '*') {
		*ret = WM_KCONV_STAR;
		return at + 1;
	}
	if (*at < '0' || *at > '9')
		return at;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = 10 * value + (*at - '0');
		if (value > WM_KPRINT_WIDTH_MAX)
			value = WM_KPRINT_WIDTH_MAX;
	}
	*ret = value;
	return at;
}

static const char *read_length(const char *at, uint8_t word, uint8_t *ret)
{
	switch (*at) {
	case 'h':
		*ret = at[1] == 'h' ? 1 : 2;
		return at + (at[1] == 'h' ? 2 : 1);
	case 'l':
		*ret = at[1] == 'l' ? 8 : word;
		return at + (at[1] == 'l' ? 2 : 1);
	case 'L':
	case 'j':
	case 'q':
		*ret = 8;
		return at + 1;
	case 'z':
	case 'Z':
	case 't':
		*ret = word;
		return at + 1;
	default:
		*ret = 4;
		return at;
	}
}

/* Parses the letters after %p that the kernel supports. */
static const char *read_pointer(const char *at, struct wm_kconv *k)
{
	static const char *const families[] = {
	    "I4", "i4", "I6c", "I6", "i6", "ISpc", "ISp", "ISc", "IS", "Ub", "UB", "Ul", "UL",
	    "U",  "MR", "MF",  "M",  "mR", "m",    "Sb",  "SR",  "S",  "sR", "s",  "F",  "f",
	    "B",  "hC", "hD",  "hN", "h",  "bl",   "b",   "K",   "x",  "e",  "ap", "ad", "a"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		size_t n = strlen(families[i]);

		if (strncmp(at, families[i], n) == 0) {
			memcpy(k->pointer, families[i], n + 1);
			return at + n;
		}
	}
	return at;
}

const char *wm_kconv_read(const char *at, uint8_t long_bytes, struct wm_kconv *k)
{
	k->width = k->precision = -1;
	at = read_measure(read_flags(at, k), &k->width);
	if (*at == '.') {
		k->precision = 0;
		at = read_measure(at + 1, &k->precision);
	}
	at = read_length(at, long_bytes, &k->bytes);
	if (!*at || !strchr("diuxXocsp", *at))
		return NULL;
	k->kind = *at++;
	if (k->kind == 'i')
		k->kind = 'd';
	return k->kind == 'p' ? read_pointer(at, k) : at;
}

#define QUICK_ZEROES_MAX 32

static bool is_quick(const struct wm_kconv *k)
{
	if (k->kind == 'x' && k->zero && k->width >= 0 && k->width <= QUICK_ZEROES_MAX &&
	    k->precision == -1 && !k->left && !k->alternate)
		return true; /* hexadecimal digits have no sign */
	return (k->kind == 'd' || k->kind == 'u' || k->kind == 'x') && k->width == -1 &&
	       k->precision == -1 && !k->left && !k->zero && !k->alternate && !k->plus && !k->space;
}

/* Parses a conversion, after its '%', and its arguments. */
static bool take_conversion(struct cutter *c, struct wm_kconv *k)
{
	const char *behind = wm_kconv_read(c->at, c->parser->machine->long_bytes, k);
	uint32_t nr_unknown = c->parser->nr_unknown;

	if (!behind) {
		wm_kparser_fail(c->parser, "an unknown conversion");
		return false;
	}
	c->at = behind;
	if (k->width == WM_KCONV_STAR && !(k->width_arg = argument(c->parser)))
		return false;
	if (k->precision == WM_KCONV_STAR && !(k->precision_arg = argument(c->parser)))
		return false;
	k->arg = argument(c->parser);
	if (c->parser->nr_unknown != nr_unknown)
		k->kind = '?';
	if (is_quick(k))
		k->quick = k->kind;
	return k->arg != NULL;
}

/* Copies the text up to the next conversion; "%%" becomes '%'. False: no memory. */
static bool print_format_take_text(struct cutter *c, struct wm_kconv *k)
{
	const char *at = c->at, *end;
	char *out;

	for (end = at; *end && (*end != '%' || end[1] == '%'); end++)
		end += *end == '%';
	out = wm_arena_get(c->parser->arena, (size_t)(end - at) + WM_KCONV_CHUNK);
	k->before = out;
	if (!out)
		return false;
	for (; at < end; at++) {
		at += *at == '%';
		*out++ = *at;
	}
	k->before_bytes = (uint32_t)(out - k->before);
	c->at = end;
	return true;
}

static int print_format_cut(struct cutter *c)
{
	for (;;) {
		struct wm_kconv k = {.width = -1, .precision = -1};

		if (c->nr >= CONVERSIONS_MAX) {
			wm_kparser_fail(c->parser, "more than 512 conversions");
			return -EBADMSG;
		}
		if (!print_format_take_text(c, &k)) {
			c->parser->no_memory = true;
			return -ENOMEM;
		}
		if (*c->at == '%') {
			c->at++;
			if (!take_conversion(c, &k))
				return -EBADMSG;
		}
		c->convs = wm_arena_grow(c->parser->arena, c->convs, c->nr, sizeof(k));
		if (!c->convs) {
			c->parser->no_memory = true;
			return -ENOMEM;
		}
		c->convs[c->nr++] = k;
		if (!k.kind)
			return 0;
	}
}

/*
 * Parses the format string and its arguments. Returns 0, -ENOMEM, or -EBADMSG when parsing failed.
 */
static int kparser_format(struct wm_kparser *p, struct wm_kprint *ret)
{
	struct cutter c = {.parser = p};
	struct wm_knode *format;
	int err = -EBADMSG;

	wm_kparser_next(p);
	format = wm_kparser_expression(p);
	if (format && format->kind != WM_KNODE_TEXT)
		wm_kparser_fail(p, "it does not begin with a format string");
	if (format && !p->why) {
		c.at = format->text;
		err = print_format_cut(&c);
	}
	if (!err && (p->token.kind != WM_KTOKEN_END || p->why)) {
		wm_kparser_fail(p, "more arguments than conversions");
		err = -EBADMSG;
	}
	if (p->no_memory)
		return -ENOMEM;
	if (err)
		return err;
	ret->convs = c.convs;
	ret->nr_convs = c.nr;
	for (uint32_t i = 0; i < c.nr; i++)
		ret->room += c.convs[i].before_bytes + WM_KCONV_CHUNK + WM_DIGITS_MAX;
	return 0;
}

static uint8_t special_of(const struct wm_kformat *f)
{
	if (strcmp(f->system, "ftrace") != 0)
		return WM_KSPECIAL_NONE;
	if (strcmp(f->name, "bprint") == 0)
		return WM_KSPECIAL_BPRINT;
	if (strcmp(f->name, "kernel_stack") == 0 || strcmp(f->name, "user_stack") == 0)
		return WM_KSPECIAL_STACK;
	return WM_KSPECIAL_NONE;
}

int wm_kprint_compile(struct wm_arena *arena, const struct wm_kmachine *m,
		      const struct wm_kformat *format, const struct wm_kprint **ret,
		      struct wm_diag *diag)
{
	struct wm_kparser p = {
	    .arena = arena,
	    .machine = m,
	    .format = format,
	    .diag = diag,
	    .begin = format->print,
	    .at = format->print,
	    .end = format->print + strlen(format->print),
	};
	struct wm_kprint *out = wm_arena_get(arena, sizeof(*out));
	int err;

	if (!out)
		return -ENOMEM;
	*out = (struct wm_kprint){.format = format, .machine = *m, .special = special_of(format)};
	err = kparser_format(&p, out);
	if (err == -ENOMEM)
		return err;
	if (err)
		(void)wm_diag_set(diag, err, NULL, p.where - p.begin,
				  "cannot compile the print form of %s:%s: %s", format->system,
				  format->name,
				  p.why); /* not an error: the fields are printed instead */
	*ret = out;
	return 0;
}
