/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - steps a child along a path instruction by instruction, for step.c and inject.c. A
 * child requests tracing, runs to the beginning of the path and stops there by an int3.
 */
#ifndef TORTURE_TRACER_H
#define TORTURE_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "torture.h"

#define PCS_MAX 4000000u

static inline void die(const char *what)
{
	fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
	exit(99);
}

static inline void begin(void)
{
	__asm__ volatile("int3");
}

static inline void traced(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		die("ptrace");
}

static inline uint64_t pc_of(pid_t pid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
		die("ptrace");
	return r.rip;
}

/* Resumes the child, delivering signal `sig`. Returns false when it exited with status 0. */
static inline bool resume(pid_t pid, int how, int sig)
{
	int status;

	do {
		if (ptrace(how, pid, NULL, (void *)(intptr_t)sig) < 0)
			die("ptrace");
		if (waitpid(pid, &status, 0) < 0)
			die("waitpid");
		sig = SIGCHLD;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGCHLD);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
		fprintf(stderr,
			"torture: a child ended before the end of the path: status %x, at %lx\n",
			status, WIFSTOPPED(status) ? (unsigned long)pc_of(pid) : 0ul);
		exit(1);
	}
	return true;
}

static inline void bury(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) >= 0 && !WIFSIGNALED(status))
		;
}

struct visit {
	uint64_t pc;
	uint32_t count;
};

static inline int by_pc(const void *a, const void *b)
{
	uint64_t x = ((const struct visit *)a)->pc, y = ((const struct visit *)b)->pc;

	return x < y ? -1 : x > y;
}

/*
 * Records every address on the path, and its number of visits; the path ends with the child, or
 * when *done changes.
 */
static inline unsigned survey(pid_t pid, const char *kind, const volatile uint64_t *done,
			      struct visit **ret)
{
	uint64_t before = done ? *done : 0;
	struct visit *v = malloc(PCS_MAX * sizeof(*v));
	unsigned nr = 0, out = 0;

	do {
		if (nr == PCS_MAX)
			die("the path is too long");
		v[nr++] = (struct visit){pc_of(pid), 1};
		if (done && *done != before) {
			bury(pid);
			break;
		}
	} while (resume(pid, PTRACE_SINGLESTEP, 0));
	qsort(v, nr, sizeof(*v), by_pc);
	for (unsigned i = 0; i < nr; i++) {
		if (out && v[out - 1].pc == v[i].pc)
			v[out - 1].count++;
		else
			v[out++] = v[i];
	}
	fprintf(stderr, "torture: %s: %u instructions at %u addresses\n", kind, nr, out);
	*ret = v;
	return out;
}

static inline void break_at(pid_t pid, uint64_t pc)
{
	size_t base = offsetof(struct user, u_debugreg);

	if (ptrace(PTRACE_POKEUSER, pid, base, pc) < 0 ||
	    ptrace(PTRACE_POKEUSER, pid, base + 7 * sizeof(long), 1ul) < 0)
		die("no hardware breakpoint");
}

/* Runs the child to a breakpoint. Returns false when the path ended before it. */
static inline bool run_to(pid_t pid, uint64_t pc, unsigned hits)
{
	bool alive = true;

	if (pc_of(pid) == pc && hits == 1)
		return true;
	break_at(pid, pc);
	for (unsigned k = 0; k < hits && alive; k++)
		alive = resume(pid, PTRACE_CONT, 0);
	if (alive && ptrace(PTRACE_POKEUSER, pid,
			    offsetof(struct user, u_debugreg) + 7 * sizeof(long), 0ul) < 0)
		die("ptrace");
	return alive;
}

#endif
