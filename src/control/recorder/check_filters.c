/* SPDX-License-Identifier: MIT */
/*
 * check_filters.c - looks up event names in CMD's file before CMD runs, and checks that filters fit
 * these events. See recorder_int.h.
 */
#include <stdlib.h>

#include "base/program.h"
#include "control/inventory.h"
#include "control/recorder/recorder_int.h"
#include "elf/elf_file.h"
#include "elf/sites.h"
#include "event/provider.h"

int wm_recorder_each_event(const struct wm_recorder_plan *plan,
			   int (*fn)(const struct wm_class *c, const struct wm_elf_event *e,
				     void *data),
			   void *data)
{
	struct wm_elf *elf = NULL;
	struct wm_elf_sites sites;
	char *path = plan->command ? wm_program_find(plan->command[0], plan->search) : NULL;
	char provider[WM_PROVIDER_MAX] = "";
	int err = 0;

	if (path)
		wm_inventory_provider(path, provider, sizeof(provider));
	if (path && wm_elf_open(path, &elf, NULL) == 0 &&
	    wm_elf_sites_read(elf, &sites, NULL) == 0) {
		for (uint32_t i = 0; err == 0 && i < sites.nr_events; i++) {
			struct wm_class *class;

			if (wm_class_parse(sites.events[i].desc, sites.events[i].desc_bytes,
					   provider, &class, NULL) < 0)
				continue;
			err = fn(class, &sites.events[i], data);
			wm_class_destroy(class);
		}
		wm_elf_sites_done(&sites);
	}
	wm_elf_close(elf);
	free(path);
	return err;
}

struct check {
	const struct wm_rules *rules;
	struct wm_diag *diag;
};

static int check_filters_of_event(const struct wm_class *c, const struct wm_elf_event *e,
				  void *data)
{
	struct check *check = data;

	return wm_rules_check(check->rules, c, e->desc, e->desc_bytes, check->diag);
}

int wm_recorder_check_filters(const struct wm_recorder_plan *plan, struct wm_diag *diag)
{
	struct check check = {plan->events->rules, diag};
	int err = wm_recorder_each_event(plan, check_filters_of_event, &check);

	if (err < 0)
		diag->where = WM_RECORDER_IN_FILTER;
	return err;
}
