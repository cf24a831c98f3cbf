/* SPDX-License-Identifier: MIT */
/*
 * metadata_tsdl.c - metadata in TSDL, the language of CTF 1.8. The options of a variant are named
 * after its tag's labels; an optional is written as a variant of an empty structure and the value.
 * See metadata.h.
 */
#include <string.h>

#include "write/metadata_int.h"

/* Where the quoted text appears, which determines the characters to escape. */
enum quoting { QUOTE_STRING, QUOTE_COMMENT };

static void quoted_in(struct wm_text *t, const char *s, enum quoting how)
{
	const char *run = s;
	uint32_t n;

	wm_text_char(t, '"');
	while (*s) {
		unsigned char c = (unsigned char)*s;

		n = wm_meta_utf8(s);
		if (n > 1 || (n == 1 && c >= ' ' && c != 0x7f && c != '"' && c != '\\' &&
			      !(c == '*' && how == QUOTE_COMMENT))) {
			s += n;
			continue;
		}
		wm_text_add(t, run, (size_t)(s - run));
		if (c == '"' || c == '\\')
			wm_text_f(t, "\\%c", c);
		else
			wm_text_f(t, "\\%03o", c);
		run = ++s;
	}
	wm_text_add(t, run, (size_t)(s - run));
	wm_text_char(t, '"');
}

static void metadata_tsdl_quoted(struct wm_text *t, const char *s)
{
	quoted_in(t, s ? s : "", QUOTE_STRING);
}

static void indent(struct wm_text *t, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		wm_text_char(t, '\t');
}

/* --- types ------------------------------------------------------------------------------ */

/*
 * `attributes`: further TSDL attributes, or ""; each is preceded by a space and followed by a
 * semicolon.
 */
static void metadata_tsdl_integer(struct wm_text *t, uint32_t bits, bool is_signed, uint8_t look,
				  const char *attributes, const char *clock)
{
	static const uint8_t bases[] = {[WM_LOOK_DECIMAL] = 10,
					[WM_LOOK_HEX] = 16,
					[WM_LOOK_OCTAL] = 8,
					[WM_LOOK_BINARY] = 2,
					[WM_LOOK_POINTER] = 16};

	wm_text_f(t, "integer { size = %u; align = 8; signed = %s; base = %u;%s", bits,
		  is_signed ? "true" : "false", bases[look], attributes);
	if (clock)
		wm_text_f(t, " map = clock.%s.value;", clock);
	wm_text_str(t, " }");
}

static void metadata_tsdl_count(struct wm_text *t)
{
	metadata_tsdl_integer(t, WM_META_COUNT_BITS, false, WM_LOOK_DECIMAL, "", NULL);
}

static void metadata_tsdl_real(struct wm_text *t, const struct wm_type *type,
			       const char *attributes)
{
	wm_text_f(t, "floating_point { exp_dig = %u; mant_dig = %u; align = 8;%s }",
		  type->bits == 32 ? 8 : 11, type->bits == 32 ? 24 : 53, attributes);
}

/* A number, or one byte of a string or blob; no labels. */
static void scalar(struct wm_text *t, const struct wm_meta_field *f, const char *attributes)
{
	const struct wm_type *type = f->type;

	if (type->kind == WM_TYPE_FLOAT)
		metadata_tsdl_real(t, type, attributes);
	else if (type->kind == WM_TYPE_BYTES)
		metadata_tsdl_integer(t, 8, false, f->role ? WM_LOOK_DECIMAL : WM_LOOK_HEX,
				      attributes, NULL);
	else
		metadata_tsdl_integer(t, type->bits, type->kind == WM_TYPE_SIGNED,
				      type->is_flags && !type->look ? WM_LOOK_HEX : type->look,
				      attributes, f->clock);
}

