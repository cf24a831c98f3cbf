/* SPDX-License-Identifier: MIT */
/* walk.c - iterates over the records of one file; see perfdata_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "read/perfdata/perfdata_int.h"

#define BUFFER_BYTES ((size_t)1 << 20)

int wm_pd_pread(const struct wm_pd_source *s, void *buffer, size_t bytes, uint64_t offset)
{
	unsigned char *to = buffer;

	while (bytes) {
		ssize_t got = pread(s->fd, to, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		to += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

int wm_pd_walk_begin(struct wm_pd_walk *w, const struct wm_pd *pd, const struct wm_pd_source *s)
{
	*w = (struct wm_pd_walk){.pd = pd, .source = s, .at = s->begin, .buffered_at = s->begin};
	w->buffer = malloc(BUFFER_BYTES);
	return w->buffer ? 0 : -ENOMEM;
}

void wm_pd_walk_done(struct wm_pd_walk *w)
{
	free(w->buffer);
}

/* Reads `bytes` bytes at w->at into the buffer. Returns 1, 0 if the source has fewer, or -errno. */
static int perfdata_walk_look(struct wm_pd_walk *w, size_t bytes, const unsigned char **ret)
{
	uint64_t left = w->source->end - w->at;
	size_t want;
	int err;

	if (w->at > w->source->end || bytes > left)
		return 0;
	if (w->at - w->buffered_at + bytes > w->buffered) {
		want = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
		err = wm_pd_pread(w->source, w->buffer, want, w->at);
		if (err)
			return err;
		w->buffered_at = w->at;
		w->buffered = want;
	}
	*ret = w->buffer + (w->at - w->buffered_at);
	return 1;
}

static int broken(struct wm_pd_walk *w, const char *what)
{
	if (w->quiet)
		return 0;
	wm_trace_fault(w->pd->trace, w->source->file, w->at,
		       "%s (type %u, %u bytes): the %llu bytes from here on are not read", what,
		       w->header.type, w->header.size,
		       (unsigned long long)(w->source->end - w->at));
	return 0;
}

/* Returns the number of bytes after the record that belong to it. */
static uint64_t tail_bytes(const struct wm_pd_walk *w)
{
	const struct wm_perf_header *h = &w->header;

	if (h->type == WM_PD_TRACING_DATA && h->size >= 12)
		return ((uint64_t)wm_get_u32(w->record + 8, w->pd->swap) + 7) & ~7ull;
	if (h->type == WM_PD_AUXTRACE && h->size >= 16)
		return wm_get_u64(w->record + 8, w->pd->swap);
	return 0;
}

/* The fast path: takes a kernel record that is already in the buffer. */
static bool next_buffered(struct wm_pd_walk *w)
{
	size_t at = (size_t)(w->at - w->buffered_at), left = w->buffered - at;
	struct wm_perf_header h;

	if (at > w->buffered || left < WM_PERF_HEADER_BYTES)
		return false;
	h = wm_kperf_header_get(w->buffer + at, w->pd->swap);
	if (!wm_pd_sane(&h) || h.type >= WM_PERF_KIND_USER || h.size > left)
		return false;
	w->header = h;
	w->record = w->buffer + at;
	w->offset = w->at;
	w->tail = 0;
	w->at += h.size;
	return true;
}

int wm_pd_walk_next(struct wm_pd_walk *w)
{
	const unsigned char *p;
	int got;

	if (next_buffered(w))
		return 1;

	if (w->at >= w->source->end)
		return 0;
	w->header = (struct wm_perf_header){0};
	got = perfdata_walk_look(w, WM_PERF_HEADER_BYTES, &p);
	if (got == 1) {
		w->header = wm_kperf_header_get(p, w->pd->swap);
		if (!wm_pd_sane(&w->header))
			return broken(w, "not a valid record");
		got = perfdata_walk_look(w, w->header.size, &p);
	}
	if (got == 0)
		return broken(w, "the data ends inside a record");
	if (got < 0)
		return got == -ENODATA ? broken(w, "the file became shorter") : got;
	w->record = p;
	w->offset = w->at;
	w->tail = tail_bytes(w);
	w->at += w->header.size;
	if (w->tail > w->source->end - w->at)
		return broken(w, "the data ends inside the additional data of a record");
	w->at += w->tail;
	return 1;
}
