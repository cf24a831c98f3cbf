/* SPDX-License-Identifier: MIT */
/*
 * emit_threads.c - measures whether two threads on two processors emit twice as much as one. Each
 * round takes the best of a few bursts of each kind: one thread alone on either processor, and both
 * together, from the first begin to the last end.
 */
#include <pthread.h>
#include <sched.h>

#include "emit.h"

#define EVENTS 50000u
#define TRIES  6

struct runner {
	emit_loop *loop;
	int cpu;
	unsigned nr; /* number of threads that start together */
	uint64_t begin, end;
};

static unsigned waiting;

static void *run(void *data)
{
	struct runner *r = data;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(r->cpu, &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	r->loop(1000); /* warms its first chunk and its caches */
	(void)__atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) < r->nr)
		;
	r->begin = emit_now_ns();
	r->loop(EVENTS);
	r->end = emit_now_ns();
	return NULL;
}

/* Returns the events per second of `nr` threads, on processor `first` and the next. */
static double throughput(emit_loop *loop, unsigned nr, unsigned first)
{
	struct runner r[2] = {{loop, emit_cpus[first], nr, 0, 0},
			      {loop, emit_cpus[!first], nr, 0, 0}};
	uint64_t begin = UINT64_MAX, end = 0;
	pthread_t t[2];

	__atomic_store_n(&waiting, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < nr; i++)
		if (pthread_create(&t[i], NULL, run, &r[i]))
			return 0;
	for (unsigned i = 0; i < nr; i++) {
		pthread_join(t[i], NULL);
		begin = r[i].begin < begin ? r[i].begin : begin;
		end = r[i].end > end ? r[i].end : end;
	}
	return (double)nr * EVENTS * 1e9 / (double)(end - begin);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double scaling(emit_loop *loop)
{
	double alone[2] = {0, 0}, together = 0;

	for (int i = 0; i < TRIES; i++) {
		for (unsigned cpu = 0; cpu < 2; cpu++)
			alone[cpu] = larger(alone[cpu], throughput(loop, 1, cpu));
		together = larger(together, throughput(loop, 2, 0));
	}
	return 2 * together / (alone[0] + alone[1]);
}

void emit_threads(unsigned rounds, bool with_peer)
{
	for (unsigned i = 0; i < rounds; i++) {
		emit_say("emit_2threads", "ours", scaling(ours_2int));
		if (with_peer)
			emit_say("emit_2threads", "peer", scaling(peer_2int));
	}
}
