/* SPDX-License-Identifier: MIT */
/*
 * stream.c - stream classes: producers whose event ids agree share one, to which each adds the
 * events that it lacks; a producer whose ids contradict all existing classes gets a new one. Events
 * are never removed from a class, because packets written earlier must remain readable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "write/writer_int.h"

void wm_stream_class_destroy(struct wm_stream_class *s)
{
	uint32_t i;

	if (!s)
		return;
	for (i = 0; i < s->nr_lanes; i++)
		free(s->lanes[i]);
	free(s->lanes);
	wm_numbering_done(&s->ids);
	free(s);
}

/* Completes a declaration, or removes it again when memory ran out in the middle. */
static int stream_declared(struct wm_trace_writer *w, size_t before)
{
	if (w->declared.failed) {
		wm_text_cut(&w->declared, before);
		return -ENOMEM;
	}
	w->metadata_old = true;
	return 0;
}

int wm_stream_class_create(struct wm_trace_writer *w, enum wm_stream_kind kind,
			   struct wm_stream_class **ret)
{
	struct wm_stream_class **grown, *s = calloc(1, sizeof(*s));
	size_t before = w->declared.bytes;
	int err = -ENOMEM;

	if (!s)
		return err;
	grown = realloc(w->streams, (w->nr_streams + 1u) * sizeof(*grown));
	if (!grown)
		goto fail;
	w->streams = grown;
	s->id = w->nr_streams;
	s->kind = kind;
	s->max_lanes = kind == WM_STREAM_KIND_RECORDER ? 1 : w->limits.lanes_per_stream;
	wm_describe_stream(&w->declared, w->language, s->id, kind);
	err = stream_declared(w, before);
	if (err)
		goto fail;
	w->streams[w->nr_streams++] = s;
	*ret = s;
	return 0;
fail:
	wm_stream_class_destroy(s);
	return err;
}

int wm_stream_class_event(struct wm_trace_writer *w, struct wm_stream_class *s, uint32_t id,
			  struct wm_interned_event *event)
{
	size_t before = w->declared.bytes;
	int err;

	wm_describe_event(&w->declared, w->language, s->id, id, event->contexts, event->class);
	err = stream_declared(w, before);
	if (err)
		return err;
	err = wm_numbering_set(&s->ids, id, event);
	if (err)
		wm_text_cut(&w->declared, before);
	return err;
}

/* Declares those events of the producer that the stream class lacks. */
static int extend(struct wm_producer *p, struct wm_stream_class *s, uint32_t from)
{
	uint32_t i, id;
	int err;

	for (i = from; i < p->ids.count; i++) {
		id = p->ids.order[i];
		if (wm_numbering_get(&s->ids, id))
			continue;
		err = wm_stream_class_event(p->writer, s, id, p->ids.at[id]);
		if (err)
			return err;
	}
	return 0;
}

/* Returns the stream class that has the most of the producer's ids and contradicts none. */
static struct wm_stream_class *find_stream(const struct wm_producer *p)
{
	const struct wm_trace_writer *w = p->writer;
	struct wm_stream_class *best = NULL;
	int64_t most = -1, shared;
	uint32_t i;

	for (i = 0; i < w->nr_streams && most < p->ids.count; i++) {
		if (w->streams[i]->kind != WM_STREAM_KIND_USER)
			continue;
		shared = wm_numbering_shared(&w->streams[i]->ids, &p->ids, 0);
		if (shared <= most)
			continue;
		most = shared;
		best = w->streams[i];
	}
	return best;
}

static int stream_place(struct wm_producer *p)
{
	struct wm_trace_writer *w = p->writer;
	struct wm_stream_class *s = p->stream;
	uint32_t from = p->nr_placed;
	int err = 0;

	if (s && wm_numbering_shared(&s->ids, &p->ids, from) < 0)
		s = NULL;
	if (!s) {
		s = find_stream(p);
		from = 0;
	}
	if (!s)
		err = wm_stream_class_create(w, WM_STREAM_KIND_USER, &s);
	if (!err)
		err = extend(p, s, from);
	if (err)
		return err;
	p->stream = s;
	p->nr_placed = p->ids.count;
	return 0;
}

