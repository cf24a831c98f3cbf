/* SPDX-License-Identifier: MIT */
/*
 * check_names.c - reports globs that matched no event, with the closest names. For CMD, only its
 * ELF file is searched: events in a library, or in a program that a script starts, are not found.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/record/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "event/class.h"
#include "kernel/event_name.h"
#include "kernel/tracefs.h"

/*
 * Offers a name as a correction. When the glob has no provider, only the event's name is compared.
 */
static void record_names_offer(const char *provider, const char *name, void *data)
{
	struct wm_nearest *near = data;
	char full[2 * WM_NEAREST_NAME_MAX];

	(void)snprintf(full, sizeof(full), "%s:%s", provider, name);
	wm_nearest_offer(near, strchr(near->wanted, ':') ? full : name);
}

static int offer_event(const struct wm_class *c, const struct wm_elf_event *e, void *data)
{
	(void)e;
	record_names_offer(c->provider, c->name, data);
	return 0;
}

static void offer_listed(const struct wm_attach_site *s, void *data)
{
	record_names_offer(s->class->provider, s->class->name, data);
}

const char *wm_record_nearest(const char *glob, const uint32_t *pids, size_t nr, char *buf,
			      size_t size)
{
	struct wm_nearest near;

	wm_nearest_init(&near, glob);
	for (size_t i = 0; i < nr && pids[i]; i++)
		(void)wm_attach_list((pid_t)pids[i], offer_listed, &near, NULL);
	return wm_nearest_sentence(&near, "", buf, size);
}

/* Writes a question with the kernel's events nearest to the name; returns false if none is near. */
static bool ask_kernel(const struct wm_recorder_plan *plan, const char *glob, char *hint,
		       size_t size)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_event_space space;
	struct wm_event_defs defs;
	const char *question = NULL;

	if (!strncmp(glob, "user:", strlen("user:")) ||
	    wm_event_space_open(&space, plan->search) < 0)
		return false;
	wm_event_defs_init(&defs);
	if (wm_event_name_resolve(&space, glob, &defs, &diag) == -ENOENT)
		question = strstr(diag.sentence, WM_NEAREST_QUESTION);
	if (question)
		(void)snprintf(hint, size, "%s", question);
	wm_event_defs_done(&defs);
	wm_event_space_close(&space);
	return question;
}

/*
 * Writes the hint: the command that lists events, or why kernel events were not searched.
 */
static void find_hint(const struct wm_recorder_plan *plan, const char *glob, char *hint,
		      size_t size)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_tracefs *tracefs = NULL;
	int err = strncmp(glob, "user:", strlen("user:")) ? wm_tracefs_open(&tracefs, &diag) : 0;

	wm_tracefs_close(tracefs);
	if (err < 0)
		(void)snprintf(hint, size, "the kernel's events cannot be read: %s",
			       wm_words_of(err, &diag));
	else if (plan->command && !plan->nr_pids)
		(void)snprintf(hint, size, "'waymark list %.200s' lists its events",
			       plan->command[0]);
	else if (plan->nr_pids && kill(plan->pids[0], 0) == 0)
		(void)snprintf(hint, size, "'waymark list -p %d' lists its events",
			       (int)plan->pids[0]);
	else
		(void)snprintf(hint, size, "'waymark list' lists all events");
}

static void record_names_say_unmatched(const struct wm_recorder_plan *plan, const char *glob)
{
	struct wm_nearest near;
	char sentence[1024], hint[WM_DIAG_SENTENCE + 64];

	wm_nearest_init(&near, glob);
	(void)wm_recorder_each_event(plan, offer_event, &near);
	for (size_t i = 0; i < plan->nr_pids; i++)
		(void)wm_attach_list(plan->pids[i], offer_listed, &near, NULL);
	wm_nearest_sentence(&near, "", sentence, sizeof(sentence));
	find_hint(plan, glob, hint, sizeof(hint));
	if (near.nr && near.best[0].distance == 0)
		wm_say("the event '%s' exists, but no process that contains it joined the "
		       "recording",
		       glob);
	else if (*sentence || !ask_kernel(plan, glob, hint, sizeof(hint)))
		wm_say("no event matched '%s'; %s", glob, *sentence ? sentence : hint);
	else
		wm_say("no event matched '%s'; %s", glob, hint);
}

uint32_t wm_record_say_unmatched(const struct wm_recorder_plan *plan,
				 const struct wm_recording_totals *t)
{
	uint32_t matched = 0;

	for (uint32_t i = 0; i < plan->nr_asked; i++) {
		if (t->matched[i / 8] >> (i % 8) & 1 || (plan->events->in_kernel[i]))
			matched++;
		else
			record_names_say_unmatched(plan, wm_rules_glob(plan->events->rules, i));
	}
	return matched;
}
