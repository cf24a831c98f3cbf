/* SPDX-License-Identifier: MIT */
/*
 * desc_build.h - builds a description (<waymark/abi.h>) at run time: for readers that learn an
 * event from a file, and for tests. In programs the compiler builds it. Tool side.
 */
#ifndef WM_EVENT_DESC_BUILD_H
#define WM_EVENT_DESC_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * NULL strings count as empty; nothing is checked here: wm_class_parse() does that. With `named`,
 * `schema` is "name:type;..." for every kind; without it, a marker is described by its format and
 * arguments, as the compiler does it.
 */
struct wm_desc_spec {
	const char *provider, *name, *schema, *print, *file;
	const char *carrier;   /* with WAYMARK_DESC_LINKED; NULL: unknown */
	const int64_t *values; /* one for each '#' of the schema */
	uint16_t nr_values;
	uint8_t kind, level; /* enum waymark_desc_kind, enum waymark_level */
	uint32_t line, flags;
	bool named;
};

/* Returns a malloc'ed description that the caller frees, its size a multiple of 8; -ENOMEM,
 * -E2BIG. */
int wm_desc_build(const struct wm_desc_spec *spec, unsigned char **ret_desc, size_t *ret_bytes);

/*
 * The same from the four properties that tests vary; level INFO, kind EVENT. NULL when out of
 * memory. `values` may be NULL when the schema has no '#'.
 */
unsigned char *wm_desc_simple(const char *provider, const char *name, const char *schema,
			      const int64_t *values, uint16_t nr_values, size_t *ret_bytes);

#endif
