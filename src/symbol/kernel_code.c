/* SPDX-License-Identifier: MIT */
/* kernel_code.c - see kernel_code.h. */
#include "symbol/kernel_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "symbol/symbols_int.h"

#define INT3 0xcc

/* --- where the function is now ----------------------------------------------------------- */

/*
 * Finds the function in the running kernel. At each boot, the whole kernel moves by one distance,
 * which is known; each module moves by its own, so a module's function is found only at its old
 * address.
 */
static int kernel_code_find_function(const struct wm_code *c, const struct wm_module *m,
				     const struct wm_symbol *s, uint64_t *ret_address,
				     struct wm_diag *diag)
{
	uint64_t moved =
	    m->kind == WM_MODULE_KERNEL && m->kernel ? wm_symbols_kernel_moved(c, m->kernel) : 0;

	for (size_t i = 0; i < c->nr; i++)
		if (c->symbols[i].start == s->start - moved &&
		    !strcmp(c->symbols[i].name, s->name)) {
			*ret_address = s->start - moved;
			return 0;
		}
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "it is at another address than when it was recorded");
}

/*
 * Returns the size without padding: a kernel symbol extends to the next one, but the padding is
 * never executed.
 */
static size_t without_padding(const struct wm_elf *e, const unsigned char *bytes, size_t nr)
{
	while (e->machine == EM_X86_64 && nr > 1 && bytes[nr - 1] == INT3)
		nr--;
	return nr;
}

static int read_code(const struct wm_elf *e, uint64_t address, uint64_t bytes,
		     struct wm_kernel_code *ret, struct wm_diag *diag)
{
	uint64_t offset;
	void *data;
	int err;

	if (!bytes || bytes > WM_KERNEL_CODE_MAX)
		return wm_diag_set(diag, -EFBIG, NULL, -1, "its size is unknown");
	err = wm_elf_offset(e, address, bytes, &offset);
	if (!err)
		err = wm_elf_read_new(e, offset, bytes, WM_KERNEL_CODE_MAX, &data, NULL);
	if (err)
		return err == -ENOMEM ? err
				      : wm_diag_set(diag, err, NULL, -1,
						    "%.100s does not contain it", e->name);
	*ret = (struct wm_kernel_code){e->machine, data, without_padding(e, data, bytes)};
	return 0;
}

/* --- the running kernel -------------------------------------------------------------------- */

static int load_kallsyms(struct wm_code *c, const char *path, struct wm_diag *diag)
{
	size_t bytes;
	char *text;
	int err = wm_file_read(AT_FDCWD, path, WM_KALLSYMS_MAX, &text, &bytes);

	if (!err)
		err = wm_kallsyms_parse(c, text, bytes);
	if (err && err != -ENOMEM)
		return wm_diag_set(diag, err, NULL, -1,
				   "%.60s has no addresses (kernel.kptr_restrict); run as root",
				   path);
	return err;
}

int wm_symbols_kernel_code_live(const struct wm_module *m, const struct wm_symbol *s,
				const char *kallsyms, const char *kcore, struct wm_kernel_code *ret,
				struct wm_diag *diag)
{
	struct wm_elf *core = NULL;
	struct wm_code names;
	uint64_t address;
	int err = wm_elf_open(kcore, &core, NULL);

	if (err)
		return wm_diag_set(diag, err, NULL, -1, "%.60s: %s", kcore, strerror(-err));
	wm_code_init(&names, true);
	err = load_kallsyms(&names, kallsyms, diag);
	if (!err)
		err = kernel_code_find_function(&names, m, s, &address, diag);
	if (!err)
		err = read_code(core, address, s->end - s->start, ret, diag);
	wm_code_done(&names);
	wm_elf_close(core);
	return err;
}

/* --- a file ---------------------------------------------------------------------------------- */

/*
 * Returns whether the file contains the code at the address: separate debug files do not.
 */
static bool kernel_code_has_code(const struct wm_elf *e, uint64_t address)
{
	for (uint32_t i = 1; i < e->nr_sections; i++)
		if (e->sections[i].type == SHT_NOBITS && address >= e->sections[i].address &&
		    address - e->sections[i].address < e->sections[i].bytes)
			return false;
	return true;
}

/* Reads from a vmlinux file, whose addresses are link-time addresses. */
static int kernel_code_linked(const struct wm_module *m, const struct wm_symbol *s,
			      const struct wm_elf *e, struct wm_kernel_code *ret,
			      struct wm_diag *diag)
{
	struct wm_code names;
	uint64_t address;
	int err;

	wm_code_init(&names, true);
	err = wm_code_add_elf(&names, e, diag);
	if (!err) {
		wm_code_sort(&names);
		err = kernel_code_find_function(&names, m, s, &address, diag);
	}
	if (!err && !kernel_code_has_code(e, address))
		err = wm_diag_set(diag, -ENODATA, NULL, -1,
				  "%.100s contains debug information only", e->name);
	if (!err)
		err = read_code(e, address, s->end - s->start, ret, diag);
	wm_code_done(&names);
	return err;
}

static int read_vmlinux(const struct wm_module *m, const struct wm_symbol *s,
			const struct wm_module_places *places, const unsigned char *id,
			uint32_t id_bytes, struct wm_kernel_code *ret, struct wm_diag *diag)
{
	struct wm_module_files files;
	int err = wm_vmlinux_open(places, id, id_bytes, &files);

	if (err)
		return wm_diag_set(diag, err, NULL, -1, "no vmlinux of that build on this machine");
	err = -ENOENT;
	if (files.image)
		err = kernel_code_linked(m, s, files.image, ret, diag);
	if (err && err != -ENOMEM && files.debug)
		err = kernel_code_linked(m, s, files.debug, ret, diag);
	wm_module_close(&files);
	return err;
}

int wm_symbols_kernel_code(const struct wm_module *m, const struct wm_symbol *s,
			   const struct wm_module_places *places, struct wm_kernel_code *ret,
			   struct wm_diag *diag)
{
	struct wm_diag live = {.sentence = "another kernel is running"}, linked = {0};
	const unsigned char *id;
	uint32_t id_bytes = wm_symbols_kernel_build(m, &id);
	int err = -ENOENT;

	if (!id_bytes)
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "the trace does not record the kernel's build");
	if (wm_symbols_kernel_runs(id, id_bytes))
		err =
		    wm_symbols_kernel_code_live(m, s, "/proc/kallsyms", "/proc/kcore", ret, &live);
	if (err && err != -ENOMEM && m->kind == WM_MODULE_KERNEL)
		err = read_vmlinux(m, s, places, id, id_bytes, ret, &linked);
	if (!err || err == -ENOMEM)
		return err;
	return wm_diag_set(diag, err, NULL, -1, "%.110s%s%.110s", live.sentence,
			   linked.sentence[0] ? "; " : "", linked.sentence);
}
