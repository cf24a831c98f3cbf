/* SPDX-License-Identifier: MIT */
/*
 * event_place.c - probes at places of a program: functions by name and offset,
 * addresses. The file is read with the bounds of elf/; a place
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
#include "elf/elf_symbols.h"
#include "kernel/event_file.h"
#include "kernel/probe_args.h"

/* ---- uprobes ----------------------------------------------------------------------- */

/* Type and bits of the kernel's uprobe PMU, the place in `def` taken over. */
int wm_event_place_add_uprobe(const struct wm_event_place *p, struct wm_event_def *def)
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

/* What is to be fetched at the place of `def`. */
static int fetch(const struct wm_event_place *p, struct wm_event_def *def,
		 struct wm_probe_args *args)
{
	const struct wm_probe_scope scope = {.probe = def->name,
					     .returns = def->family == WM_FAMILY_URETPROBE};
	int err = 0;

	if (p->arguments)
		err = wm_probe_args_compile(p->arguments, &scope, args, p->diag);
	def->arguments = args->kernel.data;
	def->floats = args->floats.data;
	return err;
}

static int add_place(const struct wm_event_place *p, const struct wm_event_file *b,
		     const char *symbol, uint64_t address, uint64_t offset)
{
	bool ret = !strcmp(p->family, "uretprobe");
	struct wm_event_def def = {.family = ret ? WM_FAMILY_URETPROBE : WM_FAMILY_UPROBE,
				   .path = b->path,
				   .symbol = symbol};
	char name[PATH_MAX + 512], where[512], label[768];
	struct wm_probe_args args;
	int err;

	if (!is_code(b->elf, address + offset) ||
	    wm_elf_offset(b->elf, address + offset, 1, &def.offset) < 0)
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'%s:%.80s': there is no code at 0x%" PRIx64 " of '%.80s'",
				   p->family, p->text, address + offset, b->path);
	if (!symbol)
		(void)snprintf(where, sizeof(where), "0x%" PRIx64, address);
	else if (offset)
		(void)snprintf(where, sizeof(where), "%s+%" PRIu64, symbol, offset);
	else
		(void)snprintf(where, sizeof(where), "%s", symbol);
	(void)snprintf(name, sizeof(name), "%s:%s:%s", ret ? "uretprobe" : "uprobe", b->path,
		       where);
	(void)snprintf(label, sizeof(label), "%.200s:%s", wm_event_file_base(b->path), where);
	def.name = name;
	def.label = label;
	wm_probe_args_init(&args);
	err = fetch(p, &def, &args);
	if (!err)
		err = wm_event_place_add_uprobe(p, &def);
	wm_probe_args_done(&args);
	return err;
}

static int no_function(const struct wm_event_place *p, const struct wm_event_file *b,
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
static int add_matching(const struct wm_event_place *p, const struct wm_event_file *b,
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
static int add_functions(const struct wm_event_place *p, const struct wm_event_file *b,
			 const char *place)
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

static int add_at(const struct wm_event_place *p, const struct wm_event_file *b, const char *place)
{
	int64_t address;
	int err;

	if (wm_number_parse_integer(place, 1, INT64_MAX, &address) < 0)
		return add_functions(p, b, place);
	err = add_place(p, b, NULL, (uint64_t)address, 0);
	return err < 0 ? err : 1;
}

int wm_event_place_uprobe(const struct wm_event_place *p)
{
	char form[120];

	(void)snprintf(form, sizeof(form), "%s:PROGRAM:FUNCTION[+OFFSET] or %s:PROGRAM:0xADDRESS",
		       p->family, p->family);
	return wm_event_file_each(p, 1, false, form, add_at);
}

int wm_event_place_function(const struct wm_event_place *p)
{
	static const char kernel[] = "kernel:";

	if (!strncmp(p->text, kernel, strlen(kernel)) && p->text[strlen(kernel)])
		return wm_event_place_kernel_functions(p, p->text + strlen(kernel));
	return wm_event_file_each(p, 1, true,
				  "func:PROGRAM:NAME or func:kernel:NAME, wildcards allowed in "
				  "NAME",
				  add_functions);
}
