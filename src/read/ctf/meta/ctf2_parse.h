/* SPDX-License-Identifier: MIT */
/*
 * ctf2_parse.h - CTF 2 metadata, a sequence of JSON texts (RFC 7464), to the
 * tree of type.h. wm_ctf_metadata_parse() is the usual door.
 */
#ifndef WM_READ_CTF_META_CTF2_PARSE_H
#define WM_READ_CTF_META_CTF2_PARSE_H

#include "read/ctf/meta/type.h"

#define WM_CTF2_LEVELS 15u

extern const char *const wm_ctf2_origins[WM_CTF_NR_SCOPES]; /* of field locations */
extern const char *const wm_ctf2_levels[WM_CTF2_LEVELS];    /* as babeltrace2 calls LTTng's */

/*
 * Adds what the fragments say to `m`. On failure `m` holds those before the
 * wrong one, which `diag` places (line counts from the fragment's begin).
 */
int wm_ctf2_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  struct wm_diag *diag);

#endif
