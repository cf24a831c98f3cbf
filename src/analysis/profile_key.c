/* SPDX-License-Identifier: MIT */
/* profile_key.c - the table of keys; see profile_key_int.h. */
#include "analysis/profile_key_int.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- keys of events: contexts --------------------------------------------------------------- */

static uint32_t name_id(const struct wm_key *k, const char *text, size_t bytes)
{
	uint32_t id = wm_names_id(&k->pass->state.names, text, bytes);

	return id == WM_NAMES_NONE ? 0 : id;
}

static bool key_comm_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	char text[16];

	words[0] = s->task ? s->task->comm : 0;
	if (words[0])
		return true;
	/* The event was not caused by a task: for example, it is a /proc counter reading. */
	if (!s->task && s->event->tid < 0 && s->event->mode == WM_MODE_UNKNOWN)
		words[0] = name_id(k, "-", 1);
	else /* a thread without a name is shown by number, as in perf */
		words[0] = name_id(
		    k, text,
		    (size_t)snprintf(text, sizeof(text), ":%d", s->task ? s->task->tid : -1));
	return true;
}

static bool key_pid_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	int32_t pid = s->task && s->event->pid < 0 ? s->task->pid : s->event->pid;

	words[0] = (uint64_t)(int64_t)pid;
	return true;
}

static bool key_tid_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = (uint64_t)(int64_t)(s->task ? s->task->tid : s->event->tid);
	return true;
}

static bool cpu_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = (uint64_t)(int64_t)s->event->cpu;
	return true;
}

static bool key_event_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = wm_pass_event_id(k->pass, s);
	return true;
}

static void key_join_name(const struct wm_join *j, uint64_t *words)
{
	words[0] = j->names[words[0]];
}

static union wm_cell name_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	const struct wm_names *n = &k->pass->state.names;
	uint32_t id = (uint32_t)words[0];

	return (union wm_cell){.text =
				   id < n->nr ? wm_result_text(r, n->texts[id], n->bytes[id]) : ""};
}

static union wm_cell id_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	int64_t v = (int64_t)words[0];

	return (union wm_cell){.text = v < 0 ? "?" : wm_result_format(r, "%lld", (long long)v)};
}

/* --- keys of events: their own fields ------------------------------------------------- */

/* The second word of a field's value, which gives the type of the first. */
enum shape { SHAPE_NAME, SHAPE_SIGNED, SHAPE_UNSIGNED, SHAPE_HEX, SHAPE_FLOAT };

static bool number_words(const struct wm_key *k, const struct wm_type *t, const struct wm_item *i,
			 uint64_t *words)
{
	const char *label = t->is_enum && !t->is_flags ? wm_type_label(t, i) : NULL;

	if (label) {
		words[0] = name_id(k, label, strlen(label));
		words[1] = SHAPE_NAME;
		return true;
	}
	words[0] = i->u;
	words[1] = t->look != WM_LOOK_DECIMAL  ? SHAPE_HEX
		   : t->kind == WM_TYPE_SIGNED ? SHAPE_SIGNED
					       : SHAPE_UNSIGNED;
	return true;
}

static bool key_field_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	const struct wm_field_ref *f = &k->fields[s->trace][s->event->type->index];
	const struct wm_item *i = f->type ? wm_field_ref_item(f, s->event) : NULL;

	if (!i)
		return false;
	switch (f->type->kind) {
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_SIGNED:
	case WM_TYPE_BOOL:
		return number_words(k, f->type, i, words);
	case WM_TYPE_FLOAT:
		words[0] = i->u;
		words[1] = SHAPE_FLOAT;
		return true;
	case WM_TYPE_STRING:
		words[0] = name_id(k, i->text, i->count);
		words[1] = SHAPE_NAME;
		return true;
	default:
		return false; /* lists and structures cannot be keys */
	}
}

static void join_field(const struct wm_join *j, uint64_t *words)
{
	if (words[1] == SHAPE_NAME)
		key_join_name(j, words);
}

static union wm_cell field_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	unsigned long long u = words[0];
	double f;

	switch ((enum shape)words[1]) {
	case SHAPE_NAME:
		return name_cell(k, words, r);
	case SHAPE_SIGNED:
		return (union wm_cell){.text = wm_result_format(r, "%lld", (long long)u)};
	case SHAPE_HEX:
		return (union wm_cell){.text = wm_result_format(r, "0x%llx", u)};
	case SHAPE_FLOAT:
		memcpy(&f, words, sizeof(f));
		return (union wm_cell){.text = wm_result_format(r, "%.17g", f)};
	default:
		return (union wm_cell){.text = wm_result_format(r, "%llu", u)};
	}
}

/* --- keys of branches ------------------------------------------------------------------------ */

static bool mispredict_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	const uint64_t *m = k->branch->members;

	words[0] = m[WM_BRANCH_PREDICTED] ? 'N' : m[WM_BRANCH_MISPREDICTED] ? 'Y' : 0;
	return true;
}

static bool in_tx_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = k->branch->members[WM_BRANCH_IN_TX] ? 'T' : '.';
	return true;
}

static bool abort_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = k->branch->members[WM_BRANCH_ABORT] ? 'A' : '.';
	return true;
}

static bool cycles_of(const struct wm_key *k, const struct wm_sight *s, uint64_t *words)
{
	words[0] = k->branch->members[WM_BRANCH_CYCLES];
	return true;
}

static union wm_cell letter_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	return (union wm_cell){.text = words[0] ? wm_result_format(r, "%c", (int)words[0]) : "N/A"};
}

