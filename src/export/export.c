/* SPDX-License-Identifier: MIT */
/* export.c - runs an exporter; see export.h. */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/ctf/ctf.h"
#include "export/perfdata/perfdata.h"
#include "export/timeline/chrome.h"
#include "export/timeline/perfetto.h"
#include "export/tracedat/tracedat.h"
#include "trace/merge.h"

#define EXPORTER_ENTRY(name, ops) {name, &(ops)},

const struct wm_exporter wm_exporters[] = {WM_EXPORTERS(EXPORTER_ENTRY){NULL, NULL}};

static void count_reason(struct wm_export *x, const char *text, bool written, uint64_t nr)
{
	uint32_t i = 0;

	while (i < x->nr_reasons && strcmp(x->reasons[i].text, text))
		i++;
	if (i == WM_EXPORT_REASONS) /* cannot happen: exporters have fewer reasons */
		i--;
	else if (i == x->nr_reasons)
		x->reasons[x->nr_reasons++] = (struct wm_export_reason){text, written, 0};
	x->reasons[i].nr += nr;
}

void wm_export_skip(struct wm_export *x, const char *reason, uint64_t nr)
{
	count_reason(x, reason, false, nr);
}

void wm_export_reduce(struct wm_export *x, const char *part, uint64_t nr)
{
	count_reason(x, part, true, nr);
}

static int export_tick(const struct wm_export_input *in, const struct wm_merge *m)
{
	return in->tick ? in->tick(in->tick_data, wm_merge_done_bytes(m)) : 0;
}

static int give_all(struct wm_export *x, const struct wm_export_input *in, struct wm_merge *m)
{
	const struct wm_event *e;
	uint32_t until_tick = 1;
	int err;

	while ((err = wm_merge_next(m, &e)) > 0) {
		uint32_t trace = wm_merge_trace(m);

		if (!--until_tick) {
			until_tick = WM_EXPORT_TICK_EVENTS;
			err = export_tick(in, m);
			if (err)
				return err;
		}
		if (in->passes && !in->passes(in->passes_data, trace, e))
			continue;
		err = x->ops->event(x, trace, e);
		if (err)
			return err;
		x->nr_events++;
	}
	return err;
}

/* The caller's wants, minus the items that the exporter does not read. */
struct wants {
	struct wm_want *list;
	const struct wm_want **pointers;
};

static int make_wants(const struct wm_export *x, const struct wm_export_input *in, struct wants *w)
{
	w->list = calloc(x->nr_traces + 1, sizeof(*w->list));
	w->pointers = calloc(x->nr_traces + 1, sizeof(struct wm_want *));
	if (!w->list || !w->pointers)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces; i++) {
		if (in->wants && in->wants[i])
			w->list[i] = *in->wants[i];
		if (!in->passes) /* a filter may read any item */
			w->list[i].no_parts |= x->ops->no_parts;
		w->pointers[i] = &w->list[i];
	}
	return 0;
}

static int export_give(struct wm_export *x, const struct wm_export_input *in)
{
	struct wants w = {0};
	int err = make_wants(x, in, &w);
	struct wm_merge_options o = {in->begin_ns, in->end_ns, w.pointers, 1};
	struct wm_merge *m = err ? NULL : wm_merge_create_on(in->timeline, &o);

	if (!err)
		err = m ? give_all(x, in, m) : -ENOMEM;
	if (!err)
		err = export_tick(in, m);
	wm_merge_destroy(m);
	free(w.list);
	free(w.pointers);
	return err;
}

int wm_export_run(struct wm_export *x, const struct wm_exporter_ops *ops,
		  const struct wm_export_options *options, const struct wm_export_input *input,
		  struct wm_diag *diag)
{
	struct wm_diag later = {.offset = -1}; /* only the first error is reported */
	int err, closed;

	*x = (struct wm_export){.ops = ops,
				.traces = input->timeline->traces,
				.nr_traces = input->timeline->nr_traces,
				.options = *options,
				.begin_ns = input->begin_ns,
				.end_ns = input->end_ns};
	err = ops->open(x, diag);
	if (!err)
		err = export_give(x, input);
	closed = ops->close(x, !err, err ? &later : diag);
	return err ? err : closed;
}
