/* SPDX-License-Identifier: MIT */
/*
 * torture.h - shared by the torture programs: the events they emit, and the tally, a file of their
 * own that survives kill -9 and counts the emitted events. check.c compares it with the trace.
 * Knows nothing of the runtime but the public header.
 *
 * A slot of the tally is one writer: one thread at one signal-nesting level. It emits n = 0, 1, 2,
 * ...: `begun` grows before an emit, `done` after it, so
 *   done <= recorded + lost <= begun
 * and the recorded n are distinct and below `begun`.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <waymark/tracepoint.h>

/* The values of fields are computed from who and n: see check.c. */
WAYMARK_EVENT(torture, fixed, WAYMARK_ARGS(uint32_t, who, uint64_t, n),
	      WAYMARK_FIELDS((u32, who, who), (u64, n, n), (x32, mix, (uint32_t)n * 2654435761u)));
WAYMARK_EVENT(torture, text, WAYMARK_ARGS(uint32_t, who, uint64_t, n, const char *, s),
	      WAYMARK_FIELDS((u32, who, who), (u64, n, n), (str, s, s), (u16, after, 0xbeef)));
WAYMARK_EVENT(torture, bytes,
	      WAYMARK_ARGS(uint32_t, who, uint64_t, n, const uint16_t *, p, uint32_t, count),
	      WAYMARK_FIELDS((u32, who, who), (u64, n, n), (seq, p, u16, p, count),
			     (u8, after, 0xab)));

#define TORTURE_SLOTS     131072u
#define TORTURE_LOSSLESS  1u  /* no event of this writer may be lost */
#define TORTURE_UNSEEN    2u  /* no event of this writer may be in the trace */
#define TORTURE_UNCOUNTED 8u  /* the process could not join, so its events are not counted */
#define TORTURE_HOSTILE   16u /* the events of this process are not checked */
#define TORTURE_SHARED    4u  /* a forked child may repeat one of its events */

struct torture_slot {
	uint32_t pid, flags;
	volatile uint64_t begun, done;
	uint64_t spare; /* number of emits of other processes that may be counted here */
	/* 'f', 't' or 'b': this writer emits only this kind; 0: all kinds. */
	uint64_t kind;
	uint64_t due, longest_ns; /* crash.c: `done` at the time of the kill; the slowest emit */
	uint64_t pad;
};

struct torture_tally {
	uint32_t next;
	uint32_t go;
	uint64_t seed;
	uint64_t ended_ns; /* crash.c: the time at which the program ended */
	uint64_t pad[5];
	struct torture_slot slot[TORTURE_SLOTS];
};

/* Maps $TORTURE_TALLY, which is shared by all processes that map it. */
static inline struct torture_tally *torture_map(void)
{
	const char *path = getenv("TORTURE_TALLY");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(struct torture_tally)) == 0)
		p = mmap(NULL, sizeof(struct torture_tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "torture: cannot map $TORTURE_TALLY: %s\n", strerror(errno));
		exit(99);
	}
	close(fd);
	return p;
}

/* Takes a slot for one writer of the calling process. */
static inline uint32_t torture_slot(struct torture_tally *t, uint32_t flags)
{
	uint32_t who = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED);

	if (who >= TORTURE_SLOTS) {
		fprintf(stderr, "torture: the tally is full\n");
		exit(99);
	}
	t->slot[who].flags = flags;
	t->slot[who].pid = (uint32_t)syscall(SYS_getpid);
	return who;
}

/* Returns "n-" followed by 0 to 59 x. */
static inline const char *torture_string(char to[96], uint64_t n)
{
	int k = snprintf(to, 32, "%llu-", (unsigned long long)n);

	memset(to + k, 'x', n % 60);
	to[k + n % 60] = 0;
	return to;
}

static inline void torture_fixed(struct torture_tally *t, uint32_t who)
{
	struct torture_slot *s = &t->slot[who];
	uint64_t n = s->begun++;

	trace_event(torture, fixed, who, n);
	s->done++;
}

/* `text` is torture_string() of the next n. */
static inline void torture_prepared(struct torture_tally *t, uint32_t who, const char *text)
{
	struct torture_slot *s = &t->slot[who];
	uint64_t n = s->begun++;

	trace_event(torture, text, who, n, text);
	s->done++;
}

static inline void torture_text(struct torture_tally *t, uint32_t who)
{
	char text[96];

	torture_prepared(t, who, torture_string(text, t->slot[who].begun));
}

static inline void torture_bytes(struct torture_tally *t, uint32_t who)
{
	struct torture_slot *s = &t->slot[who];
	uint16_t p[40];
	uint64_t n = s->begun;

	for (unsigned i = 0; i < 40; i++)
		p[i] = (uint16_t)(n + i);
	s->begun++;
	trace_event(torture, bytes, who, n, p, (uint32_t)(n % 41));
	s->done++;
}

static inline void torture_any(struct torture_tally *t, uint32_t who)
{
	switch (t->slot[who].begun % 5) {
	case 0:
		torture_text(t, who);
		break;
	case 1:
		torture_bytes(t, who);
		break;
	default:
		torture_fixed(t, who);
	}
}

/* --- random numbers, from $TORTURE_SEED or the clock; print the seed on failure --- */

static inline uint64_t torture_seed(void)
{
	const char *s = getenv("TORTURE_SEED");
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = s && *s ? strtoull(s, NULL, 0) : (uint64_t)now.tv_sec * 1000000007u + now.tv_nsec;
	fprintf(stderr, "torture: TORTURE_SEED=%llu\n", (unsigned long long)seed);
	return (seed + 1) * 0x9e3779b97f4a7c15u;
}

static inline uint32_t torture_random(uint64_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)((*state >> 32) % below);
}

/* The distance between the instructions that step.c and inject.c try: $TORTURE_STRIDE, or 1 for
 * all. */
static inline unsigned torture_stride(void)
{
	const char *s = getenv("TORTURE_STRIDE");
	unsigned long stride = s ? strtoul(s, NULL, 0) : 1;

	return stride ? (unsigned)stride : 1;
}

/* The first of these instructions. It differs by name, so that paths together try all of them. */
static inline unsigned torture_first(unsigned stride, const char *name)
{
	unsigned sum = 0;

	while (*name)
		sum += (unsigned char)*name++;
	return sum % stride;
}

static inline uint64_t torture_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline unsigned torture_arg(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)strtoul(argv[i], NULL, 0) : otherwise;
}

#endif
