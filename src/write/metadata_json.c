/* SPDX-License-Identifier: MIT */
/*
 * metadata_json.c - metadata as a sequence of JSON texts, the language of CTF 2 (CTF2-SPEC-2.0).
 * See metadata.h.
 */
#include <stdlib.h>
#include <string.h>

#include "write/metadata_int.h"

#define RECORD_SEPARATOR "\x1e"

/* A JSON string; bytes that are not UTF-8 become U+FFFD. */
static void metadata_json_quoted(struct wm_text *t, const char *s)
{
	uint32_t n;

	wm_text_char(t, '"');
	for (; s && *s; s += n ? n : 1) {
		unsigned char c = (unsigned char)*s;

		n = wm_meta_utf8(s);
		if (!n)
			wm_text_str(t, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			wm_text_f(t, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			wm_text_f(t, "\\u%04x", c);
		else
			wm_text_add(t, s, n);
	}
	wm_text_char(t, '"');
}

static void key_string(struct wm_text *t, const char *key, const char *value)
{
	wm_text_f(t, "\"%s\":", key);
	metadata_json_quoted(t, value);
}

/* --- field classes -------------------------------------------------------------------------- */

static void metadata_json_integer(struct wm_text *t, const char *class, uint32_t bits)
{
	wm_text_f(t,
		  "{\"type\":\"fixed-length-%s\",\"length\":%u,\"byte-order\":\"little-endian\","
		  "\"alignment\":8",
		  class, bits);
}

static void metadata_json_range(struct wm_text *t, int64_t low, int64_t high, bool is_signed)
{
	wm_text_f(t, is_signed ? "[%lld,%lld]" : "[%llu,%llu]", (long long)low, (long long)high);
}

struct by_name {
	struct wm_type_label label;
	uint32_t index, next; /* index of the next label of the same name; 0: none */
	bool follows;         /* a label of the same name precedes it */
};

static int metadata_json_by_name(const void *a, const void *b)
{
	const struct by_name *const *x = a, *const *y = b;
	int order = strcmp((*x)->label.name, (*y)->label.name);

	return order ? order : (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

static void link_twins(struct by_name **sorted, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		if (strcmp(sorted[i - 1]->label.name, sorted[i]->label.name) != 0)
			continue;
		sorted[i - 1]->next = sorted[i]->index;
		sorted[i]->follows = true;
	}
}

/* Collects the labels that name possible values, in order. Returns their number. */
static uint32_t labels_that_exist(const struct wm_type *type, struct by_name *all,
				  struct by_name **sorted)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < type->nr_labels; i++) {
		struct wm_type_label l = type->labels[i];

		if (!wm_type_label_clip(type, &type->labels[i], &l.low, &l.high))
			continue;
		all[nr] = (struct by_name){.label = l, .index = nr};
		sorted[nr] = &all[nr];
		nr++;
	}
	qsort(sorted, nr, sizeof(*sorted), metadata_json_by_name);
	link_twins(sorted, nr);
	return nr;
}

/*
 * Writes the labels in order. JSON keys must be unique, so labels with the same name become one key
 * with several ranges.
 */
static void metadata_json_labels(struct wm_text *t, const struct wm_type *type)
{
	struct by_name *all = calloc(type->nr_labels + (size_t)1, sizeof(*all));
	struct by_name **sorted = calloc(type->nr_labels + (size_t)1, sizeof(struct by_name *));
	bool any = false, is_signed = type->kind == WM_TYPE_SIGNED && !type->is_flags;
	uint32_t nr = all && sorted ? labels_that_exist(type, all, sorted) : 0;

	t->failed |= !all || !sorted;
	wm_text_f(t, ",\"%s\":{", type->is_flags ? "flags" : "mappings");
	for (uint32_t i = 0; i < nr; i++) {
		if (all[i].follows)
			continue;
		wm_text_str(t, any ? "," : "");
		any = true;
		metadata_json_quoted(t, all[i].label.name);
		wm_text_str(t, ":[");
		metadata_json_range(t, all[i].label.low, all[i].label.high, is_signed);
		for (uint32_t k = all[i].next; k; k = all[k].next) {
			wm_text_char(t, ',');
			metadata_json_range(t, all[k].label.low, all[k].label.high, is_signed);
		}
		wm_text_char(t, ']');
	}
	wm_text_char(t, '}');
	free(all);
	free(sorted);
}

static void role(struct wm_text *t, const struct wm_meta_field *f)
{
	if (f->role)
		wm_text_f(t, ",\"roles\":[\"%s\"]", f->role);
}

static void metadata_json_number(struct wm_text *t, const struct wm_meta_field *f)
{
	static const uint8_t bases[] = {
	    [WM_LOOK_HEX] = 16, [WM_LOOK_OCTAL] = 8, [WM_LOOK_BINARY] = 2, [WM_LOOK_POINTER] = 16};
	const struct wm_type *type = f->type;
	bool has_labels = wm_meta_has_labels(type);

	if (f->alias && !has_labels) {
		wm_text_f(t, "\"%s\"", f->alias);
		return;
	}
	if (type->kind == WM_TYPE_BOOL) {
		metadata_json_integer(t, "boolean", type->bits);
	} else if (type->kind == WM_TYPE_FLOAT) {
		metadata_json_integer(t, "floating-point-number", type->bits == 32 ? 32 : 64);
	} else if (type->is_flags && has_labels) {
		metadata_json_integer(t, "bit-map", type->bits);
	} else {
		metadata_json_integer(
		    t, type->kind == WM_TYPE_SIGNED ? "signed-integer" : "unsigned-integer",
		    type->bits);
		if (type->look)
			wm_text_f(t, ",\"preferred-display-base\":%u", bases[type->look]);
	}
	role(t, f);
	if (has_labels)
		metadata_json_labels(t, type);
	/*
	 * A class with mappings cannot be declared by reference to an alias, so an attribute holds
	 * the alias's name.
	 */
	if (f->alias)
		wm_text_f(t, ",\"attributes\":{\"waymark\":{\"type\":\"%s\"}}", f->alias);
	wm_text_char(t, '}');
}

/* --- locations of lengths and tags ----------------------------------------------------------- */

static void metadata_json_location(struct wm_text *t, const char *key,
				   const struct wm_meta_field *n)
{
	wm_text_f(t, ",\"%s-field-location\":{", key);
	if (!n->count && n->ref.scope < WM_CTF_NR_SCOPES)
		wm_text_f(t, "\"origin\":\"%s\",", wm_ctf_scope_origins[n->ref.scope]);
	wm_text_str(t, "\"path\":[");
	if (n->count)
		metadata_json_quoted(t, n->count);
	for (uint32_t i = 0; !n->count && i < n->ref.up; i++)
		wm_text_str(t, "null,");
	for (uint32_t i = 0; !n->count && i < n->ref.nr_names; i++) {
		wm_text_str(t, i ? "," : "");
		metadata_json_quoted(t, n->ref.names[i]);
	}
	wm_text_str(t, "]}");
}

static void class(struct wm_text *t, const struct wm_meta_field *n);
static void metadata_json_member(struct wm_text *t, const struct wm_meta_field *n);

/* Writes the contents of a list, a variant or an optional. */
static void inner(struct wm_text *t, const struct wm_meta_field *n,
		  const struct wm_meta_field *around)
{
	struct wm_meta_field inside = *n;

	if (!wm_meta_is_wrapped(n, around)) {
		class(t, n);
		return;
	}
	inside.name = "value";
	wm_text_str(t, "{\"type\":\"structure\",\"member-classes\":[");
	metadata_json_member(t, &inside);
	wm_text_str(t, "]}");
}

static void metadata_json_list(struct wm_text *t, const struct wm_meta_field *n)
{
	if (n->type->fixed)
		wm_text_f(t, "{\"type\":\"static-length-array\",\"length\":%u", n->type->length);
	else
		wm_text_str(t, "{\"type\":\"dynamic-length-array\"");
	if (!n->type->fixed && !n->ref.is_last)
		metadata_json_location(t, "length", n);
	wm_text_str(t, ",\"element-field-class\":");
	inner(t, &n->parts[0], n);
	if (!n->type->fixed && n->ref.is_last)
		metadata_json_location(t, "length", n);
	wm_text_char(t, '}');
}

/*
 * Writes a blob. Bytes that were a list of numbers in the input remain one; the encoding is the
 * same either way.
 */
static void blob(struct wm_text *t, const struct wm_meta_field *n)
{
	const char *kind = n->type->is_bare ? "array" : "blob";

	if (n->count || n->ref.nr_names) {
		wm_text_f(t, "{\"type\":\"dynamic-length-%s\"", kind);
		metadata_json_location(t, "length", n);
	} else {
		wm_text_f(t, "{\"type\":\"static-length-%s\",\"length\":%u", kind, n->length);
	}
	if (n->type->is_bare) {
		wm_text_str(t, ",\"element-field-class\":");
		metadata_json_integer(t, "unsigned-integer", 8);
		wm_text_str(t, ",\"preferred-display-base\":16}");
	}
	role(t, n);
	wm_text_char(t, '}');
}

static void ranges(struct wm_text *t, const struct wm_ctf_range *list, uint32_t nr, bool is_signed)
{
	wm_text_str(t, ",\"selector-field-ranges\":[");
	for (uint32_t i = 0; i < nr; i++) {
		wm_text_str(t, i ? "," : "");
		metadata_json_range(t, list[i].low, list[i].high, is_signed);
	}
	wm_text_char(t, ']');
}

/*
 * Returns whether the ranges are signed, that is, whether one is negative. Unsigned selector values
 * of 2^63 and above do not occur in practice.
 */
static bool is_signed(const struct wm_ctf_range *list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (list[i].low < 0 && list[i].low <= list[i].high)
			return true;
	return false;
}

static void metadata_json_variant(struct wm_text *t, const struct wm_meta_field *n)
{
	wm_text_str(t, "{\"type\":\"variant\"");
	metadata_json_location(t, "selector", n);
	wm_text_str(t, ",\"options\":[");
	for (uint32_t i = 0; i < n->nr_parts; i++) {
		const struct wm_meta_field *part = &n->parts[i];
		const struct wm_ctf_range place = {i, i};

		wm_text_str(t, i ? ",{\"name\":" : "{\"name\":");
		metadata_json_quoted(t, part->name);
		wm_text_str(t, ",\"field-class\":");
		inner(t, part, n);
		if (n->count)
			ranges(t, &place, 1, false);
		else
			ranges(t, part->ranges, part->nr_ranges,
			       is_signed(part->ranges, part->nr_ranges));
		wm_text_char(t, '}');
	}
	wm_text_str(t, "]}");
}

static void metadata_json_optional(struct wm_text *t, const struct wm_meta_field *n)
{
	static const struct wm_ctf_range one = {1, 1};
	const struct wm_meta_field *value = &n->parts[0];

	wm_text_str(t, "{\"type\":\"optional\"");
	metadata_json_location(t, "selector", n);
	if (n->count)
		ranges(t, &one, 1, false);
	else if (value->nr_ranges)
		ranges(t, value->ranges, value->nr_ranges,
		       is_signed(value->ranges, value->nr_ranges));
	wm_text_str(t, ",\"field-class\":");
	inner(t, value, n);
	wm_text_char(t, '}');
}

static void metadata_json_members(struct wm_text *t, const struct wm_meta_field *n)
{
	for (uint32_t i = 0; i < n->nr_parts; i++) {
		wm_text_str(t, i ? "," : "");
		metadata_json_member(t, &n->parts[i]);
	}
}

static void metadata_json_structure(struct wm_text *t, const struct wm_meta_field *n)
{
	wm_text_str(t, "{\"type\":\"structure\",\"member-classes\":[");
	metadata_json_members(t, n);
	wm_text_str(t, "]}");
}

static void metadata_json_string(struct wm_text *t, const struct wm_meta_field *n)
{
	if (wm_meta_is_fixed_text(n))
		wm_text_f(t, "{\"type\":\"static-length-string\",\"length\":%u}", n->length);
	else
		wm_text_str(t, "{\"type\":\"null-terminated-string\"}");
}

static void class(struct wm_text *t, const struct wm_meta_field *n)
{
	static void (*const kinds[WM_TYPE_NR])(struct wm_text * t,
					       const struct wm_meta_field *n) = {
	    [WM_TYPE_STRING] = metadata_json_string,    [WM_TYPE_BYTES] = blob,
	    [WM_TYPE_STRUCT] = metadata_json_structure, [WM_TYPE_LIST] = metadata_json_list,
	    [WM_TYPE_CHOICE] = metadata_json_variant,   [WM_TYPE_OPTIONAL] = metadata_json_optional,
	};

	(kinds[n->type->kind] ?: metadata_json_number)(t, n);
}

/* Writes a member, preceded by its added count. */
static void metadata_json_member(struct wm_text *t, const struct wm_meta_field *n)
{
	if (n->count) {
		wm_text_str(t, "{\"name\":");
		metadata_json_quoted(t, n->count);
		wm_text_str(t, ",\"field-class\":");
		metadata_json_integer(t, "unsigned-integer", WM_META_COUNT_BITS);
		wm_text_str(t, "}},");
	}
	wm_text_str(t, "{\"name\":");
	metadata_json_quoted(t, n->name);
	wm_text_str(t, ",\"field-class\":");
	class(t, n);
	wm_text_char(t, '}');
}

/* --- fragments -------------------------------------------------------------------------------- */

static void metadata_json_scope(struct wm_text *t, const char *key, struct wm_meta_scope s,
				uint32_t align)
{
	if (!s.first && !s.second)
		return;
	wm_text_f(t, ",\"%s-field-class\":{\"type\":\"structure\",", key);
	if (align)
		wm_text_f(t, "\"minimum-alignment\":%u,", align);
	wm_text_str(t, "\"member-classes\":[");
	if (s.first)
		metadata_json_members(t, s.first);
	if (s.first && s.first->nr_parts && s.second && s.second->nr_parts)
		wm_text_char(t, ',');
	if (s.second)
		metadata_json_members(t, s.second);
	wm_text_str(t, "]}");
}

static void metadata_json_preamble(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"preamble\",\"version\":2");
	if (trace->uuid) {
		wm_text_str(t, ",\"uuid\":[");
		for (uint32_t i = 0; i < WM_TRACE_UUID_BYTES; i++)
			wm_text_f(t, i ? ",%u" : "%u", trace->uuid[i]);
		wm_text_char(t, ']');
	}
	wm_text_str(t, "}\n");
}

