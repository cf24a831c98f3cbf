/* SPDX-License-Identifier: MIT */
/* inventory.c - the list of files and groups; see inventory.h. */
#include "control/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/rules.h"

int wm_inventory_add_file(struct wm_inventory *l, struct wm_inventory_file *file, const char *title)
{
	struct wm_inventory_file **files = reallocarray(l->files, l->nr_files + 1, sizeof(*files));
	struct wm_inventory_group *groups, *g;

	if (!files) {
		wm_inventory_file_destroy(file);
		return -ENOMEM;
	}
	l->files = files;
	l->files[l->nr_files++] = file;
	if (!title)
		return 0;
	groups = reallocarray(l->groups, l->nr_groups + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	l->groups = groups;
	g = &l->groups[l->nr_groups++];
	*g = (struct wm_inventory_group){.title = strdup(title),
					 .members = calloc(1, sizeof(*g->members))};
	if (!g->title || !g->members)
		return -ENOMEM;
	g->members[g->nr_members++].file = file;
	return 0;
}

void wm_inventory_done(struct wm_inventory *l)
{
	for (uint32_t i = 0; i < l->nr_groups; i++) {
		struct wm_inventory_group *g = &l->groups[i];

		for (uint32_t m = 0; m < g->nr_members; m++) {
			free(g->members[m].on);
			free(g->members[m].unknown);
		}
		free(g->members);
		free(g->pids);
		free(g->title);
	}
	for (uint32_t i = 0; i < l->nr_files; i++)
		wm_inventory_file_destroy(l->files[i]);
	free(l->files);
	free(l->groups);
	free(l->seen);
	*l = (struct wm_inventory){0};
}

bool wm_inventory_wants(const struct wm_rules *rules, const struct wm_class *c)
{
	return !rules || wm_rules_wants(rules, 0, c->provider, c->name, c->level);
}
