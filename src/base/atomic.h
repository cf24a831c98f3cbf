/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - operations on memory shared by threads or processes, with the memory order in the
 * name. For ring, runtime and base only; thin wrappers over the compiler's builtins, so they work
 * on any memory and need no library on the supported machines (aarch64: build with
 * -mno-outline-atomics).
 *
 * The macros take a pointer to an integer of 1, 2, 4 or 8 bytes, naturally aligned. wm_cas_* return
 * true when they stored; otherwise *expected_ptr holds the value found, so a loop need not reload
 * it.
 */
#ifndef WM_BASE_ATOMIC_H
#define WM_BASE_ATOMIC_H

#define wm_load_relaxed(ptr) __atomic_load_n((ptr), __ATOMIC_RELAXED)
#define wm_load_acquire(ptr) __atomic_load_n((ptr), __ATOMIC_ACQUIRE)

#define wm_store_relaxed(ptr, v) __atomic_store_n((ptr), (v), __ATOMIC_RELAXED)
#define wm_store_release(ptr, v) __atomic_store_n((ptr), (v), __ATOMIC_RELEASE)

#define wm_exchange_acq_rel(ptr, v) __atomic_exchange_n((ptr), (v), __ATOMIC_ACQ_REL)

/* These return the old value. */
#define wm_add_relaxed(ptr, v) __atomic_fetch_add((ptr), (v), __ATOMIC_RELAXED)
#define wm_add_release(ptr, v) __atomic_fetch_add((ptr), (v), __ATOMIC_RELEASE)

/*
 * Strong compare-and-swap. A failed one has acquire order, so data published with the value that it
 * loaded may be read.
 */
#define wm_cas_acq_rel(ptr, expected_ptr, v)                                                       \
	__atomic_compare_exchange_n((ptr), (expected_ptr), (v), 0, __ATOMIC_ACQ_REL,               \
				    __ATOMIC_ACQUIRE)

/*
 * Fences order relaxed accesses around them. ThreadSanitizer does not model
 * them, so code that needs one keeps the data it guards in atomic accesses.
 */
#define wm_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define wm_fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)

/* A compiler barrier: orders accesses between this thread and its own signal handlers. */
#define wm_fence_signal() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static inline void wm_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("pause");
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
