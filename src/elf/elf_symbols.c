/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols.c - see elf_symbols.h.
 */
#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "elf/elf_wide_int.h"

#define DYNAMIC_MAX 65536u /* entries */

/* Where a symbol table and its strings are in the file. */
struct table {
	uint64_t offset, nr, strings_offset, strings_bytes;
};

static bool table_of_section(const struct wm_elf *e, uint32_t type, struct table *ret)
{
	for (uint32_t i = 1; i < e->nr_sections; i++) {
		const struct wm_elf_section *s = &e->sections[i], *strings;

		if (s->type != type || !s->link || s->link >= e->nr_sections)
			continue;
		strings = &e->sections[s->link];
		if (strings->type != SHT_STRTAB)
			continue;
		*ret = (struct table){s->offset, s->bytes / wm_elf_entry_bytes(e, WM_ELF_SYM),
				      strings->offset, strings->bytes};
		return true;
	}
	return false;
}

/* ---- without section headers: PT_DYNAMIC ------------------------------- */

struct dynamic {
	/* Values of dynamic entries: addresses and a size; 0: absent. */
	uint64_t symbols, strings, strings_bytes, hash, gnu_hash;
};

static bool read_dynamic(const struct wm_elf *e, struct dynamic *d)
{
	const struct wm_elf_segment *s = NULL;
	Elf64_Dyn *entries;
	uint64_t nr;

	for (uint32_t i = 0; i < e->nr_segments && !s; i++)
		s = e->segments[i].type == PT_DYNAMIC ? &e->segments[i] : NULL;
	nr = s ? s->file_bytes / wm_elf_entry_bytes(e, WM_ELF_DYN) : 0;
	if (!nr || nr > DYNAMIC_MAX ||
	    wm_elf_read_entries(e, WM_ELF_DYN, s->offset, nr, (void **)&entries, NULL) < 0)
		return false;
	*d = (struct dynamic){0};
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t value = entries[i].d_un.d_val;

		if (entries[i].d_tag == DT_NULL)
			break;
		if (entries[i].d_tag == DT_SYMTAB)
			d->symbols = value;
		else if (entries[i].d_tag == DT_STRTAB)
			d->strings = value;
		else if (entries[i].d_tag == DT_STRSZ)
			d->strings_bytes = value;
		else if (entries[i].d_tag == DT_HASH)
			d->hash = value;
		else if (entries[i].d_tag == DT_GNU_HASH)
			d->gnu_hash = value;
	}
	free(entries);
	return d->symbols && d->strings;
}

static int read_at(const struct wm_elf *e, uint64_t address, void *buf, size_t bytes)
{
	uint64_t offset;
	int err = wm_elf_offset(e, address, bytes, &offset);

	return err < 0 ? err : wm_elf_read(e, offset, buf, bytes, NULL);
}

/*
 * Counts the symbols using DT_GNU_HASH. It contains no count, but the chain of the highest bucket
 * ends at the last symbol. Layout: nr_buckets, first, nr_bloom, shift, bloom[one address each],
 * buckets[], chain words of the symbols from `first` on; an odd word ends a chain.
 */
static uint64_t count_by_gnu_hash(const struct wm_elf *e, uint64_t address)
{
	uint32_t head[4], word, last = 0;
	uint64_t buckets, chains;

	if (read_at(e, address, head, sizeof(head)) < 0 || head[0] > WM_ELF_SYMBOLS_MAX)
		return 0;
	buckets = address + sizeof(head) + (e->narrow ? 4ull : 8ull) * head[2];
	chains = buckets + 4ull * head[0];
	for (uint32_t i = 0; i < head[0]; i++) {
		if (read_at(e, buckets + 4ull * i, &word, sizeof(word)) < 0)
			return 0;
		last = word > last ? word : last;
	}
	if (last < head[1])
		return head[1];
	for (; last < WM_ELF_SYMBOLS_MAX; last++) {
		if (read_at(e, chains + 4ull * (last - head[1]), &word, sizeof(word)) < 0)
			return 0;
		if (word & 1)
			return (uint64_t)last + 1;
	}
	return 0;
}

static bool table_of_dynamic(const struct wm_elf *e, struct table *ret)
{
	struct dynamic d;
	uint32_t head[2]; /* DT_HASH begins with nr_buckets and nr_symbols */

	if (!read_dynamic(e, &d))
		return false;
	if (d.hash && read_at(e, d.hash, head, sizeof(head)) == 0)
		ret->nr = head[1];
	else if (d.gnu_hash)
		ret->nr = count_by_gnu_hash(e, d.gnu_hash);
	else
		return false;
	ret->strings_bytes = d.strings_bytes;
	return ret->nr <= WM_ELF_SYMBOLS_MAX &&
	       wm_elf_offset(e, d.symbols, ret->nr * wm_elf_entry_bytes(e, WM_ELF_SYM),
			     &ret->offset) == 0 &&
	       wm_elf_offset(e, d.strings, d.strings_bytes, &ret->strings_offset) == 0;
}

