/* SPDX-License-Identifier: MIT */
/*
 * inject.c - inject PATH PRE HANDLER: a signal at every instruction of an emit, or at every
 * $TORTURE_STRIDE-th, whose handler
 *
 *   one    traces one event
 *   many   traces enough events to change the chunk of its level
 *   alt    the same on an alternate stack just above the emit's frame
 *   jump   traces one and leaves by siglongjmp
 *   fork   forks; both processes trace, and both return into the emit
 *
 * PATH is the kind of the interrupted event, fixed, text or bytes; PRE events of kind `fixed` come
 * before it. To be run under `waymark record`, whose rules determine whether an event takes the
 * direct path.
 */
#include <setjmp.h>

#include "tracer.h"

#define MANY       400
#define AFTER      3
#define AFTER_JUMP 100

static struct torture_tally *tally, *own; /* `own` is this process's tally, `tally` the parent's */
static const char *path, *handler;
static unsigned pre;
static uint32_t who, handler_who, child_who;
static sigjmp_buf back;
static bool forked;
static volatile bool may_jump; /* the frame of sigsetjmp() still exists */
static uint64_t now_at;        /* the address of this round's signal */

static void say_where(void)
{
	if (now_at)
		fprintf(stderr, "inject: %s %s: the signal came at %lx\n", path, handler,
			(unsigned long)now_at);
}

/* Discards the counts of the interrupted emit from now on. */
static void become_child(void)
{
	int fd = open(getenv("TORTURE_TALLY"), O_RDWR | O_CLOEXEC);

	own = torture_map();
	if (mmap(tally, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		die("mmap");
	close(fd);
	child_who = torture_slot(own, TORTURE_LOSSLESS);
	/* The interrupted emit, into which it returns, may count as well. */
	own->slot[child_who].spare = 1;
	forked = true;
	for (unsigned i = 0; i < AFTER; i++)
		torture_any(own, child_who);
}

static void on_signal(int sig)
{
	int status;
	pid_t pid;

	(void)sig;
	if (!strcmp(handler, "fork")) {
		pid = fork();
		if (pid == 0) {
			become_child();
			return;
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
			fprintf(stderr, "inject: the forked child ended with %x\n", status);
			_exit(1);
		}
	}
	for (unsigned i = 0; i < (strcmp(handler, "many") && strcmp(handler, "alt") ? 1 : MANY);
	     i++)
		torture_any(tally, handler_who);
	if (may_jump && !strcmp(handler, "jump"))
		siglongjmp(back, 1);
}

static __attribute__((noinline)) void emit(void)
{
	char text[96];

	torture_string(text, tally->slot[who].begun);
	begin();
	if (!strcmp(path, "text"))
		torture_prepared(tally, who, text);
	else if (!strcmp(path, "bytes"))
		torture_bytes(tally, who);
	else
		torture_fixed(tally, who);
}

/*
 * Emits deeper in the stack than the handlers: the bytes that remain there must not mislead the
 * runtime.
 */
static __attribute__((noinline)) void emit_deep_down(void)
{
	volatile char room[32768];

	room[0] = 0;
	for (unsigned i = 0; i < pre; i++)
		torture_fixed(tally, who);
	room[sizeof(room) - 1] = 0;
}

static __attribute__((noinline)) void run(void)
{
	bool jumps = !strcmp(handler, "jump");
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	char stack[32768]; /* a stack just above the frame of the emit */
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	if (!strcmp(handler, "alt"))
		sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &a, NULL);
	if (!sigsetjmp(back, 1)) {
		may_jump = true;
		emit_deep_down();
		emit();
	}
	for (unsigned i = 0; i < (jumps ? AFTER_JUMP : AFTER); i++)
		forked ? torture_any(own, child_who) : torture_any(tally, who);
	may_jump = false;
}

static void child(void)
{
	unsigned flags = strcmp(handler, "jump") ? TORTURE_LOSSLESS : 0;

	who = torture_slot(tally, flags | TORTURE_SHARED);
	handler_who = torture_slot(tally, flags);
	traced();
	run();
	_exit(0);
}

static pid_t start(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		child();
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP)
		die("a child did not reach the beginning");
	return pid;
}

int main(int argc, char **argv)
{
	struct visit *v;
	unsigned nr, stride = torture_stride(), signals = 0;
	pid_t first;

	if (argc != 4)
		die("usage: inject PATH PRE HANDLER");
	tally = torture_map();
	path = argv[1];
	pre = torture_arg(argc, argv, 2, 0);
	handler = argv[3];
	first = start(); /* the emit's slot is its first */
	nr = survey(first, path, &tally->slot[tally->next - 2].done, &v);
	atexit(say_where);
	for (unsigned i = torture_first(stride, handler) + pre % stride; i < nr; i += stride) {
		pid_t pid = start();
		now_at = v[i].pc;
		signals++;
		if (run_to(pid, v[i].pc, 1) && resume(pid, PTRACE_CONT, SIGUSR1)) {
			fprintf(stderr, "inject: the child stopped again at %lx\n", pc_of(pid));
			return 1;
		}
	}
	now_at = 0;
	fprintf(stderr, "inject: %s %s: %u signals\n", path, handler, signals);
	return signals < 20;
}