/* Strings and blobs have their own classes, and clocks are found by role. */
static void alias(struct wm_text *t, const struct wm_meta_field *a)
{
	struct wm_meta_field class = {.type = a->type};

	if (a->type->kind == WM_TYPE_STRING || a->type->kind == WM_TYPE_BYTES || a->clock)
		return;
	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"field-class-alias\",\"name\":\"%s\","
				   "\"field-class\":",
		  a->name);
	metadata_json_number(t, &class);
	wm_text_str(t, "}\n");
}

static void uid(struct wm_text *t, const unsigned char *uuid)
{
	wm_text_str(t, "\"uid\":\"");
	wm_meta_uuid(t, uuid);
	wm_text_char(t, '"');
}

static void metadata_json_trace_class(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"trace-class\",");
	if (trace->uuid) {
		uid(t, trace->uuid);
		wm_text_char(t, ',');
	}
	wm_text_str(t, "\"environment\":{");
	for (uint32_t i = 0; i < trace->nr_words; i++) {
		const struct wm_meta_word *w = &trace->words[i];

		wm_text_str(t, i ? "," : "");
		metadata_json_quoted(t, w->key);
		wm_text_char(t, ':');
		if (w->text)
			metadata_json_quoted(t, w->text);
		else if (w->is_unsigned)
			wm_text_u64(t, (uint64_t)w->number);
		else
			wm_text_i64(t, w->number);
	}
	wm_text_char(t, '}');
	metadata_json_scope(t, "packet-header", trace->packet_header, 0);
	wm_text_str(t, "}\n");
}

