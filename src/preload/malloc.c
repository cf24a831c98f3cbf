/* SPDX-License-Identifier: MIT */
/*
 * malloc.c - libwaymark-malloc.so: records an unmodified program's allocations. When it is
 * preloaded, its functions come before the allocator's in the symbol search order; they call the
 * functions of the next allocator, libc's or another one.
 *
 * It records each call that the program and its libraries make, with the result. alloc, calloc,
 * realloc and memalign are recorded after the allocator has returned, free before it is called, so
 * that no pointer appears allocated before it appears freed; the only exception is realloc's old
 * pointer, which another thread may get before realloc returns. Calls that the allocator makes
 * while it serves a recorded call are not recorded (`inside`).
 *
 * Dormant, a call costs the site plus one load and a jump. dlsym() runs once, at the first call,
 * which may come before any constructor. dlsym() may itself allocate: a small arena serves these
 * calls.
 *
 * Knows only the public header. errno stays as the allocator set it.
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
 * The next allocator's functions. Every malloc_resolve() writes the same values, for all functions
 * or none, except reallocarray and pvalloc, which not every libc has.
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

/*
 * A per-thread variable that is never allocated on demand; possible because the library is loaded
 * at program start.
 */
#define THREAD static __thread __attribute__((tls_model("initial-exec")))
THREAD bool resolving; /* this thread is in dlsym(), so its allocations come from the arena */
THREAD bool inside;    /* this thread is in a recorded call, which covers nested calls */

/* ------------------------------------------------------------------ *
 * The arena: serves dlsym()'s allocations. Memory is never reused; libc
 * allocates a few hundred bytes at most, newer versions none.
 * ------------------------------------------------------------------ */
#define ARENA_BYTES 16384u
#define ALIGNMENT   16u

static unsigned char arena[ARENA_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t arena_used;

static bool in_arena(const void *p)
{
	return (uintptr_t)p - (uintptr_t)arena < ARENA_BYTES;
}

/* The memory is zero, because it is never reused; the size is stored before it, for realloc(). */
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

/* Once the arena has been used, wrappers replace the real functions. */
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

static void malloc_find(void *ret_function, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(ret_function, &p, sizeof(p));
}

static void find_all(void)
{
	malloc_find(&next.calloc, "calloc");
	malloc_find(&next.reallocarray, "reallocarray");
	malloc_find(&next.aligned_alloc, "aligned_alloc");
	malloc_find(&next.posix_memalign, "posix_memalign");
	malloc_find(&next.memalign, "memalign");
	malloc_find(&next.valloc, "valloc");
	malloc_find(&next.pvalloc, "pvalloc");
	malloc_find(&real_free, "free");
	malloc_find(&real_realloc, "realloc");
	malloc_find(&next.malloc, "malloc");
	next.realloc = real_realloc;
	next.free = real_free;
	if (__atomic_load_n(&arena_used, __ATOMIC_RELAXED)) {
		next.realloc = careful_realloc;
		next.free = careful_free;
	}
}

/*
 * Runs before the first call to the next allocator. Returns false when this thread is inside
 * dlsym() and the caller must use the arena. The process has only one thread at that time, because
 * creating another one allocates. The sites are also registered here, otherwise allocations in
 * libraries' constructors would be missed; but not before libc has its environment, which the
 * runtime reads to find the recorder.
 */
static COLD bool malloc_resolve(void)
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

#define READY(function)                                                                            \
	(__builtin_expect(next.function != NULL, 1) || (malloc_resolve() && next.function))

/* Ensures that malloc_resolve() has run before main(); usually an earlier call has seen to that. */
__attribute__((constructor(101))) static void malloc_constructor(void)
{
	if (!next.malloc)
		(void)malloc_resolve();
}

/*
 * Prevents the module's destructor from unregistering it: this library stays loaded until the
 * process ends, and allocations by destructors that run later must be recorded.
 */
__attribute__((destructor)) static void malloc_stay(void)
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
	/*
	 * READY is false: the memory is from the arena, because no other has been handed out yet.
	 */
	if (!READY(free))
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

/* A realloc inside dlsym(): `old` is from the arena or NULL. */
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
		bytes = SIZE_MAX; /* larger than the address space, so it is refused below */
	inside = true;
	p = next.reallocarray(old, n, size);
	trace_event(malloc, realloc, old, bytes, p, caller);
	inside = false;
	return p;
}

/* Recorded as a realloc, because libc's reallocarray calls realloc. */
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

/* The call that a memalign event records. posix_memalign's result goes to *ret_err. */
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
		*ret = p; /* left unchanged on failure */
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
