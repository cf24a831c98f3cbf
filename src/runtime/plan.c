/* SPDX-License-Identifier: MIT */
/*
 * plan.c - computes the state of each event from rules and probes: dormant, the direct case (its
 * word is its id), or the gate with a plan.
 *
 * An update has four steps, so that the recorder knows every event that is recorded, and nothing is
 * freed while in use:
 *   1. compute the next word and plan of each event; announce new ids
 *   2. flush the announcements to the recorders
 *   3. publish (plan, then word) and flip sites: off before the word goes
 *      dormant, on after it has woken
 *   4. wait until no thread can still use the old plans, then free them
 */
#include "base/atomic.h"
#include "base/clock.h"
#include "base/glob.h"
#include "ring/counts.h"
#include "runtime/mark_int.h"
#include "runtime/patch_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define WORD_UNKNOWN (~0ull) /* differs from the word of every event */

static struct wm_plan *retired;
/*
 * Set while an update publishes; if it is already set when an update begins, this is a child that
 * was forked during one.
 */
static bool publishing;

static bool rule_matches(const struct wm_guest_rule *r, const struct wm_event_entry *e)
{
	return e->desc->level <= r->level_max &&
	       wm_glob_match(r->glob, r->glob_bytes, e->provider, e->name_bytes);
}

/*
 * Space for linked filters while a plan is built. Only one update runs at a time, under the lock.
 */
struct draft {
	struct wm_plan plan;
	unsigned char storage[WM_FILTERS_MAX * 2 * WM_FILTER_STORAGE_MAX];
	size_t used;
};
static struct draft *draft;

static bool plan_add_filter(struct wm_plan_slot *p, const struct wm_guest_rule *r,
			    const struct wm_event_entry *e)
{
	unsigned char *at = draft->storage + draft->used;
	int64_t n = p->nr_filters < WM_FILTERS_MAX
			? wm_filter_link(r->filter, r->filter_bytes, e->desc, e->desc->size, at,
					 sizeof(draft->storage) - draft->used)
			: -28; /* ENOSPC */
	if (n < 0)
		return false;
	p->filter[p->nr_filters++] = (const struct wm_filter *)(const void *)at;
	draft->used += ((size_t)n + 15) & ~(size_t)15;
	return true;
}

static void set_bit(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= 1ull << i % 64;
}

/*
 * Records, once, that none of the filters of the rules that match the event fit it, or that there
 * was no room for a filter.
 */
static void note_unfit(struct wm_event_entry *e, unsigned k)
{
	struct wm_guest_session *s = &wm_rt.session[k];

	s->missing_field += e->slot[k].unfit != s->generation;
	e->slot[k].unfit = s->generation;
}

/* Computes what session k wants from the event, using the matching rules of the last change. */
static void plan_slot(struct wm_plan_slot *p, unsigned k, struct wm_event_entry *e)
{
	struct wm_guest_session *s = &wm_rt.session[k];
	bool all = false, off = false, unfit = false, too_many = false;
	const struct wm_guest_rule *last = NULL;

	for (uint32_t i = s->active ? s->nr_rules : 0; i-- > 0;) {
		const struct wm_guest_rule *r = &s->rule[i];
		if (last && r->change != last->change)
			break;
		if (!rule_matches(r, e))
			continue;
		last = r;
		set_bit(s->matched, i);
		p->contexts |= r->contexts;
		if (r->flags & WM_RULE_OFF) {
			off = true;
		} else if (!r->filter_bytes) {
			all = true;
		} else if (!plan_add_filter(p, r, e)) {
			unfit = true;
			too_many = too_many || p->nr_filters == WM_FILTERS_MAX;
			set_bit(s->unfit, i);
		}
	}
	p->on = !off && (all || p->nr_filters);
	if (all)
		p->nr_filters = 0;
	if (!off && !all && (too_many || (unfit && !p->on)))
		note_unfit(e, k);
}

static bool plan_id(struct wm_event_entry *e, unsigned k, struct wm_plan_slot *p)
{
	struct wm_guest_session *s = &wm_rt.session[k];

	if (!e->slot[k].known || e->slot[k].generation != s->generation ||
	    e->slot[k].contexts != p->contexts) {
		if (s->next_id >= WM_EVENTS_MAX)
			return false;
		if (!wm_guest_session_announce(s, e, s->next_id, p->contexts))
			return false; /* an event unknown to the recorder is not recorded */
		e->slot[k].id = s->next_id++;
		e->slot[k].contexts = p->contexts;
		e->slot[k].generation = s->generation;
		e->slot[k].known = true;
	}
	p->id = (uint16_t)e->slot[k].id;
	return true;
}