static void optional_string(struct wm_text *t, const char *key, const char *value)
{
	if (!value)
		return;
	wm_text_char(t, ',');
	key_string(t, key, value);
}

static void metadata_json_origin(struct wm_text *t, const struct wm_meta_clock *c)
{
	if (c->is_epoch) {
		wm_text_str(t, ",\"origin\":\"unix-epoch\"");
	} else if (c->origin.uid) {
		wm_text_str(t, ",\"origin\":{");
		key_string(t, "name", c->origin.name ? c->origin.name : "");
		optional_string(t, "namespace", c->origin.space);
		optional_string(t, "uid", c->origin.uid);
		wm_text_char(t, '}');
	}
}

static void metadata_json_clock_class(struct wm_text *t, const struct wm_meta_clock *c)
{
	__int128 hz = c->hz ? c->hz : 1, cycles = c->cycles % hz;
	uint64_t seconds = (uint64_t)c->seconds + (uint64_t)(c->cycles / hz);

	/*
	 * In CTF 2 the cycles are nonnegative and less than a second; in CTF 1.8 any number is
	 * allowed.
	 */
	if (cycles < 0) {
		cycles += hz;
		seconds--;
	}
	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"clock-class\",");
	key_string(t, "id", c->id);
	optional_string(t, "namespace", c->identity.space);
	optional_string(t, "name", c->name);
	optional_string(t, "uid", c->identity.uid);
	if (c->uuid) {
		wm_text_char(t, ',');
		uid(t, c->uuid);
	}
	optional_string(t, "description", c->description);
	if (c->precision)
		wm_text_f(t, ",\"precision\":%llu", (unsigned long long)c->precision);
	if (!c->rate_first)
		metadata_json_origin(t, c);
	wm_text_f(t, ",\"frequency\":%llu", (unsigned long long)c->hz);
	if (c->rate_first)
		metadata_json_origin(t, c);
	wm_text_f(t, ",\"offset-from-origin\":{\"seconds\":%lld,\"cycles\":%llu}}\n",
		  (long long)seconds, (unsigned long long)cycles);
}

