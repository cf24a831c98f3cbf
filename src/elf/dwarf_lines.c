/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines.c - the lines of a function or source file that contain code. A function's lines are
 * those of its own code and of its inlined copies, in the file that declares it. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "elf/elf_vars_int.h"

/* Maximum lines per listing, each counted every time it occurs. */
#define LINES_MAX (1u << 22)
#define DEPTH_MAX 256u

struct lister {
	struct wm_elf_vars *vars;
	const char *name;
	int (*fn)(const struct wm_elf_source *source, void *data);
	void *data;
	uint32_t *lines;
	size_t nr, room;
	int nr_given;
	int err;
	struct wm_nearest near;
	/* The function whose lines are collected, its unit, and the source file. */
	Dwarf_Die *function, *unit;
	const char *file;
};

static int lines_add(struct lister *l, uint32_t line)
{
	if (l->nr && l->lines[l->nr - 1] == line)
		return 0;
	if (l->nr >= LINES_MAX)
		return -E2BIG;
	if (WM_ARRAY_GROW(l->lines, l->room, l->nr + 1))
		return -ENOMEM;
	l->lines[l->nr++] = line;
	return 0;
}

static int lines_ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Passes the collected lines to the caller and starts over. */
static int lines_give(struct lister *l, const char *file, uint32_t first)
{
	struct wm_elf_source source = {.file = file, .first = first, .lines = l->lines};
	int err;

	if (!l->nr)
		return 0;
	qsort(l->lines, l->nr, sizeof(*l->lines), lines_ascending);
	for (size_t i = 0; i < l->nr; i++)
		if (!i || l->lines[i] != l->lines[i - 1])
			l->lines[source.nr_lines++] = l->lines[i];
	err = l->fn(&source, l->data);
	l->nr = 0;
	l->nr_given++;
	return err < 0 ? err : 0;
}

/* ---- functions --------------------------------------------------------------------------- */

/* The DIE that declares a function: for an inlined copy, the abstract one. */
static Dwarf_Off lines_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die, next;

	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		if (!dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) ||
		    !dwarf_formref_die(&attribute, &next))
			break;
		origin = next;
	}
	return dwarf_dieoffset(&origin);
}

/* Whether a scope is an inlined copy whose call is on that line. */
static bool is_called_on(Dwarf_Die *scope, uint32_t line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word call;

	return dwarf_tag(scope) == DW_TAG_inlined_subroutine &&
	       dwarf_attr(scope, DW_AT_call_line, &attribute) &&
	       dwarf_formudata(&attribute, &call) == 0 && call == line;
}

/*
 * Whether the innermost function at a row's address is the listed one or a copy of it. The line of
 * a call, whose code may be inside the copy, belongs to the caller.
 */
static bool is_listed(struct lister *l, uint64_t address, uint32_t line)
{
	Dwarf_Die *nested = NULL;
	int function, nr = wm_dwarf_nesting(l->unit, address, &nested, &function);
	bool found = false;

	for (int i = 0; i < nr && !found; i++) {
		int tag = dwarf_tag(&nested[i]);

		if ((tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) ||
		    is_called_on(&nested[i], line))
			continue;
		found = lines_origin(&nested[i]) == lines_origin(l->function);
		break;
	}
	free(nested);
	return found;
}

/* Collects the lines in the ranges of the function or of one of its copies. */
static int lines_of_code(struct lister *l, Dwarf_Die *code)
{
	Dwarf_Lines *rows;
	size_t nr;
	int err = 0;

	if (dwarf_getsrclines(l->unit, &rows, &nr) != 0)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		uint64_t address;
		const char *file;
		uint32_t line;

		if (wm_dwarf_statement(dwarf_onesrcline(rows, i), &file, &line, &address) &&
		    dwarf_haspc(code, address) == 1 && !strcmp(file, l->file) &&
		    is_listed(l, address, line))
			err = lines_add(l, line);
	}
	return err;
}

