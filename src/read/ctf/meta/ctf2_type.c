/* SPDX-License-Identifier: MIT */
/*
 * ctf2_type.c - converts CTF 2 field classes to the types of type.h. A table holds the parsing
 * function for each class. See ctf2_int.h for errors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "read/ctf/meta/ctf2_int.h"
#include "read/ctf/meta/ctf2_parse.h"

#define NATURAL_BASE 10

static uint32_t power_of_two(struct ctf2 *p, json_t *v, const char *key)
{
	uint64_t n = wm_ctf2_unsigned(p, v, key, 1, 1u << 20);

	if (!n || (n & (n - 1))) {
		(void)wm_ctf2_fail(p, -EBADMSG, "%s is not a power of two", key);
		return 1;
	}
	return (uint32_t)n;
}

static void byte_order(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	const char *order = wm_ctf2_text(p, v, "byte-order");
	const char *bits = wm_ctf2_text(p, v, "bit-order");

	if (order && !strcmp(order, "little-endian"))
		t->order = WM_CTF_LITTLE;
	else if (order && !strcmp(order, "big-endian"))
		t->order = WM_CTF_BIG;
	else
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "byte-order is neither little-endian nor big-endian");
	if (!bits || !order)
		return;
	if (strcmp(bits, "first-to-last") != 0 && strcmp(bits, "last-to-first") != 0)
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "bit-order is neither first-to-last nor "
				   "last-to-first");
	/*
	 * The byte order decides where the bits are. In little-endian bytes the first bit is the
	 * value's least significant one, in big-endian bytes its most significant one, unless the
	 * bit order says otherwise.
	 */
	t->reversed = (bits[0] == 'l') != (t->order == WM_CTF_BIG);
}

static void ctf2_type_roles(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	static const struct {
		const char *name;
		enum wm_ctf_role role;
	} names[] = {
	    {"packet-magic-number", WM_CTF_MAGIC},
	    {"metadata-stream-uuid", WM_CTF_UUID},
	    {"data-stream-class-id", WM_CTF_STREAM_ID},
	    {"data-stream-id", WM_CTF_STREAM_INSTANCE},
	    {"packet-total-length", WM_CTF_PACKET_SIZE},
	    {"packet-content-length", WM_CTF_CONTENT_SIZE},
	    {"default-clock-timestamp", WM_CTF_EVENT_TIME},
	    {"packet-end-default-clock-timestamp", WM_CTF_TIME_END},
	    {"discarded-event-record-counter-snapshot", WM_CTF_DISCARDED},
	    {"packet-sequence-number", WM_CTF_SEQUENCE_NUMBER},
	    {"event-record-class-id", WM_CTF_EVENT_ID},
	};
#define NR_ROLE_NAMES (sizeof(names) / sizeof(*names))
	json_t *list = json_object_get(v, "roles"), *role;
	size_t i;

	if (list && !json_is_array(list))
		wm_ctf_warn(p->m, p->offset, p->line, "'roles' is not an array");
	json_array_foreach(list, i, role)
	{
		const char *name = json_string_value(role);
		size_t n = 0;

		while (n < NR_ROLE_NAMES && (!name || strcmp(name, names[n].name) != 0))
			n++;
		if (n < NR_ROLE_NAMES)
			t->role = (uint8_t)names[n].role;
		else
			wm_ctf_warn(p->m, p->offset, p->line, "unknown role '%.60s'",
				    name ? name : "");
	}
	if (t->role && t->is_signed)
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "a signed integer has a role; roles are for unsigned integers");
}

/* Parses one range of a list such as [[1, 5], [9, 9]], or a single number. */
static bool ctf2_type_range(const json_t *v, bool is_signed, struct wm_ctf_range *ret)
{
	bool negative[2];
	uint64_t bits[2];

	for (size_t i = 0; i < 2; i++) {
		const json_t *n = json_is_array(v) ? json_array_get(v, i) : v;

		if (!wm_ctf2_number(n, &negative[i], &bits[i]) || (negative[i] && !is_signed))
			return false;
	}
	*ret = (struct wm_ctf_range){(int64_t)bits[0], (int64_t)bits[1]};
	return (!json_is_array(v) || json_array_size(v) == 2) &&
	       (negative[0] == negative[1] ? bits[0] <= bits[1] : negative[0]);
}

