/* SPDX-License-Identifier: MIT */
/*
 * join.c - joins traces that are parts of one recording; see open.h. Parts are recognised by the
 * uuid of the recording, which snapshots, rotated chunks and copies of a trace share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/open.h"

/* A recording that has streams in a trace. */
struct recorded {
	const char *uuid;
	uint32_t trace;
};

/* --- which traces belong together ------------------------------------------------------------- */

static int join_by_uuid(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;
	int order = strcmp(x->uuid, y->uuid);

	return order ? order : (x->trace > y->trace) - (x->trace < y->trace);
}

/* Returns the number of recordings in the traces, and adds them to `list` unless it is NULL. */
static size_t find_recorded(struct wm_trace *const *traces, uint32_t nr, struct recorded *list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_trace_origin *before = NULL;

		for (uint32_t s = 0; traces[i]->ops->open_parts && s < traces[i]->nr_streams; s++) {
			const struct wm_trace_origin *o = traces[i]->streams[s]->origin;

			if (!o || o == before || !o->uuid)
				continue;
			if (list)
				list[n] = (struct recorded){o->uuid, i};
			before = o;
			n++;
		}
	}
	return n;
}

/* Returns the first trace of a trace's group. */
static uint32_t first_of(const uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i];
	return i;
}

static void join_unite(uint32_t *group, uint32_t a, uint32_t b)
{
	a = first_of(group, a);
	b = first_of(group, b);
	group[a > b ? a : b] = a < b ? a : b;
}

/* Sets group[i] to the first trace that has a recording of trace i. Returns 0 or -ENOMEM. */
static int find_groups(struct wm_trace *const *traces, uint32_t nr, uint32_t *group)
{
	size_t n = find_recorded(traces, nr, NULL);
	struct recorded *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	(void)find_recorded(traces, nr, list);
	qsort(list, n, sizeof(*list), join_by_uuid);
	for (uint32_t i = 0; i < nr; i++)
		group[i] = i;
	for (size_t i = 1; i < n; i++)
		if (!strcmp(list[i].uuid, list[i - 1].uuid))
			join_unite(group, list[i].trace, list[i - 1].trace);
	for (uint32_t i = 0; i < nr; i++)
		group[i] = first_of(group, i);
	free(list);
	return 0;
}

/* --- the folder above all parts --------------------------------------------------------------- */

struct parts {
	char **paths; /* absolute, then names below the common folder */
	uint32_t nr;
	uint64_t nr_repeated; /* packets of folders that were given before */
};

static void parts_done(struct parts *p)
{
	for (uint32_t i = 0; p->paths && i < p->nr; i++)
		free(p->paths[i]);
	free(p->paths);
}

static bool parts_have(const struct parts *p, const char *path)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (!strcmp(p->paths[i], path))
			return true;
	return false;
}

/* Finds the folders of a group, each once. */
static int find_parts(struct wm_trace *const *traces, uint32_t nr, const uint32_t *group,
		      uint32_t first, struct parts *ret)
{
	*ret = (struct parts){.paths = calloc(nr, sizeof(char *))};
	for (uint32_t i = first; ret->paths && i < nr; i++) {
		char *path;

		if (group[i] != first)
			continue;
		path = realpath(traces[i]->path, NULL);
		if (!path)
			return -errno;
		if (parts_have(ret, path)) {
			ret->nr_repeated += traces[i]->nr_packets;
			free(path);
		} else {
			ret->paths[ret->nr++] = path;
		}
	}
	return ret->paths ? 0 : -ENOMEM;
}

/* Returns the length of the common folder of `b` and the first `most` bytes of `a`. */
static size_t common_bytes(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] == b[n])
		n++;
	while (n && !((!a[n] || a[n] == '/') && (!b[n] || b[n] == '/')))
		n--;
	return n;
}

