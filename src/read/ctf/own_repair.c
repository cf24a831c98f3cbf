/* SPDX-License-Identifier: MIT */
/*
 * own_repair.c - repairs a damaged trace for readers that give up at the first bad byte. It never
 * removes data that waymark's reader can read.
 *
 * First the files are repaired: a damaged tail is truncated; for damage elsewhere the intact
 * packets are written to a new file, which is renamed over the old one. Then the trace is reopened
 * and packets are repaired: the content_size of a packet with a damaged record is reduced (8 bytes,
 * within one page), then its event_count is corrected; index files are replaced as a whole. No step
 * makes the trace worse: an interrupted repair can be run again.
 */
#include "base/array.h"
#include "read/open.h"
#include "read/repair.h"

#include <dirent.h>
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
#include "base/plural.h"
#include "read/ctf/trace.h"
#include "trace/trace_layout.h"

#define COPY_BYTES (1u << 20)

struct repair {
	const char *dir;
	int dirfd;
	struct wm_trace *t;
	void (*fn)(const struct wm_fault *, void *);
	void *data;
	struct wm_diag *diag;
	char **names; /* names of the stream files */
	uint32_t nr_names, room_names;

	/* The current file: */
	const char *name;
	const struct wm_packet *packets; /* in file order */
	uint64_t nr_packets, bytes;
};

static int repair_failed(struct repair *r, const char *what, int err)
{
	return wm_diag_set(r->diag, err, NULL, -1, "%.100s: cannot %s: %s", r->name, what,
			   strerror(-err));
}

