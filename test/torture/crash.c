/* SPDX-License-Identifier: MIT */
/*
 * crash.c - crash WHOM ROUNDS FOLDER: ROUNDS recordings of a program that emits, FOLDER/0, FOLDER/1
 * and so on, in each of which `waymark record` itself is killed with SIGKILL at a random moment.
 * WHOM is command, pump or both. One in four is killed before the program runs, or about then; the
 * others while it emits. If WHOM is `calls`, the pump is killed at one of its first CALLS system
 * calls that write or change names.
 *
 * The program must not be affected: it emits for its full time, computes correctly, and exits in
 * time with its own status. The recorder's other process must not be affected, either. check
 * verifies the traces: FOLDER/N.tally has the expected events, FOLDER/N.err the messages.
 *
 *   crash work   is the program
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "torture.h"

#define WORKERS 4 /* number of rounds at a time; they mostly sleep */
#define LIFE_MS                                                                                    \
	220        /* time for which the program runs; the pump writes open chunks every 100 ms    \
		    */
#define BURST    5 /* number of events between naps of 300 us */
#define CALLS    60
#define EARLY_US 20000
#define ERRNO    4711u
#define OWN      7 /* exit status of the program */
#define SLOTS    4 /* limit for the writers of a round */
#define PATIENCE 20000000000ull
#define LONGEST_NS                                                                                 \
	10000000000ull     /* limit for one emit, and for the pump to exit, after a                \
			    * kill */
#define BEFORE_COMMAND 125 /* waymark's exit status when the program did not run */
#define LOSSY_ARG      3   /* from this index of recorders[] on, events may be lost */

static const char *whom, *folder, *self;

/* The options of the recorders, which are used in turn. */
static const char *const recorders[][6] = {
    {NULL},
    {"--trace-format", "ctf-1.8", NULL}, /* listed twice, to be used more often */
    {"--context", "cpu", NULL},
    {"-b", "64K", NULL},
    {"-b", "128K", "--mode", "block", NULL},
    {"-b", "256K", "--mode", "overwrite", NULL},
};
#define NR_RECORDERS (sizeof(recorders) / sizeof(recorders[0]))

/* --- the program ------------------------------------------------------------- */

static struct torture_tally *tally;

struct emitter {
	uint32_t who;
	uint64_t sum;
};

static void *emit(void *data)
{
	struct emitter *r = data;
	struct torture_slot *s = &tally->slot[r->who];
	uint64_t until = torture_now_ns() + LIFE_MS * 1000000ull;

	for (uint64_t now = torture_now_ns(); now < until; now = torture_now_ns()) {
		for (int i = 0; i < BURST; i++) {
			uint64_t before = torture_now_ns(), took;
			errno = ERRNO;
			torture_any(tally, r->who);
			r->sum += (unsigned)errno;
			took = torture_now_ns() - before;
			s->longest_ns = took > s->longest_ns ? took : s->longest_ns;
		}
		usleep(300);
	}
	return NULL;
}

static int work(void)
{
	struct emitter e[2];
	pthread_t thread;

	tally = torture_map();
	for (int i = 0; i < 2; i++)
		e[i] = (struct emitter){
		    torture_slot(tally, (unsigned)atoi(getenv("TORTURE_FLAGS"))), 0};
	__atomic_store_n(&tally->go, 1, __ATOMIC_RELEASE);
	if (pthread_create(&thread, NULL, emit, &e[1]))
		return 1;
	emit(&e[0]);
	pthread_join(thread, NULL);
	tally->ended_ns = torture_now_ns();
	for (int i = 0; i < 2; i++) {
		const struct torture_slot *s = &tally->slot[e[i].who];
		if (e[i].sum != s->begun * ERRNO || s->begun != s->done)
			return 1;
		printf("%llu events\n", (unsigned long long)s->done);
	}
	return OWN;
}

/* --- a round ------------------------------------------------------------------ */

struct round {
	unsigned number, first; /* `first`: the slot of its first writer */
	uint64_t *chance;
	char path[4000];
	pid_t command, pump_pid;
	int pump; /* a pidfd; -1: not found, or not searched */
	bool early;
	uint64_t killed_ns, pump_ended_ns;
	int command_status, program_status, pump_status; /* -1 when not known */
};

static void failed(const struct round *r, const char *what, long value)
{
	char path[sizeof(r->path) + 8], line[512];
	FILE *f;

	fprintf(stderr, "crash: round %u of %s (%s%s): %s (%lx)\n", r->number, folder, whom,
		r->early ? ", early" : "", what, value);
	snprintf(path, sizeof(path), "%s.err", r->path);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		fprintf(stderr, "    %s", line);
	exit(1);
}

static void redirect(const char *path, const char *suffix, int to)
{
	char name[4096];
	int fd;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(99);
}

