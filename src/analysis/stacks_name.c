/* SPDX-License-Identifier: MIT */
/* stacks_name.c - finds names of frames on first use; see stacks.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks_int.h"
#include "base/array.h"
#include "base/plural.h"

#define NOTED_MODULES 5u

/* ---- objects ------------------------------------------------------------------------ */

/*
 * Returns perf's name for the object: the last part of a path, "[kernel.kallsyms]" or "[unknown]".
 */
static const char *stacks_name_dso_of(const struct wm_frame *f)
{
	return f->place.module ? f->place.module->name : "[unknown]";
}

uint32_t wm_stacks_dso(struct wm_stacks *s, uint32_t frame)
{
	const char *name = stacks_name_dso_of(&s->frames[frame]);
	uint32_t id = wm_names_id(s->names, name, strlen(name));

	return id == WM_NAMES_NONE ? 0 : id;
}

/* ---- functions ----------------------------------------------------------------------- */

static bool same_function(const struct wm_function *a, const struct wm_function *b)
{
	return a->symbol == b->symbol && a->level == b->level && a->inlined == b->inlined &&
	       (a->symbol || (a->module == b->module && a->address == b->address));
}

static uint64_t function_hash(const struct wm_stacks *s, const struct wm_function *f)
{
	uint64_t what = f->symbol ? (uintptr_t)f->symbol : (uintptr_t)f->module;

	return wm_mix(wm_mix(s->seed ^ what, f->symbol ? 0 : f->address),
		      (uint64_t)f->level ^ (uintptr_t)f->inlined);
}

static uint32_t get_function(struct wm_stacks *s, const struct wm_function *f)
{
	uint64_t hash = function_hash(s, f);
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->function_table, &w))
		if (same_function(&s->functions[w.index], f))
			return w.index;
	if (WM_ARRAY_GROW(s->functions, s->room_functions, (size_t)s->nr_functions + 1) ||
	    wm_table_add(&s->function_table, hash, s->nr_functions))
		return 0;
	s->functions[s->nr_functions] = *f;
	return s->nr_functions++;
}

/*
 * Inlined functions with the same name are treated as one: each name is stored once, so that
 * pointers can be compared.
 */
static const char *name_of_inlined(struct wm_stacks *s, const struct wm_elf_frame *f)
{
	const char *name = f->function ? f->function : "?";

	return wm_names_text(s->names, wm_names_id(s->names, name, strlen(name)));
}

uint32_t wm_stacks_symbol(struct wm_stacks *s, uint32_t frame)
{
	struct wm_frame *f = &s->frames[frame];
	struct wm_function function = {.module = f->place.module, .level = f->level};
	enum wm_unnamed why;

	if (f->symbol != UINT32_MAX)
		return f->symbol;
	if (f->place.module)
		function.symbol = wm_symbols_find(s->symbols, &f->place, &why);
	if (!function.symbol)
		function.address = f->place.address;
	if (f->inlined)
		function.inlined = name_of_inlined(s, f->inlined);
	f->symbol = get_function(s, &function);
	return f->symbol;
}

const char *wm_stacks_name(struct wm_stacks *s, uint32_t frame)
{
	/* wm_stacks_symbol() may move the functions */
	uint32_t symbol = wm_stacks_symbol(s, frame);
	const struct wm_function *f = &s->functions[symbol];

	return f->inlined ? f->inlined : f->symbol ? f->symbol->name : "";
}

char wm_stacks_level(const struct wm_stacks *s, uint32_t symbol)
{
	return symbol < s->nr_functions ? s->functions[symbol].level : '.';
}

const char *wm_stacks_symbol_text(struct wm_stacks *s, uint32_t symbol, bool level,
				  struct wm_result *r)
{
	const struct wm_function *f;

	if (symbol >= s->nr_functions)
		return "";
	f = &s->functions[symbol];
	if (f->inlined)
		return level ? wm_result_format(r, "[%c] %s (inlined)", f->level, f->inlined)
			     : wm_result_format(r, "%s (inlined)", f->inlined);
	if (!f->symbol)
		return level ? wm_result_format(r, "[%c] 0x%016" PRIx64, f->level, f->address)
			     : wm_result_format(r, "0x%" PRIx64, f->address);
	return level ? wm_result_format(r, "[%c] %s", f->level, f->symbol->name)
		     : wm_result_text(r, f->symbol->name, strlen(f->symbol->name));
}

/* ---- lines ------------------------------------------------------------------------------ */

/*
 * Writes the source line; if unknown, the function and the offset in it, or else the object and the
 * address in it, as perf does.
 */
static int stacks_name_put_line(struct wm_stacks *s, uint32_t frame,
				const struct wm_elf_frame *line, char *text, size_t bytes)
{
	const struct wm_frame *f = &s->frames[frame];
	const struct wm_symbol *symbol;
	const char *slash;
	uint64_t address = f->place.address;
	uint32_t function;

	if (line && line->file && line->line) {
		slash = strrchr(line->file, '/');
		return snprintf(text, bytes, "%s:%" PRIu32, slash ? slash + 1 : line->file,
				line->line);
	}
	function = wm_stacks_symbol(s, frame); /* may move the functions */
	symbol = s->functions[function].symbol;
	if (symbol && f->place.is_offset)
		(void)wm_symbols_address(s->symbols, &f->place, &address);
	if (symbol)
		return snprintf(text, bytes, "%s+%" PRIu64, symbol->name, address - symbol->start);
	return snprintf(text, bytes, "%s[%" PRIx64 "]", stacks_name_dso_of(f), address);
}

