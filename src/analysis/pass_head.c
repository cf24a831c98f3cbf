/* SPDX-License-Identifier: MIT */
/* pass_head.c - the notes above every result; see wm_pass_head() in pass.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/pass.h"
#include "base/plural.h"

#define CAUSES_MAX 16u

/* The properties of a trace that are shown with a profile. */
static const char *const words[] = {"hostname", "os", "command", "cmdline", "tracer_name"};

static void facts(const struct wm_trace *t, struct wm_result *r)
{
	wm_result_note(r, WM_NOTE_FACT, "trace", "%s", t->path);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *text = wm_trace_word(t, words[i]);

		if (text && text[0])
			wm_result_note(r, WM_NOTE_FACT, words[i], "%s", text);
	}
	if (t->incomplete)
		wm_result_note(r, WM_NOTE_PROBLEM, "incomplete",
			       "the tracer is still writing, or was killed");
	if (t->nr_faults)
		wm_result_note(r, WM_NOTE_LOSS, "faults",
			       "%" PRIu64 " damaged %s could not be read; the first: %s: %s",
			       t->nr_faults + t->nr_faults_more,
			       wm_plural(t->nr_faults + t->nr_faults_more, "place", "places"),
			       t->faults[0].file, t->faults[0].reason);
}

/* The total losses from one cause. */
struct cause {
	const char *name;
	uint64_t events, packets;
	bool some; /* also an unknown number of events */
};

static struct cause *find_cause(struct cause *list, uint32_t *nr, const char *name)
{
	for (uint32_t i = 0; i < *nr; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	if (*nr < CAUSES_MAX)
		list[(*nr)++] = (struct cause){name, 0, 0, false};
	return &list[*nr - 1];
}

static void note_lost(struct wm_result *r, const char *number, const char *cause)
{
	wm_result_note(r, WM_NOTE_LOSS, "lost", "%s lost%s%s", number, cause[0] ? ": " : "", cause);
}

/* Notes how many packets and events were lost to a cause; either or both numbers may be known. */
static void note_cause(const struct cause *c, struct wm_result *r)
{
	char number[64];

	if (c->packets) {
		(void)snprintf(number, sizeof(number), "%" PRIu64 " %s", c->packets,
			       wm_plural(c->packets, "packet", "packets"));
		note_lost(r, number, c->name);
	}
	if (c->events) {
		(void)snprintf(number, sizeof(number), "%s%" PRIu64 " %s",
			       c->some ? "more than " : "", c->events,
			       wm_plural(c->events, "event", "events"));
		note_lost(r, number, c->name);
	} else if (c->some) {
		note_lost(r, "an unknown number of events", c->name);
	}
}

static void pass_head_losses(const struct wm_trace *t, struct wm_result *r)
{
	struct cause list[CAUSES_MAX];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr_losses; i++) {
		const struct wm_trace_loss *l = &t->losses[i];
		struct cause *c = find_cause(list, &nr, l->cause ? l->cause : "");

		if (l->count == UINT64_MAX)
			c->some = true;
		else if (l->packets)
			c->packets += l->count;
		else
			c->events += l->count;
	}
	for (uint32_t i = 0; i < nr; i++)
		note_cause(&list[i], r);
}

/* --- events that an analysis requires ------------------------------------------------------ */

static bool has_kind(const struct wm_pass *p, const char *name)
{
	for (uint32_t i = 0; i < p->in->nr_traces; i++)
		for (uint32_t k = 0; k < p->in->traces[i]->nr_types; k++)
			if (wm_role_is_named(p->in->traces[i]->types[k], name))
				return true;
	return false;
}

static void pass_head_missing(const struct wm_pass *p, const struct wm_analysis *a,
			      struct wm_result *r)
{
	for (const char *const *need = a->needs; need && *need; need++)
		if (!has_kind(p, *need))
			wm_result_note(r, WM_NOTE_PROBLEM, "missing",
				       "no %s in the trace; record with -e %s", *need, *need);
}

int wm_pass_head(const struct wm_pass *p, const struct wm_analysis *a, struct wm_result *r)
{
	for (uint32_t i = 0; i < p->in->nr_traces; i++)
		facts(p->in->traces[i], r);
	wm_result_note(r, WM_NOTE_FACT, "events", "%" PRIu64, p->nr_events);
	if (p->first_ns <= p->last_ns)
		wm_result_note(r, WM_NOTE_FACT, "seconds", "%.9f",
			       ((double)p->last_ns - (double)p->first_ns) / 1e9);
	for (uint32_t i = 0; i < p->in->nr_traces; i++)
		pass_head_losses(p->in->traces[i], r);
	pass_head_missing(p, a, r);
	return r->failed ? -ENOMEM : 0;
}
