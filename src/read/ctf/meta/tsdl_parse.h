/* SPDX-License-Identifier: MIT */
/*
 * tsdl_parse.h - CTF 1.8 metadata text to a tree. wm_ctf_metadata_parse() of
 * type.h is the usual door; this one takes plain text only.
 */
#ifndef WM_READ_CTF_META_TSDL_PARSE_H
#define WM_READ_CTF_META_TSDL_PARSE_H

#include "read/ctf/meta/type.h"

/*
 * Adds what the text says to `m`. On failure `m` holds the blocks that were
 * whole before the error, which `diag` describes (line, column, offset + base).
 */
int wm_tsdl_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  int64_t base, struct wm_diag *diag);

#endif