uint32_t wm_stacks_line(struct wm_stacks *s, uint32_t frame)
{
	const struct wm_frame *f = &s->frames[frame];
	const struct wm_elf_frame *line = f->inlined;
	const struct wm_line_frames *found =
	    !line && f->place.module ? wm_lines_find(s->lines, &f->place) : NULL;
	char text[512];
	uint32_t id;
	int bytes;

	if (found && found->nr)
		line = &found->frames[s->inlines ? found->nr - 1 : 0];
	bytes = stacks_name_put_line(s, frame, line, text, sizeof(text));
	id = wm_names_id(s->names, text,
			 (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
	return id == WM_NAMES_NONE ? 0 : id;
}

/* ---- unnamed addresses ------------------------------------------------------------------ */

/* Counts addresses without a name, by module. */
static uint32_t *count_unnamed(const struct wm_stacks *s, uint32_t nr_modules,
			       uint32_t *ret_nowhere)
{
	uint32_t *counts = calloc(nr_modules + 1, sizeof(*counts));

	for (uint32_t i = 0; counts && i < s->nr_functions; i++) {
		const struct wm_function *f = &s->functions[i];

		if (f->symbol)
			continue;
		if (f->module)
			counts[f->module->index]++;
		else
			++*ret_nowhere;
	}
	return counts;
}

/* Sorts modules by their number of addresses without a name. */
static int stacks_name_by_count(const void *a, const void *b, void *counts)
{
	uint32_t x = ((const uint32_t *)counts)[*(const uint32_t *)a];
	uint32_t y = ((const uint32_t *)counts)[*(const uint32_t *)b];

	return x < y ? 1 : x > y ? -1 : 0;
}

static void note_module(struct wm_stacks *s, struct wm_result *r, struct wm_module *m,
			uint32_t count)
{
	const char *sentence = "";

	if (wm_symbols_state(s->symbols, m, &sentence) == WM_NAMED)
		sentence = count == 1 ? "no symbol covers it" : "no symbol covers them";
	wm_result_note(r, WM_NOTE_PROBLEM, "unnamed", "%u %s in %s: %s", count,
		       wm_plural(count, "address", "addresses"), m->path, sentence);
}

/* Adds one note for each module with many such addresses, and one for all others. */
static void note_modules(struct wm_stacks *s, struct wm_result *r, uint32_t *counts, uint32_t nr)
{
	struct wm_modules *modules = wm_spaces_modules(s->spaces);
	uint32_t *order = malloc((nr + 1) * sizeof(*order)), nr_others = 0;
	uint64_t others = 0;

	for (uint32_t i = 0; order && i < nr; i++)
		order[i] = i;
	if (order)
		qsort_r(order, nr, sizeof(*order), stacks_name_by_count, counts);
	for (uint32_t i = 0; order && i < nr && counts[order[i]]; i++) {
		if (i < NOTED_MODULES) {
			note_module(s, r, wm_modules_at(modules, order[i]), counts[order[i]]);
			continue;
		}
		others += counts[order[i]];
		nr_others++;
	}
	if (nr_others)
		wm_result_note(r, WM_NOTE_PROBLEM, "unnamed", "%" PRIu64 " %s in %u other %s",
			       others, wm_plural(others, "address", "addresses"), nr_others,
			       wm_plural(nr_others, "object", "objects"));
	free(order);
}

void wm_stacks_notes(struct wm_stacks *s, struct wm_result *r)
{
	uint32_t nr = wm_modules_nr(wm_spaces_modules(s->spaces)), nowhere = 0;
	uint32_t *counts = count_unnamed(s, nr, &nowhere);

	if (!counts) {
		r->failed = true;
		return;
	}
	note_modules(s, r, counts, nr);
	if (s->corrupt_table.nr)
		wm_result_note(r, WM_NOTE_PROBLEM, "corrupt",
			       "%s%u call %s with invalid addresses: only the innermost "
			       "function is counted",
			       s->corrupt_table.nr == WM_STACKS_CORRUPT_MAX ? "at least " : "",
			       s->corrupt_table.nr,
			       wm_plural(s->corrupt_table.nr, "chain", "chains"));
	if (wm_spaces_nr_refused(s->spaces))
		wm_result_note(r, WM_NOTE_PROBLEM, "mappings",
			       "%" PRIu64 " %s ignored, because a process had too many",
			       wm_spaces_nr_refused(s->spaces),
			       wm_plural(wm_spaces_nr_refused(s->spaces), "mapping", "mappings"));
	if (nowhere)
		wm_result_note(r, WM_NOTE_PROBLEM, "unnamed",
			       "%u %s without a mapping in the trace", nowhere,
			       wm_plural(nowhere, "address", "addresses"));
	free(counts);
}
