/* SPDX-License-Identifier: MIT */
/* kernel.c - lists the kernel's events and USDT probes; see inventory_kernel.h. */
#include "control/inventory_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/maps.h"
#include "elf/usdt.h"
#include "kernel/event_name.h"

int wm_inventory_kernel_open(struct wm_inventory_kernel *k, bool fields, const char *search)
{
	int err;

	*k = (struct wm_inventory_kernel){.fields = fields};
	wm_event_defs_init(&k->defs);
	err = wm_event_space_open(&k->space, search);
	if (!err && fields)
		err = wm_probe_variables_open(&k->variables);
	return err;
}

void wm_inventory_kernel_close(struct wm_inventory_kernel *k)
{
	wm_probe_variables_close(k->variables);
	wm_event_defs_done(&k->defs);
	wm_event_space_close(&k->space);
}

bool wm_inventory_kernel_names(const char *word)
{
	static const char *const families[] = {
	    "usdt:",   "uprobe:",    "uretprobe:", "func:", "kernel:",
	    "kprobe:", "kretprobe:", "mem:",       "proc:"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (!strncmp(word, families[i], strlen(families[i])))
			return true;
	}
	return false;
}

int wm_inventory_kernel_find(struct wm_inventory_kernel *k, const char *name, struct wm_diag *diag)
{
	return strncmp(name, "user:", 5) ? wm_event_name_resolve(&k->space, name, &k->defs, diag)
					 : 0;
}

struct all {
	struct wm_inventory_kernel *k;
	struct wm_diag *diag;
};

static int inventory_kernel_add_item(const struct wm_event_item *item, void *data)
{
	static const struct wm_event_def as_it_is;
	struct all *all = data;

	if (item->family == WM_FAMILY_HARDWARE && !all->k->space.hardware)
		return 0;
	return wm_event_space_add(&all->k->space, item, WM_PHASE_NONE, &as_it_is, "", &all->k->defs,
				  all->diag);
}

int wm_inventory_kernel_find_all(struct wm_inventory_kernel *k, struct wm_diag *diag)
{
	struct all all = {k, diag};

	return wm_event_space_each(&k->space, inventory_kernel_add_item, &all);
}

/* ---- USDT probes in files ------------------------------------------------------------- */

/*
 * Adds a file's probes. Probes with the same name are adjacent: the second and later ones are
 * further places of the first.
 */
static void add_probes(struct wm_inventory_kernel *k, const struct wm_elf_usdts *usdts,
		       const char *path, const char *glob)
{
	char last[PATH_MAX + 512] = "";

	for (size_t i = 0; i < usdts->nr; i++) {
		const struct wm_elf_usdt *u = &usdts->probes[i];
		char name[PATH_MAX + 512];
		const char *own = name + strlen("usdt:") + strlen(path) + 1;
		struct wm_event_def def = {.family = WM_FAMILY_USDT,
					   .name = name,
					   .path = path,
					   .offset = u->offset,
					   .semaphore_offset = u->semaphore_offset,
					   .operands = u->operands};

		if (snprintf(name, sizeof(name), "usdt:%s:%s:%s", path, u->provider, u->name) >=
		    (int)sizeof(name))
			continue;
		if (glob && !wm_glob_match(glob, strlen(glob), strchr(glob, ':') ? own : u->name,
					   strlen(strchr(glob, ':') ? own : u->name)))
			continue;
		def.more = !strcmp(last, name);
		memcpy(last, name, sizeof(last));
		(void)wm_event_defs_add(&k->defs, &def);
	}
}

static void add_open_file(struct wm_inventory_kernel *k, int fd, const char *path, const char *glob)
{
	struct wm_elf_usdts usdts;
	struct wm_elf *elf;

	if (wm_elf_open_fd(fd, path, &elf, NULL) < 0)
		return;
	if (wm_elf_usdts_read(elf, &usdts, NULL) == 0) {
		add_probes(k, &usdts, path, glob);
		wm_elf_usdts_done(&usdts);
	}
	wm_elf_close(elf);
}

void wm_inventory_kernel_add_file(struct wm_inventory_kernel *k, const char *path, const char *glob)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0)
		add_open_file(k, fd, path, glob);
}

/* Whether the file is also mapped at a lower address. */
static bool inventory_kernel_met_before(const struct wm_maps *maps, size_t at)
{
	const struct wm_map *map = &maps->maps[at];

	for (size_t i = 0; i < at; i++) {
		const struct wm_map *m = &maps->maps[i];

		if (m->inode == map->inode && m->dev_minor == map->dev_minor &&
		    m->dev_major == map->dev_major && m->perms & WM_MAP_EXEC)
			return true;
	}
	return false;
}

void wm_inventory_kernel_add_process(struct wm_inventory_kernel *k, pid_t pid, const char *glob)
{
	struct wm_maps maps;

	if (wm_maps_read(pid, &maps) < 0)
		return;
	for (size_t i = 0; i < maps.nr; i++) {
		const struct wm_map *map = &maps.maps[i];
		int fd;

		if (!map->inode || !(map->perms & WM_MAP_EXEC) ||
		    inventory_kernel_met_before(&maps, i))
			continue;
		fd = wm_maps_open(pid, map);
		if (fd >= 0)
			add_open_file(k, fd, map->path, glob);
	}
	wm_maps_done(&maps);
}
