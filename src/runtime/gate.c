/* SPDX-License-Identifier: MIT */
/*
 * gate.c - records complex events: those with filters, contexts, several recorders or in-process
 * probes. The fields are packed into the thread's scratch buffer; each recorder that wants the
 * event gets a copy.
 *
 * A plan is read through event->binding with acquire and stays mapped until wm_thread_quiesce() has
 * seen this thread outside any emit: the level is busy from before the load until after the last
 * use.
 */
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "event/context.h"
#include "ring/counts.h"
#include "runtime/mark_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#define LOCK_WAITS   100 /* in total as long as a lock holder waits for threads */
#define LOCK_WAIT_MS 10

uint32_t wm_xsave_bytes = 1024;
uint8_t wm_xsave_works;

/* A complex event in progress. */
struct hit {
	struct wm_thread *thread;
	unsigned level;
	const unsigned char *fields;
	uint32_t bytes;
	uintptr_t fp, sp, ip;
	uint32_t have; /* the enum wm_filter_context bits that are set in `contexts` */
	struct wm_filter_contexts contexts;
};

static uint32_t current_cpu(void)
{
#if defined(__x86_64__)
	/* The limit of this segment holds the CPU number; the vDSO reads it the same way. */
	uint32_t p;
	__asm__ volatile("lsl %1, %0" : "=r"(p) : "r"(0x7bu) : "cc");
	return p & 0xfff;
#else
	uint32_t cpu = 0;
	(void)WM_SYS_3(SYS_getcpu, &cpu, 0, 0);
	return cpu;
#endif
}

static void fill_contexts(struct hit *h, uint32_t needs)
{
	needs &= ~h->have;
	h->have |= needs;
	if (needs & WM_FILTER_PID)
		h->contexts.pid = wm_sys_pid();
	if (needs & WM_FILTER_TID)
		h->contexts.tid = h->thread->tid;
	if (needs & WM_FILTER_CPU)
		h->contexts.cpu = current_cpu();
	if (needs & WM_FILTER_TIME)
		h->contexts.time_ns = (int64_t)wm_guest_clock_now(WM_CLOCK_MONOTONIC);
	if (needs & WM_FILTER_COMM)
		(void)WM_SYS_2(SYS_prctl, PR_GET_NAME, h->contexts.comm);
}

static bool gate_passes(struct hit *h, const struct wm_plan_slot *p)
{
	if (!p->nr_filters)
		return true;
	for (uint32_t i = 0; i < p->nr_filters; i++) {
		const struct wm_filter *f = p->filter[i];
		uint32_t needs = wm_filter_needs(f);
		bool yes;
		if (needs)
			fill_contexts(h, needs);
		yes = wm_filter_uses_float(f)
			  ? wm_guest_filter_run_float(f, h->fields, h->bytes, &h->contexts)
			  : wm_filter_run(f, h->fields, h->bytes, &h->contexts);
		if (yes)
			return true;
	}
	return false;
}

/* Position in the scratch buffer; if the fields extend past it, no stack is recorded. */
#define STACK_WINDOW_AT    57344u
#define STACK_WINDOW_BYTES (WAYMARK_SCRATCH_BYTES - STACK_WINDOW_AT)

/* Copies the stack from `sp` upwards with a system call, because the frame pointer is untrusted. */
static size_t read_stack(uintptr_t *window, uintptr_t sp)
{
	struct iovec local = {window, STACK_WINDOW_BYTES};
	struct iovec remote = {(void *)sp, STACK_WINDOW_BYTES};
	long got = WM_SYS_6(SYS_process_vm_readv, wm_sys_pid(), &local, 1, &remote, 1, 0);
	return got > 0 ? (size_t)got : 0;
}

/*
 * Stores the address of the site, then the return addresses found by following frame pointers,
 * innermost first. Returns the number of addresses.
 */
static uint32_t user_stack(const struct hit *h, unsigned char *to)
{
	uintptr_t *window =
	    (uintptr_t *)(void *)(h->thread->writer[h->level].scratch + STACK_WINDOW_AT);
	uintptr_t fp = h->fp, sp = h->sp;
	uint32_t n = 0;
	size_t got;

	wm_mem_copy(to, &h->ip, 8); /* the address of the site itself */
	n = 1;
	if (h->bytes > STACK_WINDOW_AT || fp < sp || fp % 8)
		return n;
	got = read_stack(window, sp);
	while (n < WM_USTACK_MAX) {
		uintptr_t at = fp - sp;
		if (at + 16 > got) { /* a deep stack continues in the next window */
			if (at > (8u << 20))
				break;
			sp = fp;
			at = 0;
			got = read_stack(window, sp);
			if (got < 16)
				break;
		}
		if (!window[at / 8 + 1])
			break;
		wm_mem_copy(to + 8 * n, &window[at / 8 + 1], 8);
		n++;
		if (window[at / 8] <= fp || window[at / 8] % 8)
			break;
		fp = window[at / 8];
	}
	return n;
}

