/* SPDX-License-Identifier: MIT */
/*
 * print_special.c - prints events whose print form is not used: those whose form cannot be
 * compiled, trace_printk(), and stacks.
 */
#include "kdata/print_tree_int.h"

#include "kdata/formats.h"

#define ELEMENTS_MAX 1024u /* maximum number of elements shown of an array */

static void print_special_add_number(const struct wm_krun *r, const struct wm_kfield *f, uint64_t v)
{
	if (f->flags & WM_KFIELD_POINTER)
		wm_text_f(r->out, "0x%llx", (unsigned long long)v);
	else if (f->flags & WM_KFIELD_SIGNED)
		wm_text_i64(r->out, (int64_t)v);
	else
		wm_text_u64(r->out, v);
}

static void add_elements(const struct wm_krun *r, const struct wm_kfield *f, struct wm_kbytes b)
{
	bool swap = r->print->machine.swap;
	uint32_t width = f->element_bytes ? f->element_bytes : 1, nr = b.bytes / width;

	wm_text_char(r->out, '{');
	for (uint32_t i = 0; i < nr && i < ELEMENTS_MAX; i++) {
		const unsigned char *p = b.data + i * width;

		wm_text_str(r->out, i ? ", " : " ");
		print_special_add_number(r, f,
					 f->flags & WM_KFIELD_SIGNED
					     ? (uint64_t)wm_get_int(p, width, swap)
					     : wm_get_uint(p, width, swap));
	}
	wm_text_str(r->out, nr > ELEMENTS_MAX ? ", ... }" : nr ? " }" : "}");
}

static void print_special_add_field(const struct wm_krun *r, const struct wm_kfield *f)
{
	bool swap = r->print->machine.swap;
	struct wm_kbytes b;

	if (!(f->flags & WM_KFIELD_ARRAY) && f->element_bytes) {
		print_special_add_number(r, f, wm_kfield_number(f, swap, r->record, r->bytes));
		return;
	}
	b.data = wm_kfield_bytes(f, swap, r->record, r->bytes, &b.bytes);
	if (!b.data)
		wm_text_str(r->out, "(cut off)");
	else if (f->flags & WM_KFIELD_CHARS)
		wm_text_add(r->out, b.data, strnlen((const char *)b.data, b.bytes));
	else if (f->flags & WM_KFIELD_BITMASK)
		wm_krun_bits(r, b, false);
	else
		add_elements(r, f, b);
}

void wm_krun_fields(const struct wm_krun *r)
{
	const struct wm_kformat *f = r->print->format;

	for (unsigned i = f->nr_common; i < f->nr_fields; i++) {
		if (i > f->nr_common)
			wm_text_char(r->out, ' ');
		wm_text_str(r->out, f->fields[i].name);
		wm_text_char(r->out, '=');
		print_special_add_field(r, &f->fields[i]);
	}
}

/* The packed arguments of trace_printk(), one after the other. */
struct packed {
	const unsigned char *data;
	uint32_t bytes, at;
	bool swap;
};

/* Reads a number, aligned to its size or to 4, whichever is smaller. */
static uint64_t print_special_unpack(struct packed *k, uint32_t bytes)
{
	uint32_t align = bytes < 4 ? bytes : 4;
	uint64_t v;

	k->at = (k->at + align - 1) & ~(align - 1);
	if (k->at > k->bytes || bytes > k->bytes - k->at) {
		k->at = k->bytes;
		return 0;
	}
	v = wm_get_uint(k->data + k->at, bytes, k->swap);
	k->at += bytes;
	return v;
}

static void unpack_text(const struct wm_krun *r, struct packed *k)
{
	uint32_t left = k->bytes - k->at;
	uint32_t n = (uint32_t)strnlen((const char *)k->data + k->at, left);

	wm_text_add(r->out, k->data + k->at, n);
	k->at += n < left ? n + 1 : n;
}

static int32_t unpack_measure(struct packed *k, int32_t value)
{
	if (value != WM_KCONV_STAR)
		return value;
	value = (int32_t)print_special_unpack(k, 4);
	return value < 0 ? -1 : value > WM_KPRINT_WIDTH_MAX ? WM_KPRINT_WIDTH_MAX : value;
}

