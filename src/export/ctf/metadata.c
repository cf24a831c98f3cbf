/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - describes an output folder, its stream classes and events, to the printers of
 * write/metadata.h. See ctf_int.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/ctf/ctf_int.h"

static void ctf_metadata_add(struct wm_meta_frame *f, const char *name, uint32_t bits,
			     const char *clock)
{
	wm_meta_frame_add(f, wm_meta_frame_field(name, bits, NULL, clock));
}

static struct wm_arena *arena_of(const struct wm_cx_folder *f)
{
	return &f->cx->arena;
}

static bool is_tsdl(const struct wm_cx_folder *f)
{
	return f->cx->language == WM_META_TSDL;
}

/* Returns a name that needs no quotes in TSDL. NULL: no memory. */
static const char *bare_name(const struct wm_cx_folder *f, const char *name)
{
	return is_tsdl(f) ? wm_cx_identifier(arena_of(f), name) : name;
}

/* --- words --------------------------------------------------------------------------------- */

static const char converted_by[] = "converted_by";

static bool ctf_metadata_word(const struct wm_cx_folder *f, uint32_t i, struct wm_meta_word *ret)
{
	const struct wm_trace *t = f->cx->x->traces[f->trace];
	const struct wm_ctf_metadata *m = wm_cx_source_metadata(f);
	uint32_t nr = m ? m->nr_env : t->nr_words;

	if (i > nr)
		return false;
	if (i == nr)
		*ret = (struct wm_meta_word){.key = converted_by, .text = f->cx->x->options.tracer};
	else if (m)
		*ret = (struct wm_meta_word){
		    .key = m->env[i].key, .text = m->env[i].text, .number = m->env[i].number};
	else
		*ret = (struct wm_meta_word){.key = t->words[i].key, .text = t->words[i].text};
	if (!m && !strcmp(ret->key, "host"))
		ret->key = "hostname"; /* CTF's name for the host */
	if (i < nr && !strcmp(ret->key, converted_by))
		ret->key = "converted_before_by";
	return true;
}

/* Keys are identifiers in TSDL. */
static const char *word_key(const struct wm_cx_folder *f, const char *key)
{
	const char *name = bare_name(f, key);
	size_t room;
	char *made;

	if (!name || !is_tsdl(f) || (*name && (*name < '0' || *name > '9')))
		return name;
	room = strlen(name) + 2;
	made = wm_arena_get(arena_of(f), room);
	if (made)
		(void)snprintf(made, room, "_%s", name);
	return made;
}

static int ctf_metadata_words(const struct wm_cx_folder *f, struct wm_meta_trace *ret)
{
	struct wm_meta_word w, *all = NULL;
	uint32_t nr = 0;

	for (; ctf_metadata_word(f, nr, &w); nr++) {
		all = wm_arena_grow(arena_of(f), all, nr, sizeof(*all));
		w.key = word_key(f, w.key);
		if (!all || !w.key)
			return -ENOMEM;
		all[nr] = w;
	}
	ret->words = all;
	ret->nr_words = nr;
	return 0;
}

/* --- the trace --------------------------------------------------------------------------- */

static int clocks(const struct wm_cx_folder *f, struct wm_meta_trace *ret)
{
	struct wm_meta_clock c, *all = NULL;
	uint32_t nr = 0;

	for (; wm_cx_clock(f, nr, &c); nr++) {
		all = wm_arena_grow(arena_of(f), all, nr, sizeof(*all));
		c.id = bare_name(f, c.id);
		if (!all || !c.id)
			return -ENOMEM;
		all[nr] = c;
	}
	ret->clocks = all;
	ret->nr_clocks = nr;
	return 0;
}

static int trace(struct wm_text *t, const struct wm_cx_folder *f,
		 const struct wm_meta_format *print)
{
	struct wm_meta_trace trace = {.uuid = f->has_uuid ? f->uuid : NULL};
	struct wm_meta_frame header = {.structure = {.nr_parts = 0}};
	int err = ctf_metadata_words(f, &trace);

	if (!err)
		err = clocks(f, &trace);
	if (err)
		return err;
	ctf_metadata_add(&header, "magic", 32, NULL);
	if (f->has_uuid)
		ctf_metadata_add(&header, "uuid", 8, NULL);
	ctf_metadata_add(&header, "stream_id", 64, NULL);
	ctf_metadata_add(&header, "stream_instance_id", 64, NULL);
	trace.packet_header.first = &header.structure;
	print->trace(t, &trace);
	return 0;
}

/* --- stream classes and events ------------------------------------------------------------ */

static int ctf_metadata_stream(struct wm_text *t, const struct wm_cx_class *c,
			       const struct wm_meta_format *print)
{
	const char *clock = c->clock ? bare_name(c->folder, c->clock_id) : NULL;
	struct wm_meta_frame context = {.structure = {.nr_parts = 0}}, header = context;

	if (c->clock && !clock)
		return -ENOMEM;
	if (clock) {
		ctf_metadata_add(&context, "timestamp_begin", 64, clock);
		ctf_metadata_add(&context, "timestamp_end", 64, clock);
	}
	ctf_metadata_add(&context, "content_size", 64, NULL);
	ctf_metadata_add(&context, "packet_size", 64, NULL);
	ctf_metadata_add(&context, "packet_seq_num", 64, NULL);
	ctf_metadata_add(&context, "events_discarded", 64, NULL);
	if (c->has_cpu)
		ctf_metadata_add(&context, "cpu_id", 32, NULL);
	ctf_metadata_add(&header, "id", 8u * c->id_bytes, NULL);
	if (clock)
		ctf_metadata_add(&header, "timestamp", 64, clock);
	print->stream(t, &(struct wm_meta_stream){
			     .id = c->id,
			     .clock = clock,
			     .packet_context = {&context.structure, c->packet_context},
			     .header = {&header.structure, NULL},
			     .event_context = {c->stream_context, NULL},
			 });
	return 0;
}

static void ctf_metadata_event(struct wm_text *t, const struct wm_cx_event *e,
			       const struct wm_meta_format *print)
{
	const struct wm_meta_field *common = e->parts[WM_PART_STREAM_CONTEXT];
	struct wm_meta_event event = {.stream = e->class->id,
				      .id = e->id,
				      .name = e->type->name,
				      .level = e->type->level,
				      .context.first = e->parts[WM_PART_CONTEXT],
				      .fields.second = e->parts[WM_PART_FIELDS]};

	if (e->common_in_fields)
		event.fields.first = common;
	else if (common && !e->class->stream_context)
		event.context.first = common;
	print->event(t, &event);
}

int wm_cx_metadata(struct wm_text *t, const struct wm_cx_folder *f)
{
	const struct wm_meta_format *print = &wm_meta_formats[f->cx->language];
	int err = trace(t, f, print);

	for (const struct wm_cx_class *c = f->classes; !err && c; c = c->next)
		err = ctf_metadata_stream(t, c, print);
	for (const struct wm_cx_class *c = f->classes; !err && c; c = c->next)
		for (const struct wm_cx_event *e = c->events; e && t->bytes <= WM_CTF_METADATA_MAX;
		     e = e->next)
			ctf_metadata_event(t, e, print);
	return err ? err : t->failed ? -ENOMEM : 0;
}