/* Writes the contexts, which precede the fields, at q. Returns the end. */
static unsigned char *gate_put_contexts(const struct hit *h, unsigned char *q, uint32_t contexts)
{
	if (contexts & WM_CONTEXT_CPU) {
		uint32_t cpu = current_cpu();
		wm_mem_copy(q, &cpu, 4);
		q += 4;
	}
	if (contexts & WM_CONTEXT_USTACK) {
		uint32_t n = user_stack(h, q + 4);
		wm_mem_copy(q, &n, 4);
		q += 4 + 8 * n;
	}
	return q;
}

static uint32_t contexts_bytes_most(uint32_t contexts)
{
	return (contexts & WM_CONTEXT_CPU ? 4 : 0) +
	       (contexts & WM_CONTEXT_USTACK ? 4 + 8 * WM_USTACK_MAX : 0);
}

/* Performs the same stores in the same order as waymark_commit(). */
static void commit(struct waymark_writer *w, unsigned char *q, uint64_t now, uint32_t id)
{
	unsigned char *start = w->pos;
	uint64_t header = now << 16 | id, word;

	wm_store_relaxed((uint64_t *)start, header);
	w->last = now << 16;
	word = (w->tally & 0xfffff) << WAYMARK_COMMIT_END_BITS;
	wm_store_relaxed(&w->tally,
			 w->tally + WAYMARK_COMMIT_COUNT_ONE + (uint64_t)(q - start) / 8);
	word |= w->tally;
	wm_fence_signal();
	wm_store_relaxed(&w->pos, q);
	wm_store_release((uint64_t *)w->base, word);
}

static void gate_record(struct hit *h, struct wm_guest_session *s, const struct wm_plan_slot *p,
			struct waymark_writer *w, struct wm_level *l)
{
	uint32_t need = 8 + contexts_bytes_most(p->contexts) + h->bytes + 8;
	unsigned char *q;

	while (!w->base || l->generation != s->generation || !w->end ||
	       (int64_t)(w->end - w->pos) < (int64_t)need) {
		if (!wm_chunk_next(s, w, l, h->thread, h->level))
			return;
	}
	q = gate_put_contexts(h, w->pos + 8, p->contexts);
	wm_mem_copy(q, h->fields, h->bytes);
	q += h->bytes;
	while ((uintptr_t)q & 7)
		*q++ = 0;
	commit(w, q, wm_guest_clock_now(s->clock_kind), p->id);
}

/* Only this thread at this level writes the count, so an ordinary store suffices. */
static void gate_count(struct hit *h, struct wm_guest_session *s, const struct wm_plan_slot *p,
		       struct waymark_writer *w, struct wm_level *l)
{
	uint32_t at = wm_counts_at(p->id);
	uint64_t *to;

	while (!w->base || l->generation != s->generation || !w->end || w->base + at >= w->end) {
		if (!wm_guest_counts_next(s, w, l, h->thread, h->level, at))
			return;
	}
	to = (uint64_t *)(void *)(w->base + at);
	wm_store_relaxed(to, *to + 1);
}

/* Returns the writers for all slots but slot 0. */
static struct wm_thread_extra *extra_of(struct wm_thread *t)
{
	if (!t->extra) {
		struct wm_thread_extra *x = wm_sys_map(sizeof(*x));
		wm_fence_signal();
		if (!t->extra)
			t->extra = x; /* a signal handler may have set it first */
	}
	return t->extra;
}

static void to_slot(struct hit *h, unsigned slot, const struct wm_plan_slot *p, bool too_big)
{
	struct wm_guest_session *s = &wm_rt.session[slot];
	struct waymark_writer *w = &h->thread->writer[h->level];
	struct wm_level *l = &h->thread->level[h->level];

	if (!wm_load_acquire(&s->active))
		return;
	if (too_big && !(s->counts && !p->nr_filters)) {
		wm_pool_lost(s->pool, WM_LOST_TOO_BIG, 1);
		return;
	}
	if (!gate_passes(h, p))
		return;
	if (slot) {
		struct wm_thread_extra *x = extra_of(h->thread);
		if (!x) {
			wm_pool_lost(s->pool, WM_LOST_EARLY, 1);
			return;
		}
		w = &x->writer[slot - 1][h->level];
		l = &x->level[slot - 1][h->level];
	}
	if (s->counts)
		gate_count(h, s, p, w, l);
	else
		gate_record(h, s, p, w, l);
}