static int lines_on_copy(Dwarf_Die *copy, void *data)
{
	struct lister *l = data;

	l->err = lines_of_code(l, copy);
	return l->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/*
 * Finds the file that declares a function. dwarf_decl_file() does not support file 0, which clang
 * uses.
 */
static const char *lines_declared_in(Dwarf_Die *function, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word at;
	size_t nr;

	if (!dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) ||
	    dwarf_formudata(&attribute, &at) != 0 || dwarf_getsrcfiles(unit, &files, &nr) != 0 ||
	    at >= nr)
		return NULL;
	return dwarf_filesrc(files, at, NULL, NULL);
}

static int lines_on_function(Dwarf_Die *function, void *data)
{
	struct lister *l = data;
	const char *known = dwarf_diename(function);
	int first = 0;

	if (known)
		wm_nearest_offer(&l->near, known);
	/* Copies are found from the abstract function; the out-of-line code refers to it, too. */
	if (!wm_dwarf_is_named(function, l->name) || dwarf_decl_line(function, &first) != 0)
		return DWARF_CB_OK;
	l->function = function;
	l->file = lines_declared_in(function, l->unit);
	if (!l->file)
		return DWARF_CB_OK;
	l->err = lines_of_code(l, function);
	if (!l->err && dwarf_func_inline(function))
		(void)dwarf_func_inline_instances(function, lines_on_copy, l);
	if (!l->err)
		l->err = lines_give(l, l->file, (uint32_t)first);
	return l->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* ---- files --------------------------------------------------------------------------------- */

/*
 * Collects a file's lines in one unit; sets `path` to the first file that matches, and ignores
 * others.
 */
static int lines_of_file(struct lister *l, Dwarf_Die *unit, char **path)
{
	Dwarf_Lines *rows;
	size_t nr;
	int err = 0;

	if (dwarf_getsrclines(unit, &rows, &nr) != 0)
		return 0;
	for (size_t i = 0; i < nr && !err; i++) {
		uint64_t address;
		const char *file;
		uint32_t line;

		if (!wm_dwarf_statement(dwarf_onesrcline(rows, i), &file, &line, &address) ||
		    !wm_dwarf_ends_path(file, l->name))
			continue;
		if (!*path)
			*path = strdup(file);
		err = !*path ? -ENOMEM : strcmp(*path, file) ? 0 : lines_add(l, line);
	}
	return err;
}

/* ---- both ---------------------------------------------------------------------------------- */

typedef int lines_unit_fn(struct lister *l, Dwarf_Die *unit, void *data);

static int lines_each_unit(struct lister *l, lines_unit_fn *fn, void *data)
{
	Dwarf_Off offset = 0, next;
	size_t header_bytes;
	int err = 0;

	while (!err && dwarf_nextcu(l->vars->file.dwarf, offset, &next, &header_bytes, NULL, NULL,
				    NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(l->vars->file.dwarf, offset + header_bytes, &unit))
			err = fn(l, &unit, data);
		offset = next;
	}
	return err;
}

static int lines_functions_of_unit(struct lister *l, Dwarf_Die *unit, void *data)
{
	(void)data;
	l->unit = unit;
	(void)dwarf_getfuncs(unit, lines_on_function, l, 0);
	return l->err;
}

static int lines_file_of_unit(struct lister *l, Dwarf_Die *unit, void *data)
{
	const char *name = dwarf_diename(unit), *slash = name ? strrchr(name, '/') : NULL;

	if (name)
		wm_nearest_offer(&l->near, slash ? slash + 1 : name);
	return lines_of_file(l, unit, data);
}

int wm_elf_vars_lines(struct wm_elf_vars *v, const char *name,
		      int (*fn)(const struct wm_elf_source *source, void *data), void *data,
		      struct wm_diag *diag)
{
	struct lister l = {.vars = v, .name = name, .fn = fn, .data = data};
	char *path = NULL, hint[120];
	int err;

	wm_nearest_init(&l.near, name);
	err = lines_each_unit(&l, lines_functions_of_unit, NULL);
	if (!err && !l.nr_given)
		err = lines_each_unit(&l, lines_file_of_unit, &path);
	if (!err && path)
		err = lines_give(&l, path, 1);
	free(path);
	free(l.lines);
	if (err || l.nr_given)
		return err ? err : l.nr_given;
	wm_nearest_sentence(&l.near, "", hint, sizeof(hint));
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "'%.100s' has no function and no source file '%.80s' with code%s%s",
			   v->elf->name, name, *hint ? "; " : "", hint);
}