/* Returns the first `bytes` of an absolute path, shortened when it is below the current folder. */
static char *shown_folder(const char *path, size_t bytes)
{
	char *here = realpath(".", NULL);
	size_t n = here ? strlen(here) : 0;

	if (n > 1 && bytes >= n && common_bytes(path, here, bytes) == n) {
		path += bytes > n ? n + 1 : n;
		bytes -= bytes > n ? n + 1 : n;
		free(here);
		return bytes ? strndup(path, bytes) : strdup(".");
	}
	free(here);
	return bytes ? strndup(path, bytes) : strdup("/");
}

/* Returns the common folder of all parts, malloc'ed, and cuts the parts to names below it. */
static char *cut_common(struct parts *p)
{
	size_t n = strlen(p->paths[0]);
	char *folder;

	for (uint32_t i = 1; i < p->nr; i++)
		n = common_bytes(p->paths[0], p->paths[i], n);
	folder = shown_folder(p->paths[0], n);
	for (uint32_t i = 0; i < p->nr; i++) {
		const char *name = p->paths[i] + n;

		name += *name == '/';
		memmove(p->paths[i], name, strlen(name) + 1);
	}
	return folder;
}

/* --- joining ---------------------------------------------------------------------------------- */

static int open_joined(const struct wm_reader_ops *ops, struct parts *p, struct wm_trace **ret,
		       struct wm_diag *diag)
{
	char *folder = cut_common(p);
	struct wm_trace *t = folder ? wm_trace_create(folder) : NULL;
	int err = -ENOMEM;

	free(folder);
	if (t) {
		t->ops = ops;
		err = ops->open_parts(t, (const char *const *)p->paths, p->nr, diag);
	}
	if (!err) {
		*ret = t;
		return 0;
	}
	if (diag)
		wm_diag_keep(diag); /* copies the names, which are freed with the trace */
	if (t)
		wm_trace_close(t);
	return err;
}

/* Closes the traces of a group; `joined` takes the place of the first. */
static void replace_group(struct wm_trace **traces, uint32_t nr, const uint32_t *group,
			  uint32_t first, struct wm_trace *joined)
{
	for (uint32_t i = first; i < nr; i++) {
		if (group[i] != first)
			continue;
		if (traces[i] != joined)
			wm_trace_close(traces[i]);
		traces[i] = NULL;
	}
	traces[first] = joined;
}

static int join_group(struct wm_trace **traces, uint32_t nr, const uint32_t *group, uint32_t first,
		      struct wm_diag *diag)
{
	struct wm_trace *joined = traces[first];
	struct parts p;
	int err = find_parts(traces, nr, group, first, &p);

	if (!err && p.nr > 1)
		err = open_joined(traces[first]->ops, &p, &joined, diag);
	if (!err) {
		joined->nr_repeated += p.nr_repeated;
		replace_group(traces, nr, group, first, joined);
	}
	parts_done(&p);
	return err;
}

/* Returns whether other traces belong to the group of this one. */
static bool is_group(const uint32_t *group, uint32_t nr, uint32_t first)
{
	if (group[first] != first)
		return false;
	for (uint32_t i = first + 1; i < nr; i++)
		if (group[i] == first)
			return true;
	return false;
}

static uint32_t without_gaps(struct wm_trace **traces, uint32_t nr)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (traces[i])
			traces[kept++] = traces[i];
	return kept;
}

int wm_read_join(struct wm_trace **traces, uint32_t *nr, struct wm_diag *diag)
{
	uint32_t *group = calloc(*nr + (size_t)1, sizeof(*group));
	int err = group ? find_groups(traces, *nr, group) : -ENOMEM;

	if (diag)
		*diag = (struct wm_diag){.offset = -1};
	for (uint32_t i = 0; i < *nr && !err; i++)
		if (is_group(group, *nr, i))
			err = join_group(traces, *nr, group, i, diag);
	*nr = without_gaps(traces, *nr);
	free(group);
	return err;
}
