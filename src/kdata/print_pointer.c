/* SPDX-License-Identifier: MIT */
/*
 * print_pointer.c - formats the kernel's %p and the letters after it: symbols, network and hardware
 * addresses, UUIDs, bit maps, bytes.
 */
#include "kdata/print_tree_int.h"

#include <arpa/inet.h>

#include "kdata/formats.h"

void wm_krun_symbol(const struct wm_krun *r, uint64_t addr, bool offset)
{
	uint64_t start;
	size_t bytes = 0;
	const char *name = r->known ? wm_kformats_symbol(r->known, addr, &start, &bytes) : NULL;

	if (!name && r->names) {
		name = r->names->find(r->names->own, addr, &start);
		bytes = name ? strlen(name) : 0;
	}
	if (!name) {
		wm_krun_hex(r->out, addr);
		return;
	}
	wm_text_add(r->out, name, bytes);
	if (!offset)
		return;
	wm_text_char(r->out, '+');
	wm_krun_hex(r->out, addr - start);
}

static void symbol(const struct wm_krun *r, const struct wm_kconv *c)
{
	bool offset = c->pointer[0] == 'S' || c->pointer[0] == 'F' || c->pointer[0] == 'B';

	wm_krun_symbol(r, wm_krun_number(r, c->arg), offset);
}

static void ip4(const struct wm_krun *r, const unsigned char *p, const char *form)
{
	char room[INET_ADDRSTRLEN];

	if (form[0] == 'i') /* "%pi4" prints leading zeros */
		wm_text_f(r->out, "%03u.%03u.%03u.%03u", p[0], p[1], p[2], p[3]);
	else if (inet_ntop(AF_INET, p, room, sizeof(room)))
		wm_text_str(r->out, room);
}

static void ip6(const struct wm_krun *r, const unsigned char *p, const char *form)
{
	char room[INET6_ADDRSTRLEN];

	if (form[0] == 'I' && form[2] == 'c' && inet_ntop(AF_INET6, p, room, sizeof(room))) {
		wm_text_str(r->out, room);
		return;
	}
	for (int i = 0; i < 16; i += 2)
		wm_text_f(r->out, "%s%02x%02x", i && form[0] == 'I' ? ":" : "", p[i], p[i + 1]);
}

void wm_krun_sockaddr(const struct wm_krun *r, struct wm_kbytes b, bool port)
{
	uint16_t family = b.bytes >= 2 ? wm_get_u16(b.data, r->print->machine.swap) : 0;
	char room[INET6_ADDRSTRLEN];

	if (family == AF_INET && b.bytes >= 8) {
		ip4(r, b.data + 4, "I4");
	} else if (family == AF_INET6 && b.bytes >= 24) {
		if (inet_ntop(AF_INET6, b.data + 8, room, sizeof(room)))
			wm_text_f(r->out, port ? "[%s]" : "%s", room);
	} else {
		wm_text_f(r->out, "(family %u)", family);
		return;
	}
	if (port)
		wm_text_f(r->out, ":%u", (unsigned)b.data[2] << 8 | b.data[3]);
}

static void network(const struct wm_krun *r, const struct wm_kconv *c)
{
	struct wm_kbytes b = wm_krun_bytes(r, c->arg);

	if (c->pointer[1] == '4' && b.bytes >= 4)
		ip4(r, b.data, c->pointer);
	else if (c->pointer[1] == '6' && b.bytes >= 16)
		ip6(r, b.data, c->pointer);
	else if (c->pointer[1] == 'S')
		wm_krun_sockaddr(r, b, c->pointer[2] == 'p');
	else
		wm_text_str(r->out, "(none)");
}

static void hardware(const struct wm_krun *r, const struct wm_kconv *c)
{
	struct wm_kbytes b = wm_krun_bytes(r, c->arg);
	bool reverse = c->pointer[1] == 'R';
	const char *between = c->pointer[0] == 'm' ? "" : c->pointer[1] == 'F' ? "-" : ":";

	for (uint32_t i = 0; b.bytes >= 6 && i < 6; i++)
		wm_text_f(r->out, "%s%02x", i ? between : "", b.data[reverse ? 5 - i : i]);
	if (b.bytes < 6)
		wm_text_str(r->out, "(none)");
}

