/* SPDX-License-Identifier: MIT */
/*
 * emit.h - shared by the parts of the emission benchmark. Each row is a loop over one mark. The
 * loops of waymark and of the peer are the same, with the same payload (EMIT_LOOP), in the same
 * program, and run in turn.
 *
 *   emit.c         the order of rows, and the output
 *   emit_ours.c    the loops over waymark's marks, and their baselines
 *   lttng/         the same loops over LTTng-UST's tracepoints; built only with it
 *   emit_side.c    draining and losses of both sides
 *   emit_cold.c    one event at a time, caches emptied before each
 *   emit_threads.c two threads compared with one
 */
#ifndef BENCH_EMIT_H
#define BENCH_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void emit_loop(uint32_t n);

#define EMIT_LOOP(function, statement)                                                             \
	__attribute__((aligned(64), noinline)) void function(uint32_t n)                           \
	{                                                                                          \
		for (uint32_t i = 0; i < n; i++) {                                                 \
			statement;                                                                 \
		}                                                                                  \
	}

/* Numbers of two digits, for 64 different sites: X(a) X(b)... */
#define EMIT_EIGHT(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7)
#define EMIT_64(X)                                                                                 \
	EMIT_EIGHT(X, 0)                                                                           \
	EMIT_EIGHT(X, 1)                                                                           \
	EMIT_EIGHT(X, 2)                                                                           \
	EMIT_EIGHT(X, 3) EMIT_EIGHT(X, 4) EMIT_EIGHT(X, 5) EMIT_EIGHT(X, 6) EMIT_EIGHT(X, 7)

extern const char *emit_text; /* ten characters */

/* The work between dormant marks, 64 times. */
#define EMIT_WORK(i) __asm__ volatile("" : "+r"(i))

emit_loop ours_2int, ours_4mixed, ours_filtered, ours_noclock, ours_64sites, ours_dormant;
emit_loop ours_printf, write_text, bare_2int, bare_dormant, nothing;
emit_loop peer_2int, peer_4mixed, peer_filtered, peer_64sites, peer_dormant, peer_printf;
bool ours_on(void); /* whether its sites are enabled */
bool peer_on(void);
int bare_open(void); /* memory for bare_2int and write_text: 0 or -errno */

extern const bool emit_have_peer, emit_have_printf;
extern int emit_cpus[2]; /* the first and the last processor this process may use */

/* A tracer under test. */
struct side {
	const char *name;            /* as printed: "ours" or the name of the peer */
	int (*drain)(void);          /* waits until the reader has read everything: 0 or -errno */
	int64_t (*lost)(void);       /* number of lost events so far; -1: known only at the end */
	int (*freeze)(bool stopped); /* stops and continues its reader: 0 or -errno */
};

/* Returns -ENOENT when this tracer is not tracing the process. */
int side_open_ours(struct side *ret);
int side_open_peer(struct side *ret);

uint64_t emit_now_ns(void);

/* Appends one measurement to standard output. */
void emit_say(const char *row, const char *who, double value);

/* Prints ns per event with cold caches, per round. */
void emit_cold(unsigned rounds, bool with_peer);
/* Prints the throughput of two threads divided by that of one, per round. */
void emit_threads(unsigned rounds, bool with_peer);

#endif
