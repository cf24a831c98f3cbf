/* SPDX-License-Identifier: MIT */
/* misspelt.c - see misspelt_int.h. */
#include "control/recorder/misspelt_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "control/recorder.h"
#include "event/class.h"
#include "kernel/tracefs.h"

static int misspelt_is_named(const struct wm_class *c, const struct wm_elf_event *event, void *data)
{
	(void)event;
	return !strcmp(c->name, data);
}

static bool misspelt_is_of_command(const struct wm_recorder_events *e, const char *name)
{
	const struct wm_recorder_plan plan = {.command = e->command, .search = e->search};

	return wm_recorder_each_event(&plan, misspelt_is_named, (void *)name);
}

/*
 * Whether the nearest name contains the wanted one. Then the wanted name may be complete, and that
 * of a library's event, which is not known before the library is loaded.
 */
static bool nearest_contains(const char *question, const char *name)
{
	const char *nearest = question + strlen(WM_NEAREST_QUESTION), *end;
	const char *at;

	nearest += *nearest == '\'';
	end = nearest + strcspn(nearest, "'");
	at = strcasestr(nearest, name);
	return at && at < end;
}

bool wm_recorder_is_misspelt(const struct wm_recorder_events *e, const struct wm_event_space *space,
			     const char *glob, const struct wm_diag *diag)
{
	const char *colon = strchr(glob, ':'), *question;

	question = strstr(diag->sentence, WM_NEAREST_QUESTION);
	if (!question || wm_glob_is_pattern(glob, strlen(glob)))
		return false;
	if (colon)
		return space->tracefs &&
		       wm_tracefs_has_system(space->tracefs, glob, (size_t)(colon - glob));
	return !nearest_contains(question, glob) && !misspelt_is_of_command(e, glob);
}

int wm_recorder_refuse_misspelt(const char *glob, struct wm_diag *diag)
{
	char sentence[sizeof(diag->sentence)];

	(void)snprintf(sentence, sizeof(sentence), "%s", diag->sentence);
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "%.400s (for an event of a program, write user:%.100s)", sentence, glob);
}
