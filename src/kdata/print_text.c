/* SPDX-License-Identifier: MIT */
/* print_text.c - formats integers and text for the conversions of a format. */
#include "base/digits.h"
#include "kdata/formats.h"
#include "kdata/print_tree_int.h"

#define ELEMENTS_MAX 16384u /* maximum number of elements printed of an array */

static void repeat(struct wm_text *out, char c, int64_t nr)
{
	if (nr <= 0 || !wm_text_reserve(out, (size_t)nr))
		return;
	memset(out->data + out->bytes, c, (size_t)nr);
	out->bytes += (size_t)nr;
	out->data[out->bytes] = 0;
}

static char *print_text_digits(char *at, uint64_t v, char kind)
{
	if (kind == 'u' || kind == 'd')
		return wm_digits_u64(at, v);
	return wm_digits_bits(at, v, kind == 'o' ? 3 : 4,
			      kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef");
}

void wm_krun_integer(struct wm_text *out, const struct wm_kconv *c, uint64_t v, int32_t width,
		     int32_t precision)
{
	/* One byte at the front is left for the 0 of %#o. */
	char room[WM_DIGITS_MAX], *at = room + 1, *end;
	const char *prefix = c->plus ? "+" : c->space ? " " : "";
	int64_t zeroes, blanks, nr, nr_prefix;

	if (c->kind == 'd') {
		int64_t s = c->bytes == 8   ? (int64_t)v
			    : c->bytes == 4 ? (int32_t)v
			    : c->bytes == 2 ? (int16_t)v
					    : (int8_t)v;

		if (s < 0)
			prefix = "-";
		v = s < 0 ? -(uint64_t)s : (uint64_t)s;
	} else {
		v = c->bytes == 8 ? v : v & ((1ull << 8 * c->bytes) - 1);
		prefix = c->alternate && v ? c->kind == 'x'   ? "0x"
					     : c->kind == 'X' ? "0X"
							      : ""
					   : "";
	}
	end = print_text_digits(at, v, c->kind);
	if (c->kind == 'o' && c->alternate && *at != '0')
		*--at = '0';
	nr = end - at;
	nr_prefix = (int64_t)strlen(prefix);
	zeroes = precision > nr ? precision - nr : 0;
	blanks = width > nr + zeroes + nr_prefix ? width - nr - zeroes - nr_prefix : 0;
	if (c->zero && !c->left && precision < 0) {
		zeroes = blanks;
		blanks = 0;
	}
	if (!c->left)
		repeat(out, ' ', blanks);
	wm_text_add(out, prefix, (size_t)nr_prefix);
	repeat(out, '0', zeroes);
	wm_text_add(out, at, (size_t)nr);
	if (c->left)
		repeat(out, ' ', blanks);
}

void wm_krun_pad(const struct wm_krun *r, const struct wm_kconv *c, size_t start, int32_t width,
		 int32_t precision)
{
	struct wm_text *out = r->out;
	size_t have = out->bytes - start, more;

	if (out->failed)
		return;
	if (precision >= 0 && have > (size_t)precision) {
		wm_text_cut(out, start + (size_t)precision);
		have = (size_t)precision;
	}
	if (width < 0 || have >= (size_t)width)
		return;
	more = (size_t)width - have;
	repeat(out, ' ', (int64_t)more);
	if (c->left || out->failed)
		return;
	memmove(out->data + start + more, out->data + start, have);
	memset(out->data + start, ' ', more);
}

void wm_krun_hex(struct wm_text *out, uint64_t v)
{
	char room[WM_DIGITS_MAX] = "0x";

	wm_text_add(out, room, (size_t)(wm_digits_bits(room + 2, v, 4, "0123456789abcdef") - room));
}

void wm_krun_char(const struct wm_krun *r, char c)
{
	if (c)
		wm_text_char(r->out, c);
}

static void print_text_add_string(const struct wm_krun *r, struct wm_kbytes b)
{
	if (b.data)
		wm_text_add(r->out, b.data, strnlen((const char *)b.data, b.bytes));
}

static void symbolic(const struct wm_krun *r, const struct wm_knode *n)
{
	uint64_t v = wm_krun_number(r, n->a);

	for (uint32_t i = 0; i < n->nr_pairs; i++) {
		if (n->pairs[i].value == v) {
			wm_text_str(r->out, n->pairs[i].text);
			return;
		}
	}
	wm_krun_hex(r->out, v);
}

static void print_text_flags(const struct wm_krun *r, const struct wm_knode *n)
{
	uint64_t v = wm_krun_number(r, n->a);
	bool any = false;

	for (uint32_t i = 0; i < n->nr_pairs; i++) {
		uint64_t mask = n->pairs[i].value;

		if (!mask || (v & mask) != mask)
			continue;
		if (any)
			wm_text_str(r->out, n->text);
		wm_text_str(r->out, n->pairs[i].text);
		any = true;
		v &= ~mask;
	}
	if (v && any)
		wm_text_str(r->out, n->text);
	if (v)
		wm_krun_hex(r->out, v);
}

static void print_text_hex(const struct wm_krun *r, const struct wm_knode *n)
{
	static const char set[] = "0123456789abcdef";
	struct wm_kbytes b = wm_krun_bytes(r, n->a);
	uint64_t nr = wm_krun_number(r, n->b);

	for (uint64_t i = 0; i < nr && i < b.bytes; i++) {
		if (i && n->op)
			wm_text_char(r->out, (char)n->op);
		wm_text_char(r->out, set[b.data[i] >> 4]);
		wm_text_char(r->out, set[b.data[i] & 15]);
	}
}

static void array(const struct wm_krun *r, const struct wm_knode *n)
{
	struct wm_kbytes b = wm_krun_bytes(r, n->a);
	uint64_t width = wm_krun_number(r, n->c);
	uint64_t nr = n->b ? wm_krun_number(r, n->b) : ELEMENTS_MAX;
	bool known = width == 1 || width == 2 || width == 4 || width == 8;

	wm_text_char(r->out, '{');
	for (uint64_t i = 0; known && i < nr && i < b.bytes / width && i < ELEMENTS_MAX; i++) {
		if (i)
			wm_text_char(r->out, ',');
		wm_krun_hex(r->out, wm_get_uint(b.data + i * width, (unsigned)width,
						r->print->machine.swap));
	}
	wm_text_char(r->out, '}');
}

/* Appends the string at a kernel address. */
static void add_address(const struct wm_krun *r, uint64_t addr)
{
	const char *text = r->known ? wm_kformats_text(r->known, addr) : NULL;

	if (text)
		wm_text_str(r->out, text);
	else if (addr)
		wm_text_f(r->out, "(0x%llx)", (unsigned long long)addr);
	else
		wm_text_str(r->out, "(null)");
}

void wm_krun_text(const struct wm_krun *r, const struct wm_knode *n)
{
	switch (n->kind) {
	case WM_KNODE_TEXT:
		wm_text_str(r->out, n->text);
		break;
	case WM_KNODE_BYTES:
	case WM_KNODE_VIEW:
		print_text_add_string(r, wm_krun_bytes(r, n));
		break;
	case WM_KNODE_CHOICE:
		wm_krun_text(r, wm_krun_number(r, n->a) ? n->b : n->c);
		break;
	case WM_KNODE_SYMBOLIC:
		symbolic(r, n);
		break;
	case WM_KNODE_FLAGS:
		print_text_flags(r, n);
		break;
	case WM_KNODE_BITMASK:
		wm_krun_bits(r, wm_krun_bytes(r, n->a), false);
		break;
	case WM_KNODE_CPUS:
		wm_krun_bits(r, wm_krun_bytes(r, n->a), true);
		break;
	case WM_KNODE_HEX:
		print_text_hex(r, n);
		break;
	case WM_KNODE_ARRAY:
		array(r, n);
		break;
	case WM_KNODE_SOCKADDR:
		wm_krun_sockaddr(r, wm_krun_bytes(r, n->a), true);
		break;
	default:
		add_address(r, wm_krun_number(r, n));
	}
}
