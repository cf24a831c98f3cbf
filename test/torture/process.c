/* SPDX-License-Identifier: MIT */
/*
 * process.c - process MODE [COUNT]: programs that create and end processes, threads and descriptors
 * while they trace. The cases are the functions of the table at the end. To be run under `waymark
 * record`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "torture.h"

extern char **environ;

static struct torture_tally *tally;
static const char *self;
static unsigned count;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "process: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void some(uint32_t who, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		torture_any(tally, who);
}

static uint32_t lossless(void)
{
	return torture_slot(tally, TORTURE_LOSSLESS);
}

static void wait_for(pid_t pid)
{
	int status = -1;

	must(pid > 0 && waitpid(pid, &status, 0) == pid, "waitpid");
	if (status) {
		fprintf(stderr, "process: a child ended with %x\n", status);
		_exit(1);
	}
}

static void *repeat(void *stop)
{
	uint32_t who = lossless();

	do {
		some(who, 5);
		sched_yield();
	} while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE));
	return NULL;
}

/* --- forks ------------------------------------------------------------------ */

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/*
 * At each depth, two threads trace and two children are created, one by fork and one by a bare
 * clone.
 */
static void deep_family(unsigned depth)
{
	uint32_t who = lossless();
	pthread_t thread[2];
	int stop = 0;

	for (int i = 0; i < 2; i++)
		must(!pthread_create(&thread[i], NULL, repeat, &stop), "pthread_create");
	some(who, 20);
	for (int i = 0; i < 2 && depth; i++) {
		pid_t pid = i ? raw_clone() : fork();
		if (pid == 0) {
			deep_family(depth - 1);
			_exit(0);
		}
		some(who, 20);
		wait_for(pid);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	some(who, 20);
}

static int deep(void)
{
	for (unsigned i = 0; i < count; i++)
		deep_family(3);
	return 0;
}

/* In a child, new threads trace before and while the thread that returned from the fork traces. */
static void heirs_family(void)
{
	uint32_t who = lossless();
	pthread_t thread[2];
	int stop = 0;

	for (int i = 0; i < 2; i++)
		must(!pthread_create(&thread[i], NULL, repeat, &stop), "pthread_create");
	usleep(2000);
	some(who, 2000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	some(who, 20);
}

static int heirs(void)
{
	some(lossless(), 20);
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = i & 1 ? raw_clone() : fork();
		if (pid == 0) {
			heirs_family();
			_exit(0);
		}
		wait_for(pid);
	}
	return 0;
}

/* Finds the pump: the child of this process's parent with that name. */
static pid_t find_pump(void)
{
	char path[64], name[32] = "";
	int pid = 0;
	FILE *f, *comm;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
	f = fopen(path, "r");
	must(f != NULL, path);
	while (strcmp(name, "waymark-pump\n") && fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		comm = fopen(path, "r");
		if (comm && !fgets(name, sizeof(name), comm))
			name[0] = 0;
		if (comm)
			fclose(comm);
	}
	fclose(f);
	must(!strcmp(name, "waymark-pump\n"), "no pump");
	return pid;
}

/* All children, and this process, start and exit before the pump looks. */
static int storm(void)
{
	pid_t pump = find_pump();

	must(!kill(pump, SIGSTOP), "stop");
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			some(lossless(), 3);
			_exit(0);
		}
		wait_for(pid);
	}
	if (fork() == 0) {
		usleep(200000);
		_exit(kill(pump, SIGCONT));
	}
	return 0;
}

/*
 * The first event of a thread is emitted in a vfork child; the parent's thread has not emitted any.
 */
static void *vforks(void *unused)
{
	uint32_t who = torture_slot(tally, 0);

	for (unsigned i = 0; i < count / 4; i++) {
		pid_t pid = vfork();
		if (pid == 0) {
			torture_fixed(tally, who);
			execl(self, self, "quick", NULL);
			_exit(127);
		}
		torture_fixed(tally, who);
		wait_for(pid);
	}
	return unused;
}

