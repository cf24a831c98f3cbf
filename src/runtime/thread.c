/* SPDX-License-Identifier: MIT */
/*
 * thread.c - thread blocks: assigns them to threads, reclaims those of dead threads, and waits
 * until all threads have left their current emits. Relies on MADV_WIPEONFORK; knows nothing about
 * events.
 */
#include "runtime/thread_int.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* entry_x86_64.S depends on these. */
_Static_assert(offsetof(struct wm_thread, level) == 576, "LEVELS");
_Static_assert(sizeof(struct wm_level) == 16 && offsetof(struct wm_level, passes) == 8 &&
		   offsetof(struct wm_level, complex) == 12,
	       "PASSES, COMPLEX");
_Static_assert(offsetof(struct waymark_writer, step) == 24 &&
		   offsetof(struct waymark_writer, scratch) == 48,
	       "the writer");
_Static_assert(offsetof(struct wm_plan, quick) == 0 &&
		   offsetof(struct wm_filter_quick, first) == 8 &&
		   offsetof(struct wm_filter_quick, span) == 16,
	       "quick");
_Static_assert(WM_QUICK_COUNT == 4 && offsetof(struct waymark_writer, end) == 8 &&
		   offsetof(struct waymark_writer, base) == 16,
	       "QUICK_COUNT");

#define TABLE_MAGIC 0x57415950u

/* Block 0 of the table. A fork wipes it together with the blocks that it describes. */
struct table_head {
	uint32_t magic; /* 0 after a fork wiped it */
	uint32_t first; /* blocks below this one belong to no thread: see wm_thread_init() */
	uint32_t used;  /* number of blocks ever used, including those below `first` */
	uint32_t hand;  /* the block where the search for dead threads continues */
	uint32_t lock;  /* the runtime's lock; a fork wipes it, so it is free in a child */
	uint32_t haunted;
};

struct wm_thread wm_null_thread WM_HIDDEN __attribute__((aligned(WM_THREAD_BYTES)));
__thread struct waymark_writer *wm_current __attribute__((tls_model("initial-exec"))) =
    wm_null_thread.writer;

static unsigned char *table; /* WM_THREADS_MAX blocks; mapped once, inherited across forks */
static struct wm_thread_shadow *shadows; /* one per block; mapped when first needed */
/* Largest `used` of any table so far; a child inherits it. */
static uint32_t most_used;

static struct table_head *thread_head(void)
{
	return (struct table_head *)table;
}

static struct wm_thread *thread_block(uint32_t index)
{
	return (struct wm_thread *)(table + (size_t)index * WM_THREAD_BYTES);
}

bool wm_thread_forked(void)
{
	return table && wm_load_acquire(&thread_head()->magic) == 0;
}

/*
 * A forked child has one thread, whose `current` still points into a block in the parent's table.
 * Until that thread traces again, no other thread may get the block. If the caller is another
 * thread, the block is unknown: none of the used ones is handed out.
 */
static uint32_t first_block(void)
{
	uint32_t most = wm_load_acquire(&most_used);

	return most && wm_sys_tid() != wm_sys_pid() ? most : 1;
}

int wm_thread_init(void)
{
	if (!table) {
		size_t bytes = (size_t)WM_THREADS_MAX * WM_THREAD_BYTES;
		unsigned char *p = wm_sys_map(bytes);
		long err;
		if (!p)
			return -ENOMEM;
		err = WM_SYS_3(SYS_madvise, p, bytes, MADV_WIPEONFORK);
		if (wm_sys_failed(err)) {
			wm_sys_unmap(p, bytes);
			/*
			 * The kernel cannot wipe memory on fork: a child would write to its
			 * parent's chunks.
			 */
			return (int)err;
		}
		table = p;
	}
	thread_head()->first = thread_head()->used = first_block();
	thread_head()->hand = 0;
	wm_store_release(&thread_head()->magic, TABLE_MAGIC);
	return 0;
}

