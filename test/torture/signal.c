/* SPDX-License-Identifier: MIT */
/*
 * signal.c - signal MODE MILLISECONDS: threads that trace, each interrupted 10,000 times a second
 * by a handler that traces.
 *
 *   timer   on a small alternate stack
 *   nested  handlers that interrupt handlers, deeper than the nesting levels
 *   jump    handlers that leave by siglongjmp, half of them
 *   stack   no threads: how much of an alternate stack an event takes; fails
 *           above 512 bytes
 *
 * errno must never change, nor any signal's disposition or mask.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>

#include "torture.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define THREADS 2
#define DEPTH   11 /* the runtime has 8 levels */

static struct torture_tally *tally;
static const char *mode;
static uint64_t until;
static volatile int failed;

static __thread uint32_t slot[DEPTH + 1];
static __thread volatile int depth;
static __thread sigjmp_buf back;
static __thread volatile bool may_jump;
static __thread uint64_t chance;

static void emit(uint32_t who)
{
	errno = 12345;
	torture_any(tally, who);
	if (errno != 12345)
		failed = 1;
}

static void on_timer(int sig)
{
	int d = depth;

	if (d >= DEPTH) /* on a slow machine, the timer alone may nest deeper than the slots */
		return;
	depth = d + 1;
	emit(slot[d + 1]);
	if (!strcmp(mode, "nested") && d + 1 < DEPTH && torture_random(&chance, 8))
		raise(sig); /* the handler runs at once, because of SA_NODEFER */
	emit(slot[d + 1]);
	depth = d;
	if (may_jump && !strcmp(mode, "jump") && torture_random(&chance, 2))
		siglongjmp(back, 1);
}

static timer_t start_timer(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	struct itimerspec every = {{0, 100000}, {0, 100000}};
	timer_t timer;

	e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &every, NULL)) {
		perror("timer");
		exit(99);
	}
	return timer;
}

static void *work(void *unused)
{
	size_t bytes = getauxval(AT_MINSIGSTKSZ) + 2048;
	stack_t small = {.ss_sp = malloc(bytes), .ss_size = bytes};
	bool jumps = !strcmp(mode, "jump");
	timer_t timer;

	chance = tally->seed + (uintptr_t)&chance;
	for (int d = 0; d <= DEPTH; d++)
		slot[d] =
		    torture_slot(tally, jumps || !strcmp(mode, "nested") ? 0 : TORTURE_LOSSLESS);
	if (!strcmp(mode, "timer"))
		sigaltstack(&small, NULL);
	timer = start_timer();
	while (torture_now_ns() < until) {
		sigsetjmp(back, 1);
		depth = 0;
		may_jump = true;
		for (int i = 0; i < 50; i++)
			emit(slot[0]);
		may_jump = false;
		for (uint64_t rest = torture_now_ns() + 20000; torture_now_ns() < rest;)
			;
	}
	timer_delete(timer);
	return unused;
}

/* --- how much stack ------------------------------------------------------ */

static unsigned char painted[65536];
static volatile uintptr_t handlers_sp;
/* Gcc takes raise() for a leaf function, so it must assume that raise() changes this variable. */
static void (*volatile measured)(uint32_t);

static __attribute__((noinline)) void measure_nothing(uint32_t who)
{
	(void)who;
	__asm__ volatile("");
}
static __attribute__((noinline)) void measure_fixed(uint32_t who)
{
	torture_fixed(tally, who);
}
static __attribute__((noinline)) void measure_bytes(uint32_t who)
{
	torture_bytes(tally, who);
}
static __attribute__((noinline)) void on_measure(int sig)
{
	(void)sig;
	handlers_sp = (uintptr_t)__builtin_frame_address(0);
	for (volatile unsigned char *p = painted; p < (unsigned char *)handlers_sp - 64; p++)
		*p = 0xa5; /* writes in a loop, because a function call would have a frame there */
	measured(slot[1]);
}

static unsigned depth_of(void (*what)(uint32_t))
{
	unsigned char *p = painted;

	measured = what;
	raise(SIGUSR1);
	while (p < painted + sizeof(painted) && *p == 0xa5)
		p++;
	return (unsigned)(handlers_sp - (uintptr_t)p);
}

/* Reports the maximum over `events` events, during which chunks change. */
static int report(const char *name, void (*what)(uint32_t), unsigned events, unsigned limit)
{
	unsigned base = depth_of(measure_nothing), most = 0;

	for (unsigned i = 0; i < events; i++) {
		unsigned d = depth_of(what);
		most = d > most ? d : most;
	}
	most -= base;
	fprintf(stderr, "signal: %s: %u bytes of stack\n", name, most);
	return most > limit;
}

static int stack(void)
{
	struct sigaction a = {.sa_handler = on_measure, .sa_flags = SA_ONSTACK};
	stack_t s = {.ss_sp = painted, .ss_size = sizeof(painted)};

	slot[0] = torture_slot(tally, TORTURE_LOSSLESS);
	slot[1] = torture_slot(tally, TORTURE_LOSSLESS);
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	emit(slot[0]);
	return report("an event of fixed fields", measure_fixed, 1, 512) |
	       report("fixed fields, with changes of chunks", measure_fixed, 6000, 512) |
	       report("a sequence", measure_bytes, 1, 512);
}

int main(int argc, char **argv)
{
	struct sigaction a = {.sa_handler = on_timer, .sa_flags = SA_ONSTACK}, was;
	pthread_t thread[THREADS];

	mode = argc > 1 ? argv[1] : "timer";
	tally = torture_map();
	tally->seed = torture_seed();
	if (!strcmp(mode, "stack"))
		return stack();
	until = torture_now_ns() + torture_arg(argc, argv, 2, 1000) * 1000000ull;
	if (!strcmp(mode, "nested"))
		a.sa_flags = SA_NODEFER;
	if (!strcmp(mode, "jump"))
		a.sa_flags = 0;
	sigaction(SIGRTMIN, &a, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int sig = 1; sig < 64; sig++)
		if (sigaction(sig, NULL, &was) == 0 && sig != SIGRTMIN &&
		    was.sa_handler != SIG_DFL && was.sa_handler != SIG_IGN && sig < 32) {
			fprintf(stderr, "signal: the disposition of signal %d was changed\n", sig);
			return 1;
		}
	if (failed)
		fprintf(stderr, "signal: errno was changed\n");
	return failed;
}
