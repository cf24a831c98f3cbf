/* SPDX-License-Identifier: MIT */
/*
 * probe_variables.c - see probe_variables.h. The same functions that compile a probe's arguments
 * decide whether a probe can fetch a variable.
 */
#include "kernel/probe_variables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/probes/probe_btf.h"
#include "kernel/probes/probe_dwarf.h"

typedef int variable_fn(const struct wm_probe_variable *variable, void *data);

struct wm_probe_variables {
	char *path; /* of the open file; NULL: none */
	struct wm_elf *elf;
	struct wm_elf_vars *vars;
	struct wm_probe_btf btf; /* data is NULL until it is needed */
};

struct listing {
	variable_fn *fn;
	void *data;
	struct wm_probe_site site;
};

int wm_probe_variables_open(struct wm_probe_variables **ret)
{
	struct wm_probe_variables *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*ret = p;
	return 0;
}

static void variables_close_file(struct wm_probe_variables *p)
{
	wm_elf_vars_close(p->vars);
	wm_elf_close(p->elf);
	free(p->path);
	p->vars = NULL;
	p->elf = NULL;
	p->path = NULL;
}

void wm_probe_variables_close(struct wm_probe_variables *p)
{
	if (!p)
		return;
	variables_close_file(p);
	wm_probe_btf_close(&p->btf);
	free(p);
}

/* Opens the file and its debug information, unless they are open. */
static int variables_open_file(struct wm_probe_variables *p, const char *path, struct wm_diag *diag)
{
	int err;

	if (!p->path || strcmp(p->path, path)) {
		variables_close_file(p);
		err = wm_elf_open(path, &p->elf, diag);
		if (err)
			return err;
		p->path = strdup(path);
		err = p->path ? wm_elf_vars_open(p->elf, &p->vars) : -ENOMEM;
		if (err == -ENOMEM)
			return err;
	}
	if (p->vars)
		return 0;
	return wm_diag_set(diag, -ENODATA, NULL, -1,
			   "'%.80s' has no debug information, which its parameters and variables "
			   "need: build it with -g, or install its -dbgsym package",
			   path);
}

/* ---- programs ---------------------------------------------------------------------------- */

static int variables_on_program(const struct wm_elf_variable *v, void *data)
{
	struct listing *l = data;
	struct wm_diag diag = {.offset = -1};
	struct wm_probe_value value = {.points = false};
	struct wm_probe_variable variable = {.name = v->name,
					     .type = v->type,
					     .is_parameter = v->is_parameter,
					     .has_members = v->has_members};
	int err = wm_probe_dwarf_named(&l->site, v->name, &value, &diag);

	if (err == -ENOMEM)
		return err;
	if (err)
		variable.refused = diag.sentence;
	return l->fn(&variable, l->data);
}

static int variables_of_return(struct listing *l)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_probe_value value = {.points = false};
	struct wm_probe_variable variable = {.name = "$retval"};
	struct wm_text type;
	int err;

	wm_text_init(&type);
	err = wm_elf_vars_returned_text(l->site.vars, l->site.address, &type);
	if (!err && strcmp(type.data, "void")) {
		variable.type = type.data;
		if (wm_probe_dwarf_named(&l->site, "$retval", &value, &diag) && *diag.sentence)
			variable.refused = diag.sentence;
		err = l->fn(&variable, l->data);
	}
	wm_text_done(&type);
	return err;
}

/* Finds the image address for an offset in the file. */
static bool variables_address(const struct wm_elf *e, uint64_t offset, uint64_t *ret)
{
	for (uint32_t i = 0; i < e->nr_segments; i++) {
		const struct wm_elf_segment *s = &e->segments[i];

		if (s->type != PT_LOAD || offset < s->offset || offset - s->offset >= s->file_bytes)
			continue;
		*ret = s->address + (offset - s->offset);
		return true;
	}
	return false;
}

static int variables_of_program(struct wm_probe_variables *p, const struct wm_event_def *def,
				struct listing *l, struct wm_diag *diag)
{
	struct wm_elf_where where;
	int err = variables_open_file(p, def->path, diag);

