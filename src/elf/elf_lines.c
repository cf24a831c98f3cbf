/* SPDX-License-Identifier: MIT */
/*
 * elf_lines.c - see elf_lines.h. gcc writes an index of the units' addresses (.debug_aranges),
 * clang does not, and neither lists all units reliably, so the addresses are read from each unit
 * once.
 */
#include "elf/elf_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "elf/dwarf_file_int.h"
#include "elf/elf_scopes_int.h"

#define UNITS_MAX (1u << 22) /* maximum number of units, and of their ranges */
/* Unit ranges may overlap, so this many of those that begin below an address are checked. */
#define NEARBY 8u

struct unit {
	Dwarf_Die die;
	struct wm_scopes scopes;
	bool read; /* the scopes have been read */
};

struct unit_range {
	uint64_t low, high;
	uint32_t unit;
};

struct wm_elf_lines {
	struct wm_dwarf_file file;
	struct unit *units;
	struct unit_range *ranges; /* sorted by low */
	uint32_t nr_units, nr_ranges, room_units, room_ranges;
	uint32_t last; /* index of the range of the last successful lookup */
};

/* ---- opening ------------------------------------------------------------------- */

static int elf_lines_by_low(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int add_unit(struct wm_elf_lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	if (l->nr_units == UNITS_MAX || WM_ARRAY_GROW(l->units, l->room_units, l->nr_units + 1u))
		return -ENOMEM;
	l->units[l->nr_units] = (struct unit){.die = *die};
	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		if (l->nr_ranges == UNITS_MAX ||
		    WM_ARRAY_GROW(l->ranges, l->room_ranges, l->nr_ranges + 1u))
			return -ENOMEM;
		if (low < high)
			l->ranges[l->nr_ranges++] = (struct unit_range){low, high, l->nr_units};
	}
	l->nr_units++;
	return 0;
}

static int list_units(struct wm_elf_lines *l)
{
	Dwarf_Off offset = 0, next;
	size_t header_bytes;
	Dwarf_Die die;
	int err = 0;

	for (; !err &&
	       dwarf_nextcu(l->file.dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0;
	     offset = next)
		if (dwarf_offdie(l->file.dwarf, offset + header_bytes, &die))
			err = add_unit(l, &die);
	if (!err && l->nr_ranges)
		qsort(l->ranges, l->nr_ranges, sizeof(*l->ranges), elf_lines_by_low);
	return err;
}

int wm_elf_lines_open(const struct wm_elf *e, struct wm_elf_lines **ret_lines)
{
	struct wm_elf_lines *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	err = wm_dwarf_file_open(e, &l->file);
	if (!err)
		err = list_units(l);
	if (err < 0) {
		wm_elf_lines_close(l);
		return err;
	}
	*ret_lines = l;
	return 0;
}

void wm_elf_lines_close(struct wm_elf_lines *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->nr_units; i++)
		wm_scopes_done(&l->units[i].scopes);
	free(l->units);
	free(l->ranges);
	wm_dwarf_file_close(&l->file);
	free(l);
}

/* ---- lookups ---------------------------------------------------------------------- */

static bool holds(const struct unit_range *r, uint64_t address)
{
	return r->low <= address && address < r->high;
}

/* The compile unit that contains an address, or NULL. */
static struct unit *elf_lines_find_unit(struct wm_elf_lines *l, uint64_t address)
{
	uint32_t low;

	if (l->last < l->nr_ranges && holds(&l->ranges[l->last], address))
		return &l->units[l->ranges[l->last].unit];
	low = WM_SEARCH(0, l->nr_ranges, i, l->ranges[i].low <= address);
	for (uint32_t i = 0; low > 0 && i < NEARBY; low--, i++) {
		if (!holds(&l->ranges[low - 1], address))
			continue;
		l->last = low - 1;
		return &l->units[l->ranges[l->last].unit];
	}
	return NULL;
}

static uint32_t find_scope(struct unit *u, uint64_t address)
{
	if (!u->read && wm_scopes_read(&u->scopes, &u->die))
		wm_scopes_done(&u->scopes); /* out of memory: the unit has no scopes */
	u->read = true;
	return wm_scopes_find(&u->scopes, address);
}

static bool elf_lines_find_row(struct unit *u, uint64_t address, const char **ret_file,
			       uint32_t *ret_line)
{
	Dwarf_Line *row = dwarf_getsrc_die(&u->die, address);
	const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	int line;

	if (!file || dwarf_lineno(row, &line) != 0 || line <= 0)
		return false;
	*ret_file = file;
	*ret_line = (uint32_t)line;
	return true;
}

/* Finds the call of the outermost function to be skipped that is inlined at an address. */
static bool find_call(struct wm_elf_lines *l, struct unit *u, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line)
{
	bool found = false;

	for (uint32_t i = find_scope(u, address); i != WM_SCOPE_NONE;) {
		struct wm_scope *s = &u->scopes.scopes[i];
		const char *name = wm_scope_name(s, l->file.dwarf);

		if (s->parent == WM_SCOPE_NONE || !name || strncmp(name, skip, strlen(skip)) != 0)
			break;
		found = s->call_line && s->call_file;
		*ret_file = s->call_file;
		*ret_line = s->call_line;
		i = s->parent;
	}
	return found;
}

int wm_elf_lines_find(struct wm_elf_lines *l, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line)
{
	struct unit *u = elf_lines_find_unit(l, address);
	const char *file;
	uint32_t line;

	if (!u)
		return -ENOENT;
	if ((skip && find_call(l, u, address, skip, &file, &line)) ||
	    elf_lines_find_row(u, address, &file, &line)) {
		*ret_file = file;
		*ret_line = line;
		return 0;
	}
	return -ENOENT;
}

int wm_elf_lines_frames(struct wm_elf_lines *l, uint64_t address,
			struct wm_elf_frame frames[WM_ELF_FRAMES_MAX])
{
	struct unit *u = elf_lines_find_unit(l, address);
	struct wm_elf_frame at = {0};
	bool has_row;
	int nr = 0;

	if (!u)
		return -ENOENT;
	has_row = elf_lines_find_row(u, address, &at.file, &at.line);
	for (uint32_t i = find_scope(u, address);
	     i != WM_SCOPE_NONE && nr < (int)WM_ELF_FRAMES_MAX;) {
		struct wm_scope *s = &u->scopes.scopes[i];

		at.function = wm_scope_name(s, l->file.dwarf);
		frames[nr++] = at;
		at = (struct wm_elf_frame){.file = s->call_file, .line = s->call_line};
		i = s->parent;
	}
	if (!nr && has_row)
		frames[nr++] = at;
	return nr ? nr : -ENOENT;
}