static void mappings(struct ctf2 *p, json_t *v, const char *name, struct wm_ctf_type *t)
{
	json_t *map = json_object_get(v, name), *list, *one;
	const char *key;
	size_t i;

	if (map && !json_is_object(map))
		(void)wm_ctf2_fail(p, -EBADMSG, "'%s' is not an object of names with ranges", name);
	json_object_foreach(map, key, list)
	{
		if (!json_is_array(list))
			(void)wm_ctf2_fail(p, -EBADMSG, "'%.60s' has no list of ranges", key);
		json_array_foreach(list, i, one)
		{
			struct wm_ctf_label *labels;

			if (t->nr_labels == WM_CTF_LABELS_MAX) {
				(void)wm_ctf2_fail(p, -EBADMSG, "more than %u labels",
						   WM_CTF_LABELS_MAX);
				return;
			}
			labels = wm_ctf2_memory(p, wm_arena_grow(&p->m->arena, t->labels,
								 t->nr_labels, sizeof(*labels)));
			if (!labels)
				return;
			t->labels = labels;
			labels[t->nr_labels].name =
			    wm_ctf2_memory(p, wm_arena_copy(&p->m->arena, key, strlen(key)));
			if (!ctf2_type_range(one, t->is_signed, &labels[t->nr_labels++].range)) {
				(void)wm_ctf2_fail(p, -EBADMSG, "a range of '%.60s' is not valid",
						   key);
				return;
			}
		}
	}
}

/* Our writer gives the alias of an enumeration in its attributes. */
static void waymark_alias(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	json_t *ours = json_object_get(json_object_get(v, "attributes"), "waymark");
	json_t *alias = json_object_get(ours, "type");

	if (json_is_string(alias))
		t->alias = wm_ctf2_copy(p, alias);
}

static void fixed_integer(struct ctf2 *p, json_t *v, struct wm_ctf_type *t, bool is_signed)
{
	uint64_t bits = wm_ctf2_unsigned(p, v, "length", 0, 1u << 16);
	uint64_t base = wm_ctf2_unsigned(p, v, "preferred-display-base", NATURAL_BASE, 16);

	if (!bits || bits > 64)
		(void)wm_ctf2_fail(p, -EBADMSG, "an integer of %llu bits; 1 to 64 are supported",
				   (unsigned long long)bits);
	t->kind = WM_CTF_INTEGER;
	t->bits = (uint16_t)bits;
	t->base = (uint8_t)base;
	t->is_signed = is_signed;
	t->align = power_of_two(p, v, "alignment");
	byte_order(p, v, t);
	ctf2_type_roles(p, v, t);
	mappings(p, v, "mappings", t);
	if (!t->nr_labels)
		return;
	t->kind = WM_CTF_ENUM;
	t->element = wm_ctf2_memory(p, wm_ctf_type_create(p->m, WM_CTF_INTEGER));
	if (t->element) {
		struct wm_ctf_type *next = t->element->next;

		*t->element = *t;
		t->element->next = next;
		t->element->kind = WM_CTF_INTEGER;
		t->element->element = NULL;
		t->element->nr_labels = 0;
		t->element->labels = NULL;
		waymark_alias(p, v, t->element);
	}
}

static void unsigned_integer(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	fixed_integer(p, v, t, false);
}

static void signed_integer(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	fixed_integer(p, v, t, true);
}

static void boolean(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	fixed_integer(p, v, t, false);
	t->is_bool = true;
}

static void ctf2_type_bits(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	fixed_integer(p, v, t, false);
	t->base = 16;
}

static void ctf2_type_flags(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	ctf2_type_bits(p, v, t);
	if (!json_object_size(json_object_get(v, "flags")))
		(void)wm_ctf2_fail(p, -EBADMSG, "a bit map without flags");
	mappings(p, v, "flags", t);
	t->is_flags = true;
}