/*
 * Returns the writer of the complex event in progress; NULL in a child that a callback forked,
 * where the thread has a different block or none.
 */
static struct waymark_writer *in_progress(void)
{
	struct waymark_writer *w = wm_current - 1;

	return wm_level_of(wm_current) && wm_thread_owned(wm_thread_of(w)) && w->step ? w : NULL;
}

static void end_complex(struct waymark_writer *w)
{
	struct wm_level *l = &wm_thread_of(w)->level[wm_level_of(w)];

	wm_store_relaxed(&l->complex, 0);
	wm_level_passed(l);
	wm_fence_signal();
	wm_current = w;
}

/*
 * Gives the event to every session that wants it. Returns false when no session does although the
 * word says so: a tool has set RECORD from outside to attach, or an update is storing the word and
 * the plan.
 */
static bool to_all(struct hit *h, const struct waymark_event_state *event, bool too_big)
{
	/*
	 * Loads the word before the plan: only a word that refers to a plan guarantees that the
	 * plan is set.
	 */
	uint64_t word = wm_load_acquire(&event->word);
	struct wm_plan *plan = wm_load_acquire((struct wm_plan **)&event->binding);
	bool wanted = false;

	if (!(word & WAYMARK_WORD_COMPLEX)) {
		struct wm_plan_slot direct = {.on = true, .id = (uint16_t)word};
		to_slot(h, 0, &direct, too_big);
		return true;
	}
	if (!(word & WAYMARK_WORD_RECORD))
		return true;
	for (unsigned k = 0; plan && k < WM_SLOTS; k++)
		if (plan->slot[k].on) {
			to_slot(h, k, &plan->slot[k], too_big);
			wanted = true;
		}
	return wanted;
}

/*
 * Called after to_all() returned false: corrects the words and tries again. While another thread
 * holds the lock, this one waits, but only at level 0, because the holder may be waiting for the
 * lower levels to end. Nothing is carried over from one try to the next, so between tries the level
 * is reported to that holder as passed: twice, as if one emit had ended and another had begun.
 * Gives up after LOCK_WAITS tries, or when two tries with the lock did not help: no update reaches
 * the word then, as after dlclose. Returns false when the event was not recorded, nor counted yet.
 */
static bool to_all_again(struct hit *h, const struct waymark_event_state *event, bool too_big)
{
	struct waymark_writer *w = &h->thread->writer[h->level];
	struct wm_level *l = &h->thread->level[h->level];

	for (unsigned i = 0;; i++) {
		bool locked = !wm_runtime_words_check();

		if (in_progress() != w) /* a signal handler forked, and this is the child */
			return true;
		if (to_all(h, event, too_big))
			return true;
		if (h->level || i == LOCK_WAITS || (i && !locked))
			return false;
		wm_level_passed(l);
		wm_level_passed(l);
		if (locked)
			wm_lock_wait(LOCK_WAIT_MS);
	}
}

/*
 * A thread that joins a recorder here has already packed its fields. Joining waits for all other
 * threads, and this event becomes the first one in the recording.
 */
void wm_gate(unsigned char *end, struct waymark_event_state *event, uintptr_t unused, uintptr_t fp,
	     uintptr_t sp, uintptr_t ip)
{
	struct waymark_writer *w = in_progress();
	struct hit h;

	if (!w) {
		wm_early(1);
		return;
	}
	h.thread = wm_thread_of(w);
	h.level = wm_level_of(w);
	h.fields = w->scratch;
	h.bytes = end ? (uint32_t)(end - w->scratch) : 0;
	h.fp = fp;
	h.sp = sp;
	h.ip = ip;
	h.have = 0;
	if (!to_all(&h, event, !end) && !to_all_again(&h, event, !end))
		wm_early(1);
	if (in_progress() == w)
		end_complex(w);
}

void wm_leave(void)
{
	struct waymark_writer *w = in_progress();

	if (w)
		end_complex(w);
}

void wm_guest_probe_run(unsigned char *slots, struct waymark_event_state *event,
			void (*dispatch)(const unsigned char *, void (*)(void), void *))
{
	struct wm_plan *plan = wm_load_acquire((struct wm_plan **)&event->binding);
	struct waymark_writer *w;

	if (plan && plan->mark)
		wm_mark_run(plan, slots);
	for (uint32_t i = 0; plan && !plan->mark && i < plan->nr_probes; i++)
		dispatch(slots, plan->probe[i].fn, plan->probe[i].data);
	w = wm_current - 1; /* a callback may have forked; in the child no event is in progress */
	if (wm_level_of(wm_current))
		wm_level_passed(&wm_thread_of(w)->level[wm_level_of(w)]);
}
