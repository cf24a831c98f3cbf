/* SPDX-License-Identifier: MIT */
/*
 * span.c - the runtime's part of spans: ids, and for each thread the stack of open scopes, from
 * which a scope gets its parent and an end learns whether its begin was recorded. Reached from
 * inline code like slow.c; takes no lock, and allocates memory only once per thread.
 *
 *   id = salt (16 bits) | thread block (16) | count (32)
 *
 * Ids are unique within the process: a block has one owner at a time, and its count continues from
 * owner to owner; when the count overflows, the salt changes. The salt is seeded from the clock, so
 * that a forked child's ids usually differ from its parent's, too.
 *
 * The stack: a begin that is on pushes an entry, which the end of the same scope (its tag) pops.
 * Ends that find no entry were off at their begin. Entries that are never popped, because of
 * longjmp or because the end was switched off, are dropped when a scope above them ends, or when a
 * begin finds that their frame has returned.
 */
#include <errno.h>
#include <waymark/span.h>

#include <sys/mman.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "runtime/mark_int.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define STACK_BYTES 65536u
/* Stack pointers farther apart than this belong to different stacks. */
#define FRAMES_NEAR (256u << 10)

struct scope {
	uint64_t id;
	uintptr_t sp;
	const struct waymark_event_state *tag;
	uint64_t epoch;
};

struct wm_spans {
	uint32_t tid; /* tid of the thread that owns the scopes */
	uint32_t depth;
	uint64_t next; /* next id */
	struct scope scope[];
};
#define DEPTH_MAX ((STACK_BYTES - sizeof(struct wm_spans)) / sizeof(struct scope))

static struct wm_spans **table; /* indexed by thread block; wiped in a forked child */

static struct wm_spans **get_table(void)
{
	struct wm_spans **p = wm_load_acquire(&table), **none = NULL;
	const size_t bytes = WM_THREADS_MAX * sizeof(*p);

	if (p)
		return p;
	p = wm_sys_map(bytes);
	if (!p)
		return NULL;
	if (!wm_sys_failed(WM_SYS_3(SYS_madvise, p, bytes, MADV_WIPEONFORK)) &&
	    wm_cas_acq_rel(&table, &none, p))
		return p;
	/* Another thread was faster, or the kernel does not support MADV_WIPEONFORK. */
	wm_sys_unmap(p, bytes);
	return wm_load_acquire(&table);
}

static struct wm_thread *self(void)
{
	struct waymark_writer *w = wm_current;
	struct wm_thread *t = wm_thread_of(w);

	if (!wm_guest_writer_is_null(w) && t->tid && !wm_thread_forked())
		return t;
	if (wm_thread_forked())
		wm_runtime_forked();
	if (!wm_load_acquire(&wm_rt.ready) || wm_thread_forked() || wm_sys_pid() != wm_rt.pid)
		return NULL;
	return wm_thread_join();
}

/* Returns the calling thread's stack of scopes; creates it on the first call. */
static struct wm_spans *spans_of(struct wm_thread *t)
{
	uint64_t index = (uintptr_t)t / WM_THREAD_BYTES % WM_THREADS_MAX;
	struct wm_spans **all = t ? get_table() : NULL, *s;

	if (!all)
		return NULL;
	s = all[index];
	if (!s) {
		s = wm_sys_map(STACK_BYTES);
		if (!s)
			return NULL;
		s->next = wm_guest_clock_now(WM_CLOCK_MONOTONIC) >> 10 << 48 | index << 32 | 1;
		wm_fence_signal();
		if (all[index]) { /* a signal handler was faster */
			wm_sys_unmap(s, STACK_BYTES);
			s = all[index];
		}
		all[index] = s;
	}
	if (s->tid != t->tid) {
		s->tid = t->tid;
		s->depth = 0;
	}
	return s;
}

static uint64_t new_id(struct wm_spans *s)
{
	uint64_t id = s->next;

	s->next = id + 1;
	if (!(uint32_t)s->next) /* the count has overflowed */
		s->next = ((id >> 48) + 1) << 48 | (id & 0xffff00000000ull) | 1;
	return id;
}

