/* SPDX-License-Identifier: MIT */
/* lines.c - see lines.h. */
#include "symbol/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/table.h"

#define ANSWERS_BYTES_MAX                                                                          \
	((size_t)2 << 30) /* memory limit; beyond it, further addresses have no lines */

/* A module's debug information, and the addresses already looked up. */
struct file {
	struct wm_elf_lines *lines; /* may be NULL */
	struct wm_line_frames **answers;
	uint32_t room;
	struct wm_table table; /* answers, by address */
};

struct wm_lines {
	struct wm_symbols *symbols;
	struct wm_arena arena;
	struct file **files; /* indexed by module; modules of the same build share an entry */
	struct wm_module **modules;
	uint32_t room;
	uint32_t nr_open;
};

struct wm_lines *wm_lines_create(struct wm_symbols *symbols)
{
	struct wm_lines *l = calloc(1, sizeof(*l));

	if (l) {
		l->symbols = symbols;
		wm_arena_init(&l->arena, ANSWERS_BYTES_MAX);
	}
	return l;
}

/* Closes a module's file. Modules of the same build share it, so it is cleared for all of them. */
static void lines_close_file(struct wm_lines *l, uint32_t i)
{
	struct file *f = l->files[i];

	for (uint32_t k = i; k < l->room; k++)
		if (l->files[k] == f)
			l->files[k] = NULL;
	wm_elf_lines_close(f->lines);
	free(f->answers);
	wm_table_done(&f->table);
	free(f);
}

void wm_lines_destroy(struct wm_lines *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->room; i++)
		if (l->files[i])
			lines_close_file(l, i);
	free(l->files);
	free(l->modules);
	wm_arena_done(&l->arena);
	free(l);
}

/* ---- a module's debug information -------------------------------------------------- */

static int lines_make_room(struct wm_lines *l, uint32_t index)
{
	uint32_t files = l->room, modules = l->room;

	if (WM_ARRAY_GROW_ZEROED(l->files, files, (size_t)index + 1) ||
	    WM_ARRAY_GROW_ZEROED(l->modules, modules, files))
		return -ENOMEM;
	l->room = files;
	return 0;
}

static struct file *of_same_build(const struct wm_lines *l, const struct wm_module *m)
{
	for (uint32_t i = 0; m->build_id_bytes && i < l->room; i++) {
		const struct wm_module *n = l->modules[i];

		if (l->files[i] && n->kind == m->kind && n->build_id_bytes == m->build_id_bytes &&
		    !memcmp(n->build_id, m->build_id, m->build_id_bytes) && l->files[i]->lines)
			return l->files[i];
	}
	return NULL;
}

static void lines_open_file(struct wm_lines *l, struct file *f, const struct wm_module *m)
{
	struct wm_module_files files;
	int err = -ENODATA;

	if (m->kind != WM_MODULE_FILE || l->nr_open >= WM_LINES_OPEN_MAX ||
	    wm_module_open(m, wm_symbols_places(l->symbols), &files, NULL) != WM_NAMED)
		return;
	if (files.debug)
		err = wm_elf_lines_open(files.debug, &f->lines);
	if (err && files.image)
		err = wm_elf_lines_open(files.image, &f->lines);
	l->nr_open += !err;
	wm_module_close(&files);
}

static struct file *lines_file_of(struct wm_lines *l, struct wm_module *m)
{
	struct file *f;

	if (m->index < l->room && l->files[m->index])
		return l->files[m->index];
	if (lines_make_room(l, m->index))
		return NULL;
	f = of_same_build(l, m);
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return NULL;
		wm_table_init(&f->table);
		lines_open_file(l, f, m);
	}
	l->files[m->index] = f;
	l->modules[m->index] = m;
	return f;
}

/* ---- cached addresses ------------------------------------------------------------------- */

static const struct wm_line_frames *find_answer(const struct file *f, uint64_t address)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&f->table, address));

	while (wm_table_next(&f->table, &w))
		if (f->answers[w.index]->address == address)
			return f->answers[w.index];
	return NULL;
}

/* Returns the answer; NULL: out of memory. */
static const struct wm_line_frames *add_answer(struct file *f, struct wm_line_frames *answer)
{
	uint32_t nr = f->table.nr;

	if (!answer)
		return NULL;
	if (WM_ARRAY_GROW(f->answers, f->room, (size_t)nr + 1) ||
	    wm_table_add(&f->table, wm_table_hash(&f->table, answer->address), nr))
		return NULL;
	return f->answers[nr] = answer;
}

static struct wm_line_frames *lines_ask(struct wm_lines *l, struct file *f, uint64_t address)
{
	struct wm_elf_frame frames[WM_ELF_FRAMES_MAX];
	int nr = wm_elf_lines_frames(f->lines, address, frames);
	struct wm_line_frames *answer;

	if (nr < 0)
		nr = 0;
	answer = wm_arena_get(&l->arena, sizeof(*answer) + (size_t)nr * sizeof(frames[0]));
	if (!answer)
		return NULL;
	answer->address = address;
	answer->nr = (uint32_t)nr;
	memcpy(answer->frames, frames, (size_t)nr * sizeof(frames[0]));
	return answer;
}

const struct wm_line_frames *wm_lines_find(struct wm_lines *l, const struct wm_place *place)
{
	struct file *f = lines_file_of(l, place->module);
	const struct wm_line_frames *answer;
	uint64_t address;

	if (!f || !f->lines || !wm_symbols_address(l->symbols, place, &address))
		return NULL;
	answer = find_answer(f, address);
	if (!answer)
		answer = add_answer(f, lines_ask(l, f, address));
	return answer && answer->nr ? answer : NULL;
}