static union wm_cell cycles_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	return (union wm_cell){
	    .text = words[0] ? wm_result_format(r, "%llu", (unsigned long long)words[0]) : "-"};
}

/* --- keys of frames ------------------------------------------------------------------- */

static uint64_t key_dso_of(struct wm_stacks *s, uint32_t frame)
{
	return wm_stacks_dso(s, frame);
}

static uint64_t sym_of(struct wm_stacks *s, uint32_t frame)
{
	return wm_stacks_symbol(s, frame);
}

static uint64_t srcline_of(struct wm_stacks *s, uint32_t frame)
{
	return wm_stacks_line(s, frame);
}

static union wm_cell sym_cell(const struct wm_key *k, const uint64_t *words, struct wm_result *r)
{
	return (union wm_cell){.text =
				   wm_stacks_symbol_text(k->stacks, (uint32_t)words[0], true, r)};
}

/* --- the table ------------------------------------------------------------------------ */

#define OF_EVENT(function)       WM_CELL_TEXT, 1, false, function, NULL, 0
#define OF_FRAME(function, none) WM_CELL_TEXT, 1, true, NULL, function, none

static const struct wm_key_def defs[] = {
    {"comm", "Command", OF_EVENT(key_comm_of), key_join_name, name_cell},
    {"pid", "Pid", OF_EVENT(key_pid_of), NULL, id_cell},
    {"tid", "Tid", OF_EVENT(key_tid_of), NULL, id_cell},
    {"cpu", "CPU", OF_EVENT(cpu_of), NULL, id_cell},
    {"event", "Event", OF_EVENT(key_event_of), key_join_name, name_cell},
    {"dso", "Object", OF_FRAME(key_dso_of, 0), NULL, name_cell},
    {"sym", "Symbol", OF_FRAME(sym_of, WM_SYMBOL_NONE), NULL, sym_cell},
    {"symbol", "Symbol", OF_FRAME(sym_of, WM_SYMBOL_NONE), NULL, sym_cell},
    {"srcline", "Source:line", OF_FRAME(srcline_of, 0), NULL, name_cell},
};

/* Bound only in a profile of branches: otherwise, fields may have these names. */
static const struct wm_key_def branch_defs[] = {
    {"dso_from", "Source object", OF_FRAME(key_dso_of, 0), NULL, name_cell, WM_KEY_SOURCE},
    {"dso_to", "Target object", OF_FRAME(key_dso_of, 0), NULL, name_cell, WM_KEY_TARGET},
    {"symbol_from", "Source symbol", OF_FRAME(sym_of, WM_SYMBOL_NONE), NULL, sym_cell,
     WM_KEY_SOURCE},
    {"symbol_to", "Target symbol", OF_FRAME(sym_of, WM_SYMBOL_NONE), NULL, sym_cell, WM_KEY_TARGET},
    {"srcline_from", "From source:line", OF_FRAME(srcline_of, 0), NULL, name_cell, WM_KEY_SOURCE},
    {"srcline_to", "To source:line", OF_FRAME(srcline_of, 0), NULL, name_cell, WM_KEY_TARGET},
    {"mispredict", "Mispredicted", OF_EVENT(mispredict_of), NULL, letter_cell, WM_KEY_BRANCH},
    {"in_tx", "In transaction", OF_EVENT(in_tx_of), NULL, letter_cell, WM_KEY_BRANCH},
    {"abort", "Abort", OF_EVENT(abort_of), NULL, letter_cell, WM_KEY_BRANCH},
    {"cycles", "Cycles", OF_EVENT(cycles_of), NULL, cycles_cell, WM_KEY_BRANCH},
};

static const struct wm_key_def field_def = {
    NULL, NULL, WM_CELL_TEXT, 2, false, key_field_of, NULL, 0, join_field, field_cell};

const char *const wm_key_names[] = {"comm", "pid", "tid",     "cpu", "event",
				    "dso",  "sym", "srcline", NULL};

static const struct wm_key_def *find_def(const struct wm_key_def *list, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static const struct wm_key_def *branch_def(const char *name)
{
	return find_def(branch_defs, sizeof(branch_defs) / sizeof(branch_defs[0]), name);
}

int wm_key_bind(struct wm_key *k, struct wm_pass *pass, struct wm_stacks *stacks,
		const struct wm_branch *branch, const char *name, struct wm_diag *diag)
{
	int err;

	*k = (struct wm_key){.pass = pass, .stacks = stacks, .branch = branch};
	k->def = find_def(defs, sizeof(defs) / sizeof(defs[0]), name);
	if (!k->def && branch)
		k->def = branch_def(name);
	if (k->def) {
		k->title = k->def->title;
		return 0;
	}
	k->def = &field_def;
	k->title = k->name = strdup(name);
	err = k->name ? wm_key_fields(pass, name, &k->fields, diag) : -ENOMEM;
	if (err == -ENOENT && branch_def(name))
		return wm_diag_set(diag, err, NULL, -1,
				   "'%s' is a key of branches: use 'report --branch-stack'", name);
	return err;
}

int wm_key_rebind(struct wm_key *k, struct wm_diag *diag)
{
	if (!k->fields)
		return 0;
	wm_key_fields_free(k->pass, k->fields);
	k->fields = NULL;
	return wm_key_fields(k->pass, k->name, &k->fields, diag);
}

void wm_key_done(struct wm_key *k)
{
	if (k->pass)
		wm_key_fields_free(k->pass, k->fields);
	free(k->name);
	*k = (struct wm_key){0};
}
