/* SPDX-License-Identifier: MIT */
/*
 * check.c - checks the metadata of a CTF trace as a whole, in either language. Walks every scope
 * once, in decoding order, with the enclosing structures on a stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/meta/type.h"

struct frame {
	const struct wm_ctf_type *type;
	uint32_t at; /* the current member; a reference may name the members before it */
};

struct walk {
	const struct wm_ctf_metadata *m;
	const struct wm_ctf_type *roots[WM_CTF_NR_SCOPES];
	enum wm_ctf_scope scope;
	struct frame frames[WM_CTF_DEPTH_MAX + 2];
	uint32_t nr_frames;
	uint64_t steps;
	struct wm_diag *diag;
};

static int meta_check_refuse(struct walk *w, const struct wm_ctf_ref *ref, int err, const char *why,
			     const char *name)
{
	(void)wm_diag_set(w->diag, err, w->diag ? w->diag->where : NULL, ref->offset, "'%.100s' %s",
			  name ? name : "..", why);
	if (w->diag) {
		w->diag->line = ref->line;
		w->diag->column = ref->column;
	}
	return err;
}

/*
 * Follows a path of names down from a structure; NULL when there is no such field. When the path
 * enters a list, a variant or an optional (CTF 2), returns that type: compile_ref.c looks up the
 * rest.
 */
static const struct wm_ctf_type *meta_check_descend(const struct wm_ctf_type *t,
						    const char *const *names, uint32_t nr_names)
{
	for (uint32_t i = 0; i < nr_names; i++) {
		if (t->kind == WM_CTF_ARRAY || t->kind == WM_CTF_SEQUENCE ||
		    t->kind == WM_CTF_OPTIONAL || t->kind == WM_CTF_VARIANT)
			return t;
		int at = t->kind == WM_CTF_STRUCT && names[i] ? wm_ctf_member_find(t, names[i])
							      : -ENOENT;

		if (at < 0)
			return NULL;
		t = t->members[at].type;
	}
	return t;
}

uint32_t wm_ctf_ref_scope(const struct wm_ctf_ref *ref, enum wm_ctf_scope *ret)
{
	*ret = ref->scope;
	if (ref->scope != WM_CTF_RELATIVE)
		return 0;
	for (uint32_t i = 0; i < WM_CTF_NR_SCOPES; i++) {
		const char *const *words = wm_ctf_scope_words[i];
		uint32_t n = 0;

		while (n < 3 && words[n] && n < ref->nr_names && ref->names[n] &&
		       !strcmp(words[n], ref->names[n]))
			n++;
		if (n == 3 || (n == 2 && !words[2])) {
			*ret = (enum wm_ctf_scope)i;
			return n;
		}
	}
	return 0;
}

static const struct wm_ctf_type *find_absolute(const struct walk *w, enum wm_ctf_scope scope,
					       const char *const *names, uint32_t nr_names)
{
	const struct wm_ctf_type *root = scope <= w->scope ? w->roots[scope] : NULL;
	int at = root && nr_names && names[0] ? wm_ctf_member_find(root, names[0]) : -ENOENT;

	if (at < 0 || (scope == w->scope && (uint32_t)at > w->frames[0].at))
		return NULL; /* missing, or decoded later */
	return meta_check_descend(root, names, nr_names);
}

/*
 * Searches the enclosing structures from the innermost outwards. In CTF 2, the number of NULL names
 * is the number of structures to leave.
 */
static const struct wm_ctf_type *find_relative(const struct walk *w, const struct wm_ctf_ref *ref)
{
	const char *const *names = ref->names;
	uint32_t nr_names = ref->nr_names, depth = w->nr_frames;

	for (; nr_names && !*names && depth; names++, nr_names--)
		depth--;
	for (; nr_names && depth; depth--) {
		const struct frame *f = &w->frames[depth - 1];
		uint32_t at = f->type->kind == WM_CTF_STRUCT ? f->at : 0;

		/* Search backwards: a length usually precedes its array directly. */
		while (at && strcmp(f->type->members[at - 1].raw, names[0]) != 0)
			at--;
		if (at)
			return meta_check_descend(f->type->members[at - 1].type, names + 1,
						  nr_names - 1);
		if (w->m->major == 2)
			break;
	}
	return NULL;
}

