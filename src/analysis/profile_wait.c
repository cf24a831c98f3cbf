/* SPDX-License-Identifier: MIT */
/*
 * profile_wait.c - profiles of waiting: weights are the nanoseconds that a thread was off its CPU,
 * from the sched_switch that removed it to the event that shows it running again: the sched_switch
 * to it, or perf's record.
 *
 *   off-cpu   the chain is the thread's when it went to sleep or was preempted
 *   wakeups   the chain is the waker's; the rows are the threads that slept
 *
 * A thread's bucket and start time are stored while it is off. Threads that are off at the end of
 * the trace are not counted; a note reports them. When a thread leaves its CPU twice in a row, or
 * exits while it is off, the trace does not show when it ran again: the wait is not counted, and
 * the result says so. Each CPU's idle thread has tid 0 and does not wait.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/profile_int.h"
#include "base/array.h"
#include "base/plural.h"

/*
 * The state of a thread, indexed by task. In wakeups, a thread that is still running may already
 * have been woken: its waker was faster than its switch. `is_early` marks that bucket, which any
 * later wakeup replaces.
 */
struct wm_wait {
	uint32_t bucket; /* bucket index + 1; 0: no bucket, the wait is not counted */
	bool is_off, is_early;
	bool is_asleep; /* it stopped for a reason other than preemption */
	int64_t since_ns;
};

struct wm_waits {
	struct wm_wait *list;
	uint32_t room;
	/* the field that names the woken thread, indexed by trace and type */
	struct wm_field_ref **woken;
	struct wm_field_ref **states;  /* the state field of the stopping thread, likewise */
	uint64_t nr_ended;             /* waits whose end is in the trace */
	uint64_t nr_endless;           /* waits that have ended, but not in the trace */
	uint64_t nr_dying;             /* likewise, for threads that were exiting */
	uint64_t nr_slept, nr_unwoken; /* waits ended by a wakeup; those whose wakeup is missing */
};

/* The bits of prev_state that are set while a thread sleeps; a preempted one has none. */
#define ASLEEP 0xff
#define DEAD   0x30

static const char *const wakeups[] = {"sched:sched_waking", "sched:sched_wakeup",
				      "sched:sched_wakeup_new"};

static void bind_kind(const struct wm_event_type *t, struct wm_field_ref *f,
		      struct wm_field_ref *state)
{
	if (wm_role_is_named(t, "sched:sched_switch"))
		(void)wm_field_ref_find_in(t, WM_PART_FIELDS, "prev_state", state);
	for (size_t i = 0; i < sizeof(wakeups) / sizeof(wakeups[0]); i++)
		if (wm_role_is_named(t, wakeups[i]) &&
		    !wm_field_ref_find_in(t, WM_PART_FIELDS, "tid", f))
			(void)wm_field_ref_find_in(t, WM_PART_FIELDS, "pid", f);
}

int wm_waits_create(const struct wm_pass *pass, struct wm_waits **ret)
{
	const struct wm_pass_input *in = pass->in;
	struct wm_waits *w = calloc(1, sizeof(*w));

	*ret = w;
	if (!w)
		return -ENOMEM;
	w->woken = calloc(in->nr_traces + 1, sizeof(struct wm_field_ref *));
	w->states = calloc(in->nr_traces + 1, sizeof(struct wm_field_ref *));
	if (!w->woken || !w->states)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->nr_traces; i++) {
		const struct wm_trace *t = in->traces[i];

		w->woken[i] = calloc(t->nr_types + 1, sizeof(**w->woken));
		w->states[i] = calloc(t->nr_types + 1, sizeof(**w->states));
		if (!w->woken[i] || !w->states[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < t->nr_types; k++)
			bind_kind(t->types[k], &w->woken[i][k], &w->states[i][k]);
	}
	return 0;
}

void wm_waits_destroy(struct wm_waits *w, const struct wm_pass *pass)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->woken && w->states && i < pass->in->nr_traces; i++) {
		free(w->woken[i]);
		free(w->states[i]);
	}
	free(w->woken);
	free(w->states);
	free(w->list);
	free(w);
}

