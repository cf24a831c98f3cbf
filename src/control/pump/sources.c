/* SPDX-License-Identifier: MIT */
/* sources.c - the table of sources, and the pump's calls to all of them; see pumproc_int.h. */
#include "control/pump/sources.h"

#include <unistd.h>

#include "control/pump/pumproc_int.h"

#define OPS_(place, ops) &ops,

const struct wm_source_ops *const wm_sources[WM_SOURCES_NR] = {WM_SOURCES(OPS_)};

static bool is_full(const void *data)
{
	return wm_pumproc_is_full(data);
}

static void report(const char *sentence, void *data)
{
	wm_pumproc_trouble(data, "%s", sentence);
}

int wm_pumproc_create_source(struct wm_pumproc *p, unsigned place, void *options,
			     struct wm_diag *diag)
{
	const struct wm_source_host host = {
	    .writer = p->writer,
	    .clock = &p->clock,
	    .loop = p->loop,
	    .all = p->o->whose.all,
	    .pids = p->o->whose.pids,
	    .nr_pids = p->o->whose.nr_pids,
	    .ours = {getpid(), getppid()},
	    .words = {report, p},
	    .is_full = is_full,
	    .data = p,
	};

	return wm_sources[place]->create(options, &host, &p->sources[place], diag);
}

bool wm_pumproc_round_sources(struct wm_pumproc *p, enum wm_source_round what)
{
	bool moved = false;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (p->sources[i])
			moved |= wm_sources[i]->round(p->sources[i], what) > 0;
	return moved;
}

void wm_pumproc_follow(struct wm_pumproc *p, const struct wm_order_follow *o, size_t bytes)
{
	if (bytes != sizeof(*o))
		return;
	p->command_pid = o->pid;
	for (unsigned i = 0; i < WM_SOURCES_NR; i++)
		if (p->sources[i] && wm_sources[i]->follow &&
		    wm_sources[i]->follow(p->sources[i], o->pid))
			wm_pumproc_trouble(
			    p, "out of memory: the command's processes are not followed");
}

void wm_pumproc_stop_sources(struct wm_pumproc *p)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;)
		if (p->sources[i])
			wm_sources[i]->stop(p->sources[i]);
}

void wm_pumproc_finish_sources(struct wm_pumproc *p)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;)
		if (p->sources[i])
			wm_sources[i]->finish(p->sources[i]);
}

void wm_pumproc_destroy_sources(struct wm_pumproc *p)
{
	for (unsigned i = WM_SOURCES_NR; i-- > 0;) {
		if (p->sources[i])
			wm_sources[i]->destroy(p->sources[i]);
		p->sources[i] = NULL;
	}
}

int wm_pumproc_account_sources(struct wm_pumproc *p, struct wm_recording_totals *t)
{
	int error = 0;

	for (unsigned i = 0; i < WM_SOURCES_NR; i++) {
		struct wm_source_totals *source = &t->sources[i];

		if (!p->sources[i])
			continue;
		wm_sources[i]->totals(p->sources[i], source);
		for (unsigned cause = 0; cause < WM_LOST_NR; cause++)
			t->lost[cause] += source->lost[cause];
		if (!error)
			error = source->error;
	}
	return error;
}
