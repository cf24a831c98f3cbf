/* SPDX-License-Identifier: MIT */
/*
 * trace_file.c - see trace_file.h. One pass over the frames of a file; where
 * no frame is, a search for the next magic and uuid.
 */
#include "format/trace_file.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/trace_layout.h"

#define SEARCH_BYTES 65536u

int wm_pread_all(int fd, void *buffer, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(fd, (char *)buffer + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

/* --- names ------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_stream_file(int dirfd, const char *name)
{
	struct stat st;

	return name[0] != '.' && strcmp(name, "metadata") != 0 && !fstatat(dirfd, name, &st, 0) &&
	       S_ISREG(st.st_mode);
}

static void free_names(char **names, uint32_t count)
{
	while (count)
		free(names[--count]);
	free(names);
}

int wm_stream_files_list(int dirfd, char ***ret_names)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint32_t count = 0, room = 64;
	char **names = malloc(room * sizeof(*names)), **larger;
	struct dirent *entry;

	if (!dir || !names) {
		err = !dir ? -errno : -ENOMEM;
		if (!dir && fd >= 0)
			close(fd);
	}
	while (!err && (entry = readdir(dir))) {
		if (!is_stream_file(dirfd, entry->d_name))
			continue;
		if (count == room) {
			larger = realloc(names, 2 * room * sizeof(*names));
			if (!larger || room >= WM_TRACE_FILES_MAX) {
				names = larger ? larger : names;
				err = larger ? -E2BIG : -ENOMEM;
				break;
			}
			names = larger;
			room *= 2;
		}
		names[count] = strdup(entry->d_name);
		if (names[count])
			count++;
		else
			err = -ENOMEM;
	}
	if (dir)
		closedir(dir);
	if (err) {
		free_names(names, count);
		return err;
	}
	qsort(names, count, sizeof(*names), by_name);
	*ret_names = names;
	return (int)count;
}

int wm_stream_file_open(int dirfd, const char *name, uint64_t *ret_bytes)
{
	/* O_NONBLOCK: a FIFO somebody put there must not hold us up. */
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EBADMSG;
	}
	*ret_bytes = (uint64_t)st.st_size;
	return fd;
}

/* --- packets ------------------------------------------------------------------------- */

struct indexing {
	const struct wm_plan *p;
	const struct wm_fault_sink *sink;
	const struct wm_packet_visit *visit;
	struct wm_stream_file *f;
	int fd;
	uint64_t next_sequence;
	bool seen, after_hole; /* a gap of numbers behind a hole is no news */
	unsigned char head[WM_FRAME_BYTES_MAX];
	unsigned char search[SEARCH_BYTES];
};

static int read_frame(struct indexing *x, uint64_t at, struct wm_frame *ret, struct wm_diag *diag)
{
	uint64_t rest = x->f->bytes - at;
	size_t want = rest < sizeof(x->head) ? (size_t)rest : sizeof(x->head);
	int err;

	/* Frames are short: no need to read a page for each. */
	if (want > 256 && x->p->header_bytes < 128)
		want = 256;
	err = wm_pread_all(x->fd, x->head, want, at);
	if (!err)
		err = wm_plan_frame(x->p, x->head, want, at, rest, ret, diag);
	if (err == -ENODATA && want == 256 && rest > 256 && !ret->stream) {
		want = rest < sizeof(x->head) ? (size_t)rest : sizeof(x->head);
		err = wm_pread_all(x->fd, x->head, want, at);
		if (!err)
			err = wm_plan_frame(x->p, x->head, want, at, rest, ret, diag);
	}
	return err;
}

/* The next offset from `at` on where a whole packet is, or the file's end. */
static int find_packet(struct indexing *x, uint64_t at, uint64_t *ret_at, struct wm_frame *frame)
{
	uint32_t magic = htole32(WM_PACKET_MAGIC);

	while (x->f->bytes - at >= x->p->header_bytes) {
		uint64_t rest = x->f->bytes - at;
		size_t bytes = rest < SEARCH_BYTES ? (size_t)rest : SEARCH_BYTES, from = 0;
		int err = wm_pread_all(x->fd, x->search, bytes, at);

		if (err)
			return err;
		while (bytes - from >= x->p->header_bytes) {
			unsigned char *hit = memmem(x->search + from, bytes - from, &magic, 4);
			size_t place = hit ? (size_t)(hit - x->search) : bytes;

			if (!hit || bytes - place < x->p->header_bytes)
				break;
			if (wm_plan_looks_like(x->p, hit, bytes - place) &&
			    !read_frame(x, at + place, frame, NULL)) {
				*ret_at = at + place;
				return 0;
			}
			from = place + 1;
		}
		if (bytes == rest)
			break;
		/* A magic may lie across the edge. */
		at += bytes - (x->p->header_bytes - 1);
	}
	*ret_at = x->f->bytes;
	return 0;
}

static void tell(struct indexing *x, uint64_t offset, const char *reason)
{
	x->sink->fault(x->sink->data, x->f->name, offset, reason);
}