/* ---- reading ------------------------------------------------------------- */

static bool elf_symbols_is_wanted(const Elf64_Sym *sym, const struct table *t)
{
	uint8_t type = ELF64_ST_TYPE(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_name && sym->st_name < t->strings_bytes &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE ||
		type == STT_GNU_IFUNC);
}

/* Appends the wanted symbols of one table. */
static int elf_symbols_read_table(const struct wm_elf *e, const struct table *t,
				  struct wm_elf_symbols *s, char **ret_strings,
				  struct wm_diag *diag)
{
	struct wm_elf_symbol *grown;
	Elf64_Sym *entries;
	void *strings;
	int err;

	if (t->nr > WM_ELF_SYMBOLS_MAX)
		return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)t->offset,
				   "the symbol table has too many entries");
	err = wm_elf_read_entries(e, WM_ELF_SYM, t->offset, t->nr, (void **)&entries, diag);
	if (err < 0)
		return err;
	err = wm_elf_read_new(e, t->strings_offset, t->strings_bytes, WM_ELF_STRINGS_MAX, &strings,
			      diag);
	if (err < 0) {
		free(entries);
		return err;
	}
	*ret_strings = strings;
	grown = reallocarray(s->symbols, s->nr + t->nr + 1, sizeof(*grown));
	if (!grown) {
		free(entries);
		return -ENOMEM;
	}
	s->symbols = grown;
	for (uint64_t i = 0; i < t->nr; i++) {
		const Elf64_Sym *sym = &entries[i];

		if (!elf_symbols_is_wanted(sym, t))
			continue;
		s->symbols[s->nr++] = (struct wm_elf_symbol){
		    .name = *ret_strings + sym->st_name,
		    .address = sym->st_value,
		    .bytes = sym->st_size,
		    .type = ELF64_ST_TYPE(sym->st_info),
		    .binding = ELF64_ST_BIND(sym->st_info),
		};
	}
	free(entries);
	return 0;
}

/*
 * Ranks functions first. Names generated by the assembler, and aarch64's $x, mean nothing to users.
 */
static int rank(const struct wm_elf_symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC ? 4 : 0) + (s->bytes ? 2 : 0) +
	       (s->binding != STB_LOCAL ? 1 : 0);
}

static int elf_symbols_by_address(const void *a, const void *b)
{
	const struct wm_elf_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (rank(x) != rank(y))
		return rank(x) - rank(y); /* the best name for an address comes last */
	return strcmp(x->name, y->name);
}

int wm_elf_symbols_read(const struct wm_elf *e, struct wm_elf_symbols *ret_symbols,
			struct wm_diag *diag)
{
	struct wm_elf_symbols s = {0};
	struct table t;
	int err = 0;

	if (table_of_section(e, SHT_SYMTAB, &t))
		err = elf_symbols_read_table(e, &t, &s, &s.strings[0], diag);
	if (!err &&
	    (table_of_section(e, SHT_DYNSYM, &t) || (!e->nr_sections && table_of_dynamic(e, &t))))
		err = elf_symbols_read_table(e, &t, &s, &s.strings[1], diag);
	if (err < 0) {
		wm_elf_symbols_done(&s);
		return err;
	}
	if (s.nr)
		qsort(s.symbols, s.nr, sizeof(*s.symbols), elf_symbols_by_address);
	*ret_symbols = s;
	return 0;
}

void wm_elf_symbols_done(struct wm_elf_symbols *s)
{
	free(s->symbols);
	free(s->strings[0]);
	free(s->strings[1]);
	*s = (struct wm_elf_symbols){0};
}

const struct wm_elf_symbol *wm_elf_symbol_at(const struct wm_elf_symbols *s, uint64_t address)
{
	size_t low = WM_SEARCH(0, s->nr, i, s->symbols[i].address <= address);
	/* Skips labels inside a function, and variables. */
	for (size_t steps = 0; low > 0 && steps < 64; low--, steps++) {
		const struct wm_elf_symbol *sym = &s->symbols[low - 1];

		if (sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC)
			continue;
		if (sym->bytes && address - sym->address >= sym->bytes)
			continue;
		return sym;
	}
	return NULL;
}

const struct wm_elf_symbol *wm_elf_symbol_named(const struct wm_elf_symbols *s, const char *name)
{
	const struct wm_elf_symbol *found = NULL;

	for (size_t i = 0; i < s->nr; i++) {
		if (strcmp(s->symbols[i].name, name) != 0)
			continue;
		if (s->symbols[i].binding != STB_LOCAL)
			return &s->symbols[i];
		if (!found)
			found = &s->symbols[i];
	}
	return found;
}