uint32_t *wm_thread_lock_word(void)
{
	return &thread_head()->lock;
}

static void lay_out(struct wm_thread *t)
{
	for (unsigned i = 0; i < WM_THREAD_LEVELS; i++) {
		struct waymark_writer *w = &t->writer[i];
		/* The scratch buffer is kept for the next owner. */
		unsigned char *scratch = w->scratch;
		wm_mem_zero(w, sizeof(*w));
		w->scratch = scratch;
		w->step = sizeof(*w);
		t->level[i] = (struct wm_level){0, 0, t->level[i].passes + 1, 0};
	}
	if (t->extra)
		wm_mem_zero(t->extra, sizeof(*t->extra));
}

static void note_used(uint32_t used)
{
	uint32_t most = wm_load_relaxed(&most_used);

	while (most < used && !wm_cas_acq_rel(&most_used, &most, used))
		;
}

/*
 * Takes a free block with an index below `used`, or a new one. Even a new block is owned only once
 * its tid is set: other threads see it as free as soon as `used` includes it.
 */
static struct wm_thread *take_block(uint32_t tid)
{
	uint32_t used = wm_load_acquire(&thread_head()->used), first = thread_head()->first;
	uint32_t n = used - first < 16 ? used - first : 16;
	uint32_t hand = wm_add_relaxed(&thread_head()->hand, n);
	uint32_t free = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct wm_thread *t = thread_block(first + (hand + i) % (used - first));
		if (wm_cas_acq_rel(&t->tid, &free, tid))
			return t;
		free = 0;
	}
	for (;;) {
		if (used >= WM_THREADS_MAX)
			return NULL;
		if (!wm_cas_acq_rel(&thread_head()->used, &used, used + 1))
			continue;
		note_used(used + 1);
		if (wm_cas_acq_rel(&thread_block(used)->tid, &free, tid))
			return thread_block(used);
		free = 0;
		used++;
	}
}

struct wm_thread *wm_thread_join(void)
{
	struct wm_thread *t;
	uint32_t tid = wm_sys_tid();

	(void)wm_thread_reap(4); /* keeps blocks of short-lived threads from accumulating */
	t = take_block(tid);
	if (!t)
		return NULL;
	lay_out(t);
	(void)WM_SYS_2(SYS_prctl, PR_GET_NAME, t->comm);
	wm_store_release(&t->current, &wm_current);
	wm_fence_signal();
	wm_current = t->writer;
	return t;
}

/*
 * Completes a chunk in which an emit was abandoned. The last stores of an emit are pos, tally (in
 * the gate: tally, pos), committed: once pos has moved, the record is complete. `last` is stored
 * before any of them, so if it is not the time of the last record, another record was begun.
 */
static void settle_chunk(struct waymark_writer *w, struct wm_guest_session *s)
{
	struct wm_chunk *c = (struct wm_chunk *)(void *)w->base;
	uint64_t word = wm_load_relaxed(&c->committed), end, count, last;
	uint64_t pos = (uint64_t)(w->pos - w->base);

	end = (word & 0xfffff) * 8;
	count = word >> WAYMARK_COMMIT_COUNT_SHIFT;
	last = count ? *(uint64_t *)(void *)(w->base + (word >> 20 & 0xfffff) * 8) : c->begin << 16;
	if (!end)
		end = WM_CHUNK_HEADER_BYTES;
	if (pos > end) {
		count++;
		wm_store_release(&c->committed,
				 count << WAYMARK_COMMIT_COUNT_SHIFT | (end / 8) << 20 | pos / 8);
		end = pos;
	} else if ((last ^ w->last) >> 16) {
		wm_pool_lost(s->pool, WM_LOST_TORN, 1);
		w->last = last; /* makes sure that it is counted only once */
	}
	w->tally = count << WAYMARK_COMMIT_COUNT_SHIFT | end / 8;
}

