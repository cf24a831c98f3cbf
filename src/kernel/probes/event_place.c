/* SPDX-License-Identifier: MIT */
/*
 * event_place.c - probes at places in a program: functions by name and offset, lines, addresses.
 * elf/ reads the file and checks its bounds; a place must be code in a file for this machine. See
 * event_place.h.
 */
#include "kernel/probes/event_place.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/plural.h"
#include "elf/elf_symbols.h"
#include "elf/instruction.h"
#include "kernel/names/event_file.h"
#include "kernel/probes/probe_dwarf.h"

/* ---- uprobes ----------------------------------------------------------------------- */

/* Makes `def` an event of the kernel's uprobe PMU. The file and offset in `def` are kept. */
int wm_event_place_add_uprobe(const struct wm_event_place *p, struct wm_event_def *def)
{
	const struct wm_pmu *pmu = wm_pmu_named(&p->space->pmus, "uprobe");
	char terms[64];
	int err;

	if (!pmu)
		return wm_diag_set(
		    p->diag, -EOPNOTSUPP, NULL, -1,
		    "'%s:%.60s' cannot be probed: this kernel was built without uprobes "
		    "(CONFIG_UPROBE_EVENTS)",
		    p->family, p->text);
	(void)snprintf(terms, sizeof(terms), "retprobe=%d", def->family == WM_FAMILY_URETPROBE);
	if (def->semaphore_offset)
		(void)snprintf(terms, sizeof(terms), "ref_ctr_offset=0x%" PRIx64,
			       def->semaphore_offset);
	err = wm_pmu_terms(&p->space->pmus, pmu, terms, def, p->diag);
	return err < 0 ? err : wm_event_defs_add(p->defs, def);
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

/* Compiles the list of values in `def` for the code at `spot`. */
static int event_place_fetch(const struct wm_event_place *p, struct wm_event_file *b,
			     const struct wm_event_spot *spot, struct wm_event_def *def,
			     struct wm_probe_args *args)
{
	struct wm_probe_site site = {.address = spot->address + spot->offset,
				     .offset = def->offset,
				     .returns = def->family == WM_FAMILY_URETPROBE,
				     .by_line = spot->line,
				     .copy_of = spot->is_copy ? spot->symbol : NULL,
				     .narrow = b->elf->narrow};
	const struct wm_probe_scope scope = {.probe = def->name,
					     .returns = site.returns,
					     .inlined = spot->is_copy,
					     .narrow = site.narrow,
					     .named = wm_probe_dwarf_named,
					     .each = wm_probe_dwarf_each,
					     .data = &site};
	int err;

	if (!p->arguments)
		return 0;
	site.vars = wm_event_file_vars(b);
	err = wm_probe_args_compile(p->arguments, &scope, args, p->diag);
	def->arguments = args->kernel.data;
	def->recast = args->recast.data;
	def->left_out = args->left_out.data;
	return err;
}

static void name_spot(const struct wm_event_spot *spot, char *buf, size_t bytes)
{
	if (spot->line)
		(void)snprintf(buf, bytes, "%s", spot->line);
	else if (!spot->symbol)
		(void)snprintf(buf, bytes, "0x%" PRIx64, spot->address);
	else if (spot->offset)
		(void)snprintf(buf, bytes, "%s+%" PRIu64, spot->symbol, spot->offset);
	else
		(void)snprintf(buf, bytes, "%s", spot->symbol);
}

/*
 * Checks that the place is the start of an instruction: a probe in the middle of one would corrupt
 * the program.
 */
static int check_instruction(const struct wm_event_place *p, struct wm_event_file *b,
			     const struct wm_event_spot *spot)
{
	uint64_t address = spot->address + spot->offset, start = spot->address, begin;
	struct wm_elf_symbols symbols;
	const struct wm_elf_symbol *s;

	if (spot->line || (spot->symbol && !spot->offset))
		return 0;
	if (!spot->symbol) {
		if (wm_elf_symbols_read(b->elf, &symbols, NULL) < 0)
			return 0;
		s = wm_elf_symbol_at(&symbols, address);
		start = s ? s->address : address;
		wm_elf_symbols_done(&symbols);
	}
	if (wm_elf_instruction_begins(b->elf, start, address, &begin) != 0)
		return 0;
	return wm_diag_set(p->diag, -EINVAL, NULL, -1,
			   "'%s:%.80s' is in the middle of an instruction, which begins %" PRIu64
			   " %s earlier: %s+%" PRIu64,
			   p->family, p->text, address - begin,
			   wm_plural(address - begin, "byte", "bytes"),
			   spot->symbol ? spot->symbol : "its function", begin - start);
}

int wm_event_spot_add(const struct wm_event_place *p, struct wm_event_file *b,
		      const struct wm_event_spot *spot)
{
	bool ret = spot->returns || !strcmp(p->family, "uretprobe");
	struct wm_event_def def = {.family = ret ? WM_FAMILY_URETPROBE : WM_FAMILY_UPROBE,
				   .path = b->path,
				   .symbol = spot->symbol,
				   .by_line = spot->line,
				   .is_copy = spot->is_copy,
				   .more = spot->more};
	char name[PATH_MAX + 512], where[512], label[768];
	uint64_t address = spot->address + spot->offset;
	struct wm_probe_args args;
	int err;

	if (!is_code(b->elf, address) || wm_elf_offset(b->elf, address, 1, &def.offset) < 0)
		return wm_diag_set(p->diag, -EINVAL, NULL, -1,
				   "'%s:%.80s': no code at 0x%" PRIx64 " of '%.80s'", p->family,
				   p->text, address, b->path);
	err = check_instruction(p, b, spot);
	if (err)
		return err;
	name_spot(spot, where, sizeof(where));
	(void)snprintf(name, sizeof(name), "%s:%s:%s", ret ? "uretprobe" : "uprobe", b->path,
		       where);
	(void)snprintf(label, sizeof(label), "%.200s:%s", wm_event_file_base(b->path), where);
	def.name = name;
	def.label = label;
	wm_probe_args_init(&args);
	err = event_place_fetch(p, b, spot, &def, &args);
	if (!err)
		err = wm_event_place_add_uprobe(p, &def);
	wm_probe_args_done(&args);
	return err;
}

/* ---- lines and addresses --------------------------------------------------------------- */

/* Returns the colon in a place like "work.c:12"; NULL if the text does not have this form. */
static const char *line_of(const char *place)
{
	const char *colon = strrchr(place, ':');

	return colon && colon > place && colon[-1] != ':' && colon[1] &&
		       !colon[1 + strspn(colon + 1, "0123456789")]
		   ? colon
		   : NULL;
}

static int event_place_add_line(const struct wm_event_place *p, struct wm_event_file *b,
				const char *place)
{
	const char *colon = line_of(place);
	struct wm_elf_vars *vars = wm_event_file_vars(b);
	char *file = strndup(place, (size_t)(colon - place));
	unsigned long line = strtoul(colon + 1, NULL, 10);
	uint64_t *addresses = NULL;
	size_t nr = 0;
	int err = 0;

	if (!file)
		err = -ENOMEM;
	else if (!strcmp(p->family, "uretprobe"))
		err = wm_diag_set(p->diag, -EINVAL, NULL, -1,
				  "'%s:%.80s': only functions have a return, lines do not; use "
				  "uprobe",
				  p->family, p->text);
	else if (!vars)
		err = wm_diag_set(p->diag, -ENOENT, NULL, -1,
				  "'%.80s' has no debug information, which lines need: build it "
				  "with -g, or install its -dbgsym package",
				  b->path);
	else
		err = wm_elf_vars_line(vars, file, line > UINT32_MAX ? 0 : (uint32_t)line,
				       &addresses, &nr, p->diag);
	for (size_t i = 0; i < nr && !err; i++)
		err = wm_event_spot_add(
		    p, b,
		    &(struct wm_event_spot){.line = place, .address = addresses[i], .more = i > 0});
	free(addresses);
	free(file);
	return err ? err : (int)nr;
}

static int add_at(const struct wm_event_place *p, struct wm_event_file *b, const char *place)
{
	int64_t address;
	int err;

	if (line_of(place))
		return event_place_add_line(p, b, place);
	if (wm_number_parse_integer(place, 1, INT64_MAX, &address) < 0)
		return wm_event_function_add(p, b, place);
	err = wm_event_spot_add(p, b, &(struct wm_event_spot){.address = (uint64_t)address});
	return err < 0 ? err : 1;
}

int wm_event_place_uprobe(const struct wm_event_place *p)
{
	char form[160];

	(void)snprintf(form, sizeof(form),
		       "%s:PROGRAM:FUNCTION[+OFFSET], %s:PROGRAM:0xADDRESS or "
		       "uprobe:PROGRAM:FILE.c:LINE",
		       p->family, p->family);
	return wm_event_file_each(p, 1, false, form, add_at);
}

int wm_event_place_function(const struct wm_event_place *p)
{
	static const char kernel[] = "kernel:", back[] = ":return";
	struct wm_event_place of = *p;
	size_t n = strlen(p->text);
	char *text;
	bool returns;
	int nr;

	if (!strncmp(p->text, kernel, strlen(kernel)) && p->text[strlen(kernel)])
		return wm_event_place_kernel_functions(p, p->text + strlen(kernel));
	returns = n > strlen(back) && !strcmp(p->text + n - strlen(back), back);
	of.text = text = strndup(p->text, returns ? n - strlen(back) : n);
	if (!text)
		return -ENOMEM;
	nr = wm_event_file_each(&of, 1, true,
				"func:PROGRAM:NAME[:return] or func:kernel:NAME, wildcards allowed "
				"in NAME",
				returns ? wm_event_function_add_returns : wm_event_function_add);
	free(text);
	return nr;
}
