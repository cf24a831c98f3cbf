/* SPDX-License-Identifier: MIT */
/*
 * module.c - module COUNT PLUGIN [probes]: loads, calls and unloads PLUGIN COUNT times, while four
 * threads trace; with `probes` another thread continuously connects and disconnects callbacks to
 * the same events. A callback must not run after waymark_synchronize() has returned.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "torture.h"

#define THREADS 4

struct listener {
	volatile uint64_t calls;
	volatile uint32_t live;
};

static struct torture_tally *tally;
static volatile int stop, failed;

static void on_fixed(void *data, uint32_t who, uint64_t n)
{
	struct listener *l = data;

	(void)who;
	(void)n;
	if (!__atomic_load_n(&l->live, __ATOMIC_ACQUIRE))
		failed = 1;
	__atomic_fetch_add(&l->calls, 1, __ATOMIC_RELAXED);
}

static void on_text(void *data, uint32_t who, uint64_t n, const char *s)
{
	char text[96];

	(void)who;
	if (strcmp(s, torture_string(text, n)))
		failed = 2;
	on_fixed(data, who, n);
}

static void *emit(void *unused)
{
	uint32_t who = torture_slot(tally, TORTURE_LOSSLESS);

	while (!stop) {
		for (int i = 0; i < 20; i++)
			torture_any(tally, who);
		usleep(300);
	}
	return unused;
}

static void toggle_once(struct listener *l, unsigned i)
{
	__atomic_store_n(&l->live, 1, __ATOMIC_RELEASE);
	if (waymark_probe_register(torture, fixed, on_fixed, l))
		failed = 3;
	if (i & 1 && waymark_probe_register(torture, text, on_text, l))
		failed = 3;
	if (i % 16 == 0)
		usleep(500);
	if (waymark_probe_unregister(torture, fixed, on_fixed, l))
		failed = 4;
	if (i & 1 && waymark_probe_unregister(torture, text, on_text, l))
		failed = 4;
	waymark_synchronize();
	__atomic_store_n(&l->live, 0, __ATOMIC_RELEASE);
}

static void *toggle(void *ret_count)
{
	static struct listener l;
	unsigned n = 0;

	while (!stop)
		toggle_once(&l, n++);
	fprintf(stderr, "module: %u times connected, %llu calls\n", n, (unsigned long long)l.calls);
	if (!l.calls)
		failed = 5;
	*(unsigned *)ret_count = n;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = torture_arg(argc, argv, 1, 100), toggles = 0;
	pthread_t thread[THREADS + 1];
	bool probes = argc > 3;
	uint32_t who;

	tally = torture_map();
	who = torture_slot(tally, TORTURE_LOSSLESS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, emit, NULL);
	if (probes)
		pthread_create(&thread[THREADS], NULL, toggle, &toggles);
	for (unsigned i = 0; i < count; i++) {
		void *lib = dlopen(argv[2], RTLD_NOW);
		void (*work)(struct torture_tally *, uint32_t);
		if (!lib) {
			fprintf(stderr, "module: %s\n", dlerror());
			return 1;
		}
		*(void **)&work = dlsym(lib, "plugin_work");
		work(tally, who);
		dlclose(lib);
	}
	stop = 1;
	for (int i = 0; i < THREADS + probes; i++)
		pthread_join(thread[i], NULL);
	if (failed)
		fprintf(stderr, "module: failure %d\n", failed);
	return failed;
}
