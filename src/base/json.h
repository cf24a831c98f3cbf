/* SPDX-License-Identifier: MIT */
/*
 * json.h - writing JSON as it comes, without a tree: values of any size are
 * streamed to a FILE, only the nesting is remembered.
 *
 *   struct wm_json j;
 *   wm_json_init(&j, stdout, 0);
 *   wm_json_object(&j, NULL);
 *   wm_json_string(&j, "name", "query");
 *   wm_json_array(&j, "rows");
 *   wm_json_u64(&j, NULL, 3);
 *   wm_json_end(&j);
 *   wm_json_end(&j);            ->  {"name":"query","rows":[3]}
 *
 * `key` is NULL inside arrays and at the top. Errors of the stream stay in the
 * stream (ferror). Text that is not UTF-8 gets U+FFFD for each byte that does
 * not fit, so the output is always valid JSON.
 */
#ifndef WM_BASE_JSON_H
#define WM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WM_JSON_DEPTH_MAX 32u

struct wm_json {
	FILE *out;
	unsigned lines; /* objects in arrays nested no deeper begin on a line of their own */
	unsigned depth;
	uint32_t arrays, filled; /* one bit a level */
};

void wm_json_init(struct wm_json *j, FILE *out, unsigned lines);

void wm_json_object(struct wm_json *j, const char *key);
void wm_json_array(struct wm_json *j, const char *key);
void wm_json_end(struct wm_json *j); /* of the innermost; a newline after the outermost */

void wm_json_string(struct wm_json *j, const char *key, const char *value); /* NULL: null */
void wm_json_bytes(struct wm_json *j, const char *key, const char *value, size_t bytes);
void wm_json_i64(struct wm_json *j, const char *key, int64_t value);
void wm_json_u64(struct wm_json *j, const char *key, uint64_t value);
void wm_json_f64(struct wm_json *j, const char *key, double value); /* NaN, infinite: null */
void wm_json_bool(struct wm_json *j, const char *key, bool value);
void wm_json_null(struct wm_json *j, const char *key);

#endif
