/* SPDX-License-Identifier: MIT */
/*
 * names.c - `waymark list --names`: the names of kernel events and of events in running programs,
 * for shell completion. Reads only names, and does not report sources that cannot be read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/exit.h"
#include "cmd/list/list.h"
#include "cmd/list/name_list.h"
#include "control/inventory.h"
#include "event/class.h"
#include "kernel/event_space.h"

struct names {
	struct wm_name_list list;
	const char *begin;
	bool hardware;
};

static int list_names_add_item(const struct wm_event_item *item, void *data)
{
	struct names *n = data;

	if (item->family == WM_FAMILY_HARDWARE && !n->hardware)
		return 0;
	return wm_name_list_offer(&n->list, item->name, n->begin);
}

/*
 * Adds the families of dynamic probes. The user chooses their locations, so their names cannot be
 * listed.
 */
static int add_places(struct names *n)
{
	static const char *const places[] = {
	    "uprobe:", "uretprobe:", "usdt:", "func:", "kprobe:", "kretprobe:", "eprobe:", "mem:"};
	int err = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !err; i++)
		err = wm_name_list_offer(&n->list, places[i], n->begin);
	return err;
}

static int add_kernels(struct names *n)
{
	struct wm_event_space space;
	int err = wm_event_space_open(&space, NULL);

	if (err)
		return err;
	n->hardware = space.hardware;
	err = wm_event_space_each(&space, list_names_add_item, n);
	wm_event_space_close(&space);
	return err ? err : add_places(n);
}

static int list_names_add_programs(struct names *n)
{
	struct wm_inventory l = {0};
	char name[2 * WM_CLASS_NAME_MAX + 8];
	int err = wm_inventory_add_all_processes(&l);

	for (uint32_t i = 0; i < l.nr_files && !err; i++)
		for (uint32_t e = 0; e < l.files[i]->nr_events && !err; e++) {
			const struct wm_class *c = l.files[i]->events[e].class;

			(void)snprintf(name, sizeof(name), "%s:%s", c->provider, c->name);
			err = wm_name_list_offer(&n->list, name, n->begin);
		}
	wm_inventory_done(&l);
	return err == -ENOMEM ? err : 0; /* without /proc, the kernel's names are still listed */
}

int wm_list_names(const char *begin)
{
	struct names n = {.begin = begin};
	int err;

	wm_name_list_init(&n.list);
	err = add_kernels(&n);
	if (!err)
		err = list_names_add_programs(&n);
	if (!err)
		wm_name_list_print(&n.list);
	wm_name_list_done(&n.list);
	return err ? (int)wm_exit_of(err) : WM_EXIT_DONE;
}