/*
 * Cleans up a level to which its owner will never return: commits complete records and counts
 * incomplete ones.
 */
static void settle_writer(struct waymark_writer *w, const struct wm_level *l,
			  struct wm_guest_session *s, uint32_t tid, unsigned level)
{
	if (!wm_load_acquire(&s->active))
		return;
	if (!w->base) /* the owner may have died between taking a chunk and storing its address */
		(void)wm_pool_reclaim_thread(s->pool, tid, level);
	else if (l->generation == s->generation)
		settle_chunk(w, s);
}

static void thread_settle(struct wm_thread *t, unsigned level, uint32_t tid)
{
	settle_writer(&t->writer[level], &t->level[level], &wm_rt.session[0], tid, level);
	for (unsigned k = 1; t->extra && k < WM_SLOTS; k++)
		settle_writer(&t->extra->writer[k - 1][level], &t->extra->level[k - 1][level],
			      &wm_rt.session[k], tid, level);
	t->level[level].complex = 0;
	wm_level_passed(&t->level[level]);
}

/* The calling thread's alternate signal stack; empty if there is none. */
struct range {
	uintptr_t start, bytes;
};

static struct range alternate_stack(void)
{
	struct range r = {0, 0};
	stack_t s;

	if (!wm_sys_failed(WM_SYS_2(SYS_sigaltstack, 0, &s)) && !(s.ss_flags & SS_DISABLE))
		r = (struct range){(uintptr_t)s.ss_sp, s.ss_size};
	return r;
}

static bool is_in(const struct range *r, uintptr_t address)
{
	return address - r->start < r->bytes;
}

/*
 * Whether the emit at level `below` was abandoned. An emit is alive only in a frame above the
 * caller's on this stack, or on another stack. Two live emits never have equal stack pointers. Code
 * on the alternate stack can conclude nothing about the ordinary one, which may be anywhere; but a
 * thread that is back on the ordinary one has left the alternate one.
 */
static bool abandoned(const struct waymark_writer *below, uintptr_t sp, const struct range *alt)
{
	if (is_in(alt, below->sp) != is_in(alt, sp))
		return is_in(alt, below->sp);
	return sp >= below->sp && sp - below->sp < (256u << 10);
}

struct waymark_writer *wm_thread_take_back(struct waymark_writer *w)
{
	struct wm_thread *t = wm_thread_of(w);
	unsigned level = wm_level_of(w);
	uintptr_t sp = w->sp;
	struct range alt = alternate_stack();

	for (unsigned j = 0; j < level; j++) {
		if (!abandoned(&t->writer[j], sp, &alt))
			continue;
		for (unsigned k = j; k < level; k++)
			thread_settle(t, k, t->tid);
		t->writer[j].sp = sp;
		wm_fence_signal();
		wm_current = &t->writer[j + 1];
		return &t->writer[j];
	}
	return w;
}

/* Uses the pid in wm_rt.pid, because the caller may be a vfork child; those may trace, too. */
static bool is_dead(uint32_t tid)
{
	return WM_SYS_3(SYS_tgkill, wm_rt.pid, tid, 0) == -ESRCH;
}

static void seal_all(uint32_t tid)
{
	for (unsigned k = 0; k < WM_SLOTS; k++)
		if (wm_load_acquire(&wm_rt.session[k].active))
			(void)wm_pool_reclaim_thread(wm_rt.session[k].pool, tid,
						     WM_POOL_ALL_LEVELS);
}

