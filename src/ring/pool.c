// SPDX-License-Identifier: MIT
/*
 * pool.c - the producer side of pool.h: laying out a pool; taking, sealing and reclaiming chunks.
 *
 * Guest code: runs inside the traced program, including its signal handlers. No libc, no calls out
 * of this file, no locks, no errno; lock-free in wm_pool_take() (a retry means that another thread
 * or reader made progress), wait-free elsewhere. All it knows about records is the commit word in
 * <waymark/abi.h>.
 */
#include "ring/pool.h"

#include <errno.h>

#include <waymark/abi.h>

#include "base/atomic.h"

_Static_assert(sizeof(struct wm_pool_header) <= WM_POOL_PAGE, "the header is one page");
_Static_assert(offsetof(struct wm_pool_header, lost) == 128, "shared layout");
_Static_assert(offsetof(struct wm_pool_header, fill_order) == 192, "shared layout");
_Static_assert(offsetof(struct wm_pool_header, shelf) == 256, "shared layout");
_Static_assert(sizeof(struct wm_pool_shelf) == 64, "shelves do not share a cache line");
_Static_assert(offsetof(struct wm_pool_header, reader_alive) == 384, "shared layout");
_Static_assert(sizeof(struct wm_chunk) == WM_CHUNK_HEADER_BYTES, "shared layout");
_Static_assert(WM_POOL_BIG_BYTES_MAX / 8 < 1u << WAYMARK_COMMIT_END_BITS,
	       "the end of a full chunk fits the commit word");
_Static_assert(WM_POOL_SMALL_MAX <= 65536 && WM_POOL_BIG_MAX <= 65536, "queue[] holds an index");

#define NONE (-1)

/* The chunks of one size. The geometry comes from the checked copies in struct wm_pool. */
struct shelf {
	struct wm_pool_shelf *shared;
	uint64_t *state; /* the state word of the shelf's first chunk */
	uint16_t *queue;
	uint32_t first, nr;
	/*
	 * Overwrite mode: once this many chunks have been used, reuse a FULL one before a new one.
	 */
	uint32_t soft;
};

static struct shelf shelf_of(const struct wm_pool *p, bool small)
{
	struct wm_pool_header *h = wm_pool_header(p);
	struct shelf s;

	s.first = small ? 0 : p->nr_small;
	s.nr = small ? p->nr_small : p->nr_big;
	s.shared = &h->shelf[small ? WM_SHELF_SMALL : WM_SHELF_BIG];
	s.state = wm_pool_states(p) + s.first;
	s.queue = wm_pool_queue(p) + s.first;
	s.soft = s.nr;
	if (small && p->mode == WM_POOL_OVERWRITE) {
		uint64_t quarter = (uint64_t)p->nr_big * p->big_bytes / 4 / WM_POOL_SMALL_BYTES;

		if (quarter < s.nr)
			s.soft = (uint32_t)quarter;
	}
	return s;
}

static uint32_t shelf_high(const struct shelf *s)
{
	uint32_t high = wm_load_relaxed(&s->shared->high);

	return high < s->nr ? high : s->nr;
}

/* --- layout ----------------------------------------------------------- */

static uint64_t pool_round_up(uint64_t n, uint64_t power_of_two)
{
	return (n + power_of_two - 1) & ~(power_of_two - 1);
}

int wm_pool_layout(struct wm_pool *p, const struct wm_pool_options *o)
{
	uint32_t big_bytes = o->big_bytes ? o->big_bytes : WM_POOL_BIG_BYTES_DEFAULT;
	uint32_t nr_small = o->nr_small ? o->nr_small : WM_POOL_SMALL_MAX;
	uint64_t nr_big, small_offset, big_offset, bytes;

	if (big_bytes < WM_POOL_PAGE || big_bytes > WM_POOL_BIG_BYTES_MAX ||
	    (big_bytes & (big_bytes - 1)) || o->mode >= WM_POOL_NR_MODES ||
	    nr_small > WM_POOL_SMALL_MAX || !o->buffer_bytes || o->buffer_bytes > WM_POOL_BYTES_MAX)
		return -EINVAL;
	nr_big = (o->buffer_bytes + big_bytes - 1) / big_bytes;
	if (nr_big > WM_POOL_BIG_MAX)
		return -EINVAL;
	small_offset = WM_POOL_PAGE +
		       pool_round_up((nr_small + nr_big) * (sizeof(uint64_t) + sizeof(uint16_t)),
				     WM_POOL_PAGE);
	big_offset = small_offset + (uint64_t)nr_small * WM_POOL_SMALL_BYTES;
	bytes = big_offset + nr_big * big_bytes;
	if (bytes > WM_POOL_BYTES_MAX)
		return -EINVAL;

	p->bytes = bytes;
	p->nr_small = nr_small;
	p->nr_big = (uint32_t)nr_big;
	p->big_bytes = big_bytes;
	p->mode = o->mode;
	p->small_offset = small_offset;
	p->big_offset = big_offset;
	return 0;
}

