/* SPDX-License-Identifier: MIT */
/*
 * result_json.c - a result as JSON; see result_view.h. Values are unscaled:
 * shares from 0 to 1, times in nanoseconds. The JSON writer supports at most 32
 * nested levels and call graphs can be deeper; therefore calls are a flat list
 * in preorder, each with its depth.
 */
#include "base/json.h"
#include "view/document.h"
#include "view/result_view.h"

#define PARTS_MAX 8u /* maximum nested levels of rows */

static const char *const note_kinds[] = {"fact", "loss", "problem"};

static void result_json_put_cell(struct wm_json *j, const struct wm_result_column *c,
				 const union wm_cell *cell)
{
	switch (c->kind) {
	case WM_CELL_TEXT:
		wm_json_string(j, c->name, cell->text);
		break;
	case WM_CELL_COUNT:
	case WM_CELL_BYTES:
	case WM_CELL_ADDRESS:
		wm_json_u64(j, c->name, cell->u);
		break;
	case WM_CELL_NS:
	case WM_CELL_TIME:
		wm_json_i64(j, c->name, cell->s);
		break;
	default:
		wm_json_f64(j, c->name, cell->f);
	}
}

static void result_json_put_calls(struct wm_json *j, const struct wm_result_row *row,
				  unsigned depth)
{
	for (; row; row = row->next) {
		if (row->kind != WM_ROW_CALL)
			continue;
		wm_json_object(j, NULL);
		wm_json_u64(j, "depth", depth);
		wm_json_string(j, "name", row->label);
		wm_json_u64(j, "weight", row->weight);
		wm_json_f64(j, "share", row->share);
		wm_json_end(j);
		result_json_put_calls(j, row->first, depth + 1);
	}
}

static void result_json_put_rows(struct wm_json *j, const struct wm_result_table *t,
				 const struct wm_result_row *row, unsigned depth)
{
	for (; row; row = row->next) {
		if (row->kind != WM_ROW_PLAIN)
			continue;
		wm_json_object(j, NULL);
		wm_json_u64(j, "weight", row->weight);
		for (uint32_t i = 0; i < t->nr_columns; i++)
			result_json_put_cell(j, &t->columns[i], &row->cells[i]);
		if (row->first && row->first->kind == WM_ROW_CALL) {
			wm_json_array(j, "calls");
			result_json_put_calls(j, row->first, 1);
			wm_json_end(j);
		} else if (row->first && depth < PARTS_MAX) {
			wm_json_array(j, "parts");
			result_json_put_rows(j, t, row->first, depth + 1);
			wm_json_end(j);
		}
		wm_json_end(j);
	}
}

static void result_json_put_table(struct wm_json *j, const struct wm_result_table *t)
{
	wm_json_object(j, NULL);
	wm_json_string(j, "name", t->name);
	wm_json_string(j, "title", t->title);
	if (t->subject)
		wm_json_string(j, "subject", t->subject);
	wm_json_array(j, "rows");
	result_json_put_rows(j, t, t->first, 0);
	wm_json_end(j);
	if (t->nr_left_out) {
		wm_json_u64(j, "rows_left_out", t->nr_left_out);
		wm_json_f64(j, "share_left_out", t->share_left_out);
	}
	wm_json_end(j);
}

static void put_result(FILE *out, const char *verb, const struct wm_result *r, unsigned lines)
{
	struct wm_json j;

	wm_view_document(&j, out, lines, verb);
	wm_json_string(&j, "analysis", r->name);
	wm_json_array(&j, "notes");
	for (const struct wm_result_note *n = r->notes; n; n = n->next) {
		wm_json_object(&j, NULL);
		wm_json_string(&j, "kind", note_kinds[n->kind]);
		wm_json_string(&j, "name", n->name);
		wm_json_string(&j, "text", n->text);
		wm_json_end(&j);
	}
	wm_json_end(&j);
	wm_json_array(&j, "tables");
	for (const struct wm_result_table *t = r->tables; t; t = t->next)
		result_json_put_table(&j, t);
	wm_json_end(&j);
	wm_json_end(&j);
}

void wm_view_result_json(FILE *out, const char *verb, const struct wm_result *r)
{
	put_result(out, verb, r, 3);
}

void wm_view_result_json_line(FILE *out, const char *verb, const struct wm_result *r)
{
	put_result(out, verb, r, 0);
}
