/* SPDX-License-Identifier: MIT */
/*
 * enable_target.c - two threads that run through 10,000 sites until standard
 * input ends. Then it prints how many sites they passed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "sites.h"

static int stop;

static void *run(void *data)
{
	uint64_t *passed = data;
	int a = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		run_sites_0(++a);
		run_sites_1000(a);
		run_sites_2000(a);
		run_sites_3000(a);
		run_sites_4000(a);
		run_sites_5000(a);
		run_sites_6000(a);
		run_sites_7000(a);
		run_sites_8000(a);
		run_sites_9000(a);
		__atomic_store_n(passed, *passed + NR_SITES, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	static uint64_t passed[2][8];
	pthread_t t[2];
	char c;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, passed[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		while (!__atomic_load_n(passed[i], __ATOMIC_RELAXED))
			usleep(1000);
	if (write(STDOUT_FILENO, "+", 1) != 1) /* reports that both threads run */
		return 1;
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%llu\n", (unsigned long long)(passed[0][0] + passed[1][0]));
	return 0;
}
