/* SPDX-License-Identifier: MIT */
/*
 * type.c - creates and queries nodes of a CTF trace's metadata tree. Checks that need the whole
 * tree are in check.c.
 */
#include "read/ctf/meta/type.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wm_ctf_metadata *wm_ctf_metadata_create(void)
{
	struct wm_ctf_metadata *m = calloc(1, sizeof(*m));

	if (m)
		wm_arena_init(&m->arena, WM_CTF_MEMORY_MAX);
	return m;
}

void wm_ctf_metadata_destroy(struct wm_ctf_metadata *m)
{
	if (!m)
		return;
	wm_arena_done(&m->arena);
	free(m);
}

struct wm_ctf_type *wm_ctf_type_create(struct wm_ctf_metadata *m, enum wm_ctf_kind kind)
{
	struct wm_ctf_type *t = wm_arena_get(&m->arena, sizeof(*t));

	if (!t)
		return NULL;
	t->kind = kind;
	t->base = 10;
	t->align = kind == WM_CTF_STRING || kind == WM_CTF_VARINT ? 8 : 1;
	t->next = m->types;
	m->types = t;
	return t;
}

int wm_ctf_type_contain(struct wm_ctf_type *owner, const struct wm_ctf_type *part)
{
	bool aligns = owner->kind != WM_CTF_VARIANT && owner->kind != WM_CTF_OPTIONAL;

	if (part->depth + 1u > WM_CTF_DEPTH_MAX)
		return -E2BIG;
	if (owner->depth < part->depth + 1)
		owner->depth = (uint16_t)(part->depth + 1);
	if (aligns && owner->align < part->align)
		owner->align = part->align;
	return 0;
}

int wm_ctf_member_find(const struct wm_ctf_type *t, const char *raw)
{
	for (uint32_t i = 0; i < t->nr_members; i++) {
		if (!strcmp(t->members[i].raw, raw))
			return (int)i;
	}
	return -ENOENT;
}

void wm_ctf_warn(struct wm_ctf_metadata *m, int64_t offset, uint32_t line, const char *fmt, ...)
{
	struct wm_ctf_warning *more = NULL, one = {.offset = offset, .line = line};
	char sentence[WM_DIAG_SENTENCE];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	one.sentence = wm_arena_copy(&m->arena, sentence, strlen(sentence));
	if (one.sentence && m->nr_warnings < WM_CTF_WARNINGS_MAX)
		more = wm_arena_grow(&m->arena, m->warnings, m->nr_warnings, sizeof(one));
	if (!more)
		return;
	m->warnings = more;
	more[m->nr_warnings++] = one;
}

const struct wm_ctf_pair *wm_ctf_env(const struct wm_ctf_metadata *m, const char *key)
{
	for (uint32_t i = 0; i < m->nr_env; i++) {
		if (!strcmp(m->env[i].key, key))
			return &m->env[i];
	}
	return NULL;
}

const struct wm_ctf_stream *wm_ctf_stream_find(const struct wm_ctf_metadata *m, uint64_t id)
{
	for (uint32_t i = 0; i < m->nr_streams; i++) {
		if (m->streams[i].id == id)
			return &m->streams[i];
	}
	return NULL;
}

enum wm_ctf_role wm_ctf_member_role(const struct wm_ctf_metadata *m, enum wm_ctf_scope scope,
				    const struct wm_ctf_member *member)
{
	static const struct {
		const char *name;
		enum wm_ctf_scope scope;
		enum wm_ctf_role role;
	} names[] = {
	    {"magic", WM_CTF_PACKET_HEADER, WM_CTF_MAGIC},
	    {"uuid", WM_CTF_PACKET_HEADER, WM_CTF_UUID},
	    {"stream_id", WM_CTF_PACKET_HEADER, WM_CTF_STREAM_ID},
	    {"stream_instance_id", WM_CTF_PACKET_HEADER, WM_CTF_STREAM_INSTANCE},
	    {"packet_size", WM_CTF_PACKET_CONTEXT, WM_CTF_PACKET_SIZE},
	    {"content_size", WM_CTF_PACKET_CONTEXT, WM_CTF_CONTENT_SIZE},
	    {"timestamp_begin", WM_CTF_PACKET_CONTEXT, WM_CTF_TIME_BEGIN},
	    {"timestamp_end", WM_CTF_PACKET_CONTEXT, WM_CTF_TIME_END},
	    {"events_discarded", WM_CTF_PACKET_CONTEXT, WM_CTF_DISCARDED},
	    {"packet_seq_num", WM_CTF_PACKET_CONTEXT, WM_CTF_SEQUENCE_NUMBER},
	    {"id", WM_CTF_EVENT_HEADER, WM_CTF_EVENT_ID},
	    {"timestamp", WM_CTF_EVENT_HEADER, WM_CTF_EVENT_TIME},
	};

	/* CTF 2 uses the same role for the times of events and of packets. */
	if (m->major == 2 && scope == WM_CTF_PACKET_CONTEXT &&
	    member->type->role == WM_CTF_EVENT_TIME)
		return WM_CTF_TIME_BEGIN;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i].scope == scope &&
		    (m->major == 2 ? names[i].role == member->type->role
				   : !strcmp(names[i].name, member->raw)))
			return names[i].role;
	}
	return WM_CTF_NO_ROLE;
}