/* Drops entries of frames below `sp` on this stack: those frames have returned. */
static void prune(struct wm_spans *s, uintptr_t sp)
{
	while (s->depth && s->depth <= DEPTH_MAX && s->scope[s->depth - 1].sp < sp &&
	       sp - s->scope[s->depth - 1].sp < FRAMES_NEAR)
		s->depth--;
}

/* Returns the id of the scope that is `below` levels outside the innermost one. */
static uint64_t id_at(struct wm_spans *s, uint32_t below, uintptr_t sp)
{
	uint32_t depth;

	prune(s, sp);
	depth = s->depth < DEPTH_MAX ? s->depth : DEPTH_MAX;
	return depth > below ? s->scope[depth - 1 - below].id : 0;
}

static uint64_t span_push(struct wm_spans *s, const struct waymark_event_state *tag,
			  const struct waymark_event_state *begin, uintptr_t sp)
{
	uint64_t id;

	prune(s, sp);
	/* The scope is only counted, so that ends still match begins. */
	if (s->depth >= DEPTH_MAX) {
		s->depth++;
		return 0;
	}
	id = new_id(s);
	s->scope[s->depth] = (struct scope){id, sp, tag, wm_load_relaxed(&begin->epoch)};
	wm_fence_signal();
	s->depth++;
	return id;
}

static uint64_t span_pop(struct wm_spans *s, const struct waymark_event_state *tag,
			 const struct waymark_event_state *begin)
{
	uint32_t i = s->depth;
	const struct scope *p;

	if (i > DEPTH_MAX) {
		s->depth--;
		return 0;
	}
	while (i && s->scope[i - 1].tag != tag)
		i--;
	if (!i)
		return 0;
	p = &s->scope[i - 1];
	wm_store_relaxed(&s->depth, i - 1);
	/*
	 * The span's events were switched off and on again after the begin, so this end may belong
	 * to a scope in a deeper recursion.
	 */
	return p->epoch == wm_load_relaxed(&begin->epoch) ? p->id : 0;
}

static uint64_t span_now(void)
{
	uint32_t kind = WM_CLOCK_CYCLES;

	for (unsigned k = WM_SLOTS; k-- > 0;)
		if (wm_load_acquire(&wm_rt.session[k].active))
			kind = wm_rt.session[k].clock_kind;
	return wm_guest_clock_now(kind);
}

uint64_t wm_span(uint64_t op, const struct waymark_event_state *tag,
		 const struct waymark_event_state *begin, uintptr_t fp, uintptr_t sp)
{
	struct wm_spans *s;

	if (op == WAYMARK_SPAN_CLOCK)
		return span_now();
	s = spans_of(self());
	if (!s)
		return 0;
	switch ((enum waymark_span_op)op) {
	case WAYMARK_SPAN_PUSH:
		return span_push(s, tag, begin, sp);
	case WAYMARK_SPAN_POP:
		return span_pop(s, tag, begin);
	case WAYMARK_SPAN_NEW:
		return new_id(s);
	case WAYMARK_SPAN_CURRENT:
		return id_at(s, 0, sp);
	case WAYMARK_SPAN_PARENT:
		return id_at(s, 1, sp);
	default:
		return 0;
	}
}

WM_GUEST_API int waymark_span_add(struct waymark_module *module, const char *provider,
				  const char *name, waymark_span_callback callback,
				  void *private_data);
WM_GUEST_API int waymark_span_remove(struct waymark_module *module, const char *provider,
				     const char *name, waymark_span_callback callback,
				     void *private_data);

int waymark_span_add(struct waymark_module *module, const char *provider, const char *name,
		     waymark_span_callback callback, void *private_data)
{
	char own[WM_PROVIDER_MAX];

	if (!name || !wm_mark_name(module, provider, &name, own, &provider))
		return -EINVAL;
	return wm_guest_probe_connect(WM_PROBE_SPAN, provider, name, "", (void (*)(void))callback,
				      private_data);
}

int waymark_span_remove(struct waymark_module *module, const char *provider, const char *name,
			waymark_span_callback callback, void *private_data)
{
	char own[WM_PROVIDER_MAX];

	if (!name || !wm_mark_name(module, provider, &name, own, &provider))
		return -EINVAL;
	return wm_guest_probe_disconnect(WM_PROBE_SPAN, provider, name, "",
					 (void (*)(void))callback, private_data);
}
