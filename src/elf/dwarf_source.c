/* SPDX-License-Identifier: MIT */
/*
 * dwarf_source.c - the addresses of a source line. A compiler may emit a line's code in several
 * places. For each function that contains some of it, the lowest address at which a statement
 * begins is used; each inlined copy counts as a function. See elf_vars.h.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "elf/elf_vars_int.h"

struct found {
	uint64_t address;
	Dwarf_Off function; /* offset of the function's DIE */
};

struct search {
	struct wm_elf_vars *vars;
	const char *file;
	uint32_t line, next; /* next: the closest later line that has code; 0: there is none */
	bool has_file;
	struct found *found;
	size_t nr;
	struct wm_nearest near;
};

static const char *dwarf_source_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool wm_dwarf_ends_path(const char *path, const char *file)
{
	size_t n = strlen(path), bytes = strlen(file);

	return n >= bytes && !strcmp(path + n - bytes, file) &&
	       (n == bytes || path[n - bytes - 1] == '/');
}

/* Finds the innermost function, inlined or not, that contains an address. */
static Dwarf_Off dwarf_source_function_of(Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Die *scopes = NULL;
	Dwarf_Off offset = 0;
	int function, nr = wm_dwarf_nesting(unit, address, &scopes, &function);

	for (int i = 0; i < nr && !offset; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
			offset = dwarf_dieoffset(&scopes[i]);
	}
	free(scopes);
	return offset;
}

static int dwarf_source_add(struct search *s, Dwarf_Die *unit, uint64_t address)
{
	Dwarf_Off function = dwarf_source_function_of(unit, address);
	struct found *grown;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->found[i].function != function)
			continue;
		if (address < s->found[i].address)
			s->found[i].address = address;
		return 0;
	}
	if (s->nr >= WM_ELF_LINE_MAX)
		return -E2BIG;
	grown = reallocarray(s->found, s->nr + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->found = grown;
	s->found[s->nr++] = (struct found){address, function};
	return 0;
}

bool wm_dwarf_statement(Dwarf_Line *row, const char **ret_file, uint32_t *ret_line,
			uint64_t *ret_address)
{
	const char *file = dwarf_linesrc(row, NULL, NULL);
	bool begins = false, end = false;
	Dwarf_Addr address;
	int line = 0;

	if (!file || dwarf_lineno(row, &line) != 0 || line <= 0 ||
	    dwarf_linebeginstatement(row, &begins) != 0 || !begins ||
	    dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineaddr(row, &address) != 0)
		return false;
	*ret_file = file;
	*ret_line = (uint32_t)line;
	*ret_address = address;
	return true;
}

static int dwarf_source_look_at(struct search *s, Dwarf_Die *unit, Dwarf_Line *row)
{
	uint64_t address;
	const char *file;
	uint32_t line;

	if (!wm_dwarf_statement(row, &file, &line, &address) || !wm_dwarf_ends_path(file, s->file))
		return 0;
	s->has_file = true;
	if (line == s->line)
		return dwarf_source_add(s, unit, address);
	if (line > s->line && (!s->next || line < s->next))
		s->next = line;
	return 0;
}

static int look_through(struct search *s, Dwarf_Die *unit)
{
	const char *name = dwarf_diename(unit);
	Dwarf_Lines *lines;
	size_t nr;
	int err = 0;

	if (name)
		wm_nearest_offer(&s->near, dwarf_source_base_of(name));
	if (dwarf_getsrclines(unit, &lines, &nr) != 0)
		return 0;
	for (size_t i = 0; i < nr && !err; i++)
		err = dwarf_source_look_at(s, unit, dwarf_onesrcline(lines, i));
	return err;
}

static int dwarf_source_by_address(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Turns the search into a list of addresses, or reports why there are none. */
static int dwarf_source_finish(struct search *s, uint64_t **ret_addresses, size_t *ret_nr,
			       struct wm_diag *diag)
{
	char hint[120];
	uint64_t *addresses;

	if (!s->has_file) {
		wm_nearest_sentence(&s->near, "", hint, sizeof(hint));
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "'%.100s' has no code from source file '%.80s'%s%s",
				   s->vars->elf->name, s->file, *hint ? "; " : "", hint);
	}
	if (!s->nr && s->next)
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "line %u of %.80s has no code; the next line with code is %u",
				   s->line, s->file, s->next);
	if (!s->nr)
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "line %u of %.80s has no code, nor has any later line", s->line,
				   s->file);
	addresses = calloc(s->nr, sizeof(*addresses));
	if (!addresses)
		return -ENOMEM;
	qsort(s->found, s->nr, sizeof(*s->found), dwarf_source_by_address);
	for (size_t i = 0; i < s->nr; i++)
		addresses[i] = s->found[i].address;
	*ret_addresses = addresses;
	*ret_nr = s->nr;
	return 0;
}

int wm_elf_vars_line(struct wm_elf_vars *v, const char *file, uint32_t line,
		     uint64_t **ret_addresses, size_t *ret_nr, struct wm_diag *diag)
{
	struct search s = {.vars = v, .file = file, .line = line};
	Dwarf_Off offset = 0, next;
	size_t header_bytes;
	int err = 0;

	wm_nearest_init(&s.near, dwarf_source_base_of(file));
	while (!err &&
	       dwarf_nextcu(v->file.dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(v->file.dwarf, offset + header_bytes, &unit))
			err = look_through(&s, &unit);
		offset = next;
	}
	if (!err)
		err = dwarf_source_finish(&s, ret_addresses, ret_nr, diag);
	free(s.found);
	return err;
}
