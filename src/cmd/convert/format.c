/* SPDX-License-Identifier: MIT */
/* format.c - the formats of waymark convert, by name and by OUT's suffix. */
#include <string.h>

#include "cmd/convert/convert.h"

#define TEXT_ENTRY(named, suffixed, format) {.name = named, .suffixes = suffixed, .text = format},

static const struct wm_convert_format texts[] = {WM_CONVERT_TEXTS(TEXT_ENTRY)};

/* Whether `path` ends with one of the suffixes "x|y". */
static bool ends_so(const char *path, const char *suffixes)
{
	size_t bytes = strlen(path);

	while (suffixes && *suffixes) {
		size_t n = strcspn(suffixes, "|");

		if (bytes > n && !memcmp(path + bytes - n, suffixes, n))
			return true;
		suffixes += n + (suffixes[n] == '|');
	}
	return false;
}

/* Finds a format by name, or by path when name is NULL. */
static bool convert_format_find(const char *name, const char *path, struct wm_convert_format *ret)
{
	for (const struct wm_exporter *x = wm_exporters; x->name; x++)
		if (name ? !strcmp(x->name, name) : ends_so(path, x->ops->suffixes)) {
			*ret = (struct wm_convert_format){
			    .ops = x->ops, .name = x->name, .suffixes = x->ops->suffixes};
			return true;
		}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (name ? !strcmp(texts[i].name, name) : ends_so(path, texts[i].suffixes)) {
			*ret = texts[i];
			return true;
		}
	return false;
}

bool wm_convert_format_named(const char *name, struct wm_convert_format *ret)
{
	return convert_format_find(name, NULL, ret);
}

bool wm_convert_format_of_path(const char *path, struct wm_convert_format *ret)
{
	return convert_format_find(NULL, path, ret);
}
