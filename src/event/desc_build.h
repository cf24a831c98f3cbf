/* SPDX-License-Identifier: MIT */
/*
 * desc_build.h - makes a description (<waymark/abi.h>) by hand: for readers
 * that learn an event from a file, and for tests. Programs get theirs from
 * the compiler. Tool side.
 */
#ifndef WM_EVENT_DESC_BUILD_H
#define WM_EVENT_DESC_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * NULL strings are empty ones; nothing is checked: wm_class_parse() does that.
 * `schema` is "name:type;..." for every kind when `named` is set; without it a
 * marker is described as the compiler does it, by its format and arguments.
 */
struct wm_desc_spec {
	const char *provider, *name, *schema, *print, *file;
	const char *carrier;   /* with WAYMARK_DESC_LINKED; NULL: not said */
	const int64_t *values; /* one for each '#' of the schema */
	uint16_t nr_values;
	uint8_t kind, level; /* enum waymark_desc_kind, enum waymark_level */
	uint32_t line, flags;
	bool named;
};

/* A malloc'ed description the caller frees, its size a multiple of 8; -ENOMEM, -E2BIG. */
int wm_desc_build(const struct wm_desc_spec *spec, unsigned char **ret_desc, size_t *ret_bytes);

/*
 * The same from the four things tests vary; level INFO, kind EVENT. NULL when
 * out of memory. `values` may be NULL when the schema has no '#'.
 */
unsigned char *wm_desc_simple(const char *provider, const char *name, const char *schema,
			      const int64_t *values, uint16_t nr_values, size_t *ret_bytes);

#endif
