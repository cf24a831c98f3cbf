/* SPDX-License-Identifier: MIT */
/*
 * step.c - step SCENARIO [PRE [visit] [lossy]]: kills a process by SIGKILL at every instruction of
 * a path through the runtime, or at every $TORTURE_STRIDE-th. A child runs to the beginning of the
 * path and stops; ptrace steps it k instructions and kills it; the next child is killed that many
 * instructions later, until one reaches the path's end. To be run under `waymark record`, whose
 * rules determine whether an event takes the direct path.
 *
 *   fixed text bytes   one event of that kind, after PRE `fixed` ones
 *   first              the first event of a forked child, from fork on
 *   attach             the first event of a process that a tool requests to join
 *   start              exec to main of a program that finds $WAYMARK_SESSION
 *
 * The last three, and others with `visit`, are long and full of loops: they are traced once, then
 * one child is killed at the first visit of each address, and another at a random one of its
 * visits. Of the last three, PRE is the stride. `lossy`: the buffers are too small for all
 * events.
 */
#include "tracer.h"

extern struct control { /* the runtime's control page: see doc/format/control.md */
	uint64_t magic;
	uint32_t abi, nr_modules;
	uint64_t modules;
	uint32_t attach_request, attach_done, flags, reserved[5];
	char folders[1024];
} waymark_control;

static struct torture_tally *tally;
static char *self;
static unsigned pre, flags = TORTURE_LOSSLESS;
static uint64_t seed;

/* --- the paths of children, which end by _exit(0) ------------------------- */

static __attribute__((noinline)) void text_path(uint32_t who)
{
	char text[96];

	torture_string(text, tally->slot[who].begun);
	begin();
	torture_prepared(tally, who, text);
}

static void child(const char *kind)
{
	uint32_t who = torture_slot(tally, flags);

	traced();
	if (!strcmp(kind, "start")) {
		char number[16];
		snprintf(number, sizeof(number), "%u", who);
		execl(self, self, "main", number, NULL);
		die("exec");
	}
	if (!strcmp(kind, "attach")) {
		char number[16];
		snprintf(number, sizeof(number), "%u", who);
		setenv("TORTURE_FOLDER", getenv("WAYMARK_SESSION"), 1);
		unsetenv("WAYMARK_SESSION");
		execl(self, self, "ask", number, NULL);
		die("exec");
	}
	for (unsigned i = 0; i < pre && strcmp(kind, "first"); i++)
		torture_fixed(tally, who);
	if (!strcmp(kind, "text")) {
		text_path(who);
	} else if (!strcmp(kind, "bytes")) {
		begin();
		torture_bytes(tally, who);
	} else {
		begin();
		torture_fixed(tally, who);
	}
	_exit(0);
}

/* Continues after the exec of `start`: the image has joined before main. */
static int after_exec(uint32_t who)
{
	begin();
	torture_fixed(tally, who);
	_exit(0);
}

/* Continues after the exec of `attach`: writes the tool's request itself. */
static int ask(uint32_t who)
{
	snprintf(waymark_control.folders, sizeof(waymark_control.folders), "%s",
		 getenv("TORTURE_FOLDER"));
	waymark_control.attach_request = waymark_control.attach_done + 1;
	WAYMARK_ID(event, torture, fixed).word = WAYMARK_WORD_COMPLEX | WAYMARK_WORD_RECORD;
	WAYMARK_ID(event, torture, fixed).enabled = 1;
	begin();
	torture_fixed(tally, who);
	_exit(0);
}

/* Starts a child and stops it at the beginning of the path. */
static pid_t start_child(const char *kind)
{
	bool exec = !strcmp(kind, "attach") || !strcmp(kind, "start");
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0)
		child(kind);
	for (;;) {
		if (waitpid(pid, &status, 0) < 0)
			die("waitpid");
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
			fprintf(stderr, "step: a child did not reach the beginning: %x\n", status);
			exit(1);
		}
		if (!exec || !strcmp(kind, "start"))
			return pid;
		exec = false; /* this was the stop at exec; the next one is at the path */
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
			die("ptrace");
	}
}

static unsigned step_all(const char *kind, unsigned stride)
{
	unsigned kills = 0;

	for (unsigned k = torture_first(stride, kind);; k += stride) {
		pid_t pid = start_child(kind);
		bool alive = true;
		for (unsigned i = 0; i < k && alive; i++)
			alive = resume(pid, PTRACE_SINGLESTEP, 0);
		if (!alive)
			return kills;
		bury(pid);
		kills++;
	}
}

static unsigned visit_all(const char *kind, unsigned stride)
{
	struct visit *v;
	unsigned nr = survey(start_child(kind), kind, NULL, &v), kills = 0;

	for (unsigned i = torture_random(&seed, stride); i < nr; i += stride) {
		for (unsigned again = 0; again < (v[i].count > 1 ? 2 : 1); again++) {
			unsigned most = v[i].count < 20 ? v[i].count : 20;
			unsigned hits = again ? 1 + torture_random(&seed, most) : 1;
			pid_t pid = start_child(kind);
			if (run_to(pid, v[i].pc, hits)) {
				bury(pid);
				kills++;
			}
		}
	}
	free(v);
	return kills;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "fixed";
	bool visit = !strcmp(kind, "first") || !strcmp(kind, "attach") || !strcmp(kind, "start");
	unsigned kills, stride = torture_stride();

	tally = torture_map();
	if (argc > 2 && !strcmp(kind, "main"))
		return after_exec((uint32_t)atoi(argv[2]));
	if (argc > 2 && !strcmp(kind, "ask"))
		return ask((uint32_t)atoi(argv[2]));
	self = argv[0];
	if (visit)
		stride = torture_arg(argc, argv, 2, stride);
	pre = torture_arg(argc, argv, 2, 10);
	for (int i = 3; i < argc; i++) {
		visit = visit || !strcmp(argv[i], "visit");
		if (!strcmp(argv[i], "lossy"))
			flags = 0;
	}
	seed = torture_seed();
	kills = visit ? visit_all(kind, stride) : step_all(kind, stride);
	fprintf(stderr, "step: %s: %u kills\n", kind, kills);
	return kills < 20; /* a path this short cannot be the right one */
}
