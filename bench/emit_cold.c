/* SPDX-License-Identifier: MIT */
/*
 * emit_cold.c - the cost of an event with cold caches: before each event, data caches are filled
 * with other data and instruction caches with other instructions. Each event is timed alone with
 * the cycle counter; the time of a call of an empty function, measured in the same way, is
 * subtracted.
 */
#include <stdlib.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "emit.h"

#define DATA_BYTES (16u << 20) /* larger than a second-level cache */

#if defined(__x86_64__)
/* clang-format off */
__asm__(".pushsection .text.cold_jumps,\"ax\",@progbits\n"
	".balign 4096\n"
	".type bench_cold_jumps,@function\n"
	"bench_cold_jumps:\n"
	".rept 8192\n"
	"	jmp 1f\n"
	"	.balign 64\n"
	"1:\n"
	".endr\n"
	"	ret\n"
	".popsection\n");
/* clang-format on */
extern void bench_cold_jumps(void);

static uint64_t cycles(void)
{
	uint64_t t;

	_mm_lfence();
	t = __rdtsc();
	_mm_lfence();
	return t;
}
#else
static void bench_cold_jumps(void)
{
}

static uint64_t cycles(void)
{
	uint64_t t;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t));
	return t;
}
#endif

static unsigned char *data;

static void make_cold(void)
{
	for (uint32_t i = 0; i < DATA_BYTES; i += 64)
		data[i]++;
	bench_cold_jumps();
}

static double ns_per_cycle(void)
{
	uint64_t t0 = emit_now_ns(), c0 = cycles(), t1;

	while ((t1 = emit_now_ns()) - t0 < 20000000)
		;
	return (double)(t1 - t0) / (double)(cycles() - c0);
}

static double cold(emit_loop *volatile loop, double scale)
{
	uint64_t t;

	make_cold();
	t = cycles();
	loop(1);
	return (double)(cycles() - t) * scale;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Measures the cost of timing: the median of many calls of an empty function. */
static double cold_nothing(double scale)
{
	double t[101];

	for (int i = 0; i < 101; i++)
		t[i] = cold(nothing, scale);
	qsort(t, 101, sizeof(t[0]), by_value);
	return t[50];
}

void emit_cold(unsigned rounds, bool with_peer)
{
	double scale = ns_per_cycle(), empty;

	data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return;
	empty = cold_nothing(scale);
	for (unsigned i = 0; i < rounds; i++) {
		emit_say("emit_cold", "ours", cold(ours_2int, scale) - empty);
		if (with_peer)
			emit_say("emit_cold", "peer", cold(peer_2int, scale) - empty);
	}
	(void)munmap(data, DATA_BYTES);
}
