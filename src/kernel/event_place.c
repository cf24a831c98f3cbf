/* SPDX-License-Identifier: MIT */
/*
 * event_place.c - probes at places of a program: functions by name and offset,
 * addresses, USDT notes. The file is read with the bounds of elf/; a place
 * must be code of a file of this machine's kind. See event_place.h.
 */
#include "kernel/event_place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/program.h"
#include "elf/elf_symbols.h"
#include "elf/usdt.h"
#include "kernel/event_name.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

#define LIBRARIES                                                                                  \
	"/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/" \
	"lib"

/* A program that was named, opened. */
struct program {
	char *path; /* without links */
	struct wm_elf *elf;
};

static void close_program(struct program *b)
{
	wm_elf_close(b->elf);
	free(b->path);
}

/* A program as the shell finds it, or a library as the loader mostly does. */
static char *find_file(const struct wm_event_space *s, const char *name)
{
	char *found = wm_program_find(name, s->search), *real;

	if (!found && strstr(name, ".so"))
		found = wm_program_find(name, LIBRARIES);
	real = found ? realpath(found, NULL) : NULL;
	free(found);
	return real;
}

static int open_program(const struct wm_event_place *p, const char *name, struct program *ret)
{
	char machine[24], ours[24];
	int err;

	*ret = (struct program){.path = find_file(p->space, name)};
	if (!ret->path)
		return wm_diag_set(p->diag, -ENOENT, NULL, -1,
				   "'%s:%.60s': there is no program or library '%.60s'; give its "
				   "path",
				   p->family, p->text, name);
	err = wm_elf_open(ret->path, &ret->elf, p->diag);
	if (err == 0 && ret->elf->machine != MACHINE)
		err =
		    wm_diag_set(p->diag, -EINVAL, NULL, -1,
				"'%.100s' is for %s: it cannot run here (%s), so nothing in it is "
				"met",
				ret->path, wm_elf_machine_name(ret->elf->machine, machine),
				wm_elf_machine_name(MACHINE, ours));
	if (err < 0) {
		close_program(ret);
		*ret = (struct program){0};
	}
	return err;
}

/* "BIN:REST" with `nr` parts behind BIN: copies BIN. NULL: too few parts; sets errno. */
static char *split_program(const char *text, unsigned nr, const char **ret_rest)
{
	const char *at = text + strlen(text);

	while (nr > 0 && at > text) {
		if (*--at == ':')
			nr--;
	}
	errno = EINVAL;
	if (nr > 0 || at == text || !at[1])
		return NULL;
	*ret_rest = at + 1;
	return strndup(text, (size_t)(at - text));
}

/* ---- uprobes ----------------------------------------------------------------------- */

/* Type and bits of the kernel's uprobe PMU, the place in `def` taken over. */
static int add_uprobe(const struct wm_event_place *p, struct wm_event_def *def)
{
	const struct wm_pmu *pmu = wm_pmu_named(&p->space->pmus, "uprobe");
	char terms[64];
	int err;

	if (!pmu)
		return wm_diag_set(p->diag, -EOPNOTSUPP, NULL, -1,
				   "'%s:%.60s' cannot be probed: this kernel was built without "
				   "uprobes (CONFIG_UPROBE_EVENTS)",
				   p->family, p->text);
	(void)snprintf(terms, sizeof(terms), "retprobe=%d", def->family == WM_FAMILY_URETPROBE);
	if (def->semaphore_offset)
		(void)snprintf(terms, sizeof(terms), "ref_ctr_offset=0x%" PRIx64,
			       def->semaphore_offset);
	err = wm_pmu_terms(&p->space->pmus, pmu, terms, def, p->diag);
	return err < 0 ? err : wm_event_defs_add(p->defs, def);
}

static bool is_function(const struct wm_elf_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
}

static bool is_code(const struct wm_elf *e, uint64_t address)
{
	for (uint32_t i = 0; i < e->nr_segments; i++) {
		const struct wm_elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && s->flags & PF_X && address >= s->address &&
		    address - s->address < s->file_bytes)
			return true;
	}
	return false;
}

