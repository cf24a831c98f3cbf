/* SPDX-License-Identifier: MIT */
/*
 * proc.c - /proc counters as a source for the pump: reads them when a timer expires. proc_source.h
 * reads the files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/plural.h"
#include "collect/proc_source.h"
#include "collect/source.h"

#define NS_PER_S WM_NS_PER_SECOND
#define FULL_NS  10000000u /* interval between attempts while the reader of a live trace is late */

/* --- options -------------------------------------------------------------------------------- */

struct options {
	struct wm_proc_choice choices[WM_PROC_EVENTS_MAX]; /* filters are malloc'ed */
	size_t nr;
};

static bool takes(const char *name, const struct wm_event_def *def)
{
	(void)name;
	return def && def->proc;
}

static bool is_chosen(const struct options *o, const struct wm_proc_event *event)
{
	for (size_t i = 0; o && i < o->nr; i++)
		if (o->choices[i].event == event)
			return true;
	return false;
}

/* Adds an event to the options. An event chosen before does not change. */
static int proc_choose(void **options, const struct wm_source_wanted *w,
		       const struct wm_proc_event *e, struct wm_diag *diag)
{
	struct wm_proc_choice c = {
	    .event = e,
	    .every_ns = w->every_ns ? w->every_ns : WM_PROC_EVERY_DEFAULT_NS,
	    .filter = w->filter,
	};
	struct options *o = *options;
	int err;

	if (is_chosen(o, e) || (o && o->nr == WM_PROC_EVENTS_MAX))
		return 0;
	err = wm_source_proc_check(&c, diag);
	if (err) /* here -ENOENT means that a field in the filter does not exist, not the event */
		return w->filter && err == -ENOENT ? -EINVAL : err;
	if (!o)
		*options = o = calloc(1, sizeof(*o));
	c.filter = w->filter ? strdup(w->filter) : NULL;
	if (!o || (w->filter && !c.filter)) {
		free((char *)c.filter);
		return -ENOMEM;
	}
	o->choices[o->nr++] = c;
	return 0;
}

static int proc_want(void **options, const struct wm_source_wanted *w, struct wm_diag *diag)
{
	int err = 0;

	if (w->sampled)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "%s is read, not sampled: use --every for the interval",
				   w->defs[0].name);
	for (size_t i = 0; !err && i < w->nr_defs; i++)
		if (w->defs[i].proc)
			err = proc_choose(options, w, w->defs[i].proc, diag);
	return err ? err : (int)w->nr_defs;
}

/* Whether a glob such as "proc:vm*" or "vmstat" means the event. */
static bool is_meant(const char *glob, const char *event)
{
	if (strchr(glob, ':') && strncmp(glob, "proc:", strlen("proc:")) != 0)
		return false;
	glob += strchr(glob, ':') ? strlen("proc:") : 0;
	return wm_glob_match(glob, strlen(glob), event, strlen(event));
}

static uint32_t proc_exclude(void *options, const char *name)
{
	struct options *o = options;
	size_t kept = 0, nr = o->nr;

	for (size_t i = 0; i < nr; i++) {
		if (is_meant(name, o->choices[i].event->name))
			free((char *)o->choices[i].filter);
		else
			o->choices[kept++] = o->choices[i];
	}
	o->nr = kept;
	return (uint32_t)(nr - kept);
}

static void proc_forget(void *options)
{
	struct options *o = options;

	for (size_t i = 0; i < o->nr; i++)
		free((char *)o->choices[i].filter);
	free(o);
}

/* --- in the pump ------------------------------------------------------------------------------ */

struct proc {
	struct wm_source_host host;
	struct wm_proc_source *source;
	int timer;
};

/* Sets the timer. It is a timerfd, because the loop's own timers may be a millisecond late. */
static void wait_until(struct proc *p, uint64_t ns)
{
	const struct itimerspec at = {.it_value = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)}};

	(void)timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &at, NULL); /* the arguments are valid */
}

static void wait_for_next(struct proc *p)
{
	wait_until(p, wm_source_proc_next(p->source));
}

static void on_due(int fd, uint32_t events, void *data)
{
	struct proc *p = data;
	uint64_t nr;

	(void)events;
	if (read(fd, &nr, sizeof(nr)) < 0)
		return; /* the timer was set again in the meantime */
	/* Readings that are due meanwhile are counted as missed. */
	if (p->host.is_full(p->host.data)) {
		wait_until(p, wm_clock_monotonic_ns() + FULL_NS);
		return;
	}
	wm_source_proc_tick(p->source, wm_clock_monotonic_ns());
	wait_for_next(p);
}

