/* SPDX-License-Identifier: MIT */
/*
 * render.c - see render.h. Threads take slices in order. The thread with the first unwritten slice
 * writes its output directly. The others buffer up to their share of WM_RENDER_AHEAD_BYTES and then
 * wait, so that memory is bounded whatever the size of the slices.
 */
#include "view/render.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "trace/merge.h"
#include "trace/scan.h"

struct job {
	const struct wm_render *r;
	int64_t *cuts; /* slice i is [cuts[i], cuts[i + 1]) */
	uint64_t nr_slices, next;
	uint32_t nr_threads;
	bool follows; /* lines were written before the first slice */

	pthread_mutex_t lock; /* protects all members below */
	pthread_cond_t turned;
	uint64_t turn; /* the slice that may write */
	struct wm_view_past past;
	uint64_t nr_events;
	uint64_t done_bytes; /* bytes of packets in written slices */
	int err;
};

/* One thread's slice. */
struct slice {
	struct job *job;
	struct wm_view_page page;
	struct wm_merge *merge;
	uint64_t index, nr_passed;
	size_t flush_at; /* page size at which to try to write it */
	bool has_turn;
};

static bool render_failed(struct job *j)
{
	return __atomic_load_n(&j->err, __ATOMIC_RELAXED);
}

static void render_fail(struct job *j, int err)
{
	pthread_mutex_lock(&j->lock);
	if (!j->err)
		__atomic_store_n(&j->err, err, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&j->turned);
	pthread_mutex_unlock(&j->lock);
}

/*
 * Returns whether the slice is the first unwritten one; with `wait`, waits until it is. Returns
 * false after a failure.
 */
static bool take_turn(struct slice *s, bool wait)
{
	struct job *j = s->job;
	bool mine;

	if (s->has_turn)
		return true;
	pthread_mutex_lock(&j->lock);
	while (wait && j->turn != s->index && !j->err)
		pthread_cond_wait(&j->turned, &j->lock);
	mine = j->turn == s->index && !j->err;
	pthread_mutex_unlock(&j->lock);
	if (!mine)
		return false;
	s->has_turn = true;
	/* the thread with the first unwritten slice owns it */
	wm_view_page_join(j->r->view, &s->page, &j->past);
	return true;
}

static int write_out(struct slice *s)
{
	struct wm_text *t = &s->page.text;
	const struct wm_render *r = s->job->r;
	int err = t->failed ? -ENOMEM : 0;

	if (!err && r->tick)
		err = r->tick(r->sink, s->job->done_bytes + wm_merge_done_bytes(s->merge));
	if (!err && t->bytes > s->page.start)
		err = r->write(r->sink, t->data + s->page.start, t->bytes - s->page.start);
	wm_view_page_clear(&s->page);
	s->flush_at = WM_RENDER_FLUSH_BYTES;
	return err;
}

static void pass_turn(struct slice *s)
{
	struct job *j = s->job;

	pthread_mutex_lock(&j->lock);
	j->past = s->page.past;
	j->nr_events += s->nr_passed;
	j->done_bytes += wm_merge_done_bytes(s->merge);
	j->turn++;
	pthread_cond_broadcast(&j->turned);
	pthread_mutex_unlock(&j->lock);
}

/* Called when the page has reached flush_at. */
static int render_flush(struct slice *s)
{
	size_t share = WM_RENDER_AHEAD_BYTES / s->job->nr_threads;
	bool must = s->page.text.bytes >= share || s->page.text.failed;

	s->flush_at += WM_RENDER_FLUSH_BYTES;
	if (!take_turn(s, must))
		return render_failed(s->job) ? -ECANCELED : 0;
	return write_out(s);
}

static int write_events(struct slice *s)
{
	const struct wm_render *r = s->job->r;
	uint64_t end = r->limit > UINT64_MAX - r->skip ? UINT64_MAX : r->skip + r->limit;
	const struct wm_event *e;
	int got = 1, err = 0;

	while (!err && s->nr_passed < end && (got = wm_merge_next(s->merge, &e)) == 1) {
		uint32_t trace = wm_merge_trace(s->merge);

		if (r->passes && !r->passes(r->data, trace, e))
			continue;
		if (s->nr_passed++ < r->skip)
			continue;
		wm_view_event_line(r->view, &s->page, trace, e);
		if (s->page.text.bytes >= s->flush_at || s->page.text.failed)
			err = render_flush(s);
	}
	return err ? err : got < 0 ? got : 0;
}

