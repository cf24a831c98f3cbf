/* SPDX-License-Identifier: MIT */
/* utf8.c - see utf8.h. Refuses overlong forms, surrogates, and values beyond U+10FFFF. */
#include "base/utf8.h"

uint32_t wm_utf8_read(const unsigned char *s, size_t bytes, uint32_t *ret)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t n, c;

	if (s[0] < 0x80) {
		*ret = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n > bytes)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (uint32_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}
