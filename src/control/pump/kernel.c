/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - kernel events as one of the pump's sources. The source's options are a struct
 * wm_recorder_kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "control/pump/pumproc_int.h"

struct kernel {
	struct wm_recorder_kernel *events; /* borrowed */
	struct wm_kernel_source *source;
	struct wm_trace_writer *writer;
};

/* Only wakes the loop; the round that follows reads the rings. */
static void pump_kernel_on_ring(int fd, uint32_t events, void *data)
{
	(void)fd;
	(void)events;
	(void)data;
}

/* Watches the rings. A ring that cannot wake the loop is read when packets are sealed. */
static void pump_kernel_watch_rings(const struct kernel *k, struct wm_loop *loop)
{
	for (uint32_t i = 0; i < wm_recorder_kernel_nr_rings(k->events); i++) {
		int fd = wm_recorder_kernel_fd(k->events, i);

		if (fd >= 0)
			(void)wm_loop_fd(loop, fd, EPOLLIN, pump_kernel_on_ring, NULL, NULL);
	}
}

static int pump_kernel_create(void *options, const struct wm_source_host *host, void **ret,
			      struct wm_diag *diag)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	*k = (struct kernel){.events = options, .writer = host->writer};
	err = wm_recorder_kernel_source(k->events, host->writer, &k->source, diag);
	if (err) {
		free(k);
		return err;
	}
	pump_kernel_watch_rings(k, host->loop);
	*ret = k;
	return 0;
}

static void pump_kernel_destroy(void *source)
{
	struct kernel *k = source;

	wm_source_kernel_destroy(k->source);
	free(k);
}

static int pump_kernel_do_round(void *source, enum wm_source_round what)
{
	struct kernel *k = source;

	return wm_source_kernel_round(k->source, what != WM_ROUND_SOON);
}

static void pump_kernel_stop(void *source)
{
	struct kernel *k = source;

	wm_recorder_kernel_stop(k->events);
}

static void pump_kernel_finish(void *source)
{
	struct kernel *k = source;

	wm_recorder_kernel_stop(k->events);
	(void)wm_source_kernel_finish(k->source); /* errors are in the totals */
	/* A failure means a full disk, which was already reported. */
	(void)wm_recorder_kernel_save(k->events, k->writer);
}

static void pump_kernel_totals(const void *source, struct wm_source_totals *ret)
{
	const struct kernel *k = source;

	wm_source_kernel_totals(k->source, ret);
}

static int fds(const void *options, int **ret)
{
	return wm_recorder_kernel_fds(options, ret);
}

static void forked(void *options)
{
	wm_recorder_kernel_leave_rings(options);
}

struct wm_kernel_source *wm_pumproc_kernel_source(const struct wm_pumproc *p)
{
	const struct kernel *k = p->sources[WM_SOURCE_KERNEL];

	return k ? k->source : NULL;
}

static void pump_kernel_explain(const struct wm_source_result *r, const struct wm_words *words)
{
	const struct wm_source_totals *t = r->totals;
	char size[WM_NUMBER_TEXT];

	if (t->lost[WM_LOST_OVERWRITTEN])
		wm_words_say(words,
			     "the kernel's rings, of %s in total, were too small: choose a larger "
			     "buffer size",
			     wm_number_print_about(t->buffer_bytes, size));
	if (r->options && wm_recorder_kernel_has_files(r->options) && !r->quiet)
		wm_words_say(words, "histograms and snapshots are in %s/kernel", r->folder);
	if (t->torn)
		wm_words_say(words,
			     "kernel records dropped because they do not match the formats in "
			     "tracefs: %" PRIu64
			     "; 'waymark list' shows whether the formats can be read",
			     t->torn);
}

const struct wm_source_ops wm_source_kernel = {
    .label = "of the kernel",
    .explain = pump_kernel_explain,
    .fds = fds,
    .forked = forked,
    .create = pump_kernel_create,
    .destroy = pump_kernel_destroy,
    .round = pump_kernel_do_round,
    .stop = pump_kernel_stop,
    .finish = pump_kernel_finish,
    .totals = pump_kernel_totals,
};