static int vfork_exec(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		must(!pthread_create(&thread[i], NULL, vforks, NULL), "pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static int quick(void)
{
	some(lossless(), 1);
	return 0;
}

static int spawn(void)
{
	char *argv[] = {(char *)(uintptr_t)self, (char *)"quick", NULL};
	uint32_t who = lossless();
	pid_t pid;

	for (unsigned i = 0; i < count; i++) {
		some(who, 3);
		must(!posix_spawn(&pid, self, NULL, NULL, argv, environ), "posix_spawn");
		wait_for(pid);
	}
	return 0;
}

static int shares_memory(void *who)
{
	some(*(uint32_t *)who, 10);
	return 0;
}

/* The child runs on its own stack but with its parent's thread pointer; the parent waits. */
static int clone_vm(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	uint32_t first = torture_slot(tally, 0), who = lossless();

	for (unsigned i = 0; i < count; i++) {
		uint32_t *slot = i ? &who : &first; /* the first child's slot cannot be attributed
						     * to a process */
		pid_t pid = clone(shares_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, slot);
		wait_for(pid);
		some(who, 3);
	}
	return 0;
}

static volatile sig_atomic_t forks;
static uint32_t handler_slot;

static void set_alarm(unsigned us)
{
	struct itimerval t = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void fork_in_handler(int sig)
{
	pid_t pid;

	(void)sig;
	if (forks >= (int)count) /* a fork may take longer than the interval between two signals */
		return set_alarm(0);
	torture_any(tally, handler_slot);
	pid = forks & 1 ? raw_clone() : fork();
	if (pid == 0) {
		uint32_t who = lossless();
		some(who, 10);
		_exit(0); /* a bare clone must not return into an event */
	}
	wait_for(pid);
	torture_any(tally, handler_slot);
	forks++;
}

static int handler_forks(void)
{
	struct sigaction a = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
	uint32_t who = lossless();

	handler_slot = lossless();
	sigaction(SIGALRM, &a, NULL);
	set_alarm(300);
	while (forks < (int)count)
		some(who, 10);
	set_alarm(0);
	return 0;
}

/* --- threads ----------------------------------------------------------------- */

/* Returns the value of a line of /proc/self/status. */
static long resident_kib(const char *which)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, which, strlen(which)))
			kib = atol(line + strlen(which));
	must(kib >= 0, which);
	fclose(f);
	return kib;
}

static void *short_life(void *who)
{
	torture_fixed(tally, *(uint32_t *)who);
	return NULL;
}

/*
 * Starts `count` threads, four at a time. The second half must not need more memory than the first,
 * except in the buffer, where a busy pump may lag by some thousands of 4 KiB chunks.
 */
static int short_threads(void)
{
	long private = 0, shared = 0;
	uint32_t who[4];

	for (int i = 0; i < 4; i++)
		who[i] = lossless();
	for (unsigned n = 0; n < count; n += 4) {
		pthread_t thread[4];
		for (int i = 0; i < 4; i++)
			must(!pthread_create(&thread[i], NULL, short_life, &who[i]),
			     "pthread_create");
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		if (n < count / 2)
			continue;
		if (!private) {
			private = resident_kib("RssAnon:");
			shared = resident_kib("RssShmem:");
		}
	}
	private = resident_kib("RssAnon:") - private;
	shared = resident_kib("RssShmem:") - shared;
	fprintf(stderr, "process: in the second half %ld KiB more of its own, %ld KiB of buffer\n",
		private, shared);
	return private > 512 || shared > (32 << 10);
}

static void *outlives_main(void *unused)
{
	uint32_t who = lossless();

	for (int i = 0; i < 200; i++) {
		some(who, 10);
		usleep(500);
	}
	return unused;
}

static int exit_main(void)
{
	pthread_t thread;

	some(lossless(), 10);
	must(!pthread_create(&thread, NULL, outlives_main, NULL), "pthread_create");
	pthread_exit(NULL);
}

static pthread_key_t key;

static void on_thread_end(void *who)
{
	some(*(uint32_t *)who, 5);
}

struct canceled {
	uint32_t who, last;
	int type;
};

static void *until_canceled(void *data)
{
	struct canceled *c = data;

	pthread_setcanceltype(c->type, NULL);
	pthread_setspecific(key, &c->last);
	/* Uses no libc calls in the asynchronous case; pauses so that a busy pump can keep up. */
	for (;;) {
		if (c->type == PTHREAD_CANCEL_DEFERRED)
			some(c->who, 10);
		else if (tally->slot[c->who].begun & 1)
			torture_fixed(tally, c->who);
		else
			torture_bytes(tally, c->who);
		for (volatile int spin = 0; spin < 1000; spin = spin + 1)
			;
		if (c->type == PTHREAD_CANCEL_DEFERRED)
			pthread_testcancel();
	}
	return NULL;
}

/*
 * Cancels threads, also in the middle of an event, which then is recorded, is counted as lost, or
 * had not begun.
 */
