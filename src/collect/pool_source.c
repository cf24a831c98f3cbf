/* SPDX-License-Identifier: MIT */
/*
 * pool_source.c - the pump's state for one pool: how far each chunk has been read, new parts, the
 * times of their packets, losses.
 *
 * Each word in the pool is loaded once and checked; an impossible word quarantines the source. The
 * only payload bytes that are read are the headers of a part's first and last record, for the
 * packet's times.
 */
#include "base/array.h"
#include "collect/pool_source_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

#define TIME_MASK (((uint64_t)1 << 48) - 1)
/*
 * The clocks of two cores may differ by this much: a time ahead of now by less than this is not
 * taken to be in the future.
 */
#define SKEW_TICKS ((uint64_t)1 << 16)
/* A record may be this much older than its chunk. */
#define OLDER_TICKS ((uint64_t)1 << 46)
/* The scan prefetches chunk headers this far ahead, to hide cache misses. */
#define AHEAD 8u

/* --- parts ---------------------------------------------------------------- */

bool wm_parts_reserve(struct wm_parts *l, uint32_t more)
{
	return !WM_ARRAY_GROW(l->part, l->room, (size_t)l->nr + more);
}

int wm_parts_init(struct wm_parts *l)
{
	memset(l, 0, sizeof(*l));
	return wm_parts_reserve(l, 1) ? 0 : -ENOMEM;
}

void wm_parts_done(struct wm_parts *l)
{
	free(l->part);
	memset(l, 0, sizeof(*l));
}

/* --- creation and destruction ----------------------------------------------- */

int wm_source_create(struct wm_pool *pool, struct wm_producer *producer, uint32_t pid,
		     enum wm_clock_kind kind, struct wm_pump_source **ret)
{
	struct wm_pump_source *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	/* The array is large, but its pages above the pool's high-water marks are never touched. */
	s->progress = calloc(wm_pool_nr_chunks(pool), sizeof(*s->progress));
	if (!s->progress) {
		free(s);
		return -ENOMEM;
	}
	s->pool = *pool;
	s->producer = producer;
	s->clock_kind = kind;
	s->pid = pid;
	s->added_at = s->untold_since = wm_clock_read(kind);
	*ret = s;
	return 0;
}

void wm_source_destroy(struct wm_pump_source *s)
{
	if (!s)
		return;
	wm_pool_close(&s->pool);
	free(s->progress);
	free(s);
}

/* Stops reading the pool, because the program broke a rule. */
static void source_quarantine(struct wm_pump_source *s, const char *fault)
{
	if (s->fault)
		return;
	s->fault = fault;
	wm_source_closing(s);
}

void wm_source_beat(struct wm_pump_source *s)
{
	if (s->pool.mode == WM_POOL_BLOCK)
		wm_store_relaxed(&wm_pool_header(&s->pool)->reader_alive, ++s->alive);
}

void wm_source_closing(struct wm_pump_source *s)
{
	wm_store_relaxed(&wm_pool_header(&s->pool)->closing, 1);
}

/* --- times ------------------------------------------------------------------ */

/* The clock bits of the record header at `p`, which may be in shared memory. */
static uint64_t record_time(const unsigned char *p)
{
	return wm_load_relaxed((const uint64_t *)p) >> 16;
}

/* Returns the latest full clock value that is not after `limit` and has these low 48 bits. */
static uint64_t unwrap_back(uint64_t low, uint64_t limit)
{
	uint64_t full = (limit & ~TIME_MASK) | low;

	if (full > limit)
		full = full > TIME_MASK ? full - TIME_MASK - 1 : 0;
	return full;
}

/*
 * Extends the low bits of a record's time. A record just written has a time near now. A record in a
 * flight recorder may be days old, but its time is near the time at which its chunk was taken
 * (`taken`; 0: unknown).
 */
static uint64_t pool_source_unwrap(uint64_t low, uint64_t taken, uint64_t limit)
{
	uint64_t ahead = (low - taken) & TIME_MASK;
	uint64_t full;

	if (!taken || taken > limit)
		return unwrap_back(low, limit);
	if (ahead > TIME_MASK - OLDER_TICKS && taken > TIME_MASK)
		full = taken + ahead - TIME_MASK - 1;
	else
		full = taken + ahead;
	return full <= limit ? full : unwrap_back(low, limit);
}

