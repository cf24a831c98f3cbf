/* SPDX-License-Identifier: MIT */
/*
 * pump.c - measures how fast one core moves packets from memory to a trace on tmpfs: the pump's
 * rounds read pools full of 64 KiB chunks and write by the trace writer. Only the rounds are timed,
 * in processor time. Prints "pump_gbps MEDIAN-OF-ROUNDS" and, on standard error, the spread and the
 * cost of a round over idle sources.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <waymark/abi.h>

#include "collect/pump.h"
#include "event/desc_build.h"

#define POOL_BYTES   (64u << 20)
#define NR_ROUNDS    32
#define RECORD_WORDS 3u /* a header and two fields of 8 bytes */
#define NR_IDLE      10000u

static char dir[] = "/dev/shm/waymark-bench-XXXXXX";

static void remove_all(const char *folder);

static void die(const char *what, int err)
{
	remove_all(dir);
	fprintf(stderr, "bench pump: %s: %s\n", what, strerror(-err));
	exit(1);
}

static uint64_t now(void)
{
	return wm_clock_read(WM_CLOCK_MONOTONIC);
}

/* Processor time of this thread, which excludes the time it waits for a core. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int make_pool(struct wm_pool *ret)
{
	struct wm_pool_options o = {.buffer_bytes = POOL_BYTES, .mode = WM_POOL_DISCARD};
	uint64_t bytes = wm_pool_size(&o);
	int fd = memfd_create("waymark-bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		die("memfd", -errno);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap", -errno);
	if (wm_pool_init(ret, map, &o))
		die("pool", -EINVAL);
	return fd;
}

/* Fills a chunk with records and commits them. */
static void fill(struct wm_pool *p, uint32_t chunk, uint32_t words_wanted)
{
	uint64_t *c = (uint64_t *)wm_pool_chunk(p, chunk);
	uint64_t at = WM_CHUNK_HEADER_BYTES / 8, last = at, count = 0;

	while (at + RECORD_WORDS <= words_wanted) {
		last = at;
		c[at] = now() << 16 | 1;
		c[at + 1] = count;
		c[at + 2] = chunk;
		at += RECORD_WORDS;
		count++;
	}
	__atomic_store_n(c,
			 at | last << WAYMARK_COMMIT_END_BITS | count << WAYMARK_COMMIT_COUNT_SHIFT,
			 __ATOMIC_RELEASE);
}

static void fill_pool(struct wm_pool *p)
{
	int64_t chunk;

	while ((chunk = wm_pool_take(p, false, 1000, 0, now())) >= 0) {
		fill(p, (uint32_t)chunk, p->big_bytes / 8);
		wm_pool_seal(p, (uint32_t)chunk);
	}
}

static struct wm_trace_writer *make_writer(struct wm_producer **ret)
{
	const struct wm_trace_options o = {
	    .format = WM_TRACE_CTF1,
	    .clock_kind = WM_CLOCK_MONOTONIC,
	    .clock_hz = 1000000000,
	    .clock_start = now(),
	    .start_realtime_ns = wm_clock_realtime_ns(),
	};
	const struct wm_producer_info info = {.pid = 1, .vpid = 1, .comm = "bench", .path = "/"};
	struct wm_trace_writer *w;
	struct wm_diag diag = {.offset = -1};
	struct wm_class *class;
	unsigned char *desc;
	size_t bytes;
	int err = wm_writer_create(dir, &o, &w, &diag);

	if (!err)
		err = wm_producer_add(w, &info, ret);
	desc = wm_desc_simple("bench", "two", "a:u8;b:u8", NULL, 0, &bytes);
	if (!err)
		err = desc ? wm_class_parse(desc, bytes, NULL, &class, &diag) : -ENOMEM;
	if (!err)
		err = wm_producer_event(*ret, 1, 0, class);
	if (err)
		die(diag.sentence, err);
	free(desc);
	return w;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void throughput(struct wm_pump *pump, struct wm_pool *pool)
{
	double gbps[NR_ROUNDS];
	struct wm_pump_totals t;

	for (int i = 0; i < NR_ROUNDS; i++) {
		uint64_t before, after, bytes;

		fill_pool(pool);
		wm_pump_totals(pump, &t);
		bytes = t.bytes;
		before = cpu_ns();
		if (wm_pump_round(pump, false) != (int)pool->nr_big)
			die("not all chunks were moved", -EIO);
		after = cpu_ns();
		wm_pump_totals(pump, &t);
		gbps[i] = (double)(t.bytes - bytes) / (double)(after - before);
	}
	qsort(gbps, NR_ROUNDS, sizeof(gbps[0]), by_value);
	fprintf(stderr, "rounds of %u MiB: %.2f .. %.2f GB/s\n", POOL_BYTES >> 20, gbps[0],
		gbps[NR_ROUNDS - 1]);
	printf("pump_gbps %.2f\n", gbps[NR_ROUNDS / 2]);
}

/* Measures a round over threads that emitted one event each and now sleep. */
static void idle(struct wm_pump *pump, struct wm_pool *pool)
{
	uint64_t best[2] = {UINT64_MAX, UINT64_MAX};

	for (uint32_t i = 0; i < NR_IDLE; i++) {
		int64_t chunk = wm_pool_take(pool, true, 2000 + i, 0, now());

		if (chunk < 0)
			die("no small chunk", -EAGAIN);
		fill(pool, (uint32_t)chunk, WM_CHUNK_HEADER_BYTES / 8 + RECORD_WORDS);
	}
	if (wm_pump_round(pump, true) != (int)NR_IDLE)
		die("not all threads were seen", -EIO);
	for (int i = 0; i < 40; i++) {
		uint64_t before = now();

		if (wm_pump_round(pump, i & 1))
			die("something moved", -EIO);
		before = now() - before;
		best[i & 1] = before < best[i & 1] ? before : best[i & 1];
	}
	fprintf(stderr, "%u idle threads: a round %.1f us, one that seals %.1f us\n", NR_IDLE,
		(double)best[0] / 1e3, (double)best[1] / 1e3);
}

static void remove_all(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[512];

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >=
		    sizeof(path))
			continue;
		if (e->d_type == DT_DIR)
			remove_all(path);
		else
			(void)unlink(path);
	}
	if (d)
		closedir(d);
	(void)rmdir(folder);
}

int main(void)
{
	const struct wm_pump_options o = {.clock_kind = WM_CLOCK_MONOTONIC};
	struct wm_pump_source *source;
	struct wm_trace_writer *writer;
	struct wm_producer *producer;
	struct wm_pool pool, view;
	struct wm_pump *pump;
	int fd;

	if (!mkdtemp(dir))
		die("/dev/shm", -errno);
	writer = make_writer(&producer);
	fd = make_pool(&pool);
	if (wm_pump_create(&o, &pump) || wm_pool_open(&view, fd) ||
	    wm_pump_add(pump, &view, producer, 1, &source))
		die("pump", -ENOMEM);
	throughput(pump, &pool);
	idle(pump, &pool);
	wm_pump_destroy(pump);
	(void)wm_writer_close(writer);
	remove_all(dir);
	return 0;
}
