// SPDX-License-Identifier: MIT
/*
 * counts_test.c - counts in a small pool: counts of a running thread are returned by each read,
 * those of an exited thread are removed once, and those of a thread that exits between the two
 * steps of a read appear in that read and in the next.
 */
#include "ring/pool_world_test_kit.h"

#include "ring/counts.h"

struct heard {
	uint64_t count, sealed;
	uint32_t tid;
};

static void on_count(uint32_t tid, uint32_t id, uint64_t count, bool sealed, void *data)
{
	struct heard *h = data;

	assert_int_equal(id, 3);
	h->tid = tid;
	h->count += count;
	h->sealed += sealed ? count : 0;
}

/* Begins a chunk as the runtime does (slow.c): the whole chunk is one record. */
static void begin(struct writer *w)
{
	assert_true(writer_take(w, true));
	writer_commit(w, (uint32_t)(w->end - w->pos));
}

static void count(const struct writer *w, uint32_t id, uint64_t n)
{
	w->base[wm_counts_at(id) / 8] += n;
}

static struct heard read_all(struct wm_pool *p)
{
	struct heard h = {0};

	wm_counts_read(p, 8, on_count, &h);
	return h;
}

static void test_goes_on(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool, .thread = 7};
	struct heard h;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	begin(&a);
	count(&a, 3, 5);
	for (int i = 0; i < 2; i++) {
		wm_counts_pin(&w.pool);
		h = read_all(&w.pool);
		assert_int_equal(h.count, 5);
		assert_int_equal(h.sealed, 0);
		assert_int_equal(h.tid, 7);
	}
	world_drop(&w);
}

static void test_ends_while_read(void **unused)
{
	struct world w;
	struct writer a = {.pool = &w.pool, .thread = 7};
	struct heard h;

	world_make(&w, 2, 2, WM_POOL_DISCARD);
	begin(&a);
	count(&a, 3, 5);
	wm_counts_pin(&w.pool);
	writer_seal(&a);
	h = read_all(&w.pool); /* the chunk was not pinned, so it is not removed */
	assert_int_equal(h.count, 5);
	assert_int_equal(h.sealed, 0);
	assert_int_equal(h.tid, 7);
	wm_counts_pin(&w.pool);
	h = read_all(&w.pool);
	assert_int_equal(h.count, 5);
	assert_int_equal(h.sealed, 5);
	assert_int_equal(h.tid, 7);
	wm_counts_pin(&w.pool);
	assert_int_equal(read_all(&w.pool).count, 0);
	begin(&a); /* takes the same chunk, because the reader emptied it */
	assert_int_equal(a.index, 0);
	assert_int_equal(read_all(&w.pool).count, 0);
	check(&w.pool);
	world_drop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_goes_on),
	    cmocka_unit_test(test_ends_while_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