uint64_t wm_pool_size(const struct wm_pool_options *o)
{
	struct wm_pool p;

	return wm_pool_layout(&p, o) == 0 ? p.bytes : 0;
}

int wm_pool_init(struct wm_pool *p, void *map, const struct wm_pool_options *o)
{
	struct wm_pool_header *h = map;

	if ((uintptr_t)map % WM_POOL_PAGE || wm_pool_layout(p, o) < 0)
		return -EINVAL;

	p->map = map;
	h->version = WM_POOL_VERSION;
	h->mode = p->mode;
	h->bytes = p->bytes;
	h->nr_small = p->nr_small;
	h->nr_big = p->nr_big;
	h->big_bytes = p->big_bytes;
	h->pid = o->pid;
	h->small_offset = p->small_offset;
	h->big_offset = p->big_offset;
	h->clock_kind = o->clock_kind;
	h->start_clock = o->start_clock;
	wm_store_release(&h->magic, WM_POOL_MAGIC); /* pairs with wm_pool_attach() */
	return 0;
}

/* --- searching -------------------------------------------------------- */

/* The state word after a take; `owner` is an OWNED word with generation 0. */
static uint64_t next_owned(uint64_t was, uint64_t owner)
{
	return owner | wm_pool_state_make(WM_CHUNK_OWNED, wm_pool_state_generation(was) + 1, 0);
}

/*
 * Takes a FREE chunk that has been used before. Searches from the hand and wraps around, so that
 * the search stays in memory that is already allocated. Sets *ret_was to the chunk's previous state
 * word.
 */
static int64_t find_free(const struct shelf *s, uint64_t owner, uint64_t *ret_was)
{
	/*
	 * Acquire pairs with the release in count_freed(): the search sees that every chunk counted
	 * in `freed` is FREE. So when the search fails and `freed` does not change, no chunk is
	 * FREE, and the next search can be skipped.
	 */
	uint64_t freed = wm_load_acquire(&s->shared->freed);
	uint32_t high = shelf_high(s);
	uint32_t hand = wm_load_relaxed(&s->shared->hand);

	if (wm_load_relaxed(&s->shared->none_free) == freed + 1)
		return NONE;
	if (hand >= high)
		hand = 0;
	for (uint32_t n = 0; n < high; n++) {
		uint32_t i = hand + n < high ? hand + n : hand + n - high;
		uint64_t was = wm_load_relaxed(&s->state[i]);

		if (wm_pool_state_of(was) != WM_CHUNK_FREE)
			continue;
		if (wm_cas_acq_rel(&s->state[i], &was, next_owned(was, owner))) {
			wm_store_relaxed(&s->shared->hand, i + 1);
			*ret_was = was;
			return i;
		}
	}
	wm_store_relaxed(&s->shared->none_free, freed + 1);
	return NONE;
}

/* Takes a chunk that has never been used and whose index is below `limit`. */
static int64_t find_new(const struct shelf *s, uint32_t limit, uint64_t owner, uint64_t *ret_was)
{
	uint32_t high = wm_load_relaxed(&s->shared->high);

	while (high < limit) {
		uint64_t was = 0;

		/*
		 * Increments `high` first, because a reader must not miss an OWNED chunk. Another
		 * thread's find_free() may take the chunk between the two operations.
		 */
		if (!wm_cas_acq_rel(&s->shared->high, &high, high + 1))
			continue;
		if (wm_cas_acq_rel(&s->state[high], &was, next_owned(was, owner))) {
			*ret_was = was;
			return high;
		}
		high++;
	}
	return NONE;
}

/*
 * Searches all chunks for the FULL one with the smallest fill order. Orders are compared relative
 * to the current count, so they may wrap; a chunk that has stayed FULL for 2^31 fills is merely
 * picked out of turn.
 */
static int64_t search_oldest(const struct shelf *s, uint64_t *ret_was)
{
	uint32_t base = (uint32_t)wm_load_relaxed(&s->shared->order);
	uint32_t high = shelf_high(s);
	int64_t best = NONE, best_age = 0;

	for (uint32_t i = 0; i < high; i++) {
		uint64_t word = wm_load_relaxed(&s->state[i]);
		int64_t age = (int32_t)(base - wm_pool_state_order(word));

		if (wm_pool_state_of(word) != WM_CHUNK_FULL || (best != NONE && age <= best_age))
			continue;
		best = i;
		best_age = age;
		*ret_was = word;
	}
	return best;
}

