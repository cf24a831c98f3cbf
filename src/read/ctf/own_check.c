/* SPDX-License-Identifier: MIT */
/*
 * own_check.c - checks that packets of waymark's own traces are complete, count their events, and
 * do not overlap; violations are treated as damage. See own.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plural.h"
#include "read/ctf/own.h"
#include "read/ctf/trace.h"
#include "trace/trace_layout.h"

uint64_t wm_ctf_own_count(const struct wm_batch *frame)
{
	for (uint32_t i = 0; i < frame->nr_items; i = frame->items[i].next) {
		const struct wm_member *m = frame->items[i].member;

		if (m->name && !strcmp(m->name, "event_count") && m->type->kind == WM_TYPE_UNSIGNED)
			return frame->items[i].u < INT64_MAX ? frame->items[i].u : INT64_MAX;
	}
	return UINT64_MAX;
}

bool wm_ctf_own_frame(struct wm_trace *t, const char *file, uint64_t at, uint64_t left,
		      const struct wm_ctf_frame *f, uint64_t nr_events)
{
	unsigned long long bytes = f->packet_bits / 8, events = nr_events;
	char lost[40] = "an unknown number of events";

	if (f->packet_bits == UINT64_MAX)
		return true;
	if (f->packet_bits % 64 || f->content_bits % 8) {
		wm_trace_fault(
		    t, file, at, "a packet of %llu bits with %llu used, which is impossible",
		    (unsigned long long)f->packet_bits, (unsigned long long)f->content_bits);
	} else if (f->end < f->begin) {
		wm_trace_fault(t, file, at, "a packet that ends before it begins");
	} else if (nr_events != UINT64_MAX &&
		   nr_events > f->content_bits / (8 * WM_RECORD_HEADER_BYTES)) {
		wm_trace_fault(t, file, at,
			       "a packet of %llu bytes with %llu %s, which is impossible", bytes,
			       events, wm_plural(events, "event", "events"));
	} else if (bytes > left) {
		if (nr_events != UINT64_MAX)
			(void)snprintf(lost, sizeof(lost), "%llu %s", events,
				       wm_plural(events, "event", "events"));
		wm_trace_fault(t, file, at,
			       "the last packet is truncated: %llu of %llu bytes, %s lost",
			       (unsigned long long)left, bytes, lost);
		t->incomplete = true;
	} else {
		return true;
	}
	return false;
}

void wm_ctf_own_follow(struct wm_trace *t, const struct wm_ctf_found *before,
		       const struct wm_ctf_found *now)
{
	if (now->packet.begin_ns < before->packet.end_ns)
		wm_trace_fault(t, now->file->stream.file, now->packet.offset,
			       "a packet begins before the previous one ended");
}

/* --- missing files ------------------------------------------------------------------------ */

/*
 * Returns whether the stream file NAME of an index NAME.idx is missing; writes NAME to `ret_name`.
 */
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

static uint64_t entries_in(const struct stat *st)
{
	uint64_t bytes = st->st_size > 0 ? (uint64_t)st->st_size : 0;

	return !S_ISREG(st->st_mode) || bytes < sizeof(struct wm_index_header)
		   ? 0
		   : (bytes - sizeof(struct wm_index_header)) / sizeof(struct wm_index_entry);
}

void wm_ctf_own_each_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
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
		    !fstatat(fd, entry->d_name, &st, 0) && entries_in(&st))
			fn(data, name, entries_in(&st));
	}
	if (dir)
		closedir(dir);
}

struct telling {
	struct wm_trace *t;
	const char *below;
};

static void tell_gone(void *data, const char *name, uint64_t nr_packets)
{
	const struct telling *x = data;
	char path[512];

	(void)snprintf(path, sizeof(path), "%.250s%s%.250s", x->below, x->below[0] ? "/" : "",
		       name);
	wm_trace_fault(x->t, path, 0, "the file is missing; its index lists %llu %s",
		       (unsigned long long)nr_packets, wm_plural(nr_packets, "packet", "packets"));
}

void wm_ctf_own_gone(struct wm_trace *t, const char *folder, const char *below)
{
	struct telling x = {t, below};
	int dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dirfd < 0)
		return; /* the caller that lists the folder reports the error */
	wm_ctf_own_each_gone(dirfd, tell_gone, &x);
	close(dirfd);
}
