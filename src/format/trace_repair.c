/* SPDX-License-Identifier: MIT */
/*
 * trace_repair.c - makes a damaged trace whole for readers that give up at
 * the first bad byte. Never takes away what trace_cursor.h can read.
 *
 * Each step leaves a trace that is no worse: a tail is cut with one ftruncate;
 * holes go by writing the good packets to a new file and renaming it over the
 * old one; a packet with a bad record gets a smaller content_size (8 bytes
 * inside one page) and then its true event_count. Index files are replaced
 * whole, last. Whoever is interrupted runs it again.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "format/trace_cursor.h"
#include "format/trace_reader.h"

#define COPY_BYTES (1u << 20)

struct repair {
	int dirfd;
	struct wm_ctf_metadata *metadata;
	struct wm_plan plan;
	void (*fn)(const struct wm_trace_fault *, void *);
	void *data;
	struct wm_diag *diag;

	/* Of the file in hand. */
	struct wm_stream_file file;
	struct wm_frame *frames;
	char tail[WM_DIAG_SENTENCE]; /* what is wrong with its end */
};

static int failed(struct repair *r, const char *name, const char *what, int err)
{
	return wm_diag_set(r->diag, err, NULL, -1, "%.100s: cannot %s: %s", name, what,
			   strerror(-err));
}

