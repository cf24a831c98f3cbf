/* SPDX-License-Identifier: MIT */
/*
 * emit.h - what the parts of the emission benchmark share. Each row is a loop
 * over one mark; ours and the peer's are the same loop with the same payload
 * (EMIT_LOOP), in the same program, and run in turn.
 *
 *   emit.c         which row runs when, what is printed
 *   emit_ours.c    the loops over our marks, and the bare stores they are held against
 *   lttng/         the same loops over LTTng-UST's tracepoints; built only with it
 *   emit_side.c    is everything drained, was anything lost: both sides
 *   emit_cold.c    one event at a time, caches emptied before each
 *   emit_threads.c two threads against one
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

/* Two digits each, for 64 sites that are not one. X(a) X(b)... */
#define EMIT_EIGHT(X, t) X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7)
#define EMIT_64(X)                                                                                 \
	EMIT_EIGHT(X, 0)                                                                           \
	EMIT_EIGHT(X, 1)                                                                           \
	EMIT_EIGHT(X, 2)                                                                           \
	EMIT_EIGHT(X, 3) EMIT_EIGHT(X, 4) EMIT_EIGHT(X, 5) EMIT_EIGHT(X, 6) EMIT_EIGHT(X, 7)

extern const char *emit_text; /* ten characters */

/* Work that a dormant mark is put beside, 64 times. */
#define EMIT_WORK(i) __asm__ volatile("" : "+r"(i))

emit_loop ours_2int, ours_4mixed, ours_filtered, ours_noclock, ours_64sites, ours_dormant;
emit_loop ours_printf, write_text, bare_2int, bare_dormant, nothing;
emit_loop peer_2int, peer_4mixed, peer_filtered, peer_64sites, peer_dormant, peer_printf;
bool ours_on(void); /* are its sites enabled? */
bool peer_on(void);
int bare_open(void); /* memory for bare_2int and write_text: 0 or -errno */

extern const bool emit_have_peer, emit_have_printf;
extern int emit_cpus[2]; /* the first and the last processor we may use */

/* A tracer under test. */
struct side {
	const char *name;            /* ours, peer: in what is printed */
	int (*drain)(void);          /* until its reader has taken everything: 0 or -errno */
	int64_t (*lost)(void);       /* events so far; -1: known only afterwards */
	int (*freeze)(bool stopped); /* stops and continues its reader: 0 or -errno */
};

/* -ENOENT when this process is not being traced by it. */
int side_open_ours(struct side *ret);
int side_open_peer(struct side *ret);

uint64_t emit_now_ns(void);

/* Appends one measurement to standard output. */
void emit_say(const char *row, const char *who, double value);

/* ns of one event that found the caches full of other things, per round. */
void emit_cold(unsigned rounds, bool with_peer);
/* Throughput of two threads over that of one, per round. */
void emit_threads(unsigned rounds, bool with_peer);

#endif
