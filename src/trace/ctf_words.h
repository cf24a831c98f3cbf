/* SPDX-License-Identifier: MIT */
/*
 * ctf_words.h - the scopes and log levels of CTF, and their names in the metadata of CTF 1.8 and
 * CTF 2. Shared by the reader and by the writers of metadata; independent of both.
 */
#ifndef WM_TRACE_CTF_WORDS_H
#define WM_TRACE_CTF_WORDS_H

#include <stdint.h>

/* The six scopes in which a type is used or a reference starts, outermost first. */
enum wm_ctf_scope {
	WM_CTF_PACKET_HEADER,
	WM_CTF_PACKET_CONTEXT,
	WM_CTF_EVENT_HEADER,
	WM_CTF_STREAM_EVENT_CONTEXT, /* "event.context" of a stream; CTF 2 common context */
	WM_CTF_EVENT_CONTEXT,        /* "context" of an event; CTF 2 specific context */
	WM_CTF_EVENT_FIELDS,
	WM_CTF_NR_SCOPES,
	WM_CTF_RELATIVE = WM_CTF_NR_SCOPES, /* a reference that starts at the enclosing structure */
};

/* Values covered by a label, or by a tag that selects an option. */
struct wm_ctf_range {
	int64_t low, high; /* for an unsigned number: cast to uint64_t */
};

#define WM_CTF_NR_LEVELS 15u

/* Names of scopes in CTF 1.8: two or three words each. */
extern const char *const wm_ctf_scope_words[WM_CTF_NR_SCOPES][3];

/* Names of scopes in CTF 2 field locations. */
extern const char *const wm_ctf_scope_origins[WM_CTF_NR_SCOPES];

/* babeltrace2's names for log levels, indexed by LTTng's numbers. */
extern const char *const wm_ctf_level_names[WM_CTF_NR_LEVELS];

/* What distinguishes a clock, or a clock origin, from others. */
struct wm_ctf_identity {
	const char *space, *name; /* namespace and name; NULL: none */
	const char *uid;          /* a UUID in CTF 1.8; NULL: it has no identity */
};

#endif