static void proc_say_left_out(const struct proc *p)
{
	uint32_t nr;
	const struct wm_proc_event *e = wm_source_proc_left_out(p->source, &nr);

	if (e)
		wm_words_say(&p->host.words,
			     "proc:%s is recorded without %u of its counters: an event has at most "
			     "%u fields",
			     e->name, nr, WM_CLASS_FIELDS_MAX);
}

static int proc_begin(struct proc *p, const struct options *o, struct wm_diag *diag)
{
	const struct wm_source_host *h = &p->host;
	int err = wm_source_proc_create(h->writer, h->clock->kind, o->choices, o->nr, h->all,
					h->ours, &p->source, diag);

	for (size_t i = 0; !err && i < h->nr_pids; i++)
		err = wm_source_proc_follow(p->source, h->pids[i]);
	if (err)
		return err;
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p->timer < 0)
		return -errno;
	return wm_loop_fd(h->loop, p->timer, EPOLLIN, on_due, p, NULL);
}

static void proc_destroy(void *source)
{
	struct proc *p = source;

	if (p->timer >= 0)
		close(p->timer);
	wm_source_proc_destroy(p->source);
	free(p);
}

static int proc_create(void *options, const struct wm_source_host *host, void **ret,
		       struct wm_diag *diag)
{
	struct proc *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	*p = (struct proc){.host = *host, .timer = -1};
	err = proc_begin(p, options, diag);
	if (err) {
		proc_destroy(p);
		return err;
	}
	proc_say_left_out(p);
	/* The first reading takes the values from before the recording. */
	wm_source_proc_tick(p->source, wm_clock_monotonic_ns());
	wait_for_next(p);
	*ret = p;
	return 0;
}

static int proc_follow(void *source, pid_t pid)
{
	struct proc *p = source;
	int err = wm_source_proc_follow(p->source, pid);

	wait_for_next(p);
	return err;
}

/* The timer decides when anything is written; packets require no round. */
static int proc_do_round(void *source, enum wm_source_round what)
{
	struct proc *p = source;

	if (what != WM_ROUND_SOON)
		(void)wm_source_proc_flush(p->source);
	return 0;
}

static void proc_stop(void *source)
{
	struct proc *p = source;

	wm_source_proc_last(p->source);
}

static void proc_finish(void *source)
{
	struct proc *p = source;

	(void)wm_source_proc_flush(p->source); /* errors are in the totals */
}

static void proc_totals(const void *source, struct wm_source_totals *ret)
{
	const struct proc *p = source;

	wm_source_proc_totals(p->source, ret);
}

/* --- in the command, at the end ------------------------------------------------------------- */

static void say_rate(const uint64_t *more, const struct wm_words *words)
{
	uint64_t ticks = more[WM_PROC_MORE_TICKS];
	char late[WM_NUMBER_TEXT];

	wm_words_say(words,
		     "/proc was read %" PRIu64 " %s; a reading took %" PRIu64
		     " us on average and was at most %s late",
		     ticks, wm_plural(ticks, "time", "times"),
		     more[WM_PROC_MORE_SPENT_NS] / ticks / 1000,
		     wm_number_print_duration(more[WM_PROC_MORE_LATE_MAX_NS] / 1000 * 1000, late));
}

static void proc_explain(const struct wm_source_result *r, const struct wm_words *words)
{
	const uint64_t *more = r->totals->more;

	if (!r->quiet && more[WM_PROC_MORE_TICKS])
		say_rate(more, words);
	if (more[WM_PROC_MORE_MISSED])
		wm_words_say(words,
			     "missed readings of /proc because the machine was busy: %" PRIu64
			     "; waymark:lost has their times; use a longer --every",
			     more[WM_PROC_MORE_MISSED]);
	if (more[WM_PROC_MORE_DENIED])
		wm_words_say(words,
			     "readings of processes without permission: %" PRIu64
			     "; run as root, or as the user of the processes",
			     more[WM_PROC_MORE_DENIED]);
	if (r->totals->torn)
		wm_words_say(
		    words,
		    "lines of /proc in a format that waymark does not know, which were left "
		    "out: %" PRIu64 "; use a newer waymark for this kernel",
		    r->totals->torn);
	if (more[WM_PROC_MORE_FAILED])
		wm_words_say(words, "readings of /proc that failed: %" PRIu64 "; the first: %s",
			     more[WM_PROC_MORE_FAILED],
			     wm_diag_errno(-(int)more[WM_PROC_MORE_ERROR]));
}

const struct wm_source_ops wm_source_proc = {
    .label = "of /proc",
    .explain = proc_explain,
    .takes = takes,
    .want = proc_want,
    .exclude = proc_exclude,
    .forget = proc_forget,
    .create = proc_create,
    .destroy = proc_destroy,
    .follow = proc_follow,
    .round = proc_do_round,
    .stop = proc_stop,
    .finish = proc_finish,
    .totals = proc_totals,
};
