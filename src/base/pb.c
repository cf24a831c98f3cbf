/* SPDX-License-Identifier: MIT */
/* pb.c - see pb.h. */
#include "base/pb.h"

#include "base/utf8.h"

static bool pb_is_plain(const unsigned char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (s[i] >= 0x80 || !s[i])
			return false;
	return true;
}

void wm_pb_utf8(struct wm_text *t, uint32_t field, const void *data, size_t bytes)
{
	const unsigned char *s = data, *end = s + bytes;
	uint32_t code = 0;
	size_t length;

	if (pb_is_plain(s, bytes)) {
		wm_pb_string(t, field, data, bytes);
		return;
	}
	length = wm_pb_begin(t, field);
	while (s < end) {
		uint32_t n = wm_utf8_read(s, (size_t)(end - s), &code);

		if (n && code)
			wm_text_add(t, s, n);
		else
			wm_text_add(t, "\xef\xbf\xbd", 3);
		s += n ? n : 1;
	}
	wm_pb_end(t, length);
}