/* Copies the draft to its own mapping and relocates its pointers. */
static struct wm_plan *keep_plan(void)
{
	size_t bytes = sizeof(struct wm_plan) + draft->used;
	struct wm_plan *p = wm_sys_map(bytes);

	if (!p)
		return NULL;
	wm_mem_copy(p, &draft->plan, sizeof(*p));
	wm_mem_copy(p + 1, draft->storage, draft->used);
	p->bytes = bytes;
	for (unsigned k = 0; k < WM_SLOTS; k++)
		for (uint32_t i = 0; i < p->slot[k].nr_filters; i++) {
			size_t at =
			    (size_t)((const unsigned char *)p->slot[k].filter[i] - draft->storage);
			p->slot[k].filter[i] = (const void *)((const unsigned char *)(p + 1) + at);
		}
	return p;
}

/*
 * Finds a quick test. With one recorder, one filter and no callbacks, the first test of the filter
 * rejects most events. Without a filter, and when the recorder only counts, incrementing the count
 * is enough.
 */
static void find_quick(struct wm_plan *p)
{
	const struct wm_plan_slot *only = NULL;
	unsigned nr = 0;

	for (unsigned k = 0; k < WM_SLOTS; k++) {
		if (p->slot[k].on) {
			only = &p->slot[k];
			nr++;
		}
	}
	p->quick.kind = WM_FILTER_QUICK_NONE;
	if (nr != 1 || p->nr_probes)
		return;
	if (only->nr_filters == 1 && wm_filter_quick(only->filter[0], &p->quick))
		return;
	p->quick.kind = WM_FILTER_QUICK_NONE;
	if (only == p->slot && !only->nr_filters && wm_rt.session[0].counts) {
		p->quick.kind = WM_QUICK_COUNT;
		p->quick.offset = wm_counts_at(only->id);
	}
}

static bool plan_is_direct(const struct wm_plan *p)
{
	const struct wm_guest_session *s = &wm_rt.session[0];
	for (unsigned k = 1; k < WM_SLOTS; k++)
		if (p->slot[k].on)
			return false;
	return p->slot[0].on && !p->slot[0].nr_filters && !p->slot[0].contexts && !p->nr_probes &&
	       s->clock_kind == WM_CLOCK_CYCLES && !s->counts;
}

/* Step 1 of an update, for one event. */
static void plan_compute(struct wm_event_entry *e)
{
	struct wm_plan *p = &draft->plan;
	bool any = false;

	wm_mem_zero(p, sizeof(*p));
	draft->used = 0;
	for (unsigned k = 0; k < WM_SLOTS; k++) {
		plan_slot(&p->slot[k], k, e);
		p->slot[k].on = p->slot[k].on && plan_id(e, k, &p->slot[k]);
		any = any || p->slot[k].on;
	}
	p->mark = wm_mark_callbacks(e->desc) ? e->desc : NULL;
	p->nr_probes = wm_guest_probe_fill(e, p->probe, WM_PROBES_MAX);
	find_quick(p);
	p->nr_probes += wm_link_fill(e, p->probe + p->nr_probes, WM_PROBES_MAX - p->nr_probes);
	e->next_plan = NULL;
	e->next_word = WAYMARK_WORD_COMPLEX;
	if (plan_is_direct(p)) {
		e->next_word = p->slot[0].id;
	} else if (any || p->nr_probes) {
		e->next_plan = keep_plan();
		if (e->next_plan)
			e->next_word |= (any ? WAYMARK_WORD_RECORD : 0) |
					(p->nr_probes ? WAYMARK_WORD_PROBES : 0);
	}
	for (unsigned k = 0; k < WM_SLOTS; k++)
		e->slot[k].on = p->slot[k].on && e->next_word != WAYMARK_WORD_COMPLEX;
	e->changed = e->next_word != e->word || e->next_plan || e->plan;
}

static void set_state(const struct wm_site_ref *r, uint64_t word, struct wm_plan *plan)
{
	struct waymark_event_state *event = wm_site_event(r->site);
	wm_store_release((struct wm_plan **)&event->binding, plan);
	wm_store_release(&event->word, word);
}

