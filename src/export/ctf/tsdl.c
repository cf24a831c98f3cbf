/* SPDX-License-Identifier: MIT */
/*
 * tsdl.c - writes the metadata of an output as CTF 1.8. The options of a
 * variant have the names of its tag's labels; an optional is written as a
 * variant of an empty structure and the value. See ctf_int.h.
 */
#include <string.h>

#include "export/ctf/ctf_int.h"
#include "write/metadata.h"

static void quoted(struct wm_text *t, const char *s)
{
	wm_meta_tsdl_string(t, s ? s : "");
}

static void indent(struct wm_text *t, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		wm_text_char(t, '\t');
}

/* --- types ------------------------------------------------------------------------------ */

static void integer(struct wm_text *t, uint32_t bits, bool is_signed, uint8_t look,
		    const char *clock)
{
	static const uint8_t bases[] = {[WM_LOOK_DECIMAL] = 10,
					[WM_LOOK_HEX] = 16,
					[WM_LOOK_OCTAL] = 8,
					[WM_LOOK_BINARY] = 2,
					[WM_LOOK_POINTER] = 16};

	wm_text_f(t, "integer { size = %u; align = 8; signed = %s; base = %u;", bits,
		  is_signed ? "true" : "false", bases[look]);
	if (clock)
		wm_text_f(t, " map = clock.%s.value;", clock);
	wm_text_str(t, " }");
}

static void number(struct wm_text *t, const struct wm_type *type)
{
	bool is_signed = type->kind == WM_TYPE_SIGNED;

	if (type->is_enum && type->nr_labels)
		wm_text_str(t, "enum : ");
	integer(t, type->bits, is_signed, type->is_flags && !type->look ? WM_LOOK_HEX : type->look,
		NULL);
	if (!type->is_enum || !type->nr_labels)
		return;
	wm_text_str(t, " { ");
	for (uint32_t i = 0; i < type->nr_labels; i++) {
		const struct wm_type_label *l = &type->labels[i];

		wm_text_str(t, i ? ", " : "");
		quoted(t, l->name);
		wm_text_f(t, is_signed ? " = %lld" : " = %llu", (long long)l->low);
		if (l->low != l->high)
			wm_text_f(t, is_signed ? " ... %lld" : " ... %llu", (long long)l->high);
	}
	wm_text_str(t, " }");
}

static void real(struct wm_text *t, const struct wm_type *type)
{
	wm_text_f(t, "floating_point { exp_dig = %u; mant_dig = %u; align = 8; }",
		  type->bits == 32 ? 8 : 11, type->bits == 32 ? 24 : 53);
}

static void field(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth);
static void declare(struct wm_text *t, const struct wm_cx_node *n, const char *name,
		    uint32_t depth);

/* Writes the tag added for a variant: its values are the indices of the options. */
static void tag(struct wm_text *t, const struct wm_cx_node *n)
{
	wm_text_str(t, "enum : ");
	integer(t, WM_CX_COUNT_BITS, false, WM_LOOK_DECIMAL, NULL);
	wm_text_str(t, " { ");
	if (n->type->kind == WM_TYPE_OPTIONAL)
		wm_text_str(t, "\"_none\" = 0, \"_some\" = 1");
	for (uint32_t i = 0; n->type->kind == WM_TYPE_CHOICE && i < n->nr_parts; i++) {
		wm_text_str(t, i ? ", " : "");
		quoted(t, n->parts[i].name);
		wm_text_f(t, " = %u", i);
	}
	wm_text_str(t, " }");
}

static void reference(struct wm_text *t, const struct wm_cx_node *n)
{
	const char *const *words =
	    n->ref.scope < WM_CTF_NR_SCOPES ? wm_ctf_scope_words[n->ref.scope] : NULL;

	if (n->count) {
		wm_text_str(t, n->count);
		return;
	}
	for (uint32_t i = 0; words && i < 3 && words[i]; i++)
		wm_text_f(t, "%s.", words[i]);
	for (uint32_t i = 0; i < n->ref.nr_names; i++)
		wm_text_f(t, "%s%s", i ? "." : "", n->ref.names[i]);
}

static void fields(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth)
{
	for (uint32_t i = 0; i < n->nr_parts; i++)
		field(t, &n->parts[i], depth);
}

static void structure(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth)
{
	wm_text_str(t, "struct {\n");
	fields(t, n, depth + 1);
	indent(t, depth);
	wm_text_str(t, "}");
}

/* Writes the structure that contains an added count and its field. */
static void wrapped(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth)
{
	struct wm_cx_node inside = *n;

	inside.name = "_value";
	wm_text_str(t, "struct {\n");
	field(t, &inside, depth + 1);
	indent(t, depth);
	wm_text_str(t, "}");
}

