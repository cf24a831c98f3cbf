/* SPDX-License-Identifier: MIT */
/* utf_text.c - converts UTF-16 and UTF-32 strings of CTF 2; see decode.h. */
#include "read/ctf/decode.h"

#define REPLACEMENT 0xfffdu
#define CODE_MAX    0x10ffffu
#define UTF8_MAX    4u /* maximum bytes of a character */

static uint32_t unit_bytes(enum wm_ctf_encoding encoding)
{
	return encoding == WM_CTF_UTF16_LE || encoding == WM_CTF_UTF16_BE ? 2 : 4;
}

static uint32_t unit(enum wm_ctf_encoding encoding, const unsigned char *p)
{
	switch (encoding) {
	case WM_CTF_UTF16_LE:
		return p[0] | (uint32_t)p[1] << 8;
	case WM_CTF_UTF16_BE:
		return p[1] | (uint32_t)p[0] << 8;
	case WM_CTF_UTF32_LE:
		return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	default:
		return p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
	}
}

uint64_t wm_ctf_wide_bytes(enum wm_ctf_encoding encoding, const unsigned char *data, uint64_t bytes)
{
	uint32_t size = unit_bytes(encoding);

	for (uint64_t at = 0; bytes - at >= size; at += size) {
		if (!unit(encoding, data + at))
			return at + size;
	}
	return 0;
}

static uint32_t put_utf8(char *out, uint32_t code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Returns the character at `at` and advances `at` past it. */
static uint32_t next_code(enum wm_ctf_encoding encoding, const unsigned char *data, uint64_t bytes,
			  uint64_t *at)
{
	uint32_t size = unit_bytes(encoding), code = unit(encoding, data + *at), low;

	*at += size;
	if (code > CODE_MAX || (code & 0xfffffc00) == 0xdc00)
		return REPLACEMENT;
	if ((code & 0xfffffc00) != 0xd800)
		return code;
	if (size == 4 || bytes - *at < size)
		return REPLACEMENT;
	low = unit(encoding, data + *at);
	if ((low & 0xfc00) != 0xdc00)
		return REPLACEMENT;
	*at += size;
	return 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
}

char *wm_ctf_wide_text(struct wm_arena *a, enum wm_ctf_encoding encoding, const unsigned char *data,
		       uint64_t bytes, uint32_t *ret_bytes)
{
	uint32_t size = unit_bytes(encoding), n = 0;
	char *out;

	if (bytes > WM_CTF_WIDE_MAX)
		return NULL;
	out = wm_arena_get(a, bytes / size * UTF8_MAX + 1);
	for (uint64_t at = 0; out && bytes - at >= size;) {
		uint32_t code = next_code(encoding, data, bytes, &at);

		if (!code)
			break;
		n += put_utf8(out + n, code);
	}
	*ret_bytes = n;
	return out;
}
