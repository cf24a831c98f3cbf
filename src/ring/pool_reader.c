// SPDX-License-Identifier: MIT
/*
 * pool_reader.c - the reader side of pool.h, in the pump or in a process that drains its own pool.
 *
 * The memory belongs to a program that may be hostile: the geometry is copied and checked once, by
 * the function that computed it for the producer, and every later word is loaded once and
 * range-checked, so no value in the memory makes a reader leave the mapping. The size cannot
 * change: the seals are checked first.
 */
#include "ring/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <waymark/abi.h>

#include "base/atomic.h"

#define END_MASK ((1u << WAYMARK_COMMIT_END_BITS) - 1)

/* --- opening ---------------------------------------------------------- */

int wm_pool_attach(struct wm_pool *p, void *map, uint64_t bytes)
{
	struct wm_pool_header *h = map;
	struct wm_pool_options o = {0};
	struct wm_pool pool;

	if (bytes < WM_POOL_PAGE || (uintptr_t)map % sizeof(uint64_t) ||
	    wm_load_acquire(&h->magic) != WM_POOL_MAGIC ||
	    wm_load_relaxed(&h->version) != WM_POOL_VERSION)
		return -EBADMSG;

	/* wm_pool_layout() would replace a zero with the default value. */
	o.nr_small = wm_load_relaxed(&h->nr_small);
	o.big_bytes = wm_load_relaxed(&h->big_bytes);
	o.buffer_bytes = (uint64_t)wm_load_relaxed(&h->nr_big) * o.big_bytes;
	o.mode = wm_load_relaxed(&h->mode);
	if (!o.nr_small || !o.big_bytes || wm_pool_layout(&pool, &o) < 0)
		return -EBADMSG;
	if (pool.bytes != bytes || wm_load_relaxed(&h->bytes) != bytes ||
	    wm_load_relaxed(&h->small_offset) != pool.small_offset ||
	    wm_load_relaxed(&h->big_offset) != pool.big_offset)
		return -EBADMSG;
	pool.map = map;
	*p = pool;
	return 0;
}

int wm_pool_open(struct wm_pool *p, int fd)
{
	struct stat st;
	void *map;
	int seals, r;

	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return errno == EINVAL ? -EPERM : -errno;
	if ((seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return -EPERM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)WM_POOL_PAGE || (uint64_t)st.st_size > WM_POOL_BYTES_MAX)
		return -EBADMSG;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	r = wm_pool_attach(p, map, (uint64_t)st.st_size);
	if (r < 0)
		(void)munmap(map, (size_t)st.st_size); /* a failure cannot be handled */
	return r;
}

void wm_pool_close(struct wm_pool *p)
{
	if (p->map)
		(void)munmap(p->map, p->bytes); /* a failure cannot be handled */
	memset(p, 0, sizeof(*p));
}

/* --- inspecting ------------------------------------------------------- */

static uint32_t high_of(const struct wm_pool *p, enum wm_shelf which, uint32_t nr)
{
	uint32_t high = wm_load_acquire(&wm_pool_header(p)->shelf[which].high);

	return high < nr ? high : nr;
}

void wm_pool_high(const struct wm_pool *p, uint32_t *ret_small, uint32_t *ret_big)
{
	*ret_small = high_of(p, WM_SHELF_SMALL, p->nr_small);
	*ret_big = high_of(p, WM_SHELF_BIG, p->nr_big);
}

uint64_t wm_pool_state(const struct wm_pool *p, uint32_t index)
{
	return wm_load_acquire(&wm_pool_states(p)[index]);
}

/* Every record is at least 8 bytes long, and the first begins right after the header. */
static int pool_reader_take_apart(uint64_t word, uint32_t chunk_bytes, struct wm_commit *ret)
{
	struct wm_commit c = {
	    .end_bytes = (uint32_t)(word & END_MASK) * 8,
	    .last_bytes = (uint32_t)(word >> WAYMARK_COMMIT_END_BITS & END_MASK) * 8,
	    .count = (uint32_t)(word >> WAYMARK_COMMIT_COUNT_SHIFT),
	};

	if (!word)
		c.end_bytes = c.last_bytes = WM_CHUNK_HEADER_BYTES;
	else if (!c.count || c.end_bytes > chunk_bytes || c.last_bytes >= c.end_bytes ||
		 c.last_bytes < WM_CHUNK_HEADER_BYTES + (uint64_t)(c.count - 1) * 8 ||
		 (c.count == 1 && c.last_bytes != WM_CHUNK_HEADER_BYTES))
		return -EBADMSG;
	*ret = c;
	return 0;
}

int wm_pool_committed(const struct wm_pool *p, uint32_t index, uint64_t state,
		      struct wm_commit *ret)
{
	const struct wm_chunk *c = wm_pool_chunk(p, index);
	uint32_t generation = wm_pool_state_generation(state);

