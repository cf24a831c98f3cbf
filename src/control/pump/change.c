/* SPDX-License-Identifier: MIT */
/*
 * change.c - rule changes while a session is served. A tool sends them; the pump replaces the file
 * and sends RULES to every process. The tool gets its answer when all processes have confirmed the
 * new rules, or a second later. One change at a time: later ones wait.
 *
 * If a process read the file just before it was replaced, its SYNCED has the old generation, and it
 * is sent RULES again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/pump/pumproc_int.h"
#include "control/tool.h"

#define ANSWER_NS WM_NS_PER_SECOND

static uint64_t generation(const struct wm_pumproc *p)
{
	return p->rules ? wm_rules_generation(p->rules) : 0;
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

bool wm_pumproc_change_asked(struct wm_pumproc_member *m, const void *message, size_t bytes)
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

static int replace_rules(struct wm_pumproc *p, const struct wm_msg_change *ask)
{
	const struct wm_session *session = p->o->session;
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
	wm_rules_destroy(p->rules);
	p->rules = rules;
	p->totals.nr_changes++;
	return 0;
}

/* Sends RULES to a process that follows older rules and has not been notified yet. */
static void pump_change_tell(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	if (wm_app_state(m->app) != WM_APP_JOINED || m->told >= generation(p) ||
	    wm_app_synced(m->app)->generation >= generation(p))
		return;
	if (wm_app_send(m->app, WM_MSG_RULES) == 0)
		m->told = generation(p);
}

static void pump_change_answer(struct wm_pumproc *p, int err);

static void pump_change_begin(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	const struct wm_msg_change *ask = m->change;
	const struct wm_report r = {.kind = WM_REPORT_CHANGED};
	int err;

	if (ask->h.type == WM_MSG_CHANGE_KERNEL) {
		wm_pumproc_change_kernel(p, m);
		free(m->change);
		m->change = NULL;
		return;
	}
	err = ask->nr_rules ? replace_rules(p, ask) : 0;
	p->changing = m;
	p->change_until_ns = wm_clock_monotonic_ns() + ANSWER_NS;
	if (err < 0)
		pump_change_answer(p, err);
	else if (ask->nr_rules)
		wm_pumproc_report(p, &r, false);
}

/* ------------------------------------------------------------------ *
 * The answer
 * ------------------------------------------------------------------ */

static bool is_late(const struct wm_pumproc *p, const struct wm_pumproc_member *m)
{
	return wm_app_hears(m->app) && wm_app_synced(m->app)->generation < generation(p);
}

static bool all_follow(const struct wm_pumproc *p)
{
	for (const struct wm_pumproc_member *m = p->members; m; m = m->next)
		if (wm_app_state(m->app) == WM_APP_JOINED && is_late(p, m))
			return false;
	return true;
}

static bool pump_change_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Copies the bits for the last nr_rules rules, so that they start at bit 0. */
static void add_bits(const struct wm_pumproc *p, const struct wm_msg_synced *from,
		     uint32_t nr_rules, struct wm_msg_changed *to)
{
	uint32_t first = p->rules ? wm_rules_count(p->rules) - nr_rules : 0;

	for (uint32_t i = 0; i < nr_rules; i++) {
		to->matched[i / 64] |= (uint64_t)pump_change_bit(from->matched, first + i)
				       << i % 64;
		to->unfit[i / 64] |= (uint64_t)pump_change_bit(from->unfit, first + i) << i % 64;
	}
}

static void pump_change_add_process(const struct wm_pumproc *p, const struct wm_pumproc_member *m,
				    struct wm_msg_changed *to)
{
	const struct wm_msg_synced *synced = wm_app_synced(m->app);
	const struct wm_msg_change *ask = p->changing->change;
	uint32_t nr = to->nr_processes - to->nr_late - to->nr_deaf;

	to->nr_processes++;
	if (is_late(p, m)) {
		to->nr_late++;
	} else if (synced->generation < generation(p)) {
		to->nr_deaf++;
	} else {
		if (nr < WM_CHANGED_PIDS)
			to->pids[nr] = wm_app_pid(m->app);
		if (nr == 0 || synced->nr_events < to->events_min)
			to->events_min = synced->nr_events;
		if (synced->nr_events > to->events_max)
			to->events_max = synced->nr_events;
		add_bits(p, synced, ask->nr_rules, to);
	}
}

static void pump_change_answer(struct wm_pumproc *p, int err)
{
	struct wm_msg_changed a = {
	    .h = {.type = WM_MSG_CHANGED, .bytes = sizeof(a)},
	    .err = err,
	    .generation = generation(p),
	};

	for (struct wm_pumproc_member *m = p->members; m && err == 0; m = m->next)
		if (wm_app_state(m->app) == WM_APP_JOINED)
			pump_change_add_process(p, m, &a);
	(void)wm_app_reply(p->changing->app, &a, sizeof(a)); /* the tool may have exited */
	wm_app_end(p->changing->app);
	free(p->changing->change);
	p->changing->change = NULL;
	p->changing = NULL;
}

void wm_pumproc_change_round(struct wm_pumproc *p)
{
	for (struct wm_pumproc_member *m = p->members; m && !p->changing; m = m->next)
		if (m->change)
			pump_change_begin(p, m);
	for (struct wm_pumproc_member *m = p->members; m && p->rules; m = m->next)
		pump_change_tell(p, m);
	if (p->changing && (all_follow(p) || wm_clock_monotonic_ns() >= p->change_until_ns))
		pump_change_answer(p, 0);
}

void wm_pumproc_change_gone(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	if (p->changing == m)
		p->changing = NULL;
	free(m->change);
	m->change = NULL;
}
