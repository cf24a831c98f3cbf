/* SPDX-License-Identifier: MIT */
/*
 * profile_memo.c - caches the bucket of events that are alike: same type, thread, name, process,
 * address and address space; see profile_int.h. Programs are sampled at the same addresses over and
 * over, so one look-up here usually replaces the computation of keys, the address's frame and the
 * bucket's words.
 *
 * As with call chains (stacks.c), events are compared by a 64-bit hash only: in a billion events,
 * the chance that two different ones are treated as the same is one in ten billion, as each is
 * compared with only one other.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/profile_int.h"
#include "base/mix.h"

#define ENTRIES   (1u << 15) /* half a MiB, which fits in the L2 cache */
#define MODE_NONE 0xff       /* mode of an event without an address */

bool wm_memo_fits(const struct wm_profile *p)
{
	for (uint32_t i = 0; i < p->nr_keys; i++)
		if (!p->keys[i].def->name)
			/* cannot be cached: a field of the event can have any value */
			return false;
	return !p->waits && !p->v->branches && !p->chains && !p->v->comms && !p->v->pids;
}

int wm_memo_init(struct wm_memo *m, bool by_cpu)
{
	*m = (struct wm_memo){.by_cpu = by_cpu, .seed = wm_mix_seed()};
	m->entries = calloc(ENTRIES, sizeof(*m->entries));
	return m->entries ? 0 : -ENOMEM;
}

void wm_memo_done(struct wm_memo *m)
{
	free(m->entries);
	*m = (struct wm_memo){0};
}

void wm_memo_forget(struct wm_memo *m)
{
	for (uint32_t i = 0; m->entries && i < ENTRIES; i++)
		m->entries[i].known = false;
}

static int32_t memo_pid_of(const struct wm_sight *s)
{
	return s->event->pid < 0 && s->task ? s->task->pid : s->event->pid;
}

/*
 * Returns whether the event differs from the last one only in its address, as is common while one
 * thread runs.
 */
static bool is_of_run(const struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_memo *m = &p->memo;

	return s->task && s->task == m->task && s->task->comm == m->comm &&
	       s->event->type == m->type && p->pass->nr_told == m->nr_told &&
	       memo_pid_of(s) == m->pid && (!m->by_cpu || s->event->cpu == m->cpu);
}

static void memo_begin_run(struct wm_profile *p, const struct wm_sight *s)
{
	struct wm_memo *m = &p->memo;

	m->type = s->event->type;
	m->task = s->task;
	m->nr_told = p->pass->nr_told;
	m->comm = s->task ? s->task->comm : 0;
	m->pid = memo_pid_of(s);
	m->cpu = m->by_cpu ? s->event->cpu : -1;
	m->who = wm_mix((uintptr_t)m->task ^ m->seed, (uint64_t)(uint32_t)m->pid << 32 | m->comm);
	m->who = wm_mix((uintptr_t)m->type ^ m->who, (uint32_t)m->cpu);
	if (p->of_frame)
		m->who = wm_mix(m->who, wm_spaces_version(p->pass->spaces, m->pid));
}

struct wm_memo_entry *wm_memo_find(struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_event *e = s->event;
	const struct wm_field_ref *ip = &p->samples.fields[s->trace][e->type->index].ip;
	const struct wm_item *item = NULL;
	struct wm_memo_entry *entry;
	uint64_t hash;

	if (p->of_frame && !ip->type)
		return NULL; /* such events have a chain, but no address */
	if (!is_of_run(p, s))
		memo_begin_run(p, s);
	if (p->of_frame)
		item = wm_field_ref_item(ip, e);
	hash = wm_mix(p->memo.who ^ (item ? item->u : 0), item ? e->mode : MODE_NONE) | 1;
	entry = &p->memo.entries[hash >> 32 & (ENTRIES - 1)];
	if (entry->hash != hash)
		*entry = (struct wm_memo_entry){.hash = hash};
	return entry;
}
