/* SPDX-License-Identifier: MIT */
/*
 * growing.c - see growing.h. wm_growing_look() reads the ends of all files from their indexes, then
 * the metadata, then the packets up to these ends. This order is safe because the writer writes
 * metadata before the packet that needs it, and an index entry after its packet. Then it merges the
 * new packets (merge.h). Packets whose events were returned are removed from
 * trace->packets, so that the array stays short.
 */
#include "read/growing.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/ctf/growing_int.h"
#include "read/ctf/trace.h"
#include "trace/merge.h"

/* when the trace's arena has grown by this much, the trace is reopened to free memory */
#define RENEW_BYTES ((size_t)16 << 20)

/* --- opening ----------------------------------------------------------------------------- */

/* Returns whether the metadata file was replaced or changed since it was last read. */
static bool metadata_changed(struct wm_growing *g)
{
	struct stat st;

	if (fstatat(g->dirfd, "metadata", &st, 0))
		return false;
	if (g->metadata_ino == st.st_ino && g->metadata_bytes == st.st_size &&
	    g->metadata_time.tv_sec == st.st_mtim.tv_sec &&
	    g->metadata_time.tv_nsec == st.st_mtim.tv_nsec)
		return false;
	g->metadata_ino = st.st_ino;
	g->metadata_bytes = st.st_size;
	g->metadata_time = st.st_mtim;
	return true;
}

static int open_plans(const char *dir, struct wm_trace **ret, struct wm_diag *diag)
{
	struct wm_trace *t = wm_trace_create(dir);
	const struct wm_ctf_trace *c;
	int err;

	if (!t)
		return -ENOMEM;
	t->ops = &wm_ctf_ops;
	err = wm_ctf_open_plans(t, diag);
	c = t->own;
	if (!err && (c->nr_folders != 1 || !c->folders[0].plan || !t->nr_clocks ||
		     !wm_ctf_has_own_packets(c->folders[0].plan->metadata)))
		err = wm_diag_set(diag, -EBADMSG, dir, -1, "not written by waymark's recorder");
	if (!err)
		err = wm_ctf_own_begin(t);
	if (!err)
		err = wm_ctf_kernel_read(t);
	if (err)
		wm_trace_close(t);
	else
		*ret = t;
	return err;
}

/* Files continue after the last packet that was returned. */
static void rewind_files(struct wm_growing *g)
{
	for (uint32_t i = 0; i < g->nr_files; i++) {
		struct wm_growing_file *f = &g->files[i];

		f->part.file = NULL;
		f->part.at = f->done;
	}
}

static int renew(struct wm_growing *g, struct wm_diag *diag)
{
	struct wm_trace *t;
	int err = open_plans(g->dir, &t, diag);

	if (err)
		return err;
	if (g->trace && wm_ctf_own_inherit(t, g->trace, g->until_ns)) {
		wm_trace_close(t);
		return -ENOMEM;
	}
	if (g->trace)
		g->totals.nr_renewed++;
	wm_trace_close(g->before);
	g->before = g->trace;
	g->trace = t;
	g->want = NULL;
	g->arena_limit = RENEW_BYTES + 2 * t->arena.used;
	rewind_files(g);
	return 0;
}

int wm_growing_open(const char *dir, bool give_back, struct wm_growing **ret, struct wm_diag *diag)
{
	struct wm_growing *g = calloc(1, sizeof(*g));
	int err = g ? 0 : -ENOMEM;

	if (!g)
		return err;
	g->give_back = give_back;
	g->until_ns = INT64_MIN;
	g->dir = strdup(dir);
	g->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dirfd < 0)
		err = wm_diag_set(diag, -errno, dir, -1, "cannot be opened: %s", strerror(errno));
	if (!err && !g->dir)
		err = -ENOMEM;
	if (!err) {
		(void)metadata_changed(g);
		err = renew(g, diag);
	}
	if (err)
		wm_growing_close(g);
	else
		*ret = g;
	return err;
}

void wm_growing_close(struct wm_growing *g)
{
	if (!g)
		return;
	wm_merge_destroy(g->merge);
	wm_trace_close(g->before);
	wm_trace_close(g->trace);
	wm_growing_files_done(g);
	free(g->by_stream);
	free(g->dir);
	if (g->dirfd >= 0)
		close(g->dirfd);
	free(g);
}

struct wm_trace *wm_growing_trace(const struct wm_growing *g)
{
	return g->trace;
}

void wm_growing_want(struct wm_growing *g, const struct wm_want *want)
{
	g->want = want;
}

void wm_growing_totals(const struct wm_growing *g, struct wm_growing_totals *ret)
{
	*ret = g->totals;
}

/* --- new packets ---------------------------------------------------------------------------- */

