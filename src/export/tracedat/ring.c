/* SPDX-License-Identifier: MIT */
/*
 * ring.c - writes records to pages of ftrace's ring (kdata/page.h has their layout) and pages to
 * the spool; see tracedat_int.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/file.h"
#include "export/tracedat/tracedat_int.h"

#define ZSTD_LEVEL     3
#define LONG_BYTES_MAX 8u
#define COMMIT_LOST    (UINT64_C(1) << 31)
#define COMMIT_COUNTED (UINT64_C(1) << 30)
#define DELTA_MAX      ((UINT64_C(1) << WM_PAGE_DELTA_BITS) - 1)

/* --- the spool -------------------------------------------------------------------------------- */

int wm_tdx_spool_open(struct wm_tdx_spool *s, bool packed)
{
	s->fd = wm_file_temporary();
	s->packed = packed;
	if (s->fd < 0)
		return s->fd;
	if (packed)
		s->zstd = ZSTD_createCCtx();
	return packed && !s->zstd ? -ENOMEM : 0;
}

void wm_tdx_spool_done(struct wm_tdx_spool *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	ZSTD_freeCCtx(s->zstd);
	free(s->chunks);
	free(s->buffer);
}

static int pack(struct wm_tdx_spool *s, const void *data, size_t bytes, size_t *ret_bytes)
{
	size_t bound = ZSTD_compressBound(bytes), got;

	if (bound > s->room) {
		free(s->buffer);
		s->buffer = malloc(bound);
		s->room = s->buffer ? bound : 0;
	}
	if (!s->buffer)
		return -ENOMEM;
	got = ZSTD_compressCCtx(s->zstd, s->buffer, s->room, data, bytes, ZSTD_LEVEL);
	*ret_bytes = got;
	return ZSTD_isError(got) ? -EIO : 0;
}

static int spool(struct wm_tdx_spool *s, uint32_t ring, const unsigned char *data, size_t bytes)
{
	size_t packed = bytes;
	int err = s->packed ? pack(s, data, bytes, &packed) : 0;

	if (!err)
		err = wm_file_write(s->fd, s->packed ? s->buffer : data, packed);
	if (err)
		return err;
	if (WM_ARRAY_GROW(s->chunks, s->room_chunks, (size_t)s->nr_chunks + 1))
		return -ENOMEM;
	s->chunks[s->nr_chunks++] =
	    (struct wm_tdx_chunk){s->bytes, (uint32_t)packed, (uint32_t)bytes, ring};
	s->bytes += packed;
	return 0;
}

static int flush_chunk(struct wm_tdx_spool *s, struct wm_tdx_ring *r,
		       const struct wm_page_layout *l)
{
	size_t bytes = (size_t)r->nr_pages * l->page_bytes;
	int err = r->nr_pages ? spool(s, r->index, r->pages, bytes) : 0;

	r->nr_pages = 0;
	return err;
}

/* --- pages ---------------------------------------------------------------------------- */

static void tracedat_ring_put(unsigned char *p, uint64_t value, uint32_t bytes, bool big_endian)
{
	for (uint32_t i = 0; i < bytes; i++)
		p[i] = (unsigned char)(value >> 8 * (big_endian ? bytes - 1 - i : i));
}

static unsigned char *page_of(const struct wm_tdx_ring *r, const struct wm_page_layout *l)
{
	return r->pages + (size_t)r->nr_pages * l->page_bytes;
}

/*
 * Returns how much room a page has for records. After a loss, the number of lost records follows
 * them.
 */
static uint32_t room_of(const struct wm_tdx_ring *r, const struct wm_page_layout *l)
{
	return l->page_bytes - l->data_offset - (r->lost ? l->long_bytes : 0);
}

static int open_page(struct wm_tdx_ring *r, const struct wm_page_layout *l, uint64_t time)
{
	if (!r->pages)
		r->pages = malloc((size_t)WM_TDX_CHUNK_PAGES * l->page_bytes);
	if (!r->pages)
		return -ENOMEM;
	memset(page_of(r, l), 0, l->page_bytes);
	tracedat_ring_put(page_of(r, l), time, 8, l->big_endian);
	r->open = true;
	r->at = 0;
	r->time = time;
	return 0;
}

static int close_page(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l)
{
	unsigned char *page = page_of(r, l);
	uint64_t commit = r->at;

	if (!r->open)
		return 0;
	if (r->lost)
		commit |= COMMIT_LOST;
	if (r->lost && r->lost != WM_PAGE_LOST_UNKNOWN) {
		commit |= COMMIT_COUNTED;
		tracedat_ring_put(page + l->data_offset + r->at, r->lost, l->long_bytes,
				  l->big_endian);
	}
	tracedat_ring_put(page + l->commit_offset, commit, l->long_bytes, l->big_endian);
	r->open = false;
	r->lost = 0;
	r->nr_pages++;
	return r->nr_pages == WM_TDX_CHUNK_PAGES ? flush_chunk(s, r, l) : 0;
}