static int cancel(void)
{
	must(!pthread_key_create(&key, on_thread_end), "key");
	for (unsigned i = 0; i < count; i++) {
		struct canceled c = {0, lossless(),
				     i & 1 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED};
		pthread_t thread;
		c.who = torture_slot(tally, i & 1 ? 0 : TORTURE_LOSSLESS);
		must(!pthread_create(&thread, NULL, until_canceled, &c), "pthread_create");
		usleep(50 + i % 100);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	return 0;
}

/* --- images and descriptors ---------------------------------------------------- */

/*
 * The number of open descriptors, without the standard three, those of $TORTURE_FDS, and the
 * runtime's socket.
 */
static unsigned descriptors(void)
{
	unsigned n = 0, sockets = 0;
	struct stat st;

	for (int fd = 3; fd < 1024; fd++) {
		if (fstat(fd, &st))
			continue;
		if (S_ISSOCK(st.st_mode) && !sockets++)
			continue;
		n++;
	}
	if (!getenv("TORTURE_FDS")) {
		char text[16];
		snprintf(text, sizeof(text), "%u", n);
		setenv("TORTURE_FDS", text, 1);
	}
	return n - (unsigned)atoi(getenv("TORTURE_FDS"));
}

static int exec_chain(void)
{
	char left[16];

	if (descriptors() != 0) {
		fprintf(stderr, "process: %u descriptors were inherited\n", descriptors());
		return 1;
	}
	some(lossless(), 10);
	if (!count)
		return 0;
	snprintf(left, sizeof(left), "%u", count - 1);
	execl(self, self, "exec_chain", left, NULL);
	return 127;
}

/* Executes an image without the runtime, /bin/ls, which is not traced. */
static int exec_untraced(void)
{
	some(lossless(), 10);
	unsetenv("WAYMARK_SESSION");
	unsetenv("LD_PRELOAD");
	execl("/bin/ls", "ls", "-1", "/proc/self/fd", NULL);
	return 127;
}

/* Closes all unknown descriptors, as daemons do, and opens others afterwards. */
static int closes_all(void)
{
	uint32_t who = lossless();
	int pair[2], many[200];
	char byte = 0;

	some(who, 10);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 200; i++)
		many[i] = open("/dev/null", O_RDONLY);
	/* These numbers belonged to the runtime, which must not use them any more. */
	must(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	for (int fd = 100; fd < 104; fd++)
		must(dup2(pair[0], fd) == fd, "dup2");
	must(write(pair[1], "x", 1) == 1, "write");
	for (int i = 0; i < 50; i++) {
		some(who, 10);
		usleep(10000);
	}
	must(recv(pair[0], &byte, 1, MSG_DONTWAIT) == 1 && byte == 'x',
	     "another reader took the program's message");
	for (int i = 0; i < 200; i++)
		must(many[i] >= 100 ? true : fcntl(many[i], F_GETFD) == 0,
		     "a descriptor was closed");
	return 0;
}

static int few_descriptors(void)
{
	struct rlimit limit = {12, 12};

	(void)descriptors();
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			some(lossless(), 10);
			_exit(descriptors() > 0);
		}
		wait_for(pid);
	}
	execl(self, self, "exec_chain", "3", NULL);
	return 127;
}

/* A mapping larger than the file size limit would raise a signal. */
static int small_files(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	(void)descriptors();
	must(!setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			some(lossless(), 10);
			_exit(0);
		}
		wait_for(pid);
	}
	execl(self, self, "exec_chain", "1", NULL);
	return 127;
}

static int daemonize(void)
{
	uint32_t who = lossless();
	pid_t pid;

	some(who, 10);
	pid = fork();
	if (pid) { /* only in a child, because the recording ends with this process */
		while (!__atomic_load_n(&tally->go, __ATOMIC_ACQUIRE))
			usleep(1000);
		return pid < 0;
	}
	must(setsid() > 0, "setsid");
	pid = fork();
	if (pid)
		_exit(0);
	must(!chdir("/"), "chdir");
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	who = lossless();
	for (int i = 0; i < 20; i++) {
		some(who, 10);
		usleep(5000);
	}
	__atomic_store_n(&tally->go, 1, __ATOMIC_RELEASE);
	_exit(0);
}

/* The process has joined before; its children cannot join, and must run undisturbed. */
static int changes_root(void)
{
	uint32_t who = lossless();
	pid_t pid;

	some(who, 10);
	must(!mkdir("root", 0700) || errno == EEXIST, "mkdir");
	must(!chroot("root") && !chdir("/"), "chroot");
	some(who, 10);
	pid = fork();
	if (pid == 0) {
		some(torture_slot(tally, TORTURE_UNSEEN | TORTURE_UNCOUNTED), 10);
		_exit(0);
	}
	wait_for(pid);
	some(who, 10);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
	unsigned count;
} modes[] = {
    {"deep", deep, 1},
    {"heirs", heirs, 10},
    {"storm", storm, 1000},
    {"vfork_exec", vfork_exec, 1000},
    {"quick", quick, 1},
    {"spawn", spawn, 100},
    {"clone_vm", clone_vm, 100},
    {"handler_forks", handler_forks, 100},
    {"short_threads", short_threads, 10000},
    {"exit_main", exit_main, 1},
    {"cancel", cancel, 500},
    {"exec_chain", exec_chain, 50},
    {"exec_untraced", exec_untraced, 1},
    {"closes_all", closes_all, 1},
    {"few_descriptors", few_descriptors, 5},
    {"small_files", small_files, 5},
    {"daemonize", daemonize, 1},
    {"changes_root", changes_root, 1},
};

int main(int argc, char **argv)
{
	self = argv[0];
	tally = torture_map();
	for (unsigned i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		count = torture_arg(argc, argv, 2, modes[i].count);
		return modes[i].run();
	}
	fprintf(stderr, "process: no such mode\n");
	return 99;
}