static bool meta_check_is_length(const struct wm_ctf_type *t)
{
	return (t->kind == WM_CTF_INTEGER || t->kind == WM_CTF_ENUM || t->kind == WM_CTF_VARINT) &&
	       !t->is_signed && t->bits <= 64;
}

static bool is_found_later(const struct walk *w, const struct wm_ctf_type *t)
{
	return w->m->major == 2 && (t->kind == WM_CTF_ARRAY || t->kind == WM_CTF_SEQUENCE ||
				    t->kind == WM_CTF_OPTIONAL || t->kind == WM_CTF_VARIANT);
}

static bool is_selector(const struct walk *w, const struct wm_ctf_type *t)
{
	return t->kind == WM_CTF_ENUM ||
	       (w->m->major == 2 && (t->kind == WM_CTF_INTEGER || t->kind == WM_CTF_VARINT));
}

static int check_ref(struct walk *w, const struct wm_ctf_type *owner)
{
	const struct wm_ctf_ref *ref = &owner->ref;
	const struct wm_ctf_type *target;
	enum wm_ctf_scope scope;
	uint32_t used;

	if (!ref->nr_names) {
		struct wm_ctf_ref here = {
		    .line = owner->line, .column = owner->column, .offset = -1};

		return meta_check_refuse(w, &here, -EBADMSG, "has no tag", "variant");
	}
	used = wm_ctf_ref_scope(ref, &scope);
	if (scope == WM_CTF_RELATIVE)
		target = find_relative(w, ref);
	else
		target = find_absolute(w, scope, ref->names + used, ref->nr_names - used);
	if (!target)
		return meta_check_refuse(w, ref, -EBADMSG, "is not an earlier field",
					 ref->names[ref->nr_names - 1]);
	if (is_found_later(w, target))
		return 0;
	if (owner->kind == WM_CTF_OPTIONAL && !owner->nr_members && !target->is_bool)
		return meta_check_refuse(w, ref, -EBADMSG,
					 "is not a boolean, and no ranges are given for it",
					 ref->names[ref->nr_names - 1]);
	if (owner->kind == WM_CTF_SEQUENCE ? !meta_check_is_length(target)
					   : !is_selector(w, target))
		return meta_check_refuse(
		    w, ref, -EBADMSG,
		    owner->kind == WM_CTF_SEQUENCE
			? "is not an unsigned integer, so it cannot be a length"
			: "is not an enumeration, so it cannot choose an option",
		    ref->names[ref->nr_names - 1]);
	return 0;
}

/* The depth is bounded by wm_ctf_type_contain(), the number of steps by WM_CTF_WALK_MAX. */
static int meta_check_walk(struct walk *w, const struct wm_ctf_type *t)
{
	bool chosen =
	    t->kind == WM_CTF_SEQUENCE || t->kind == WM_CTF_VARIANT || t->kind == WM_CTF_OPTIONAL;
	struct frame *f = &w->frames[w->nr_frames];
	int err = chosen ? check_ref(w, t) : 0;

	if (++w->steps > WM_CTF_WALK_MAX)
		return wm_diag_set(w->diag, -E2BIG, w->diag ? w->diag->where : NULL, -1,
				   "types that expand to more than %u fields", WM_CTF_WALK_MAX);
	if (!err && t->element && t->kind != WM_CTF_ENUM)
		err = meta_check_walk(w, t->element);
	if (t->kind == WM_CTF_STRUCT)
		w->nr_frames++;
	f->type = t;
	for (uint32_t i = 0; i < t->nr_members && t->kind != WM_CTF_OPTIONAL && !err; i++) {
		if (t->kind == WM_CTF_STRUCT)
			f->at = i;
		err = meta_check_walk(w, t->members[i].type);
	}
	if (t->kind == WM_CTF_STRUCT)
		w->nr_frames--;
	return err;
}

static int walk_scope(struct walk *w, enum wm_ctf_scope scope, const struct wm_ctf_type *root)
{
	for (int i = scope; i < WM_CTF_NR_SCOPES; i++)
		w->roots[i] = NULL;
	w->roots[scope] = root;
	w->scope = scope;
	w->nr_frames = 0;
	return root ? meta_check_walk(w, root) : 0;
}

static int walk_stream(struct walk *w, const struct wm_ctf_stream *s)
{
	int err = walk_scope(w, WM_CTF_PACKET_CONTEXT, s->packet_context);

	if (!err)
		err = walk_scope(w, WM_CTF_EVENT_HEADER, s->event_header);
	return err ? err : walk_scope(w, WM_CTF_STREAM_EVENT_CONTEXT, s->event_context);
}