static void metadata_tsdl_labels(struct wm_text *t, const struct wm_type *type)
{
	bool is_signed = type->kind == WM_TYPE_SIGNED, any = false;
	int64_t low, high;

	wm_text_str(t, " { ");
	for (uint32_t i = 0; i < type->nr_labels; i++) {
		if (!wm_type_label_clip(type, &type->labels[i], &low, &high))
			continue;
		wm_text_str(t, any ? ", " : "");
		any = true;
		metadata_tsdl_quoted(t, type->labels[i].name);
		wm_text_f(t, is_signed ? " = %lld" : " = %llu", (long long)low);
		if (low != high)
			wm_text_f(t, is_signed ? " ... %lld" : " ... %llu", (long long)high);
	}
	wm_text_str(t, " }");
}

static void metadata_tsdl_number(struct wm_text *t, const struct wm_meta_field *f)
{
	bool has_labels = f->type->is_enum && wm_meta_has_labels(f->type);

	if (has_labels)
		wm_text_str(t, "enum : ");
	if (f->alias)
		wm_text_str(t, f->alias);
	else
		scalar(t, f, "");
	if (has_labels)
		metadata_tsdl_labels(t, f->type);
}

static void metadata_tsdl_field(struct wm_text *t, const struct wm_meta_field *n, uint32_t depth);
static void metadata_tsdl_declare(struct wm_text *t, const struct wm_meta_field *n,
				  const char *name, uint32_t depth);

/* Writes the tag added for a variant: its values are the indices of the options. */
static void tag(struct wm_text *t, const struct wm_meta_field *n)
{
	wm_text_str(t, "enum : ");
	metadata_tsdl_count(t);
	wm_text_str(t, " { ");
	if (n->type->kind == WM_TYPE_OPTIONAL)
		wm_text_str(t, "\"_none\" = 0, \"_some\" = 1");
	for (uint32_t i = 0; n->type->kind == WM_TYPE_CHOICE && i < n->nr_parts; i++) {
		wm_text_str(t, i ? ", " : "");
		metadata_tsdl_quoted(t, n->parts[i].name);
		wm_text_f(t, " = %u", i);
	}
	wm_text_str(t, " }");
}

static void reference(struct wm_text *t, const struct wm_meta_field *n)
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

static void fields(struct wm_text *t, const struct wm_meta_field *n, uint32_t depth)
{
	for (uint32_t i = 0; i < n->nr_parts; i++)
		metadata_tsdl_field(t, &n->parts[i], depth);
}

static void metadata_tsdl_structure(struct wm_text *t, const struct wm_meta_field *n,
				    uint32_t depth)
{
	wm_text_str(t, "struct {\n");
	fields(t, n, depth + 1);
	indent(t, depth);
	wm_text_str(t, "}");
}

/* Writes the structure that contains an added count and its field. */
static void wrapped(struct wm_text *t, const struct wm_meta_field *n, uint32_t depth)
{
	struct wm_meta_field inside = *n;

	inside.name = "_value";
	wm_text_str(t, "struct {\n");
	metadata_tsdl_field(t, &inside, depth + 1);
	indent(t, depth);
	wm_text_str(t, "}");
}

static void metadata_tsdl_variant(struct wm_text *t, const struct wm_meta_field *n, uint32_t depth)
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
		if (wm_meta_is_wrapped(&n->parts[i], n)) {
			wrapped(t, &n->parts[i], depth + 1);
			wm_text_f(t, " %s", name);
		} else {
			metadata_tsdl_declare(t, &n->parts[i], name, depth + 1);
		}
		wm_text_str(t, ";\n");
	}
	indent(t, depth);
	wm_text_str(t, "}");
}

/* A blob, or a string of fixed length. */
static bool metadata_tsdl_is_bytes(const struct wm_meta_field *f)
{
	return f->type->kind == WM_TYPE_BYTES || wm_meta_is_fixed_text(f);
}

static void bytes_length(struct wm_text *t, const struct wm_meta_field *f)
{
	wm_text_char(t, '[');
	if (f->count || f->ref.nr_names)
		reference(t, f);
	else
		wm_text_u64(t, f->length);
	wm_text_char(t, ']');
}