static int add_place(const struct wm_event_place *p, const struct program *b, const char *symbol,
		     uint64_t address, uint64_t offset)
{
	bool ret = !strcmp(p->family, "uretprobe");
	struct wm_event_def def = {.family = ret ? WM_FAMILY_URETPROBE : WM_FAMILY_UPROBE,
				   .path = b->path,
				   .symbol = symbol};
	char name[PATH_MAX + 512];
	int err = 0;

	if (!is_code(b->elf, address + offset) ||
	    wm_elf_offset(b->elf, address + offset, 1, &def.offset) < 0)
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'%s:%.80s': there is no code at 0x%" PRIx64 " of '%.80s'",
				   p->family, p->text, address + offset, b->path);
	if (!symbol)
		(void)snprintf(name, sizeof(name), "%s:%s:0x%" PRIx64, p->family, b->path, address);
	else if (offset)
		(void)snprintf(name, sizeof(name), "%s:%s:%s+%" PRIu64, p->family, b->path, symbol,
			       offset);
	else
		(void)snprintf(name, sizeof(name), "%s:%s:%s",
			       strcmp(p->family, "func") ? p->family : "uprobe", b->path, symbol);
	def.name = name;
	err = add_uprobe(p, &def);
	return err;
}

static int no_function(const struct wm_event_place *p, const struct program *b,
		       const struct wm_elf_symbols *symbols, const char *name)
{
	struct wm_nearest near;
	char cure[120];

	wm_nearest_init(&near, name);
	for (size_t i = 0; i < symbols->nr; i++) {
		if (is_function(&symbols->symbols[i]))
			wm_nearest_offer(&near, symbols->symbols[i].name);
	}
	wm_nearest_sentence(&near, "", cure, sizeof(cure));
	return wm_diag_set(
	    p->diag, -ENOENT, NULL, -1, "'%.80s' has no function '%.50s'; %s", b->path, name,
	    *cure ? cure : "was it stripped or inlined? an address can be given: 0x1234");
}

/* All functions that match; those at one address are one. */
static int add_matching(const struct wm_event_place *p, const struct program *b,
			const struct wm_elf_symbols *symbols, const char *glob)
{
	uint64_t last = 0;
	int nr = 0, err;

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct wm_elf_symbol *s = &symbols->symbols[i];

		if (!is_function(s) || (nr && s->address == last) ||
		    !wm_glob_match(glob, strlen(glob), s->name, strlen(s->name)))
			continue;
		err = add_place(p, b, s->name, s->address, 0);
		if (err < 0)
			return err;
		last = s->address;
		nr++;
	}
	return nr ? nr : no_function(p, b, symbols, glob);
}

/* `place`: "function", "function+8", "glob*". */
static int add_functions(const struct wm_event_place *p, const struct program *b, const char *place)
{
	struct wm_elf_symbols symbols;
	const struct wm_elf_symbol *s;
	size_t bytes = 0;
	uint64_t offset = 0;
	char *name;
	int err = wm_elf_symbols_read(b->elf, &symbols, p->diag);

	if (err < 0)
		return err;
	if (wm_glob_is_pattern(place, strlen(place))) {
		err = add_matching(p, b, &symbols, place);
		wm_elf_symbols_done(&symbols);
		return err;
	}
	if (wm_event_place_offset(place, &bytes, &offset) < 0)
		err = wm_diag_set(p->diag, -EINVAL, NULL, -1, "'%s:%.80s': the offset is no number",
				  p->family, p->text);
	name = strndup(place, bytes);
	s = name && !err ? wm_elf_symbol_named(&symbols, name) : NULL;
	if (!name)
		err = -ENOMEM;
	else if (!err && (!s || !is_function(s)))
		err = no_function(p, b, &symbols, name);
	else if (!err && s->bytes && offset >= s->bytes)
		err = wm_diag_set(p->diag, -EINVAL, NULL, -1,
				  "'%.60s' has %" PRIu64 " bytes: +%" PRIu64 " is behind it", name,
				  s->bytes, offset);
	else if (!err)
		err = add_place(p, b, name, s->address, offset);
	free(name);
	wm_elf_symbols_done(&symbols);
	return err ? err : 1;
}

int wm_event_place_uprobe(const struct wm_event_place *p)
{
	const char *place;
	char *name = split_program(p->text, 1, &place);
	struct program b;
	int64_t address;
	int err;

	if (!name)
		return errno == ENOMEM
			   ? -ENOMEM
			   : wm_diag_set(
				 p->diag, -EINVAL, NULL, -1,
				 "'%s:%.80s' is not of the form %s:PROGRAM:FUNCTION[+OFFSET] "
				 "or %s:PROGRAM:0xADDRESS",
				 p->family, p->text, p->family, p->family);
	err = open_program(p, name, &b);
	free(name);
	if (err < 0)
		return err;
	if (wm_number_parse_integer(place, 1, INT64_MAX, &address) == 0) {
		err = add_place(p, &b, NULL, (uint64_t)address, 0);
		err = err < 0 ? err : 1;
	} else {
		err = add_functions(p, &b, place);
	}
	close_program(&b);
	return err;
}