static bool wakes(const struct wm_event_entry *e)
{
	return e->changed && e->next_word != WAYMARK_WORD_COMPLEX &&
	       (!e->enabled || e->word == WORD_UNKNOWN);
}

static bool falls_asleep(const struct wm_event_entry *e)
{
	return e->changed && e->next_word == WAYMARK_WORD_COMPLEX &&
	       (e->enabled || e->word == WORD_UNKNOWN);
}

static bool plan_is_on(const struct wm_event_entry *e)
{
	return e->enabled;
}

static void plan_flip(const struct wm_site_ref *r, bool on)
{
	struct waymark_event_state *event = wm_site_event(r->site);

	wm_store_release(&event->enabled, on);
	if (r->site->insn && wm_patch_init(false) != WM_PATCH_NONE && !wm_patch_site(r->site, on))
		wm_rt.refused++;
	/*
	 * Skips events that are already on: a tool has switched them on when a span begins by
	 * joining.
	 */
	if (!on)
		wm_store_relaxed(&event->epoch, event->epoch + 1);
}

/* Flips all sites in the module whose event satisfies `such`. */
static void flip_module(struct wm_guest_module *m, bool on,
			bool (*such)(const struct wm_event_entry *))
{
	uintptr_t first = UINTPTR_MAX, last = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->nr_sites; i++) {
		const struct wm_site_ref *r = &m->ref[i];
		uintptr_t at;

		if (!r->entry || !such(r->entry))
			continue;
		at = (uintptr_t)wm_site_pointer(&r->site->insn);
		if (at >= m->text_start && at < m->text_end) {
			first = at < first ? at : first;
			last = at > last ? at : last;
		}
		nr++;
	}
	if (!nr)
		return;
	if (nr >= WM_WINDOW_SITES && last)
		(void)wm_window_open(first, last + 1);
	for (uint32_t i = 0; i < m->nr_sites; i++)
		if (m->ref[i].entry && such(m->ref[i].entry))
			plan_flip(&m->ref[i], on);
	wm_rt.refused += wm_window_close();
}

static void flip_all(bool on, bool (*such)(const struct wm_event_entry *))
{
	for (struct wm_guest_module *m = wm_rt.modules; m; m = m->next)
		flip_module(m, on, such);
}

/*
 * An event without a plan must not have a plan pointer either: the old plan will be freed, and a
 * tool that attaches sets RECORD from outside, which leads threads to the pointer. Where the event
 * stays on, in the direct case, the word is stored first: a thread that finds the old word and no
 * plan rereads the word (wm_gate()) and then finds the new one.
 */
static void set_states(const struct wm_event_entry *e)
{
	bool direct = !(e->next_word & WAYMARK_WORD_COMPLEX);

	for (struct wm_site_ref *r = e->refs; r; r = r->next) {
		if (direct)
			wm_store_release(&wm_site_event(r->site)->word, e->next_word);
		set_state(r, e->next_word, e->next_plan);
	}
}

static void plan_settle(struct wm_event_entry *e)
{
	if (e->plan) {
		e->plan->next_retired = retired;
		retired = e->plan;
	}
	e->word = e->next_word;
	e->plan = e->next_plan;
	e->next_plan = NULL;
	e->enabled = e->next_word != WAYMARK_WORD_COMPLEX;
	e->changed = false;
}

/* Step 3 of an update. Called between wm_patch_begin() and wm_patch_end(). */
static void publish(void)
{
	struct wm_event_entry *e;

	publishing = true;
	flip_all(false, falls_asleep);
	for (e = wm_rt.events; e; e = e->next)
		if (e->changed)
			set_states(e);
	flip_all(true, wakes);
	for (e = wm_rt.events; e; e = e->next)
		if (e->changed)
			plan_settle(e);
	publishing = false;
}

static void free_retired(void)
{
	if (!retired || wm_thread_is_haunted())
		return;
	if (!wm_thread_quiesce(1000))
		return; /* a thread is still in an emit; the next update tries again */
	while (retired) {
		struct wm_plan *p = retired;
		retired = p->next_retired;
		if (!p->keep)
			wm_sys_unmap(p, p->bytes);
	}
}

static bool plan_begin(void)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_rt.session[k].active)
			(void)wm_guest_session_is_deaf(&wm_rt.session[k]);
	if (!draft)
		draft = wm_sys_map(sizeof(*draft));
	return draft != NULL;
}