/*
 * Like search_oldest(), but uses the queue: finds the chunk whose fill order follows that of the
 * last one reused. At slot 0, once per turn of the queue, it returns NONE, so that a full search
 * finds chunks that became FULL late, after their turn had passed, or that a reader gave back.
 */
static int64_t next_oldest(const struct shelf *s, uint64_t *ret_was)
{
	uint32_t order = (uint32_t)wm_load_relaxed(&s->shared->oldest);
	uint32_t slot = order % s->nr;
	uint32_t i = wm_load_relaxed(&s->queue[slot]);

	if (!slot || i >= s->nr)
		return NONE;
	*ret_was = wm_load_relaxed(&s->state[i]);
	if (wm_pool_state_of(*ret_was) != WM_CHUNK_FULL || wm_pool_state_order(*ret_was) != order)
		return NONE;
	return i;
}

static int64_t find_oldest(const struct shelf *s, uint64_t owner, uint64_t *ret_was)
{
	for (;;) {
		/* Loaded before the search, as in find_free() */
		uint64_t filled = wm_load_acquire(&s->shared->filled);
		uint64_t word;
		int64_t i;

		if (wm_load_relaxed(&s->shared->none_full) == filled + 1)
			return NONE;
		i = next_oldest(s, ret_was);
		if (i == NONE)
			i = search_oldest(s, ret_was);
		if (i == NONE) {
			wm_store_relaxed(&s->shared->none_full, filled + 1);
			return NONE;
		}
		word = *ret_was;
		if (wm_cas_acq_rel(&s->state[i], &word,
				   next_owned(word, owner) | WM_STATE_REUSED)) {
			wm_store_relaxed(&s->shared->oldest,
					 (uint64_t)wm_pool_state_order(word) + 1);
			return i;
		}
	}
}

static int64_t pool_find(const struct wm_pool *p, const struct shelf *s, uint64_t owner,
			 uint64_t *ret_was)
{
	int64_t i = find_free(s, owner, ret_was);

	if (i == NONE)
		i = find_new(s, s->soft, owner, ret_was);
	if (i == NONE && p->mode == WM_POOL_OVERWRITE) {
		i = find_oldest(s, owner, ret_was);
		if (i == NONE)
			i = find_new(s, s->nr, owner, ret_was);
	}
	return i;
}

/* --- taking and sealing ----------------------------------------------- */

/*
 * Counts the records that chunk `c` held before it became REUSED in `generation`, exactly once:
 * reclaim, or the reader of a dead process, completes a half-taken chunk and sees from the tag
 * whether they have been counted.
 */
static void count_overwritten(struct wm_chunk *c, uint32_t generation)
{
	uint64_t done = wm_load_relaxed(&c->overwritten);
	uint64_t held = wm_load_relaxed(&c->committed) >> WAYMARK_COMMIT_COUNT_SHIFT;

	if (done >> 40 != generation)
		wm_store_release(&c->overwritten, (uint64_t)generation << 40 |
						      ((done + held) & WM_OVERWRITTEN_MASK));
}

/* Counts a chunk that became FREE, so that searches that had given up start again. */
static void count_freed(struct wm_pool_shelf *shared, uint32_t i)
{
	wm_store_relaxed(&shared->hand, i);
	wm_add_release(&shared->freed, 1); /* pairs with find_free() */
}

int64_t wm_pool_take(struct wm_pool *p, bool small, uint32_t tid, uint16_t level, uint64_t now)
{
	struct shelf s = shelf_of(p, small);
	struct wm_chunk *c;
	uint32_t generation;
	uint64_t was = 0;
	int64_t i = pool_find(p, &s, wm_pool_state_owned(0, tid, level), &was);

	if (i == NONE)
		return -EAGAIN;

	/*
	 * A reader may be copying this chunk's old records: it must not see a byte of the new ones
	 * without seeing the new state. Pairs with the acquire fence of wm_pool_still(). pool.h
	 * explains the order of the stores below; the last one makes the commit word valid for this
	 * generation.
	 */
	wm_fence_release();
	c = wm_pool_chunk(p, s.first + (uint32_t)i);
	generation = (wm_pool_state_generation(was) + 1) & 0xffffff;
	if (wm_pool_state_of(was) == WM_CHUNK_FULL)
		count_overwritten(c, generation);
	wm_store_release(&c->committed, 0);
	wm_store_relaxed(&c->begin, now);
	wm_store_relaxed(&c->tid, tid);
	wm_store_relaxed(&c->level, level);
	wm_store_relaxed(&c->small, small);
	wm_store_relaxed(&c->index, s.first + (uint32_t)i);
	wm_store_release(&c->generation, generation); /* pairs with wm_pool_committed() */
	return (int64_t)s.first + i;
}

