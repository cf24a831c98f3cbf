/* SPDX-License-Identifier: MIT */
/*
 * elf_plt.c - names the entries of the procedure linkage table: its relocations, in order, name
 * each entry's target. Newer x86-64 linkers put the jumps into .plt.sec, without a header; .plt
 * then contains only the path to the loader.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"
#include "elf/elf_code.h"
#include "elf/elf_symbols.h"
#include "elf/elf_wide_int.h"

/* The symbols that the relocations refer to. */
struct dynamic_names {
	Elf64_Sym *symbols;
	char *strings;
	uint64_t nr, bytes;
};

static int read_names(const struct wm_elf *e, uint32_t index, struct dynamic_names *n)
{
	const struct wm_elf_section *s, *text;

	if (!index || index >= e->nr_sections)
		return -ENOENT;
	s = &e->sections[index];
	if ((s->type != SHT_DYNSYM && s->type != SHT_SYMTAB) || !s->link ||
	    s->link >= e->nr_sections)
		return -ENOENT;
	text = &e->sections[s->link];
	n->nr = s->bytes / wm_elf_entry_bytes(e, WM_ELF_SYM);
	n->bytes = text->bytes;
	if (n->nr > WM_ELF_SYMBOLS_MAX ||
	    wm_elf_read_entries(e, WM_ELF_SYM, s->offset, n->nr, (void **)&n->symbols, NULL) < 0)
		return -ENOENT;
	return wm_elf_read_new(e, text->offset, text->bytes, WM_ELF_STRINGS_MAX,
			       (void **)&n->strings, NULL);
}

/*
 * The name of an entry. A function chosen at run time (an ifunc) has no name here: it is called
 * "@plt", as in perf.
 */
static const char *plt_name_of(struct wm_code *c, const struct dynamic_names *n,
			       const Elf64_Rela *r)
{
	uint64_t i = ELF64_R_SYM(r->r_info);
	const char *name = "";
	char *made, *shown = NULL;
	size_t bytes;

	if (i && i < n->nr && n->symbols[i].st_name < n->bytes)
		name = n->strings + n->symbols[i].st_name;
	if (!c->raw)
		shown = wm_demangle(name);
	if (shown)
		name = shown;
	bytes = strlen(name);
	made = wm_arena_get(&c->names, bytes + sizeof("@plt"));
	if (made) {
		memcpy(made, name, bytes);
		strcpy(made + bytes, "@plt");
	}
	free(shown);
	return made;
}

static int plt_add_entries(struct wm_code *c, const struct wm_elf *e,
			   const struct wm_elf_section *relocations, uint64_t start,
			   uint64_t entry_bytes, uint64_t end)
{
	struct dynamic_names n = {0};
	enum wm_elf_entry kind = relocations->type == SHT_REL ? WM_ELF_REL : WM_ELF_RELA;
	uint64_t nr = relocations->bytes / wm_elf_entry_bytes(e, kind);
	Elf64_Rela *all = NULL;
	int err = nr > WM_ELF_SYMBOLS_MAX ? -EFBIG : read_names(e, relocations->link, &n);

	if (!err)
		err = wm_elf_read_entries(e, kind, relocations->offset, nr, (void **)&all, NULL);
	for (uint64_t i = 0; !err && i < nr; i++) {
		struct wm_code_symbol s = {.start = start,
					   .end = start + entry_bytes,
					   .binding = STB_GLOBAL,
					   .asked = true};

		if (end - start < entry_bytes)
			break;
		s.name = plt_name_of(c, &n, &all[i]);
		err = s.name ? wm_code_add(c, &s) : -ENOMEM;
		start += entry_bytes;
	}
	free(all);
	free(n.symbols);
	free(n.strings);
	return err == -ENOMEM ? err : 0;
}

int wm_code_add_plt(struct wm_code *c, const struct wm_elf *e)
{
	const struct wm_elf_section *relocations = wm_elf_section(e, ".rela.plt");
	const struct wm_elf_section *plt = wm_elf_section(e, ".plt.sec");
	uint64_t head = 0, entry = 16, end;

	if (!relocations) /* i386 */
		relocations = wm_elf_section(e, ".rel.plt");
	if (!plt) {
		plt = wm_elf_section(e, ".plt");
		head = e->machine == EM_AARCH64 ? 32 : 16;
	}
	if (!relocations || !plt || __builtin_add_overflow(plt->address, plt->bytes, &end) ||
	    plt->bytes < head)
		return 0;
	return plt_add_entries(c, e, relocations, plt->address + head, entry, end);
}
