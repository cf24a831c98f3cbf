/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - libwaymark-malloc.so: the allocations of a program that was not
 * changed, as events. Preloaded, it stands before the allocator and calls the
 * next one in the order of symbol search, libc's or another.
 *
 * What is recorded: each call of the program and its libraries, with what it
 * returned. alloc, calloc, realloc and memalign are recorded after the
 * allocator returned, free before, so that no pointer is seen to be handed out
 * before it is seen freed; only realloc's old pointer can be: another thread
 * may get it before realloc returns. What the allocator calls
 * in turn while it serves a recorded call is not recorded (`inside`).
 *
 * Dormant, a call costs the site, one load and a jump more. Nothing is looked
 * up twice: dlsym() runs once, at the first call, which may come before any
 * constructor. It may itself allocate: that is served from a small arena.
 *
 * Knows only the public header. errno is as the allocator leaves it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <waymark/tracepoint.h>

#define EXPORT __attribute__((visibility("default")))
#define COLD   __attribute__((noinline, cold))
#define CALLER __builtin_return_address(0)

WAYMARK_EVENT(malloc, alloc, WAYMARK_ARGS(size_t, size, void *, p, void *, caller),
	      WAYMARK_FIELDS((u64, size, size), (ptr, ptr, p), (ptr, caller, caller)));
WAYMARK_EVENT(malloc, free, WAYMARK_ARGS(void *, p), WAYMARK_FIELDS((ptr, ptr, p)));
WAYMARK_EVENT(malloc, calloc, WAYMARK_ARGS(size_t, n, size_t, size, void *, p, void *, caller),
	      WAYMARK_FIELDS((u64, count, n), (u64, size, size), (ptr, ptr, p),
			     (ptr, caller, caller)));
WAYMARK_EVENT(malloc, realloc, WAYMARK_ARGS(void *, old, size_t, size, void *, p, void *, caller),
	      WAYMARK_FIELDS((ptr, old, old), (u64, size, size), (ptr, ptr, p),
			     (ptr, caller, caller)));

enum aligned { ALIGNED_ALLOC, POSIX_MEMALIGN, MEMALIGN, VALLOC, PVALLOC };
WAYMARK_EVENT(malloc, memalign,
	      WAYMARK_ARGS(enum aligned, how, size_t, alignment, size_t, size, void *, p, void *,
			   caller),
	      WAYMARK_FIELDS((enumeration, function, u8, how, ("aligned_alloc", ALIGNED_ALLOC),
			      ("posix_memalign", POSIX_MEMALIGN), ("memalign", MEMALIGN),
			      ("valloc", VALLOC), ("pvalloc", PVALLOC)),
			     (u64, alignment, alignment), (u64, size, size), (ptr, ptr, p),
			     (ptr, caller, caller)));

/*
 * The next allocator. Written by resolve() with the same values each time;
 * all or nothing but for reallocarray and pvalloc, which not every libc has.
 */
static struct {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} next;

/* Own to each thread, and never allocated: the library is there from the start. */
#define THREAD static __thread __attribute__((tls_model("initial-exec")))
THREAD bool resolving; /* in dlsym(): what it allocates comes from the arena */
THREAD bool inside;    /* in a recorded call: what is called now belongs to it */

/* ------------------------------------------------------------------ *
 * The arena: what dlsym() allocates. Never reused; libc asks for a few
 * hundred bytes at most, and newer ones for none.
 * ------------------------------------------------------------------ */
#define ARENA_BYTES 16384u
#define ALIGNMENT   16u

