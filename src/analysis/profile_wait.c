/* SPDX-License-Identifier: MIT */
/*
 * profile_wait.c - profiles of waiting: weights are the nanoseconds that a thread
 * was off its processor, from the sched_switch that removed it to the one that
 * resumed it.
 *
 *   off-cpu the chain is that of the thread when it went to sleep or was preempted
 *   wakeups the chain is that of the waker; the rows are the threads that slept
 *
 * A thread's bucket and start time are stored while it is off. Threads that are
 * off at the end of the trace are not counted; a note reports them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/profile_int.h"
#include "base/array.h"
#include "base/plural.h"

/* The state of a thread that is off its processor, indexed by task. */
struct wm_wait {
	uint32_t bucket; /* bucket index + 1; 0: no bucket, the wait is not counted */
	bool is_off;
	int64_t since_ns;
};

struct wm_waits {
	struct wm_wait *list;
	uint32_t room;
	/* the field with the woken thread, indexed by trace and type */
	struct wm_field_ref **woken;
};

static const char *const wakeups[] = {"sched:sched_waking", "sched:sched_wakeup",
				      "sched:sched_wakeup_new"};

static void bind_kind(const struct wm_event_type *t, struct wm_field_ref *f)
{
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
	for (uint32_t i = 0; w->woken && i < in->nr_traces; i++) {
		const struct wm_trace *t = in->traces[i];

		w->woken[i] = calloc(t->nr_types + 1, sizeof(**w->woken));
		if (!w->woken[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < t->nr_types; k++)
			bind_kind(t->types[k], &w->woken[i][k]);
	}
	return w->woken ? 0 : -ENOMEM;
}

void wm_waits_destroy(struct wm_waits *w, const struct wm_pass *pass)
{
	if (!w)
		return;
	for (uint32_t i = 0; w->woken && i < pass->in->nr_traces; i++)
		free(w->woken[i]);
	free(w->woken);
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
	struct wm_wait *w = wait_of(p->waits, task);

	if (!w)
		return -ENOMEM;
	if (w->is_off && w->bucket && ns > w->since_ns) {
		p->buckets.weights[w->bucket - 1] += (uint64_t)ns - (uint64_t)w->since_ns;
		p->buckets.counts[w->bucket - 1]++;
	}
	*w = (struct wm_wait){0};
	return 0;
}

static int on_away(struct wm_profile *p, const struct wm_sight *s)
{
	struct wm_wait *w = s->task ? wait_of(p->waits, s->task) : NULL;

	if (!s->task)
		return 0;
	if (!w)
		return -ENOMEM;
	*w = (struct wm_wait){.is_off = true, .since_ns = s->event->ns};
	return p->mode == WM_PROFILE_OFF_CPU ? wait_bucket_of(p, s, s->task, &w->bucket) : 0;
}

static int on_wakeup(struct wm_profile *p, const struct wm_sight *s, const struct wm_task *task)
{
	struct wm_wait *w = wait_of(p->waits, task);

	if (!w)
		return -ENOMEM;
	/*
	 * Uses the first of the events sched_waking and sched_wakeup, because it is recorded by the
	 * waker.
	 */
	return w->is_off && !w->bucket ? wait_bucket_of(p, s, task, &w->bucket) : 0;
}

int wm_waits_feed(struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_state_trace *st = &p->pass->state.traces[s->trace];
	const struct wm_role_bound *r = &st->roles[s->event->type->index];
	const struct wm_field_ref *woken = &p->waits->woken[s->trace][s->event->type->index];
	const struct wm_task *task;
	int err = 0;

	if (s->event->ns == WM_TIME_NONE)
		return 0;
	if (r->role == WM_ROLE_SWITCH) {
		task = wait_task_of(p, &r->fields[WM_ROLE_TID], s->event);
		err = on_away(p, s);
		return err || !task ? err : on_back(p, task, s->event->ns);
	}
	task =
	    p->mode == WM_PROFILE_WAKEUPS && woken->type ? wait_task_of(p, woken, s->event) : NULL;
	return task ? on_wakeup(p, s, task) : 0;
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
}
