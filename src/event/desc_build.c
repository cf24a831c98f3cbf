/* SPDX-License-Identifier: MIT */
/*
 * desc_build.c - writes a description into memory: header, values, strings. Knows the layout of
 * <waymark/abi.h> but not its meaning.
 */
#include "event/desc_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/schema_int.h"

int wm_desc_build(const struct wm_desc_spec *spec, unsigned char **ret_desc, size_t *ret_bytes)
{
	const char *text[WM_TEXT_NR] = {spec->provider, spec->name, spec->schema,
					spec->print,    spec->file, spec->carrier};
	const int nr_texts = spec->carrier ? WM_TEXT_NR : WM_TEXT_CARRIER;
	struct waymark_desc head = {
	    .magic = WAYMARK_DESC_MAGIC,
	    .kind = spec->kind,
	    .level = spec->level,
	    .nr_values = spec->nr_values,
	    .line = spec->line,
	    .flags = spec->flags | (spec->named ? WM_DESC_NAMED : 0),
	};
	size_t values_bytes = 8u * (size_t)spec->nr_values, text_bytes = 0, bytes;
	unsigned char *desc, *p;

	for (int i = 0; i < nr_texts; i++) {
		if (!text[i])
			text[i] = "";
		text_bytes += strlen(text[i]) + 1;
	}
	bytes = (sizeof(head) + values_bytes + text_bytes + 7) & ~(size_t)7;
	if (bytes > WM_DESC_BYTES_MAX)
		return -E2BIG;
	desc = calloc(1, bytes);
	if (!desc)
		return -ENOMEM;
	head.size = (uint32_t)bytes;
	head.text_size = (uint32_t)text_bytes;
	memcpy(desc, &head, sizeof(head));
	p = desc + sizeof(head);
	if (values_bytes)
		memcpy(p, spec->values, values_bytes);
	p += values_bytes;
	for (int i = 0; i < nr_texts; i++) {
		size_t n = strlen(text[i]) + 1;

		memcpy(p, text[i], n);
		p += n;
	}
	*ret_desc = desc;
	*ret_bytes = bytes;
	return 0;
}

unsigned char *wm_desc_simple(const char *provider, const char *name, const char *schema,
			      const int64_t *values, uint16_t nr_values, size_t *ret_bytes)
{
	struct wm_desc_spec spec = {
	    .provider = provider,
	    .name = name,
	    .schema = schema,
	    .values = values,
	    .nr_values = nr_values,
	    .level = WAYMARK_INFO,
	};
	unsigned char *desc;

	return wm_desc_build(&spec, &desc, ret_bytes) ? NULL : desc;
}
