/* SPDX-License-Identifier: MIT */
/*
 * tsdl_parse.h - parses CTF 1.8 metadata text into a tree. Callers usually use
 * wm_ctf_metadata_parse() of type.h; this function takes plain text only.
 */
#ifndef WM_READ_CTF_META_TSDL_PARSE_H
#define WM_READ_CTF_META_TSDL_PARSE_H

#include "read/ctf/meta/type.h"

/*
 * Adds the contents of the text to `m`. On failure `m` has the blocks before the error, and `diag`
 * describes the error (line, column, offset + base).
 */
int wm_tsdl_parse(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		  int64_t base, struct wm_diag *diag);

#endif
