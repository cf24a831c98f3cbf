/* SPDX-License-Identifier: MIT */
/* ctf.c - entry points of both CTF exporters; see ctf_int.h. */
#include "export/ctf/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "export/ctf/ctf_int.h"

#define MEMORY_BYTES     (64u << 20) /* limit on packets in memory, all streams together */
#define PACKET_BYTES_MAX (1u << 20)
#define PACKET_BYTES_MIN (16u << 10)

/* --- opening ------------------------------------------------------------------------------ */

/* Gives each stream its range of packets, which are sorted by stream. */
static void give_packets(const struct wm_trace *t, struct wm_cx_stream *streams)
{
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		struct wm_cx_stream *s = &streams[t->packets[i].stream];

		if (!s->end_packet)
			s->next_packet = i;
		s->end_packet = i + 1;
	}
}

static int ctf_export_open_trace(struct wm_cx *cx, uint32_t trace)
{
	struct wm_trace *t = cx->x->traces[trace];
	struct wm_export_losses *losses;
	struct wm_cx_stream *streams;
	int err;

	cx->events[trace] =
	    wm_arena_array(&cx->arena, t->nr_types + (size_t)1, sizeof(struct wm_cx_event *));
	streams = wm_arena_array(&cx->arena, t->nr_streams + (size_t)1, sizeof(*streams));
	if (!cx->events[trace] || !streams)
		return -ENOMEM;
	give_packets(t, streams);
	/* In CTF input, packets already count the lost events. */
	err = wm_export_losses(&cx->arena, t, t->ops == &wm_ctf_ops, &losses);
	if (!err)
		err = wm_cx_folders(cx, trace);
	for (uint32_t i = 0; !err && i < t->nr_streams; i++)
		err = wm_cx_stream_open(cx, trace, t->streams[i], &streams[i]);
	for (uint32_t i = 0; !err && i < t->nr_streams; i++)
		streams[i].losses = losses[i];
	cx->streams[trace] = streams;
	return err;
}

static int ctf_export_open_all(struct wm_export *x, struct wm_cx *cx)
{
	uint64_t nr_streams = 1;
	int err = 0;

	cx->streams = wm_arena_array(&cx->arena, x->nr_traces, sizeof(struct wm_cx_stream *));
	cx->events = wm_arena_array(&cx->arena, x->nr_traces, sizeof(struct wm_cx_event **));
	if (!cx->streams || !cx->events)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces; i++)
		nr_streams += x->traces[i]->nr_streams;
	cx->packet_bytes = MEMORY_BYTES / nr_streams;
	if (cx->packet_bytes > PACKET_BYTES_MAX)
		cx->packet_bytes = PACKET_BYTES_MAX;
	if (cx->packet_bytes < PACKET_BYTES_MIN)
		cx->packet_bytes = PACKET_BYTES_MIN;
	for (uint32_t i = 0; !err && i < x->nr_traces; i++)
		err = ctf_export_open_trace(cx, i);
	return err;
}

static int ctf_export_say(struct wm_export *x, int err, struct wm_diag *diag)
{
	if (err == -ENOMEM || err == -E2BIG)
		return wm_diag_set(diag, err, x->options.path, -1,
				   "the trace has too many types, or types nested too deeply, for "
				   "%u MiB of memory",
				   WM_CX_MODEL_MAX >> 20);
	return wm_diag_set(diag, err, x->options.path, -1, "cannot be written: %s", strerror(-err));
}

static int ctf_export_open_any(struct wm_export *x, enum wm_meta_language language,
			       struct wm_diag *diag)
{
	struct wm_cx *cx = calloc(1, sizeof(*cx));
	int err;

	if (!cx)
		return -ENOMEM;
	x->own = cx;
	cx->x = x;
	cx->language = language;
	wm_arena_init(&cx->arena, WM_CX_MODEL_MAX);
	err = wm_export_folder_create(&cx->out, x->options.path, x->options.force, diag);
	if (err)
		return err;
	err = ctf_export_open_all(x, cx);
	return err ? ctf_export_say(x, err, diag) : 0;
}

static int open_ctf1(struct wm_export *x, struct wm_diag *diag)
{
	return ctf_export_open_any(x, WM_META_TSDL, diag);
}

static int open_ctf2(struct wm_export *x, struct wm_diag *diag)
{
	return ctf_export_open_any(x, WM_META_JSON, diag);
}