/*
 * Computes a part's begin and end from its first and last records; impossible times are corrected.
 */
static void part_times(struct wm_pump_source *s, const struct wm_fresh *f, uint64_t taken,
		       struct wm_part *part)
{
	uint64_t limit = wm_sum(wm_clock_read(s->clock_kind), SKEW_TICKS);
	uint64_t floor = f->from.last_clock;
	uint64_t begin = pool_source_unwrap(record_time(part->data), taken, limit);
	uint64_t end =
	    pool_source_unwrap(record_time(part->data + part->last_offset), taken, limit);
	bool true_times = floor <= begin && begin <= end;

	if (end < floor)
		end = floor;
	if (begin < floor)
		begin = floor;
	if (begin > end)
		begin = end;
	if (!true_times)
		s->clamped = wm_sum(s->clamped, 1);
	part->begin = begin;
	part->end = end;
}

/* --- chunks ----------------------------------------------------------------- */

/*
 * Whether the commit word can follow the previous one of the same generation: it may only grow, by
 * whole records.
 */
static bool may_follow(const struct wm_chunk_progress *p, const struct wm_commit *c)
{
	if (c->end_bytes == p->end_bytes)
		return c->count == p->count;
	return c->end_bytes > p->end_bytes && c->count > p->count &&
	       c->last_bytes >= p->end_bytes &&
	       (uint64_t)(c->count - p->count) * 8 <= c->end_bytes - p->end_bytes;
}

int wm_source_fresh(struct wm_pump_source *s, uint32_t chunk, uint64_t state, bool guest,
		    struct wm_fresh *ret)
{
	const struct wm_chunk_progress *p = &s->progress[chunk];
	int err = wm_pool_committed(&s->pool, chunk, state, &ret->commit);

	if (err == -EBADMSG)
		source_quarantine(s, "a chunk's commit word has an impossible value");
	if (err)
		return err;
	if (!guest && p->end_bytes && p->generation == wm_pool_state_generation(state))
		ret->from = *p;
	else
		ret->from = (struct wm_chunk_progress){.end_bytes = WM_CHUNK_HEADER_BYTES};
	if (!may_follow(&ret->from, &ret->commit)) {
		source_quarantine(s, "a chunk's commit word went backwards");
		return -EBADMSG;
	}
	return ret->commit.end_bytes > ret->from.end_bytes;
}

struct wm_part *wm_source_part(struct wm_pump_source *s, uint32_t chunk, uint64_t state,
			       const struct wm_fresh *f, const void *data, bool guest,
			       struct wm_parts *l)
{
	const struct wm_chunk *c = wm_pool_chunk(&s->pool, chunk);
	bool old = s->pool.mode == WM_POOL_OVERWRITE;
	struct wm_part *part = &l->part[l->nr++];

	s->has_parts = true;
	*part = (struct wm_part){
	    .source = s,
	    .data = data,
	    .chunk = chunk,
	    .bytes = f->commit.end_bytes - f->from.end_bytes,
	    .last_offset = f->commit.last_bytes - f->from.end_bytes,
	    .count = f->commit.count - f->from.count,
	    .tid = wm_load_relaxed(&c->tid),
	    .level = wm_load_relaxed(&c->level),
	    .comm = {wm_load_relaxed(&c->comm[0]), wm_load_relaxed(&c->comm[1])},
	};
	part_times(s, f, old ? wm_load_relaxed(&c->begin) : 0, part);
	if (!guest)
		s->progress[chunk] = (struct wm_chunk_progress){
		    .last_clock = part->end,
		    .generation = wm_pool_state_generation(state),
		    .end_bytes = f->commit.end_bytes,
		    .count = f->commit.count,
		};
	return part;
}

/* The address of a chunk's fresh part in the pool. */
static const void *fresh_data(const struct wm_pump_source *s, uint32_t chunk,
			      const struct wm_fresh *f)
{
	return (const unsigned char *)wm_pool_chunk(&s->pool, chunk) + f->from.end_bytes;
}

static int collect_full(struct wm_pump_source *s, uint32_t chunk, uint64_t state,
			struct wm_parts *l)
{
	struct wm_fresh f;
	int r;

