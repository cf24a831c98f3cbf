/* SPDX-License-Identifier: MIT */
/*
 * format.c - creates formats for events that the kernel does not describe: a format file as a
 * kernel would have written it, with the common fields and the event's own, flattened. Numbers stay
 * numbers, lists of numbers and blobs become dynamic arrays; values that a record cannot hold
 * (floats, choices, lists of structures) become text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/kernel_int.h"

#define LABELS_MAX 64u /* maximum number of labels in a print form */
#define COMMON_END 8u
#define FIELDS_MAX (WM_KFORMAT_FIELDS_MAX - 4)
#define PREFIX_MAX 256u

static const char common[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

struct making {
	struct wm_text *fields, *form, *values; /* field lines; the print form, and its arguments */
	uint32_t offset, nr;
	const char *names[FIELDS_MAX];
	struct wm_arena *arena;
	int err;
};

/* --- names ------------------------------------------------------------------------------- */

static bool tracedat_format_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static void to_word(char *name)
{
	for (char *c = name; *c; c++)
		if (!tracedat_format_is_word(*c))
			*c = '_';
}

static bool tracedat_format_is_taken(const struct making *x, const char *name)
{
	for (uint32_t i = 0; i < x->nr; i++)
		if (!strcmp(x->names[i], name))
			return true;
	return false;
}

/* Creates a unique identifier "outer_inner" for a field. */
static const char *tracedat_format_field_name(struct making *x, const char *prefix,
					      const char *name)
{
	char made[PREFIX_MAX + 300];
	size_t bytes;

	name = name && *name ? name : "value";
	/* The kernel's common fields have this prefix. */
	(void)snprintf(made, sizeof(made) - 16, "%s%.*s%s%.200s",
		       strncmp(*prefix ? prefix : name, "common_", 7) ? "" : "_", (int)PREFIX_MAX,
		       prefix, *prefix ? "_" : "", name);
	to_word(made);
	if (made[0] >= '0' && made[0] <= '9')
		made[0] = '_';
	bytes = strlen(made);
	for (uint32_t i = 1; tracedat_format_is_taken(x, made); i++)
		(void)snprintf(made + bytes, sizeof(made) - bytes, "_%u", i);
	return wm_arena_copy(x->arena, made, strlen(made));
}

/* --- one field --------------------------------------------------------------------------- */

static bool tracedat_format_is_number(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED || t->kind == WM_TYPE_BOOL;
}

/* Returns the size of a number in a record: a power of two. */
static uint32_t tracedat_format_width_of(const struct wm_type *t)
{
	return t->bits <= 8 ? 1 : t->bits <= 16 ? 2 : t->bits <= 32 ? 4 : 8;
}

static const char *c_type(const struct wm_type *t)
{
	static const char *const of_unsigned[] = {"u8", "u16", "u32", "u64"};
	static const char *const of_signed[] = {"s8", "s16", "s32", "s64"};
	uint32_t log2 = (uint32_t)__builtin_ctz(tracedat_format_width_of(t));

	return t->kind == WM_TYPE_BOOL     ? "bool"
	       : t->kind == WM_TYPE_SIGNED ? of_signed[log2]
					   : of_unsigned[log2];
}

static bool is_plain_label(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\' || *s == '%')
			return false;
	return true;
}

static bool has_labels(const struct wm_type *t)
{
	if (!t->is_enum || !t->nr_labels || t->nr_labels > LABELS_MAX)
		return false;
	for (uint32_t i = 0; i < t->nr_labels; i++)
		if (t->labels[i].low != t->labels[i].high || !is_plain_label(t->labels[i].name))
			return false;
	return true;
}

static void tracedat_format_add_number(struct making *x, const struct wm_type *t, const char *name)
{
	uint32_t width = tracedat_format_width_of(t);
	bool is_hex = t->look != WM_LOOK_DECIMAL, is_signed = t->kind == WM_TYPE_SIGNED;

	x->offset = (x->offset + width - 1) & ~(width - 1);
	wm_text_f(x->fields, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", c_type(t), name,
		  x->offset, width, is_signed);
	x->offset += width;
	if (has_labels(t)) {
		wm_text_str(x->form, "%s");
		wm_text_f(x->values, ", __print_symbolic(REC->%s", name);
		for (uint32_t i = 0; i < t->nr_labels; i++)
			wm_text_f(x->values, ", { %lld, \"%s\" }", (long long)t->labels[i].low,
				  t->labels[i].name);
		wm_text_char(x->values, ')');
		return;
	}
	wm_text_f(x->form, "%s%%%s%c", is_hex ? "0x" : "", width == 8 ? "ll" : "",
		  is_hex      ? 'x'
		  : is_signed ? 'd'
			      : 'u');
	wm_text_f(x->values, ", REC->%s", name);
}

/* Adds a dynamic array of elements of that type. */
static void tracedat_format_add_array(struct making *x, const char *type, bool is_signed,
				      const char *name)
{
	x->offset = (x->offset + 3) & ~3u;
	wm_text_f(x->fields, "\tfield:__data_loc %s[] %s;\toffset:%u;\tsize:4;\tsigned:%u;\n", type,
		  name, x->offset, is_signed);
	x->offset += 4;
}

static void add_leaf(struct making *x, const struct wm_type *t, const char *name)
{
	if (tracedat_format_is_number(t)) {
		tracedat_format_add_number(x, t, name);
	} else if (t->kind == WM_TYPE_LIST && tracedat_format_is_number(t->element.type)) {
		const struct wm_type *e = t->element.type;

		tracedat_format_add_array(x, c_type(e), e->kind == WM_TYPE_SIGNED, name);
		wm_text_str(x->form, "%s");
		wm_text_f(x->values,
			  ", __print_array(__get_dynamic_array(%s), "
			  "__get_dynamic_array_len(%s) / %u, %u)",
			  name, name, tracedat_format_width_of(e), tracedat_format_width_of(e));
	} else if (t->kind == WM_TYPE_BYTES) {
		tracedat_format_add_array(x, "u8", false, name);
		wm_text_str(x->form, "%s");
		wm_text_f(x->values,
			  ", __print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))",
			  name, name);
	} else {
		tracedat_format_add_array(x, "char", false, name);
		wm_text_str(x->form, "%s");
		wm_text_f(x->values, ", __get_str(%s)", name);
	}
}

/*
 * Adds all members of a part, and those of structures in it. Recursion is limited by the nesting
 * depth of types.
 */
static void add_members(struct making *x, const struct wm_type *part, const char *prefix)
{
	for (uint32_t i = 0; part && i < part->nr_members && !x->err; i++) {
		const struct wm_member *m = &part->members[i];
		const char *name;

		if (i + 1 < part->nr_members && wm_export_kernel_is_length(m, m + 1))
			continue;
		if (x->nr == FIELDS_MAX) {
			x->err = -E2BIG;
			return;
		}
		name = m->type->kind == WM_TYPE_STRUCT && !m->type->nr_members
			   ? ""
			   : tracedat_format_field_name(x, prefix, m->name);
		if (!name) {
			x->err = -ENOMEM;
			return;
		}
		if (m->type->kind == WM_TYPE_STRUCT) {
			add_members(x, m->type, name);
			continue;
		}
		x->names[x->nr++] = name;
		wm_text_f(x->form, "%s%s=", x->nr > 1 ? " " : "", name);
		add_leaf(x, m->type, name);
	}
}

/* --- systems ------------------------------------------------------------------------------- */

int wm_tdx_made_add(struct wm_tdx_made *m, const char *system, const char *text, size_t bytes,
		    bool big_endian)
{
	struct wm_tdx_system **end = &m->systems;

	while (*end && strcmp((*end)->name, system) != 0)
		end = &(*end)->next;
	if (!*end) {
		*end = calloc(1, sizeof(**end));
		if (!*end)
			return -ENOMEM;
		m->nr_systems++;
		wm_text_init(&(*end)->formats);
		(*end)->name = strdup(system);
		if (!(*end)->name)
			return -ENOMEM;
	}
	wm_tdx_u(&(*end)->formats, bytes, 8, big_endian);
	wm_text_add(&(*end)->formats, text, bytes);
	(*end)->nr_formats++;
	return (*end)->formats.failed ? -ENOMEM : 0;
}

void wm_tdx_made_join(const struct wm_tdx_made *m, struct wm_text *formats, bool big_endian)
{
	bool swap = wm_order_swap(big_endian);
	uint32_t nr;

	if (formats->bytes < 4) {
		wm_text_cut(formats, 0);
		wm_tdx_u(formats, 0, 4, big_endian);
	}
	if (formats->failed)
		return;
	nr = wm_get_u32(formats->data, swap) + m->nr_systems;
	nr = wm_get_u32(&nr, swap);
	memcpy(formats->data, &nr, 4);
	for (const struct wm_tdx_system *s = m->systems; s; s = s->next) {
		wm_text_add(formats, s->name, strlen(s->name) + 1);
		wm_tdx_u(formats, s->nr_formats, 4, big_endian);
		wm_text_add(formats, s->formats.data, s->formats.bytes);
	}
}

void wm_tdx_made_done(struct wm_tdx_made *m)
{
	while (m->systems) {
		struct wm_tdx_system *s = m->systems;

		m->systems = s->next;
		wm_text_done(&s->formats);
		free(s->name);
		free(s);
	}
}

/* Splits "hello:greeting" into "hello" and "greeting", both converted to identifiers. */
static void split_name(const char *name, char *system, char *event, size_t room)
{
	const char *colon = strchr(name, ':');
	size_t bytes = colon ? (size_t)(colon - name) : 0;

	bytes = bytes < room ? bytes : room - 1;
	(void)snprintf(system, room, "%.*s", (int)bytes, name);
	(void)snprintf(event, room, "%.*s", (int)room - 1, colon ? colon + 1 : name);
	to_word(system);
	to_word(event);
	if (!*system)
		(void)snprintf(system, room, "events");
	if (!*event)
		(void)snprintf(event, room, "event");
}

int wm_tdx_make_format(struct wm_tdx_made *m, struct wm_arena *arena, const struct wm_kmachine *k,
		       const struct wm_event_type *type, uint32_t id, const struct wm_kformat **ret)
{
	static const enum wm_part parts[] = {WM_PART_STREAM_CONTEXT, WM_PART_CONTEXT,
					     WM_PART_FIELDS};
	struct wm_text texts[4];
	struct making x = {&texts[0], &texts[1], &texts[2], COMMON_END, 0, {NULL}, arena, 0};
	struct wm_text *all = &texts[3];
	char system[128], event[128];
	int err;

	for (int i = 0; i < 4; i++)
		wm_text_init(&texts[i]);
	split_name(type->name, system, event, sizeof(event));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		add_members(&x, type->parts[parts[i]], "");
	wm_text_f(all, "name: %s\nID: %u\nformat:\n%s%s\nprint fmt: \"%s\"%s\n", event, id, common,
		  x.nr ? x.fields->data : "", x.nr ? x.form->data : "", x.nr ? x.values->data : "");
	err = x.err;
	for (int i = 0; !err && i < 4; i++)
		err = texts[i].failed ? -ENOMEM : 0;
	if (!err)
		err = wm_kformat_parse(arena, k, system, all->data, all->bytes, ret, NULL);
	if (!err)
		err = wm_tdx_made_add(m, system, all->data, all->bytes, k->big_endian);
	for (int i = 0; i < 4; i++)
		wm_text_done(&texts[i]);
	return err;
}