/* A thread uses one merge for all its slices, so that the readers' memory is reused. */
static int begin_slice(struct slice *s)
{
	struct job *j = s->job;
	struct wm_merge_options o = {j->cuts[s->index], j->cuts[s->index + 1], j->r->wants,
				     j->nr_threads};

	if (s->merge)
		return wm_merge_window(s->merge, o.begin_ns, o.end_ns);
	s->merge = wm_merge_create_on(j->r->timeline, &o);
	return s->merge ? 0 : -ENOMEM;
}

static int do_slice(struct slice *s)
{
	int err = begin_slice(s);

	if (!err)
		err = write_events(s);
	if (!err && !take_turn(s, true))
		err = -ECANCELED;
	if (!err) {
		err = write_out(s);
		pass_turn(s);
	}
	return err;
}

static void *render_work(void *data)
{
	struct job *j = data;
	struct wm_view_page page; /* shared by all slices */
	struct wm_merge *merge = NULL;
	int err = 0;

	wm_view_page_init(&page, true);
	while (!err && !render_failed(j)) {
		struct slice s = {
		    .job = j, .page = page, .merge = merge, .flush_at = WM_RENDER_FLUSH_BYTES};

		s.index = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED);
		if (s.index >= j->nr_slices)
			break;
		wm_view_page_again(&s.page, s.index || j->follows);
		err = do_slice(&s);
		page = s.page;
		merge = s.merge;
	}
	if (err)
		render_fail(j, err);
	wm_view_page_done(&page);
	if (merge)
		wm_merge_destroy(merge);
	return NULL;
}

static void run_threads(struct job *j)
{
	uint32_t n = j->nr_threads, started = 1;
	pthread_t *threads = calloc(n, sizeof(*threads));

	for (; threads && started < n; started++)
		if (pthread_create(&threads[started], NULL, render_work, j))
			break; /* the threads that exist render all slices */
	(void)render_work(j);
	for (uint32_t i = 1; threads && i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/*
 * Divides the time range into slices. There is only one when events are skipped or limited, because
 * that requires counting in order.
 */
static int render_cut(struct job *j)
{
	const struct wm_render *r = j->r;
	int64_t got;

	j->nr_threads = wm_scan_threads(r->nr_threads);
	if (j->nr_threads == 1 || r->skip || r->limit != UINT64_MAX)
		got = wm_timeline_cut(r->timeline, r->begin_ns, r->end_ns, UINT64_MAX, &j->cuts);
	else
		got = wm_timeline_cut(r->timeline, r->begin_ns, r->end_ns,
				      r->slice_bytes ? r->slice_bytes : WM_RENDER_SLICE_BYTES,
				      &j->cuts);
	if (got < 0)
		return (int)got;
	j->nr_slices = (uint64_t)got;
	if (j->nr_slices < j->nr_threads)
		j->nr_threads = (uint32_t)j->nr_slices;
	return 0;
}

int wm_render(const struct wm_render *r, struct wm_view_past *past, uint64_t *ret_events)
{
	struct job j = {.r = r, .past = *past, .follows = past->any};
	int err = render_cut(&j);

	if (err)
		return err;
	pthread_mutex_init(&j.lock, NULL);
	pthread_cond_init(&j.turned, NULL);
	run_threads(&j);
	pthread_cond_destroy(&j.turned);
	pthread_mutex_destroy(&j.lock);
	free(j.cuts);
	*past = j.past;
	*ret_events = j.nr_events;
	return j.err;
}

/* --- the last events ------------------------------------------------------------------- */

static int render_count(const struct wm_render *r, int64_t begin_ns, int64_t end_ns, uint64_t *ret)
{
	struct wm_merge_options o = {begin_ns, end_ns, r->wants};
	struct wm_merge *m = wm_merge_create_on(r->timeline, &o);
	const struct wm_event *e;
	uint64_t n = 0;
	int got;

	if (!m)
		return -ENOMEM;
	while ((got = wm_merge_next(m, &e)) == 1)
		n += !r->passes || r->passes(r->data, wm_merge_trace(m), e);
	wm_merge_destroy(m);
	*ret = n;
	return got;
}

int wm_render_tail(const struct wm_render *r, uint64_t nr, int64_t *ret_begin_ns,
		   uint64_t *ret_skip)
{
	uint64_t found = 0, more = 0;
	int64_t *cuts, slices, i;
	int err = 0;

	slices = wm_timeline_cut(r->timeline, r->begin_ns, r->end_ns,
				 r->slice_bytes ? r->slice_bytes : WM_RENDER_SLICE_BYTES, &cuts);
	if (slices < 0)
		return (int)slices;
	for (i = slices; !err && i > 0 && found < nr; i--) {
		err = render_count(r, cuts[i - 1], cuts[i], &more);
		found += more;
	}
	*ret_begin_ns = cuts[i];
	*ret_skip = found > nr ? found - nr : 0;
	free(cuts);
	return err;
}