	if (!wm_parts_reserve(l, 1))
		return -ENOMEM;
	if (!wm_pool_pin(&s->pool, chunk, state))
		return 0;
	r = wm_source_fresh(s, chunk, state, false, &f);
	if (r == 1)
		wm_source_part(s, chunk, state, &f, fresh_data(s, chunk, &f), false, l)->pinned =
		    true;
	else
		wm_pool_release(&s->pool, chunk, true);
	return 0;
}

/*
 * The committed part of this chunk does not change: only the pump can free the chunk for a new
 * owner.
 */
static int collect_owned(struct wm_pump_source *s, uint32_t chunk, uint64_t state,
			 struct wm_parts *l)
{
	struct wm_fresh f;

	if (wm_source_fresh(s, chunk, state, false, &f) != 1)
		return 0;
	if (!wm_parts_reserve(l, 1))
		return -ENOMEM;
	(void)wm_source_part(s, chunk, state, &f, fresh_data(s, chunk, &f), false, l);
	return 0;
}

/* Collects chunks first .. first + nr - 1, in one pass over their state words. */
static int collect_shelf(struct wm_pump_source *s, uint32_t first, uint32_t nr, bool seal,
			 struct wm_parts *l)
{
	int err = 0;

	for (uint32_t i = first; i < first + nr && !err && !s->fault; i++) {
		uint64_t state = wm_pool_state(&s->pool, i);

		if (seal && i + AHEAD < first + nr)
			__builtin_prefetch(wm_pool_chunk(&s->pool, i + AHEAD));
		if (wm_pool_state_of(state) == WM_CHUNK_FULL)
			err = collect_full(s, i, state, l);
		else if (seal && wm_pool_state_of(state) == WM_CHUNK_OWNED)
			err = collect_owned(s, i, state, l);
	}
	return err;
}

int wm_source_collect(struct wm_pump_source *s, bool seal, struct wm_parts *l)
{
	uint64_t fills = wm_load_acquire(&wm_pool_header(&s->pool)->fill_order);
	uint32_t small, big;
	int err;

	/*
	 * If an owner died before it counted its full chunk, the chunk waits for the next sealing
	 * round.
	 */
	if (s->fault || (!seal && fills == s->fills))
		return 0;
	wm_pool_high(&s->pool, &small, &big);
	err = collect_shelf(s, 0, small, seal, l);
	if (!err)
		err = collect_shelf(s, s->pool.nr_small, big, seal, l);
	if (!err)
		s->fills = fills;
	return err;
}

/* --- losses ----------------------------------------------------------------- */

/* more than a program can emit: 10^9 per second for three days */
#define LOST_MAX ((uint64_t)1 << 48)

void wm_source_sample(struct wm_pump_source *s)
{
	if (s->fault)
		return;
	for (int i = 0; i < WM_LOST_DISK; i++) { /* the pump counts the other causes */
		uint64_t now = wm_pool_lost_count(&s->pool, (enum wm_lost)i);

		if (now > LOST_MAX) {
			source_quarantine(s, "it counts an impossible number of lost events");
			return;
		}
		if (now > s->sampled[i])
			s->sampled[i] = now;
	}
}

void wm_source_lost(struct wm_pump_source *s, enum wm_lost cause, uint64_t n, bool tell)
{
	s->lost[cause] = wm_sum(s->lost[cause], n);
	if (!tell)
		return;
	s->untold[cause] = wm_sum(s->untold[cause], n);
	s->unsent = wm_sum(s->unsent, n);
}

void wm_source_settle_losses(struct wm_pump_source *s)
{
	for (int i = 0; i < WM_LOST_NR; i++) {
		uint64_t credit = i == WM_LOST_OVERWRITTEN ? s->credit : 0;
		uint64_t due = s->sampled[i] > credit ? s->sampled[i] - credit : 0;

		if (due > s->settled[i]) {
			wm_source_lost(s, (enum wm_lost)i, due - s->settled[i], true);
			s->settled[i] = due;
		}
	}
}

void wm_source_tell_losses(struct wm_pump_source *s)
{
	uint64_t now = wm_clock_read(s->clock_kind);
	bool all = true;

	for (int i = 0; i < WM_LOST_NR; i++) {
		if (!s->untold[i])
			continue;
		if (s->producer && wm_writer_lost(s->producer, s->untold_since, now,
						  wm_lost_name((enum wm_lost)i), s->untold[i]) == 0)
			s->untold[i] = 0;
		else
			all = false;
	}
	if (all)
		s->untold_since = now;
}