/* Writes the innermost element type of a list, then the name, then the lengths, outermost first. */
static void metadata_tsdl_declare(struct wm_text *t, const struct wm_meta_field *n,
				  const char *name, uint32_t depth)
{
	const struct wm_meta_field *e = n, *around = NULL;

	while (e->type->kind == WM_TYPE_LIST && !(around && wm_meta_is_wrapped(e, around))) {
		around = e;
		e = &e->parts[0];
	}
	if (around && wm_meta_is_wrapped(e, around))
		wrapped(t, e, depth);
	else if (e->type->kind == WM_TYPE_STRUCT)
		metadata_tsdl_structure(t, e, depth);
	else if (e->type->kind == WM_TYPE_CHOICE || e->type->kind == WM_TYPE_OPTIONAL)
		metadata_tsdl_variant(t, e, depth);
	else if (e->type->kind == WM_TYPE_STRING && !e->alias)
		wm_text_str(t, "string");
	else
		metadata_tsdl_number(t, e);
	wm_text_f(t, " %s", name);
	for (const struct wm_meta_field *l = n; l != e; l = &l->parts[0]) {
		wm_text_char(t, '[');
		if (l->type->fixed)
			wm_text_u64(t, l->type->length);
		else
			reference(t, l);
		wm_text_char(t, ']');
	}
	if (metadata_tsdl_is_bytes(e) && !(around && wm_meta_is_wrapped(e, around)))
		bytes_length(t, e);
}

/* Writes a member, preceded by its added count. */
static void metadata_tsdl_field(struct wm_text *t, const struct wm_meta_field *n, uint32_t depth)
{
	if (n->count) {
		indent(t, depth);
		if (n->type->kind == WM_TYPE_CHOICE || n->type->kind == WM_TYPE_OPTIONAL)
			tag(t, n);
		else
			metadata_tsdl_count(t);
		wm_text_f(t, " %s;\n", n->count);
	}
	indent(t, depth);
	metadata_tsdl_declare(t, n, n->name, depth);
	wm_text_str(t, ";\n");
}

/* --- blocks ---------------------------------------------------------------------------------- */

static void metadata_tsdl_scope(struct wm_text *t, const char *name, struct wm_meta_scope s,
				uint32_t align)
{
	if (!s.first && !s.second)
		return;
	wm_text_f(t, "\t%s := struct {\n", name);
	if (s.first)
		fields(t, s.first, 2);
	if (s.second)
		fields(t, s.second, 2);
	wm_text_str(t, "\t}");
	if (align)
		wm_text_f(t, " align(%u)", align);
	wm_text_str(t, ";\n");
}

/* Writes the aliases of clocks, which follow the clocks, or all others. */
static void aliases(struct wm_text *t, const struct wm_meta_trace *trace, bool of_clocks)
{
	bool any = false;

	for (uint32_t i = 0; i < trace->nr_aliases; i++) {
		const struct wm_meta_field *alias = &trace->aliases[i];
		bool is_text = alias->type->kind == WM_TYPE_STRING;

		if ((alias->clock != NULL) != of_clocks)
			continue;
		any = true;
		wm_text_str(t, "typealias ");
		scalar(t, alias,
		       is_text ? " encoding = UTF8; byte_order = le;" : " byte_order = le;");
		wm_text_f(t, " := %s;\n", alias->name);
	}
	wm_text_str(t, any ? "\n" : "");
}

static void env(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, "env {\n");
	for (uint32_t i = 0; i < trace->nr_words; i++) {
		const struct wm_meta_word *w = &trace->words[i];

		wm_text_f(t, "\t%s = ", w->key);
		if (w->text)
			metadata_tsdl_quoted(t, w->text);
		else if (w->is_unsigned)
			wm_text_u64(t, (uint64_t)w->number);
		else
			wm_text_i64(t, w->number);
		wm_text_str(t, ";\n");
	}
	wm_text_str(t, "};\n\n");
}

static void metadata_tsdl_uuid(struct wm_text *t, const unsigned char *bytes)
{
	if (!bytes)
		return;
	wm_text_str(t, "\tuuid = \"");
	wm_meta_uuid(t, bytes);
	wm_text_str(t, "\";\n");
}