static void start(struct round *r)
{
	const char *argv[20] = {"waymark", "record", "-q", "-o", r->path};
	const char *const *how = recorders[r->number % NR_RECORDERS];
	bool lossy = r->number % NR_RECORDERS >= LOSSY_ARG;
	char flags[16];
	int n = 5;

	r->command = fork();
	if (r->command < 0)
		failed(r, "fork", errno);
	if (r->command)
		return;
	while (*how)
		argv[n++] = *how++;
	argv[n++] = "--";
	argv[n++] = self;
	argv[n++] = "work";
	snprintf(flags, sizeof(flags), "%u", lossy ? 0 : TORTURE_LOSSLESS);
	setenv("TORTURE_FLAGS", flags, 1);
	redirect(r->path, ".out", 1);
	redirect(r->path, ".err", 2);
	execvp(argv[0], (char **)(uintptr_t)argv);
	_exit(99);
}

/* Finds the first child of the command. */
static void find_pump(struct round *r)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)r->command, (int)r->command);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	r->pump_pid = pid;
	r->pump = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* Whether the round is over, which may happen before this check on a busy machine. */
static bool is_over(const struct round *r)
{
	siginfo_t info = {.si_pid = 0};

	(void)waitid(P_PID, (id_t)r->command, &info, WEXITED | WNOHANG | WNOWAIT);
	return info.si_pid != 0;
}

static bool changes_files(uint64_t call)
{
	static const long calls[] = {SYS_write,     SYS_pwrite64, SYS_pwritev,  SYS_openat,
				     SYS_ftruncate, SYS_mkdirat,  SYS_unlinkat, SYS_renameat};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (call == (uint64_t)calls[i])
			return true;
	return false;
}

/* Whether the process is stopped at the entry of such a system call. */
static bool at_change(pid_t pid)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY && changes_files(info.entry.nr);
}

/* Waits until the pump enters its n-th such system call, or has exited. */
static void wait_for_call(struct round *r, unsigned n)
{
	siginfo_t info = {.si_pid = 0};
	int status, signal;

	if (r->pump < 0 || ptrace(PTRACE_SEIZE, r->pump_pid, NULL, PTRACE_O_TRACESYSGOOD) < 0 ||
	    ptrace(PTRACE_INTERRUPT, r->pump_pid, NULL, NULL) < 0)
		return; /* the pump has exited */
	while (!waitid(P_PID, (id_t)r->pump_pid, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) &&
	       info.si_code == CLD_TRAPPED) {
		(void)waitpid(r->pump_pid, &status, __WALL);
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80) && at_change(r->pump_pid) && !n--)
			return;
		if (status >> 16 || signal == (SIGTRAP | 0x80))
			signal = 0;
		(void)ptrace(PTRACE_SYSCALL, r->pump_pid, NULL, (void *)(intptr_t)signal);
	}
}

static void wait_for_moment(struct round *r)
{
	uint64_t until = torture_now_ns() + PATIENCE;

	while (r->pump < 0 && strcmp(whom, "command") && !is_over(r)) {
		find_pump(r);
		if (torture_now_ns() > until)
			failed(r, "no pump", 0);
	}
	if (!strcmp(whom, "calls")) {
		wait_for_call(r, torture_random(r->chance, CALLS));
		return;
	}
	if (r->early) {
		usleep(torture_random(r->chance, EARLY_US));
		return;
	}
	while (!__atomic_load_n(&tally->go, __ATOMIC_ACQUIRE)) {
		usleep(100);
		if (torture_now_ns() > until)
			failed(r, "the program does not start", 0);
	}
	usleep(torture_random(r->chance, LIFE_MS * 1000));
}

static void strike(struct round *r)
{
	/* A pump that survives must write all events emitted so far. */
	for (uint32_t who = r->first; who < r->first + SLOTS; who++)
		tally->slot[who].due = tally->slot[who].done;
	r->killed_ns = torture_now_ns();
	if (r->pump >= 0)
		(void)syscall(SYS_pidfd_send_signal, r->pump, SIGKILL, NULL, 0);
	if (!strcmp(whom, "command") || !strcmp(whom, "both"))
		kill(r->command, SIGKILL);
}

static bool is_program(pid_t pid)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "r");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = 0;
	if (f)
		fclose(f);
	return !strcmp(name, "crash\n");
}

/* Reaps all descendants of this round, for which this process is the subreaper. */
static void reap(struct round *r)
{
	uint64_t until = torture_now_ns() + PATIENCE;

	for (;;) {
		siginfo_t info = {.si_pid = 0};
		bool program;
		int status;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return; /* no child is left */
		if (!info.si_pid) {
			if (torture_now_ns() > until)
				failed(r, "a process does not exit", 0);
			usleep(1000);
			continue;
		}
		program = is_program(info.si_pid);
		(void)waitpid(info.si_pid, &status, 0);
		if (info.si_pid == r->command)
			r->command_status = status;
		else if (program)
			r->program_status = status;
		else
			r->pump_status = status, r->pump_ended_ns = torture_now_ns();
	}
}

