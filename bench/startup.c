/* SPDX-License-Identifier: MIT */
/*
 * startup.c - measures the time of programs from spawn to exit, in turn. For each batch, it prints
 * how much longer they take than the first program.
 *
 *   bench-startup ROW BATCHES PLAIN WHO PROGRAM [WHO PROGRAM]...
 */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define BATCH        15
#define PROGRAMS_MAX 8

extern char **environ;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double run(const char *program)
{
	char *const argv[] = {(char *)(uintptr_t)program, NULL};
	double before = now_ms();
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "bench startup: '%s' failed (%d)\n", program, status);
		exit(1);
	}
	return now_ms() - before;
}

/*
 * Takes the fastest of several runs of each program, in turn; this excludes delays by other
 * processes.
 */
static void batch(char **programs, int n, double *ret)
{
	for (int k = 0; k < n; k++)
		ret[k] = 1e9;
	for (int i = 0; i < BATCH; i++)
		for (int k = 0; k < n; k++) {
			double t = run(programs[2 * k]);

			ret[k] = t < ret[k] ? t : ret[k];
		}
}

int main(int argc, char **argv)
{
	double best[PROGRAMS_MAX];
	int n = (argc - 2) / 2;

	if (argc < 6 || n > PROGRAMS_MAX)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		batch(argv + 3, n, best);
		for (int k = 1; k < n; k++)
			printf("%s\t%s\t%.4f\n", argv[1], argv[2 + 2 * k], best[k] - best[0]);
	}
	return 0;
}
