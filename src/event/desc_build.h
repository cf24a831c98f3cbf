/* SPDX-License-Identifier: MIT */
/*
 * desc_build.h - builds an event's description (<waymark/abi.h>) at run time, for tests and for
 * trace readers, which find the events in a file. In traced programs the compiler builds the
 * descriptions, so this code is not part of the runtime.
 */
#ifndef WM_EVENT_DESC_BUILD_H
#define WM_EVENT_DESC_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * NULL strings are treated as empty; strings are checked by wm_class_parse(), not here. With
 * `named`, `schema` is "name:type;..." for every kind; without it, a marker is described by its
 * format and arguments, as in compiled programs.
 */
struct wm_desc_spec {
	const char *provider, *name, *schema, *print, *file;
	const char *carrier;   /* used with WAYMARK_DESC_LINKED; NULL: unknown */
	const int64_t *values; /* one value for each '#' of the schema */
	uint16_t nr_values;
	uint8_t kind, level; /* values of enum waymark_desc_kind and enum waymark_level */
	uint32_t line, flags;
	bool named;
};

/*
 * Returns the size, a multiple of 8, and a malloc'ed description that the caller frees; or -ENOMEM
 * or -E2BIG.
 */
int wm_desc_build(const struct wm_desc_spec *spec, unsigned char **ret_desc, size_t *ret_bytes);

/*
 * Builds a description from the four properties that tests vary; the level is INFO and the kind
 * EVENT. Returns NULL when out of memory. `values` may be NULL when the schema has no '#'.
 */
unsigned char *wm_desc_simple(const char *provider, const char *name, const char *schema,
			      const int64_t *values, uint16_t nr_values, size_t *ret_bytes);

#endif
