/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - writes the kernel's events. Ring events, samples and task events have one stream class
 * each, with one lane for each ring of each CPU; counters from /proc have two classes, with one
 * lane each. The folder kernel/ holds files about them, such as event formats and symbols.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "write/writer_int.h"

#define SYMBOLS_FILE  "kallsyms.zst"
#define SYMBOLS_LEVEL 1 /* zstd level: compresses to a fifth; higher levels gain nothing */

static const enum wm_stream_kind kinds[WM_NR_KERNEL_STREAMS] = {
    [WM_KERNEL_EVENTS] = WM_STREAM_KIND_KERNEL,
    [WM_KERNEL_SAMPLES] = WM_STREAM_KIND_SAMPLES,
    [WM_KERNEL_TASKS] = WM_STREAM_KIND_TASKS,
    [WM_KERNEL_COUNTERS] = WM_STREAM_KIND_COUNTERS,
    [WM_KERNEL_TASK_COUNTERS] = WM_STREAM_KIND_TASK_COUNTERS,
};

int wm_stream_kernel_create(struct wm_trace_writer *w, enum wm_kernel_stream_kind kind,
			    struct wm_kernel_stream **ret)
{
	struct wm_kernel_stream *k;
	int err;

	if (w->kernel[kind])
		return -EEXIST;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->writer = w;
	err = wm_stream_class_create(w, kinds[kind], &k->stream);
	if (err) {
		free(k);
		return err;
	}
	w->kernel[kind] = *ret = k;
	return 0;
}

void wm_stream_kernel_destroy(struct wm_kernel_stream *k)
{
	if (!k)
		return;
	free(k->rings); /* the lanes belong to the stream class */
	free(k);
}

int wm_stream_kernel_event(struct wm_kernel_stream *k, uint32_t id, struct wm_class *class)
{
	struct wm_interned_event *event, *known;

	if (id >= WM_EVENT_IDS) {
		wm_class_destroy(class);
		return -EINVAL;
	}
	event = wm_numbering_intern(&k->writer->events, class, 0);
	if (!event)
		return -ENOMEM;
	known = wm_numbering_get(&k->stream->ids, id);
	if (known)
		return known == event ? 0 : -EEXIST;
	return wm_stream_class_event(k->writer, k->stream, id, event);
}

static int lane_of(struct wm_kernel_stream *k, const struct wm_kernel_packet *p,
		   struct wm_lane_file **ret)
{
	uint32_t at = p->cpu * WM_KERNEL_RINGS + p->ring;
	struct wm_lane_file **more;