int wm_event_place_function(const struct wm_event_place *p)
{
	const char *glob;
	char *name = split_program(p->text, 1, &glob);
	struct program b;
	int err;

	if (!name)
		return errno == ENOMEM
			   ? -ENOMEM
			   : wm_diag_set(p->diag, -EINVAL, NULL, -1,
					 "'func:%.80s' is not of the form func:PROGRAM:NAME or "
					 "func:kernel:NAME, wildcards allowed in NAME",
					 p->text);
	if (!strcmp(name, "kernel")) {
		free(name);
		return wm_event_place_kernel_functions(p, glob);
	}
	err = open_program(p, name, &b);
	free(name);
	if (err < 0)
		return err;
	err = add_functions(p, &b, glob);
	close_program(&b);
	return err;
}

/* ---- USDT ------------------------------------------------------------------------------- */

static int no_probe(const struct wm_event_place *p, const struct program *b,
		    const struct wm_elf_usdts *usdts, const char *wanted)
{
	struct wm_nearest near;
	char cure[120];

	if (!usdts->nr)
		return wm_diag_set(p->diag, -ENOENT, NULL, -1,
				   "'%.120s' has no USDT probes: no section .note.stapsdt",
				   b->path);
	wm_nearest_init(&near, wanted);
	for (size_t i = 0; i < usdts->nr; i++) {
		char name[WM_NEAREST_NAME_MAX];

		(void)snprintf(name, sizeof(name), "%s:%s", usdts->probes[i].provider,
			       usdts->probes[i].name);
		wm_nearest_offer(&near, name);
	}
	wm_nearest_sentence(&near, "", cure, sizeof(cure));
	return wm_diag_set(p->diag, -ENOENT, NULL, -1, "'%.80s' has no USDT probe '%.50s'; %s",
			   b->path, wanted,
			   *cure ? cure : "'waymark list' with its path shows those it has");
}

static int add_usdt(const struct wm_event_place *p, const struct program *b,
		    const struct wm_elf_usdt *u, const char *full, bool more)
{
	char name[PATH_MAX + 512];
	struct wm_event_def def = {.family = WM_FAMILY_USDT,
				   .name = name,
				   .path = b->path,
				   .offset = u->offset,
				   .semaphore_offset = u->semaphore_offset,
				   .operands = u->operands,
				   .more = more};

	(void)snprintf(name, sizeof(name), "usdt:%s:%s", b->path, full);
	if (u->semaphore && !u->semaphore_offset)
		return wm_diag_set(
		    p->diag, -EINVAL, NULL, -1,
		    "'%.120s': the semaphore of this probe is not in the file, so the "
		    "kernel cannot count it up",
		    name);
	return add_uprobe(p, &def);
}

static int add_usdts(const struct wm_event_place *p, const struct program *b, const char *wanted)
{
	struct wm_elf_usdts usdts;
	char full[512], last[512] = "";
	int nr = 0, err = wm_elf_usdts_read(b->elf, &usdts, p->diag);

	if (err < 0)
		return err;
	for (size_t i = 0; i < usdts.nr && !err; i++) {

		(void)snprintf(full, sizeof(full), "%s:%s", usdts.probes[i].provider,
			       usdts.probes[i].name);
		if (!wm_glob_match(wanted, strlen(wanted), full, strlen(full)))
			continue;
		err = add_usdt(p, b, &usdts.probes[i], full, !strcmp(full, last));
		nr += err == 0;
		memcpy(last, full, sizeof(last));
	}
	if (!err && !nr)
		err = no_probe(p, b, &usdts, wanted);
	wm_elf_usdts_done(&usdts);
	return err < 0 ? err : nr;
}

int wm_event_place_usdt(const struct wm_event_place *p)
{
	const char *wanted;
	char *name = split_program(p->text, 2, &wanted);
	struct program b;
	int err;

	if (!name)
		return errno == ENOMEM
			   ? -ENOMEM
			   : wm_diag_set(
				 p->diag, -EINVAL, NULL, -1,
				 "'usdt:%.80s' is not of the form "
				 "usdt:PROGRAM:PROVIDER:NAME, wildcards allowed in PROVIDER "
				 "and NAME",
				 p->text);
	err = open_program(p, name, &b);
	free(name);
	if (err < 0)
		return err;
	err = add_usdts(p, &b, wanted);
	close_program(&b);
	return err;
}