static struct wm_wait *wait_of(struct wm_waits *w, const struct wm_task *task)
{
	if (WM_ARRAY_GROW_ZEROED(w->list, w->room, (size_t)task->index + 1))
		return NULL;
	return &w->list[task->index];
}

/* Finds the bucket for a thread's words and an event's chain. */
static int wait_bucket_of(struct wm_profile *p, const struct wm_sight *s,
			  const struct wm_task *task, uint32_t *ret)
{
	struct wm_sight as = *s;
	uint64_t words[WM_PROFILE_WORDS_MAX];

	as.task = task;
	*ret = 0;
	if (!wm_profile_words(p, &as, words)) {
		p->nr_unfit++;
		return 0;
	}
	words[p->buckets.nr_words - 1] = wm_profile_stack(p, s);
	if (words[p->buckets.nr_words - 1] == UINT32_MAX)
		return -ENOMEM;
	*ret = wm_buckets_get(&p->buckets, words) + 1;
	return *ret ? 0 : -ENOMEM;
}

static const struct wm_task *wait_task_of(const struct wm_profile *p, const struct wm_field_ref *f,
					  const struct wm_event *e)
{
	int64_t tid = wm_field_ref_integer(f, e, -1);

	return tid >= 0 && tid <= INT32_MAX ? wm_tasks_find(&p->pass->state.tasks, (int32_t)tid)
					    : NULL;
}

/* Called when a thread resumes: adds its wait to its bucket. */
static int on_back(struct wm_profile *p, const struct wm_task *task, int64_t ns)
{
	struct wm_waits *all = p->waits;
	struct wm_wait *w = task && task->tid ? wait_of(all, task) : NULL;

	if (!task || !task->tid)
		return 0;
	if (!w)
		return -ENOMEM;
	if (w->is_off) {
		all->nr_ended++;
		all->nr_slept += w->is_asleep;
		all->nr_unwoken += w->is_asleep && !w->bucket;
	}
	if (w->is_off && w->bucket && ns > w->since_ns) {
		p->buckets.weights[w->bucket - 1] += (uint64_t)ns - (uint64_t)w->since_ns;
		p->buckets.counts[w->bucket - 1]++;
	}
	*w = (struct wm_wait){0};
	return 0;
}

/*
 * Called when a thread stops. The kernel gives an exiting task's thread another id, so the field
 * decides; such a thread never runs again, and the trace does not say when it last did.
 */
static int on_away(struct wm_profile *p, const struct wm_sight *s, const struct wm_role_bound *r)
{
	const struct wm_field_ref *state = &p->waits->states[s->trace][s->event->type->index];
	int64_t bits = wm_field_ref_integer(state, s->event, 0);
	const struct wm_task *task = r->fields[WM_ROLE_PARENT].type
					 ? wait_task_of(p, &r->fields[WM_ROLE_PARENT], s->event)
					 : s->task;
	struct wm_wait *w = task && task->tid ? wait_of(p->waits, task) : NULL, then;

	if (!task || !task->tid)
		return 0;
	if (!w)
		return -ENOMEM;
	then = *w;
	*w = (struct wm_wait){0};
	if (bits & DEAD) {
		p->waits->nr_dying += then.is_off;
		return 0;
	}
	p->waits->nr_endless += then.is_off;
	*w = (struct wm_wait){.is_off = true, .since_ns = s->event->ns, .is_asleep = bits & ASLEEP};
	if (p->mode == WM_PROFILE_OFF_CPU)
		return wait_bucket_of(p, s, task, &w->bucket);
	if (w->is_asleep && then.is_early) {
		w->bucket = then.bucket;
		w->is_early = true;
	}
	return 0;
}

static int on_wakeup(struct wm_profile *p, const struct wm_sight *s, const struct wm_task *task)
{
	struct wm_wait *w = wait_of(p->waits, task);

	if (!w)
		return -ENOMEM;
	/*
	 * Uses whichever of sched_waking and sched_wakeup comes first, because the waker records
	 * it.
	 */
	if (w->bucket && w->is_off && !w->is_early)
		return 0;
	w->is_early = !w->is_off;
	return wait_bucket_of(p, s, task, &w->bucket);
}

