/* SPDX-License-Identifier: MIT */
/*
 * sample.c - samples, and records of task mappings and names, as one of the pump's sources. The
 * source's options are a struct wm_sampling. Nothing is sampled before the command names the tasks
 * (wm_pumproc_sample()).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/words.h"
#include "control/pump/pumproc_int.h"

struct samples {
	const struct wm_sampling *sampling; /* borrowed */
	struct wm_sample_source *source;
	struct wm_trace_writer *writer;
	struct wm_loop *loop;
	struct wm_watch *
	    *watches; /* indexed like the sampler's CPUs; NULL: the ring does not wake the loop */
	size_t nr_watches;
};

static int pump_sample_create(void *options, const struct wm_source_host *host, void **ret,
			      struct wm_diag *diag)
{
	const struct wm_pumproc *p = host->data;
	struct samples *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	*m = (struct samples){.sampling = options, .writer = host->writer, .loop = host->loop};
	err = wm_sampling_source(m->sampling, host->writer, host->clock, &m->source, diag);
	if (err) {
		free(m);
		return err;
	}
	for (size_t i = 0; i < sizeof(host->ours) / sizeof(host->ours[0]); i++)
		wm_sample_source_leave_out(m->source, host->ours[i]);
	if (p->symbols_helper)
		wm_sample_source_leave_out(m->source, p->symbols_helper);
	if (wm_sampling_count(m->sampling))
		wm_writer_samples(m->writer, wm_sampler_regs(), 0);
	*ret = m;
	return 0;
}

static void pump_sample_destroy(void *source)
{
	struct samples *m = source;

	for (size_t i = 0; i < m->nr_watches; i++)
		if (m->watches[i])
			wm_watch_remove(m->watches[i]);
	free(m->watches);
	wm_sample_source_destroy(m->source);
	free(m);
}

/* --- rings ----------------------------------------------------------------------------------- */

/* Wakes the loop. A ring without a writer would wake it forever, so its watch is removed. */
static void pump_sample_on_ring(int fd, uint32_t events, void *data)
{
	struct wm_watch **watch = data;

	(void)fd;
	if (!(events & (EPOLLHUP | EPOLLERR)))
		return;
	wm_watch_remove(*watch);
	*watch = NULL;
}

static int pump_sample_watch_rings(struct samples *m)
{
	struct wm_sampler *sampler = wm_sample_source_sampler(m->source);
	size_t nr = wm_sampler_nr_cpus(sampler);
	int err = 0;

	m->watches = calloc(nr, sizeof(struct wm_watch *));
	if (!m->watches)
		return -ENOMEM;
	m->nr_watches = nr;
	for (size_t i = 0; i < nr && !err; i++)
		if (wm_sampler_ring(sampler, i))
			err = wm_loop_fd(m->loop, wm_sampler_fd(sampler, i), EPOLLIN,
					 pump_sample_on_ring, &m->watches[i], &m->watches[i]);
	return err;
}

static int pump_sample_begin(struct samples *m, const struct wm_order_sample *o, size_t bytes,
			     struct wm_diag *diag)
{
	struct wm_sampling_whom whom;
	struct wm_kernel_text text;
	int err;

	if (!m || wm_sample_source_sampler(m->source) || bytes < sizeof(*o) ||
	    bytes != sizeof(*o) + (size_t)o->nr_tids * sizeof(pid_t))
		return -EINVAL;
	whom = (struct wm_sampling_whom){o->tids, o->nr_tids, o->alone, o->on_exec};
	err = wm_sampling_begin(m->sampling, m->source, &whom,
				wm_kernel_text_find(&text) ? NULL : &text, diag);
	return err ? err : pump_sample_watch_rings(m);
}

void wm_pumproc_sample(struct wm_pumproc *p, const struct wm_order_sample *o, size_t bytes)
{
	struct wm_report r = {.kind = WM_REPORT_SAMPLING};
	struct wm_diag diag = {.offset = -1};
	int err = pump_sample_begin(p->sources[WM_SOURCE_SAMPLES], o, bytes, &diag);

	r.err = err < 0 ? err : 0;
	(void)snprintf(r.sentence, sizeof(r.sentence), "%s", wm_words_of(r.err, &diag));
	wm_pumproc_report(p, &r, true);
	wm_pumproc_keep_symbols(p);
}

static int pump_sample_do_round(void *source, enum wm_source_round what)
{
	struct samples *m = source;

	return what == WM_ROUND_ALL ? wm_sample_source_seal(m->source)
				    : wm_sample_source_round(m->source);
}

static void pump_sample_stop(void *source)
{
	struct samples *m = source;

	if (wm_sample_source_sampler(m->source))
		wm_sampler_stop(wm_sample_source_sampler(m->source));
}

static void pump_sample_totals(const void *source, struct wm_source_totals *ret)
{
	const struct samples *m = source;

	wm_sample_source_totals(m->source, ret);
}

static void pump_sample_finish(void *source)
{
	struct samples *m = source;
	struct wm_source_totals t;

	pump_sample_stop(m);
	(void)wm_sample_source_finish(m->source); /* errors are in the totals */
	pump_sample_totals(m, &t);
	if (wm_sampling_count(m->sampling))
		wm_writer_samples(m->writer, wm_sampler_regs(),
				  t.more[WM_SAMPLE_MORE_CLOCK_ERROR_NS]);
}

void wm_pumproc_leave_out(struct wm_pumproc *p, pid_t pid)
{
	struct samples *m = p->sources[WM_SOURCE_SAMPLES];

	if (m)
		wm_sample_source_leave_out(m->source, pid);
}

static bool is_asked(const void *options)
{
	return wm_sampling_count(options) != 0;
}

static void pump_sample_explain(const struct wm_source_result *r, const struct wm_words *words)
{
	const struct wm_source_totals *t = r->totals;
	uint64_t throttled = t->more[WM_SAMPLE_MORE_THROTTLED];

	if (t->torn)
		wm_words_say(words,
			     "perf records dropped because they do not have the layout that "
			     "perf_event_open(2) documents: %" PRIu64,
			     t->torn);
	if (throttled)
		wm_words_say(words,
			     "the kernel throttled sampling %" PRIu64
			     " %s, because samples came too fast (perf:throttle in the trace has "
			     "the times): use a lower -F or a higher -c",
			     throttled, wm_plural(throttled, "time", "times"));
}

const struct wm_source_ops wm_source_samples = {
    .label = "samples",
    .is_asked = is_asked,
    .explain = pump_sample_explain,
    .create = pump_sample_create,
    .destroy = pump_sample_destroy,
    .round = pump_sample_do_round,
    .stop = pump_sample_stop,
    .finish = pump_sample_finish,
    .totals = pump_sample_totals,
};
