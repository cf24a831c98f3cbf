/* SPDX-License-Identifier: MIT */
/*
 * kill.c - kill ROUNDS [EVENTS [lossy [all]]]: starts ROUNDS emitting children and kills each with
 * SIGKILL at a random moment, from before its first event to after its last, while another process,
 * the neighbour, emits. The children are of several kinds; to be run under `waymark record`.
 * $TORTURE_TALLY holds how many events each had emitted. lossy: the buffers are too small, so the
 * children's events may be counted as lost; all: the neighbour's too.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "torture.h"

static struct torture_tally *tally;
static uint32_t handler_slot;
static unsigned events, flags = TORTURE_LOSSLESS, neighbour_flags = TORTURE_LOSSLESS;

static void on_alarm(int sig)
{
	(void)sig;
	if (tally->slot[handler_slot].begun < events)
		torture_any(tally, handler_slot);
}

static void *emit(void *who)
{
	for (unsigned i = 0; i < events; i++)
		torture_any(tally, *(uint32_t *)who);
	return NULL;
}

static void start_alarm(void)
{
	struct sigaction a = {.sa_handler = on_alarm};
	struct itimerval t = {{0, 30}, {0, 30}};

	handler_slot = torture_slot(tally, flags);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

static void child(unsigned kind)
{
	uint32_t who[2];
	pthread_t thread;
	/* Blocked in all threads but the first, because the handler's slot has one writer. */
	sigset_t alarm;

	who[0] = torture_slot(tally, flags);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	if (kind & 1) {
		who[1] = torture_slot(tally, flags);
		pthread_create(&thread, NULL, emit, &who[1]);
	}
	if (kind & 2)
		start_alarm();
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	__atomic_store_n(&tally->go, 1, __ATOMIC_RELEASE);
	emit(&who[0]);
	for (;;)
		pause();
}

/* Emits at a low rate until it is stopped. */
static void neighbour(void)
{
	uint32_t who = torture_slot(tally, neighbour_flags);

	while (__atomic_load_n(&tally->go, __ATOMIC_ACQUIRE) != 99) {
		for (int i = 0; i < 20; i++)
			torture_any(tally, who);
		usleep(500);
	}
	_exit(tally->slot[who].begun == tally->slot[who].done ? 0 : 1);
}

static void spin_until(uint64_t when)
{
	while (torture_now_ns() < when)
		;
}

int main(int argc, char **argv)
{
	unsigned rounds = torture_arg(argc, argv, 1, 100);
	uint64_t seed = torture_seed();
	unsigned span_ns;
	pid_t other;
	int status;

	events = torture_arg(argc, argv, 2, 600);
	span_ns = events * 1000;
	if (argc > 3)
		flags = 0;
	if (argc > 4)
		neighbour_flags = 0;
	tally = torture_map();
	other = fork();
	if (other == 0)
		neighbour();
	for (unsigned i = 0; i < rounds; i++) {
		unsigned kind = torture_random(&seed, 4), early = torture_random(&seed, 4) == 0;
		pid_t pid;
		tally->go = 0;
		pid = fork();
		if (pid < 0)
			return perror("fork"), 99;
		if (pid == 0)
			child(kind);
		/* One in four is killed before its first event. */
		if (!early)
			while (!__atomic_load_n(&tally->go, __ATOMIC_ACQUIRE))
				sched_yield();
		spin_until(torture_now_ns() + torture_random(&seed, early ? 800000 : span_ns));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	__atomic_store_n(&tally->go, 99, __ATOMIC_RELEASE);
	waitpid(other, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
