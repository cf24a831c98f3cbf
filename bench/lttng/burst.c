/* SPDX-License-Identifier: MIT */
/*
 * burst.c - bench-burst N: emits N events of LTTng-UST from two threads, each on its own processor
 * if the machine has two. Every fourth event has four fields of four kinds, the others have two
 * integers. bench/read reads them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "lttng/provider.h"

struct half {
	long from, to;
	int cpu;
};

static void *emit(void *data)
{
	static const char *const words[] = {"select", "insert into orders", "ok", "x"};
	struct half *h = data;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(h->cpu, &one);
	/* If there is only one processor, they share it. */
	(void)sched_setaffinity(0, sizeof(one), &one);
	for (long i = h->from; i < h->to; i++) {
		if (i % 4 == 3)
			lttng_ust_tracepoint(bench, on_4mixed, (int)i, i * 1000003,
					     words[i / 4 % 4], (double)i / 8);
		else
			lttng_ust_tracepoint(bench, on_2int, (int)i, -(int)(i % 1000));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	struct half halves[2] = {{0, n / 2, 0}, {n / 2, n, 1}};
	pthread_t other;

	if (pthread_create(&other, NULL, emit, &halves[1]))
		return 1;
	(void)emit(&halves[0]);
	pthread_join(other, NULL);
	return 0;
}
