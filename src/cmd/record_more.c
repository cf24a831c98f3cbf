/* SPDX-License-Identifier: MIT */
/*
 * record_more.c - what `waymark record` takes of the kernel besides events:
 * --trigger, --synthetic, --stacks, and functions (-e func:kernel:GLOB).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/record.h"
#include "cmd/say.h"

#define FUNCTIONS "func:kernel:"
#define GRAPH     ":graph"

static int add(const char *list[WM_RECORD_MORE_MAX], unsigned *nr, const char *argument,
	       struct wm_diag *diag)
{
	if (*nr == WM_RECORD_MORE_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "at most %u times", WM_RECORD_MORE_MAX);
	list[(*nr)++] = argument;
	return 0;
}

int wm_record_more_trigger(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	return add(m->triggers, &m->nr_triggers, argument, diag);
}

int wm_record_more_synthetic(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	return add(m->synthetics, &m->nr_synthetics, argument, diag);
}

int wm_record_more_stacks(struct wm_record_more *m, const char *argument, struct wm_diag *diag)
{
	for (const char *p = argument; *p;) {
		size_t n = strcspn(p, ",");

		if (n == strlen("kernel") && !strncmp(p, "kernel", n))
			m->kernel_stacks = true;
		else if (n == strlen("user") && !strncmp(p, "user", n))
			m->user_stacks = true;
		else
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "'%.*s' is no stack; there are kernel and user", (int)n,
					   p);
		p += n + (p[n] == ',');
	}
	return 0;
}

static bool is_any(const struct wm_record_more *m)
{
	return m->nr_triggers || m->nr_synthetics || m->kernel_stacks || m->user_stacks;
}

static int said(int err, const struct wm_diag *diag)
{
	wm_say("%s", diag->sentence[0] ? diag->sentence : strerror(-err));
	return err == -ENOENT                                           ? -WM_EXIT_NO_MATCH
	       : err == -EINVAL || err == -EOPNOTSUPP || err == -EEXIST ? -WM_EXIT_USAGE
									: -(int)wm_exit_of(err);
}

int wm_record_more_begin(const struct wm_record_more *m, struct wm_kernel_events **kernel)
{
	struct wm_diag diag = {.offset = -1};
	int err = 0;

	if (is_any(m) && !*kernel)
		err = wm_kernel_events_create(wm_clock_best(), 0, kernel, &diag);
	for (unsigned i = 0; !err && i < m->nr_synthetics; i++)
		err = wm_kernel_events_synthetic(*kernel, m->synthetics[i], &diag);
	if (!err && m->kernel_stacks)
		err = wm_kernel_events_stacks(*kernel, true, &diag);
	if (!err && m->user_stacks)
		err = wm_kernel_events_stacks(*kernel, false, &diag);
	for (unsigned i = 0; !err && i < m->nr_triggers; i++)
		err = wm_kernel_events_trigger(*kernel, m->triggers[i], &diag);
	return err ? said(err, &diag) : 0;
}

bool wm_record_more_is_functions(const char *glob)
{
	size_t n = strlen(glob), back = strlen(":return");

	if (!strncmp(glob, "kernel:", strlen("kernel:")))
		glob += strlen("kernel:");
	return !strncmp(glob, FUNCTIONS, strlen(FUNCTIONS)) &&
	       !(n > back && !strcmp(glob + strlen(glob) - back, ":return")) &&
	       glob[strlen(glob) - 1] != ')';
}

int wm_record_more_functions(const char *glob, struct wm_kernel_events *k, struct wm_diag *diag)
{
	char *name = strdup(strstr(glob, FUNCTIONS) + strlen(FUNCTIONS));
	size_t n = name ? strlen(name) : 0;
	bool graph = n > strlen(GRAPH) && !strcmp(name + n - strlen(GRAPH), GRAPH);
	int err;

	if (!name)
		return -ENOMEM;
	if (graph)
		name[n - strlen(GRAPH)] = '\0';
	err = wm_kernel_events_functions(k, name, graph, diag);
	free(name);
	return err ? err : 1;
}
