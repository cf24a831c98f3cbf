/* SPDX-License-Identifier: MIT */
/*
 * folded.c - see folded.h. A node of the tree is a bucket of {parent, name}, so that equal nodes
 * are stored once.
 */
#include "analysis/folded.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/profile_int.h"
#include "base/file.h"
#include "base/search.h"
#include "trace/name_table.h"

#define DEPTH_MAX 4096u

struct folding {
	struct wm_names names;
	struct wm_buckets nodes; /* words: parent + 1, name; counts: unused */
	struct wm_result *r;
	uint32_t *order; /* nodes by parent, in descending order of weight */
};

/* Returns the start of the weight in "a;b;c 12"; NULL when the line is malformed. */
static const char *folded_weight_of(const char *line, size_t bytes, uint64_t *ret)
{
	size_t at = bytes;
	uint64_t weight = 0, unit = 1;

	while (at && line[at - 1] >= '0' && line[at - 1] <= '9' && bytes - at < 19) {
		weight += (uint64_t)(line[--at] - '0') * unit;
		unit *= 10;
	}
	if (at == bytes || at < 2 || line[at - 1] != ' ')
		return NULL;
	*ret = weight;
	return line + at - 1;
}

static int folded_add_line(struct folding *f, const char *line, size_t bytes)
{
	uint64_t words[2] = {0, 0}, weight;
	const char *end = folded_weight_of(line, bytes, &weight), *next;

	if (!end)
		return -EBADMSG;
	for (unsigned depth = 0; line <= end && depth < DEPTH_MAX; line = next + 1, depth++) {
		uint32_t name, node;

		next = memchr(line, ';', (size_t)(end - line));
		next = next ? next : end;
		name = wm_names_id(&f->names, line, (size_t)(next - line));
		words[1] = name;
		node = wm_buckets_get(&f->nodes, words);
		if (name == WM_NAMES_NONE || node == UINT32_MAX)
			return -ENOMEM;
		f->nodes.weights[node] += weight;
		words[0] = node + 1;
	}
	return line <= end ? -E2BIG : 0;
}

static int add_lines(struct folding *f, const char *text, size_t bytes, struct wm_diag *diag)
{
	const char *end = text + bytes;

	for (unsigned nr = 1; text < end; nr++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		int err = n ? folded_add_line(f, text, n) : 0;

		if (err == -EBADMSG)
			return wm_diag_set(diag, err, NULL, -1,
					   "line %u does not end with a space and a weight", nr);
		if (err == -E2BIG)
			return wm_diag_set(diag, err, NULL, -1, "line %u has more than %u names",
					   nr, DEPTH_MAX);
		if (err)
			return err;
		text += n + 1;
	}
	return 0;
}

/* --- from nodes to rows -------------------------------------------------------------------- */

static int by_parent_and_weight(const void *a, const void *b, void *data)
{
	const struct wm_buckets *n = data;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t p = wm_buckets_words(n, i)[0], q = wm_buckets_words(n, k)[0];

	if (p != q)
		return p < q ? -1 : 1;
	if (n->weights[i] != n->weights[k])
		return n->weights[i] < n->weights[k] ? 1 : -1;
	return i < k ? -1 : i > k;
}

/* Returns the position in `order` of the first child of a node. */
static uint32_t first_child(const struct folding *f, uint64_t parent)
{
	return WM_SEARCH(0, f->nodes.nr, i, wm_buckets_words(&f->nodes, f->order[i])[0] < parent);
}

static struct wm_result_row *folded_add_row(struct folding *f, struct wm_result_table *t,
					    struct wm_result_row *above, uint32_t node)
{
	const char *name = wm_names_text(&f->names, (uint32_t)wm_buckets_words(&f->nodes, node)[1]);
	uint64_t weight = f->nodes.weights[node];
	struct wm_result_row *row;
	union wm_cell *cells;

	name = wm_result_text(f->r, name, strlen(name));
	if (above)
		return wm_result_call(f->r, above, name, weight, 0);
	row = wm_result_row(f->r, t, NULL, &cells);
	if (row) {
		row->weight = weight;
		cells[0].u = weight;
		cells[1].text = name;
	}
	return row;
}

static int folded_add_rows(struct folding *f, struct wm_result_table *t,
			   struct wm_result_row *above, uint64_t parent)
{
	int err = 0;

	for (uint32_t i = first_child(f, parent);
	     !err && i < f->nodes.nr && wm_buckets_words(&f->nodes, f->order[i])[0] == parent;
	     i++) {
		struct wm_result_row *row = folded_add_row(f, t, above, f->order[i]);

		err = row ? folded_add_rows(f, t, row, f->order[i] + 1ull) : -ENOMEM;
	}
	return err;
}

static int folded_make_table(struct folding *f)
{
	static const struct wm_result_column columns[] = {
	    {"weight", "Weight", WM_CELL_COUNT},
	    {"name", "Name", WM_CELL_TEXT},
	};
	struct wm_result_table *t = wm_result_table(f->r, "folded", "folded chains", columns, 2);

	f->order = malloc((f->nodes.nr + 1) * sizeof(*f->order));
	if (!t || !f->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nodes.nr; i++)
		f->order[i] = i;
	qsort_r(f->order, f->nodes.nr, sizeof(*f->order), by_parent_and_weight, &f->nodes);
	return folded_add_rows(f, t, NULL, 0);
}

int wm_folded_read(const char *path, struct wm_result *r, struct wm_diag *diag)
{
	struct folding f = {.r = r};
	char *text = NULL;
	size_t bytes = 0;
	int err = wm_file_read(AT_FDCWD, path, WM_FOLDED_BYTES_MAX, &text, &bytes);

	wm_buckets_init(&f.nodes, 2);
	if (!err)
		err = wm_names_init(&f.names);
	if (!err)
		err = add_lines(&f, text, bytes, diag);
	if (!err)
		err = folded_make_table(&f);
	free(f.order);
	free(text);
	wm_buckets_done(&f.nodes);
	wm_names_done(&f.names);
	return err;
}

bool wm_folded_is(const char *path)
{
	char head[4096];
	struct stat st;
	ssize_t n = -1;
	uint64_t weight;
	const char *end;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		n = read(fd, head, sizeof(head));
	if (fd >= 0)
		(void)close(fd);
	if (n <= 0 || memchr(head, '\0', (size_t)n))
		return false;
	end = memchr(head, '\n', (size_t)n);
	return end && memchr(head, ';', (size_t)(end - head)) &&
	       folded_weight_of(head, (size_t)(end - head), &weight);
}
