/* SPDX-License-Identifier: MIT */
/* events_exclude.c - leaves out events by name, whatever records them; see events.h. */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "control/recorder/events.h"
#include "kernel/event_name.h"

/* Leaves out the kernel's events with that name. Returns their number. */
static uint32_t exclude_named(struct wm_recorder_events *e, const char *name)
{
	uint32_t fixed, nr = 0;

	if (e->kernel)
		nr += wm_recorder_kernel_off(e->kernel, name, &fixed);
	if (e->sampling)
		nr += wm_sampling_exclude(e->sampling, name);
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (e->options[i] && wm_sources[i]->exclude)
			nr += wm_sources[i]->exclude(e->options[i], name);
	return nr;
}

/*
 * A probe may be given by another spelling of its name, such as a relative path: looks up the one
 * it was recorded under.
 */
static uint32_t exclude_resolved(struct wm_recorder_events *e, const char *name)
{
	struct wm_diag unused = {.offset = -1};
	char root[WM_EVENT_ROOT_BYTES];
	struct wm_event_space space;
	struct wm_event_defs defs;
	uint32_t nr = 0;

	if (wm_glob_is_pattern(name, strlen(name)) || wm_event_space_open(&space, e->search) < 0)
		return 0;
	space.root = e->of ? wm_event_space_root(e->of, root) : NULL;
	wm_event_defs_init(&defs);
	if (wm_event_name_resolve(&space, name, &defs, &unused) > 0)
		for (size_t i = 0; i < defs.nr; i++)
			nr += exclude_named(e, defs.defs[i].name);
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return nr;
}

int wm_recorder_exclude(struct wm_recorder_events *e, const char *glob, struct wm_diag *diag)
{
	static const char prefix[] = "kernel:";
	const char *user,
	    *kernel = strncmp(glob, prefix, strlen(prefix)) ? glob : glob + strlen(prefix);
	uint32_t rule = wm_rules_count(e->rules), nr = 0;
	int err;

	if (!wm_recorder_is_kernels(glob, &user))
		kernel = NULL;
	if (kernel && e->later) {
		err = wm_request_add(e->later, kernel, NULL, true, diag);
		if (err)
			return err;
	} else if (kernel) {
		nr = exclude_named(e, kernel);
		if (!nr && strchr(kernel, ':') && !e->running)
			nr = exclude_resolved(e, kernel);
	}
	if (!user)
		return 0;
	if (rule < WM_RULES_NR_MAX)
		e->in_kernel[rule] = nr > 0;
	err = wm_rules_exclude(e->rules, user, diag);
	return err < 0 ? err : 0;
}
