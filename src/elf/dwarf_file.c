/* SPDX-License-Identifier: MIT */
/*
 * dwarf_file.c - see dwarf_file_int.h. gcc writes an index of addresses
 * (.debug_aranges), clang does not: without it, the compile units are searched one by one,
 * beginning with the one found last.
 */
#include "elf/dwarf_file_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool has_units(Dwarf *dwarf)
{
	Dwarf_Off next;
	size_t bytes;

	return dwarf_nextcu(dwarf, 0, &next, &bytes, NULL, NULL, NULL) == 0;
}

static int dwarf_file_try(struct wm_dwarf_file *f, int fd)
{
	if (fd < 0)
		return -ENODATA;
	f->dwarf = dwarf_begin(fd, DWARF_C_READ);
	if (f->dwarf && has_units(f->dwarf)) {
		f->fd = fd;
		return 0;
	}
	if (f->dwarf)
		(void)dwarf_end(f->dwarf);
	f->dwarf = NULL;
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

int wm_dwarf_file_open(const struct wm_elf *e, struct wm_dwarf_file *ret)
{
	int err;

	*ret = (struct wm_dwarf_file){.fd = -1};
	err = dwarf_file_try(ret, fcntl(e->fd, F_DUPFD_CLOEXEC, 0));
	return err < 0 ? dwarf_file_try(ret, open_separate(e)) : 0;
}

void wm_dwarf_file_close(struct wm_dwarf_file *f)
{
	if (f->dwarf)
		(void)dwarf_end(f->dwarf);
	if (f->fd >= 0)
		(void)close(f->fd);
	*f = (struct wm_dwarf_file){.fd = -1};
}

bool wm_dwarf_file_unit(struct wm_dwarf_file *f, uint64_t address)
{
	Dwarf_Off offset = 0, next;
	size_t header_bytes;

	if (f->has_last && dwarf_haspc(&f->last, address) == 1)
		return true;
	f->has_last = dwarf_addrdie(f->dwarf, address, &f->last) != NULL;
	for (; !f->has_last &&
	       dwarf_nextcu(f->dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0;
	     offset = next)
		f->has_last = dwarf_offdie(f->dwarf, offset + header_bytes, &f->last) &&
			      dwarf_haspc(&f->last, address) == 1;
	return f->has_last;
}