unsigned wm_thread_reap(unsigned most)
{
	uint32_t used = wm_load_acquire(&thread_head()->used), first = thread_head()->first;
	uint32_t hand = wm_add_relaxed(&thread_head()->hand, most);
	unsigned freed = 0;

	for (uint32_t i = 0; i < most && used > first; i++) {
		struct wm_thread *t = thread_block(first + (hand + i) % (used - first));
		uint32_t tid = wm_load_acquire(&t->tid), dead = tid;
		if (!tid || tid == WM_TID_NOBODY || !is_dead(tid))
			continue;
		/* Another thread is reclaiming it. */
		if (!wm_cas_acq_rel(&t->tid, &tid, WM_TID_NOBODY))
			continue;
		t->current = NULL;
		for (unsigned l = 0; l < WM_THREAD_LEVELS; l++)
			if (t->writer[l].base) /* a handler may have ended the thread in an emit */
				thread_settle(t, l, dead);
		seal_all(dead);
		lay_out(t);
		wm_store_release(&t->tid, 0);
		freed++;
	}
	return freed;
}

/* ------------------------------------------------------------------ *
 * Waiting until all threads have left their emits
 * ------------------------------------------------------------------ */

/* Returns the number of busy levels of a thread. */
static unsigned busy_levels(struct wm_thread *t)
{
	struct waymark_writer *current = NULL;
	struct iovec local = {&current, sizeof(current)};
	struct iovec remote = {wm_load_acquire(&t->current), sizeof(current)};
	/* Reads through the kernel, because the thread may exit, and its TLS is then freed. */
	long n = WM_SYS_6(SYS_process_vm_readv, wm_sys_pid(), &local, 1, &remote, 1, 0);

	if (n != (long)sizeof(current))
		return 0;
	if (current < t->writer || current > &t->writer[WM_THREAD_LEVELS])
		return 0; /* the thread exited, or its memory was reused */
	return (unsigned)(current - t->writer);
}

/* The state of an emit in progress when it was first observed. */
struct seen {
	uint64_t tally;
	unsigned char *pos;
	uint32_t passes, complex;
};

static struct seen thread_look(struct wm_thread *t, unsigned level)
{
	return (struct seen){
	    wm_load_relaxed(&t->writer[level].tally), wm_load_relaxed(&t->writer[level].pos),
	    wm_load_relaxed(&t->level[level].passes), wm_load_relaxed(&t->level[level].complex)};
}

/*
 * Whether the emit that was in progress when `s` was read has ended. An emit may change its chunk
 * halfway: the direct case then rereads its event's word, while the gate continues with its plan.
 */
static bool has_ended(struct wm_thread *t, unsigned level, const struct seen *s)
{
	struct seen now = thread_look(t, level);

	if (now.passes != s->passes)
		return true;
	return !s->complex && !now.complex && (now.tally != s->tally || now.pos != s->pos);
}

/*
 * Makes the thread's next emit take the slow path, which detects a level that a siglongjmp has
 * left.
 */
static void kick(struct wm_thread *t)
{
	for (unsigned l = 0; l < WM_THREAD_LEVELS; l++)
		wm_store_relaxed(&t->writer[l].end, NULL);
}

void wm_thread_kick(void)
{
	uint32_t used = table ? wm_load_acquire(&thread_head()->used) : 0;

	for (uint32_t i = used ? thread_head()->first : 0; i < used; i++)
		kick(thread_block(i));
}

static bool passed(struct wm_thread *t, uint32_t tid, uint64_t deadline)
{
	unsigned busy = busy_levels(t), naps = 0;
	struct seen seen[WM_THREAD_LEVELS];
	struct timespec nap = {0, 50 * 1000};

	for (unsigned l = 0; l < busy; l++)
		seen[l] = thread_look(t, l);
	for (;;) {
		unsigned now = busy_levels(t), pending = 0;
		busy = now < busy ? now : busy;
		for (unsigned l = 0; l < busy; l++)
			pending += !has_ended(t, l, &seen[l]);
		if (!pending || wm_load_acquire(&t->tid) != tid || is_dead(tid))
			return true;
		if (wm_guest_clock_now(WM_CLOCK_MONOTONIC) >= deadline)
			return false;
		if (++naps == 100)
			kick(t);
		(void)WM_SYS_2(SYS_nanosleep, &nap, 0);
	}
}