void wm_meta_json_trace(struct wm_text *t, const struct wm_meta_trace *trace)
{
	metadata_json_preamble(t, trace);
	for (uint32_t i = 0; i < trace->nr_aliases; i++)
		alias(t, &trace->aliases[i]);
	metadata_json_trace_class(t, trace);
	for (uint32_t i = 0; i < trace->nr_clocks; i++)
		metadata_json_clock_class(t, &trace->clocks[i]);
}

void wm_meta_json_stream(struct wm_text *t, const struct wm_meta_stream *s)
{
	wm_text_f(t, RECORD_SEPARATOR "{\"type\":\"data-stream-class\",\"id\":%llu",
		  (unsigned long long)s->id);
	if (s->clock) {
		wm_text_char(t, ',');
		key_string(t, "default-clock-class-id", s->clock);
	}
	metadata_json_scope(t, "packet-context", s->packet_context, 0);
	metadata_json_scope(t, "event-record-header", s->header, s->header_align);
	metadata_json_scope(t, "event-record-common-context", s->event_context, 0);
	wm_text_str(t, "}\n");
}

static void metadata_json_note(struct wm_text *t, const struct wm_meta_note *n)
{
	wm_text_f(t, "\"waymark\":{\"kind\":%u,\"line\":%u,\"flags\":%u,\"contexts\":%u,", n->kind,
		  n->line, n->flags, n->contexts);
	if (n->file && *n->file) {
		key_string(t, "file", n->file);
		wm_text_char(t, ',');
	}
	if (n->print && *n->print) {
		key_string(t, "print", n->print);
		wm_text_char(t, ',');
	}
	wm_text_f(t, "\"log-level\":%u}", n->level);
}

static void metadata_json_attributes(struct wm_text *t, const struct wm_meta_event *e)
{
	if (!e->note && e->level < 0)
		return;
	wm_text_str(t, ",\"attributes\":{");
	if (e->note)
		metadata_json_note(t, e->note);
	if (e->note && e->level >= 0)
		wm_text_char(t, ',');
	if (e->level >= 0 && e->level < (int)WM_CTF_NR_LEVELS)
		wm_text_f(t, "\"babeltrace.org,2020\":{\"log-level\":\"%s\"}",
			  wm_ctf_level_names[e->level]);
	else if (e->level >= 0)
		wm_text_f(t, "\"lttng.org,2009\":{\"log-level\":%d}", e->level);
	wm_text_char(t, '}');
}

void wm_meta_json_event(struct wm_text *t, const struct wm_meta_event *e)
{
	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"event-record-class\",\"data-stream-class-id\":%llu,"
				   "\"id\":%llu,",
		  (unsigned long long)e->stream, (unsigned long long)e->id);
	key_string(t, "name", e->name);
	metadata_json_attributes(t, e);
	metadata_json_scope(t, "specific-context", e->context, 0);
	metadata_json_scope(t, "payload", e->fields, 0);
	wm_text_str(t, "}\n");
}