static void variant(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth)
{
	wm_text_str(t, "variant <");
	reference(t, n);
	wm_text_str(t, "> {\n");
	if (n->type->kind == WM_TYPE_OPTIONAL) {
		indent(t, depth + 1);
		wm_text_str(t, "struct { } _none;\n");
	}
	for (uint32_t i = 0; i < n->nr_parts; i++) {
		const char *name = n->type->kind == WM_TYPE_OPTIONAL ? "_some" : n->parts[i].name;

		indent(t, depth + 1);
		if (wm_cx_is_wrapped(&n->parts[i], n)) {
			wrapped(t, &n->parts[i], depth + 1);
			wm_text_f(t, " %s", name);
		} else {
			declare(t, &n->parts[i], name, depth + 1);
		}
		wm_text_str(t, ";\n");
	}
	indent(t, depth);
	wm_text_str(t, "}");
}

/* Writes the innermost element type of a list, then the name, then the lengths, outermost first. */
static void declare(struct wm_text *t, const struct wm_cx_node *n, const char *name, uint32_t depth)
{
	const struct wm_cx_node *e = n, *around = NULL;

	while (e->type->kind == WM_TYPE_LIST && !(around && wm_cx_is_wrapped(e, around))) {
		around = e;
		e = &e->parts[0];
	}
	if (around && wm_cx_is_wrapped(e, around))
		wrapped(t, e, depth);
	else if (e->type->kind == WM_TYPE_STRUCT)
		structure(t, e, depth);
	else if (e->type->kind == WM_TYPE_CHOICE || e->type->kind == WM_TYPE_OPTIONAL)
		variant(t, e, depth);
	else if (e->type->kind == WM_TYPE_STRING)
		wm_text_str(t, "string");
	else if (e->type->kind == WM_TYPE_FLOAT)
		real(t, e->type);
	else if (e->type->kind == WM_TYPE_BYTES)
		integer(t, 8, false, WM_LOOK_HEX, NULL);
	else
		number(t, e->type);
	wm_text_f(t, " %s", name);
	for (const struct wm_cx_node *l = n; l != e; l = &l->parts[0]) {
		wm_text_char(t, '[');
		if (l->type->fixed)
			wm_text_u64(t, l->type->length);
		else
			reference(t, l);
		wm_text_char(t, ']');
	}
	if (e->type->kind != WM_TYPE_BYTES || (around && wm_cx_is_wrapped(e, around)))
		return;
	wm_text_char(t, '[');
	if (e->count || e->ref.nr_names)
		reference(t, e);
	else
		wm_text_u64(t, e->length);
	wm_text_char(t, ']');
}

/* Writes a member, preceded by its added count. */
static void field(struct wm_text *t, const struct wm_cx_node *n, uint32_t depth)
{
	if (n->count) {
		indent(t, depth);
		if (n->type->kind == WM_TYPE_CHOICE || n->type->kind == WM_TYPE_OPTIONAL)
			tag(t, n);
		else
			integer(t, WM_CX_COUNT_BITS, false, WM_LOOK_DECIMAL, NULL);
		wm_text_f(t, " %s;\n", n->count);
	}
	indent(t, depth);
	declare(t, n, n->name, depth);
	wm_text_str(t, ";\n");
}

/* --- blocks ---------------------------------------------------------------------------------- */

static void plain(struct wm_text *t, uint32_t bits, const char *name, const char *clock)
{
	wm_text_str(t, "\t\t");
	integer(t, bits, false, WM_LOOK_DECIMAL, clock);
	wm_text_f(t, " %s;\n", name);
}