static void unpack_pointer(const struct wm_krun *r, struct wm_kconv *c, struct packed *k)
{
	struct wm_knode n = {.kind = WM_KNODE_NUMBER};

	/* For any other letter, the kernel stored the text that the pointer referred to. */
	if (c->pointer[0] && !strchr("SsFfBxKe", c->pointer[0])) {
		unpack_text(r, k);
		return;
	}
	n.number = print_special_unpack(k, r->print->machine.long_bytes);
	c->arg = &n;
	wm_krun_pointer(r, c, -1);
}

static void unpack_conversion(const struct wm_krun *r, struct wm_kconv *c, struct packed *k)
{
	int32_t width = unpack_measure(k, c->width), precision = unpack_measure(k, c->precision);
	size_t start = r->out->bytes;

	switch (c->kind) {
	case 's':
		unpack_text(r, k);
		break;
	case 'c':
		wm_krun_char(r, (char)print_special_unpack(k, 1));
		break;
	case 'p':
		unpack_pointer(r, c, k);
		break;
	default:
		wm_krun_integer(r->out, c, print_special_unpack(k, c->bytes), width, precision);
		return;
	}
	wm_krun_pad(r, c, start, width, c->kind == 's' ? precision : -1);
}

/* Writes at most `max` bytes of the text up to the next '%'; returns the position after them. */
static const char *special_add_literal(struct wm_text *out, const char *at, size_t max)
{
	size_t n;

	at += *at == '%' && at[1] == '%';
	n = 1 + strcspn(at + 1, "%"); /* a '%' that begins no conversion is text */
	n = n < max ? n : max;
	wm_text_add(out, at, n);
	return at + n;
}

static bool special_bprint(const struct wm_krun *r)
{
	const struct wm_kformat *f = r->print->format;
	const struct wm_kfield *ip = wm_kformat_field(f, "ip"), *fmt = wm_kformat_field(f, "fmt"),
			       *buf = wm_kformat_field(f, "buf");
	struct packed k = {.swap = r->print->machine.swap};
	size_t start = r->out->bytes;
	const char *at;

	if (!ip || !fmt || !buf || !r->known)
		return false;
	at = wm_kformats_text(r->known, wm_kfield_number(fmt, k.swap, r->record, r->bytes));
	k.data = wm_kfield_bytes(buf, k.swap, r->record, r->bytes, &k.bytes);
	if (!at || !k.data)
		return false;
	wm_krun_symbol(r, wm_kfield_number(ip, k.swap, r->record, r->bytes), false);
	wm_text_str(r->out, ": ");
	while (*at && r->out->bytes - start < WM_KPRINT_LINE_MAX) {
		struct wm_kconv c = {0};
		const char *behind = *at == '%' && at[1] != '%'
					 ? wm_kconv_read(at + 1, r->print->machine.long_bytes, &c)
					 : NULL;

		if (behind) {
			unpack_conversion(r, &c, &k);
			at = behind;
		} else {
			at = special_add_literal(r->out, at,
						 WM_KPRINT_LINE_MAX - (r->out->bytes - start));
		}
	}
	return true;
}

static bool special_stack(const struct wm_krun *r)
{
	const struct wm_kformat *f = r->print->format;
	const struct wm_kfield *caller = wm_kformat_field(f, "caller"),
			       *size = wm_kformat_field(f, "size");
	bool swap = r->print->machine.swap;
	uint32_t width = r->print->machine.long_bytes, bytes, nr;
	const unsigned char *p;

	if (!caller)
		return false;
	p = wm_kfield_bytes(caller, swap, r->record, r->bytes, &bytes);
	nr = p ? bytes / width : 0;
	if (size && wm_kfield_number(size, swap, r->record, r->bytes) < nr)
		nr = (uint32_t)wm_kfield_number(size, swap, r->record, r->bytes);
	wm_text_str(r->out, "<stack trace>");
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t addr = wm_get_uint(p + i * width, width, swap);

		if (addr == 0 || addr == (width == 4 ? UINT32_MAX : UINT64_MAX))
			break;
		wm_text_str(r->out, "\n=> ");
		wm_krun_symbol(r, addr, false);
	}
	return true;
}

bool wm_krun_special(const struct wm_krun *r)
{
	return r->print->special == WM_KSPECIAL_BPRINT ? special_bprint(r) : special_stack(r);
}
