/* SPDX-License-Identifier: MIT */
/*
 * emit_ours.c - the loops over waymark's marks, and the baselines: an rdtsc with the stores of a
 * record, and write(2) of the same text.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define WAYMARK_PROVIDER bench /* the provider of trace_printf */
#include <waymark/tracepoint.h>
#if __has_include(<waymark/printf.h>)
#include <waymark/printf.h>
#define HAVE_PRINTF 1
#endif

#include "emit.h"

#define TWO(name)                                                                                  \
	WAYMARK_EVENT(bench, name, WAYMARK_ARGS(int, a, int, b),                                   \
		      WAYMARK_FIELDS((i32, a, a), (i32, b, b)));
#define MANY(n) TWO(on_m##n)

TWO(on_2int)
TWO(filtered)
TWO(off_2int)
EMIT_64(MANY)
WAYMARK_EVENT(bench, on_4mixed, WAYMARK_ARGS(int, a, long, b, const char *, s, double, d),
	      WAYMARK_FIELDS((i32, a, a), (i64, b, b), (str, s, s), (f64, d, d)));
WAYMARK_EVENT(bench, on_noclock, WAYMARK_ARGS(int, a, int, b),
	      WAYMARK_FIELDS((i32, a, a), (i32, b, b)), WAYMARK_NOCLOCK);

const char *emit_text = "ten chars!";

EMIT_LOOP(ours_2int, trace_event(bench, on_2int, (int)i, (int)(2 * i)))
EMIT_LOOP(ours_4mixed,
	  trace_event(bench, on_4mixed, (int)i, (long)i * 3, emit_text, (double)i * 0.5))
EMIT_LOOP(ours_noclock, trace_event(bench, on_noclock, (int)i, (int)(2 * i)))
EMIT_LOOP(ours_filtered, trace_event(bench, filtered, (int)i, (int)(2 * i)))

#define SITE(m) trace_event(bench, on_m##m, (int)i, (int)(2 * i));
EMIT_LOOP(ours_64sites, EMIT_64(SITE) i += 63)

#define DORMANT(m)                                                                                 \
	trace_event(bench, off_2int, (int)i, (int)(2 * i));                                        \
	EMIT_WORK(i);
EMIT_LOOP(ours_dormant, EMIT_64(DORMANT) i += 63)

#define WORK(m) EMIT_WORK(i);
EMIT_LOOP(bare_dormant, EMIT_64(WORK) i += 63)

EMIT_LOOP(nothing, EMIT_WORK(i))

bool ours_on(void)
{
	return trace_event_enabled(bench, on_2int);
}

/* ------------------------------------------------------------------ *
 * The baseline "bare": a clock read and the stores of a record, into as much shared memory as the
 * buffers have. ------------------------------------------------------------------ */
#define BARE_BYTES (64u << 20)
static uint64_t *bare, *bare_at, *bare_end;
static int text_fd = -1;

int bare_open(void)
{
	int fd = memfd_create("bench-bare", MFD_CLOEXEC);
	void *map;

	if (fd < 0 || ftruncate(fd, BARE_BYTES))
		return -errno;
	map = mmap(NULL, BARE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -errno;
	bare = bare_at = map;
	bare_end = bare + BARE_BYTES / 8;
	text_fd = memfd_create("bench-text", MFD_CLOEXEC);
	return text_fd < 0 ? -errno : 0;
}

static inline uint64_t clock_cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}

__attribute__((aligned(64), noinline)) void bare_2int(uint32_t n)
{
	volatile uint64_t *p = bare_at;

	for (uint32_t i = 0; i < n; i++) {
		p[0] = clock_cycles() << 16 | 7;
		((volatile uint32_t *)p)[2] = i;
		((volatile uint32_t *)p)[3] = 2 * i;
		p += 2;
		if (p >= bare_end)
			p = bare;
	}
	bare_at = (uint64_t *)(uintptr_t)p;
}

/* ------------------------------------------------------------------ *
 * Text
 * ------------------------------------------------------------------ */
/* Writes text that was formatted before, so that printf is compared with the system call alone. */
void write_text(uint32_t n)
{
	static const char text[] = "request 1234567 took 42 us\n";

	(void)lseek(text_fd, 0, SEEK_SET);
	for (uint32_t i = 0; i < n; i++)
		if (write(text_fd, text, sizeof(text) - 1) < 0)
			return;
}

#ifdef HAVE_PRINTF
const bool emit_have_printf = true;
EMIT_LOOP(ours_printf, trace_printf("request %d took %d us\n", (int)i + 1234567, 42))
#else
const bool emit_have_printf;
void ours_printf(uint32_t n)
{
}
#endif
