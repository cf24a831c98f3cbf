/* SPDX-License-Identifier: MIT */
/* scan.c - see scan.h. Threads take the next packet from a shared counter. */
#include "trace/scan.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define SCAN_THREADS_MAX 256u

struct scan {
	struct wm_trace *trace;
	const struct wm_scan_options *options;
	struct wm_want want;
	int (*batch)(void *state, const struct wm_batch *b);
	uint64_t next; /* packet; written by all threads */
	int err;       /* the first error; ends all threads */
};

struct worker {
	struct scan *scan;
	void *state;
	pthread_t thread;
};

uint32_t wm_scan_threads(uint32_t wanted)
{
	cpu_set_t set;

	if (!wanted)
		wanted = sched_getaffinity(0, sizeof(set), &set) ? 1 : (uint32_t)CPU_COUNT(&set);
	return wanted > SCAN_THREADS_MAX ? SCAN_THREADS_MAX : wanted ? wanted : 1;
}

static void scan_fail(struct scan *s, int err)
{
	int none = 0;

	__atomic_compare_exchange_n(&s->err, &none, err, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool scan_failed(struct scan *s)
{
	return __atomic_load_n(&s->err, __ATOMIC_RELAXED);
}

static bool scan_wanted(const struct wm_scan_options *o, const struct wm_packet *p)
{
	return p->end_ns >= o->begin_ns && (p->begin_ns < o->end_ns || o->end_ns == INT64_MAX);
}

/* Takes the next packet inside the window from the shared counter; NULL at the end. */
static const struct wm_packet *scan_take(struct scan *s)
{
	for (;;) {
		uint64_t i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);

		if (i >= s->trace->nr_packets)
			return NULL;
		if (scan_wanted(s->options, &s->trace->packets[i]))
			return &s->trace->packets[i];
	}
}

static void *scan_work(void *data)
{
	struct worker *w = data;
	struct scan *s = w->scan;
	struct wm_packet_reader *r = s->trace->ops->reader_create(s->trace, &s->want);
	const struct wm_packet *p;
	struct wm_batch b = {0};
	int got = r ? 0 : -ENOMEM;

	while (got >= 0 && !scan_failed(s) && (p = scan_take(s))) {
		got = s->trace->ops->reader_begin(r, p);
		while (got >= 0) {
			got = wm_batch_read(s->trace, r, &b);
			if (got <= 0)
				break;
			got = s->batch(w->state, &b);
		}
	}
	if (got < 0)
		scan_fail(s, got);
	if (r)
		s->trace->ops->reader_destroy(r);
	wm_batch_done(&b);
	return NULL;
}

int wm_scan(struct wm_trace *t, const struct wm_scan_options *options,
	    int (*batch)(void *state, const struct wm_batch *b), void *const *states)
{
	struct scan s = {.trace = t, .options = options, .batch = batch};
	uint32_t n = wm_scan_threads(options->nr_threads), started;
	struct worker *workers = calloc(n, sizeof(*workers));

	if (!workers)
		return -ENOMEM;
	if (options->want)
		s.want = *options->want;
	if (s.want.nr_open < n)
		s.want.nr_open = n;
	for (uint32_t i = 0; i < n; i++)
		workers[i] = (struct worker){.scan = &s, .state = states[i]};
	for (started = 1; started < n; started++)
		if (pthread_create(&workers[started].thread, NULL, scan_work, &workers[started]))
			break; /* the threads that were started process all packets */
	(void)scan_work(&workers[0]);
	for (uint32_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	free(workers);
	return s.err;
}