static void ctf2_type_real(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	uint64_t length = wm_ctf2_unsigned(p, v, "length", 0, 1u << 16);

	t->kind = WM_CTF_FLOAT;
	if (length != 16 && length != 32 && length != 64 && length != 128)
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "a float of %llu bits; 16, 32, 64 and 128 are "
				   "supported",
				   (unsigned long long)length);
	t->bits = (uint16_t)length;
	t->align = power_of_two(p, v, "alignment");
	byte_order(p, v, t);
}

static void ctf2_type_variable(struct ctf2 *p, json_t *v, struct wm_ctf_type *t, bool is_signed)
{
	t->kind = WM_CTF_VARINT;
	t->is_signed = is_signed;
	t->base = (uint8_t)wm_ctf2_unsigned(p, v, "preferred-display-base", NATURAL_BASE, 16);
	ctf2_type_roles(p, v, t);
	mappings(p, v, "mappings", t);
}

static void variable_unsigned(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	ctf2_type_variable(p, v, t, false);
}

static void variable_signed(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	ctf2_type_variable(p, v, t, true);
}

static void encoding(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	static const char *const names[WM_CTF_NR_ENCODINGS] = {
	    [WM_CTF_UTF8] = "utf-8",        [WM_CTF_UTF16_LE] = "utf-16le",
	    [WM_CTF_UTF16_BE] = "utf-16be", [WM_CTF_UTF32_LE] = "utf-32le",
	    [WM_CTF_UTF32_BE] = "utf-32be",
	};
	const char *name = wm_ctf2_text(p, v, "encoding");

	for (uint8_t i = 0; name && i < WM_CTF_NR_ENCODINGS; i++) {
		if (!strcmp(name, names[i])) {
			t->encoding = i;
			return;
		}
	}
	if (name)
		(void)wm_ctf2_fail(p, -EBADMSG,
				   "a string in '%.40s'; utf-8, utf-16 and utf-32 are supported",
				   name);
}

static void ctf2_type_string(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_STRING;
	encoding(p, v, t);
}

static void ctf2_type_contain(struct ctf2 *p, struct wm_ctf_type *owner,
			      const struct wm_ctf_type *part)
{
	if (wm_ctf_type_contain(owner, part))
		(void)wm_ctf2_fail(p, -EBADMSG, "field classes nested more than %u deep",
				   WM_CTF_DEPTH_MAX);
}

static void ctf2_type_element(struct ctf2 *p, json_t *v, const char *key, struct wm_ctf_type *t)
{
	json_t *value = wm_ctf2_need(p, v, key);

	t->element = value ? wm_ctf2_type(p, value) : NULL;
	if (t->element)
		ctf2_type_contain(p, t, t->element);
}

/* Turns a string or blob with a length into an array of bytes. */
static void byte_element(struct ctf2 *p, struct wm_ctf_type *t)
{
	struct wm_ctf_type *b = wm_ctf2_memory(p, wm_ctf_type_create(p->m, WM_CTF_INTEGER));

	if (!b)
		return;
	b->bits = b->align = 8;
	b->order = WM_CTF_LITTLE;
	b->text = t->text;
	b->base = t->blob ? 16 : NATURAL_BASE;
	t->element = b;
	ctf2_type_contain(p, t, b);
}

static void fixed_length(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_ARRAY;
	(void)wm_ctf2_need(p, v, "length");
	t->length = wm_ctf2_unsigned(p, v, "length", 0, WM_CTF_LENGTH_MAX);
}

