/* SPDX-License-Identifier: MIT */
/*
 * part_split.c - splits a part that spans more time than a packet may. This is rare: it happens
 * when the pump was stopped for hours, or when a flight recorder kept an inactive thread's chunk.
 * This is the only place where the pump walks through records.
 */
#include "collect/pool_source_int.h"

#include <string.h>

#define TIME_MASK (((uint64_t)1 << 48) - 1)

struct walk {
	struct wm_part whole;
	struct wm_part piece; /* the current piece; bytes is 0 when it is empty */
	uint64_t clock;
	uint32_t done; /* number of records in the pieces so far */
};

/* Appends the complete piece to the list. Returns false when out of memory. */
static bool keep_piece(struct walk *w, struct wm_parts *l)
{
	if (!w->piece.bytes)
		return true;
	if (!wm_parts_reserve(l, 1))
		return false;
	l->part[l->nr++] = w->piece;
	return true;
}

/* Adds the record at `offset` in the whole part to the current piece, or begins a new piece. */
static bool part_split_add_record(struct walk *w, uint32_t offset, uint32_t bytes,
				  struct wm_parts *l)
{
	const unsigned char *at = w->whole.data + offset;
	uint64_t header, ahead;

	memcpy(&header, at, sizeof(header));
	ahead = ((header >> 16) - w->clock) & TIME_MASK;
	if (ahead > w->whole.end - w->clock)
		return false; /* time went backwards */
	w->clock += ahead;
	if (!w->piece.bytes || w->clock - w->piece.begin >= WM_PART_SPAN_MAX) {
		if (!keep_piece(w, l))
			return false; /* the caller retries this piece, and counts it */
		w->piece = w->whole;
		w->piece.data = at;
		w->piece.begin = w->clock;
		w->piece.bytes = w->piece.count = 0;
		w->piece.copy = NULL;
		w->piece.pinned = false;
	}
	w->piece.last_offset = w->piece.bytes;
	w->piece.bytes += bytes;
	w->piece.count++;
	w->piece.end = w->clock;
	w->done++;
	return true;
}

/*
 * Splits part `i` into pieces, which it appends to the list. Records that cannot be walked through
 * are counted as lost. The part itself stays in the list, empty and sorted last, because it owns
 * the chunk or the copy into which the pieces point.
 */
static void split_part(struct wm_parts *l, uint32_t i, struct wm_producer *producer, bool guest)
{
	struct walk w = {.whole = l->part[i]};
	uint32_t offset = 0;

	w.clock = w.whole.begin;
	while (offset < w.whole.bytes && w.done < w.whole.count) {
		int64_t bytes = wm_producer_record_bytes(producer, w.whole.data + offset,
							 w.whole.bytes - offset);

		if (bytes < 8 || !part_split_add_record(&w, offset, (uint32_t)bytes, l))
			break;
		offset += (uint32_t)bytes;
	}
	if (!keep_piece(&w, l))
		w.done -= w.piece.count;
	if (!guest)
		wm_source_lost(w.whole.source, WM_LOST_TORN, w.whole.count - w.done, true);
	l->part[i].bytes = l->part[i].count = 0;
	l->part[i].begin = l->part[i].end = UINT64_MAX;
}

void wm_parts_split(struct wm_parts *l, bool guest)
{
	uint32_t nr = l->nr;

	for (uint32_t i = 0; i < nr; i++) {
		struct wm_pump_source *s = l->part[i].source;
		struct wm_producer *producer = guest ? s->guest : s->producer;

		if (l->part[i].end - l->part[i].begin >= WM_PART_SPAN_MAX && producer)
			split_part(l, i, producer, guest);
	}
}
