/* SPDX-License-Identifier: MIT */
/*
 * own_note.c - reads the note that waymark's writer adds to an event class, in a metadata comment
 * (CTF 1.8) or in attributes (CTF 2): the event's print form and contexts. A damaged note is
 * ignored. See own.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/context.h"
#include "read/ctf/meta/tsdl_lex.h"
#include "read/ctf/own.h"

/* Applies one key of the note to the event type. */
static void own_note_take(struct wm_event_type *type, const char *key, size_t bytes,
			  const char *text, uint64_t number, uint64_t *contexts)
{
	if (bytes == 5 && !memcmp(key, "print", 5) && text && *text)
		type->print = text;
	else if (bytes == 8 && !memcmp(key, "contexts", 8) && !text)
		*contexts = number;
}

/*
 * Returns the length of a quoted string including its quotes. One without a closing quote extends
 * to the end.
 */
static size_t quoted_bytes(const char *at)
{
	size_t n = 1;

	while (at[n] && at[n] != '"')
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return at[n] ? n + 1 : n;
}

/* Parses a value: a number or a C string literal. Returns 1, 0 when it is neither, or -ENOMEM. */
static int own_note_value(struct wm_trace *t, const char **at, const char **ret_text,
			  uint64_t *ret_number)
{
	size_t bytes, n, bad;
	char *text, *end;
	int64_t used;

	*ret_text = NULL;
	if (**at != '"') {
		errno = 0;
		*ret_number = strtoull(*at, &end, 10);
		if (errno || end == *at)
			return 0;
		*at = end;
		return 1;
	}
	bytes = quoted_bytes(*at);
	text = wm_arena_get(&t->arena, bytes + 1);
	if (!text)
		return -ENOMEM;
	used = wm_tsdl_unescape(*at + 1, bytes - 1, text, &n, &bad);
	if (used < 0)
		return 0;
	text[n] = 0;
	*ret_text = text;
	*at += used + 1;
	return 1;
}

/* Parses a note in a comment: key=value pairs, separated by blanks. */
static int comment(struct wm_trace *t, const char *at, struct wm_event_type *type,
		   uint64_t *contexts)
{
	const char *key, *text;
	uint64_t number = 0;
	size_t bytes;
	int got = 1;

	while (at && *at && got > 0) {
		at += strspn(at, " \t\r\n");
		key = at;
		bytes = strcspn(at, "= \t\r\n");
		at += bytes;
		if (*at != '=')
			break; /* end of the note, or not one of waymark's notes */
		at++;
		got = own_note_value(t, &at, &text, &number);
		if (got > 0)
			own_note_take(type, key, bytes, text, number, contexts);
	}
	return got < 0 ? got : 0;
}

/* In CTF 1.8 the user stack precedes the fields: its length, then its elements. */
static bool begins_with_stack(const struct wm_type *fields)
{
	return fields && fields->nr_members >= 2 &&
	       !strcmp(fields->members[0].name, "_ustack_length") &&
	       !strcmp(fields->members[1].name, "ustack") &&
	       fields->members[1].type->kind == WM_TYPE_LIST;
}

int wm_ctf_own_note(struct wm_trace *t, const struct wm_ctf_event *e, struct wm_event_type *type)
{
	uint64_t contexts = 0;
	int err;

	for (uint32_t i = 0; i < e->nr_pairs; i++) {
		const struct wm_ctf_pair *p = &e->pairs[i];

		own_note_take(type, p->key, strlen(p->key), p->text, (uint64_t)p->number,
			      &contexts);
	}
	err = comment(t, e->note, type, &contexts);
	if ((contexts & WM_CONTEXT_USTACK) && begins_with_stack(type->parts[WM_PART_FIELDS]))
		type->nr_contexts = 2;
	return err;
}

static bool own_note_is_called(const struct wm_ctf_type *t, const char *name)
{
	return t->alias && !strcmp(t->alias, name) && t->kind == WM_CTF_INTEGER && t->bits == 8 &&
	       !t->is_signed;
}

void wm_ctf_own_types(struct wm_ctf_metadata *m)
{
	for (struct wm_ctf_type *t = m->types; t; t = t->next) {
		if (own_note_is_called(t, "wm_b1"))
			t->is_bool = t->is_bare = true;
		else if ((t->kind == WM_CTF_SEQUENCE || t->kind == WM_CTF_ARRAY) &&
			 own_note_is_called(t->element, "wm_z1"))
			t->blob = t->is_bare = true;
	}
}