static void ctf2_type_location(struct ctf2 *p, json_t *v, const char *key, struct wm_ctf_ref *ret)
{
	json_t *place = wm_ctf2_need(p, v, key), *name;
	json_t *path = place ? wm_ctf2_need(p, place, "path") : NULL;
	const char *origin = place ? wm_ctf2_text(p, place, "origin") : NULL, **names;
	size_t i, count = json_array_size(path);
	uint32_t n = 0;

	wm_ctf2_check_properties(p, "field location", place);
	*ret = (struct wm_ctf_ref){.scope = WM_CTF_RELATIVE, .offset = p->offset, .line = p->line};
	for (i = 0; origin && i < WM_CTF_NR_SCOPES; i++) {
		if (!strcmp(origin, wm_ctf_scope_origins[i]))
			ret->scope = (enum wm_ctf_scope)i;
	}
	if (!count || count > WM_CTF_DEPTH_MAX || (origin && ret->scope == WM_CTF_RELATIVE)) {
		(void)wm_ctf2_fail(p, -EBADMSG, "%s is not a field location", key);
		return;
	}
	names = wm_ctf2_memory(p, wm_arena_array(&p->m->arena, count, sizeof(*names)));
	if (!names)
		return;
	json_array_foreach(path, i, name)
	{
		if (!json_is_string(name) && !json_is_null(name))
			(void)wm_ctf2_fail(p, -EBADMSG, "%s is not a field location", key);
		/* A null after a name leads back to the structure of that name. */
		if (json_is_null(name) && n && names[n - 1])
			n--;
		else
			names[n++] = json_is_string(name) ? wm_ctf2_copy(p, name) : NULL;
	}
	if (!n || !names[n - 1])
		(void)wm_ctf2_fail(p, -EBADMSG, "%s is not a field location", key);
	ret->names = names;
	ret->nr_names = n;
}

static void dynamic_length(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_SEQUENCE;
	ctf2_type_location(p, v, "length-field-location", &t->ref);
}

static void fixed_string(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	encoding(p, v, t);
	t->text = true;
	fixed_length(p, v, t);
	byte_element(p, t);
}

static void dynamic_string(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	encoding(p, v, t);
	t->text = true;
	dynamic_length(p, v, t);
	byte_element(p, t);
}

static void fixed_blob(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->blob = true;
	fixed_length(p, v, t);
	byte_element(p, t);
	ctf2_type_roles(p, v, t);
}

static void dynamic_blob(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->blob = true;
	dynamic_length(p, v, t);
	byte_element(p, t);
}

static void array_align(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	uint32_t align = power_of_two(p, v, "minimum-alignment");

	if (t->align < align)
		t->align = align;
}

static void fixed_array(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	fixed_length(p, v, t);
	ctf2_type_element(p, v, "element-field-class", t);
	array_align(p, v, t);
}

static void dynamic_array(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	dynamic_length(p, v, t);
	ctf2_type_element(p, v, "element-field-class", t);
	array_align(p, v, t);
}

static void selector_ranges(struct ctf2 *p, json_t *v, struct wm_ctf_member *member)
{
	json_t *list = json_object_get(v, "selector-field-ranges"), *one;
	size_t i, count = json_array_size(list);
	struct wm_ctf_range *ranges;

	if (!count)
		return;
	ranges = wm_ctf2_memory(p, wm_arena_array(&p->m->arena, count, sizeof(*ranges)));
	if (!ranges)
		return;
	json_array_foreach(list, i, one)
	{
		/* accept negative numbers: the selector may be signed */
		if (!ctf2_type_range(one, true, &ranges[i]))
			(void)wm_ctf2_fail(p, -EBADMSG,
					   "selector-field-ranges contains no valid "
					   "range");
	}
	member->ranges = ranges;
	member->nr_ranges = (uint32_t)count;
}

/* Parses the members of a structure or the options of a variant. */
static void ctf2_type_members(struct ctf2 *p, json_t *list, struct wm_ctf_type *t)
{
	size_t i, count = json_array_size(list);
	json_t *one;

	if (count > WM_CTF_MEMBERS_MAX) {
		(void)wm_ctf2_fail(p, -EBADMSG, "more than %u fields in a structure",
				   WM_CTF_MEMBERS_MAX);
		return;
	}
	t->members =
	    wm_ctf2_memory(p, wm_arena_array(&p->m->arena, count + 1, sizeof(*t->members)));
	json_array_foreach(list, i, one)
	{
		struct wm_ctf_member *m = &t->members[i];
		json_t *class = p->err ? NULL : wm_ctf2_need(p, one, "field-class");

		if (!class)
			return;
		wm_ctf2_check_properties(
		    p, t->kind == WM_CTF_STRUCT ? "structure member" : "variant option", one);
		m->name = wm_ctf2_text(p, one, "name");
		if (!m->name && t->kind == WM_CTF_STRUCT)
			(void)wm_ctf2_fail(p, -EBADMSG, "a member without a name");
		m->name = m->raw = m->name ? m->name : "";
		m->type = wm_ctf2_type(p, class);
		selector_ranges(p, one, m);
		if (!m->type || p->err)
			return;
		ctf2_type_contain(p, t, m->type);
		t->nr_members++;
	}
}

