/* SPDX-License-Identifier: MIT */
/*
 * ctf2_int.h - declarations shared by ctf2_parse.c (fragments) and ctf2_type.c (field classes).
 * Errors are sticky: the first one is recorded; from then on, getters return their defaults.
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
	bool has_trace; /* a trace class fragment was read */
	int err;
	const char *where;
	int64_t offset; /* offset of the current fragment */
	uint32_t line;
	struct wm_diag *diag;
};

/* Records the first error, ignores later ones. Always returns a negative errno. */
int wm_ctf2_fail(struct ctf2 *p, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* returns `piece`; sets the error -ENOMEM when it is NULL */
void *wm_ctf2_memory(struct ctf2 *p, void *piece);

/*
 * Return a member of a JSON object. All set an error when it has the wrong type, the `need`
 * functions also when it is missing.
 */
json_t *wm_ctf2_need(struct ctf2 *p, json_t *object, const char *key);
/* NULL: the member is missing */
const char *wm_ctf2_text(struct ctf2 *p, json_t *object, const char *key);
uint64_t wm_ctf2_unsigned(struct ctf2 *p, json_t *object, const char *key, uint64_t initial,
			  uint64_t max);

/*
 * Reads a JSON integer of up to 64 bits; a negative one is returned in two's complement. Returns
 * false when the value is not an integer.
 */
bool wm_ctf2_number(const json_t *value, bool *ret_negative, uint64_t *ret_bits);

/* Copies a JSON string to the arena. A string that contains NUL is an error. */
const char *wm_ctf2_copy(struct ctf2 *p, const json_t *string);

/* Parses a field class, which is an object or the name of an alias. NULL after an error. */
struct wm_ctf_type *wm_ctf2_type(struct ctf2 *p, json_t *value);
void wm_ctf2_alias_add(struct ctf2 *p, json_t *fragment);

/* Warns about properties of an object that CTF 2 does not define. `type`: see ctf2_known.c. */
void wm_ctf2_check_properties(struct ctf2 *p, const char *type, json_t *object);

#endif