/* --- ids ------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_stream_id(const void *a, const void *b)
{
	const struct wm_ctf_stream *const *x = a, *const *y = b;

	return compare_numbers((*x)->id, (*y)->id);
}

static int by_event_id(const void *a, const void *b)
{
	const struct wm_ctf_event *const *x = a, *const *y = b;
	int order = compare_numbers((*x)->stream_id, (*y)->stream_id);

	return order ? order : compare_numbers((*x)->id, (*y)->id);
}

/* Returns a sorted array of pointers to the elements of an array; the caller frees it. */
static const void **sorted(const void *array, uint32_t count, size_t bytes,
			   int (*compare)(const void *, const void *))
{
	const void **list = calloc(count ? count : 1, sizeof(void *));

	if (!list)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		list[i] = (const char *)array + i * bytes;
	qsort(list, count, sizeof(void *), compare);
	return list;
}

static int twins(const void *const *list, uint32_t count,
		 int (*compare)(const void *, const void *))
{
	for (uint32_t i = 1; i < count; i++) {
		if (!compare(&list[i - 1], &list[i]))
			return (int)i;
	}
	return 0;
}

/*
 * Adds a stream class without scopes when the metadata has no stream block. Events that name no
 * stream belong to it, or to the only stream there is.
 */
static int implied_stream(struct wm_ctf_metadata *m)
{
	if (m->major == 1 && m->nr_streams == 1) {
		for (uint32_t i = 0; i < m->nr_events; i++)
			if (!m->events[i].has_stream)
				m->events[i].stream_id = m->streams[0].id;
	}
	if (m->nr_streams || !m->nr_events)
		return 0;
	m->streams = wm_arena_array(&m->arena, 1, sizeof(*m->streams));
	if (!m->streams)
		return -ENOMEM;
	m->nr_streams = 1;
	return 0;
}

static int check_events(struct walk *w, const struct wm_ctf_metadata *m, const void *const *streams,
			const void *const *events)
{
	uint32_t s = 0;
	int err = 0;

	for (uint32_t i = 0; i < m->nr_events && !err; i++) {
		const struct wm_ctf_event *e = events[i];
		const struct wm_ctf_stream *stream = NULL;

		while (s < m->nr_streams &&
		       ((const struct wm_ctf_stream *)streams[s])->id < e->stream_id)
			s++;
		stream = s < m->nr_streams ? streams[s] : NULL;
		if (m->major == 1 && m->nr_streams > 1 && !e->has_stream)
			stream = NULL;
		if (!stream || stream->id != e->stream_id) {
			(void)wm_diag_set(w->diag, -EBADMSG, w->diag ? w->diag->where : NULL, -1,
					  "event '%.80s' belongs to stream %llu, which is not "
					  "described",
					  e->name ? e->name : "", (unsigned long long)e->stream_id);
			if (w->diag)
				w->diag->line = e->line;
			return -EBADMSG;
		}
		w->roots[WM_CTF_PACKET_CONTEXT] = stream->packet_context;
		w->roots[WM_CTF_EVENT_HEADER] = stream->event_header;
		w->roots[WM_CTF_STREAM_EVENT_CONTEXT] = stream->event_context;
		err = walk_scope(w, WM_CTF_EVENT_CONTEXT, e->context);
		if (!err)
			err = walk_scope(w, WM_CTF_EVENT_FIELDS, e->fields);
	}
	return err;
}

/* --- the trace and its streams ---------------------------------------------------- */

static int refuse_at(struct walk *w, const struct wm_ctf_type *t, const char *why, const char *name)
{
	const struct wm_ctf_ref at = {.line = t->line, .column = t->column, .offset = -1};

	return meta_check_refuse(w, &at, -EBADMSG, why, name);
}

static int check_magic(struct walk *w, const struct wm_ctf_member *m, bool is_first)
{
	const struct wm_ctf_type *t = m->type;

	if (!is_first)
		return refuse_at(w, t, "is not the first field", m->name);
	if (t->kind != WM_CTF_INTEGER || t->bits != 32 || t->is_signed)
		return refuse_at(w, t, "is not an unsigned 32-bit number", m->name);
	return 0;
}

