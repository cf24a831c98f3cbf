/* SPDX-License-Identifier: MIT */
/*
 * proc_text.c - creates a plan from the contents of a file as first read; see proc_text.h and
 * proc_int.h.
 */
#include "kdata/proc_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/class.h"
#include "kdata/proc_int.h"

#define PLAN_BYTES_MAX ((size_t)4 << 20)
#define NAME_MAX_BYTES 100u /* maximum length of a field's name without its unit */
#define NS_PER_S       WM_NS_PER_SECOND

/* --- one field ------------------------------------------------------------------------ */

static const char *proc_text_type_of(enum wm_proc_value v)
{
	static const char *const types[] = {
	    [WM_PROC_COUNT] = "u8", [WM_PROC_SIGNED] = "i8", [WM_PROC_DECIMAL] = "f8",
	    [WM_PROC_WORD] = "s",   [WM_PROC_COMM] = "s",    [WM_PROC_CPU] = "u4",
	};

	return types[v];
}

static uint64_t scale_of(const struct wm_kproc_plan *p, enum wm_proc_unit unit)
{
	switch (unit) {
	case WM_PROC_KIB:
		return 1024;
	case WM_PROC_SECTORS:
		return 512;
	case WM_PROC_PAGES:
		return p->machine.page_bytes;
	case WM_PROC_US:
		return 1000;
	case WM_PROC_MS:
		return 1000000;
	case WM_PROC_TICKS:
		return NS_PER_S / (p->machine.ticks_hz ? p->machine.ticks_hz : 100);
	default:
		return 1;
	}
}

static const char *unit_name(enum wm_proc_unit unit)
{
	return unit >= WM_PROC_NS ? "ns" : unit >= WM_PROC_BYTES ? "bytes" : "";
}

/* Makes room for one more element in an array of the plan. Returns false when out of memory. */
static bool proc_text_grow(struct wm_kproc_plan *p, void *array, size_t nr, size_t bytes)
{
	void **at = array, *more = wm_arena_grow(&p->arena, *at, nr, bytes);

	if (more)
		*at = more;
	return more != NULL;
}

/*
 * Builds the name of a field: "Active(anon)", in bytes, becomes Active_anon_bytes. Characters other
 * than letters and digits become a single '_'.
 */
static const char *proc_text_field_name(struct wm_kproc_plan *p, const char *key, size_t bytes,
					enum wm_proc_unit unit)
{
	char name[NAME_MAX_BYTES + 8];
	size_t n = 0;

