/* SPDX-License-Identifier: MIT */
/*
 * record_live.c - events while they happen, for <waymark/record.h>: requests
 * batches from the recorder (control/live.h) and returns their events one by
 * one.
 */
#include <errno.h>
#include <string.h>

#include "api/record.h"
#include "base/clock.h"

#define NS_PER_MS  1000000u
#define LOOK_MS    50 /* minimum time between two batches */
#define FOREVER_NS UINT64_MAX

/* Receives the recorder's reports; stores those that begin a batch. */
static void api_live_report(void *data, const struct wm_report *report)
{
	struct wm_api_live *l = &((struct waymark_recording *)data)->live;

	if (report->kind != WM_REPORT_LOOKED && report->kind != WM_REPORT_DONE)
		return;
	if (l->nr_pending < WM_API_PENDING)
		l->pending[l->nr_pending++] = *report;
}

int wm_api_live_create(struct waymark_recording *r, struct waymark_error *error)
{
	struct wm_recording_options o = {0};
	struct wm_diag diag = {.offset = -1};
	int err = wm_live_create(r->plan.runtime_dir, 0, &r->live.live, &diag);

	if (err)
		return wm_api_fail_said(error, err, &diag);
	wm_live_options(r->live.live, &o);
	r->plan.dir = o.dir;
	r->plan.live = r->live.live;
	r->plan.report = api_live_report;
	r->plan.report_data = r;
	return 0;
}

void wm_api_live_done(struct waymark_recording *r)
{
	waymark_close(r->live.trace);
	wm_live_destroy(r->live.live);
}

/*
 * At most two reports are stored while the previous batch is being read: one answer, and the last
 * report.
 */
/* Begins the first pending report's batch. Returns 0 or -errno. */
static int api_live_take(struct wm_api_live *l, struct waymark_error *error)
{
	const struct wm_report report = l->pending[0];
	struct wm_diag diag = {.offset = -1};
	struct waymark_trace *trace;
	int got;

	memmove(l->pending, l->pending + 1, --l->nr_pending * sizeof(report));
	l->asked = false;
	l->over |= report.kind == WM_REPORT_DONE;
	got = wm_live_take(l->live, &report, &diag);
	if (got < 0)
		return wm_api_fail_said(error, got, &diag);
	if (got == 1) {
		trace = wm_api_trace_of(wm_live_trace(l->live));
		if (!trace)
			return wm_api_fail(error, -ENOMEM, "out of memory");
		waymark_close(l->trace);
		l->trace = trace;
	}
	l->in_batch = true;
	return 0;
}

/* Returns 1 and an event of the batch, 0 at its end, or -errno. */
static int next_of_batch(struct wm_api_live *l, const struct waymark_event **ret)
{
	const struct wm_event *e;
	int got;

	while ((got = wm_live_next(l->live, &e)) == 1) {
		if (e->type->meta)
			continue;
		wm_api_give(l->trace, 0, e, &l->event);
		*ret = &l->event;
		return 1;
	}
	return got;
}

static int until_ms(uint64_t when_ns, uint64_t now_ns)
{
	uint64_t left = when_ns > now_ns ? (when_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;

	return left > INT32_MAX ? INT32_MAX : (int)left;
}

/*
 * Requests a batch when it is due, and runs the recorder until something
 * happens or until `deadline`.
 */
static int await(struct waymark_recording *r, uint64_t deadline_ns)
{
	struct wm_api_live *l = &r->live;
	uint64_t now = wm_clock_monotonic_ns(), wake = deadline_ns;
	int got;

	if (!l->asked && now >= l->next_look_ns) {
		/* if it fails, the recording is about to end */
		l->asked = wm_recorder_look(r->recorder) == 0;
		l->next_look_ns = now + LOOK_MS * (uint64_t)NS_PER_MS;
	}
	if (!l->asked && l->next_look_ns < wake)
		wake = l->next_look_ns;
	got = wm_recorder_step(r->recorder, wake == FOREVER_NS ? -1 : until_ms(wake, now));
	r->is_over |= got == 1;
	return got < 0 ? got : 0;
}

/* Returns whether no more events can arrive. */
static bool is_at_end(const struct waymark_recording *r)
{
	struct wm_recorder_result result;

	if (r->live.over || !r->recorder)
		return true;
	wm_recorder_result(r->recorder, &result);
	return result.is_lost;
}

static int api_live_next(struct waymark_recording *r, uint64_t deadline_ns,
			 const struct waymark_event **ret, struct waymark_error *error)
{
	struct wm_api_live *l = &r->live;
	int got;

	for (;;) {
		got = l->in_batch ? next_of_batch(l, ret) : 0;
		if (got)
			break;
		l->in_batch = false;
		if (l->nr_pending)
			got = api_live_take(l, error);
		else if (is_at_end(r))
			return 0;
		else if (deadline_ns != FOREVER_NS && wm_clock_monotonic_ns() >= deadline_ns)
			return -EAGAIN;
		else
			got = await(r, deadline_ns);
		if (got < 0)
			break;
	}
	if (got < 0 && error && !error->code)
		(void)wm_api_fail(error, got, "cannot read the recorded events: %s",
				  strerror(-got));
	return got;
}

WM_API int waymark_record_next(struct waymark_recording *r, int timeout_ms,
			       const struct waymark_event **ret, struct waymark_error *error)
{
	uint64_t deadline = FOREVER_NS;
	int err = wm_api_error_begin(error);

	if (err)
		return err;
	if (!r->live.live)
		return wm_api_fail(error, -EINVAL,
				   "this recording is written to '%.200s'; read that trace instead",
				   r->plan.dir);
	if (!r->recorder)
		return wm_api_fail(error, -EINVAL, "the recording has not started");
	if (timeout_ms >= 0)
		deadline = wm_clock_monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS;
	return api_live_next(r, deadline, ret, error);
}

WM_API const char *waymark_record_comm(struct waymark_recording *r,
				       const struct waymark_event *event, uint32_t *ret_bytes)
{
	return wm_api_event_comm(r->live.trace, event, ret_bytes);
}
