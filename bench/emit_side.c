/* SPDX-License-Identifier: MIT */
/*
 * emit_side.c - what the benchmark needs to know about the two tracers: whether the reader has read
 * everything, whether events were lost, and which process is the reader.
 *
 * For waymark it is read from this process's own mapping of the pool. For LTTng it comes from its
 * control library, which is loaded by name, so that building requires only this program's own
 * packages.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emit.h"
#include "readers.h"
#include "ring/pool.h"

#define DRAIN_MS 20000

static void nap_ms(unsigned ms)
{
	struct timespec t = {0, (long)ms * 1000000};

	nanosleep(&t, NULL);
}

/* ------------------------------------------------------------------ *
 * Stopping readers
 * ------------------------------------------------------------------ */
static pid_t frozen[BENCH_READERS_MAX * 2];
static int nr_frozen;

static void thaw_all(void)
{
	while (nr_frozen > 0)
		(void)kill(frozen[--nr_frozen], SIGCONT);
}

static void thaw_and_die(int signo)
{
	thaw_all();
	signal(signo, SIG_DFL);
	raise(signo);
}

static int freeze(const char *name, bool stopped)
{
	static bool prepared;
	int n;

	if (!stopped) {
		thaw_all();
		return 0;
	}
	if (!prepared) {
		prepared = true;
		atexit(thaw_all);
		signal(SIGTERM, thaw_and_die);
		signal(SIGINT, thaw_and_die);
	}
	n = bench_find_readers(name, frozen + nr_frozen);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		(void)kill(frozen[nr_frozen + i], SIGSTOP);
	nr_frozen += n;
	return 0;
}

/* ------------------------------------------------------------------ *
 * Ours
 * ------------------------------------------------------------------ */
#define OUR_POOL "memfd:waymark-pool"

static struct wm_pool pool;

static bool any_full(void)
{
	uint32_t small, big;

	wm_pool_high(&pool, &small, &big);
	for (uint32_t i = 0; i < wm_pool_nr_chunks(&pool); i++) {
		if (i == small)
			i = pool.nr_small;
		if (i >= pool.nr_small + big)
			break;
		switch (wm_pool_state_of(wm_pool_state(&pool, i))) {
		case WM_CHUNK_FULL:
		case WM_CHUNK_READING:
			return true;
		default:
			break;
		}
	}
	return false;
}

static int drain_ours(void)
{
	for (int i = 0; i < DRAIN_MS; i++) {
		if (!any_full())
			return 0;
		nap_ms(1);
	}
	return -ETIMEDOUT;
}

/* Adds all causes except those that are not losses of this burst's events. */
static int64_t lost_ours(void)
{
	uint64_t n = 0;

	for (int i = 0; i < WM_LOST_NR; i++)
		n += wm_pool_lost_count(&pool, (enum wm_lost)i);
	return (int64_t)n;
}

static int freeze_ours(bool stopped)
{
	return freeze(OUR_POOL, stopped);
}

int side_open_ours(struct side *ret)
{
	struct bench_mapping m;

	for (int i = 0; i < 5000 && !ours_on(); i++)
		nap_ms(1);
	if (!ours_on() || !bench_find_mapping(OUR_POOL, &m))
		return -ENOENT;
	if (wm_pool_attach(&pool, (void *)m.start, m.end - m.start) < 0)
		return -EBADMSG;
	*ret = (struct side){"ours", drain_ours, lost_ours, freeze_ours};
	return 0;
}

/* ------------------------------------------------------------------ *
 * LTTng
 * ------------------------------------------------------------------ */
#define PEER_BUFFERS "shm-ust-consumer"

static int (*peer_stop)(const char *session);
static int (*peer_pending)(const char *session);
static int (*peer_start)(const char *session);
static const char *peer_session;

/* Stops tracing, which flushes half-full buffers; they are drained when no data is pending. */
static int drain_peer(void)
{
	int pending = 1;

	if (peer_stop(peer_session) < 0)
		return -EIO;
	for (int i = 0; i < DRAIN_MS && (pending = peer_pending(peer_session)) > 0; i++)
		nap_ms(1);
	if (pending)
		return pending < 0 ? -EIO : -ETIMEDOUT;
	if (peer_start(peer_session) < 0)
		return -EIO;
	for (int i = 0; i < 1000 && !peer_on(); i++)
		nap_ms(1);
	return peer_on() ? 0 : -ETIMEDOUT;
}

static int64_t lost_peer(void)
{
	return -1;
}

static int freeze_peer(bool stopped)
{
	return freeze(PEER_BUFFERS, stopped);
}

int side_open_peer(struct side *ret)
{
	void *lib;

	peer_session = getenv("BENCH_LTTNG_SESSION");
	if (!emit_have_peer || !peer_session)
		return -ENOENT;
	lib = dlopen("liblttng-ctl.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return -ENOENT;
	*(void **)&peer_stop = dlsym(lib, "lttng_stop_tracing_no_wait");
	*(void **)&peer_pending = dlsym(lib, "lttng_data_pending");
	*(void **)&peer_start = dlsym(lib, "lttng_start_tracing");
	for (int i = 0; i < 5000 && !peer_on(); i++)
		nap_ms(1);
	if (!peer_stop || !peer_pending || !peer_start || !peer_on())
		return -ENOENT;
	*ret = (struct side){"peer", drain_peer, lost_peer, freeze_peer};
	return 0;
}
