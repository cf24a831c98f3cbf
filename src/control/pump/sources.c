/* SPDX-License-Identifier: MIT */
/* sources.c - the table of sources, and the pump's calls to all of them; see pumproc_int.h. */
#include "control/pump/sources.h"

#include <unistd.h>

#include "control/pump/pumproc_int.h"

#define OPS_(place, ops) &ops,

const struct wm_source_ops *const wm_sources[WM_SOURCES_NR] = {WM_SOURCES(OPS_)};

static bool is_full(const void *data)
{
	return wm_serving_is_full(data);
}

static void report(const char *sentence, void *data)
{
	wm_serving_trouble(data, "%s", sentence);
}

int wm_serving_create_source(struct serving *s, unsigned place, void *options, struct wm_diag *diag)
{
	const struct wm_source_host host = {
	    .writer = s->writer,
	    .clock = &s->clock,
	    .loop = s->loop,
	    .all = s->o->whose.all,
	    .pids = s->o->whose.pids,
	    .nr_pids = s->o->whose.nr_pids,
	    .ours = {getpid(), getppid()},
	    .words = {report, s},
	    .is_full = is_full,
	    .data = s,
	};

	return wm_sources[place]->create(options, &host, &s->sources[place], diag);
}

bool wm_serving_round_sources(struct serving *s, enum wm_source_round what)
{
	bool moved = false;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (s->sources[i])
			moved |= wm_sources[i]->round(s->sources[i], what) > 0;
	return moved;
}

void wm_serving_follow(struct serving *s, const struct wm_order_follow *o, size_t bytes)
{
	if (bytes != sizeof(*o))
		return;
	s->command_pid = o->pid;
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (s->sources[i] && wm_sources[i]->follow &&
		    wm_sources[i]->follow(s->sources[i], o->pid))
			wm_serving_trouble(
			    s, "out of memory: the command's processes are not followed");
}

void wm_serving_stop_sources(struct serving *s)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;)
		if (s->sources[i])
			wm_sources[i]->stop(s->sources[i]);
}

void wm_serving_finish_sources(struct serving *s)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;)
		if (s->sources[i])
			wm_sources[i]->finish(s->sources[i]);
}

void wm_serving_destroy_sources(struct serving *s)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;) {
		if (s->sources[i])
			wm_sources[i]->destroy(s->sources[i]);
		s->sources[i] = NULL;
	}
}

int wm_serving_account_sources(struct serving *s, struct wm_recording_totals *t)
{
	int error = 0;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++) {
		struct wm_source_totals *source = &t->sources[i];

		if (!s->sources[i])
			continue;
		wm_sources[i]->totals(s->sources[i], source);
		for (unsigned cause = 0; cause < WM_LOST_NR; cause++)
			t->lost[cause] += source->lost[cause];
		if (!error)
			error = source->error;
	}
	return error;
}