static void repair_done(struct repair *r, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void repair_done(struct repair *r, uint64_t offset, const char *fmt, ...)
{
	char reason[WM_DIAG_SENTENCE];
	struct wm_fault f = {r->name, offset, reason};
	va_list args;

	if (!r->fn)
		return;
	va_start(args, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	r->fn(&f, r->data);
}

/* --- files --------------------------------------------------------------------------- */

static int repair_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_stream_file(int dirfd, const char *name)
{
	struct stat st;

	return name[0] != '.' && strcmp(name, "metadata") != 0 &&
	       !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

static int repair_add_name(struct repair *r, const char *name)
{
	if (WM_ARRAY_GROW(r->names, r->room_names, (size_t)r->nr_names + 1))
		return -ENOMEM;
	r->names[r->nr_names] = strdup(name);
	return r->names[r->nr_names] ? (int)(r->nr_names++, 0) : -ENOMEM;
}

static int list_files(struct repair *r)
{
	int fd = openat(r->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir))) {
		if (is_stream_file(r->dirfd, entry->d_name))
			err = r->nr_names < WM_CTF_NAMES_MAX ? repair_add_name(r, entry->d_name)
							     : -E2BIG;
	}
	closedir(dir);
	if (r->nr_names)
		qsort(r->names, r->nr_names, sizeof(*r->names), repair_by_name);
	return err;
}

static int open_stream(struct repair *r, int how)
{
	struct stat st;
	int fd = openat(r->dirfd, r->name, how | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EBADMSG;
	}
	r->bytes = (uint64_t)st.st_size;
	return fd;
}

/* Makes a file the current one, and finds its packets in the trace's list. */
static int repair_take(struct repair *r, const char *name)
{
	const struct wm_trace *t = r->t;
	uint64_t i = 0;
	int fd;

	r->name = name;
	while (i < t->nr_packets && strcmp(t->streams[t->packets[i].stream]->file, name) != 0)
		i++;
	r->packets = &t->packets[i];
	for (r->nr_packets = 0; i + r->nr_packets < t->nr_packets; r->nr_packets++)
		if (t->packets[i + r->nr_packets].stream != r->packets->stream)
			break;
	fd = open_stream(r, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? repair_failed(r, "open it", fd) : 0;
}

/*
 * Returns whether a process has the file open for writing: if so, the kernel refuses a read lease.
 * Where leases do not work (another user's file, some network file systems), returns false.
 */
static bool being_written(struct repair *r, const char *name)
{
	const struct timespec now = {0};
	sigset_t sigio, old;
	bool busy;
	int fd;

	r->name = name;
	fd = open_stream(r, O_RDONLY);
	if (fd < 0)
		return false;
	/* If a process opens the file for writing at this moment, the kernel sends SIGIO. */
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

/* --- bad places and tails ------------------------------------------------------------------ */

/* Returns the reason for the file's last fault, or NULL. A file without faults is not truncated. */
static const char *complaint(const struct repair *r)
{
	for (uint32_t i = r->t->nr_faults; i-- > 0;)
		if (!strcmp(r->t->faults[i].file, r->name))
			return r->t->faults[i].reason;
	return NULL;
}

static int copy_range(int in, int out, uint64_t offset, uint64_t bytes, unsigned char *buffer)
{
	while (bytes) {
		size_t n = bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES;
		int64_t got = wm_ctf_pread(in, buffer, n, offset);
		int err = got < 0 ? (int)got : (uint64_t)got < n ? -ENODATA : 0;

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

	for (uint64_t i = 0; i < r->nr_packets && !err; i++)
		err = copy_range(in, out, r->packets[i].offset, r->packets[i].bytes, buffer);
	free(buffer);
	if (!err && fsync(out))
		err = -errno;
	return err;
}

/* Writes the intact packets to a new file and renames it over the old one. */
static int repair_compact(struct repair *r, uint64_t bad_bytes)
{
	char fresh[300];
	int in, out, err;

	(void)snprintf(fresh, sizeof(fresh), ".%.250s.new", r->name);
	in = open_stream(r, O_RDONLY);
	if (in < 0)
		return repair_failed(r, "open it", in);
	out = openat(r->dirfd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	err = out < 0 ? -errno : copy_good(r, in, out);
	close(in);
	if (out >= 0)
		close(out);
	if (!err && renameat(r->dirfd, fresh, r->dirfd, r->name))
		err = -errno;
	if (err) {
		(void)unlinkat(r->dirfd, fresh, 0); /* the old file is unchanged */
		return repair_failed(r, "rewrite it", err);
	}
	repair_done(r, 0, "removed %llu damaged %s between its packets",
		    (unsigned long long)bad_bytes, wm_plural(bad_bytes, "byte", "bytes"));
	return 0;
}

static int repair_cut(struct repair *r, uint64_t good_bytes, const char *why)
{
	int fd = open_stream(r, O_WRONLY), err = 0;

	if (fd < 0 || ftruncate(fd, (off_t)good_bytes))
		err = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		return repair_failed(r, "cut it", err);
	repair_done(r, good_bytes, "cut %llu %s: %.180s",
		    (unsigned long long)(r->bytes - good_bytes),
		    wm_plural(r->bytes - good_bytes, "byte", "bytes"), why);
	return 0;
}

static int mend_file(struct repair *r, const char *name)
{
	int err = repair_take(r, name);
	const char *why = complaint(r);
	uint64_t good = 0, bad = 0;

	for (uint64_t i = 0; i < r->nr_packets; i++) {
		bad += r->packets[i].offset - good;
		good = r->packets[i].offset + r->packets[i].bytes;
	}
	if (err || !why)
		return err;
	if (bad)
		return repair_compact(r, bad);
	return good < r->bytes ? repair_cut(r, good, why) : 0;
}

/* --- packets --------------------------------------------------------------------------------- */

/* Reads from the file the part of the frame that all of waymark's packets share. */
#define FRAME_BYTES WM_FRAME_BYTES_PLAIN

static int repair_read_frame(struct repair *r, int fd, const struct wm_packet *p,
			     struct wm_packet_frame *ret)
{
	int64_t got = wm_ctf_pread(fd, ret, FRAME_BYTES, p->offset);

	if (got < 0)
		return repair_failed(r, "read it", (int)got);
	if (got < (int64_t)FRAME_BYTES || le64toh(ret->packet_size) != p->bytes * 8 ||
	    le64toh(ret->content_size) != p->own)
		return wm_diag_set(
		    r->diag, -EBADMSG, NULL, -1,
		    "%.100s: its packets have a different layout from the one this release "
		    "writes: repair it with the release that recorded it",
		    r->name);
	return 0;
}

static int write_number(struct repair *r, int fd, uint64_t at, uint64_t value)
{
	ssize_t n;

	value = htole64(value);
	n = pwrite(fd, &value, sizeof(value), (off_t)at);
	if (n == (ssize_t)sizeof(value))
		return 0;
	return repair_failed(r, "repair a packet", n < 0 ? -errno : -EIO);
}

/* Reduces the packet's content to its intact records. */
static int repair_shorten(struct repair *r, const struct wm_packet *p, uint64_t good_bytes,
			  uint64_t count)
{
	int fd = open_stream(r, O_WRONLY), err;

	if (fd < 0)
		return repair_failed(r, "open it for writing", fd);
	err = write_number(r, fd, p->offset + offsetof(struct wm_packet_frame, content_size),
			   good_bytes * 8);
	if (!err)
		err = write_number(r, fd, p->offset + offsetof(struct wm_packet_frame, event_count),
				   count);
	close(fd);
	if (!err)
		repair_done(r, p->offset, "cut a packet after the first %llu of its %llu %s",
			    (unsigned long long)count, (unsigned long long)p->nr_events,
			    wm_plural(p->nr_events, "event", "events"));
	return err;
}

/*
 * Reads all events of a packet; returns the size of its intact part and the number of events in it.
 */
static int repair_walk(struct repair *r, struct wm_packet_reader *reader, struct wm_batch *b,
		       const struct wm_packet *p, uint64_t *ret_bytes, uint64_t *ret_events)
{
	int got = wm_ctf_reader_begin(reader, p);

	while (got >= 0 && (got = wm_batch_read(r->t, reader, b)) > 0)
		;
	*ret_bytes = wm_ctf_reader_at(reader, ret_events);
	/* a read error is not damage: do not repair */
	return got < 0 ? repair_failed(r, "read it", got) : 0;
}

static int mend_packets(struct repair *r)
{
	struct wm_want want = {.no_parts = (1u << WM_NR_PARTS) - 1};
	struct wm_packet_reader *reader = wm_ctf_reader_create(r->t, &want);
	struct wm_batch b = {0};
	int err = reader ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < r->nr_packets && !err; i++) {
		const struct wm_packet *p = &r->packets[i];
		uint64_t good, count;

		err = repair_walk(r, reader, &b, p, &good, &count);
		if (!err &&
		    (good * 8 != p->own || (p->nr_events != UINT64_MAX && p->nr_events != count)))
			err = repair_shorten(r, p, good, count);
	}
	wm_batch_done(&b);
	wm_ctf_reader_destroy(reader);
	return err;
}

/* --- the index ------------------------------------------------------------------------------- */

static int build_entries(struct repair *r, int fd, struct wm_index_entry *entries)
{
	int err = 0;

	for (uint64_t i = 0; i < r->nr_packets && !err; i++) {
		const struct wm_packet *p = &r->packets[i];
		struct wm_packet_frame f;
		int64_t got = wm_ctf_pread(fd, &f, FRAME_BYTES, p->offset);

		if (got != (int64_t)FRAME_BYTES)
			return repair_failed(r, "read it", got < 0 ? (int)got : -ENODATA);
		entries[i] = (struct wm_index_entry){
		    .offset = htobe64(p->offset),
		    .packet_size = htobe64(le64toh(f.packet_size)),
		    .content_size = htobe64(le64toh(f.content_size)),
		    .timestamp_begin = htobe64(le64toh(f.timestamp_begin)),
		    .timestamp_end = htobe64(le64toh(f.timestamp_end)),
		    .events_discarded = htobe64(le64toh(f.events_discarded)),
		    .stream_id = htobe64(le32toh(f.stream_id)),
		    .stream_instance_id = htobe64(le64toh(f.stream_instance_id)),
		    .packet_seq_num = htobe64(le64toh(f.packet_seq_num))};
	}
	return err;
}

static int build_index(struct repair *r, unsigned char **ret, size_t *ret_bytes)
{
	size_t bytes =
	    sizeof(struct wm_index_header) + r->nr_packets * sizeof(struct wm_index_entry);
	const struct wm_index_header head = {htobe32(WM_INDEX_MAGIC), htobe32(WM_INDEX_MAJOR),
					     htobe32(WM_INDEX_MINOR),
					     htobe32(sizeof(struct wm_index_entry))};
	unsigned char *data = malloc(bytes);
	int fd, err;

	if (!data)
		return -ENOMEM;
	memcpy(data, &head, sizeof(head));
	fd = open_stream(r, O_RDONLY);
	err = fd < 0 ? repair_failed(r, "open it", fd)
		     : build_entries(r, fd, (struct wm_index_entry *)(data + sizeof(head)));
	if (fd >= 0)
		close(fd);
	if (err) {
		free(data);
		return err;
	}
	*ret = data;
	*ret_bytes = bytes;
	return 0;
}

static int repair_write_index(struct repair *r, const char *name, const unsigned char *data,
			      size_t bytes)
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

	(void)snprintf(path, sizeof(path), "index/%.250s.idx", r->name);
	err = build_index(r, &data, &bytes);
	if (err)
		return err;
	err = wm_file_read(r->dirfd, path, bytes + 1, &old, &old_bytes);
	if (err != -ENOMEM && (err || old_bytes != bytes || memcmp(old, data, bytes) != 0)) {
		err = repair_write_index(r, path + strlen("index/"), data, bytes);
		if (err)
			err = repair_failed(r, "write its index", err);
		else
			repair_done(r, r->bytes, "rebuilt its index: %llu %s",
				    (unsigned long long)r->nr_packets,
				    wm_plural(r->nr_packets, "packet", "packets"));
	}
	free(old);
	free(data);
	return err;
}

/* Checks, before the first change, that there is a frame at each offset that will be written. */
static int check_frames(struct repair *r)
{
	struct wm_packet_frame frame;
	int fd = open_stream(r, O_RDONLY), err = fd < 0 ? repair_failed(r, "open it", fd) : 0;

	for (uint64_t i = 0; i < r->nr_packets && !err; i++)
		err = repair_read_frame(r, fd, &r->packets[i], &frame);
	if (fd >= 0)
		close(fd);
	return err;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int mend_inside(struct repair *r, const char *name)
{
	int err = repair_take(r, name);

	if (!err)
		err = check_frames(r);
	if (!err)
		err = mend_packets(r);
	return err ? err : mend_index(r);
}

/*
 * Removes the index of a missing stream file, so that the loss of its packets is no longer
 * reported.
 */
static void drop_index(void *data, const char *name, uint64_t nr_packets)
{
	struct repair *r = data;
	char path[300];

	(void)snprintf(path, sizeof(path), "index/%.250s.idx", name);
	if (unlinkat(r->dirfd, path, 0))
		return; /* the loss will be reported again */
	r->name = path;
	repair_done(r, 0, "removed: its %llu %s missing", (unsigned long long)nr_packets,
		    wm_plural(nr_packets, "packet is", "packets are"));
	r->name = NULL;
}

static int repair_open_trace(struct repair *r)
{
	int err;

	wm_trace_close(r->t);
	r->t = NULL;
	err = wm_read_open(r->dir, &r->t, r->diag);
	if (err)
		return err;
	/*
	 * Only a single trace as recorded by waymark can be repaired: converted traces have other
	 * packets, and a folder of several traces has its files in sub-folders.
	 */
	if (!r->t->is_own || wm_trace_word(r->t, "converted_by") ||
	    faccessat(r->dirfd, "metadata", R_OK, 0))
		return wm_diag_set(
		    r->diag, -EBADMSG, NULL, -1,
		    "not recorded by waymark: only waymark's own recordings can be repaired");
	return 0;
}

static int check_idle(struct repair *r)
{
	for (uint32_t i = 0; i < r->nr_names; i++) {
		if (being_written(r, r->names[i]))
			return wm_diag_set(
			    r->diag, -EBUSY, NULL, -1,
			    "%.100s is still being written; stop the recording first", r->names[i]);
	}
	return 0;
}

static int mend(struct repair *r)
{
	int err = repair_open_trace(r);

	if (!err)
		err = list_files(r);
	if (!err)
		err = check_idle(r);
	for (uint32_t i = 0; i < r->nr_names && !err; i++)
		err = mend_file(r, r->names[i]);
	if (!err)
		err = repair_open_trace(r);
	for (uint32_t i = 0; i < r->nr_names && !err; i++)
		err = mend_inside(r, r->names[i]);
	if (!err)
		wm_ctf_own_each_gone(r->dirfd, drop_index, r);
	return err;
}

int wm_own_repair(const char *dir, void (*fn)(const struct wm_fault *, void *), void *data,
		  struct wm_diag *diag)
{
	struct repair r = {.dir = dir, .fn = fn, .data = data, .diag = diag};
	int err;

	if (diag)
		*diag = (struct wm_diag){.offset = -1};
	r.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r.dirfd < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "%s", strerror(errno));
	err = mend(&r);
	wm_trace_close(r.t);
	while (r.nr_names)
		free(r.names[--r.nr_names]);
	free(r.names);
	close(r.dirfd);
	return err;
}
