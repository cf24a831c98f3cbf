/* SPDX-License-Identifier: MIT */
/*
 * pthread.c - libwaymark-pthread.so: records which thread of an unmodified program waits for which
 * lock. When it is preloaded, its functions for mutexes, read-write locks, condition variables and
 * thread creation come before libc's.
 *
 * It records a request before the call and an acquire with its result after it; a release, a signal
 * and a broadcast before the call, so that no lock appears acquired before it appears released. A
 * condition wait releases its mutex between cond_wait_begin and cond_wait_end; libc's operations on
 * the mutex meanwhile are not recorded. Locks inside libc are not recorded, because libc does not
 * call itself through these names.
 *
 * Dormant, a call costs the site plus one load and a jump; dlsym() runs once. Every result is
 * libc's; errno is not changed. A cancelled wait ends with ECANCELED. Knows only the public header.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <waymark/tracepoint.h>

/*
 * pthread_cleanup_push() uses setjmp; gcc warns about variables that live across it, but these
 * never change.
 */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#define EXPORT __attribute__((visibility("default")))
#define COLD   __attribute__((noinline, cold))
#define CALLER __builtin_return_address(0)

enum how { LOCK, TRYLOCK, TIMEDLOCK, CLOCKLOCK };
#define HOW(how)                                                                                   \
	enumeration, how, u8, how, ("lock", LOCK), ("trylock", TRYLOCK), ("timedlock", TIMEDLOCK), \
	    ("clocklock", CLOCKLOCK)
WAYMARK_EVENT(pthread, mutex_request,
	      WAYMARK_ARGS(const void *, mutex, enum how, how, void *, caller),
	      WAYMARK_FIELDS((ptr, mutex, mutex), (HOW(how)), (ptr, caller, caller)));
WAYMARK_EVENT(pthread, mutex_acquire, WAYMARK_ARGS(const void *, mutex, enum how, how, int, result),
	      WAYMARK_FIELDS((ptr, mutex, mutex), (HOW(how)), (i32, result, result)));
WAYMARK_EVENT(pthread, mutex_release, WAYMARK_ARGS(const void *, mutex),
	      WAYMARK_FIELDS((ptr, mutex, mutex)));
WAYMARK_EVENT(pthread, mutex_release_failed, WAYMARK_ARGS(const void *, mutex, int, result),
	      WAYMARK_FIELDS((ptr, mutex, mutex), (i32, result, result)));

WAYMARK_EVENT(pthread, rwlock_request,
	      WAYMARK_ARGS(const void *, rwlock, int, write, enum how, how, void *, caller),
	      WAYMARK_FIELDS((ptr, rwlock, rwlock), (boolean, write, write), (HOW(how)),
			     (ptr, caller, caller)));
WAYMARK_EVENT(pthread, rwlock_acquire,
	      WAYMARK_ARGS(const void *, rwlock, int, write, enum how, how, int, result),
	      WAYMARK_FIELDS((ptr, rwlock, rwlock), (boolean, write, write), (HOW(how)),
			     (i32, result, result)));
WAYMARK_EVENT(pthread, rwlock_release, WAYMARK_ARGS(const void *, rwlock),
	      WAYMARK_FIELDS((ptr, rwlock, rwlock)));
WAYMARK_EVENT(pthread, rwlock_release_failed, WAYMARK_ARGS(const void *, rwlock, int, result),
	      WAYMARK_FIELDS((ptr, rwlock, rwlock), (i32, result, result)));

WAYMARK_EVENT(pthread, cond_wait_begin,
	      WAYMARK_ARGS(const void *, cond, const void *, mutex, void *, caller),
	      WAYMARK_FIELDS((ptr, cond, cond), (ptr, mutex, mutex), (ptr, caller, caller)));
WAYMARK_EVENT(pthread, cond_wait_end,
	      WAYMARK_ARGS(const void *, cond, const void *, mutex, int, result),
	      WAYMARK_FIELDS((ptr, cond, cond), (ptr, mutex, mutex), (i32, result, result)));
WAYMARK_EVENT(pthread, cond_signal, WAYMARK_ARGS(const void *, cond),
	      WAYMARK_FIELDS((ptr, cond, cond)));
WAYMARK_EVENT(pthread, cond_broadcast, WAYMARK_ARGS(const void *, cond),
	      WAYMARK_FIELDS((ptr, cond, cond)));

/*
 * `birth` connects a create event and a start event within a process: a number counted from 1; 0 if
 * there was no memory to pass it to the new thread. The creator cannot record the pthread_t,
 * because the new thread may already have freed the memory that holds it.
 */