/* --- checking the other processes ------------------------------------------------- */

static bool file_has(const struct round *r, const char *suffix, const char *what)
{
	char path[sizeof(r->path) + 8], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", r->path, suffix);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		found = found || strstr(line, what);
	if (f)
		fclose(f);
	return found;
}

static void judge_program(const struct round *r, int status)
{
	/* status is -1 when the command had reaped the program before it was killed itself. */
	if (status != -1 && (!WIFEXITED(status) || WEXITSTATUS(status) != OWN))
		failed(r, "the program ended with a wrong status", status);
	for (uint32_t who = r->first; who < r->first + 2; who++) {
		char says[64];
		snprintf(says, sizeof(says), "%llu events",
			 (unsigned long long)tally->slot[who].done);
		if (!tally->slot[who].done || !file_has(r, ".out", says))
			failed(r, "unexpected output of the program", who);
		if (tally->slot[who].longest_ns > LONGEST_NS)
			failed(r, "an emit of the program took too long, milliseconds",
			       (long)(tally->slot[who].longest_ns / 1000000));
	}
}

static void judge(const struct round *r)
{
	bool by_itself = WIFEXITED(r->command_status);
	int status = by_itself ? r->command_status : r->program_status;

	if (tally->next > r->first)
		judge_program(r, status);
	else if (!r->early)
		failed(r, "the program did not run", status);
	else if (by_itself && WEXITSTATUS(status) != BEFORE_COMMAND)
		failed(r, "the command's status", status);
	if (!by_itself && strcmp(whom, "command") && strcmp(whom, "both"))
		failed(r, "the command did not end by itself", r->command_status);
	if (!strcmp(whom, "pump") && r->pump >= 0 && r->killed_ns < tally->ended_ns &&
	    !file_has(r, ".err", "ended early"))
		failed(r, "the command did not report that the pump ended", 0);
	if (by_itself || strcmp(whom, "command"))
		return;
	if (r->pump_status > 0 && (!r->early || WIFSIGNALED(r->pump_status)))
		failed(r, "the pump did not end well", r->pump_status);
	if (r->pump_ended_ns > r->killed_ns + LONGEST_NS)
		failed(r, "the pump took too long to finish, milliseconds",
		       (long)((r->pump_ended_ns - r->killed_ns) / 1000000));
}

/*
 * After a kill of the pump, check must only require that the events have no gap, not that all are
 * present.
 */
static void settle(const struct round *r)
{
	for (uint32_t who = r->first; who < r->first + SLOTS; who++)
		tally->slot[who].done = strcmp(whom, "command") ? 0 : tally->slot[who].due;
}

static void one_round(unsigned number, uint64_t *chance)
{
	static struct round r;
	char path[4096];

	r = (struct round){.number = number,
			   .first = number * SLOTS, /* each writer of each round has its own slot */
			   .chance = chance,
			   .pump = -1,
			   .command_status = -1,
			   .program_status = -1,
			   .pump_status = -1};
	snprintf(r.path, sizeof(r.path), "%s/%u", folder, number);
	snprintf(path, sizeof(path), "%s.tally", r.path);
	setenv("TORTURE_TALLY", path, 1);
	tally = torture_map();
	tally->next = r.first;
	r.early = !strcmp(whom, "calls") || torture_random(chance, 4) == 0;
	start(&r);
	wait_for_moment(&r);
	strike(&r);
	reap(&r);
	judge(&r);
	settle(&r);
	munmap(tally, sizeof(*tally));
	if (r.pump >= 0)
		close(r.pump);
}

int main(int argc, char **argv)
{
	unsigned rounds;
	uint64_t seed;
	int status, bad = 0;

	if (argc == 2 && !strcmp(argv[1], "work"))
		return work();
	if (argc != 4)
		return fprintf(stderr, "usage: crash WHOM ROUNDS FOLDER\n"), 99;
	self = argv[0];
	whom = argv[1];
	rounds = torture_arg(argc, argv, 2, 10);
	folder = argv[3];
	seed = torture_seed();
	for (unsigned w = 0; w < WORKERS; w++) {
		uint64_t chance = seed + w * 0x9e3779b97f4a7c15u;
		if (fork())
			continue;
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (unsigned i = w; i < rounds; i += WORKERS)
			one_round(i, &chance);
		_exit(0);
	}
	while (wait(&status) > 0)
		bad |= status != 0;
	return bad;
}