bool wm_thread_quiesce(unsigned ms)
{
	uint32_t used = table ? wm_load_acquire(&thread_head()->used) : 0;
	uint32_t self = wm_sys_tid();
	uint64_t deadline = wm_guest_clock_now(WM_CLOCK_MONOTONIC) + ms * 1000000ull;
	bool all = true;

	/*
	 * After this call, each thread is either seen busy below or sees the stores that were made
	 * before the call.
	 */
	(void)WM_SYS_3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	for (uint32_t i = used ? thread_head()->first : 0; i < used; i++) {
		uint32_t tid = wm_load_acquire(&thread_block(i)->tid);
		if (tid && tid != WM_TID_NOBODY && tid != self)
			all = passed(thread_block(i), tid, deadline) && all;
	}
	return all;
}

/* ------------------------------------------------------------------ *
 * A fork in a signal handler that interrupted an emit. The child returns into
 * the emit with its writer wiped: without help it would store to address 0. So
 * its position is restored, without room for more, and runtime.c maps private
 * memory there: no reader sees what the emit still writes, and the thread's
 * next event takes the slow path. (A bare clone from a handler gets no such
 * help.)
 * ------------------------------------------------------------------ */
static uint32_t index_of(const struct wm_thread *t)
{
	return (uint32_t)(((const unsigned char *)t - table) / WM_THREAD_BYTES);
}

void wm_thread_before_fork(void)
{
	struct wm_thread *t = wm_thread_of(wm_current);
	unsigned levels = wm_level_of(wm_current);
	struct wm_thread_shadow *s;

	if (wm_guest_writer_is_null(wm_current) || !levels || !wm_thread_owned(t))
		return; /* nearly always */
	if (!shadows)
		shadows = wm_sys_map((size_t)WM_THREADS_MAX * sizeof(*shadows));
	if (!shadows)
		return;
	s = &shadows[index_of(t)];
	for (unsigned l = 0; l < levels; l++) {
		s->level[l].pos = t->writer[l].pos;
		s->level[l].base = t->writer[l].base;
		s->level[l].tally = t->writer[l].tally;
	}
	s->levels = levels;
}

bool wm_thread_after_fork(void)
{
	struct wm_thread *t = wm_thread_of(wm_current);
	struct wm_thread_shadow *s;

	if (!shadows || wm_guest_writer_is_null(wm_current))
		return false;
	s = &shadows[index_of(t)];
	if (t->tid) { /* this is the parent */
		s->levels = 0;
		return false;
	}
	if (s->levels)
		(void)wm_thread_leave_behind();
	for (unsigned l = 0; l < s->levels; l++) {
		t->writer[l].pos = s->level[l].pos;
		t->writer[l].base = s->level[l].base;
		t->writer[l].tally = s->level[l].tally;
	}
	return s->levels != 0;
}

bool wm_thread_leave_behind(void)
{
	if (wm_guest_writer_is_null(wm_current) || !wm_level_of(wm_current))
		return false;
	wm_thread_of(wm_current)->tid = WM_TID_NOBODY; /* the next owner must not get them */
	thread_head()->haunted = 1;
	return true;
}

bool wm_thread_is_haunted(void)
{
	return thread_head()->haunted;
}

unsigned wm_thread_swallowed(const struct waymark_writer *w)
{
	struct wm_thread *t = wm_thread_of(w);
	struct wm_thread_shadow *s;
	unsigned n = 0;

	if (!shadows || wm_guest_writer_is_null(w) || wm_thread_owned(t))
		return 0;
	s = &shadows[index_of(t)];
	for (unsigned l = 0; l < s->levels; l++) {
		n += t->writer[l].pos && t->writer[l].pos != s->level[l].pos;
		s->level[l].pos = t->writer[l].pos;
	}
	return n;
}