WAYMARK_EVENT(pthread, thread_create,
	      WAYMARK_ARGS(uint64_t, birth, const void *, routine, int, result, void *, caller),
	      WAYMARK_FIELDS((u64, birth, birth), (ptr, routine, routine), (i32, result, result),
			     (ptr, caller, caller)));
WAYMARK_EVENT(pthread, thread_start,
	      WAYMARK_ARGS(uint64_t, birth, pthread_t, thread, const void *, routine),
	      WAYMARK_FIELDS((u64, birth, birth), (x64, thread, thread), (ptr, routine, routine)));
WAYMARK_EVENT(pthread, thread_exit, WAYMARK_ARGS(pthread_t, thread),
	      WAYMARK_FIELDS((x64, thread, thread)));

/* ------------------------------------------------------------------ *
 * The next definitions
 * ------------------------------------------------------------------ */

/*
 * x86-64 has two versions of condition variables. dlsym() may choose the older one, which was
 * replaced in 2003 and has a different layout.
 */
#if defined(__x86_64__)
#define COND "GLIBC_2.3.2"
#else
#define COND NULL
#endif

#define FUNCTIONS(X)                                                                               \
	X(pthread_mutex_lock, NULL)                                                                \
	X(pthread_mutex_trylock, NULL)                                                             \
	X(pthread_mutex_timedlock, NULL)                                                           \
	X(pthread_mutex_clocklock, NULL)                                                           \
	X(pthread_mutex_unlock, NULL)                                                              \
	X(pthread_rwlock_rdlock, NULL)                                                             \
	X(pthread_rwlock_tryrdlock, NULL)                                                          \
	X(pthread_rwlock_timedrdlock, NULL)                                                        \
	X(pthread_rwlock_clockrdlock, NULL)                                                        \
	X(pthread_rwlock_wrlock, NULL)                                                             \
	X(pthread_rwlock_trywrlock, NULL)                                                          \
	X(pthread_rwlock_timedwrlock, NULL)                                                        \
	X(pthread_rwlock_clockwrlock, NULL)                                                        \
	X(pthread_rwlock_unlock, NULL)                                                             \
	X(pthread_cond_wait, COND)                                                                 \
	X(pthread_cond_timedwait, COND)                                                            \
	X(pthread_cond_clockwait, NULL)                                                            \
	X(pthread_cond_signal, COND)                                                               \
	X(pthread_cond_broadcast, COND)                                                            \
	X(pthread_create, NULL)

#define MEMBER(name, version) __typeof__(name) *name;
static struct {
	FUNCTIONS(MEMBER)
} next;            /* every locks_resolve() writes the same values */
static bool ready; /* `next` is complete */

static int locks_missing(void)
{
	return ENOSYS; /* this libc is older than the program */
}

static void locks_find(void *ret_function, const char *name, const char *version)
{
	void *p = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	int (*none)(void) = locks_missing;

	if (!p)
		p = dlsym(RTLD_NEXT, name);
	if (!p)
		memcpy(&p, &none, sizeof(p));
	memcpy(ret_function, &p, sizeof(p));
}

/*
 * Runs at the first call, which may come before any constructor. It also registers the sites, so
 * that calls in libraries' constructors are recorded; but not before libc has its environment,
 * which the runtime reads to find the recorder.
 */
static COLD void locks_resolve(void)
{
	int saved = errno;

#define FIND(name, version) locks_find(&next.name, #name, version);
	FUNCTIONS(FIND)
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	if (environ)
		waymark_module_constructor();
	errno = saved;
}

WAYMARK_INLINE void prepare(void)
{
	if (__builtin_expect(!__atomic_load_n(&ready, __ATOMIC_ACQUIRE), 0))
		locks_resolve();
}

__attribute__((constructor(101))) static void locks_constructor(void)
{
	prepare();
}

/*
 * Prevents the module's destructor from unregistering it: this library stays loaded until the
 * process ends, and calls made by destructors that run later must be recorded.
 */
__attribute__((destructor)) static void locks_stay(void)
{
	waymark_module.state = 0;
}

/* ------------------------------------------------------------------ *
 * Mutexes
 * ------------------------------------------------------------------ */

static COLD int traced_mutex(pthread_mutex_t *m, enum how how, clockid_t clock,
			     const struct timespec *until, void *caller)
{
	int result;

	trace_event(pthread, mutex_request, m, how, caller);
	switch (how) {
	case LOCK:
		result = next.pthread_mutex_lock(m);
		break;
	case TRYLOCK:
		result = next.pthread_mutex_trylock(m);
		break;
	case TIMEDLOCK:
		result = next.pthread_mutex_timedlock(m, until);
		break;
	default:
		result = next.pthread_mutex_clocklock(m, clock, until);
	}
	trace_event(pthread, mutex_acquire, m, how, result);
	return result;
}

