/* SPDX-License-Identifier: MIT */
/*
 * probe.c - probe MODE: callbacks that misbehave, on events that are also recorded.
 *
 *   recursive  trace the event for which they are called, deeper than the nesting levels
 *   fork       fork; the child returns into the event
 *   jump       leave by longjmp
 */
#include <setjmp.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "torture.h"

#define DEPTH 12

static struct torture_tally *tally;
static uint32_t slot[DEPTH + 1];
static int depth;
static bool child;
static jmp_buf back;

static void on_fixed(void *mode, uint32_t who, uint64_t n)
{
	int status;
	pid_t pid;

	(void)who;
	(void)n;
	if (!strcmp(mode, "recursive")) {
		if (depth == DEPTH)
			return;
		depth++;
		torture_fixed(tally, slot[depth]);
		depth--;
	} else if (!strcmp(mode, "jump")) {
		longjmp(back, 1);
	} else if (!child) {
		pid = fork();
		if (pid == 0) {
			int fd = open(getenv("TORTURE_TALLY"), O_RDWR);
			struct torture_tally *own = torture_map();
			/* Discard the counts of the event to which the child returns. */
			mmap(tally, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
			     fd, 0);
			child = true;
			slot[0] = torture_slot(own, TORTURE_LOSSLESS);
			own->slot[slot[0]].spare = 1;
			torture_text(own, slot[0]);
			tally = own;
			return;
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "probe: a child ended with %x\n", status);
			_exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "recursive";
	unsigned flags = !strcmp(mode, "fork") ? TORTURE_LOSSLESS : 0;
	volatile unsigned i;

	tally = torture_map();
	for (int d = 0; d <= DEPTH; d++)
		slot[d] = torture_slot(tally, flags | TORTURE_SHARED);
	if (waymark_probe_register(torture, fixed, on_fixed, (void *)(uintptr_t)mode))
		return 1;
	for (i = 0; i < 50; i++) {
		if (!setjmp(back))
			torture_fixed(tally, slot[0]);
		else
			torture_text(tally, slot[0]);
		if (child) {
			/* The event's own `done` went to the new slot: exit without changing it. */
			_exit(0);
		}
	}
	if (waymark_probe_unregister(torture, fixed, on_fixed, (void *)(uintptr_t)mode))
		return 1;
	waymark_synchronize();
	for (i = 0; i < 1000; i++)
		torture_any(tally, slot[0]);
	return 0;
}
