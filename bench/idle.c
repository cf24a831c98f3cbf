/* SPDX-License-Identifier: MIT */
/*
 * idle.c - starts 10,000 threads that emit one event each and then sleep. Then it prints the memory
 * of this process and of every process that has mapped its buffers: the private pages of all, and
 * shared pages once.
 *
 *   bench-idle THREADS
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <waymark/tracepoint.h>

#include "readers.h"

WAYMARK_EVENT(idle, once, WAYMARK_ARGS(int, number), WAYMARK_FIELDS((i32, number, number)));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int emitted, over;

static void *run(void *data)
{
	trace_event(idle, once, (int)(intptr_t)data);
	pthread_mutex_lock(&lock);
	emitted++;
	while (!over)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Reads a line of /proc/PID/status, in MiB. */
static double status_mib(const char *pid, const char *name)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atof(line + strlen(name) + 1);
	if (f)
		fclose(f);
	return kib / 1024;
}

static void report(void)
{
	pid_t reader[BENCH_READERS_MAX];
	int n = bench_find_readers("memfd:waymark-pool", reader);
	double own = status_mib("self", "RssAnon"), shared = status_mib("self", "RssShmem");

	fprintf(stderr, "this process: %.1f MiB private, %.1f MiB shared\n", own, shared);
	for (int i = 0; i < n; i++) {
		char pid[32];

		snprintf(pid, sizeof(pid), "%d", (int)reader[i]);
		fprintf(stderr, "its reader: %.1f MiB private\n", status_mib(pid, "RssAnon"));
		own += status_mib(pid, "RssAnon");
	}
	printf("%.3f\n", own + shared);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 10000;
	pthread_t *t = calloc((size_t)threads, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (int i = 0; t && i < threads; i++) {
		int err = pthread_create(&t[i], &attr, run, (void *)(intptr_t)i);

		if (err) {
			fprintf(stderr, "bench idle: thread %d: %s\n", i, strerror(err));
			return 1;
		}
	}
	for (int done = 0; done < threads; usleep(10000)) {
		pthread_mutex_lock(&lock);
		done = emitted;
		pthread_mutex_unlock(&lock);
	}
	usleep(500000); /* long enough for the reader to read them */
	report();
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}
