/* SPDX-License-Identifier: MIT */
/*
 * flame.c - see flame.h. Rows are written in preorder, as [name, weight, depth,
 * level, other].
 */
#include "view/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "trace/name_table.h"
#include "view/page_int.h"
#include "view/value_text.h"

struct writing {
	struct wm_text *out;
	struct wm_names names;
	const struct wm_result_table *table;
	bool differs, comma;
};

/* Returns the id of a row's name: the text of its cells, joined. */
static uint32_t row_name(struct writing *w, const struct wm_result_table *t,
			 const struct wm_result_row *row)
{
	struct wm_text text;
	uint32_t id;

	if (row->kind == WM_ROW_CALL)
		return wm_names_id(&w->names, row->label, strlen(row->label));
	wm_text_init(&text);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		if (t->columns[i].kind != WM_CELL_TEXT || !row->cells[i].text)
			continue;
		if (text.bytes)
			wm_text_char(&text, ' ');
		wm_text_str(&text, row->cells[i].text);
	}
	id = wm_names_id(&w->names, text.data ? text.data : "", text.bytes);
	wm_text_done(&text);
	return id;
}

/* --- the page ------------------------------------------------------------------------------ */

static void put_node(struct writing *w, uint32_t name, uint64_t weight, uint32_t depth,
		     uint64_t level, uint64_t other)
{
	wm_text_f(w->out, "%s[%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",\"%s\"", w->comma ? "," : "",
		  name, weight, depth, level == 'k' ? "k" : "");
	if (w->differs)
		wm_text_f(w->out, ",%" PRIu64, other);
	wm_text_char(w->out, ']');
	w->comma = true;
}

/* Returns the row with the same name in the other table; NULL: none. */
static const struct wm_result_row *other_row(struct writing *w, const struct wm_result_table *t,
					     const struct wm_result_row *list, uint32_t name)
{
	for (; list; list = list->next)
		if (row_name(w, t, list) == name)
			return list;
	return NULL;
}

static bool flame_put_rows(struct writing *w, const struct wm_flame *f,
			   const struct wm_result_row *row, const struct wm_result_row *others,
			   uint32_t depth)
{
	bool ok = true;

	for (; row && ok; row = row->next) {
		uint32_t name = row_name(w, f->table, row);
		const struct wm_result_row *other =
		    f->before ? other_row(w, f->before, others, name) : NULL;

		put_node(w, name, row->weight, depth, row->own, other ? other->weight : 0);
		ok = name != WM_NAMES_NONE &&
		     flame_put_rows(w, f, row->first, other ? other->first : NULL, depth + 1);
	}
	return ok;
}

static uint64_t total_of(const struct wm_result_table *t)
{
	uint64_t sum = 0;

	for (const struct wm_result_row *row = t ? t->first : NULL; row; row = row->next)
		sum += row->weight;
	return sum;
}

static void flame_put_string(struct wm_text *t, const char *text)
{
	wm_view_json_string(t, text, strlen(text));
}

static void flame_put_notes(struct writing *w, const struct wm_result_note *n)
{
	static const char *const kinds[] = {"fact", "loss", "problem"};
	bool comma = false;

	wm_text_str(w->out, ",\"notes\":[");
	for (; n; n = n->next) {
		if (n->kind == WM_NOTE_FACT)
			continue;
		wm_text_f(w->out, "%s[\"%s\",", comma ? "," : "", kinds[n->kind]);
		flame_put_string(w->out, n->text);
		wm_text_char(w->out, ']');
		comma = true;
	}
	wm_text_char(w->out, ']');
}

static bool put_data(struct writing *w, const struct wm_flame *f)
{
	bool ok;

	wm_text_str(w->out, "{\"title\":");
	flame_put_string(w->out, f->title);
	wm_text_str(w->out, ",\"unit\":");
	flame_put_string(w->out, f->unit);
	wm_text_f(w->out, ",\"icicle\":%s,\"differs\":%s", f->icicle ? "true" : "false",
		  f->before ? "true" : "false");
	flame_put_notes(w, f->notes);
	wm_text_str(w->out, ",\"nodes\":[");
	put_node(w, wm_names_id(&w->names, "all", 3), total_of(f->table), 0, 0,
		 total_of(f->before));
	ok = flame_put_rows(w, f, f->table->first, f->before ? f->before->first : NULL, 1);
	wm_text_str(w->out, "],\"names\":[");
	for (uint32_t i = 0; i < w->names.nr; i++) {
		if (i)
			wm_text_char(w->out, ',');
		wm_view_json_string(w->out, w->names.texts[i], w->names.bytes[i]);
	}
	wm_text_str(w->out, "]}");
	return ok;
}

/* Writes JSON with '<' escaped, because names can contain "</script>". */
static void put_without_tags(struct wm_text *t, const char *json, size_t bytes)
{
	while (bytes) {
		const char *tag = memchr(json, '<', bytes);
		size_t n = tag ? (size_t)(tag - json) : bytes;

		wm_text_add(t, json, n);
		if (tag) {
			wm_text_str(t, "\\u003c");
			n++;
		}
		json += n;
		bytes -= n;
	}
}

int wm_flame_page(struct wm_text *t, const struct wm_flame *f)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(wm_page_flame, mark);
	struct wm_text json;
	struct writing w = {.out = &json, .differs = f->before};
	bool ok;

	if (wm_names_init(&w.names))
		return -ENOMEM;
	wm_text_init(&json);
	ok = put_data(&w, f) && !json.failed;
	if (ok) {
		wm_text_add(t, wm_page_flame, (size_t)(at - wm_page_flame));
		put_without_tags(t, json.data, json.bytes);
		wm_text_str(t, at + sizeof(mark) - 1);
	}
	wm_text_done(&json);
	wm_names_done(&w.names);
	return ok && !t->failed ? 0 : -ENOMEM;
}

/* --- folded lines --------------------------------------------------------------------------- */

/* ';' separates frames and a newline separates lines: they are replaced in names. */
static void put_folded_name(struct wm_text *t, const char *name)
{
	for (; *name; name++)
		wm_text_char(t, *name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name);
}

static uint64_t flame_below(const struct wm_result_row *row)
{
	uint64_t sum = 0;

	for (row = row->first; row; row = row->next)
		sum += row->weight;
	return sum;
}

static void flame_fold(struct writing *w, const struct wm_result_row *row, struct wm_text *path)
{
	size_t bytes = path->bytes;

	for (; row; row = row->next) {
		uint64_t inside = flame_below(row);

		if (bytes)
			wm_text_char(path, ';');
		put_folded_name(path, wm_names_text(&w->names, row_name(w, w->table, row)));
		if (row->weight > inside) {
			wm_text_add(w->out, path->data, path->bytes);
			wm_text_f(w->out, " %" PRIu64 "\n", row->weight - inside);
		}
		flame_fold(w, row->first, path);
		wm_text_cut(path, bytes);
	}
}

int wm_flame_folded(struct wm_text *t, const struct wm_result_table *table)
{
	struct writing w = {.out = t, .table = table};
	struct wm_text path;

	if (wm_names_init(&w.names))
		return -ENOMEM;
	wm_text_init(&path);
	flame_fold(&w, table->first, &path);
	t->failed |= path.failed;
	wm_text_done(&path);
	wm_names_done(&w.names);
	return t->failed ? -ENOMEM : 0;
}