static void print_pointer_uuid(const struct wm_krun *r, const struct wm_kconv *c)
{
	static const uint8_t big[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	static const uint8_t little[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	struct wm_kbytes b = wm_krun_bytes(r, c->arg);
	char form = c->pointer[1];
	const uint8_t *order = form == 'l' || form == 'L' ? little : big;
	const char *byte = form == 'L' || form == 'B' ? "%s%02X" : "%s%02x";

	for (int i = 0; b.bytes >= 16 && i < 16; i++)
		wm_text_f(r->out, byte, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			  b.data[order[i]]);
	if (b.bytes < 16)
		wm_text_str(r->out, "(none)");
}

static void print_pointer_bytes(const struct wm_krun *r, const struct wm_kconv *c, int32_t width)
{
	struct wm_kbytes b = wm_krun_bytes(r, c->arg);
	char form = c->pointer[1];
	const char *between = form == 'C' ? ":" : form == 'D' ? "-" : form == 'N' ? "" : " ";

	for (uint32_t i = 0; i < b.bytes && i < 64 && (width < 0 || i < (uint32_t)width); i++)
		wm_text_f(r->out, "%s%02x", i ? between : "", b.data[i]);
}

/* Returns bit `i` of a bit map of kernel longs. */
static bool print_pointer_bit(const struct wm_krun *r, struct wm_kbytes b, uint32_t i)
{
	const struct wm_kmachine *m = &r->print->machine;
	uint32_t byte = i / 8;

	if (m->big_endian)
		byte = byte / m->long_bytes * m->long_bytes +
		       (m->long_bytes - 1 - byte % m->long_bytes);
	return byte < b.bytes && b.data[byte] >> i % 8 & 1;
}

static void bits_list(const struct wm_krun *r, struct wm_kbytes b, uint32_t nr)
{
	bool any = false;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t first = i;

		if (!print_pointer_bit(r, b, i))
			continue;
		while (i + 1 < nr && print_pointer_bit(r, b, i + 1))
			i++;
		if (i > first)
			wm_text_f(r->out, "%s%u-%u", any ? "," : "", first, i);
		else
			wm_text_f(r->out, "%s%u", any ? "," : "", first);
		any = true;
	}
}

static void bits_hex(const struct wm_krun *r, struct wm_kbytes b, uint32_t nr)
{
	for (uint32_t word = (nr + 31) / 32; word-- > 0;) {
		uint32_t value = 0, in_word = nr - word * 32 < 32 ? nr - word * 32 : 32;

		for (uint32_t i = 0; i < in_word; i++)
			value |= (uint32_t)print_pointer_bit(r, b, word * 32 + i) << i;
		wm_text_f(r->out, "%0*x%s", (int)(in_word + 3) / 4, value, word ? "," : "");
	}
}

void wm_krun_bits(const struct wm_krun *r, struct wm_kbytes b, bool list)
{
	if (list)
		bits_list(r, b, 8 * b.bytes);
	else
		bits_hex(r, b, 8 * b.bytes);
}

static void bitmap(const struct wm_krun *r, const struct wm_kconv *c, int32_t width)
{
	struct wm_kbytes b = wm_krun_bytes(r, c->arg);
	uint32_t nr = width >= 0 && (uint32_t)width < 8 * b.bytes ? (uint32_t)width : 8 * b.bytes;

	if (c->pointer[1] == 'l')
		bits_list(r, b, nr);
	else
		bits_hex(r, b, nr);
}

static void error_number(const struct wm_krun *r, uint64_t v)
{
	int64_t err = r->print->machine.long_bytes == 4 ? (int32_t)v : (int64_t)v;

	if (err < 0 && err >= -4095)
		wm_text_i64(r->out, err);
	else
		wm_text_f(r->out, "0x%llx", (unsigned long long)v);
}

void wm_krun_pointer(const struct wm_krun *r, const struct wm_kconv *c, int32_t width)
{
	uint64_t v;

	switch (c->pointer[0]) {
	case 'S':
	case 's':
	case 'F':
	case 'f':
	case 'B':
		symbol(r, c);
		return;
	case 'I':
	case 'i':
		network(r, c);
		return;
	case 'M':
	case 'm':
		hardware(r, c);
		return;
	case 'U':
		print_pointer_uuid(r, c);
		return;
	case 'h':
		print_pointer_bytes(r, c, width);
		return;
	case 'b':
		bitmap(r, c, width);
		return;
	case 'e':
		error_number(r, wm_krun_number(r, c->arg));
		return;
	default:
		v = wm_krun_number(r, c->arg);
		if (v)
			wm_krun_hex(r->out, v);
		else
			wm_text_str(r->out, "(nil)");
	}
}
