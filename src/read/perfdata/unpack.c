/* SPDX-License-Identifier: MIT */
/*
 * unpack.c - decompresses records (zstd) to an unlinked temporary file: the compressed stream
 * continues from record to record, so it must be decompressed in order, but packets are read in any
 * order.
 *
 * The output also consists of records, but its pieces may end anywhere: only whole records are
 * written to the file, and the remaining bytes are held back until the next compressed record.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/plural.h"
#include "read/perfdata/perfdata_int.h"

#define OUT_BYTES    ((size_t)1 << 20)
#define REST_MAX     65536u        /* maximum bytes held back; more than the largest record */
#define UNPACKED_MAX (64ull << 30) /* limit, in case of a decompression bomb */

struct unpacking {
	struct wm_pd *pd;
	struct wm_pd_source *source;
	ZSTD_DCtx *zstd;
	int fd;
	uint64_t written;
	unsigned char *out; /* OUT_BYTES: `rest` first, then new output */
	size_t rest;
};

static int unpack_put(struct unpacking *u, const void *data, size_t bytes)
{
	if (bytes > UNPACKED_MAX - u->written)
		return -EFBIG;
	u->written += bytes;
	return wm_file_write(u->fd, data, bytes);
}

/* Copies a record along with any data after it that belongs to it: a pipe's formats, AUX data. */
static int put_as_is(struct unpacking *u, const struct wm_pd_walk *w)
{
	uint64_t at = w->offset + w->header.size, left = w->tail;
	int err = unpack_put(u, w->record, w->header.size);

	while (!err && left) {
		size_t bytes = left < OUT_BYTES - u->rest ? (size_t)left : OUT_BYTES - u->rest;

		err = wm_pd_pread(u->source, u->out + u->rest, bytes, at);
		if (!err)
			err = unpack_put(u, u->out + u->rest, bytes);
		at += bytes;
		left -= bytes;
	}
	return err;
}

/* Writes the complete records in the first `bytes` of `out`; holds back an incomplete one. */
static int put_records(struct unpacking *u, size_t bytes)
{
	size_t at = 0;
	int err;

	while (bytes - at >= WM_PERF_HEADER_BYTES) {
		struct wm_perf_header h = wm_kperf_header_get(u->out + at, u->pd->swap);

		if (!wm_pd_sane(&h))
			return -EBADMSG;
		if (h.size > bytes - at)
			break;
		at += h.size;
	}
	err = unpack_put(u, u->out, at);
	u->rest = bytes - at;
	memmove(u->out, u->out + at, u->rest);
	return err;
}

static int unpack_record(struct unpacking *u, const struct wm_pd_walk *w)
{
	struct wm_pd_bytes b = {.at = w->record + WM_PERF_HEADER_BYTES,
				.end = w->record + w->header.size,
				.swap = u->pd->swap};
	ZSTD_inBuffer in;
	size_t left = 0;
	int err = 0;

	in = (ZSTD_inBuffer){b.at, (size_t)(b.end - b.at), 0};
	/* has a field for the size, because it may be padded */
	if (w->header.type == WM_PD_COMPRESSED2) {
		uint64_t size = wm_pd_u64(&b);

		if (b.failed || size > (uint64_t)(b.end - b.at))
			return -EBADMSG;
		in = (ZSTD_inBuffer){b.at, size, 0};
	}
	do {
		ZSTD_outBuffer out = {u->out, OUT_BYTES, u->rest};

		left = ZSTD_decompressStream(u->zstd, &out, &in);
		if (ZSTD_isError(left))
			return -EBADMSG;
		err = put_records(u, out.pos);
		if (u->rest > REST_MAX)
			err = -EBADMSG;
		if (out.pos < OUT_BYTES && in.pos == in.size)
			break;
	} while (!err);
	return err;
}

static int unpack_records(struct unpacking *u, struct wm_pd_walk *w)
{
	int got;

	while ((got = wm_pd_walk_next(w)) == 1) {
		uint32_t type = w->header.type;
		int err;

		if (type == WM_PD_COMPRESSED || type == WM_PD_COMPRESSED2) {
			u->pd->nr_own++;
			wm_pd_own_check(w);
			err = unpack_record(u, w);
		} else {
			err = put_as_is(u, w);
		}
		if (err == -EBADMSG || err == -EFBIG) {
			wm_trace_fault(
			    u->pd->trace, u->source->file, w->offset,
			    err == -EFBIG ? "decompresses to more than %llu bytes"
					  : "cannot be decompressed: damaged after %llu bytes",
			    (unsigned long long)(err == -EFBIG ? UNPACKED_MAX : u->written));
			return 0;
		}
		if (err)
			return err;
	}
	if (!got && u->rest)
		wm_trace_fault(u->pd->trace, u->source->file, w->at,
			       "%zu %s of a record %s missing at the end of the compressed data",
			       u->rest, wm_plural(u->rest, "byte", "bytes"),
			       wm_plural(u->rest, "is", "are"));
	return got;
}

int wm_pd_unpack(struct wm_pd *pd, struct wm_pd_source *s, struct wm_diag *diag)
{
	struct unpacking u = {.pd = pd, .source = s, .fd = wm_file_temporary()};
	struct wm_pd_walk w = {0};
	int err = -ENOMEM;

	if (u.fd < 0)
		return wm_diag_set(
		    diag, u.fd, s->file, -1,
		    "compressed records need a temporary file ($TMPDIR or /var/tmp): "
		    "%s",
		    strerror(-u.fd));
	u.zstd = ZSTD_createDCtx();
	u.out = malloc(OUT_BYTES);
	if (u.zstd && u.out)
		err = wm_pd_walk_begin(&w, pd, s);
	if (!err)
		err = unpack_records(&u, &w);
	wm_pd_walk_done(&w);
	ZSTD_freeDCtx(u.zstd);
	free(u.out);
	if (err) {
		close(u.fd);
		return wm_diag_set(diag, err, s->file, -1, "cannot be decompressed: %s",
				   strerror(-err));
	}
	close(s->fd);
	s->fd = u.fd;
	s->begin = 0;
	s->end = u.written;
	return 0;
}
