/* SPDX-License-Identifier: MIT */
/*
 * event_place_usdt.c - finds a program's USDT probes by provider and name: every place of a probe,
 * and the values that can be fetched there. See event_place.h.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "elf/usdt.h"
#include "kernel/names/event_file.h"
#include "kernel/probes/usdt_operand.h"

static int no_probe(const struct wm_event_place *p, struct wm_event_file *b,
		    const struct wm_elf_usdts *usdts, const char *wanted)
{
	struct wm_nearest near;
	char hint[120];

	if (!usdts->nr)
		return wm_diag_set(p->diag, -ENOENT, NULL, -1,
				   "'%.120s' has no USDT probes: it has no section .note.stapsdt",
				   b->path);
	wm_nearest_init(&near, wanted);
	for (size_t i = 0; i < usdts->nr; i++) {
		char name[WM_NEAREST_NAME_MAX];

		(void)snprintf(name, sizeof(name), "%s:%s", usdts->probes[i].provider,
			       usdts->probes[i].name);
		wm_nearest_offer(&near, name);
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(p->diag, -ENOENT, NULL, -1, "'%.80s' has no USDT probe '%.50s'; %s",
			   b->path, wanted,
			   *hint ? hint : "run 'waymark list' with its path to see its probes");
}

/* ---- arguments ---------------------------------------------------------------------- */

/* Resolves "arg2" in the user's list to an operand of this place. */
static int place_usdt_on_name(void *data, const char *name, struct wm_probe_value *ret,
			      struct wm_diag *diag)
{
	const struct wm_usdt_site *site = data;
	char *end;
	unsigned long nr;
	int err;

	if (strncmp(name, "arg", 3) || name[3] < '1' || name[3] > '9')
		return -ENOENT;
	nr = strtoul(name + 3, &end, 10);
	if (*end || nr > WM_PROBE_ARGS_MAX)
		return -ENOENT;
	err = wm_usdt_operand(site, (unsigned)nr - 1, ret, diag);
	return err == -ENOENT ? wm_diag_set(diag, -EINVAL, NULL, -1,
					    "the probe has no argument %lu; it has '%.120s'", nr,
					    site->operands)
			      : err;
}

/* Adds all operands; `left_out` gets a message for each operand that the kernel cannot fetch. */
static int all_operands(const struct wm_usdt_site *site, struct wm_probe_args *args)
{
	for (unsigned i = 0; i < WM_PROBE_ARGS_MAX; i++) {
		struct wm_diag diag = {.offset = -1};
		struct wm_probe_value value;
		char name[16];
		int err = wm_usdt_operand(site, i, &value, &diag);

		if (err == -ENOENT)
			break;
		(void)snprintf(name, sizeof(name), "arg%u", i + 1);
		if (!err)
			wm_probe_args_add(args, name, &value);
		else
			wm_text_f(&args->left_out, "%s%s", args->left_out.bytes ? "; " : "",
				  diag.sentence);
	}
	return args->kernel.failed || args->recast.failed || args->left_out.failed ? -ENOMEM : 0;
}

static int place_usdt_fetch(const struct wm_event_place *p, struct wm_usdt_site *site,
			    const char *name, struct wm_probe_args *args)
{
	const struct wm_probe_scope scope = {
	    .probe = name, .narrow = site->elf->narrow, .named = place_usdt_on_name, .data = site};

	return p->arguments ? wm_probe_args_compile(p->arguments, &scope, args, p->diag)
			    : all_operands(site, args);
}

/* ---- places ---------------------------------------------------------------------------- */

struct search {
	const struct wm_event_place *p;
	struct wm_event_file *file;
	const struct wm_elf_symbols *symbols;
};

static int add_def(const struct search *s, const struct wm_elf_usdt *u, struct wm_event_def *def)
{
	struct wm_usdt_site site = {.elf = s->file->elf,
				    .symbols = s->symbols,
				    .address = u->address,
				    .offset = u->offset,
				    .operands = u->operands};
	struct wm_probe_args args;
	int err;

	wm_probe_args_init(&args);
	err = place_usdt_fetch(s->p, &site, def->name, &args);
	def->arguments = args.kernel.data;
	def->recast = args.recast.data;
	def->left_out = args.left_out.data;
	if (!err)
		err = wm_event_place_add_uprobe(s->p, def);
	wm_probe_args_done(&args);
	return err;
}

static int add_usdt(const struct search *s, const struct wm_elf_usdt *u, const char *full,
		    bool more)
{
	char name[PATH_MAX + 512], label[512];
	struct wm_event_def def = {.family = WM_FAMILY_USDT,
				   .name = name,
				   .path = s->file->path,
				   .label = label,
				   .offset = u->offset,
				   .semaphore_offset = u->semaphore_offset,
				   .operands = u->operands,
				   .more = more};

	(void)snprintf(name, sizeof(name), "usdt:%s:%s", s->file->path, full);
	(void)snprintf(label, sizeof(label), "%.200s:%.300s", wm_event_file_base(s->file->path),
		       full);
	if (u->semaphore && !u->semaphore_offset)
		return wm_diag_set(s->p->diag, -EINVAL, NULL, -1,
				   "'%.120s': the semaphore of this probe is not in the file, so "
				   "the kernel cannot increment it",
				   name);
	return add_def(s, u, &def);
}

static int add_usdts(const struct search *s, const struct wm_elf_usdts *usdts, const char *wanted)
{
	char full[512], last[512] = "";
	int nr = 0, err = 0;

	for (size_t i = 0; i < usdts->nr && !err; i++) {
		(void)snprintf(full, sizeof(full), "%s:%s", usdts->probes[i].provider,
			       usdts->probes[i].name);
		if (!wm_glob_match(wanted, strlen(wanted), full, strlen(full)))
			continue;
		err = add_usdt(s, &usdts->probes[i], full, !strcmp(full, last));
		nr += err == 0;
		memcpy(last, full, sizeof(last));
	}
	if (!err && !nr)
		err = no_probe(s->p, s->file, usdts, wanted);
	return err < 0 ? err : nr;
}

static int place_usdt_add_matching(const struct wm_event_place *p, struct wm_event_file *file,
				   const char *wanted)
{
	struct wm_elf_symbols symbols = {0};
	struct search s = {p, file, &symbols};
	struct wm_elf_usdts usdts;
	int err = wm_elf_usdts_read(file->elf, &usdts, p->diag);

	if (err < 0)
		return err;
	/* Few operands name variables; without symbols, these operands are left out. */
	(void)wm_elf_symbols_read(file->elf, &symbols, NULL);
	err = add_usdts(&s, &usdts, wanted);
	wm_elf_symbols_done(&symbols);
	wm_elf_usdts_done(&usdts);
	return err;
}

int wm_event_place_usdt(const struct wm_event_place *p)
{
	return wm_event_file_each(
	    p, 2, true, "usdt:PROGRAM:PROVIDER:NAME, wildcards allowed in PROVIDER and NAME",
	    place_usdt_add_matching);
}