/* A thread that exits is running again. */
static void wait_on_exit(struct wm_waits *waits, const struct wm_task *task)
{
	if (!task || task->index >= waits->room || !waits->list[task->index].is_off)
		return;
	waits->list[task->index] = (struct wm_wait){0};
	waits->nr_endless++;
}

int wm_waits_told(struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_state_trace *st = &p->pass->state.traces[s->trace];
	const struct wm_role_bound *r = &st->roles[s->event->type->index];
	const struct wm_task *task;

	if (s->event->ns == WM_TIME_NONE)
		return 0;
	if (r->role == WM_ROLE_EXIT)
		wait_on_exit(p->waits, wait_task_of(p, &r->fields[WM_ROLE_TID], s->event));
	if (r->role != WM_ROLE_SWITCH && !wm_role_resumes(r, s->event))
		return 0;
	task = r->fields[WM_ROLE_TID].type ? wait_task_of(p, &r->fields[WM_ROLE_TID], s->event)
					   : wm_tasks_find(&p->pass->state.tasks, s->event->tid);
	return on_back(p, task, s->event->ns);
}

int wm_waits_feed(struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_state_trace *st = &p->pass->state.traces[s->trace];
	const struct wm_role_bound *r = &st->roles[s->event->type->index];
	const struct wm_field_ref *woken = &p->waits->woken[s->trace][s->event->type->index];
	const struct wm_task *task;
	int err;

	if (s->event->ns == WM_TIME_NONE)
		return 0;
	if (r->role == WM_ROLE_SWITCH || r->role == WM_ROLE_RESUME || r->role == WM_ROLE_EXIT) {
		err = r->role == WM_ROLE_SWITCH ? on_away(p, s, r) : 0;
		return err ? err : wm_waits_told(p, s);
	}
	task =
	    p->mode == WM_PROFILE_WAKEUPS && woken->type ? wait_task_of(p, woken, s->event) : NULL;
	return task ? on_wakeup(p, s, task) : 0;
}

/* Notes what the trace cannot tell about waits. */
static void wait_note_untold(const struct wm_waits *w, bool of_wakeups, struct wm_result *r)
{
	uint64_t ended = w->nr_ended + w->nr_endless;

	if (w->nr_endless)
		r->untold = wm_result_format(
		    r,
		    "%" PRIu64 " of %" PRIu64 " %s not counted: the trace tells when their "
		    "threads stopped running, but not when they ran again; record with "
		    "'waymark record -c 1 -g -e sched:sched_switch' or with 'perf record "
		    "--switch-events'",
		    w->nr_endless, ended, wm_plural(ended, "wait is", "waits are"));
	else if (of_wakeups && w->nr_unwoken)
		r->untold = wm_result_format(
		    r,
		    "%" PRIu64 " of %" PRIu64 " %s not counted: the wakeups that ended them are "
		    "not in the trace; those by other processes and by the kernel need -a: "
		    "'waymark record -a -c 1 -g -e sched:sched_switch -e sched:sched_waking'",
		    w->nr_unwoken, w->nr_slept, wm_plural(w->nr_slept, "wait is", "waits are"));
	if (r->untold)
		wm_result_note(r, WM_NOTE_LOSS, "untold", "%s", r->untold);
}

void wm_waits_note(const struct wm_profile *p, struct wm_result *r)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < p->waits->room; i++)
		nr += p->waits->list[i].is_off;
	if (nr)
		wm_result_note(r, WM_NOTE_FACT, "waiting",
			       "%" PRIu64 " %s still off the processor at the end, not counted", nr,
			       wm_plural(nr, "thread", "threads"));
	if (p->waits->nr_dying)
		wm_result_note(r, WM_NOTE_FACT, "exiting",
			       "%" PRIu64 " %s of exiting threads not counted", p->waits->nr_dying,
			       wm_plural(p->waits->nr_dying, "wait", "waits"));
	wait_note_untold(p->waits, p->mode == WM_PROFILE_WAKEUPS, r);
}