static void done(struct repair *r, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void done(struct repair *r, uint64_t offset, const char *fmt, ...)
{
	struct wm_trace_fault f = {.offset = offset};
	va_list args;

	if (!r->fn)
		return;
	(void)snprintf(f.file, sizeof(f.file), "%s", r->file.name);
	va_start(args, fmt);
	(void)vsnprintf(f.reason, sizeof(f.reason), fmt, args);
	va_end(args);
	r->fn(&f, r->data);
}

static void no_fault(void *data, const char *file, uint64_t offset, const char *reason)
{
}

/* --- is somebody writing it? ---------------------------------------------------------- */

/*
 * A read lease is refused while anybody has the file open for writing. Where
 * leases do not work (another's file, some network file systems) we can not
 * know and go on.
 */
static bool being_written(int dirfd, const char *name)
{
	const struct timespec now = {0};
	sigset_t sigio, old;
	uint64_t bytes;
	int fd = wm_stream_file_open(dirfd, name, &bytes);
	bool busy;

	if (fd < 0)
		return false;
	/* Whoever opens it for writing in this very moment makes the kernel send us SIGIO. */
	(void)sigemptyset(&sigio);
	(void)sigaddset(&sigio, SIGIO);
	(void)pthread_sigmask(SIG_BLOCK, &sigio, &old);
	busy = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	if (!sigismember(&old, SIGIO))
		(void)sigtimedwait(&sigio, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return busy;
}

/* --- records that cannot be read ---------------------------------------------------------- */

static void store(unsigned char *at, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static int write_slot(struct repair *r, int fd, const struct wm_frame *f, uint32_t slot,
		      uint64_t value)
{
	const struct wm_slot *s = &f->stream->slots[slot];
	unsigned char bytes[8];
	ssize_t n;

	if (!s->bytes)
		return 0;
	store(bytes, value, s->bytes);
	n = pwrite(fd, bytes, s->bytes, (off_t)(f->offset + s->offset));
	if (n == (ssize_t)s->bytes)
		return 0;
	return failed(r, r->file.name, "mend a packet", n < 0 ? -errno : -EIO);
}

/* Ends the packet behind its last good record. */
static int shorten(struct repair *r, const struct wm_frame *f, uint64_t good_bytes, uint64_t count)
{
	int fd = openat(r->dirfd, r->file.name, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return failed(r, r->file.name, "open it for writing", -errno);
	err = write_slot(r, fd, f, WM_CTF_CONTENT_SIZE, good_bytes * 8);
	if (!err)
		err = write_slot(r, fd, f, WM_SLOT_EVENT_COUNT, count);
	close(fd);
	if (!err)
		done(r, f->offset, "packet ended after its %llu good events of %llu",
		     (unsigned long long)count, (unsigned long long)f->count);
	return err;
}

/* One packet after the other, silently; a cursor knows good records from bad ones. */
static int mend_packets(struct repair *r)
{
	struct wm_fault_sink silent = {no_fault, NULL};
	uint64_t *good = calloc(r->file.nr_packets + 1, sizeof(*good));
	uint64_t *counts = calloc(r->file.nr_packets + 1, sizeof(*counts));
	struct wm_stream_file lent = r->file;
	struct wm_cursor c;
	int got = 0, err = good && counts ? 0 : -ENOMEM;

	if (!err) {
		wm_cursor_init(&c, &r->plan, r->dirfd, &silent, &lent);
		while ((got = wm_cursor_step(&c)) == 1) {
			if (!c.buffer)
				continue;
			good[c.at] = c.pos + c.bytes;
			counts[c.at] = c.nr_read;
		}
		free(c.buffer);
		/* What could not be read may be good. */
		err = c.io_err ? failed(r, r->file.name, "read it", c.io_err) : got;
	}
	for (uint32_t i = 0; i < r->file.nr_packets && !err; i++) {
		struct wm_frame *f = &r->frames[i];
		uint64_t end = counts[i] ? good[i] : f->stream->frame_bytes;

		/* An empty packet may say it has content up to where records would begin. */
		if (!counts[i] && f->content_bytes <= f->stream->records_at && !f->count)
			continue;
		if (end == f->content_bytes && (!f->has_count || f->count == counts[i]))
			continue;
		err = shorten(r, f, end, counts[i]);
		f->content_bytes = end;
		f->count = counts[i];
	}
	free(good);
	free(counts);
	return err;
}

/* --- holes and tails ------------------------------------------------------------------------- */

static int copy_range(int in, int out, uint64_t offset, uint64_t bytes, unsigned char *buffer)
{
	while (bytes) {
		size_t n = bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES;
		int err = wm_pread_all(in, buffer, n, offset);

		if (!err)
			err = wm_file_write(out, buffer, n);
		if (err)
			return err;
		offset += n;
		bytes -= n;
	}
	return 0;
}

static int copy_good(struct repair *r, int in, int out)
{
	unsigned char *buffer = malloc(COPY_BYTES);
	int err = buffer ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < r->file.nr_packets && !err; i++)
		err = copy_range(in, out, r->frames[i].offset, r->frames[i].bytes, buffer);
	free(buffer);
	if (!err && fsync(out))
		err = -errno;
	return err;
}

/* The good packets, one behind the other, in a new file of the same name. */
static int compact(struct repair *r)
{
	char fresh[300];
	uint64_t at = 0, bytes;
	int in, out, err;

	(void)snprintf(fresh, sizeof(fresh), ".%.250s.new", r->file.name);
	in = wm_stream_file_open(r->dirfd, r->file.name, &bytes);
	if (in < 0)
		return failed(r, r->file.name, "open it", in);
	out = openat(r->dirfd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = out < 0 ? -errno : copy_good(r, in, out);
	close(in);
	if (out >= 0)
		close(out);
	if (!err && renameat(r->dirfd, fresh, r->dirfd, r->file.name))
		err = -errno;
	if (err) {
		(void)unlinkat(r->dirfd, fresh, 0); /* the old file stands */
		return failed(r, r->file.name, "write it anew", err);
	}
	done(r, 0, "%llu bad bytes between its packets taken out",
	     (unsigned long long)r->file.holes);
	for (uint32_t i = 0; i < r->file.nr_packets; i++) {
		r->frames[i].offset = r->file.packets[i] = at;
		at += r->frames[i].bytes;
	}
	r->file.bytes = r->file.good_bytes = at;
	r->file.holes = 0;
	return 0;
}

static int cut(struct repair *r)
{
	int fd = openat(r->dirfd, r->file.name, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0 || ftruncate(fd, (off_t)r->file.good_bytes))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		return failed(r, r->file.name, "cut it", err);
	done(r, r->file.good_bytes, "cut %llu bytes: %.180s",
	     (unsigned long long)(r->file.bytes - r->file.good_bytes), r->tail);
	r->file.bytes = r->file.good_bytes;
	return 0;
}

/* --- the index -----------------------------------------------------------------------------------
 */

static unsigned char *build_index(const struct repair *r, size_t *ret_bytes)
{
	size_t bytes =
	    sizeof(struct wm_index_header) + r->file.nr_packets * sizeof(struct wm_index_entry);
	unsigned char *data = malloc(bytes);
	struct wm_index_header head = {htobe32(WM_INDEX_MAGIC), htobe32(WM_INDEX_MAJOR),
				       htobe32(WM_INDEX_MINOR),
				       htobe32(sizeof(struct wm_index_entry))};

	if (!data)
		return NULL;
	memcpy(data, &head, sizeof(head));
	for (uint32_t i = 0; i < r->file.nr_packets; i++) {
		const struct wm_frame *f = &r->frames[i];
		struct wm_index_entry e = {.offset = htobe64(f->offset),
					   .packet_size = htobe64(f->bytes * 8),
					   .content_size = htobe64(f->content_bytes * 8),
					   .timestamp_begin = htobe64(f->begin),
					   .timestamp_end = htobe64(f->end),
					   .events_discarded = htobe64(f->discarded),
					   .stream_id = htobe64(f->stream->id),
					   .stream_instance_id = htobe64(f->instance),
					   .packet_seq_num = htobe64(f->sequence)};

		memcpy(data + sizeof(head) + i * sizeof(e), &e, sizeof(e));
	}
	*ret_bytes = bytes;
	return data;
}

static int write_index(struct repair *r, const char *name, const unsigned char *data, size_t bytes)
{
	int fd, err;

	if (mkdirat(r->dirfd, "index", 0700) && errno != EEXIST)
		return -errno;
	fd = openat(r->dirfd, "index", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = wm_file_replace(fd, name, 0600, data, bytes);
	close(fd);
	return err;
}

static int mend_index(struct repair *r)
{
	char path[300], *old = NULL;
	size_t bytes = 0, old_bytes = 0;
	unsigned char *data;
	int err;

	(void)snprintf(path, sizeof(path), "index/%.250s.idx", r->file.name);
	data = build_index(r, &bytes);
	if (!data)
		return -ENOMEM;
	err = wm_file_read(r->dirfd, path, bytes + 1, &old, &old_bytes);
	if (err == -ENOMEM) {
		free(data);
		return err;
	}
	if (err || old_bytes != bytes || memcmp(old, data, bytes) != 0) {
		err = write_index(r, path + strlen("index/"), data, bytes);
		if (err)
			err = failed(r, path, "write it", err);
		else
			done(r, r->file.bytes, "its index was written anew: %u packets",
			     r->file.nr_packets);
	}
	free(old);
	free(data);
	return err;
}

/* --- all
 * -------------------------------------------------------------------------------------------- */

static void keep_reason(void *data, const char *file, uint64_t offset, const char *reason)
{
	struct repair *r = data;

	(void)snprintf(r->tail, sizeof(r->tail), "%s", reason);
}

static int read_frames(struct repair *r)
{
	unsigned char head[WM_FRAME_BYTES_MAX];
	uint64_t bytes;
	int fd = wm_stream_file_open(r->dirfd, r->file.name, &bytes), err = 0;

	r->frames = calloc(r->file.nr_packets + 1, sizeof(*r->frames));
	if (fd < 0 || !r->frames)
		err = fd < 0 ? fd : -ENOMEM;
	for (uint32_t i = 0; i < r->file.nr_packets && !err; i++) {
		uint64_t at = r->file.packets[i], rest = r->file.bytes - at;
		size_t want = rest < sizeof(head) ? (size_t)rest : sizeof(head);

		err = wm_pread_all(fd, head, want, at);
		if (!err)
			err = wm_plan_frame(&r->plan, head, want, at, rest, &r->frames[i], NULL);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static int mend_file(struct repair *r, const char *name)
{
	struct wm_fault_sink sink = {keep_reason, r};
	int err;

	r->tail[0] = 0;
	err = wm_stream_file_index(&r->plan, r->dirfd, name, &sink, NULL, &r->file);
	if (err)
		return failed(r, name, "read it", err);
	err = read_frames(r);
	if (err)
		err = failed(r, name, "read it", err);
	else if (r->file.holes)
		err = compact(r);
	else if (r->file.good_bytes < r->file.bytes)
		err = cut(r);
	if (!err)
		err = mend_packets(r);
	if (!err)
		err = mend_index(r);
	free(r->frames);
	r->frames = NULL;
	wm_stream_file_done(&r->file);
	return err;
}

/* Nothing can be done about a stream file that is gone but to stop asking for it. */
static void drop_index(void *data, const char *name, uint64_t nr_packets)
{
	struct repair *r = data;
	char path[300];

	(void)snprintf(path, sizeof(path), "index/%.250s.idx", name);
	if (unlinkat(r->dirfd, path, 0))
		return; /* it is reported again the next time */
	r->file.name = path;
	done(r, 0, "removed: its %llu packets are gone", (unsigned long long)nr_packets);
	r->file.name = NULL;
}

static int mend_files(struct repair *r)
{
	char **names = NULL;
	int count = wm_stream_files_list(r->dirfd, &names), err = 0;

	if (count < 0)
		return count;
	for (int i = 0; i < count && !err; i++) {
		if (being_written(r->dirfd, names[i]))
			err = wm_diag_set(r->diag, -EBUSY, NULL, -1,
					  "%.100s is still being written; stop the recording first",
					  names[i]);
	}
	for (int i = 0; i < count; i++) {
		if (!err)
			err = mend_file(r, names[i]);
		free(names[i]);
	}
	free(names);
	if (!err)
		wm_stream_files_gone(r->dirfd, drop_index, r);
	return err;
}

static int read_metadata(struct repair *r)
{
	char *text = NULL;
	size_t bytes = 0;
	int err = wm_file_read(r->dirfd, "metadata", WM_CTF_METADATA_MAX, &text, &bytes);

	if (err)
		return wm_diag_set(r->diag, err, "metadata", -1, "%s", strerror(-err));
	err = wm_ctf_metadata_parse("metadata", text, bytes, &r->metadata, NULL, r->diag);
	free(text);
	return err ? err : wm_plan_build(r->metadata, &r->plan, r->diag);
}

int wm_trace_repair(const char *dir, void (*fn)(const struct wm_trace_fault *, void *), void *data,
		    struct wm_diag *diag)
{
	struct repair r = {.fn = fn, .data = data, .diag = diag};
	int err;

	if (diag)
		*diag = (struct wm_diag){.offset = -1};
	r.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r.dirfd < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "%s", strerror(errno));
	err = read_metadata(&r);
	if (!err)
		err = mend_files(&r);
	wm_ctf_metadata_destroy(r.metadata);
	close(r.dirfd);
	return err;
}