static unsigned char arena[ARENA_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t arena_used;

static bool in_arena(const void *p)
{
	return (uintptr_t)p - (uintptr_t)arena < ARENA_BYTES;
}

/* Zeros, as nothing is handed out twice; the size is kept in front, for realloc. */
static void *arena_alloc(size_t bytes, size_t alignment)
{
	size_t need, at;
	unsigned char *p;

	if (alignment < ALIGNMENT)
		alignment = ALIGNMENT;
	if (bytes > ARENA_BYTES || alignment > ARENA_BYTES / 4)
		goto full;
	need = (bytes + ALIGNMENT + alignment + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	at = __atomic_fetch_add(&arena_used, need, __ATOMIC_RELAXED);
	if (at > ARENA_BYTES - need)
		goto full;
	p = arena + at + ALIGNMENT;
	p += -(uintptr_t)p & (alignment - 1);
	memcpy(p - sizeof(bytes), &bytes, sizeof(bytes));
	return p;
full:
	errno = ENOMEM;
	return NULL;
}

/* Once the arena was used, these stand before the real ones. */
static void (*real_free)(void *);
static void *(*real_realloc)(void *, size_t);

static void careful_free(void *p)
{
	if (!in_arena(p))
		real_free(p);
}

static void *careful_realloc(void *old, size_t size)
{
	size_t had;
	void *p;

	if (!in_arena(old))
		return real_realloc(old, size);
	p = next.malloc(size);
	memcpy(&had, (unsigned char *)old - sizeof(had), sizeof(had));
	if (p)
		memcpy(p, old, had < size ? had : size);
	return p;
}

/* ------------------------------------------------------------------ *
 * Finding the next allocator
 * ------------------------------------------------------------------ */

static void find(void *ret_function, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &p, sizeof(p));
}

static void find_all(void)
{
	find(&next.calloc, "calloc");
	find(&next.reallocarray, "reallocarray");
	find(&next.aligned_alloc, "aligned_alloc");
	find(&next.posix_memalign, "posix_memalign");
	find(&next.memalign, "memalign");
	find(&next.valloc, "valloc");
	find(&next.pvalloc, "pvalloc");
	find(&real_free, "free");
	find(&real_realloc, "realloc");
	find(&next.malloc, "malloc");
	next.realloc = real_realloc;
	next.free = real_free;
	if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED)) {
		next.realloc = careful_realloc;
		next.free = careful_free;
	}
}

/*
 * Before the first call of the next allocator. False: dlsym() is at work in
 * this thread, the arena must do. There is one thread then: making another
 * allocates. The sites are registered here, too, or what libraries' own
 * constructors allocate would be missed; not before libc has its environment,
 * in which the runtime finds who records.
 */
static COLD bool resolve(void)
{
	int saved = errno;

	if (resolving)
		return false;
	resolving = true;
	find_all();
	if (environ)
		waymark_module_constructor();
	resolving = false;
	errno = saved;
	return true;
}

#define READY(function) (__builtin_expect(next.function != NULL, 1) || (resolve() && next.function))

/* Usually too late to be the first, but then nothing is left to a busy moment. */
__attribute__((constructor(101))) static void constructor(void)
{
	if (!next.malloc)
		(void)resolve();
}

/*
 * The library is never unloaded before the process ends, and what others do in
 * their destructors, after ours, is to be seen: ours takes nothing away.
 */
__attribute__((destructor)) static void stay(void)
{
	waymark_module.state = 0;
}

/* ------------------------------------------------------------------ *
 * malloc, calloc, realloc, free
 * ------------------------------------------------------------------ */

static COLD void *traced_malloc(size_t size, void *caller)
{
	void *p;

	inside = true;
	p = next.malloc(size);
	trace_event(malloc, alloc, size, p, caller);
	inside = false;
	return p;
}

EXPORT void *malloc(size_t size)
{
	if (!READY(malloc))
		return arena_alloc(size, ALIGNMENT);
	if (trace_event_enabled(malloc, alloc) && !inside)
		return traced_malloc(size, CALLER);
	return next.malloc(size);
}

static COLD void traced_free(void *p)
{
	inside = true;
	trace_event(malloc, free, p);
	next.free(p);
	inside = false;
}

EXPORT void free(void *p)
{
	if (!READY(free)) /* from the arena, as nothing else was handed out yet */
		return;
	if (trace_event_enabled(malloc, free) && !inside)
		traced_free(p);
	else
		next.free(p);
}

static COLD void *traced_calloc(size_t n, size_t size, void *caller)
{
	void *p;

	inside = true;
	p = next.calloc(n, size);
	trace_event(malloc, calloc, n, size, p, caller);
	inside = false;
	return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;

	if (!READY(calloc)) {
		if (__builtin_mul_overflow(n, size, &bytes))
			bytes = SIZE_MAX; /* refused */
		return arena_alloc(bytes, ALIGNMENT);
	}
	if (trace_event_enabled(malloc, calloc) && !inside)
		return traced_calloc(n, size, CALLER);
	return next.calloc(n, size);
}

