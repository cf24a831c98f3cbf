/* SPDX-License-Identifier: MIT */
/*
 * provider.c - see provider.h.
 */
#include "event/provider.h"

#include <stdbool.h>

static bool provider_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether ".so" occurs anywhere after the first letter. */
static bool is_library(const char *name)
{
	for (const char *p = name; *p; p++)
		if (p != name && p[0] == '.' && p[1] == 's' && p[2] == 'o' &&
		    (!p[3] || p[3] == '.'))
			return true;
	return false;
}

void wm_provider_of_path(const char *path, char *buf, size_t size)
{
	const char *base = path;
	size_t n = 0;

	for (const char *p = path; *p; p++)
		if (*p == '/')
			base = p + 1;
	if (base[0] == 'l' && base[1] == 'i' && base[2] == 'b' && base[3] && base[3] != '.' &&
	    is_library(base))
		base += 3;
	for (; base[n] && n + 1 < size && (base[n] != '.' || n == 0); n++)
		buf[n] = provider_is_word(base[n]) ? base[n] : '_';
	if (n == 0 && size > 1)
		buf[n++] = '_';
	if (size)
		buf[n] = '\0';
}
