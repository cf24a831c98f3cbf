/* SPDX-License-Identifier: MIT */
/*
 * json.h - streams JSON to a FILE without building a tree: values may have any size, only the
 * nesting is kept in memory.
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
 * `key` is NULL inside arrays and at the top level. Write errors remain in the stream (ferror).
 * Each byte that is not part of valid UTF-8 becomes U+FFFD, so the output is always valid JSON.
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
	unsigned lines; /* up to this depth, each object in an array begins on a new line */
	unsigned depth;
	uint32_t arrays, filled; /* one bit per nesting level */
};

void wm_json_init(struct wm_json *j, FILE *out, unsigned lines);

void wm_json_object(struct wm_json *j, const char *key);
void wm_json_array(struct wm_json *j, const char *key);
void wm_json_end(struct wm_json *j); /* closes the innermost level; a newline after the outermost */

void wm_json_string(struct wm_json *j, const char *key, const char *value); /* NULL is written as
									     * null */
void wm_json_bytes(struct wm_json *j, const char *key, const char *value, size_t bytes);
void wm_json_i64(struct wm_json *j, const char *key, int64_t value);
void wm_json_u64(struct wm_json *j, const char *key, uint64_t value);
void wm_json_f64(struct wm_json *j, const char *key, double value); /* NaN and infinity are written
								     * as null */
void wm_json_bool(struct wm_json *j, const char *key, bool value);
void wm_json_null(struct wm_json *j, const char *key);

#endif