/* Adds a stream to the trace once its file has its first packet. */
static int growing_add_stream(struct wm_growing *g, uint32_t file)
{
	uint32_t *more = realloc(g->by_stream, (g->trace->nr_streams + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	g->by_stream = more;
	more[g->trace->nr_streams] = file;
	return wm_trace_add_stream(g->trace, &g->files[file].part.file->stream);
}

/* Adds the packets found in a file, and the number of events lost before each one. */
static int take_packets(struct wm_growing *g, struct wm_growing_file *f,
			struct wm_ctf_founds *found)
{
	int err = 0;

	for (uint64_t i = 0; i < found->count && !err; i++) {
		struct wm_ctf_found *one = &found->at[i];

		one->packet.stream = f->part.file->stream.index;
		if (one->packet.offset >= f->fresh) {
			one->packet.lost = one->discarded - f->discarded;
			f->discarded = one->discarded;
			g->totals.lost += one->packet.lost;
		}
		err = wm_trace_add_packet(g->trace, &one->packet);
	}
	return err;
}

static int growing_look_at(struct wm_growing *g, uint32_t i)
{
	struct wm_growing_file *f = &g->files[i];
	struct wm_ctf_trace *c = g->trace->own;
	struct wm_ctf_founds found = {0};
	bool had_stream = f->part.file;
	uint64_t end = f->part.end;
	int err;

	if (f->part.at >= end)
		return 0;
	err = wm_ctf_index_part(g->trace, &c->folders[0], &f->part, &found);
	if (!err && found.count && !had_stream)
		err = growing_add_stream(g, i);
	if (!err && found.count)
		err = take_packets(g, f, &found);
	free(found.at);
	return err;
}

static int growing_by_place(const void *a, const void *b)
{
	const struct wm_packet *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int growing_look(struct wm_growing *g, bool anew)
{
	struct wm_trace *t = g->trace;
	uint64_t known = t->nr_packets;
	int err = 0;

	for (uint32_t i = 0; i < g->nr_files; i++)
		if (!anew)
			g->files[i].fresh = g->files[i].part.at;
	for (uint32_t i = 0; i < g->nr_files && !err; i++)
		err = growing_look_at(g, i);
	if (!err)
		err = wm_ctf_own_hear(t, known);
	if (!err && t->nr_packets)
		qsort(t->packets, t->nr_packets, sizeof(*t->packets), growing_by_place);
	return err;
}

/* Skips and counts the events that the caller did not read after the last wm_growing_look(). */
static int skip_rest(struct wm_growing *g)
{
	const struct wm_event *e;
	int got = 0;

	while (g->looked && (got = wm_growing_next(g, &e)) > 0)
		g->totals.skipped++;
	g->totals.events -= g->totals.skipped - g->skipped;
	g->skipped = g->totals.skipped;
	return got;
}

int wm_growing_look(struct wm_growing *g, uint64_t until, struct wm_diag *diag)
{
	bool changed;
	int err = skip_rest(g);

	if (!err)
		err = wm_growing_files_list(g);
	if (err)
		return err;
	changed = metadata_changed(g) || g->trace->arena.used > g->arena_limit;
	if (changed) {
		for (uint32_t i = 0; i < g->nr_files; i++)
			g->files[i].fresh = g->files[i].part.at;
		err = renew(g, diag);
	}
	if (!err)
		err = growing_look(g, changed);
	if (err)
		return err;
	g->given = g->until;
	g->until = until;
	g->until_ns = until == WM_GROWING_NOW ? INT64_MAX : wm_ctf_ns(g->trace->clocks[0], until);
	g->looked = true;
	return changed;
}

/* --- events --------------------------------------------------------------------------------- */

/*
 * Returns whether the event belongs before the previous `until` or after the current one: its
 * packet extends beyond one of them, so that it was returned already, or will be later. Compares
 * ticks, because several may fall in one nanosecond.
 */
static bool is_not_now(struct wm_growing *g, const struct wm_event *e)
{
	const struct wm_growing_file *f = &g->files[g->by_stream[e->stream->index]];

	if (e->clock >= g->until)
		return g->until != WM_GROWING_NOW;
	if (e->clock >= g->given || g->given == WM_GROWING_NOW)
		return false;
	if (e->packet->offset < f->fresh)
		return true;
	g->totals.late++;
	return false;
}

/* Removes packets all of whose events were returned, and frees their bytes. */
static void forget_given(struct wm_growing *g)
{
	struct wm_trace *t = g->trace;
	uint64_t kept = 0;

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		const struct wm_packet *p = &t->packets[i];

		if (p->end_ns < g->until_ns || g->until == WM_GROWING_NOW)
			g->files[g->by_stream[p->stream]].done = p->offset + p->bytes;
		else
			t->packets[kept++] = *p;
	}
	t->nr_packets = kept;
	for (uint32_t i = 0; i < g->nr_files && g->give_back; i++)
		g->totals.freed += wm_growing_file_free(g, &g->files[i]);
}

static int growing_begin_merge(struct wm_growing *g)
{
	const struct wm_want *const wants[] = {g->want};
	int64_t end_ns = g->until_ns < INT64_MAX ? g->until_ns + 1 : INT64_MAX;
	const struct wm_merge_options o = {INT64_MIN, end_ns, g->want ? wants : NULL, 1};

	g->merge = wm_merge_create(&g->trace, 1, &o);
	return g->merge ? 0 : -ENOMEM;
}

int wm_growing_next(struct wm_growing *g, const struct wm_event **ret)
{
	int got = 1;

	if (!g->looked)
		return 0;
	if (!g->merge && growing_begin_merge(g))
		return -ENOMEM;
	while ((got = wm_merge_next(g->merge, ret)) > 0 && is_not_now(g, *ret))
		;
	if (got > 0) {
		g->totals.events++;
		return 1;
	}
	wm_merge_destroy(g->merge);
	g->merge = NULL;
	g->looked = false;
	forget_given(g);
	return got;
}