static void trace(struct wm_text *t, const struct wm_cx_folder *f)
{
	wm_text_str(t, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n");
	if (f->has_uuid) {
		wm_text_str(t, "\tuuid = \"");
		wm_meta_uuid(t, f->uuid);
		wm_text_str(t, "\";\n");
	}
	wm_text_str(t, "\tbyte_order = le;\n\tpacket.header := struct {\n");
	plain(t, 32, "magic", NULL);
	if (f->has_uuid)
		plain(t, 8, "uuid[16]", NULL);
	plain(t, 64, "stream_id", NULL);
	plain(t, 64, "stream_instance_id", NULL);
	wm_text_str(t, "\t};\n};\n\n");
}

static void env(struct wm_text *t, const struct wm_cx_folder *f)
{
	struct wm_cx_word w;

	wm_text_str(t, "env {\n");
	for (uint32_t i = 0; wm_cx_word(f, i, &w); i++) {
		const char *key = wm_cx_identifier(&f->cx->arena, w.key);

		if (!key) {
			t->failed = true;
			return;
		}
		wm_text_f(t, "\t%s%s = ", *key >= '0' && *key <= '9' ? "_" : "", *key ? key : "_");
		if (w.text)
			quoted(t, w.text);
		else
			wm_text_i64(t, w.number);
		wm_text_str(t, ";\n");
	}
	wm_text_str(t, "};\n\n");
}

static void clocks(struct wm_text *t, const struct wm_cx_folder *f)
{
	struct wm_cx_clock c;

	for (uint32_t i = 0; wm_cx_clock(f, i, &c); i++) {
		wm_text_f(t, "clock {\n\tname = %s;\n",
			  wm_cx_identifier(&f->cx->arena, c.id) ?: "");
		if (c.description) {
			wm_text_str(t, "\tdescription = ");
			quoted(t, c.description);
			wm_text_str(t, ";\n");
		}
		wm_text_f(t,
			  "\tfreq = %llu;\n\tprecision = %llu;\n\toffset_s = %lld;\n\toffset = "
			  "%lld;\n\tabsolute = %s;\n};\n\n",
			  (unsigned long long)c.hz, (unsigned long long)c.precision,
			  (long long)c.seconds, (long long)c.cycles, c.is_epoch ? "TRUE" : "FALSE");
	}
}

static void stream(struct wm_text *t, const struct wm_cx_class *c)
{
	const char *clock = NULL;

	if (c->clock) {
		clock = wm_cx_identifier(&c->folder->cx->arena, c->clock_id);
		t->failed |= !clock;
	}
	wm_text_f(t, "stream {\n\tid = %llu;\n\tpacket.context := struct {\n",
		  (unsigned long long)c->id);
	if (clock) {
		plain(t, 64, "timestamp_begin", clock);
		plain(t, 64, "timestamp_end", clock);
	}
	plain(t, 64, "content_size", NULL);
	plain(t, 64, "packet_size", NULL);
	plain(t, 64, "packet_seq_num", NULL);
	plain(t, 64, "events_discarded", NULL);
	if (c->has_cpu)
		plain(t, 32, "cpu_id", NULL);
	if (c->packet_context)
		fields(t, c->packet_context, 2);
	wm_text_str(t, "\t};\n\tevent.header := struct {\n");
	plain(t, 8u * c->id_bytes, "id", NULL);
	if (clock)
		plain(t, 64, "timestamp", clock);
	wm_text_str(t, "\t};\n");
	if (c->stream_context) {
		wm_text_str(t, "\tevent.context := ");
		structure(t, c->stream_context, 1);
		wm_text_str(t, ";\n");
	}
	wm_text_str(t, "};\n\n");
}

static void scope(struct wm_text *t, const char *name, const struct wm_cx_node *n)
{
	if (!n)
		return;
	wm_text_f(t, "\t%s := ", name);
	structure(t, n, 1);
	wm_text_str(t, ";\n");
}

static void event(struct wm_text *t, const struct wm_cx_class *c, const struct wm_cx_event *e)
{
	const struct wm_cx_node *common = e->parts[WM_PART_STREAM_CONTEXT];

	wm_text_str(t, "event {\n\tname = ");
	quoted(t, e->type->name);
	wm_text_f(t, ";\n\tid = %llu;\n\tstream_id = %llu;\n", (unsigned long long)e->id,
		  (unsigned long long)c->id);
	if (e->type->level >= 0)
		wm_text_f(t, "\tloglevel = %d;\n", e->type->level);
	if (common && !c->stream_context && !e->common_in_fields)
		scope(t, "context", common);
	else
		scope(t, "context", e->parts[WM_PART_CONTEXT]);
	if (e->common_in_fields) {
		wm_text_str(t, "\tfields := struct {\n");
		fields(t, common, 2);
		if (e->parts[WM_PART_FIELDS])
			fields(t, e->parts[WM_PART_FIELDS], 2);
		wm_text_str(t, "\t};\n");
	} else {
		scope(t, "fields", e->parts[WM_PART_FIELDS]);
	}
	wm_text_str(t, "};\n\n");
}

void wm_cx_tsdl(struct wm_text *t, const struct wm_cx_folder *f)
{
	trace(t, f);
	env(t, f);
	clocks(t, f);
	for (const struct wm_cx_class *c = f->classes; c; c = c->next)
		stream(t, c);
	for (const struct wm_cx_class *c = f->classes; c; c = c->next)
		for (const struct wm_cx_event *e = c->events; e && t->bytes <= WM_CTF_METADATA_MAX;
		     e = e->next)
			event(t, c, e);
}
