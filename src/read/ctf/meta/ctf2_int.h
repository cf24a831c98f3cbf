/* SPDX-License-Identifier: MIT */
/*
 * ctf2_int.h - shared by ctf2_parse.c (fragments) and ctf2_type.c (field classes). Errors are
 * sticky: the first one is kept, and getters return their default after it.
 */
#ifndef WM_READ_CTF_META_CTF2_INT_H
#define WM_READ_CTF_META_CTF2_INT_H

#include <jansson.h>

#include "read/ctf/meta/type.h"

struct ctf2_alias {
	const char *name;
	struct wm_ctf_type *type;
};

struct ctf2 {
	struct wm_ctf_metadata *m;
	uint32_t nr_aliases;
	struct ctf2_alias *aliases; /* sorted by name for binary search */
	uint32_t depth;
	bool has_trace; /* a trace class was read */
	int err;
	const char *where;
	int64_t offset; /* of the fragment being read */
	uint32_t line;
	struct wm_diag *diag;
};

/* Keeps the first error. Always returns a negative errno. */
int wm_ctf2_fail(struct ctf2 *p, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void *wm_ctf2_memory(struct ctf2 *p, void *piece); /* notes -ENOMEM when NULL */

/*
 * Members of a JSON object. `ctf2_need_*` notes an error when the member is
 * missing; all do when it has the wrong type.
 */
json_t *wm_ctf2_need(struct ctf2 *p, json_t *object, const char *key);
const char *wm_ctf2_text(struct ctf2 *p, json_t *object, const char *key); /* NULL: missing */
uint64_t wm_ctf2_unsigned(struct ctf2 *p, json_t *object, const char *key, uint64_t initial,
			  uint64_t max);
int64_t wm_ctf2_signed(struct ctf2 *p, json_t *object, const char *key, int64_t initial);

/* A JSON integer of up to 64 bits; a signed one keeps its bits. False when the value is not one. */
bool wm_ctf2_number(const json_t *value, bool *ret_negative, uint64_t *ret_bits);

/* A copy of a JSON string in the arena. The string must not contain NUL. */
const char *wm_ctf2_copy(struct ctf2 *p, const json_t *string);

/* A field class: an object, or the name of an alias. NULL after an error. */
struct wm_ctf_type *wm_ctf2_type(struct ctf2 *p, json_t *value);
void wm_ctf2_alias_add(struct ctf2 *p, json_t *fragment);

#endif