/* --- events --------------------------------------------------------------------------------- */

static int ctf_export_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct wm_cx *cx = x->own;
	struct wm_cx_stream *s = &cx->streams[trace][e->stream->index];
	struct wm_cx_event *described;
	int err = wm_cx_event_get(s->class, e->type, &described);

	return err ? err : wm_cx_stream_event(cx, s, described, e);
}

/* --- closing -------------------------------------------------------------------------------- */

static int finish_streams(struct wm_export *x, struct wm_cx *cx)
{
	int err = 0;

	for (uint32_t i = 0; i < x->nr_traces; i++) {
		for (uint32_t k = 0; !err && k < x->traces[i]->nr_streams; k++)
			err = wm_cx_stream_finish(cx, &cx->streams[i][k]);
	}
	return err;
}

static int sync_file(const struct wm_cx *cx, const char *file)
{
	int fd = openat(cx->out.fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int err;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno; /* the stream has no packets */
	err = fsync(fd) && errno != EINVAL ? -errno : 0;
	(void)close(fd);
	return err;
}

static int sync_streams(const struct wm_export *x, const struct wm_cx *cx)
{
	int err = 0;

	for (uint32_t i = 0; i < x->nr_traces; i++)
		for (uint32_t k = 0; !err && k < x->traces[i]->nr_streams; k++)
			err = sync_file(cx, cx->streams[i][k].file);
	return err;
}

static int write_metadata(const struct wm_cx *cx, struct wm_cx_folder *f)
{
	struct wm_text text;
	int fd = cx->out.fd, err = 0;

	for (struct wm_cx_class *c = f->classes; !err && c; c = c->next)
		err = wm_cx_class_finish(c);
	wm_text_init(&text);
	if (err)
		return err;
	err = wm_cx_metadata(&text, f);
	if (!err && text.bytes > WM_CTF_METADATA_MAX)
		err = -EFBIG; /* waymark's own reader would refuse the metadata */
	if (!err)
		err = wm_cx_make_folders(cx, f->name);
	if (!err && *f->name)
		fd = openat(cx->out.fd, f->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		err = -errno;
	if (!err)
		err = wm_file_replace(fd, "metadata", 0600, text.data, text.bytes);
	if (fd >= 0 && fd != cx->out.fd)
		(void)close(fd);
	wm_text_done(&text);
	return err;
}

static int ctf_export_complete(struct wm_export *x, struct wm_cx *cx)
{
	int err = finish_streams(x, cx);

	for (struct wm_cx_folder *f = cx->folders; !err && f; f = f->next)
		err = write_metadata(cx, f);
	return err ? err : sync_streams(x, cx);
}

static void ctf_export_release(struct wm_export *x, struct wm_cx *cx)
{
	for (uint32_t i = 0; cx->streams && i < x->nr_traces; i++)
		for (uint32_t k = 0; cx->streams[i] && k < x->traces[i]->nr_streams; k++)
			wm_cx_stream_done(&cx->streams[i][k]);
	wm_export_folder_done(&cx->out);
	wm_arena_done(&cx->arena);
	free(cx);
	x->own = NULL;
}

static int ctf_export_close_any(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct wm_cx *cx = x->own;
	int err = 0;

	if (!cx)
		return 0;
	if (whole) {
		err = ctf_export_complete(x, cx);
		if (err)
			(void)ctf_export_say(x, err, diag);
		else
			err = wm_export_folder_publish(&cx->out, diag);
	}
	ctf_export_release(x, cx);
	return err;
}

const struct wm_exporter_ops wm_export_ctf1 = {
    .suffixes = "/|.ctf|.ctf1",
    .summary = "CTF 1.8, a folder: for babeltrace2, Trace Compass, waymark",
    .is_folder = true,
    .keeps_clocks = true,
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER,
    .open = open_ctf1,
    .event = ctf_export_event,
    .close = ctf_export_close_any,
};

const struct wm_exporter_ops wm_export_ctf2 = {
    .suffixes = ".ctf2",
    .summary = "CTF 2, a folder: for babeltrace 2.1, Trace Compass, waymark",
    .is_folder = true,
    .keeps_clocks = true,
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_HEADER,
    .open = open_ctf2,
    .event = ctf_export_event,
    .close = ctf_export_close_any,
};