	for (size_t i = 0; i < bytes && n < NAME_MAX_BYTES; i++) {
		char c = key[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (is_letter || (c >= '0' && c <= '9'))
			name[n++] = c;
		else if (n && name[n - 1] != '_')
			name[n++] = '_';
	}
	while (n && name[n - 1] == '_')
		n--;
	if (*unit_name(unit))
		n += (size_t)snprintf(name + n, sizeof(name) - n, "_%s", unit_name(unit));
	return wm_arena_copy(&p->arena, name, n);
}

static int proc_text_add_step(struct wm_kproc_plan *p, enum wm_proc_value value,
			      enum wm_proc_unit unit)
{
	if (!proc_text_grow(p, &p->steps, p->nr_steps, sizeof(*p->steps)))
		return -ENOMEM;
	p->steps[p->nr_steps++] = (struct wm_proc_step){value, scale_of(p, unit)};
	return 0;
}

/* Adds a field. A counter beyond the limit on fields is not recorded, but counted. */
static int proc_text_add_field(struct wm_kproc_plan *p, const struct wm_proc_column *c,
			       size_t name_bytes)
{
	struct wm_proc_field f = {.unit =
				      c->unit == WM_PROC_PERCENT ? "percent" : unit_name(c->unit)};

	if (c->value == WM_PROC_SKIP)
		return proc_text_add_step(p, c->value, c->unit);
	if (p->nr_fields == WM_CLASS_FIELDS_MAX) {
		p->left_out++;
		return proc_text_add_step(p, WM_PROC_SKIP, c->unit);
	}
	f.type = proc_text_type_of(c->value);
	f.name = proc_text_field_name(p, c->name, name_bytes, c->unit);
	if (!f.name || !proc_text_grow(p, &p->fields, p->nr_fields, sizeof(f)))
		return -ENOMEM;
	p->fields[p->nr_fields++] = f;
	wm_text_f(&p->schema, "%s%s:%s", p->schema.bytes ? ";" : "", f.name, f.type);
	return proc_text_add_step(p, c->value, c->unit);
}

/* --- rows ------------------------------------------------------------------------------- */

/* Returns the number of columns in a line. Not for lines with a COMM, which may contain blanks. */
static size_t count_columns(const struct wm_proc_shape *s, const char *at, const char *end)
{
	size_t nr = 0;

	while (at < end) {
		const char *start;

		while (at < end && strchr(s->between, *at))
			at++;
		start = at;
		while (at < end && *at && !strchr(s->between, *at))
			at++;
		nr += at > start;
		if (at == start)
			break;
	}
	return nr;
}

/*
 * Adds as many columns as the first row has; columns beyond those in the table are counters of a
 * newer kernel. Uses only the table's columns when the file has no rows, and for tasks, whose comm
 * may contain blanks.
 */
static int add_columns(struct wm_kproc_plan *p, size_t nr)
{
	const struct wm_proc_column *c = p->shape->rows;
	char name[24];
	int err = 0;

	for (size_t i = 0; !err && (nr ? i < nr : c->name != NULL); i++) {
		struct wm_proc_column newer = {name, WM_PROC_COUNT, WM_PROC_PLAIN};

		(void)snprintf(name, sizeof(name), "column%zu", i + 1);
		err = c->name ? proc_text_add_field(p, c, strlen(c->name))
			      : proc_text_add_field(p, &newer, strlen(name));
		c += c->name != NULL;
	}
	return err;
}

static int learn_rows(struct wm_kproc_plan *p, const char *at, const char *end)
{
	size_t nr = 0;

	for (const char *line_end; !nr && at < end; at = line_end + (line_end < end)) {
		line_end = wm_kproc_line_end(at, end);
		if (wm_kproc_is_row(p->shape, at, line_end) && !p->shape->event.of_task)
			nr = count_columns(p->shape, at, line_end);
	}
	return add_columns(p, nr);
}

/* --- files that are a single record --------------------------------------------------------- */

static bool proc_text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t count_values(const char *at, const char *end)
{
	size_t nr = 0;

	while (at < end) {
		while (at < end && wm_kproc_is_blank(*at))
			at++;
		nr += at < end;
		while (at < end && !wm_kproc_is_blank(*at))
			at++;
	}
	return nr;
}

static const struct wm_proc_line *line_called(const struct wm_proc_shape *s, const char *key,
					      size_t bytes)
{
	const struct wm_proc_line *l = s->lines;

	while (l && l->key && (strlen(l->key) != bytes || memcmp(l->key, key, bytes) != 0))
		l++;
	return l && l->key ? l : NULL;
}

/* Adds those of the table's values that the line has. */
static int add_values(struct wm_kproc_plan *p, const struct wm_proc_line *l, size_t nr,
		      uint32_t *ret_nr)
{
	uint32_t i = 0;
	int err = 0;

	for (; !err && i < nr && l->columns[i].name; i++)
		err = proc_text_add_field(p, &l->columns[i], strlen(l->columns[i].name));
	*ret_nr = i;
	return err;
}

/* Adds the value of "KEY VALUE" or "KEY: VALUE kB"; ignores other lines. */
static int add_simple(struct wm_kproc_plan *p, const char *key, size_t bytes, const char *values,
		      const char *end, bool wanted, uint32_t *ret_nr)
{
	struct wm_proc_column c = {key, WM_PROC_COUNT, WM_PROC_PLAIN};
	const char *at = values;

	while (at < end && proc_text_is_digit(*at))
		at++;
	if (at == values || (at < end && !wm_kproc_is_blank(*at)))
		return 0;
	if (end - at == 3 && !memcmp(at, " kB", 3))
		c.unit = WM_PROC_KIB;
	if (p->shape->sizes_only && !wanted && c.unit != WM_PROC_KIB)
		return 0;
	*ret_nr = 1;
	return proc_text_add_field(p, &c, bytes);
}

static int learn_line(struct wm_kproc_plan *p, const char *line, const char *end)
{
	const char *key_end = wm_kproc_key_end(line, end), *values = key_end;
	size_t bytes = (size_t)(key_end - line);
	const struct wm_proc_line *l = line_called(p->shape, line, bytes);
	struct wm_proc_key key = {.bytes = (uint32_t)bytes};
	int err;

	if (!bytes || bytes > NAME_MAX_BYTES ||
	    (p->shape->begins && wm_kproc_is_row(p->shape, line, end)))
		return 0;
	while (values < end && (wm_kproc_is_blank(*values) || *values == ':'))
		values++;
	err = l && l->columns ? add_values(p, l, count_values(values, end), &key.nr)
			      : add_simple(p, line, bytes, values, end, l != NULL, &key.nr);
	if (err || !key.nr)
		return err;
	key.key = wm_arena_copy(&p->arena, line, bytes);
	if (!key.key || !proc_text_grow(p, &p->keys, p->nr_keys, sizeof(key)))
		return -ENOMEM;
	p->keys[p->nr_keys++] = key;
	return 0;
}

static int learn_lines(struct wm_kproc_plan *p, const char *at, const char *end)
{
	int err = 0;

	for (const char *line_end; !err && at < end; at = line_end + (line_end < end)) {
		line_end = wm_kproc_line_end(at, end);
		err = learn_line(p, at, line_end);
	}
	return err;
}

/* --- the plan ------------------------------------------------------------------------------ */

int wm_kproc_plan_create(const struct wm_proc_event *e, const struct wm_proc_machine *machine,
			 const char *text, size_t bytes, struct wm_kproc_plan **ret,
			 struct wm_diag *diag)
{
	struct wm_kproc_plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	wm_arena_init(&p->arena, PLAN_BYTES_MAX);
	wm_text_init(&p->schema);
	p->shape = wm_kproc_shape_of(e);
	p->machine = *machine;
	err =
	    p->shape->rows ? learn_rows(p, text, text + bytes) : learn_lines(p, text, text + bytes);
	wm_text_char(&p->schema, '\0');
	if (!err && p->schema.failed)
		err = -ENOMEM;
	if (!err && !p->nr_fields)
		err = wm_diag_set(diag, -EBADMSG, e->file, -1,
				  "the file has no counters; is /proc mounted?");
	if (err) {
		wm_kproc_plan_destroy(p);
		return err;
	}
	*ret = p;
	return 0;
}

void wm_kproc_plan_destroy(struct wm_kproc_plan *p)
{
	if (!p)
		return;
	wm_text_done(&p->schema);
	wm_arena_done(&p->arena);
	free(p);
}

const char *wm_kproc_plan_schema(const struct wm_kproc_plan *p)
{
	return p->schema.data;
}

size_t wm_kproc_plan_nr_fields(const struct wm_kproc_plan *p)
{
	return p->nr_fields;
}

const struct wm_proc_field *wm_kproc_plan_field(const struct wm_kproc_plan *p, size_t i)
{
	return &p->fields[i];
}

uint32_t wm_kproc_plan_left_out(const struct wm_kproc_plan *p)
{
	return p->left_out;
}