static int check_uuid(struct walk *w, const struct wm_ctf_member *m)
{
	const struct wm_ctf_type *t = m->type, *e = t->element;

	if (t->kind == WM_CTF_ARRAY && t->length == 16 && e->kind == WM_CTF_INTEGER &&
	    e->bits == 8 && e->align == 8)
		return 0;
	return refuse_at(w, t, "is not 16 bytes", m->name);
}

/*
 * Checks the fields that identify packets: the magic number must be the first field and have 32
 * bits, the uuid must have 16 bytes.
 */
static int check_header(struct walk *w, const struct wm_ctf_type *header)
{
	int err = 0;

	for (uint32_t i = 0; !err && header && i < header->nr_members; i++) {
		const struct wm_ctf_member *m = &header->members[i];
		enum wm_ctf_role role = wm_ctf_member_role(w->m, WM_CTF_PACKET_HEADER, m);

		if (role == WM_CTF_MAGIC)
			err = check_magic(w, m, i == 0);
		else if (role == WM_CTF_UUID)
			err = check_uuid(w, m);
	}
	return err;
}

static int check_streams_told(struct walk *w, const struct wm_ctf_metadata *m)
{
	if (m->nr_streams < 2 ||
	    (m->packet_header && wm_ctf_member_find(m->packet_header, "stream_id") >= 0))
		return 0;
	return wm_diag_set(w->diag, -EBADMSG, w->diag ? w->diag->where : NULL, -1,
			   "%u streams, and no 'stream_id' to tell which one a packet belongs to",
			   m->nr_streams);
}

static int check_clocks(struct walk *w, const struct wm_ctf_metadata *m)
{
	for (const struct wm_ctf_type *t = m->types; t; t = t->next) {
		uint32_t i = 0;

		while (t->clock && i < m->nr_clocks && strcmp(t->clock, m->clocks[i].name) != 0)
			i++;
		if (t->clock && i == m->nr_clocks)
			return refuse_at(w, t, "refers to a clock that is not described", t->clock);
	}
	return 0;
}

static int check_all(struct walk *w, struct wm_ctf_metadata *m, const void *const *streams,
		     const void *const *events)
{
	const char *where = w->diag ? w->diag->where : NULL;
	int i = twins(streams, m->nr_streams, by_stream_id), err;

	if (i)
		return wm_diag_set(
		    w->diag, -EBADMSG, where, -1, "stream %llu is described twice",
		    (unsigned long long)((const struct wm_ctf_stream *)streams[i])->id);
	i = twins(events, m->nr_events, by_event_id);
	if (i) {
		const struct wm_ctf_event *e = events[i];

		(void)wm_diag_set(w->diag, -EBADMSG, where, -1,
				  "event %llu of stream %llu is described twice",
				  (unsigned long long)e->id, (unsigned long long)e->stream_id);
		if (w->diag)
			w->diag->line = e->line;
		return -EBADMSG;
	}
	err = check_header(w, m->packet_header);
	if (!err && m->major == 1)
		err = check_clocks(w, m);
	if (!err)
		err = walk_scope(w, WM_CTF_PACKET_HEADER, m->packet_header);
	for (uint32_t s = 0; s < m->nr_streams && !err; s++)
		err = walk_stream(w, &m->streams[s]);
	if (!err)
		err = check_events(w, m, streams, events);
	return err || m->major != 1 ? err : check_streams_told(w, m);
}

int wm_ctf_check(struct wm_ctf_metadata *m, struct wm_diag *diag)
{
	struct walk *w = calloc(1, sizeof(*w));
	const void **streams = NULL, **events = NULL;
	int err = w ? implied_stream(m) : -ENOMEM;

	if (!err) {
		streams = sorted(m->streams, m->nr_streams, sizeof(*m->streams), by_stream_id);
		events = sorted(m->events, m->nr_events, sizeof(*m->events), by_event_id);
		err = streams && events ? 0 : -ENOMEM;
	}
	for (struct wm_ctf_type *t = m->types; t && !err; t = t->next) {
		if (t->order == WM_CTF_NATIVE)
			t->order = m->order ? m->order : WM_CTF_LITTLE;
	}
	if (!err) {
		w->m = m;
		w->diag = diag;
		err = check_all(w, m, streams, events);
	}
	free(streams);
	free(events);
	free(w);
	return err;
}
