/* SPDX-License-Identifier: MIT */
/*
 * record_names.c - what the names people typed mean in the program they named:
 * before it runs, whether filters fit; afterwards, which globs matched nothing
 * and what is near. Looks into CMD's ELF file; a script, or events of a
 * library, are not seen there, so nothing is refused for not being found.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/program.h"
#include "cmd/list.h"
#include "cmd/record.h"
#include "cmd/say.h"
#include "control/attach.h"
#include "elf/elf_file.h"
#include "elf/sites.h"
#include "event/class.h"
#include "event/provider.h"

/* Calls fn for each event in the file of CMD. */
static int each_event(const struct wm_record_plan *plan,
		      int (*fn)(const struct wm_class *c, const struct wm_elf_event *e, void *data),
		      void *data)
{
	struct wm_elf *elf = NULL;
	struct wm_elf_sites sites;
	char *path = plan->command ? wm_program_find(plan->command[0], getenv("PATH")) : NULL;
	char provider[WM_PROVIDER_MAX] = "";
	int err = 0;

	if (path)
		wm_list_provider(path, provider, sizeof(provider));
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

static int check_event(const struct wm_class *c, const struct wm_elf_event *e, void *data)
{
	const struct wm_record_plan *plan = data;
	struct wm_diag diag = {.offset = -1};
	int err = wm_rules_check(plan->rules, c, e->desc, e->desc_bytes, &diag);

	if (err < 0)
		wm_say("record: %s", diag.sentence);
	return err;
}

int wm_record_check_filters(const struct wm_record_plan *plan)
{
	return each_event(plan, check_event, (void *)plan);
}

/* ------------------------------------------------------------------ *
 * "no event matches"
 * ------------------------------------------------------------------ */

/* Near by whole name, or by the event's own name when no provider was given. */
static void offer(const char *provider, const char *name, void *data)
{
	struct wm_nearest *near = data;
	char full[2 * WM_NEAREST_NAME_MAX];

	(void)snprintf(full, sizeof(full), "%s:%s", provider, name);
	wm_nearest_offer(near, strchr(near->wanted, ':') ? full : name);
}

static int offer_event(const struct wm_class *c, const struct wm_elf_event *e, void *data)
{
	(void)e;
	offer(c->provider, c->name, data);
	return 0;
}

static void offer_listed(const struct wm_attach_site *s, void *data)
{
	offer(s->class->provider, s->class->name, data);
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

static void say_unmatched(const struct wm_record_plan *plan, const char *glob)
{
	struct wm_nearest near;
	char sentence[1024], cure[300];

	wm_nearest_init(&near, glob);
	(void)each_event(plan, offer_event, &near);
	for (size_t i = 0; i < plan->nr_pids; i++)
		(void)wm_attach_list(plan->pids[i], offer_listed, &near, NULL);
	wm_nearest_sentence(&near, "", sentence, sizeof(sentence));
	if (plan->command && !plan->nr_pids)
		(void)snprintf(cure, sizeof(cure), "'waymark list %.200s' shows what there is",
			       plan->command[0]);
	else if (plan->nr_pids && kill(plan->pids[0], 0) == 0)
		(void)snprintf(cure, sizeof(cure), "'waymark list -p %d' shows what there is",
			       (int)plan->pids[0]);
	else
		(void)snprintf(cure, sizeof(cure), "'waymark list' shows what there is");
	if (near.nr && near.best[0].distance == 0) /* it is there, but was never passed or joined */
		wm_say("no process with the event '%s' was recorded", glob);
	else
		wm_say("no event matched '%s'; %s", glob, *sentence ? sentence : cure);
}

uint32_t wm_record_say_unmatched(const struct wm_record_plan *plan,
				 const struct wm_recording_totals *t)
{
	uint32_t matched = 0;

	for (uint32_t i = 0; i < plan->nr_asked; i++) {
		if (t->matched[i / 8] >> (i % 8) & 1 || (plan->in_kernel && plan->in_kernel[i]))
			matched++;
		else
			say_unmatched(plan, wm_rules_glob(plan->rules, i));
	}
	return matched;
}