	if (at >= k->nr_rings) {
		more = realloc(k->rings, (at + 1u) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		while (k->nr_rings <= at)
			more[k->nr_rings++] = NULL;
		k->rings = more;
	}
	if (!k->rings[at]) {
		int err = wm_stream_class_new_lane(k->writer, k->stream, &k->rings[at]);

		if (err)
			return err;
	}
	*ret = k->rings[at];
	return 0;
}

static int kernel_stream_write_packet(struct wm_kernel_stream *k, const struct wm_kernel_packet *p)
{
	struct wm_trace_writer *w = k->writer;
	struct wm_lane_packet out = {
	    .has_cpu = wm_stream_class_kind_has_cpu(k->stream->kind),
	    .cpu = p->cpu,
	    .begin = p->begin,
	    .end = p->end,
	    .count = p->count,
	    .lost = k->carry + p->lost,
	    .payload = p->payload,
	    .payload_bytes = p->payload_bytes,
	    .padding_bytes = p->padding_bytes,
	};
	struct wm_lane_file *lane;
	int err = wm_stream_class_metadata(w);

	if (!err)
		err = lane_of(k, p, &lane);
	if (err)
		return err;
	if (wm_stream_recorder_due(w, p->end))
		(void)wm_stream_recorder_flush(w); /* on failure the events remain queued */
	if (out.begin < lane->end)
		out.begin = lane->end; /* a CPU's clock stepped back slightly */
	if (out.end < out.begin)
		out.end = out.begin;
	return wm_lane_file_write(&w->folder, lane, &out);
}

int wm_stream_kernel_packet(struct wm_kernel_stream *k, const struct wm_kernel_packet *p)
{
	struct wm_trace_writer *w = k->writer;
	int err;

	if (p->ring >= WM_KERNEL_RINGS || p->begin > p->end || p->payload_bytes % WM_RECORD_ALIGN)
		return -EINVAL;
	err = kernel_stream_write_packet(k, p);
	if (err) {
		w->totals.lost_disk += p->count;
		k->carry += p->lost + p->count;
		if (!k->disk_count)
			k->disk_from = p->begin;
		k->disk_count += p->count;
		k->disk_to = p->end;
		return err;
	}
	k->carry = 0;
	/* task events do not count as user events */
	if (k->stream->kind != WM_STREAM_KIND_TASKS)
		w->totals.events += p->count;
	w->totals.packets++;
	wm_stream_kernel_flush(k);
	return 0;
}

void wm_stream_kernel_flush(struct wm_kernel_stream *k)
{
	const struct wm_recorder_loss l = {.cpu = -1,
					   .from = k->disk_from,
					   .to = k->disk_to,
					   .cause = "disk",
					   .count = k->disk_count};

	if (k->disk_count)
		wm_stream_recorder_lost(k->writer, &l);
	k->disk_count = 0;
}

int wm_writer_thread(struct wm_trace_writer *w, uint32_t pid, uint32_t tid, uint64_t clock,
		     const char *comm)
{
	wm_stream_recorder_thread(w, pid, tid, clock, comm);
	return 0;
}

int wm_writer_kernel_lost(struct wm_trace_writer *w, int32_t cpu, uint64_t from, uint64_t to,
			  const char *cause, uint64_t count)
{
	const struct wm_recorder_loss l = {
	    .cpu = cpu, .from = from, .to = to, .cause = cause, .count = count};

	wm_stream_recorder_lost(w, &l);
	return 0;
}

static int put_file(int dirfd, const char *name, const void *data, size_t bytes)
{
	int fd, err;

	if (mkdirat(dirfd, "kernel", 0700) && errno != EEXIST)
		return -errno;
	fd = openat(dirfd, "kernel", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = wm_file_replace(fd, name, 0600, data, bytes);
	close(fd);
	return err;
}

int wm_writer_kernel_file(struct wm_trace_writer *w, const char *name, const void *data,
			  size_t bytes)
{
	return put_file(w->dirfd, name, data, bytes);
}

/* Adds the sizes of the files in the folder; they are few, and small compared with the streams. */
void wm_writer_kernel_adopt(struct wm_trace_writer *w)
{
	static const char *const names[] = {"kernel/formats", "kernel/" SYMBOLS_FILE};
	struct stat st;

	w->kernel_bytes = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!fstatat(w->dirfd, names[i], &st, AT_SYMLINK_NOFOLLOW))
			w->kernel_bytes += (uint64_t)st.st_size;
}

int wm_writer_kernel_format(struct wm_trace_writer *w, const char *system, const char *name,
			    const char *text, size_t bytes)
{
	wm_text_f(&w->formats, "# %s/%s %zu\n", system, name, bytes);
	wm_text_add(&w->formats, text, bytes);
	return w->formats.failed ? -ENOMEM : 0;
}

int wm_writer_kernel_formats(struct wm_trace_writer *w)
{
	return wm_writer_kernel_file(w, "formats", w->formats.data ? w->formats.data : "",
				     w->formats.bytes);
}

int wm_writer_kernel_symbols(const char *dir, const char *text, size_t bytes)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = dirfd < 0 ? -errno : 0;
	size_t room = ZSTD_compressBound(bytes), packed;
	void *data = err ? NULL : malloc(room);

	if (!err && !data)
		err = -ENOMEM;
	if (!err) {
		packed = ZSTD_compress(data, room, text, bytes, SYMBOLS_LEVEL);
		err = ZSTD_isError(packed) ? -EIO : put_file(dirfd, SYMBOLS_FILE, data, packed);
	}
	free(data);
	if (dirfd >= 0)
		close(dirfd);
	return err;
}