	if (err)
		return err;
	l->site = (struct wm_probe_site){.vars = p->vars,
					 .offset = def->offset,
					 .returns = def->family == WM_FAMILY_URETPROBE,
					 .by_line = def->by_line,
					 .copy_of = def->is_copy ? def->symbol : NULL,
					 .narrow = p->elf->narrow};
	if (!variables_address(p->elf, def->offset, &l->site.address))
		err = -ENOENT;
	else if (l->site.returns)
		err = variables_of_return(l);
	if (!err && !l->site.returns) {
		where = wm_probe_site_where(&l->site);
		err = wm_elf_vars_each(p->vars, &where, variables_on_program, l);
	}
	if (err == -ENOENT)
		err = wm_diag_set(diag, -ENOENT, NULL, -1,
				  "'%.80s' has no debug information about 0x%llx of the file",
				  def->path, (unsigned long long)def->offset);
	return err;
}

/* ---- the kernel ----------------------------------------------------------------------- */

static int variables_give_kernel(const struct wm_probe_btf_site *site, const char *name,
				 uint32_t type, struct listing *l)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_probe_value value = {.points = false};
	struct wm_probe_variable variable = {.name = name, .is_parameter = *name != '$'};
	struct wm_btf_type bare;
	struct wm_text text;
	int err;

	wm_text_init(&text);
	wm_btf_type_text(&site->btf->btf, type, &text);
	wm_btf_type(&site->btf->btf, type, &bare);
	if (text.failed) {
		wm_text_done(&text);
		return -ENOMEM;
	}
	variable.type = text.data;
	variable.has_members = bare.kind == WM_BTF_STRUCT;
	if (wm_probe_btf_named((void *)site, name, &value, &diag) && *diag.sentence)
		variable.refused = diag.sentence;
	err = l->fn(&variable, l->data);
	wm_text_done(&text);
	return err;
}

static int variables_of_kernel(struct wm_probe_variables *p, const struct wm_event_def *def,
			       struct listing *l, struct wm_diag *diag)
{
	const struct wm_btf *btf = &p->btf.btf;
	struct wm_probe_btf_site site = {.btf = &p->btf,
					 .function = def->symbol,
					 .entry = !def->offset,
					 .returns = def->family == WM_FAMILY_KRETPROBE};
	int err = p->btf.data ? 0 : wm_probe_btf_open(&p->btf, diag);
	uint32_t prototype = err ? 0 : wm_btf_function(btf, def->symbol), type, nr;

	if (!err && !prototype)
		err = wm_diag_set(diag, -ENOENT, NULL, -1,
				  "the kernel has no type information about '%.80s'", def->symbol);
	if (!err && !site.returns && !site.entry)
		err = wm_diag_set(diag, -ENOENT, NULL, -1,
				  "parameters are available only at a function's entry");
	nr = err || site.returns ? 0 : wm_btf_nr_parameters(btf, prototype);
	for (uint32_t i = 0; i < nr && !err; i++) {
		const char *name = wm_btf_parameter(btf, prototype, i, &type);

		err = *name ? variables_give_kernel(&site, name, type, l) : 0;
	}
	if (!err && site.returns && wm_btf_returned(btf, prototype))
		err = variables_give_kernel(&site, "$retval", wm_btf_returned(btf, prototype), l);
	return err;
}

int wm_probe_variables_each(struct wm_probe_variables *p, const struct wm_event_def *def,
			    variable_fn *fn, void *data, struct wm_diag *diag)
{
	struct listing l = {.fn = fn, .data = data};

	switch (def->family) {
	case WM_FAMILY_UPROBE:
	case WM_FAMILY_URETPROBE:
		return variables_of_program(p, def, &l, diag);
	case WM_FAMILY_KPROBE:
	case WM_FAMILY_KRETPROBE:
		return variables_of_kernel(p, def, &l, diag);
	default:
		return -EINVAL;
	}
}