static bool flush_all(void)
{
	bool ok = true;
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_rt.session[k].active && wm_guest_session_flush(&wm_rt.session[k]) < 0)
			ok = false;
	return ok;
}

static bool is_linked(const struct wm_event_entry *e)
{
	return e->desc->flags & WAYMARK_DESC_LINKED;
}

/* Recomputes the typed events to which marker l is linked, after l itself. */
static void compute_carriers(const struct wm_event_entry *l)
{
	for (struct wm_event_entry *e = wm_rt.events; e; e = e->next)
		if (wm_link_rides(l, e))
			plan_compute(e);
}

/* Steps 2 to 4 of an update. */
static void publish_all(void)
{
	(void)flush_all(); /* a failure is ignored; the agent notices when a recorder has exited */
	wm_patch_begin();
	publish();
	wm_patch_end();
	free_retired();
	wm_guest_session_counts();
}

void wm_plan_update_all(void)
{
	struct wm_event_entry *e;

	if (!plan_begin())
		return;
	for (e = publishing ? wm_rt.events : NULL; e; e = e->next)
		e->word = WORD_UNKNOWN;
	for (e = wm_link_first(); e; e = e->next_linked)
		plan_compute(e);
	for (e = wm_rt.events; e; e = e->next)
		if (!is_linked(e))
			plan_compute(e);
	publish_all();
}

void wm_plan_update_event(struct wm_event_entry *e)
{
	if (!plan_begin())
		return;
	plan_compute(e);
	if (is_linked(e))
		compute_carriers(e);
	publish_all();
}

void wm_plan_update_module(struct wm_guest_module *m)
{
	uint32_t nr_linked = 0;

	if (!plan_begin())
		return;
	for (uint32_t i = 0; i < m->nr_sites; i++)
		if (m->ref[i].entry && is_linked(m->ref[i].entry)) {
			plan_compute(m->ref[i].entry);
			nr_linked++;
		}
	for (uint32_t i = 0; i < m->nr_sites; i++)
		if (m->ref[i].entry && !is_linked(m->ref[i].entry) && !m->ref[i].entry->enabled)
			plan_compute(m->ref[i].entry);
	for (uint32_t i = 0; nr_linked && i < m->nr_sites; i++)
		if (m->ref[i].entry && is_linked(m->ref[i].entry))
			compute_carriers(m->ref[i].entry);
	(void)flush_all();
	wm_patch_begin();
	for (uint32_t i = 0; i < m->nr_sites; i++) {
		const struct wm_event_entry *e = m->ref[i].entry;
		if (e && e->enabled && !e->changed)
			set_state(&m->ref[i], e->word, e->plan);
	}
	publish(); /* flips all sites of changed events, including those in this module */
	/* And flips this module's sites for events that were already on. */
	flip_module(m, true, plan_is_on);
	wm_patch_end();
	free_retired();
	wm_guest_session_counts();
}

void wm_plan_links_lost(struct wm_guest_module *m)
{
	uint32_t nr_linked = 0;

	if (!plan_begin())
		return;
	for (uint32_t i = 0; i < m->nr_sites; i++)
		if (m->ref[i].entry && is_linked(m->ref[i].entry)) {
			compute_carriers(m->ref[i].entry);
			nr_linked++;
		}
	if (nr_linked)
		publish_all();
}

void wm_plan_restore(void)
{
	wm_patch_begin();
	for (struct wm_event_entry *e = wm_rt.events; e; e = e->next)
		for (struct wm_site_ref *r = e->refs; r; r = r->next) {
			struct waymark_event_state *event = wm_site_event(r->site);
			if (wm_load_relaxed(&event->word) == e->word)
				continue;
			wm_store_release(&event->word, e->word);
			if (e->enabled)
				continue;
			wm_store_release(&event->enabled, 0);
			if (r->site->insn)
				/* Does nothing if the bytes are not those of a site. */
				(void)wm_patch_site(r->site, false);
		}
	wm_patch_end();
}

void wm_plan_drop_module(struct wm_guest_module *m)
{
	/* The module's events keep their plans, which are still in use during exit(). */
	for (uint32_t i = 0; i < m->nr_sites; i++)
		if (m->ref[i].entry && m->ref[i].entry->plan)
			m->ref[i].entry->plan->keep = true;
}
