/* SPDX-License-Identifier: MIT */
/*
 * emit.c - measures ns per event of waymark and LTTng-UST, in alternating bursts.
 *
 *   bench-emit discard ROUNDS     buffers are drained before each burst; bursts with loss are
 *   discarded
 *   bench-emit overwrite ROUNDS   no reader; also two threads, and cold caches
 *   bench-emit full ROUNDS        readers stopped, buffers full: the cost of losing an event
 *
 *   bench-emit count ROUNDS       run under `waymark stat`: counted, not recorded
 *
 * Run it under `waymark record` and, for LTTng, with a session named by $BENCH_LTTNG_SESSION.
 * Prints "row who value" per burst, which bench/report turns into a table.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emit.h"

#define WARM_BYTES (64u << 20) /* size of the buffers, on each side */

struct row {
	const char *name;
	emit_loop *ours, *peer;
	uint32_t events; /* number of events per burst, a multiple of 64 */
};

static const struct row rows[] = {
    {"emit_2int", ours_2int, peer_2int, 12800},
    {"emit_4mixed", ours_4mixed, peer_4mixed, 12800},
    {"emit_filtered", ours_filtered, peer_filtered, 12800},
    {"emit_noclock", ours_noclock, NULL, 12800},
    {"emit_64sites", ours_64sites, peer_64sites, 12800},
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

int emit_cpus[2];
static struct side sides[2]; /* sides[0] is waymark, sides[1] the peer */
static unsigned nr_sides;

uint64_t emit_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void emit_say(const char *row, const char *who, double value)
{
	printf("%s\t%s\t%.3f\n", row, who, value);
}

static double burst(emit_loop *loop, uint32_t n)
{
	uint64_t before;

	loop(64); /* executed once before, to warm the code and the current chunk */
	before = emit_now_ns();
	loop(n);
	return (double)(emit_now_ns() - before) / n;
}

static emit_loop *loop_of(const struct row *r, unsigned side)
{
	return side ? r->peer : r->ours;
}

/* Runs one burst on one side; returns false when it must be discarded. */
static bool counted_burst(const struct row *r, unsigned side, double *ret)
{
	int64_t before, after;
	int err = sides[side].drain();

	if (err < 0) {
		fprintf(stderr, "bench emit: cannot drain %s: %s\n", sides[side].name,
			strerror(-err));
		return false;
	}
	before = sides[side].lost();
	*ret = burst(loop_of(r, side), r->events);
	after = sides[side].lost();
	return before == after;
}

/* Touches every page of the buffers once, so that a burst measures events and not page faults. */
static void warm(bool drained)
{
	for (unsigned s = 0; s < nr_sides; s++) {
		emit_loop *loop = loop_of(&rows[0], s);

		for (uint32_t bytes = 0; bytes < 2 * WARM_BYTES; bytes += 4u << 20) {
			if (drained)
				(void)sides[s].drain();
			loop((4u << 20) / 16);
		}
	}
}

static void bursts_of_row(const struct row *r, const char *suffix, bool drained)
{
	char name[64];
	double ns;

	snprintf(name, sizeof(name), "%s%s", r->name, suffix);
	for (unsigned s = 0; s < nr_sides; s++) {
		emit_loop *loop = loop_of(r, s);

		if (!loop)
			continue;
		if (!drained)
			emit_say(name, sides[s].name, burst(loop, r->events));
		else if (counted_burst(r, s, &ns))
			emit_say(name, sides[s].name, ns);
		else
			emit_say("not_counted", sides[s].name, 1);
	}
}

/* Measures the baselines: a clock read with the stores of a record, and a dormant mark. */
static void bursts_beside(const char *suffix)
{
	const uint32_t n = 12800;
	char name[64];
	double plain;

	snprintf(name, sizeof(name), "emit_2int%s", suffix);
	emit_say(name, "bare", burst(bare_2int, n));
	if (*suffix)
		return;
	plain = burst(bare_dormant, n);
	emit_say("dormant", "ours", burst(ours_dormant, n) - plain);
	if (nr_sides > 1)
		emit_say("dormant", "peer", burst(peer_dormant, n) - plain);
	if (!emit_have_printf)
		return;
	if (!sides[0].drain())
		emit_say("trace_printf", "ours", burst(ours_printf, n));
	emit_say("trace_printf", "write", burst(write_text, n));
	if (nr_sides > 1 && !sides[1].drain())
		emit_say("trace_printf", "peer", burst(peer_printf, n));
}

static void run_set(unsigned rounds, const char *suffix, bool drained)
{
	warm(drained);
	for (unsigned i = 0; i < rounds; i++) {
		for (size_t r = 0; r < NR_ROWS; r++)
			bursts_of_row(&rows[r], suffix, drained);
		bursts_beside(suffix);
	}
}

static void run_overwrite(unsigned rounds)
{
	run_set(rounds, "_overwrite", false);
	emit_cold(rounds < 200 ? rounds * 5 : 1000, nr_sides > 1);
	if (emit_cpus[0] != emit_cpus[1])
		emit_threads(rounds < 10 ? rounds : 10, nr_sides > 1);
}

/* Emits until the buffers are full. */
static int fill(unsigned side)
{
	emit_loop *loop = loop_of(&rows[0], side);
	int64_t before;

	for (int i = 0; i < 200; i++) {
		before = sides[side].lost();
		loop(65536);
		if (before >= 0 && sides[side].lost() - before == 65536)
			return 0;
	}
	/* 200 times 65536 events are three times as much as the buffers hold. */
	return sides[side].lost() < 0 ? 0 : -EIO;
}

static int run_full(unsigned rounds)
{
	for (unsigned s = 0; s < nr_sides; s++) {
		int err = sides[s].freeze(true);

		if (!err)
			err = fill(s);
		if (err < 0) {
			fprintf(stderr, "bench emit: cannot fill the buffers of %s: %s\n",
				sides[s].name, strerror(-err));
			return 1;
		}
	}
	for (unsigned i = 0; i < rounds; i++)
		for (unsigned s = 0; s < nr_sides; s++)
			emit_say("emit_full", sides[s].name,
				 burst(loop_of(&rows[0], s), rows[0].events));
	for (unsigned s = 0; s < nr_sides; s++)
		(void)sides[s].freeze(false);
	return 0;
}

/* Measures counting: there is no reader and no buffer that fills up. */
static int run_count(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		emit_say("emit_count", "ours", burst(rows[0].ours, rows[0].events));
	return 0;
}

/* Moves this process to the last processor; readers run on the others. */
static void settle(void)
{
	cpu_set_t may, one;

	if (sched_getaffinity(0, sizeof(may), &may))
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		emit_cpus[1] = CPU_ISSET(i, &may) ? i : emit_cpus[1];
	for (int i = CPU_SETSIZE - 1; i >= 0; i--)
		emit_cpus[0] = CPU_ISSET(i, &may) ? i : emit_cpus[0];
	CPU_ZERO(&one);
	CPU_SET(emit_cpus[1], &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
	const char *set = argc > 1 ? argv[1] : "";
	int err;

	settle();
	if (!strcmp(set, "count"))
		return run_count(rounds);
	err = side_open_ours(&sides[0]);
	if (!err)
		err = bare_open();
	if (err < 0) {
		fprintf(stderr, "bench emit: run it under 'waymark record': %s\n", strerror(-err));
		return 1;
	}
	nr_sides = side_open_peer(&sides[1]) < 0 ? 1 : 2;
	if (!strcmp(set, "discard"))
		run_set(rounds, "", true);
	else if (!strcmp(set, "overwrite"))
		run_overwrite(rounds);
	else if (!strcmp(set, "full"))
		return run_full(rounds);
	else
		return 2;
	return 0;
}
