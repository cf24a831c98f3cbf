/* SPDX-License-Identifier: MIT */
/*
 * rules.c - rules COUNT: a separate recorder that changes COUNT times what a program with three
 * threads must record: everything, nothing, some of it, with a context. Each time the program must
 * acknowledge the change; after "nothing" no event may arrive any more, after any other rule one
 * must within 10 ms. Uses the protocol of doc/format/control.md. The program is this executable,
 * run again with the runtime preloaded.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "ring/pool.h"
#include "runtime/agent.h"

#include "torture.h"

#define THREADS 3

static char folder[64];

static void die(const char *what)
{
	fprintf(stderr, "rules: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* One thread emits without a pause, the others with pauses, because the machine may be small. */
static void *busy(void *pause_us)
{
	uint32_t who = torture_slot(torture_map(), 0);
	struct torture_tally *t = torture_map();

	for (;;) {
		for (int i = 0; i < 20; i++)
			torture_any(t, who);
		if (pause_us)
			usleep((useconds_t)(uintptr_t)pause_us);
	}
	return NULL;
}

/* --- the recorder ---------------------------------------------------------- */

enum wish { NOTHING, ALL, TEXT, CONTEXT, NR_WISHES };

static void write_rules(uint64_t generation, enum wish wish)
{
	static const char *const globs[NR_WISHES] = {"", "*", "torture:text", "torture:*"};
	struct {
		struct wm_rules_header h;
		struct wm_rule r;
		char glob[16];
	} f;
	char path[128], temporary[128];
	int fd;

	memset(&f, 0, sizeof(f));
	f.h = (struct wm_rules_header){.magic = WM_RULES_MAGIC,
				       .version = WM_PROTOCOL,
				       .generation = generation,
				       .nr_rules = wish != NOTHING,
				       .pool_mode = WM_POOL_OVERWRITE,
				       .buffer_bytes = 1 << 20,
				       .chunk_bytes = 4096};
	f.r = (struct wm_rule){.bytes = sizeof(f.r) + sizeof(f.glob),
			       .contexts = wish == CONTEXT ? WM_CONTEXT_CPU : 0,
			       .glob_bytes = (uint16_t)strlen(globs[wish]),
			       .level_max = 255};
	memcpy(f.glob, globs[wish], strlen(globs[wish]));
	f.h.bytes = sizeof(f.h) + (wish != NOTHING ? f.r.bytes : 0);
	snprintf(path, sizeof(path), "%s/rules", folder);
	snprintf(temporary, sizeof(temporary), "%s/rules.new", folder);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, &f, f.h.bytes) != (ssize_t)f.h.bytes || rename(temporary, path))
		die(path);
	close(fd);
}

static int listen_at(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", folder);
	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)) || listen(fd, 8))
		die(a.sun_path);
	return fd;
}

/* Receives the next message, and the descriptor it carries; returns its type. */
static uint32_t receive(int sock, char in[WM_MSG_MAX], int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = {in, WM_MSG_MAX};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);

	if (n < (ssize_t)sizeof(struct wm_msg))
		die("the program has exited");
	*ret_fd = -1;
	if (CMSG_FIRSTHDR(&m))
		memcpy(ret_fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	return ((struct wm_msg *)(void *)in)->type;
}

static void wait_for_sync(int sock, uint64_t generation)
{
	static char in[WM_MSG_MAX] __attribute__((aligned(8)));
	struct wm_msg_synced *s = (void *)in;
	int fd;

	do {
		while (receive(sock, in, &fd) != WM_MSG_SYNCED)
			if (fd >= 0)
				close(fd);
	} while (s->generation < generation);
	if (s->nr_refused) {
		fprintf(stderr, "rules: %u sites refused\n", s->nr_refused);
		exit(1);
	}
}

/* Returns the number of all records written so far. */
static uint64_t records(struct wm_pool *p)
{
	uint64_t sum = wm_pool_lost_count(p, WM_LOST_OVERWRITTEN);
	uint32_t small, big;

	wm_pool_high(p, &small, &big);
	for (uint32_t i = 0; i < wm_pool_nr_chunks(p); i++) {
		struct wm_commit c;
		if (i == small)
			i = p->nr_small;
		if (i >= p->nr_small + big)
			break;
		if (wm_pool_committed(p, i, wm_pool_state(p, i), &c) == 0)
			sum += c.count;
	}
	return sum;
}

static void expect_silence(struct wm_pool *p)
{
	uint64_t before, after;

	usleep(50); /* a thread in the middle of an event may finish it */
	before = records(p);
	usleep(100);
	after = records(p);
	if (after > before + THREADS) {
		fprintf(stderr, "rules: %llu events although no rule matches\n",
			(unsigned long long)(after - before));
		exit(1);
	}
}

static void expect_events(struct wm_pool *p)
{
	uint64_t before = records(p), until = torture_now_ns() + 1000000000;

	while (records(p) == before) {
		usleep(20);
		if (torture_now_ns() > until) {
			fprintf(stderr, "rules: no event within a second\n");
			exit(1);
		}
	}
}

static void record(int listening, unsigned count)
{
	static char in[WM_MSG_MAX] __attribute__((aligned(8)));
	struct wm_msg again = {WM_MSG_RULES, sizeof(again)};
	uint64_t seed = torture_seed(), slowest = 0;
	int sock = accept(listening, NULL, NULL), fd;
	struct wm_pool pool;

	if (sock < 0 || receive(sock, in, &fd) != WM_MSG_HELLO || fd < 0 ||
	    wm_pool_open(&pool, fd) < 0)
		die("no HELLO");
	wait_for_sync(sock, 1);
	for (uint64_t generation = 2; generation < count + 2; generation++) {
		enum wish wish = torture_random(&seed, NR_WISHES);
		uint64_t begin = torture_now_ns(), took;
		write_rules(generation, wish);
		if (send(sock, &again, sizeof(again), MSG_NOSIGNAL) < 0)
			die("send");
		wait_for_sync(sock, generation);
		took = torture_now_ns() - begin;
		slowest = took > slowest ? took : slowest;
		if (wish == NOTHING)
			expect_silence(&pool);
		else if (generation % 8 == 0)
			expect_events(&pool);
	}
	fprintf(stderr, "rules: %u changes, the slowest took %llu us\n", count,
		(unsigned long long)slowest / 1000);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int listening, status;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "busy")) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, busy, (void *)(intptr_t)(i * 20));
		return pause();
	}
	snprintf(folder, sizeof(folder), "/tmp/torture-rules.%d", (int)getpid());
	if (mkdir(folder, 0700))
		die(folder);
	write_rules(1, ALL);
	listening = listen_at();
	pid = fork();
	if (pid == 0) {
		setenv("WAYMARK_SESSION", folder, 1);
		setenv("LD_PRELOAD", getenv("TORTURE_RUNTIME"), 1);
		execl(argv[0], argv[0], "busy", NULL);
		die("exec");
	}
	record(listening, torture_arg(argc, argv, 1, 100));
	if (waitpid(pid, &status, WNOHANG) != 0) {
		fprintf(stderr, "rules: the program ended with %x\n", status);
		return 1;
	}
	kill(pid, SIGKILL);
	snprintf(folder + strlen(folder), 8, "/rules");
	unlink(folder);
	strcpy(strrchr(folder, '/'), "/sock");
	unlink(folder);
	*strrchr(folder, '/') = 0;
	rmdir(folder);
	return 0;
}
