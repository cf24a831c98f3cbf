/* SPDX-License-Identifier: MIT */
/*
 * type.h - functions that create and check the tree of read/ctf_tree.h. tsdl_parse.h (CTF 1.8) and
 * ctf2_parse.h (CTF 2) build it. wm_ctf_check() refuses metadata whose walk takes more than
 * WM_CTF_WALK_MAX steps, which also bounds all later walks.
 */
#ifndef WM_READ_CTF_META_TYPE_H
#define WM_READ_CTF_META_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "read/ctf_tree.h"

struct wm_ctf_metadata *wm_ctf_metadata_create(void); /* NULL: out of memory */
void wm_ctf_metadata_destroy(struct wm_ctf_metadata *m);

/* Creates a type with default attributes; NULL when out of memory. */
struct wm_ctf_type *wm_ctf_type_create(struct wm_ctf_metadata *m, enum wm_ctf_kind kind);

/*
 * Call this when `owner` contains `part`: updates the owner's alignment and depth. Returns -E2BIG
 * when the depth exceeds WM_CTF_DEPTH_MAX.
 */
int wm_ctf_type_contain(struct wm_ctf_type *owner, const struct wm_ctf_type *part);

/* Returns the index of the member with that raw name, or -ENOENT. */
int wm_ctf_member_find(const struct wm_ctf_type *t, const char *raw);

/*
 * Checks the metadata, in either language: every reference must name an earlier field of the right
 * kind, the stream of every event must exist, no id may be used twice. Replaces NATIVE with the
 * byte order. -EBADMSG, -ENOMEM or -E2BIG with `diag`.
 */
int wm_ctf_check(struct wm_ctf_metadata *m, struct wm_diag *diag);

/* Adds a warning about the given place in the metadata. */
void wm_ctf_warn(struct wm_ctf_metadata *m, int64_t offset, uint32_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

const struct wm_ctf_pair *wm_ctf_env(const struct wm_ctf_metadata *m, const char *key);
const struct wm_ctf_stream *wm_ctf_stream_find(const struct wm_ctf_metadata *m, uint64_t id);

/* Returns the role of a member, which is given by its type in CTF 2 and by its name in CTF 1.8. */
enum wm_ctf_role wm_ctf_member_role(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
				    const struct wm_ctf_member *member);

/*
 * Copies the text of a metadata file, without any packets that it is wrapped in; in that case CTF
 * 1.8 text begins with its signature. malloc'ed. 0, -ENOMEM or -EBADMSG with `diag`.
 */
int wm_ctf_metadata_text(const char *where, const char *text, size_t bytes, char **ret,
			 size_t *ret_bytes, struct wm_diag *diag);

/*
 * Parses a metadata file: plain text, metadata packets, or a CTF 2 JSON sequence. When `ret_damage`
 * is not NULL and a later part is damaged, keeps the parts before it, describes the damage in
 * *ret_damage and returns 0. Without damage, ret_damage->sentence is empty.
 */
int wm_ctf_metadata_parse(const char *where, const char *text, size_t bytes,
			  struct wm_ctf_metadata **ret, struct wm_diag *ret_damage,
			  struct wm_diag *diag);

#endif
