/* SPDX-License-Identifier: MIT */
/*
 * elf_scopes_int.h - the functions of one compile unit and the functions inlined
 * into them, by address; for elf_lines.c only.
 */
#ifndef WM_ELF_ELF_SCOPES_INT_H
#define WM_ELF_ELF_SCOPES_INT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define WM_SCOPE_NONE UINT32_MAX

/* A function, or an inlined call to one. */
struct wm_scope {
	Dwarf_Off die;
	/* The scope into which it is inlined; WM_SCOPE_NONE when it is not inlined. */
	uint32_t parent;
	uint32_t call_line; /* 0: not known */
	const char *call_file;
	char *name; /* valid once `named` is set */
	const char *linked;
	bool named;
};

/* An address range of a scope; a scope may have several. */
struct wm_scope_range {
	uint64_t low, high;
	uint32_t scope;
	uint32_t outer; /* the range that contains this one, or WM_SCOPE_NONE */
};

struct wm_scopes {
	struct wm_scope *scopes;
	struct wm_scope_range *ranges; /* sorted by low address, then the longer one first */
	uint32_t nr_scopes, nr_ranges, room_scopes, room_ranges;
};

int wm_scopes_read(struct wm_scopes *s, Dwarf_Die *unit); /* returns 0 or -ENOMEM */
void wm_scopes_done(struct wm_scopes *s);

/* The innermost scope that contains an address, or WM_SCOPE_NONE. */
uint32_t wm_scopes_find(const struct wm_scopes *s, uint64_t address);

/* The function's name, demangled; NULL when it has none. */
const char *wm_scope_name(struct wm_scope *s, Dwarf *dwarf);

#endif
