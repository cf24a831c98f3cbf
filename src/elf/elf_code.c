/* SPDX-License-Identifier: MIT */
/* elf_code.c - see elf_code.h; elf_plt.c adds the procedure linkage table. */
#include "elf/elf_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "elf/demangle.h"
#include "elf/elf_symbols.h"
#include "elf/elf_wide_int.h"

#define NEARBY 16u /* maximum symbols below an address to check for containing it */

void wm_code_init(struct wm_code *c, bool raw_names)
{
	*c = (struct wm_code){.raw = raw_names};
	wm_arena_init(&c->names, SIZE_MAX);
}

void wm_code_done(struct wm_code *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->symbols[i].shown);
	free(c->symbols);
	for (uint32_t i = 0; i < c->nr_tables; i++)
		free(c->tables[i]);
	wm_arena_done(&c->names);
	*c = (struct wm_code){0};
}

/* ---- adding ---------------------------------------------------------------- */

static int elf_code_reserve(struct wm_code *c, size_t more)
{
	if (c->nr + more > 2 * (size_t)WM_ELF_SYMBOLS_MAX)
		return -EFBIG;
	return WM_ARRAY_GROW(c->symbols, c->room, c->nr + more);
}

int wm_code_add(struct wm_code *c, const struct wm_code_symbol *symbol)
{
	int err = elf_code_reserve(c, 1);

	if (!err)
		c->symbols[c->nr++] = *symbol;
	return err;
}

static bool is_section_of(const struct wm_elf *e, unsigned index, const char *a, const char *b)
{
	const char *name;

	if (index >= e->nr_sections)
		return false;
	name = e->sections[index].name;
	return strstr(name, a) || strstr(name, b);
}

/* Whether this is an ARM mapping symbol such as $x or $d, which separates code from data. */
static bool is_mapping(const struct wm_elf *e, const char *name)
{
	return (e->machine == EM_AARCH64 || e->machine == EM_ARM) && name[0] == '$' &&
	       strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static bool elf_code_is_wanted(const struct wm_elf *e, const Elf64_Sym *sym, const char *name)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), seen = ELF64_ST_VISIBILITY(sym->st_other);

	if (!*name || sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || is_mapping(e, name))
		return false;
	if (type == STT_NOTYPE) /* a label in assembly code */
		return seen != STV_HIDDEN && seen != STV_INTERNAL &&
		       is_section_of(e, sym->st_shndx, "text", "data");
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

static int elf_code_add_entries(struct wm_code *c, const struct wm_elf *e, const Elf64_Sym *entries,
				uint64_t nr, const char *strings, uint64_t strings_bytes)
{
	int err = elf_code_reserve(c, nr);

	for (uint64_t i = 0; !err && i < nr; i++) {
		const Elf64_Sym *sym = &entries[i];
		uint64_t end;

		if (sym->st_name >= strings_bytes ||
		    !elf_code_is_wanted(e, sym, strings + sym->st_name))
			continue;
		if (__builtin_add_overflow(sym->st_value, sym->st_size, &end))
			end = sym->st_value;
		c->symbols[c->nr++] = (struct wm_code_symbol){
		    .name = strings + sym->st_name,
		    .start = sym->st_value,
		    .end = end,
		    .binding = ELF64_ST_BIND(sym->st_info),
		};
	}
	return err;
}

static int elf_code_add_table(struct wm_code *c, const struct wm_elf *e, uint32_t type,
			      struct wm_diag *diag)
{
	const struct wm_elf_section *s = NULL, *text;
	void *entries, *strings;
	uint64_t nr;
	int err;

	for (uint32_t i = 1; i < e->nr_sections && !s; i++)
		if (e->sections[i].type == type)
			s = &e->sections[i];
	if (!s || !s->link || s->link >= e->nr_sections ||
	    e->sections[s->link].type != SHT_STRTAB || c->nr_tables >= 4)
		return -ENOENT;
	text = &e->sections[s->link];
	nr = s->bytes / wm_elf_entry_bytes(e, WM_ELF_SYM);
	if (nr > WM_ELF_SYMBOLS_MAX)
		return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)s->offset,
				   "the symbol table has too many entries");
	err = wm_elf_read_entries(e, WM_ELF_SYM, s->offset, nr, &entries, diag);
	if (err < 0)
		return err;
	err = wm_elf_read_new(e, text->offset, text->bytes, WM_ELF_STRINGS_MAX, &strings, diag);
	if (err == 0) {
		c->tables[c->nr_tables++] = strings;
		err = elf_code_add_entries(c, e, entries, nr, strings, text->bytes);
	}
	free(entries);
	return err;
}

