/* SPDX-License-Identifier: MIT */
/*
 * change.c - changes of rules while a session is served. A tool sends them; the pump
 * replaces the file and sends RULES to every process. The tool gets its answer when
 * all processes have confirmed the new rules, or a second later. One change at a time:
 * later ones wait.
 *
 * When a process read the file just before it was replaced, its SYNCED has the old generation, and
 * it gets RULES again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/pump/pumproc_int.h"
#include "control/tool.h"

#define ANSWER_NS WM_NS_PER_SECOND

static uint64_t generation(const struct serving *s)
{
	return s->rules ? wm_rules_generation(s->rules) : 0;
}

/* Checks the fields with which both kinds of request begin. */
static bool makes_sense(const void *message, size_t bytes)
{
	struct wm_msg_change ask;

	if (bytes < sizeof(ask))
		return false;
	memcpy(&ask, message, sizeof(ask));
	return ask.h.type == WM_MSG_CHANGE_KERNEL ||
	       (ask.h.type == WM_MSG_CHANGE && ask.nr_rules <= WM_RULES_NR_MAX);
}

bool wm_serving_change_asked(struct member *m, const void *message, size_t bytes)
{
	if (m->change || !makes_sense(message, bytes))
		return false;
	m->change = malloc(bytes);
	if (!m->change)
		return false;
	memcpy(m->change, message, bytes);
	return true; /* the next round starts the change */
}

/* ------------------------------------------------------------------ *
 * Beginning
 * ------------------------------------------------------------------ */

static int replace_rules(struct serving *s, const struct wm_msg_change *ask)
{
	const struct wm_session *session = s->o->session;
	struct wm_rules *rules = NULL;
	int err = wm_rules_load(session->dirfd, &rules);

	if (err == 0)
		err = wm_rules_change(&rules, ask + 1, ask->h.bytes - sizeof(*ask), ask->nr_rules,
				      NULL);
	if (err == 0)
		err = wm_rules_write(rules, session->dirfd, session->file_mode);
	if (err < 0) {
		wm_rules_destroy(rules);
		return err;
	}
	wm_rules_destroy(s->rules);
	s->rules = rules;
	s->totals.nr_changes++;
	return 0;
}

/* Sends RULES to a process that follows older rules and was not notified yet. */
static void pump_change_tell(struct serving *s, struct member *m)
{
	if (wm_app_state(m->app) != WM_APP_JOINED || m->told >= generation(s) ||
	    wm_app_synced(m->app)->generation >= generation(s))
		return;
	if (wm_app_send(m->app, WM_MSG_RULES) == 0)
		m->told = generation(s);
}

static void pump_change_answer(struct serving *s, int err);

static void pump_change_begin(struct serving *s, struct member *m)
{
	const struct wm_msg_change *ask = m->change;
	const struct wm_report r = {.kind = WM_REPORT_CHANGED};
	int err;

	if (ask->h.type == WM_MSG_CHANGE_KERNEL) {
		wm_serving_change_kernel(s, m);
		free(m->change);
		m->change = NULL;
		return;
	}
	err = ask->nr_rules ? replace_rules(s, ask) : 0;
	s->changing = m;
	s->change_until_ns = wm_clock_monotonic_ns() + ANSWER_NS;
	if (err < 0)
		pump_change_answer(s, err);
	else if (ask->nr_rules)
		wm_serving_report(s, &r, false);
}

/* ------------------------------------------------------------------ *
 * The answer
 * ------------------------------------------------------------------ */

static bool is_late(const struct serving *s, const struct member *m)
{
	return wm_app_hears(m->app) && wm_app_synced(m->app)->generation < generation(s);
}

static bool all_follow(const struct serving *s)
{
	for (const struct member *m = s->members; m; m = m->next)
		if (wm_app_state(m->app) == WM_APP_JOINED && is_late(s, m))
			return false;
	return true;
}

static bool pump_change_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Copies the bits of the last nr_rules rules, beginning at bit 0. */
static void add_bits(const struct serving *s, const struct wm_msg_synced *from, uint32_t nr_rules,
		     struct wm_msg_changed *to)
{
	uint32_t first = s->rules ? wm_rules_count(s->rules) - nr_rules : 0;

	for (uint32_t i = 0; i < nr_rules; i++) {
		to->matched[i / 64] |= (uint64_t)pump_change_bit(from->matched, first + i)
				       << i % 64;
		to->unfit[i / 64] |= (uint64_t)pump_change_bit(from->unfit, first + i) << i % 64;
	}
}

static void pump_change_add_process(const struct serving *s, const struct member *m,
				    struct wm_msg_changed *to)
{
	const struct wm_msg_synced *synced = wm_app_synced(m->app);
	const struct wm_msg_change *ask = s->changing->change;
	uint32_t nr = to->nr_processes - to->nr_late - to->nr_deaf;

	to->nr_processes++;
	if (is_late(s, m)) {
		to->nr_late++;
	} else if (synced->generation < generation(s)) {
		to->nr_deaf++;
	} else {
		if (nr < WM_CHANGED_PIDS)
			to->pids[nr] = wm_app_pid(m->app);
		if (nr == 0 || synced->nr_events < to->events_min)
			to->events_min = synced->nr_events;
		if (synced->nr_events > to->events_max)
			to->events_max = synced->nr_events;
		add_bits(s, synced, ask->nr_rules, to);
	}
}

static void pump_change_answer(struct serving *s, int err)
{
	struct wm_msg_changed a = {
	    .h = {.type = WM_MSG_CHANGED, .bytes = sizeof(a)},
	    .err = err,
	    .generation = generation(s),
	};

	for (struct member *m = s->members; m && err == 0; m = m->next)
		if (wm_app_state(m->app) == WM_APP_JOINED)
			pump_change_add_process(s, m, &a);
	(void)wm_app_reply(s->changing->app, &a, sizeof(a)); /* the tool may have exited */
	wm_app_end(s->changing->app);
	free(s->changing->change);
	s->changing->change = NULL;
	s->changing = NULL;
}

void wm_serving_change_round(struct serving *s)
{
	for (struct member *m = s->members; m && !s->changing; m = m->next)
		if (m->change)
			pump_change_begin(s, m);
	for (struct member *m = s->members; m && s->rules; m = m->next)
		pump_change_tell(s, m);
	if (s->changing && (all_follow(s) || wm_clock_monotonic_ns() >= s->change_until_ns))
		pump_change_answer(s, 0);
}

void wm_serving_change_gone(struct serving *s, struct member *m)
{
	if (s->changing == m)
		s->changing = NULL;
	free(m->change);
	m->change = NULL;
}
