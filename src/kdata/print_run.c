/* SPDX-License-Identifier: MIT */
/*
 * print_run.c - runs a program over a record: computes numbers by C's rules and writes the
 * conversions.
 */
#include "base/digits.h"
#include "kdata/print_tree_int.h"

/* Truncates a value to the type, then sign-extends or zero-extends it. */
static uint64_t print_run_fit(uint64_t v, uint8_t bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

static uint64_t divide(const struct wm_knode *n, uint64_t l, uint64_t r)
{
	bool rest = n->op == '%';

	if (r == 0)
		return 0;
	if (!n->is_signed)
		return rest ? l % r : l / r;
	if ((int64_t)r == -1)
		return rest ? 0 : -l;
	return (uint64_t)(rest ? (int64_t)l % (int64_t)r : (int64_t)l / (int64_t)r);
}

static uint64_t shift(const struct wm_knode *n, uint64_t l, uint64_t r)
{
	if (r >= 64)
		return 0;
	if (n->op == WM_KOP_SHL)
		return l << r;
	return n->is_signed ? (uint64_t)((int64_t)l >> r) : l >> r;
}

static bool less(const struct wm_knode *n, uint64_t l, uint64_t r)
{
	return n->is_signed ? (int64_t)l < (int64_t)r : l < r;
}

static uint64_t print_run_compute(const struct wm_knode *n, uint64_t l, uint64_t r)
{
	switch (n->op) {
	case '*':
		return l * r;
	case '/':
	case '%':
		return divide(n, l, r);
	case '+':
		return l + r;
	case '-':
		return l - r;
	case '&':
		return l & r;
	case '^':
		return l ^ r;
	case '|':
		return l | r;
	case '<':
		return less(n, l, r);
	case '>':
		return less(n, r, l);
	case WM_KOP_LE:
		return !less(n, r, l);
	case WM_KOP_GE:
		return !less(n, l, r);
	case WM_KOP_EQ:
		return l == r;
	case WM_KOP_NE:
		return l != r;
	default:
		return 0;
	}
}

static uint64_t print_run_binary(const struct wm_krun *r, const struct wm_knode *n)
{
	uint64_t a = wm_krun_number(r, n->a), b;

	if (n->op == WM_KOP_AND)
		return a && wm_krun_number(r, n->b);
	if (n->op == WM_KOP_OR)
		return a || wm_krun_number(r, n->b);
	b = wm_krun_number(r, n->b);
	a = print_run_fit(a, n->bytes, n->is_signed);
	if (n->op == WM_KOP_SHL || n->op == WM_KOP_SHR)
		return print_run_fit(shift(n, a, b), n->bytes, n->is_signed);
	return print_run_fit(print_run_compute(n, a, print_run_fit(b, n->bytes, n->is_signed)),
			     n->bytes, n->is_signed);
}

static uint64_t print_run_unary(const struct wm_krun *r, const struct wm_knode *n)
{
	uint64_t a = wm_krun_number(r, n->a);

	if (n->op == '!')
		return !a;
	return print_run_fit(n->op == '-' ? -a : ~a, n->bytes, n->is_signed);
}

static uint64_t print_run_element(const struct wm_krun *r, const struct wm_knode *n)
{
	struct wm_kbytes b = wm_krun_bytes(r, n->a);
	uint64_t i = wm_krun_number(r, n->b);

	if (i >= b.bytes / n->bytes)
		return 0;
	return n->is_signed
		   ? (uint64_t)wm_get_int(b.data + i * n->bytes, n->bytes, r->print->machine.swap)
		   : wm_get_uint(b.data + i * n->bytes, n->bytes, r->print->machine.swap);
}

static uint64_t field_length(const struct wm_krun *r, const struct wm_kfield *f)
{
	uint32_t bytes;

	(void)wm_kfield_bytes(f, r->print->machine.swap, r->record, r->bytes, &bytes);
	return bytes;
}

uint64_t wm_krun_number(const struct wm_krun *r, const struct wm_knode *n)
{
	uint64_t a;

	switch (n->kind) {
	case WM_KNODE_NUMBER:
		return n->number;
	case WM_KNODE_FIELD:
		return wm_kfield_number(n->field, r->print->machine.swap, r->record, r->bytes);
	case WM_KNODE_CAST:
		return print_run_fit(wm_krun_number(r, n->a), n->bytes, n->is_signed);
	case WM_KNODE_UNARY:
		return print_run_unary(r, n);
	case WM_KNODE_BINARY:
		return print_run_binary(r, n);
	case WM_KNODE_CHOICE:
		a = wm_krun_number(r, wm_krun_number(r, n->a) ? n->b : n->c);
		return print_run_fit(a, n->bytes, n->is_signed);
	case WM_KNODE_ELEMENT:
		return print_run_element(r, n);
	case WM_KNODE_LENGTH:
		return field_length(r, n->field);
	case WM_KNODE_SECONDS:
		a = wm_krun_number(r, n->a);
		return n->op == 's' ? a / 1000000000 : a % 1000000000;
	case WM_KNODE_BYTES:
	case WM_KNODE_VIEW: /* an address is true when it is not NULL */
		return wm_krun_bytes(r, n).data != NULL;
	default: /* a string is an address that is not NULL */
		return 1;
	}
}

struct wm_kbytes wm_krun_bytes(const struct wm_krun *r, const struct wm_knode *n)
{
	struct wm_kbytes b = {NULL, 0};

	while (n->kind == WM_KNODE_VIEW || n->kind == WM_KNODE_CAST || n->kind == WM_KNODE_CHOICE)
		n = n->kind != WM_KNODE_CHOICE ? n->a : wm_krun_number(r, n->a) ? n->b : n->c;
	if (n->field && (n->kind == WM_KNODE_BYTES || n->kind == WM_KNODE_FIELD))
		b.data = wm_kfield_bytes(n->field, r->print->machine.swap, r->record, r->bytes,
					 &b.bytes);
	return b;
}

static int32_t print_run_measure(const struct wm_krun *r, const struct wm_knode *arg, int32_t value)
{
	int64_t got;

	if (!arg)
		return value;
	got = (int32_t)wm_krun_number(r, arg);
	return got < 0 ? -1 : got > WM_KPRINT_WIDTH_MAX ? WM_KPRINT_WIDTH_MAX : (int32_t)got;
}

static void run_conversion(const struct wm_krun *r, const struct wm_kconv *c)
{
	int32_t width = print_run_measure(r, c->width_arg, c->width);
	int32_t precision = print_run_measure(r, c->precision_arg, c->precision);
	size_t start = r->out->bytes;

	switch (c->kind) {
	case 's':
		wm_krun_text(r, c->arg);
		break;
	case 'c':
		wm_krun_char(r, (char)wm_krun_number(r, c->arg));
		break;
	case '?':
		wm_text_char(r->out, '?');
		break;
	case 'p':
		wm_krun_pointer(r, c, width);
		if (c->width_arg)
			return; /* the width was used as the number of bytes */
		break;
	default:
		wm_krun_integer(r->out, c, wm_krun_number(r, c->arg), width, precision);
		return;
	}
	if (width > 0 || precision >= 0)
		wm_krun_pad(r, c, start, width, c->kind == 's' ? precision : -1);
}

static uint64_t quick_number(const struct wm_krun *r, const struct wm_knode *n)
{
	bool swap = r->print->machine.swap;

	if (n->kind == WM_KNODE_FIELD)
		return wm_kfield_number(n->field, swap, r->record, r->bytes);
	if (n->kind == WM_KNODE_CAST && n->a->kind == WM_KNODE_FIELD)
		return print_run_fit(wm_kfield_number(n->a->field, swap, r->record, r->bytes),
				     n->bytes, n->is_signed);
	return wm_krun_number(r, n);
}

/* Writes the common forms of a number at `at`, where the caller has reserved room. */
static char *quick(const struct wm_krun *r, const struct wm_kconv *c, char *at)
{
	uint64_t v = print_run_fit(quick_number(r, c->arg), c->bytes, c->quick == 'd');
	int32_t nr;

	if (c->quick == 'd')
		return wm_digits_i64(at, (int64_t)v);
	if (c->quick == 'u')
		return wm_digits_u64(at, v);
	nr = (int32_t)(63 - __builtin_clzll(v | 1)) / 4 + 1;
	if (c->width <= 16)
		return wm_digits_hex_last(at, v, nr > c->width ? (uint32_t)nr : (uint32_t)c->width);
	for (; nr < c->width; nr++)
		*at++ = '0';
	return wm_digits_bits(at, v, 4, "0123456789abcdef");
}

/*
 * Writes the strings and quick conversions starting at `c`, up to a conversion that is not quick.
 * Returns that one; the text before it has been written. The caller has reserved room for the whole
 * form.
 */
static const struct wm_kconv *run_quick(const struct wm_krun *r, const struct wm_kconv *c)
{
	char *at = r->out->data + r->out->bytes;

	for (;; c++) {
		for (uint32_t i = 0; i < c->before_bytes; i += WM_KCONV_CHUNK)
			memcpy(at + i, c->before + i, WM_KCONV_CHUNK);
		at += c->before_bytes;
		if (!c->quick)
			break;
		at = quick(r, c, at);
	}
	*at = 0;
	r->out->bytes = (size_t)(at - r->out->data);
	return c;
}

void wm_kprint_run_named(const struct wm_kprint *p, const struct wm_kformats *known,
			 const struct wm_kernel_names *names, const unsigned char *record,
			 uint32_t bytes, struct wm_text *out)
{
	struct wm_krun r = {p, known, record, bytes, out, names};
	const struct wm_kconv *c = p->convs;
	size_t start = out->bytes;

	if (p->special != WM_KSPECIAL_NONE && wm_krun_special(&r))
		return;
	if (!c) {
		wm_krun_fields(&r);
		return;
	}
	for (;; c++) { /* the last conversion contains only text */
		if (!wm_text_reserve(out, p->room))
			return;
		c = run_quick(&r, c);
		if (!c->kind)
			return;
		if (out->bytes - start < WM_KPRINT_LINE_MAX)
			run_conversion(&r, c);
	}
}

void wm_kprint_run(const struct wm_kprint *p, const struct wm_kformats *known,
		   const unsigned char *record, uint32_t bytes, struct wm_text *out)
{
	wm_kprint_run_named(p, known, NULL, record, bytes, out);
}
