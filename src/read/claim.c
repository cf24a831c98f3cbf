/* SPDX-License-Identifier: MIT */
/* claim.c - see claim_int.h. */
#include "base/array.h"
#include "read/claim_int.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/plural.h"
#include "trace/reader.h"

#define LOOK_BYTES 65536u

int wm_claims_add(struct wm_claims *c, uint64_t offset, uint64_t bytes)
{
	uint64_t end = bytes < UINT64_MAX - offset ? offset + bytes : UINT64_MAX;

	if (!bytes)
		return 0;
	if (c->nr && c->list[c->nr - 1].end == offset) {
		c->list[c->nr - 1].end = end;
		return 0;
	}
	if (WM_ARRAY_GROW(c->list, c->room, (size_t)c->nr + 1))
		return -ENOMEM;
	c->list[c->nr++] = (struct wm_claim){offset, end};
	return 0;
}

static int claim_by_begin(const void *a, const void *b)
{
	const struct wm_claim *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Returns the offset of the first nonzero byte in [at, end), or `end`. */
static int find_data(int fd, uint64_t at, uint64_t end, unsigned char *room, uint64_t *ret)
{
	while (at < end) {
		size_t want = end - at < LOOK_BYTES ? (size_t)(end - at) : LOOK_BYTES;
		ssize_t got = pread(fd, room, want, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		for (ssize_t i = 0; i < got; i++, at++) {
			if (room[i]) {
				*ret = at;
				return 0;
			}
		}
	}
	*ret = end;
	return 0;
}

static int tell_gap(const struct wm_claims_of *of, struct wm_claim gap, unsigned char *room)
{
	uint64_t data = 0, known = 1;
	int err;

	while (of->known && known && gap.begin < gap.end) {
		known = of->known(of->data, gap.begin, gap.end - gap.begin);
		gap.begin += known;
	}
	err = find_data(of->fd, gap.begin, gap.end, room, &data);
	if (!err && data < gap.end && gap.end - gap.begin >= of->least)
		wm_trace_fault(of->trace, of->file, gap.begin,
			       "%llu %s to no known part of the file: the contents are lost",
			       (unsigned long long)(gap.end - gap.begin),
			       wm_plural(gap.end - gap.begin, "byte belongs", "bytes belong"));
	return err;
}

int wm_claims_tell(struct wm_claims *c, const struct wm_claims_of *of)
{
	unsigned char *room = malloc(LOOK_BYTES);
	uint64_t at = 0, end = of->bytes;
	int err = room ? 0 : -ENOMEM;

	if (c->nr)
		qsort(c->list, c->nr, sizeof(*c->list), claim_by_begin);
	for (uint32_t i = 0; !err && i <= c->nr && at < end; i++) {
		uint64_t next = i < c->nr && c->list[i].begin < end ? c->list[i].begin : end;

		if (next > at)
			err = tell_gap(of, (struct wm_claim){at, next}, room);
		if (i < c->nr && c->list[i].end > at)
			at = c->list[i].end;
	}
	free(room);
	return err;
}

void wm_claims_done(struct wm_claims *c)
{
	free(c->list);
	*c = (struct wm_claims){0};
}