static bool is_uuid(const char *s)
{
	return s && strlen(s) == 36 && strspn(s, "0123456789abcdefABCDEF-") == 36;
}

static void metadata_tsdl_clock_block(struct wm_text *t, const struct wm_meta_clock *c)
{
	wm_text_f(t, "clock {\n\tname = %s;\n", c->id);
	metadata_tsdl_uuid(t, c->uuid);
	if (!c->uuid && is_uuid(c->identity.uid))
		wm_text_f(t, "\tuuid = \"%s\";\n", c->identity.uid);
	if (c->description) {
		wm_text_str(t, "\tdescription = ");
		metadata_tsdl_quoted(t, c->description);
		wm_text_str(t, ";\n");
	}
	wm_text_f(t, "\tfreq = %llu;\n", (unsigned long long)c->hz);
	if (!c->rate_first)
		wm_text_f(t, "\tprecision = %llu;\n", (unsigned long long)c->precision);
	wm_text_f(t, "\toffset_s = %lld;\n\toffset = %lld;\n", (long long)c->seconds,
		  (long long)c->cycles);
	if (c->rate_first)
		wm_text_f(t, "\tprecision = %llu;\n", (unsigned long long)c->precision);
	wm_text_f(t, "\tabsolute = %s;\n};\n\n", c->is_epoch ? "TRUE" : "FALSE");
}

void wm_meta_tsdl_trace(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, "/* CTF 1.8 */\n\n");
	aliases(t, trace, false);
	wm_text_str(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n");
	metadata_tsdl_uuid(t, trace->uuid);
	wm_text_str(t, "\tbyte_order = le;\n");
	metadata_tsdl_scope(t, "packet.header", trace->packet_header, 0);
	wm_text_str(t, "};\n\n");
	env(t, trace);
	for (uint32_t i = 0; i < trace->nr_clocks; i++)
		metadata_tsdl_clock_block(t, &trace->clocks[i]);
	aliases(t, trace, true);
}

void wm_meta_tsdl_stream(struct wm_text *t, const struct wm_meta_stream *s)
{
	wm_text_f(t, "stream {\n\tid = %llu;\n", (unsigned long long)s->id);
	if (s->header_first)
		metadata_tsdl_scope(t, "event.header", s->header, s->header_align);
	metadata_tsdl_scope(t, "packet.context", s->packet_context, 0);
	if (!s->header_first)
		metadata_tsdl_scope(t, "event.header", s->header, s->header_align);
	metadata_tsdl_scope(t, "event.context", s->event_context, 0);
	wm_text_str(t, "};\n\n");
}

static void metadata_tsdl_note_text(struct wm_text *t, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	wm_text_f(t, " %s=", key);
	quoted_in(t, text, QUOTE_COMMENT);
}

/* CTF 1.8 has no attributes, so the note is a comment, for readers that look for it. */
static void metadata_tsdl_note(struct wm_text *t, const struct wm_meta_note *n)
{
	if (!n)
		return;
	wm_text_f(t, "\t/* waymark kind=%u line=%u flags=%u contexts=%u", n->kind, n->line,
		  n->flags, n->contexts);
	metadata_tsdl_note_text(t, "file", n->file);
	metadata_tsdl_note_text(t, "print", n->print);
	wm_text_str(t, " */\n");
}

void wm_meta_tsdl_event(struct wm_text *t, const struct wm_meta_event *e)
{
	wm_text_str(t, "event {\n");
	metadata_tsdl_note(t, e->note);
	wm_text_str(t, "\tname = ");
	metadata_tsdl_quoted(t, e->name);
	wm_text_f(t, ";\n\tid = %llu;\n\tstream_id = %llu;\n", (unsigned long long)e->id,
		  (unsigned long long)e->stream);
	if (e->level >= 0)
		wm_text_f(t, "\tloglevel = %d;\n", e->level);
	metadata_tsdl_scope(t, "context", e->context, 0);
	metadata_tsdl_scope(t, "fields", e->fields, 0);
	wm_text_str(t, "};\n\n");
}
