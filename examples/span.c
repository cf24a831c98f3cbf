/* SPDX-License-Identifier: MIT */
/*
 * span.c - spans record operations with a start and an end. A scope ends with its block; a begin
 * event and an end event are paired by an id, across functions and threads; a span records the id
 * of its parent.
 *
 *   waymark record -o /tmp/span -- ./span
 */
#include <pthread.h>
#include <stdio.h>

#include <waymark/tracepoint.h>

struct job {
	uint64_t span;
	unsigned number, result;
};

static unsigned collatz(unsigned n)
{
	unsigned steps = 0;

	trace_span(collatz, (u32, n, n)); /* the scope extends to the end of this function */
	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

/* Ends, in another thread, the span that main() began. */
static void *work(void *p)
{
	struct job *job = p;

	job->result = collatz(job->number);
	trace_span_end(job, job->span, (u32, result, job->result));
	return NULL;
}

int main(void)
{
	struct job jobs[3] = {{.number = 7}, {.number = 27}, {.number = 97}};
	pthread_t thread;

	trace_span(all_jobs);
	for (int i = 0; i < 3; i++) {
		jobs[i].span = trace_span_begin(job, (u32, number, jobs[i].number));
		if (pthread_create(&thread, NULL, work, &jobs[i]))
			return 1;
		pthread_join(thread, NULL);
		printf("%u takes %u steps\n", jobs[i].number, jobs[i].result);
	}
	return 0;
}