static COLD void *traced_realloc(void *old, size_t size, void *caller)
{
	void *p;

	inside = true;
	p = next.realloc(old, size);
	trace_event(malloc, realloc, old, size, p, caller);
	inside = false;
	return p;
}

/* While dlsym() is at work: old is of the arena or NULL. */
static void *arena_realloc(void *old, size_t size)
{
	void *p = arena_alloc(size, ALIGNMENT);
	size_t had;

	if (p && old) {
		memcpy(&had, (unsigned char *)old - sizeof(had), sizeof(had));
		memcpy(p, old, had < size ? had : size);
	}
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	if (!READY(realloc))
		return arena_realloc(old, size);
	if (trace_event_enabled(malloc, realloc) && !inside)
		return traced_realloc(old, size, CALLER);
	return next.realloc(old, size);
}

static COLD void *traced_reallocarray(void *old, size_t n, size_t size, void *caller)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX; /* more than there is: refused below */
	inside = true;
	p = next.reallocarray(old, n, size);
	trace_event(malloc, realloc, old, bytes, p, caller);
	inside = false;
	return p;
}

/* Recorded as the realloc that it is; libc's calls realloc in turn. */
EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	if (!READY(reallocarray)) {
		errno = ENOMEM;
		return NULL;
	}
	if (trace_event_enabled(malloc, realloc) && !inside)
		return traced_reallocarray(old, n, size, CALLER);
	return next.reallocarray(old, n, size);
}

/* ------------------------------------------------------------------ *
 * The aligned forms
 * ------------------------------------------------------------------ */

static void *page_aligned(size_t size)
{
	return arena_alloc(size, (size_t)sysconf(_SC_PAGESIZE));
}

/* The call behind a memalign event. posix_memalign's result goes to *ret_err. */
static void *call_aligned(enum aligned how, size_t alignment, size_t size, int *ret_err)
{
	void *p = NULL;

	switch (how) {
	case ALIGNED_ALLOC:
		return next.aligned_alloc(alignment, size);
	case POSIX_MEMALIGN:
		*ret_err = next.posix_memalign(&p, alignment, size);
		return *ret_err ? NULL : p;
	case MEMALIGN:
		return next.memalign(alignment, size);
	case VALLOC:
		return next.valloc(size);
	case PVALLOC:
		return next.pvalloc(size);
	}
	return NULL;
}

static COLD void *traced_aligned(enum aligned how, size_t alignment, size_t size, void *caller,
				 int *ret_err)
{
	void *p;

	inside = true;
	p = call_aligned(how, alignment, size, ret_err);
	trace_event(malloc, memalign, how, alignment, size, p, caller);
	inside = false;
	return p;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	if (!READY(aligned_alloc))
		return arena_alloc(size, alignment);
	if (trace_event_enabled(malloc, memalign) && !inside)
		return traced_aligned(ALIGNED_ALLOC, alignment, size, CALLER, NULL);
	return next.aligned_alloc(alignment, size);
}

EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p;
	int err = 0;

	if (!READY(posix_memalign)) {
		p = arena_alloc(size, alignment);
		if (p)
			*ret = p;
		return p ? 0 : ENOMEM;
	}
	if (!trace_event_enabled(malloc, memalign) || inside)
		return next.posix_memalign(ret, alignment, size);
	p = traced_aligned(POSIX_MEMALIGN, alignment, size, CALLER, &err);
	if (!err)
		*ret = p; /* which is left alone on failure */
	return err;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	if (!READY(memalign))
		return arena_alloc(size, alignment);
	if (trace_event_enabled(malloc, memalign) && !inside)
		return traced_aligned(MEMALIGN, alignment, size, CALLER, NULL);
	return next.memalign(alignment, size);
}

EXPORT void *valloc(size_t size)
{
	if (!READY(valloc))
		return page_aligned(size);
	if (trace_event_enabled(malloc, memalign) && !inside)
		return traced_aligned(VALLOC, (size_t)sysconf(_SC_PAGESIZE), size, CALLER, NULL);
	return next.valloc(size);
}

EXPORT void *pvalloc(size_t size)
{
	if (!READY(pvalloc))
		return page_aligned(size);
	if (trace_event_enabled(malloc, memalign) && !inside)
		return traced_aligned(PVALLOC, (size_t)sysconf(_SC_PAGESIZE), size, CALLER, NULL);
	return next.pvalloc(size);
}
