/* SPDX-License-Identifier: MIT */
/*
 * pipe.c - reads the perf tool's records (64 and up) that describe others: in
 * pipe form they are the only description, in file form they update names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/perfdata/perfdata_int.h"

enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME };

/* Returns the body of the walk's current record. */
static struct wm_pd_bytes body_of(const struct wm_pd *pd, const struct wm_pd_walk *w)
{
	return (struct wm_pd_bytes){.at = w->record + WM_PERF_HEADER_BYTES,
				    .end = w->record + w->header.size,
				    .swap = pd->swap};
}

/* Reads an attr, then its ids up to the end of the record. */
static int pipe_add_attr(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	size_t bytes = (size_t)(b->end - b->at);
	int got = wm_pd_attr_add(pd, b->at, bytes, diag);
	uint32_t attr_bytes;
	int err = 0;

	if (got < 0)
		return got;
	attr_bytes = pd->attrs[got].attr.size;
	if (attr_bytes < WM_PERF_ATTR_BYTES_MIN)
		attr_bytes = WM_PERF_ATTR_BYTES_MIN;
	(void)wm_pd_take(b, attr_bytes);
	while (!err && !b->failed && b->end - b->at >= 8)
		err = wm_pd_id_add(pd, wm_pd_u64(b), (uint32_t)got);
	return err;
}

static int add_event_type(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	uint64_t config = wm_pd_u64(b), left = (uint64_t)(b->end - b->at);
	char name[WM_PD_NAME_BYTES] = "";

	(void)diag;
	if (!b->failed) {
		memcpy(name, b->at, left < sizeof(name) ? left : sizeof(name));
		wm_pd_config_name(pd, config, name);
	}
	return 0;
}

/* Reads u64 what, id; then the text of a unit or name, or the double of a scale. */
static int add_update(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	uint64_t what = wm_pd_u64(b), id = wm_pd_u64(b);
	const struct wm_pd_attr *found = wm_pd_attr_find(pd, id);
	struct wm_pd_attr *a = found ? &pd->attrs[found - pd->attrs] : NULL;
	uint64_t bits;
	char *text;

	(void)diag;
	if (b->failed || !a)
		return 0;
	if (what == UPDATE_SCALE) {
		bits = wm_pd_u64(b);
		memcpy(&a->scale, &bits, sizeof(bits));
		return 0;
	}
	if (what != UPDATE_NAME && what != UPDATE_UNIT)
		return 0;
	text = wm_arena_copy(&pd->trace->arena, b->at,
			     strnlen((const char *)b->at, (size_t)(b->end - b->at)));
	if (!text)
		return -ENOMEM;
	if (what == UPDATE_UNIT)
		a->unit = text;
	else
		wm_pd_attr_name(pd, (uint32_t)(a - pd->attrs), text);
	return 0;
}

static int add_feature(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	uint64_t feature = wm_pd_u64(b);
	int err;

	(void)diag;
	/* An empty one ends the features: it has the first number that the writer does not know. */
	if (b->failed || feature >= WM_PD_NR_FEATURES || b->at == b->end)
		return 0;
	err = wm_pd_feature(pd, (uint32_t)feature, b->at, (size_t)(b->end - b->at));
	return err < 0 ? err : 0; /* wm_pd_own_check() reports a record that ends too early */
}

/* Reads the formats of the kernel's events, whose bytes follow the record. */
static int add_tracing(struct wm_pd *pd, const struct wm_pd_walk *w)
{
	unsigned char *data;
	struct wm_pd_bytes b;
	int err;

	if (w->tail > WM_PD_FEATURE_MAX)
		return 0;
	data = malloc(w->tail + 1);
	if (!data)
		return -ENOMEM;
	err = wm_pd_pread(w->source, data, w->tail, w->offset + w->header.size);
	b = (struct wm_pd_bytes){.at = data, .end = data + w->tail, .swap = pd->swap};
	if (!err)
		err = wm_pd_tracing(pd, &b);
	free(data);
	return err;
}

static int pipe_add_threads(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	(void)diag;
	return wm_pd_stat_threads(pd, b);
}

static int note_count(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	(void)b;
	(void)diag;
	return wm_pd_stat_seen(pd);
}

static int pipe_note_packed(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag)
{
	(void)b;
	(void)diag;
	pd->packed = true;
	return 0;
}

static const struct {
	uint32_t type;
	int (*add)(struct wm_pd *pd, struct wm_pd_bytes *b, struct wm_diag *diag);
} describers[] = {
    {WM_PD_ATTR, pipe_add_attr},          {WM_PD_EVENT_TYPE, add_event_type},
    {WM_PD_EVENT_UPDATE, add_update},     {WM_PD_FEATURE, add_feature},
    {WM_PD_THREAD_MAP, pipe_add_threads}, {WM_PD_STAT, note_count},
    {WM_PD_COMPRESSED, pipe_note_packed}, {WM_PD_COMPRESSED2, pipe_note_packed},
};

int wm_pd_describe(struct wm_pd *pd, const struct wm_pd_walk *w, struct wm_diag *diag)
{
	struct wm_pd_bytes b = body_of(pd, w);
	int err;

	if (w->header.type == WM_PD_TRACING_DATA)
		return add_tracing(pd, w);
	if (w->header.type == WM_PD_BUILD_ID) {
		err = wm_pd_keep(pd, WM_PD_HAS_BUILD_ID, w->record, w->header.size);
		return err ? err : wm_pd_build_id(pd, w->record, &w->header);
	}
	for (size_t i = 0; i < sizeof(describers) / sizeof(describers[0]); i++) {
		if (describers[i].type != w->header.type)
			continue;
		err = describers[i].add(pd, &b, diag);
		if (err && diag && diag->offset >= 0)
			diag->offset += (int64_t)w->offset + WM_PERF_HEADER_BYTES;
		return err;
	}
	return 0;
}

int wm_pd_pipe_read(struct wm_pd *pd, struct wm_diag *diag)
{
	int err = 0, got = 0;

	for (uint32_t i = 0; !err && i < pd->nr_sources; i++) {
		struct wm_pd_walk w;

		err = wm_pd_walk_begin(&w, pd, &pd->sources[i]);
		w.quiet = true;
		while (!err && (got = wm_pd_walk_next(&w)) == 1)
			if (w.header.type >= WM_PERF_KIND_USER)
				err = wm_pd_describe(pd, &w, diag);
			else
				pd->has_samples |= w.header.type == WM_PERF_SAMPLE;
		wm_pd_walk_done(&w);
		err = err ? err : got;
	}
	return err;
}
