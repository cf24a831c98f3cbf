/* SPDX-License-Identifier: MIT */
/*
 * thread.c - thread blocks: where they live, who owns one, what happens to
 * those of the dead, and waiting until all have passed. Relies on
 * MADV_WIPEONFORK; knows nothing of events.
 */
#include "runtime/thread.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

#include "base/atomic.h"
#include "runtime/runtime.h"
#include "runtime/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define TABLE_MAGIC 0x57415950u

/* Block 0 of the table: lives under the same wipe as the blocks it counts. */
struct table_head {
	uint32_t magic; /* 0 after a fork */
	uint32_t used;  /* blocks ever handed out, this one included */
	uint32_t hand;  /* where reaping goes on */
};

struct wm_thread wm_null_thread WM_HIDDEN __attribute__((aligned(WM_THREAD_BYTES)));
__thread struct waymark_writer *wm_current __attribute__((tls_model("initial-exec"))) =
    wm_null_thread.writer;

static unsigned char *table; /* WM_THREADS_MAX blocks; mapped once, inherited over forks */

static struct table_head *head(void)
{
	return (struct table_head *)table;
}

static struct wm_thread *block(uint32_t index)
{
	return (struct wm_thread *)(table + (size_t)index * WM_THREAD_BYTES);
}

bool wm_thread_forked(void)
{
	return table && wm_load_acquire(&head()->magic) == 0;
}

int wm_thread_init(void)
{
	if (!table) {
		size_t bytes = (size_t)WM_THREADS_MAX * WM_THREAD_BYTES;
		unsigned char *p = wm_sys_map(bytes);
		long err;
		if (!p)
			return -12; /* ENOMEM */
		err = WM_SYS_3(SYS_madvise, p, bytes, MADV_WIPEONFORK);
		if (wm_sys_failed(err)) {
			wm_sys_unmap(p, bytes);
			return (
			    int)err; /* without the wipe a child would write its parent's chunks */
		}
		table = p;
	}
	head()->used = 1;
	head()->hand = 1;
	wm_store_release(&head()->magic, TABLE_MAGIC);
	return 0;
}

static void lay_out(struct wm_thread *t)
{
	for (unsigned i = 0; i < WM_THREAD_LEVELS; i++) {
		struct waymark_writer *w = &t->writer[i];
		unsigned char *scratch = w->scratch; /* the next owner may keep it */
		wm_mem_zero(w, sizeof(*w));
		w->scratch = scratch;
		w->step = sizeof(*w);
		t->level[i] = (struct wm_level){0, 0};
	}
	if (t->extra)
		wm_mem_zero(t->extra, sizeof(*t->extra));
	t->passes = 0;
}

/* Takes a free block of an index below used, or a fresh one. */
static struct wm_thread *take_block(uint32_t tid)
{
	uint32_t used = wm_load_acquire(&head()->used), n = used < 16 ? used : 16;
	uint32_t hand = wm_add_relaxed(&head()->hand, n);
	uint32_t free = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t index = (hand + i) % used;
		struct wm_thread *t = block(index);
		if (index && wm_cas_acq_rel(&t->tid, &free, tid))
			return t;
		free = 0;
	}
	do {
		if (used >= WM_THREADS_MAX)
			return NULL;
	} while (!wm_cas_acq_rel(&head()->used, &used, used + 1));
	wm_store_release(&block(used)->tid, tid);
	block(used)->index = used;
	return block(used);
}

struct wm_thread *wm_thread_join(void)
{
	struct wm_thread *t;
	uint32_t tid = wm_sys_tid();

	(void)wm_thread_reap(4); /* so that short-lived threads do not pile up */
	t = take_block(tid);
	if (!t)
		return NULL;
	lay_out(t);
	wm_store_release(&t->current, &wm_current);
	wm_fence_signal();
	wm_current = t->writer;
	return t;
}

/* A level whose owner will never come back: commit what is whole, count what is not. */
static void settle(struct waymark_writer *w, const struct wm_level *l, struct wm_session *s)
{
	uint64_t word, end, pos, count;

	if (!wm_load_acquire(&s->active))
		return;
	if (!w->base) { /* perhaps left between taking a chunk and noting it */
		(void)wm_pool_reclaim_thread(&s->pool, wm_thread_of(w)->tid, wm_level_of(w));
		return;
	}
	if (l->generation != s->generation)
		return;
	word = wm_load_relaxed((uint64_t *)w->base);
	end = (word & 0xfffff) * 8;
	if (!end)
		end = WM_CHUNK_HEADER_BYTES;
	count = word >> WAYMARK_COMMIT_COUNT_SHIFT;
	pos = (uint64_t)(w->pos - w->base);
	if (pos > end) { /* all but the last store was done */
		count++;
		wm_store_release((uint64_t *)w->base,
				 count << WAYMARK_COMMIT_COUNT_SHIFT | (end / 8) << 20 | pos / 8);
	} else {
		wm_pool_lost(&s->pool, WM_LOST_TORN, 1);
	}
	w->tally = count << WAYMARK_COMMIT_COUNT_SHIFT | (pos > end ? pos : end) / 8;
}