int wm_stream_class_place(struct wm_producer *p)
{
	struct wm_trace_writer *w = p->writer;
	struct wm_producer *other, *next;
	int err;

	if (!p->unplaced && p->stream)
		return 0;
	err = stream_place(p);
	if (err)
		return err;
	/*
	 * Also finds classes for all other waiting producers, so that the metadata is written once.
	 */
	for (other = w->unplaced, w->unplaced = NULL; other; other = next) {
		next = other->next_unplaced;
		other->unplaced = false;
		if (stream_place(other))
			wm_stream_class_unplace(
			    other); /* the next packet of that producer reports the error */
	}
	return 0;
}

void wm_stream_class_unplace(struct wm_producer *p)
{
	if (p->unplaced)
		return;
	p->unplaced = true;
	p->next_unplaced = p->writer->unplaced;
	p->writer->unplaced = p;
}

void wm_stream_class_forget(struct wm_producer *p)
{
	struct wm_producer **link = &p->writer->unplaced;

	while (p->unplaced && *link != p)
		link = &(*link)->next_unplaced;
	if (p->unplaced)
		*link = p->next_unplaced;
	p->unplaced = false;
}

int wm_stream_class_new_lane(struct wm_trace_writer *w, struct wm_stream_class *s,
			     struct wm_lane_file **ret)
{
	static const char *const words[] = {
	    [WM_STREAM_KIND_USER] = "user",
	    [WM_STREAM_KIND_MIXED] = "user",
	    [WM_STREAM_KIND_KERNEL] = "kernel",
	    [WM_STREAM_KIND_SAMPLES] = "samples",
	    [WM_STREAM_KIND_TASKS] = "tasks",
	    [WM_STREAM_KIND_COUNTERS] = "counters",
	    [WM_STREAM_KIND_TASK_COUNTERS] = "counters",
	};
	struct wm_lane_file **grown, *lane;
	char name[32];

	grown = realloc(s->lanes, (s->nr_lanes + 1u) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->lanes = grown;
	lane = malloc(sizeof(*lane));
	if (!lane)
		return -ENOMEM;
	if (s->kind == WM_STREAM_KIND_RECORDER)
		(void)snprintf(name, sizeof(name), "waymark-%u", s->nr_lanes); /* fits */
	else
		(void)snprintf(name, sizeof(name), "%s-%u-%u", words[s->kind], s->id,
			       s->nr_lanes); /* fits */
	wm_lane_file_init(lane, name, s->id, s->nr_lanes);
	s->lanes[s->nr_lanes++] = lane;
	if (s->kind == WM_STREAM_KIND_USER)
		w->nr_lanes++;
	*ret = lane;
	return 0;
}

int wm_stream_class_lane(struct wm_trace_writer *w, struct wm_stream_class *s, uint64_t begin,
			 struct wm_lane_file **ret)
{
	uint32_t i;

	for (i = 0; i < s->nr_lanes; i++) {
		if (s->lanes[i]->end > begin)
			continue;
		*ret = s->lanes[i];
		return 0;
	}
	/* A mixed stream must accept every packet, so it may exceed the limit on lanes. */
	if (s->kind != WM_STREAM_KIND_MIXED &&
	    (s->nr_lanes >= s->max_lanes ||
	     (s->kind == WM_STREAM_KIND_USER && w->nr_lanes >= w->limits.lanes)))
		return -EMLINK;
	return wm_stream_class_new_lane(w, s, ret);
}

int wm_stream_class_metadata(struct wm_trace_writer *w)
{
	struct wm_text t;
	int err;

	if (!w->metadata_old)
		return 0;
	wm_text_init(&t);
	wm_describe_trace(&t, w->language, &w->meta);
	wm_text_add(&t, w->declared.data, w->declared.bytes);
	err = t.failed ? -ENOMEM : 0;
	if (!err)
		err = wm_file_replace(w->dirfd, "metadata", 0600, t.data, t.bytes);
	if (!err) {
		w->metadata_old = w->clock_refined = false;
		w->metadata_bytes = t.bytes;
	}
	wm_text_done(&t);
	return err;
}
