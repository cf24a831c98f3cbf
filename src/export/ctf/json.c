/* SPDX-License-Identifier: MIT */
/*
 * json.c - writes the metadata of an output as CTF 2, a sequence of JSON texts.
 * See ctf_int.h.
 */
#include <stdlib.h>
#include <string.h>

#include "export/ctf/ctf_int.h"
#include "write/metadata.h"

#define RECORD_SEPARATOR "\x1e"

static void quoted(struct wm_text *t, const char *s)
{
	wm_meta_json_string(t, s ? s : "");
}

/* --- field classes -------------------------------------------------------------------------- */

static void integer(struct wm_text *t, const char *class, uint32_t bits)
{
	wm_text_f(t,
		  "{\"type\":\"fixed-length-%s\",\"length\":%u,\"byte-order\":\"little-endian\","
		  "\"alignment\":8",
		  class, bits);
}

static void range(struct wm_text *t, int64_t low, int64_t high, bool is_signed)
{
	wm_text_f(t, is_signed ? "[%lld,%lld]" : "[%llu,%llu]", (long long)low, (long long)high);
}

struct by_name {
	const struct wm_type_label *label;
	uint32_t index, next; /* index of the next label of the same name; 0: none */
	bool follows;         /* a label of the same name precedes it */
};

static int by_name(const void *a, const void *b)
{
	const struct by_name *const *x = a, *const *y = b;
	int order = strcmp((*x)->label->name, (*y)->label->name);

	return order ? order : (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

static void link_twins(struct by_name **sorted, uint32_t nr)
{
	for (uint32_t i = 1; i < nr; i++) {
		if (strcmp(sorted[i - 1]->label->name, sorted[i]->label->name) != 0)
			continue;
		sorted[i - 1]->next = sorted[i]->index;
		sorted[i]->follows = true;
	}
}

/*
 * Writes the labels in order. JSON keys must be unique, so labels with the same name become one key
 * with several ranges.
 */
static void labels(struct wm_text *t, const struct wm_type *type)
{
	struct by_name *all = calloc(type->nr_labels + (size_t)1, sizeof(*all));
	struct by_name **sorted = calloc(type->nr_labels + (size_t)1, sizeof(struct by_name *));
	bool any = false, is_signed = type->kind == WM_TYPE_SIGNED && !type->is_flags;

	for (uint32_t i = 0; all && sorted && i < type->nr_labels; i++) {
		all[i] = (struct by_name){.label = &type->labels[i], .index = i};
		sorted[i] = &all[i];
	}
	if (all && sorted) {
		qsort(sorted, type->nr_labels, sizeof(*sorted), by_name);
		link_twins(sorted, type->nr_labels);
	} else {
		t->failed = true;
	}
	wm_text_f(t, ",\"%s\":{", type->is_flags ? "flags" : "mappings");
	for (uint32_t i = 0; all && sorted && i < type->nr_labels; i++) {
		if (all[i].follows)
			continue;
		wm_text_str(t, any ? "," : "");
		any = true;
		quoted(t, all[i].label->name);
		wm_text_str(t, ":[");
		range(t, all[i].label->low, all[i].label->high, is_signed);
		for (uint32_t k = all[i].next; k; k = all[k].next) {
			wm_text_char(t, ',');
			range(t, all[k].label->low, all[k].label->high, is_signed);
		}
		wm_text_char(t, ']');
	}
	wm_text_char(t, '}');
	free(all);
	free(sorted);
}

static void number(struct wm_text *t, const struct wm_type *type)
{
	static const uint8_t bases[] = {
	    [WM_LOOK_HEX] = 16, [WM_LOOK_OCTAL] = 8, [WM_LOOK_BINARY] = 2, [WM_LOOK_POINTER] = 16};
	bool has_labels = type->is_enum && type->nr_labels;

	if (type->kind == WM_TYPE_BOOL) {
		integer(t, "boolean", type->bits);
	} else if (type->is_flags && type->nr_labels) {
		integer(t, "bit-map", type->bits);
		has_labels = true;
	} else {
		integer(t, type->kind == WM_TYPE_SIGNED ? "signed-integer" : "unsigned-integer",
			type->bits);
		if (type->look)
			wm_text_f(t, ",\"preferred-display-base\":%u", bases[type->look]);
	}
	if (has_labels)
		labels(t, type);
	wm_text_char(t, '}');
}

/* --- locations of lengths and tags ----------------------------------------------------------- */

static void location(struct wm_text *t, const char *key, const struct wm_cx_node *n)
{
	wm_text_f(t, ",\"%s-field-location\":{", key);
	if (!n->count && n->ref.scope < WM_CTF_NR_SCOPES)
		wm_text_f(t, "\"origin\":\"%s\",", wm_ctf_scope_origins[n->ref.scope]);
	wm_text_str(t, "\"path\":[");
	if (n->count)
		quoted(t, n->count);
	for (uint32_t i = 0; !n->count && i < n->ref.up; i++)
		wm_text_str(t, "null,");
	for (uint32_t i = 0; !n->count && i < n->ref.nr_names; i++) {
		wm_text_str(t, i ? "," : "");
		quoted(t, n->ref.names[i]);
	}
	wm_text_str(t, "]}");
}

static void class(struct wm_text *t, const struct wm_cx_node *n);
static void member(struct wm_text *t, const struct wm_cx_node *n);

/* Writes the contents of a list, a variant or an optional. */
static void inner(struct wm_text *t, const struct wm_cx_node *n, const struct wm_cx_node *around)
{
	struct wm_cx_node inside = *n;

	if (!wm_cx_is_wrapped(n, around)) {
		class(t, n);
		return;
	}
	inside.name = "value";
	wm_text_str(t, "{\"type\":\"structure\",\"member-classes\":[");
	member(t, &inside);
	wm_text_str(t, "]}");
}

static void list(struct wm_text *t, const struct wm_cx_node *n)
{
	if (n->type->fixed)
		wm_text_f(t, "{\"type\":\"static-length-array\",\"length\":%u", n->type->length);
	else
		wm_text_str(t, "{\"type\":\"dynamic-length-array\"");
	if (!n->type->fixed)
		location(t, "length", n);
	wm_text_str(t, ",\"element-field-class\":");
	inner(t, &n->parts[0], n);
	wm_text_char(t, '}');
}

/*
 * Writes a blob. Bytes that were a list of numbers in the input remain one; the encoding is the
 * same.
 */
static void blob(struct wm_text *t, const struct wm_cx_node *n)
{
	const char *kind = n->type->is_bare ? "array" : "blob";

	if (n->count || n->ref.nr_names) {
		wm_text_f(t, "{\"type\":\"dynamic-length-%s\"", kind);
		location(t, "length", n);
	} else {
		wm_text_f(t, "{\"type\":\"static-length-%s\",\"length\":%u", kind, n->length);
	}
	if (n->type->is_bare) {
		wm_text_str(t, ",\"element-field-class\":");
		integer(t, "unsigned-integer", 8);
		wm_text_str(t, ",\"preferred-display-base\":16}");
	}
	wm_text_char(t, '}');
}

static void ranges(struct wm_text *t, const struct wm_ctf_range *list, uint32_t nr, bool is_signed)
{
	wm_text_str(t, ",\"selector-field-ranges\":[");
	for (uint32_t i = 0; i < nr; i++) {
		wm_text_str(t, i ? "," : "");
		range(t, list[i].low, list[i].high, is_signed);
	}
	wm_text_char(t, ']');
}

/*
 * Returns whether the ranges are signed: whether one is negative. Unsigned selector values of 2^63
 * and above do not occur in practice.
 */
static bool is_signed(const struct wm_ctf_range *list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (list[i].low < 0 && list[i].low <= list[i].high)
			return true;
	return false;
}

static void variant(struct wm_text *t, const struct wm_cx_node *n)
{
	wm_text_str(t, "{\"type\":\"variant\"");
	location(t, "selector", n);
	wm_text_str(t, ",\"options\":[");
	for (uint32_t i = 0; i < n->nr_parts; i++) {
		const struct wm_cx_node *part = &n->parts[i];
		const struct wm_ctf_range place = {i, i};

		wm_text_str(t, i ? ",{\"name\":" : "{\"name\":");
		quoted(t, part->name);
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

static void optional(struct wm_text *t, const struct wm_cx_node *n)
{
	static const struct wm_ctf_range one = {1, 1};
	const struct wm_ctf_member *m =
	    !n->count && n->from && n->from->nr_members ? n->from->members : NULL;

	wm_text_str(t, "{\"type\":\"optional\"");
	location(t, "selector", n);
	if (n->count)
		ranges(t, &one, 1, false);
	else if (m && m->nr_ranges)
		ranges(t, m->ranges, m->nr_ranges, is_signed(m->ranges, m->nr_ranges));
	wm_text_str(t, ",\"field-class\":");
	inner(t, &n->parts[0], n);
	wm_text_char(t, '}');
}

static void members(struct wm_text *t, const struct wm_cx_node *n)
{
	for (uint32_t i = 0; i < n->nr_parts; i++) {
		wm_text_str(t, i ? "," : "");
		member(t, &n->parts[i]);
	}
}

static void structure(struct wm_text *t, const struct wm_cx_node *n)
{
	wm_text_str(t, "{\"type\":\"structure\",\"member-classes\":[");
	members(t, n);
	wm_text_str(t, "]}");
}

static void string(struct wm_text *t, const struct wm_cx_node *n)
{
	wm_text_str(t, "{\"type\":\"null-terminated-string\"}");
}

static void real(struct wm_text *t, const struct wm_cx_node *n)
{
	integer(t, "floating-point-number", n->type->bits == 32 ? 32 : 64);
	wm_text_char(t, '}');
}

static void class(struct wm_text *t, const struct wm_cx_node *n)
{
	static void (*const kinds[WM_TYPE_NR])(struct wm_text * t, const struct wm_cx_node *n) = {
	    [WM_TYPE_FLOAT] = real,        [WM_TYPE_STRING] = string, [WM_TYPE_BYTES] = blob,
	    [WM_TYPE_STRUCT] = structure,  [WM_TYPE_LIST] = list,     [WM_TYPE_CHOICE] = variant,
	    [WM_TYPE_OPTIONAL] = optional,
	};

	if (kinds[n->type->kind])
		kinds[n->type->kind](t, n);
	else
		number(t, n->type);
}

static void plain(struct wm_text *t, const char *name, uint32_t bits, const char *role)
{
	wm_text_str(t, "{\"name\":");
	quoted(t, name);
	wm_text_str(t, ",\"field-class\":");
	integer(t, "unsigned-integer", bits);
	if (role)
		wm_text_f(t, ",\"roles\":[\"%s\"]", role);
	wm_text_str(t, "}}");
}

/* Writes a member, preceded by its added count. */
static void member(struct wm_text *t, const struct wm_cx_node *n)
{
	if (n->count) {
		plain(t, n->count, WM_CX_COUNT_BITS, NULL);
		wm_text_char(t, ',');
	}
	wm_text_str(t, "{\"name\":");
	quoted(t, n->name);
	wm_text_str(t, ",\"field-class\":");
	class(t, n);
	wm_text_char(t, '}');
}

/* --- fragments -------------------------------------------------------------------------------- */

static void preamble(struct wm_text *t, const struct wm_cx_folder *f)
{
	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"preamble\",\"version\":2");
	if (f->has_uuid)
		wm_text_str(t, ",\"uuid\":[");
	for (uint32_t i = 0; f->has_uuid && i < WM_TRACE_UUID_BYTES; i++)
		wm_text_f(t, i ? ",%u" : "%u", f->uuid[i]);
	wm_text_str(t, f->has_uuid ? "]}\n" : "}\n");
}

static void trace(struct wm_text *t, const struct wm_cx_folder *f)
{
	struct wm_cx_word w;

	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"trace-class\",");
	if (f->has_uuid) {
		wm_text_str(t, "\"uid\":\"");
		wm_meta_uuid(t, f->uuid);
		wm_text_str(t, "\",");
	}
	wm_text_str(t, "\"environment\":{");
	for (uint32_t i = 0; wm_cx_word(f, i, &w); i++) {
		wm_text_str(t, i ? "," : "");
		quoted(t, w.key);
		wm_text_char(t, ':');
		if (w.text)
			quoted(t, w.text);
		else
			wm_text_i64(t, w.number);
	}
	wm_text_str(t, "},\"packet-header-field-class\":{\"type\":\"structure\","
		       "\"member-classes\":[");
	plain(t, "magic", 32, "packet-magic-number");
	if (f->has_uuid)
		wm_text_str(t, ",{\"name\":\"uuid\",\"field-class\":{\"type\":\"static-length-"
			       "blob\",\"length\":16,\"roles\":[\"metadata-stream-uuid\"]}}");
	wm_text_char(t, ',');
	plain(t, "stream_id", 64, "data-stream-class-id");
	wm_text_char(t, ',');
	plain(t, "stream_instance_id", 64, "data-stream-id");
	wm_text_str(t, "]}}\n");
}

static void clocks(struct wm_text *t, const struct wm_cx_folder *f)
{
	struct wm_cx_clock c;

	for (uint32_t i = 0; wm_cx_clock(f, i, &c); i++) {
		wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"clock-class\",\"id\":");
		quoted(t, c.id);
		wm_text_str(t, ",\"name\":");
		quoted(t, c.name);
		if (c.description) {
			wm_text_str(t, ",\"description\":");
			quoted(t, c.description);
		}
		if (c.precision)
			wm_text_f(t, ",\"precision\":%llu", (unsigned long long)c.precision);
		if (c.is_epoch)
			wm_text_str(t, ",\"origin\":\"unix-epoch\"");
		/* CTF 2 has no negative cycles; CTF 1.8 has. */
		for (; c.cycles < 0 && c.hz <= INT64_MAX; c.seconds--)
			c.cycles = (int64_t)((uint64_t)c.cycles + c.hz);
		wm_text_f(t,
			  ",\"frequency\":%llu,\"offset-from-origin\":{\"seconds\":%lld,"
			  "\"cycles\":%lld}}\n",
			  (unsigned long long)c.hz, (long long)c.seconds, (long long)c.cycles);
	}
}

static void stream(struct wm_text *t, const struct wm_cx_class *c)
{
	wm_text_f(t, RECORD_SEPARATOR "{\"type\":\"data-stream-class\",\"id\":%llu,",
		  (unsigned long long)c->id);
	if (c->clock) {
		wm_text_str(t, "\"default-clock-class-id\":");
		quoted(t, c->clock_id);
		wm_text_char(t, ',');
	}
	wm_text_str(t, "\"packet-context-field-class\":{\"type\":\"structure\","
		       "\"member-classes\":[");
	if (c->clock) {
		plain(t, "timestamp_begin", 64, "default-clock-timestamp");
		wm_text_char(t, ',');
		plain(t, "timestamp_end", 64, "packet-end-default-clock-timestamp");
		wm_text_char(t, ',');
	}
	plain(t, "content_size", 64, "packet-content-length");
	wm_text_char(t, ',');
	plain(t, "packet_size", 64, "packet-total-length");
	wm_text_char(t, ',');
	plain(t, "packet_seq_num", 64, "packet-sequence-number");
	wm_text_char(t, ',');
	plain(t, "events_discarded", 64, "discarded-event-record-counter-snapshot");
	if (c->has_cpu) {
		wm_text_char(t, ',');
		plain(t, "cpu_id", 32, NULL);
	}
	if (c->packet_context && c->packet_context->nr_parts) {
		wm_text_char(t, ',');
		members(t, c->packet_context);
	}
	wm_text_str(t, "]},\"event-record-header-field-class\":{\"type\":\"structure\","
		       "\"member-classes\":[");
	plain(t, "id", 8u * c->id_bytes, "event-record-class-id");
	if (c->clock) {
		wm_text_char(t, ',');
		plain(t, "timestamp", 64, "default-clock-timestamp");
	}
	wm_text_str(t, "]}");
	if (c->stream_context) {
		wm_text_str(t, ",\"event-record-common-context-field-class\":");
		structure(t, c->stream_context);
	}
	wm_text_str(t, "}\n");
}

static void event(struct wm_text *t, const struct wm_cx_class *c, const struct wm_cx_event *e)
{
	const struct wm_cx_node *context = e->parts[WM_PART_CONTEXT];
	int level = e->type->level;

	if (!c->stream_context && e->parts[WM_PART_STREAM_CONTEXT])
		context = e->parts[WM_PART_STREAM_CONTEXT];
	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"event-record-class\",\"data-stream-class-id\":%llu,"
				   "\"id\":%llu,\"name\":",
		  (unsigned long long)c->id, (unsigned long long)e->id);
	quoted(t, e->type->name);
	if (level >= 0 && level < (int)WM_CTF_NR_LEVELS)
		wm_text_f(t, ",\"attributes\":{\"babeltrace.org,2020\":{\"log-level\":\"%s\"}}",
			  wm_ctf_level_names[level]);
	else if (level >= 0)
		wm_text_f(t, ",\"attributes\":{\"lttng.org,2009\":{\"log-level\":%d}}", level);
	if (context) {
		wm_text_str(t, ",\"specific-context-field-class\":");
		structure(t, context);
	}
	if (e->parts[WM_PART_FIELDS]) {
		wm_text_str(t, ",\"payload-field-class\":");
		structure(t, e->parts[WM_PART_FIELDS]);
	}
	wm_text_str(t, "}\n");
}

void wm_cx_json(struct wm_text *t, const struct wm_cx_folder *f)
{
	preamble(t, f);
	trace(t, f);
	clocks(t, f);
	for (const struct wm_cx_class *c = f->classes; c; c = c->next)
		stream(t, c);
	for (const struct wm_cx_class *c = f->classes; c; c = c->next)
		for (const struct wm_cx_event *e = c->events; e && t->bytes <= WM_CTF_METADATA_MAX;
		     e = e->next)
			event(t, c, e);
}