/*
 * An emit at level j is alive only in a frame above ours on this stack, or on
 * another stack. Two live emits never have equal stack pointers.
 */
static bool abandoned(const struct waymark_writer *below, uintptr_t sp)
{
	return sp >= below->sp && sp - below->sp < (256u << 10);
}

struct waymark_writer *wm_thread_take_back(struct waymark_writer *w)
{
	struct wm_thread *t = wm_thread_of(w);
	unsigned level = wm_level_of(w);
	uintptr_t sp = w->sp;

	for (unsigned j = 0; j < level; j++) {
		if (!abandoned(&t->writer[j], sp))
			continue;
		for (unsigned k = j; k < level; k++)
			settle(&t->writer[k], &t->level[k], &wm_rt.session[0]);
		t->writer[j].sp = sp;
		wm_fence_signal();
		wm_current = &t->writer[j + 1];
		return &t->writer[j];
	}
	return w;
}

static bool is_dead(uint32_t tid)
{
	return WM_SYS_3(SYS_tgkill, wm_sys_pid(), tid, 0) == -3; /* ESRCH */
}

static void seal_all(uint32_t tid)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_load_acquire(&wm_rt.session[k].active))
			(void)wm_pool_reclaim_thread(&wm_rt.session[k].pool, tid,
						     WM_POOL_ALL_LEVELS);
}

unsigned wm_thread_reap(unsigned most)
{
	uint32_t used = wm_load_acquire(&head()->used);
	uint32_t hand = wm_add_relaxed(&head()->hand, most);
	unsigned freed = 0;

	for (uint32_t i = 0; i < most && used > 1; i++) {
		uint32_t index = 1 + (hand + i) % (used - 1);
		struct wm_thread *t = block(index);
		uint32_t tid = wm_load_acquire(&t->tid), mark = UINT32_MAX, dead = tid;
		if (!tid || tid == mark || !is_dead(tid))
			continue;
		if (!wm_cas_acq_rel(&t->tid, &tid, mark)) /* somebody else buries it */
			continue;
		t->current = NULL;
		seal_all(dead);
		lay_out(t);
		wm_store_release(&t->tid, 0);
		freed++;
	}
	return freed;
}

void wm_thread_kick(void)
{
	uint32_t used = table ? wm_load_acquire(&head()->used) : 0;
	for (uint32_t i = 1; i < used; i++) {
		struct wm_thread *t = block(i);
		for (unsigned l = 0; l < WM_THREAD_LEVELS; l++)
			wm_store_relaxed(&t->writer[l].end, NULL);
	}
}

/* What quiesce() saw of a thread: idle, or so far along. */
static bool is_idle(struct wm_thread *t)
{
	struct waymark_writer *current = NULL;
	struct iovec local = {&current, sizeof(current)};
	struct iovec remote = {wm_load_acquire(&t->current), sizeof(current)};
	/* Through the kernel: the thread may die and take its TLS with it. */
	long n = WM_SYS_6(SYS_process_vm_readv, wm_sys_pid(), &local, 1, &remote, 1, 0);

	if (n != (long)sizeof(current))
		return true;
	if (current < t->writer || current > &t->writer[WM_THREAD_LEVELS])
		return true; /* gone, or its memory is another's now */
	return current == t->writer;
}

static uint64_t progress(const struct wm_thread *t)
{
	uint64_t sum = wm_load_relaxed(&t->passes);
	for (unsigned l = 0; l < WM_THREAD_LEVELS; l++)
		sum += (uint64_t)(uintptr_t)wm_load_relaxed(&t->writer[l].pos) +
		       wm_load_relaxed(&t->writer[l].tally) * 0x10001u;
	return sum;
}

static bool passed(struct wm_thread *t, unsigned ms)
{
	uint64_t before = progress(t);
	struct timespec nap = {0, 200 * 1000};
	uint32_t tid = wm_load_acquire(&t->tid);

	for (unsigned i = 0; i < ms * 5; i++) {
		if (is_idle(t) || progress(t) != before || wm_load_acquire(&t->tid) != tid)
			return true;
		if (is_dead(tid))
			return true;
		(void)WM_SYS_2(SYS_nanosleep, &nap, 0);
	}
	return false;
}

bool wm_thread_quiesce(unsigned ms)
{
	uint32_t used = table ? wm_load_acquire(&head()->used) : 0;
	uint32_t self = wm_sys_tid();
	bool all = true;

	/* After this each thread either is seen busy below or sees what we stored before. */
	(void)WM_SYS_3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (uint32_t i = 1; i < used; i++) {
		uint32_t tid = wm_load_acquire(&block(i)->tid);
		if (tid && tid != UINT32_MAX && tid != self)
			all = passed(block(i), ms) && all;
	}
	return all;
}
