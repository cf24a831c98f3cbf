/* SPDX-License-Identifier: MIT */
/*
 * elf_wide.c - see elf_wide_int.h. Both classes have the same members, in different widths and
 * orders; relocations also pack two members into one word, differently in each class.
 */
#include "elf/elf_wide_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void wm_elf_widen_header(const Elf32_Ehdr *from, Elf64_Ehdr *to)
{
	*to = (Elf64_Ehdr){
	    .e_type = from->e_type,
	    .e_machine = from->e_machine,
	    .e_version = from->e_version,
	    .e_entry = from->e_entry,
	    .e_phoff = from->e_phoff,
	    .e_shoff = from->e_shoff,
	    .e_flags = from->e_flags,
	    .e_ehsize = from->e_ehsize,
	    .e_phentsize = from->e_phentsize,
	    .e_phnum = from->e_phnum,
	    .e_shentsize = from->e_shentsize,
	    .e_shnum = from->e_shnum,
	    .e_shstrndx = from->e_shstrndx,
	};
	memcpy(to->e_ident, from->e_ident, sizeof(to->e_ident));
}

/* ---- single entries: copied first, because their addresses may be unaligned ------ */

static void widen_segment(const void *from, void *to)
{
	Elf32_Phdr n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Phdr *)to = (Elf64_Phdr){
	    .p_type = n.p_type,
	    .p_flags = n.p_flags,
	    .p_offset = n.p_offset,
	    .p_vaddr = n.p_vaddr,
	    .p_paddr = n.p_paddr,
	    .p_filesz = n.p_filesz,
	    .p_memsz = n.p_memsz,
	    .p_align = n.p_align,
	};
}

static void widen_section(const void *from, void *to)
{
	Elf32_Shdr n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Shdr *)to = (Elf64_Shdr){
	    .sh_name = n.sh_name,
	    .sh_type = n.sh_type,
	    .sh_flags = n.sh_flags,
	    .sh_addr = n.sh_addr,
	    .sh_offset = n.sh_offset,
	    .sh_size = n.sh_size,
	    .sh_link = n.sh_link,
	    .sh_info = n.sh_info,
	    .sh_addralign = n.sh_addralign,
	    .sh_entsize = n.sh_entsize,
	};
}

static void widen_symbol(const void *from, void *to)
{
	Elf32_Sym n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Sym *)to = (Elf64_Sym){
	    .st_name = n.st_name,
	    .st_info = n.st_info,
	    .st_other = n.st_other,
	    .st_shndx = n.st_shndx,
	    .st_value = n.st_value,
	    .st_size = n.st_size,
	};
}

static void widen_dynamic(const void *from, void *to)
{
	Elf32_Dyn n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Dyn *)to = (Elf64_Dyn){.d_tag = n.d_tag, .d_un.d_val = n.d_un.d_val};
}

static uint64_t wide_info(uint32_t info)
{
	return ELF64_R_INFO((uint64_t)ELF32_R_SYM(info), ELF32_R_TYPE(info));
}

static void widen_rel(const void *from, void *to)
{
	Elf32_Rel n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Rela *)to = (Elf64_Rela){.r_offset = n.r_offset, .r_info = wide_info(n.r_info)};
}

static void widen_rela(const void *from, void *to)
{
	Elf32_Rela n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Rela *)to = (Elf64_Rela){
	    .r_offset = n.r_offset, .r_info = wide_info(n.r_info), .r_addend = n.r_addend};
}

static void add_addend(const void *from, void *to)
{
	Elf64_Rel n;

	memcpy(&n, from, sizeof(n));
	*(Elf64_Rela *)to = (Elf64_Rela){.r_offset = n.r_offset, .r_info = n.r_info};
}

/* ---- tables ---------------------------------------------------------------------- */

typedef void widen_fn(const void *from, void *to);

/*
 * Size of an entry in a file of each class and in memory. `widen` is NULL when no conversion is
 * needed.
 */
struct form {
	size_t bytes[2], wide_bytes; /* bytes[0] is for 64-bit files, bytes[1] for 32-bit ones */
	widen_fn *widen[2];
};

static const struct form forms[] = {
    [WM_ELF_PHDR] = {{sizeof(Elf64_Phdr), sizeof(Elf32_Phdr)},
		     sizeof(Elf64_Phdr),
		     {NULL, widen_segment}},
    [WM_ELF_SHDR] = {{sizeof(Elf64_Shdr), sizeof(Elf32_Shdr)},
		     sizeof(Elf64_Shdr),
		     {NULL, widen_section}},
    [WM_ELF_SYM] = {{sizeof(Elf64_Sym), sizeof(Elf32_Sym)},
		    sizeof(Elf64_Sym),
		    {NULL, widen_symbol}},
    [WM_ELF_DYN] = {{sizeof(Elf64_Dyn), sizeof(Elf32_Dyn)},
		    sizeof(Elf64_Dyn),
		    {NULL, widen_dynamic}},
    [WM_ELF_REL] = {{sizeof(Elf64_Rel), sizeof(Elf32_Rel)},
		    sizeof(Elf64_Rela),
		    {add_addend, widen_rel}},
    [WM_ELF_RELA] = {{sizeof(Elf64_Rela), sizeof(Elf32_Rela)},
		     sizeof(Elf64_Rela),
		     {NULL, widen_rela}},
};

size_t wm_elf_entry_bytes(const struct wm_elf *e, enum wm_elf_entry kind)
{
	return forms[kind].bytes[e->narrow];
}

int wm_elf_read_entries(const struct wm_elf *e, enum wm_elf_entry kind, uint64_t offset,
			uint64_t nr, void **ret_entries, struct wm_diag *diag)
{
	const struct form *f = &forms[kind];
	widen_fn *widen = f->widen[e->narrow];
	size_t bytes = f->bytes[e->narrow];
	char *raw, *wide;
	uint64_t whole;
	int err;

	if (__builtin_mul_overflow(nr, bytes, &whole))
		return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)offset,
				   "the table has too many entries");
	err = wm_elf_read_new(e, offset, whole, SIZE_MAX, (void **)&raw, diag);
	if (err < 0 || !widen) {
		if (!err)
			*ret_entries = raw;
		return err;
	}
	wide = calloc(nr + 1, f->wide_bytes);
	for (uint64_t i = 0; wide && i < nr; i++)
		widen(raw + i * bytes, wide + i * f->wide_bytes);
	free(raw);
	if (!wide)
		return -ENOMEM;
	*ret_entries = wide;
	return 0;
}