/*
 * Seals a chunk: the only transition out of OWNED. A compare-and-swap although only the owner does
 * this: if the thread had been mistaken for dead, a plain store would give one chunk to two
 * threads.
 */
static bool retire(struct wm_pool *p, uint32_t index, uint64_t was, bool empty)
{
	struct shelf s = shelf_of(p, index < p->nr_small);
	uint32_t i = index - s.first;
	uint32_t order = empty ? 0 : (uint32_t)wm_add_relaxed(&s.shared->order, 1);
	uint64_t word = wm_pool_state_make(empty ? WM_CHUNK_FREE : WM_CHUNK_FULL,
					   wm_pool_state_generation(was), order);

	if (!wm_cas_acq_rel(&s.state[i], &was, word))
		return false;
	if (empty) {
		count_freed(s.shared, i);
	} else if (p->mode == WM_POOL_OVERWRITE) {
		wm_store_relaxed(&s.queue[order % s.nr], (uint16_t)i);
		wm_add_release(&s.shared->filled, 1); /* pairs with find_oldest() */
	}
	if (!empty)
		wm_add_release(&wm_pool_header(p)->fill_order, 1);
	return true;
}

void wm_pool_seal(struct wm_pool *p, uint32_t index)
{
	uint64_t was;

	if (index >= wm_pool_nr_chunks(p))
		return;
	was = wm_load_relaxed(&wm_pool_states(p)[index]);
	if (wm_pool_state_of(was) == WM_CHUNK_OWNED)
		retire(p, index, was,
		       !(wm_load_relaxed(&wm_pool_chunk(p, index)->committed) >>
			 WAYMARK_COMMIT_COUNT_SHIFT));
}

/*
 * The owner died in wm_pool_take(): the chunk has no records of `state`'s generation, but may have
 * old ones to count. READING excludes all other processes meanwhile; if this process dies here too,
 * the reader of a dead process still counts them.
 */
static bool finish_take(struct wm_pool *p, uint32_t index, uint64_t state)
{
	uint64_t *word = &wm_pool_states(p)[index];
	struct wm_chunk *c = wm_pool_chunk(p, index);
	uint32_t generation = wm_pool_state_generation(state);
	struct shelf s = shelf_of(p, index < p->nr_small);

	if (!wm_cas_acq_rel(word, &state,
			    (state & WM_STATE_REUSED) |
				wm_pool_state_make(WM_CHUNK_READING, generation, 0)))
		return false;
	if (state & WM_STATE_REUSED)
		count_overwritten(c, generation);
	wm_store_release(&c->committed, 0);
	wm_store_release(&c->generation, generation);
	wm_store_release(word, wm_pool_state_make(WM_CHUNK_FREE, generation, 0));
	count_freed(s.shared, index - s.first);
	return true;
}

bool wm_pool_reclaim(struct wm_pool *p, uint32_t index, uint64_t state)
{
	struct wm_chunk *c;

	if (index >= wm_pool_nr_chunks(p) || wm_pool_state_of(state) != WM_CHUNK_OWNED)
		return false;
	c = wm_pool_chunk(p, index);
	if (wm_load_acquire(&c->generation) != wm_pool_state_generation(state))
		return finish_take(p, index, state);
	return retire(p, index, state,
		      !(wm_load_acquire(&c->committed) >> WAYMARK_COMMIT_COUNT_SHIFT));
}

static unsigned reclaim_shelf(struct wm_pool *p, bool small, uint32_t tid, uint32_t level)
{
	struct shelf s = shelf_of(p, small);
	uint32_t high = shelf_high(&s);
	unsigned nr = 0;

	for (uint32_t i = 0; i < high; i++) {
		uint64_t word = wm_load_acquire(&s.state[i]);

		if (wm_pool_state_of(word) == WM_CHUNK_OWNED && wm_pool_state_tid(word) == tid &&
		    (level == WM_POOL_ALL_LEVELS || wm_pool_state_level(word) == level))
			nr += wm_pool_reclaim(p, s.first + i, word);
	}
	return nr;
}

unsigned wm_pool_reclaim_thread(struct wm_pool *p, uint32_t tid, uint32_t level)
{
	return reclaim_shelf(p, true, tid, level) + reclaim_shelf(p, false, tid, level);
}

void wm_pool_lost(struct wm_pool *p, enum wm_lost cause, uint64_t n)
{
	if ((unsigned)cause < WM_LOST_NR)
		wm_add_relaxed(&wm_pool_header(p)->lost[cause], n);
}