	/*
	 * Three loads, in this order. The first pairs with the last store of wm_pool_take(): if the
	 * generation is `state`'s, the commit word loaded next is not from an earlier one. The last
	 * load shows that it is not from a later one, because a new owner changes the state before
	 * it touches the commit word.
	 */
	uint32_t begun = wm_load_acquire(&c->generation);
	uint64_t word = wm_load_acquire(&c->committed);
	uint64_t now = wm_load_acquire(&wm_pool_states(p)[index]);

	if (wm_pool_state_generation(now) != generation)
		return -ESTALE;
	return pool_reader_take_apart(begun == generation ? word : 0, wm_pool_chunk_bytes(p, index),
				      ret);
}

bool wm_pool_still(const struct wm_pool *p, uint32_t index, uint64_t state)
{
	wm_fence_acquire(); /* pairs with the fence of wm_pool_take() */
	return wm_pool_state_generation(wm_load_relaxed(&wm_pool_states(p)[index])) ==
	       wm_pool_state_generation(state);
}

/* --- pinning ---------------------------------------------------------- */

bool wm_pool_pin(struct wm_pool *p, uint32_t index, uint64_t state)
{
	return wm_pool_state_of(state) == WM_CHUNK_FULL &&
	       wm_cas_acq_rel(&wm_pool_states(p)[index], &state,
			      wm_pool_state_make(WM_CHUNK_READING, wm_pool_state_generation(state),
						 wm_pool_state_order(state)));
}

void wm_pool_release(struct wm_pool *p, uint32_t index, bool consumed)
{
	uint64_t *word = &wm_pool_states(p)[index];
	uint64_t was = wm_load_relaxed(word);
	bool small = index < p->nr_small;
	struct wm_pool_shelf *shelf =
	    &wm_pool_header(p)->shelf[small ? WM_SHELF_SMALL : WM_SHELF_BIG];

	if (wm_pool_state_of(was) != WM_CHUNK_READING)
		return; /* the program overwrote the word; only its own records are lost */
	/* Release pairs with the compare-and-swap of the search in wm_pool_take(). */
	if (consumed) {
		wm_store_release(
		    word, wm_pool_state_make(WM_CHUNK_FREE, wm_pool_state_generation(was), 0));
		wm_store_relaxed(&shelf->hand, small ? index : index - p->nr_small);
		wm_add_release(&shelf->freed, 1);
	} else {
		wm_store_release(word,
				 wm_pool_state_make(WM_CHUNK_FULL, wm_pool_state_generation(was),
						    wm_pool_state_order(was)));
		wm_add_release(&shelf->filled, 1);
	}
}

/* --- accounting ------------------------------------------------------- */

/*
 * Number of records lost when this chunk was reused, including those of a take that was cut short.
 */
static uint64_t overwritten(const struct wm_pool *p, uint32_t index)
{
	const struct wm_chunk *c = wm_pool_chunk(p, index);
	uint64_t state = wm_pool_state(p, index);
	uint32_t begun = wm_load_acquire(&c->generation);
	uint64_t held = wm_load_acquire(&c->committed) >> WAYMARK_COMMIT_COUNT_SHIFT;
	uint64_t done = wm_load_acquire(&c->overwritten);
	uint64_t sum = done & WM_OVERWRITTEN_MASK;

	if ((state & WM_STATE_REUSED) && begun != wm_pool_state_generation(state) &&
	    done >> 40 != wm_pool_state_generation(state))
		sum += held;
	return sum;
}

uint64_t wm_pool_lost_count(const struct wm_pool *p, enum wm_lost cause)
{
	uint64_t sum = wm_load_relaxed(&wm_pool_header(p)->lost[cause]);
	uint32_t small, big;

	if (cause != WM_LOST_OVERWRITTEN || p->mode != WM_POOL_OVERWRITE)
		return sum;
	wm_pool_high(p, &small, &big);
	for (uint32_t i = 0; i < small; i++)
		sum += overwritten(p, i);
	for (uint32_t i = 0; i < big; i++)
		sum += overwritten(p, p->nr_small + i);
	return sum;
}

const char *wm_lost_name(enum wm_lost cause)
{
	static const char *const names[WM_LOST_NR] = {
	    [WM_LOST_FULL] = "full",     [WM_LOST_TOO_BIG] = "too_big",
	    [WM_LOST_NESTED] = "nested", [WM_LOST_OVERWRITTEN] = "overwritten",
	    [WM_LOST_TORN] = "torn",     [WM_LOST_EARLY] = "early",
	    [WM_LOST_DISK] = "disk",     [WM_LOST_NET] = "net",
	};

	return (unsigned)cause < WM_LOST_NR ? names[cause] : "unknown";
}
