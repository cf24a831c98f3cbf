/* SPDX-License-Identifier: MIT */
/* judge.c - see judge.h. */
#include "judge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/open.h"
#include "trace/reader.h"
#include "trace/value_hash.h"
#include "view/render.h"

const char *const fuzz_flaw_names[FUZZ_NR_FLAWS] = {
    "sound",
    "a refusal without file, place and reason",
    "a fault without file and reason",
    "other events in order, or from bytes, than by packets",
    "too much memory",
};

/*
 * Uses one thread, so that the processor time is that of this process and a crash is reported where
 * it happened.
 */
static int hash_all(struct wm_trace *t, struct fuzz_verdict *v)
{
	struct wm_packet_reader *r = t->ops->reader_create(t, NULL);
	struct wm_batch b = {0};
	int got = r ? 0 : -ENOMEM;

	for (uint64_t i = 0; got >= 0 && i < t->nr_packets; i++) {
		got = t->ops->reader_begin(r, &t->packets[i]);
		while (got >= 0 && (got = wm_batch_read(t, r, &b)) > 0) {
			for (uint32_t k = 0; k < b.nr_events; k++)
				v->hash += wm_value_hash(&b.events[k]);
			v->events += b.nr_events;
		}
	}
	if (r)
		t->ops->reader_destroy(r);
	wm_batch_done(&b);
	return got;
}

/* Computes the hash as `info --hash` does, which makes items only of unusual values. */
static int hash_again(struct wm_trace *t, struct fuzz_verdict *v)
{
	uint64_t events = 0, hash = 0;
	int err = wm_value_hash_trace(t, 1, &events, &hash);

	if (err || (events == v->events && hash == v->hash))
		return err;
	v->flaw = FUZZ_DISAGREES;
	(void)snprintf(v->reason, sizeof(v->reason), "%llu events from items, %llu%s from bytes",
		       (unsigned long long)v->events, (unsigned long long)events,
		       events == v->events ? " with another hash" : "");
	return 0;
}

/* Reads every byte, so that a missing one is detected. */
static int look_at(void *sink, const char *bytes, size_t count)
{
	uint64_t *sum = sink;

	*sum += wm_value_hash_text(bytes, count);
	return 0;
}

static int render(struct wm_trace *t, const struct wm_timeline *timeline, struct wm_view *view,
		  uint64_t *ret_events)
{
	uint64_t sum = 0;
	struct wm_view_past past = {0};
	struct wm_render r = {.timeline = timeline,
			      .view = view,
			      .begin_ns = INT64_MIN,
			      .end_ns = INT64_MAX,
			      .limit = UINT64_MAX,
			      .nr_threads = 1,
			      .write = look_at,
			      .sink = &sum};

	return wm_render(&r, &past, ret_events);
}

static int print_all(struct wm_trace *t, unsigned style, uint64_t *ret_events)
{
	struct wm_view_options options = {.format = (enum wm_view_format)style};
	struct wm_timeline *timeline = NULL;
	struct wm_view *view = NULL;
	int err = wm_timeline_create(&t, 1, &timeline);

	if (!err)
		view = wm_view_create(&t, 1, &options);
	if (!err)
		err = view ? render(t, timeline, view, ret_events) : -ENOMEM;
	wm_view_destroy(view);
	wm_timeline_destroy(timeline);
	return err;
}

static void read_all(struct wm_trace *t, unsigned style, struct fuzz_verdict *v)
{
	uint64_t printed = 0;

	v->err = hash_all(t, v);
	if (!v->err)
		v->err = hash_again(t, v);
	if (!v->err)
		v->err = print_all(t, style, &printed);
	v->nr_faults = t->nr_faults + t->nr_faults_more;
	for (uint32_t i = 0; i < t->nr_losses; i++)
		v->nr_lost += t->losses[i].count == UINT64_MAX ? 1 : t->losses[i].count;
	if (t->nr_faults && !v->flaw)
		(void)snprintf(v->reason, sizeof(v->reason), "%s", t->faults[0].reason);
	if (!v->err && printed != v->events) {
		v->flaw = FUZZ_DISAGREES;
		(void)snprintf(v->reason, sizeof(v->reason), "%llu by packets, %llu in order",
			       (unsigned long long)v->events, (unsigned long long)printed);
	}
	for (uint32_t i = 0; i < t->nr_faults; i++)
		v->faults += t->faults[i].offset +
			     wm_value_hash_text(t->faults[i].reason, strlen(t->faults[i].reason));
	for (uint32_t i = 0; i < t->nr_faults; i++)
		if (!t->faults[i].file[0] || !t->faults[i].reason[0])
			v->flaw = FUZZ_BAD_FAULT;
}

void fuzz_judge(const char *path, unsigned style, struct fuzz_verdict *v)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_trace *t;
	int err = wm_read_open(path, &t, &diag);

	*v = (struct fuzz_verdict){.err = err};
	if (!err) {
		read_all(t, style, v);
		wm_trace_close(t);
	} else {
		(void)snprintf(v->reason, sizeof(v->reason), "%s", diag.sentence);
		if (!diag.where || !diag.where[0] || !diag.sentence[0] || diag.offset < 0)
			v->flaw = FUZZ_BAD_REFUSAL;
	}
	if (v->err == -ENOMEM)
		v->flaw = FUZZ_NO_MEMORY;
}
