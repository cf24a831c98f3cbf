/* SPDX-License-Identifier: MIT */
/*
 * elf_lines.c - see elf_lines.h. gcc writes an index of addresses
 * (.debug_aranges), clang does not: then the compile units are asked in turn,
 * the one that answered last first.
 */
#include "elf/elf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wm_elf_lines {
	int fd;
	Dwarf *dwarf;
	Dwarf_Die last; /* compile unit that answered last */
	bool has_last;
};

static bool has_units(Dwarf *dwarf)
{
	Dwarf_Off next;
	size_t bytes;

	return dwarf_nextcu(dwarf, 0, &next, &bytes, NULL, NULL, NULL) == 0;
}

static int try_file(struct wm_elf_lines *l, int fd)
{
	if (fd < 0)
		return -ENODATA;
	l->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (l->dwarf && has_units(l->dwarf)) {
		l->fd = fd;
		return 0;
	}
	if (l->dwarf)
		(void)dwarf_end(l->dwarf);
	l->dwarf = NULL;
	(void)close(fd);
	return -ENODATA;
}

static int open_separate(const struct wm_elf *e)
{
	char path[64 + 2 * WM_ELF_BUILD_ID_MAX];
	int n;

	if (e->build_id_bytes < 2)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", e->build_id[0]);
	for (uint32_t i = 1; i < e->build_id_bytes; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", e->build_id[i]);
	(void)snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int wm_elf_lines_open(const struct wm_elf *e, struct wm_elf_lines **ret_lines)
{
	struct wm_elf_lines *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->fd = -1;
	err = try_file(l, fcntl(e->fd, F_DUPFD_CLOEXEC, 0));
	if (err < 0)
		err = try_file(l, open_separate(e));
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
	if (l->dwarf)
		(void)dwarf_end(l->dwarf);
	if (l->fd >= 0)
		(void)close(l->fd);
	free(l);
}

/* The compile unit an address is in, kept in l->last. */
static bool find_unit(struct wm_elf_lines *l, uint64_t address)
{
	Dwarf_Off offset = 0, next;
	size_t header_bytes;

	if (l->has_last && dwarf_haspc(&l->last, address) == 1)
		return true;
	l->has_last = dwarf_addrdie(l->dwarf, address, &l->last) != NULL;
	for (; !l->has_last &&
	       dwarf_nextcu(l->dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0;
	     offset = next)
		l->has_last = dwarf_offdie(l->dwarf, offset + header_bytes, &l->last) &&
			      dwarf_haspc(&l->last, address) == 1;
	return l->has_last;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *ret_value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, ret_value) == 0;
}

/*
 * What contains an address, innermost first, as the code lies: beyond an
 * inlined function dwarf_getscopes() goes on where that function was written.
 */
static int scopes_around(struct wm_elf_lines *l, uint64_t address, Dwarf_Die **ret_scopes)
{
	Dwarf_Die *written = NULL;
	int nr = dwarf_getscopes(&l->last, address, &written);

	if (nr > 0)
		nr = dwarf_getscopes_die(&written[0], ret_scopes);
	free(written);
	return nr;
}

/* Where the outermost of the functions to skip around an address is called. */
static bool find_call(struct wm_elf_lines *l, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line)
{
	Dwarf_Word file = 0, line = 0;
	Dwarf_Die *scopes = NULL;
	Dwarf_Files *files;
	size_t nr_files;
	int nr = scopes_around(l, address, &scopes);
	bool found = false;

	for (int i = 0; i < nr; i++) {
		const char *name = dwarf_diename(&scopes[i]);
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_lexical_block)
			continue;
		if (tag != DW_TAG_inlined_subroutine || !name || strncmp(name, skip, strlen(skip)))
			break;
		found = number_of(&scopes[i], DW_AT_call_line, &line) &&
			number_of(&scopes[i], DW_AT_call_file, &file);
	}
	free(scopes);
	if (!found || dwarf_getsrcfiles(&l->last, &files, &nr_files) != 0 || file >= nr_files)
		return false;
	*ret_file = dwarf_filesrc(files, file, NULL, NULL);
	*ret_line = (uint32_t)line;
	return *ret_file != NULL;
}

int wm_elf_lines_find(struct wm_elf_lines *l, uint64_t address, const char *skip,
		      const char **ret_file, uint32_t *ret_line)
{
	Dwarf_Line *row;
	const char *file;
	int line;

	if (!find_unit(l, address))
		return -ENOENT;
	if (skip && find_call(l, address, skip, ret_file, ret_line))
		return 0;
	row = dwarf_getsrc_die(&l->last, address);
	file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(row, &line) != 0 || line <= 0)
		return -ENOENT;
	*ret_file = file;
	*ret_line = (uint32_t)line;
	return 0;
}
