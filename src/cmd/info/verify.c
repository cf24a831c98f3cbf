/* SPDX-License-Identifier: MIT */
/*
 * verify.c - waymark info --verify and --hash: decodes every field of every event on all CPUs.
 * --verify lists the faults found by the reader and those detected here: times that decrease within
 * a packet or lie outside the packet's range, and packets with a wrong number of events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/exit.h"
#include "cmd/info/info.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"
#include "cmd/trace_open.h"
#include "trace/scan.h"
#include "trace/value_hash.h"

/* One thread's state for its current packet. */
struct walk {
	struct wm_trace *t;
	const struct wm_packet *packet;
	int64_t last_ns;
	uint64_t in_packet, events;
	bool told;
};

static const char *verify_file_of(const struct walk *w)
{
	const char *file = w->t->streams[w->packet->stream]->file;

	return file[0] ? file : w->t->path;
}

static void packet_ends(struct walk *w)
{
	const struct wm_packet *p = w->packet;

	if (p && p->nr_events != UINT64_MAX && p->nr_events != w->in_packet)
		wm_trace_fault(w->t, verify_file_of(w), p->offset,
			       "this packet has %" PRIu64 " %s and should have %" PRIu64,
			       w->in_packet, wm_plural(w->in_packet, "event", "events"),
			       p->nr_events);
}

static void verify_look_at(struct walk *w, const struct wm_event *e)
{
	const struct wm_packet *p = e->packet;

	if (w->packet != p) {
		packet_ends(w);
		*w = (struct walk){
		    .t = w->t, .packet = p, .last_ns = INT64_MIN, .events = w->events};
	}
	w->in_packet++;
	if (e->ns == WM_TIME_NONE || w->told)
		return;
	w->told = true;
	if (e->ns < w->last_ns)
		wm_trace_fault(w->t, verify_file_of(w), p->offset,
			       "time decreases by %" PRIu64 " ns in this packet, at event %" PRIu64,
			       (uint64_t)w->last_ns - (uint64_t)e->ns, w->in_packet);
	else if (e->ns < p->begin_ns || e->ns > p->end_ns)
		wm_trace_fault(w->t, verify_file_of(w), p->offset,
			       "event %" PRIu64 " of this packet is %s", w->in_packet,
			       e->ns < p->begin_ns ? "earlier than the packet's start"
						   : "later than the packet's end");
	else
		w->told = false;
	w->last_ns = e->ns;
}

static int verify_batch(void *state, const struct wm_batch *b)
{
	struct walk *w = state;

	for (uint32_t i = 0; i < b->nr_events; i++)
		verify_look_at(w, &b->events[i]);
	w->events += b->nr_events;
	return 0;
}

static int walk_all(struct wm_trace *t, uint32_t nr_threads, uint64_t *ret_events)
{
	struct wm_scan_options o = {INT64_MIN, INT64_MAX, NULL, wm_scan_threads(nr_threads)};
	struct walk *walks = calloc(o.nr_threads, sizeof(*walks));
	void **states = calloc(o.nr_threads, sizeof(void *));
	int err = -ENOMEM;

	for (uint32_t i = 0; walks && states && i < o.nr_threads; i++) {
		walks[i].t = t;
		states[i] = &walks[i];
	}
	if (walks && states)
		err = wm_scan(t, &o, verify_batch, states);
	*ret_events = 0;
	for (uint32_t i = 0; !err && i < o.nr_threads; i++) {
		packet_ends(&walks[i]);
		*ret_events += walks[i].events;
	}
	free(walks);
	free(states);
	return err;
}

/* Sorts faults by file and offset, because threads find them in arbitrary order. */
static int verify_by_place(const void *a, const void *b)
{
	const struct wm_fault *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	if (order)
		return order;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void verify_warnings(struct wm_text *out, const struct wm_trace *t)
{
	for (uint32_t i = 0; i < t->nr_warnings; i++) {
		wm_text_str(out, "warning: ");
		wm_input_fault_text(out, &t->warnings[i]);
		wm_text_char(out, '\n');
	}
	if (t->nr_warnings_more)
		wm_text_f(out, "warning: ... and %" PRIu64 " more\n", t->nr_warnings_more);
}

static void verify_sum(struct wm_text *out, const struct wm_trace *t, uint64_t events)
{
	uint64_t faults = t->nr_faults + t->nr_faults_more;
	uint64_t warnings = t->nr_warnings + t->nr_warnings_more;

	wm_text_f(out, "%" PRIu64 " %s in %" PRIu64 " %s: ", events,
		  wm_plural(events, "event", "events"), t->nr_packets,
		  wm_plural(t->nr_packets, "packet", "packets"));
	if (faults)
		wm_text_f(out, "%" PRIu64 " %s", faults,
			  wm_plural(faults, "violation", "violations"));
	else
		wm_text_str(out, "sound");
	if (warnings)
		wm_text_f(out, ", %" PRIu64 " %s", warnings,
			  wm_plural(warnings, "warning", "warnings"));
	wm_text_char(out, '\n');
}

static int verify_list(struct wm_trace *t, uint64_t events)
{
	struct wm_text out;
	int err;

	if (t->nr_faults)
		qsort(t->faults, t->nr_faults, sizeof(*t->faults), verify_by_place);
	wm_text_init(&out);
	for (uint32_t i = 0; i < t->nr_faults; i++) {
		wm_input_fault_text(&out, &t->faults[i]);
		wm_text_char(&out, '\n');
	}
	if (t->nr_faults_more)
		wm_text_f(&out, "... and %" PRIu64 " more\n", t->nr_faults_more);
	verify_warnings(&out, t);
	verify_sum(&out, t, events);
	err = wm_verb_flush(&out);
	wm_text_done(&out);
	return err;
}

static int verify_done(struct wm_trace *t, const char *path, int err)
{
	int status = t->nr_faults ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;

	if (err && err != -EPIPE) {
		wm_say_cannot("read the trace", path, err);
		status = wm_exit_of(err);
	}
	wm_trace_close(t);
	return status;
}

int wm_info_verify(const struct wm_info_values *v, const char *path)
{
	struct wm_trace *t = NULL;
	uint64_t events = 0;
	int status = wm_input_open(path, &t), err;

	if (status)
		return status;
	err = walk_all(t, (uint32_t)v->threads, &events);
	if (!err && !events && !t->nr_faults)
		wm_say("the trace has no events");
	return verify_done(t, path, err ? err : verify_list(t, events));
}

int wm_info_hash(const struct wm_info_values *v, const char *path)
{
	struct wm_trace *t = NULL;
	uint64_t events, hash;
	struct wm_text out;
	int status = wm_input_open(path, &t), err;

	if (status)
		return status;
	wm_text_init(&out);
	err = wm_value_hash_trace(t, (uint32_t)v->threads, &events, &hash);
	if (!err && !events && !t->nr_faults)
		wm_say("the trace has no events");
	wm_text_f(&out, "events %" PRIu64 "\nhash 0x%016" PRIx64 "\n", events, hash);
	if (!err)
		err = wm_verb_flush(&out);
	wm_text_done(&out);
	if (!err)
		(void)wm_input_report_missing(t, WM_EXIT_DONE, false);
	return verify_done(t, path, err);
}