static int by_raw(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void ctf2_type_refuse_twins(struct ctf2 *p, const struct wm_ctf_type *t)
{
	const char **names = wm_ctf2_memory(p, calloc(t->nr_members + 1, sizeof(*names)));

	for (uint32_t i = 0; names && i < t->nr_members; i++)
		names[i] = t->members[i].raw;
	if (names)
		qsort(names, t->nr_members, sizeof(*names), by_raw);
	for (uint32_t i = 1; names && i < t->nr_members; i++) {
		if (names[i][0] && !strcmp(names[i - 1], names[i]))
			(void)wm_ctf2_fail(p, -EBADMSG, "two fields are named '%.100s'", names[i]);
	}
	free(names);
}

static void ctf2_type_structure(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_STRUCT;
	ctf2_type_members(p, json_object_get(v, "member-classes"), t);
	array_align(p, v, t);
	ctf2_type_refuse_twins(p, t);
}

static int ctf2_type_by_low(const void *a, const void *b)
{
	const struct wm_ctf_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

/* Fails when a value of the selector would choose two options. */
static void refuse_two_ways(struct ctf2 *p, const struct wm_ctf_type *t)
{
	struct wm_ctf_range *all;
	uint32_t count = 0, n = 0;

	for (uint32_t i = 0; i < t->nr_members; i++)
		count += t->members[i].nr_ranges;
	all = wm_ctf2_memory(p, calloc(count + 1, sizeof(*all)));
	for (uint32_t i = 0; all && i < t->nr_members; i++) {
		if (t->members[i].nr_ranges)
			memcpy(all + n, t->members[i].ranges,
			       t->members[i].nr_ranges * sizeof(*all));
		n += t->members[i].nr_ranges;
	}
	if (all)
		qsort(all, count, sizeof(*all), ctf2_type_by_low);
	for (uint32_t i = 1; all && i < count; i++)
		if (all[i].low <= all[i - 1].high && all[i - 1].high >= all[i - 1].low)
			(void)wm_ctf2_fail(p, -EBADMSG,
					   "two options of a variant are chosen by %lld",
					   (long long)all[i].low);
	free(all);
}

static void ctf2_type_variant(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_VARIANT;
	ctf2_type_location(p, v, "selector-field-location", &t->ref);
	ctf2_type_members(p, json_object_get(v, "options"), t);
	if (!p->err && !t->nr_members)
		(void)wm_ctf2_fail(p, -EBADMSG, "a variant without options");
	ctf2_type_refuse_twins(p, t);
	refuse_two_ways(p, t);
}

static void ctf2_type_optional(struct ctf2 *p, json_t *v, struct wm_ctf_type *t)
{
	t->kind = WM_CTF_OPTIONAL;
	ctf2_type_location(p, v, "selector-field-location", &t->ref);
	ctf2_type_element(p, v, "field-class", t);
	if (p->err || !json_object_get(v, "selector-field-ranges"))
		return;
	t->members = wm_ctf2_memory(p, wm_arena_array(&p->m->arena, 1, sizeof(*t->members)));
	if (!t->members)
		return;
	t->members[0] = (struct wm_ctf_member){.name = "", .raw = "", .type = t->element};
	selector_ranges(p, v, &t->members[0]);
	t->nr_members = 1;
}

static const struct {
	const char *name;
	void (*read)(struct ctf2 *p, json_t *v, struct wm_ctf_type *t);
} classes[] = {
    {"fixed-length-unsigned-integer", unsigned_integer},
    {"fixed-length-signed-integer", signed_integer},
    {"fixed-length-boolean", boolean},
    {"fixed-length-bit-array", ctf2_type_bits},
    {"fixed-length-bit-map", ctf2_type_flags},
    {"fixed-length-floating-point-number", ctf2_type_real},
    {"variable-length-unsigned-integer", variable_unsigned},
    {"variable-length-signed-integer", variable_signed},
    {"null-terminated-string", ctf2_type_string},
    {"static-length-string", fixed_string},
    {"dynamic-length-string", dynamic_string},
    {"static-length-blob", fixed_blob},
    {"dynamic-length-blob", dynamic_blob},
    {"structure", ctf2_type_structure},
    {"static-length-array", fixed_array},
    {"dynamic-length-array", dynamic_array},
    {"optional", ctf2_type_optional},
    {"variant", ctf2_type_variant},
};

/* --- aliases ------------------------------------------------------------------- */

/* Returns the index of the alias with that name, or the index at which to insert it. */
static uint32_t alias_slot(const struct ctf2 *p, const char *name)
{
	return WM_SEARCH(0, p->nr_aliases, i, strcmp(p->aliases[i].name, name) < 0);
}

static struct wm_ctf_type *ctf2_type_known_alias(struct ctf2 *p, const char *name)
{
	uint32_t at = alias_slot(p, name);

	if (at < p->nr_aliases && !strcmp(p->aliases[at].name, name))
		return p->aliases[at].type;
	(void)wm_ctf2_fail(p, -EBADMSG, "no field class alias '%.100s'", name);
	return NULL;
}

void wm_ctf2_alias_add(struct ctf2 *p, json_t *fragment)
{
	const char *name = wm_ctf2_text(p, fragment, "name");
	json_t *class = wm_ctf2_need(p, fragment, "field-class");
	struct wm_ctf_type *from = class ? wm_ctf2_type(p, class) : NULL, *t, *next;
	struct ctf2_alias *aliases;
	uint32_t at;

	if (!name && !p->err)
		(void)wm_ctf2_fail(p, -EBADMSG, "an alias without a name");
	t = from && !p->err ? wm_ctf2_memory(p, wm_ctf_type_create(p->m, from->kind)) : NULL;
	if (!t)
		return;
	next = t->next;
	*t = *from;
	t->next = next;
	t->alias = name;
	at = alias_slot(p, name);
	if (at < p->nr_aliases && !strcmp(p->aliases[at].name, name)) {
		(void)wm_ctf2_fail(p, -EBADMSG, "alias '%.100s' is declared twice", name);
		return;
	}
	aliases = wm_ctf2_memory(
	    p, wm_arena_grow(&p->m->arena, p->aliases, p->nr_aliases, sizeof(*aliases)));
	if (!aliases)
		return;
	memmove(aliases + at + 1, aliases + at, (p->nr_aliases - at) * sizeof(*aliases));
	aliases[at] = (struct ctf2_alias){name, t};
	p->aliases = aliases;
	p->nr_aliases++;
}

struct wm_ctf_type *wm_ctf2_type(struct ctf2 *p, json_t *value)
{
	const char *name;
	struct wm_ctf_type *t;

	if (json_is_string(value))
		return ctf2_type_known_alias(p, json_string_value(value));
	name = wm_ctf2_text(p, value, "type");
	if (p->err || p->depth >= WM_CTF_DEPTH_MAX) {
		(void)wm_ctf2_fail(p, -EBADMSG, "field classes nested more than %u deep",
				   WM_CTF_DEPTH_MAX);
		return NULL;
	}
	for (size_t i = 0; name && i < sizeof(classes) / sizeof(*classes); i++) {
		if (strcmp(classes[i].name, name) != 0)
			continue;
		t = wm_ctf2_memory(p, wm_ctf_type_create(p->m, classes[i].read == ctf2_type_string
								   ? WM_CTF_STRING
								   : WM_CTF_STRUCT));
		if (!t)
			return NULL;
		t->line = p->line;
		wm_ctf2_check_properties(p, name, value);
		p->depth++;
		classes[i].read(p, value, t);
		p->depth--;
		if (t->kind == WM_CTF_VARINT)
			t->align = 8;
		return p->err ? NULL : t;
	}
	(void)wm_ctf2_fail(p, -EBADMSG, "unknown field class type '%.60s'", name ? name : "");
	return NULL;
}