WAYMARK_INLINE bool mutex_on(void)
{
	return trace_event_enabled(pthread, mutex_request) ||
	       trace_event_enabled(pthread, mutex_acquire);
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
	prepare();
	if (mutex_on())
		return traced_mutex(m, LOCK, 0, NULL, CALLER);
	return next.pthread_mutex_lock(m);
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *m)
{
	prepare();
	if (mutex_on())
		return traced_mutex(m, TRYLOCK, 0, NULL, CALLER);
	return next.pthread_mutex_trylock(m);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
	prepare();
	if (mutex_on())
		return traced_mutex(m, TIMEDLOCK, 0, until, CALLER);
	return next.pthread_mutex_timedlock(m, until);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock,
				   const struct timespec *until)
{
	prepare();
	if (mutex_on())
		return traced_mutex(m, CLOCKLOCK, clock, until, CALLER);
	return next.pthread_mutex_clocklock(m, clock, until);
}

static COLD int traced_mutex_unlock(pthread_mutex_t *m)
{
	int result;

	trace_event(pthread, mutex_release, m);
	result = next.pthread_mutex_unlock(m);
	if (result)
		trace_event(pthread, mutex_release_failed, m, result);
	return result;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *m)
{
	prepare();
	if (trace_event_enabled(pthread, mutex_release))
		return traced_mutex_unlock(m);
	return next.pthread_mutex_unlock(m);
}

/* ------------------------------------------------------------------ *
 * Read-write locks
 * ------------------------------------------------------------------ */

static int call_rwlock(pthread_rwlock_t *l, bool write, enum how how, clockid_t clock,
		       const struct timespec *until)
{
	switch (how) {
	case LOCK:
		return write ? next.pthread_rwlock_wrlock(l) : next.pthread_rwlock_rdlock(l);
	case TRYLOCK:
		return write ? next.pthread_rwlock_trywrlock(l) : next.pthread_rwlock_tryrdlock(l);
	case TIMEDLOCK:
		return write ? next.pthread_rwlock_timedwrlock(l, until)
			     : next.pthread_rwlock_timedrdlock(l, until);
	default:
		return write ? next.pthread_rwlock_clockwrlock(l, clock, until)
			     : next.pthread_rwlock_clockrdlock(l, clock, until);
	}
}

static COLD int traced_rwlock(pthread_rwlock_t *l, bool write, enum how how, clockid_t clock,
			      const struct timespec *until, void *caller)
{
	int result;

	trace_event(pthread, rwlock_request, l, write, how, caller);
	result = call_rwlock(l, write, how, clock, until);
	trace_event(pthread, rwlock_acquire, l, write, how, result);
	return result;
}

WAYMARK_INLINE bool rwlock_on(void)
{
	return trace_event_enabled(pthread, rwlock_request) ||
	       trace_event_enabled(pthread, rwlock_acquire);
}

#define DEFINE_RWLOCK(name, write, how, clock, until, parameters, arguments)                       \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		prepare();                                                                         \
		if (rwlock_on())                                                                   \
			return traced_rwlock(l, write, how, clock, until, CALLER);                 \
		return next.name arguments;                                                        \
	}
#define TIMED   (pthread_rwlock_t * l, const struct timespec *until)
#define CLOCKED (pthread_rwlock_t * l, clockid_t clock, const struct timespec *until)

DEFINE_RWLOCK(pthread_rwlock_rdlock, false, LOCK, 0, NULL, (pthread_rwlock_t * l), (l))
DEFINE_RWLOCK(pthread_rwlock_wrlock, true, LOCK, 0, NULL, (pthread_rwlock_t * l), (l))
DEFINE_RWLOCK(pthread_rwlock_tryrdlock, false, TRYLOCK, 0, NULL, (pthread_rwlock_t * l), (l))
DEFINE_RWLOCK(pthread_rwlock_trywrlock, true, TRYLOCK, 0, NULL, (pthread_rwlock_t * l), (l))
DEFINE_RWLOCK(pthread_rwlock_timedrdlock, false, TIMEDLOCK, 0, until, TIMED, (l, until))
DEFINE_RWLOCK(pthread_rwlock_timedwrlock, true, TIMEDLOCK, 0, until, TIMED, (l, until))
DEFINE_RWLOCK(pthread_rwlock_clockrdlock, false, CLOCKLOCK, clock, until, CLOCKED,
	      (l, clock, until))
DEFINE_RWLOCK(pthread_rwlock_clockwrlock, true, CLOCKLOCK, clock, until, CLOCKED, (l, clock, until))

static COLD int traced_rwlock_unlock(pthread_rwlock_t *l)
{
	int result;

	trace_event(pthread, rwlock_release, l);
	result = next.pthread_rwlock_unlock(l);
	if (result)
		trace_event(pthread, rwlock_release_failed, l, result);
	return result;
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	prepare();
	if (trace_event_enabled(pthread, rwlock_release))
		return traced_rwlock_unlock(l);
	return next.pthread_rwlock_unlock(l);
}