static int keep(struct indexing *x, const struct wm_frame *frame)
{
	struct wm_stream_file *f = x->f;
	char reason[WM_DIAG_SENTENCE];

	if (!(f->nr_packets & (f->nr_packets - 1))) {
		uint32_t room = f->nr_packets ? 2 * f->nr_packets : 1;
		uint64_t *larger = reallocarray(f->packets, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		f->packets = larger;
	}
	if (!f->nr_packets)
		f->first = *frame;
	f->packets[f->nr_packets++] = frame->offset;
	if (frame->has_sequence && !x->after_hole && frame->sequence > x->next_sequence) {
		(void)snprintf(reason, sizeof(reason), "%llu packets are missing before this one",
			       (unsigned long long)(frame->sequence - x->next_sequence));
		tell(x, frame->offset, reason);
	}
	x->next_sequence = frame->sequence + 1;
	x->after_hole = false;
	f->good_bytes = frame->offset + frame->bytes;
	if (x->visit && x->visit->packet)
		x->visit->packet(x->visit->data, frame);
	return 0;
}

/* The bad place at `at`; goes on behind it. */
static int hole(struct indexing *x, uint64_t *at, const struct wm_diag *why, struct wm_frame *frame)
{
	char reason[WM_DIAG_SENTENCE];
	uint64_t next;
	int err = find_packet(x, *at + 1, &next, frame);

	if (err)
		return err;
	(void)snprintf(reason, sizeof(reason), "%.150s (%llu bytes skipped)", why->sentence,
		       (unsigned long long)(next - *at));
	tell(x, *at, reason);
	if (next < x->f->bytes)
		x->f->holes += next - *at;
	x->after_hole = true;
	*at = next;
	return next < x->f->bytes;
}

static int walk(struct indexing *x)
{
	uint64_t at = 0;
	int err = 0;

	while (at < x->f->bytes) {
		struct wm_diag why = {.sentence = ""};
		struct wm_frame frame;

		err = read_frame(x, at, &frame, &why);
		if (err == -EBADMSG || (err == -ENODATA && why.sentence[0])) {
			err = hole(x, &at, &why, &frame);
			if (err <= 0)
				break;
		} else if (err) {
			break; /* it shrank, or the disk failed */
		}
		err = keep(x, &frame);
		if (err)
			break;
		at = frame.offset + frame.bytes;
	}
	return err;
}

/* --- the index file: only asked whether it knows of more than there is ------------------ */

static uint64_t entries_in(uint64_t bytes)
{
	return bytes < sizeof(struct wm_index_header)
		   ? 0
		   : (bytes - sizeof(struct wm_index_header)) / sizeof(struct wm_index_entry);
}

static void ask_index(struct indexing *x, int dirfd)
{
	struct wm_index_entry last;
	char name[300], reason[WM_DIAG_SENTENCE];
	uint64_t bytes, count;
	int fd;

	if (x->after_hole || snprintf(name, sizeof(name), "index/%s.idx", x->f->name) >= 300)
		return;
	fd = wm_stream_file_open(dirfd, name, &bytes);
	if (fd < 0)
		return;
	count = entries_in(bytes);
	if (count &&
	    !wm_pread_all(fd, &last, sizeof(last),
			  sizeof(struct wm_index_header) + (count - 1) * sizeof(last)) &&
	    be64toh(last.offset) >= x->f->bytes && count > x->f->nr_packets) {
		(void)snprintf(reason, sizeof(reason),
			       "%llu packets that the index knows are missing",
			       (unsigned long long)(count - x->f->nr_packets));
		tell(x, x->f->bytes, reason);
	}
	close(fd);
}

/* "NAME.idx" to NAME, when there is no such stream file. */
static bool is_gone(int dirfd, const char *index, char *ret_name, size_t room)
{
	size_t n = strlen(index);
	struct stat st;

	if (n < 5 || n >= room || index[0] == '.' || strcmp(index + n - 4, ".idx") != 0)
		return false;
	memcpy(ret_name, index, n - 4);
	ret_name[n - 4] = '\0';
	return fstatat(dirfd, ret_name, &st, 0) < 0 && errno == ENOENT;
}

void wm_stream_files_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
			  void *data)
{
	int fd = openat(dirfd, "index", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;
	char name[256];

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		if (is_gone(dirfd, entry->d_name, name, sizeof(name)) &&
		    !fstatat(fd, entry->d_name, &st, 0) && S_ISREG(st.st_mode) &&
		    entries_in((uint64_t)st.st_size))
			fn(data, name, entries_in((uint64_t)st.st_size));
	}
	if (dir)
		closedir(dir);
}

int wm_stream_file_index(const struct wm_plan *p, int dirfd, const char *name,
			 const struct wm_fault_sink *sink, const struct wm_packet_visit *visit,
			 struct wm_stream_file *ret)
{
	struct indexing *x = calloc(1, sizeof(*x));
	struct wm_stream_file f = {.name = strdup(name)};
	int err = x && f.name ? 0 : -ENOMEM;

	if (!err) {
		*x = (struct indexing){.p = p, .sink = sink, .visit = visit, .f = &f};
		x->fd = wm_stream_file_open(dirfd, name, &f.bytes);
		err = x->fd < 0 ? x->fd : walk(x);
		if (!err)
			ask_index(x, dirfd);
		if (x->fd >= 0)
			close(x->fd);
	}
	free(x);
	if (err)
		wm_stream_file_done(&f);
	else
		*ret = f;
	return err;
}

void wm_stream_file_done(struct wm_stream_file *f)
{
	free(f->name);
	free(f->packets);
	*f = (struct wm_stream_file){0};
}