int wm_code_add_elf(struct wm_code *c, const struct wm_elf *e, struct wm_diag *diag)
{
	int err = elf_code_add_table(c, e, SHT_SYMTAB, diag);

	if (err && err != -ENOENT)
		return err;
	c->static_table |= err == 0;
	err = elf_code_add_table(c, e, SHT_DYNSYM, diag);
	return err == -ENOENT ? 0 : err;
}

/* ---- order --------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct wm_code_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* A symbol's start with its index: qsort() is not stable, and the order of equal starts matters. */
struct placed {
	uint64_t start;
	size_t index;
};

static int by_start_and_index(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Whether the symbols are already sorted, as the kernel's list is. */
static bool is_in_order(const struct wm_code *c)
{
	for (size_t i = 1; i < c->nr; i++)
		if (c->symbols[i].start < c->symbols[i - 1].start)
			return false;
	return true;
}

static void sort_stably(struct wm_code *c)
{
	struct placed *order = reallocarray(NULL, c->nr, sizeof(*order));
	struct wm_code_symbol *sorted = reallocarray(NULL, c->nr, sizeof(*sorted));

	/* Out of memory: symbols with equal starts end up in arbitrary order. */
	if (!order || !sorted) {
		qsort(c->symbols, c->nr, sizeof(*c->symbols), by_start);
		free(sorted);
	} else {
		for (size_t i = 0; i < c->nr; i++)
			order[i] = (struct placed){c->symbols[i].start, i};
		qsort(order, c->nr, sizeof(*order), by_start_and_index);
		for (size_t i = 0; i < c->nr; i++)
			sorted[i] = c->symbols[order[i].index];
		free(c->symbols);
		c->symbols = sorted;
		c->room = c->nr;
	}
	free(order);
}

static uint64_t page_behind(uint64_t address)
{
	uint64_t end = (address + 4095) & ~4095ull;

	return end + 4096 > address ? end + 4096 : UINT64_MAX;
}

void wm_code_sort(struct wm_code *c)
{
	if (!c->nr)
		return;
	if (!is_in_order(c))
		sort_stably(c);
	for (size_t i = 0; i < c->nr; i++) {
		struct wm_code_symbol *s = &c->symbols[i];

		if (s->end == s->start)
			s->end = i + 1 < c->nr ? c->symbols[i + 1].start : page_behind(s->start);
	}
}

/* ---- lookups ---------------------------------------------------------------------- */

const char *wm_code_name(const struct wm_code *c, const struct wm_code_symbol *symbol)
{
	struct wm_code_symbol *s = &c->symbols[symbol - c->symbols];

	if (!s->asked && !c->raw)
		s->shown = wm_demangle(s->name);
	s->asked = true;
	return s->shown ? s->shown : s->name;
}

static unsigned underscores(const char *name)
{
	return (unsigned)strspn(name, "_");
}

/* Whether `b` is a better name than `a`. */
static bool is_better(const struct wm_code *c, const struct wm_code_symbol *b,
		      const struct wm_code_symbol *a)
{
	const char *x, *y;

	if ((a->end > a->start) != (b->end > b->start))
		return b->end > b->start;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return b->binding == STB_GLOBAL;
	x = wm_code_name(c, a);
	y = wm_code_name(c, b);
	if (underscores(x) != underscores(y))
		return underscores(y) < underscores(x);
	if (strlen(x) != strlen(y))
		return strlen(y) > strlen(x);
	return !strncmp(x, "SyS", 3) || !strncmp(x, "compat_SyS", 10);
}

/* Chooses one of the symbols that start where symbols[last] does; `last` is the last of them. */
static const struct wm_code_symbol *elf_code_choose(struct wm_code *c, size_t last)
{
	size_t first = last, best;

	while (first > 0 && c->symbols[first - 1].start == c->symbols[last].start &&
	       !c->symbols[first].chosen)
		first--;
	if (c->symbols[first].chosen)
		return &c->symbols[first];
	best = first;
	for (size_t i = first + 1; i <= last; i++)
		if (is_better(c, &c->symbols[i], &c->symbols[best]))
			best = i;
	c->symbols[best].chosen = true;
	return &c->symbols[best];
}

const struct wm_code_symbol *wm_code_at(struct wm_code *c, uint64_t address)
{
	size_t low = WM_SEARCH(0, c->nr, i, c->symbols[i].start <= address);
	/* A symbol that starts inside another one ends before the address: try the outer one. */
	for (unsigned i = 0; low > 0 && i < NEARBY; i++) {
		const struct wm_code_symbol *s = elf_code_choose(c, low - 1);

		if (address < s->end || address == s->start)
			return s;
		while (low > 0 && c->symbols[low - 1].start == s->start)
			low--;
	}
	return NULL;
}