/* ------------------------------------------------------------------ *
 * Condition variables
 * ------------------------------------------------------------------ */

struct wait {
	pthread_cond_t *cond;
	pthread_mutex_t *mutex;
};

static void wait_cancelled(void *p)
{
	const struct wait *w = p;

	trace_event(pthread, cond_wait_end, w->cond, w->mutex, ECANCELED);
}

/* Performs a wait; LOCK means without a timeout. */
static COLD int traced_wait(pthread_cond_t *c, pthread_mutex_t *m, enum how how, clockid_t clock,
			    const struct timespec *until, void *caller)
{
	struct wait w = {c, m};
	int result;

	trace_event(pthread, cond_wait_begin, c, m, caller);
	pthread_cleanup_push(wait_cancelled, &w);
	if (how == LOCK)
		result = next.pthread_cond_wait(c, m);
	else if (how == TIMEDLOCK)
		result = next.pthread_cond_timedwait(c, m, until);
	else
		result = next.pthread_cond_clockwait(c, m, clock, until);
	pthread_cleanup_pop(0);
	trace_event(pthread, cond_wait_end, c, m, result);
	return result;
}

WAYMARK_INLINE bool wait_on(void)
{
	return trace_event_enabled(pthread, cond_wait_begin) ||
	       trace_event_enabled(pthread, cond_wait_end);
}

EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	prepare();
	if (wait_on())
		return traced_wait(c, m, LOCK, 0, NULL, CALLER);
	return next.pthread_cond_wait(c, m);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
				  const struct timespec *until)
{
	prepare();
	if (wait_on())
		return traced_wait(c, m, TIMEDLOCK, 0, until, CALLER);
	return next.pthread_cond_timedwait(c, m, until);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *until)
{
	prepare();
	if (wait_on())
		return traced_wait(c, m, CLOCKLOCK, clock, until, CALLER);
	return next.pthread_cond_clockwait(c, m, clock, until);
}

EXPORT int pthread_cond_signal(pthread_cond_t *c)
{
	prepare();
	trace_event(pthread, cond_signal, c);
	return next.pthread_cond_signal(c);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *c)
{
	prepare();
	trace_event(pthread, cond_broadcast, c);
	return next.pthread_cond_broadcast(c);
}

/* ------------------------------------------------------------------ *
 * Threads
 * ------------------------------------------------------------------ */

/*
 * Passed to a new thread. It has its own page, because a malloc here would be recorded as the
 * program's.
 */
struct newborn {
	void *(*routine)(void *);
	void *argument;
	uint64_t birth;
};

static void thread_ends(void *unused)
{
	(void)unused;
	trace_event(pthread, thread_exit, pthread_self());
}

/* Calls the thread's routine, and records how it ends: return, exit or cancellation. */
static void *thread_main(void *p)
{
	struct newborn n = *(struct newborn *)p;
	void *result;

	(void)munmap(p, sizeof(n)); /* unmaps a whole page; a failure only leaks the page */
	trace_event(pthread, thread_start, n.birth, pthread_self(), (void *)(uintptr_t)n.routine);
	pthread_cleanup_push(thread_ends, NULL);
	result = n.routine(n.argument);
	pthread_cleanup_pop(1);
	return result;
}

/* Returns NULL when out of memory; the thread's start and exit are then not recorded. */
static struct newborn *newborn(void *(*routine)(void *), void *argument)
{
	int saved = errno;
	struct newborn *n =
	    mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	if (n == MAP_FAILED)
		return NULL;
	n->routine = routine;
	n->argument = argument;
	return n;
}

static COLD int traced_create(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*routine)(void *), void *argument, void *caller)
{
	static uint64_t births;
	struct newborn *n = newborn(routine, argument);
	uint64_t birth = 0;
	int result;

	if (n) {
		birth = n->birth = __atomic_add_fetch(&births, 1, __ATOMIC_RELAXED);
		result = next.pthread_create(thread, attr, thread_main, n);
		if (result)
			(void)munmap(n, sizeof(*n));
	} else {
		result = next.pthread_create(thread, attr, routine, argument);
	}
	trace_event(pthread, thread_create, birth, (void *)(uintptr_t)routine, result, caller);
	return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
			  void *argument)
{
	prepare();
	if (trace_event_enabled(pthread, thread_create) ||
	    trace_event_enabled(pthread, thread_start) || trace_event_enabled(pthread, thread_exit))
		return traced_create(thread, attr, routine, argument, CALLER);
	return next.pthread_create(thread, attr, routine, argument);
}