static void put_head(struct wm_tdx_ring *r, const struct wm_page_layout *l, uint32_t type,
		     uint32_t delta)
{
	uint32_t word = l->big_endian ? type << WM_PAGE_DELTA_BITS | delta : delta << 5 | type;

	tracedat_ring_put(page_of(r, l) + l->data_offset + r->at, word, 4, l->big_endian);
	r->at += 4;
}

static void tracedat_ring_put_word(struct wm_tdx_ring *r, const struct wm_page_layout *l,
				   uint32_t word)
{
	tracedat_ring_put(page_of(r, l) + l->data_offset + r->at, word, 4, l->big_endian);
	r->at += 4;
}

static void tracedat_ring_put_record(struct wm_tdx_ring *r, const struct wm_page_layout *l,
				     uint64_t delta, const void *record, uint32_t bytes)
{
	bool is_short = bytes && bytes % 4 == 0 && bytes / 4 <= WM_PAGE_DATA_MAX;

	if (delta > DELTA_MAX) {
		put_head(r, l, WM_PAGE_TIME_EXTEND, (uint32_t)(delta & DELTA_MAX));
		tracedat_ring_put_word(r, l, (uint32_t)(delta >> WM_PAGE_DELTA_BITS));
		delta = 0;
	}
	put_head(r, l, is_short ? bytes / 4 : WM_PAGE_LONG, (uint32_t)delta);
	if (!is_short)
		tracedat_ring_put_word(r, l, bytes + 4);
	memcpy(page_of(r, l) + l->data_offset + r->at, record, bytes);
	r->at += (bytes + 3) & ~3u;
}

int wm_tdx_ring_add(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l,
		    uint64_t time, const void *record, uint32_t bytes)
{
	uint32_t needed = 8 + 8 + ((bytes + 3) & ~3u);
	int err = 0;

	if (bytes > l->page_bytes || needed > l->page_bytes - l->data_offset - LONG_BYTES_MAX)
		return -E2BIG;
	/* A time that runs backwards, or too far ahead for a delta, begins a new page. */
	if (r->open && (needed > room_of(r, l) - r->at || time < r->time ||
			(time - r->time) >> WM_PAGE_STAMP_BITS))
		err = close_page(s, r, l);
	if (!err && !r->open)
		err = open_page(r, l, time);
	if (err)
		return err;
	tracedat_ring_put_record(r, l, time - r->time, record, bytes);
	r->time = time;
	return 0;
}

int wm_tdx_ring_lose(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l,
		     uint64_t count)
{
	int err = close_page(s, r, l);

	if (count == WM_PAGE_LOST_UNKNOWN || __builtin_add_overflow(r->lost, count, &r->lost))
		r->lost = WM_PAGE_LOST_UNKNOWN;
	return err;
}

int wm_tdx_ring_finish(struct wm_tdx_spool *s, struct wm_tdx_ring *r,
		       const struct wm_page_layout *l)
{
	/* Losses after the last record need an empty page to be recorded in. */
	int err = !r->open && r->lost ? open_page(r, l, r->time) : 0;

	if (!err)
		err = close_page(s, r, l);
	if (!err)
		err = flush_chunk(s, r, l);
	free(r->pages);
	r->pages = NULL;
	return err;
}

/* --- to the output ---------------------------------------------------------------------------- */

static int copy_chunk(struct wm_tdx_spool *s, const struct wm_tdx_chunk *c, bool swap,
		      struct wm_export_file *out)
{
	unsigned char *data = malloc(c->packed), head[8];
	uint32_t words[2] = {c->packed, c->bytes};
	int err = data ? 0 : -ENOMEM;

	for (uint32_t done = 0; !err && done < c->packed;) {
		ssize_t got =
		    pread(s->fd, data + done, c->packed - done, (off_t)(c->offset + done));

		if (got > 0)
			done += (uint32_t)got;
		else if (got == 0 || errno != EINTR)
			err = got ? -errno : -EIO;
	}
	for (int i = 0; i < 2; i++) {
		words[i] = wm_get_u32(&words[i], swap);
		memcpy(head + 4 * i, &words[i], 4);
	}
	if (!err && s->packed)
		wm_export_file_write(out, head, sizeof(head));
	if (!err)
		wm_export_file_write(out, data, c->packed);
	free(data);
	return err ? err : out->err;
}

int wm_tdx_ring_copy(struct wm_tdx_spool *s, struct wm_tdx_ring *r, bool swap,
		     struct wm_export_file *out)
{
	uint32_t nr = 0, word;
	int err = 0;

	for (uint32_t i = 0; i < s->nr_chunks; i++)
		nr += s->chunks[i].ring == r->index;
	r->offset = out->bytes;
	word = wm_get_u32(&nr, swap);
	if (s->packed)
		wm_export_file_write(out, &word, sizeof(word));
	for (uint32_t i = 0; !err && i < s->nr_chunks; i++)
		if (s->chunks[i].ring == r->index)
			err = copy_chunk(s, &s->chunks[i], swap, out);
	r->bytes = out->bytes - r->offset;
	return err;
}
