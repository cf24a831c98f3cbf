/* SPDX-License-Identifier: MIT */
/*
 * kinds.c - kinds MILLISECONDS: three threads that each emit one kind of event, at a low rate, for
 * that time, so that recorders with different rules can be distinguished. Prints its pid first.
 * SIGTERM ends it early.
 */
#include <pthread.h>
#include <signal.h>

#include "torture.h"

static struct torture_tally *tally;
static uint64_t until;
static volatile sig_atomic_t stop;

static void *emit(void *kind)
{
	uint32_t who = torture_slot(tally, TORTURE_LOSSLESS);

	tally->slot[who].kind = *(char *)kind;
	while (!stop && torture_now_ns() < until) {
		for (int i = 0; i < 20; i++) {
			if (*(char *)kind == 'f')
				torture_fixed(tally, who);
			else if (*(char *)kind == 't')
				torture_text(tally, who);
			else
				torture_bytes(tally, who);
		}
		usleep(200);
	}
	return NULL;
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

int main(int argc, char **argv)
{
	char kind[] = "ftb";
	pthread_t thread[3];

	tally = torture_map();
	until = torture_now_ns() + torture_arg(argc, argv, 1, 1000) * 1000000ull;
	signal(SIGTERM, on_term);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, emit, &kind[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
