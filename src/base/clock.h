/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the clocks a trace can run on, and reading them.
 */
#ifndef WM_BASE_CLOCK_H
#define WM_BASE_CLOCK_H

#include <stdint.h>

#define WM_NS_PER_SECOND 1000000000

enum wm_clock_kind {
	WM_CLOCK_MONOTONIC = 0, /* CLOCK_MONOTONIC, nanoseconds */
	WM_CLOCK_CYCLES = 1,    /* x86: invariant TSC; aarch64: CNTVCT_EL0 */
};

/* The cycle counter, reliable or not. No system call. */
static inline uint64_t wm_clock_cycles(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "waymark: no cycle counter known for this machine"
#endif
}

/*
 * The clock for this machine's events: CYCLES when the counter is invariant and the kernel trusts
 * it. Tool side (reads /proc and /sys).
 */
enum wm_clock_kind wm_clock_best(void);

/* Host clocks in nanoseconds. Tool side. */
uint64_t wm_clock_monotonic_ns(void);
uint64_t wm_clock_monotonic_raw_ns(void);
uint64_t wm_clock_realtime_ns(void);

/* Reads a clock of that kind. Tool side. */
uint64_t wm_clock_read(enum wm_clock_kind kind);

#endif
