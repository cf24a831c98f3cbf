/* SPDX-License-Identifier: MIT */
/*
 * ctf2_parse.h - parses CTF 2 metadata, a sequence of JSON texts (RFC 7464), into the tree of
 * type.h. Callers usually use wm_ctf_metadata_parse().
 */
#ifndef WM_READ_CTF_META_CTF2_PARSE_H
#define WM_READ_CTF_META_CTF2_PARSE_H

#include "read/ctf/meta/type.h"

/*
 * Adds the contents of the fragments to `m`. On failure `m` has the fragments before the invalid
 * one, and `diag` the position within it: lines are counted from the start of the fragment.
 */
int wm_ctf2_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  struct wm_diag *diag);

#endif
