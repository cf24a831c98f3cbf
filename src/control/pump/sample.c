/* SPDX-License-Identifier: MIT */
/* sample.c - sampling in the pump process; see pump_int.h and sampling.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/words.h"
#include "control/pump/pump_int.h"

int wm_serving_begin_sampling(struct serving *s, struct wm_diag *diag)
{
	int err = wm_sampling_source(s->o->sampling, s->writer, &s->clock, &s->samples, diag);

	if (!err)
		wm_serving_prepare_symbols(s);
	if (!err && wm_sampling_count(s->o->sampling))
		wm_trace_writer_samples(s->writer, wm_sampler_regs(), 0);
	return err;
}

/* --- rings ----------------------------------------------------------------------------------- */

/* Wakes the loop; a ring nobody writes to any more would wake it forever. */
static void on_ring(int fd, uint32_t events, void *data)
{
	struct wm_watch **watch = data;

	(void)fd;
	if (!(events & (EPOLLHUP | EPOLLERR)))
		return;
	wm_watch_remove(*watch);
	*watch = NULL;
}

static int watch_rings(struct serving *s)
{
	struct wm_sampler *sampler = wm_sample_source_sampler(s->samples);
	size_t nr = wm_sampler_nr_cpus(sampler);
	int err = 0;

	s->ring_watches = calloc(nr, sizeof(struct wm_watch *));
	if (!s->ring_watches)
		return -ENOMEM;
	s->nr_ring_watches = nr;
	for (size_t i = 0; i < nr && !err; i++)
		if (wm_sampler_ring(sampler, i))
			err = wm_loop_fd(s->loop, wm_sampler_fd(sampler, i), EPOLLIN, on_ring,
					 &s->ring_watches[i], &s->ring_watches[i]);
	return err;
}

void wm_serving_sample(struct serving *s, const struct wm_order_sample *o, size_t bytes)
{
	const pid_t ours[] = {getpid(), getppid()};
	struct wm_report r = {.kind = WM_REPORT_SAMPLING};
	struct wm_diag diag = {.offset = -1};
	struct wm_sampling_whom whom;
	struct wm_kernel_text text;
	int err = -EINVAL;

	if (s->samples && !wm_sample_source_sampler(s->samples) && bytes >= sizeof(*o) &&
	    bytes == sizeof(*o) + (size_t)o->nr_tids * sizeof(pid_t)) {
		whom = (struct wm_sampling_whom){o->tids, o->nr_tids, o->alone, o->on_exec};
		err = wm_sampling_begin(s->o->sampling, s->samples, &whom, ours, 2,
					wm_kernel_text_find(&text) ? NULL : &text, &diag);
	}
	if (!err)
		err = watch_rings(s);
	r.err = err < 0 ? err : 0;
	(void)snprintf(r.sentence, sizeof(r.sentence), "%s", wm_words_of(r.err, &diag));
	wm_serving_report(s, &r, true);
	wm_serving_keep_symbols(s);
}

void wm_serving_stop_sampling(struct serving *s)
{
	if (s->samples && wm_sample_source_sampler(s->samples))
		wm_sampler_stop(wm_sample_source_sampler(s->samples));
}

void wm_serving_end_sampling(struct serving *s)
{
	struct wm_source_totals t;

	if (!s->samples)
		return;
	wm_serving_stop_sampling(s);
	(void)wm_sample_source_finish(s->samples); /* errors are in the totals */
	wm_sample_source_totals(s->samples, &t);
	if (wm_sampling_count(s->o->sampling))
		wm_trace_writer_samples(s->writer, wm_sampler_regs(),
					t.more[WM_SAMPLE_MORE_CLOCK_ERROR_NS]);
}

void wm_serving_release_sampling(struct serving *s)
{
	for (size_t i = 0; i < s->nr_ring_watches; i++)
		if (s->ring_watches[i])
			wm_watch_remove(s->ring_watches[i]);
	free(s->ring_watches);
	s->ring_watches = NULL;
	s->nr_ring_watches = 0;
	wm_sample_source_destroy(s->samples);
	s->samples = NULL;
}
