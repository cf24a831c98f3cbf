/* SPDX-License-Identifier: MIT */
/*
 * enable.c - measures the time to enable 10,000 sites of a program whose threads run through them:
 * from the message that the rules changed until the program reports that they are in effect.
 * Implements the recorder's side of runtime/agent.h.
 *
 * For each new process, `enable_10k` is the first enabling (ids are announced, code pages are
 * copied); then come `disable_10k` and `enable_10k_again`.
 *
 *   bench-enable TARGET FOLDER PROCESSES
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ring/pool.h"
#include "runtime/agent.h"
#include "sites.h"

#define AGAIN   10
#define WAIT_MS 10000

static const char *folder;
static uint64_t generation;

static void die(const char *what)
{
	fprintf(stderr, "bench enable: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Writes one rule; the program reports when it is in effect. */
static void write_rules(const char *glob)
{
	struct {
		struct wm_rules_header h;
		struct wm_rule r;
		char glob[16];
	} f = {{.magic = WM_RULES_MAGIC,
		.version = WM_PROTOCOL,
		.bytes = sizeof(f),
		.generation = ++generation,
		.nr_rules = 1,
		.pool_mode = WM_POOL_OVERWRITE,
		.buffer_bytes = 64u << 20,
		.clock_kind = WM_CLOCK_CYCLES},
	       {.bytes = sizeof(f.r) + sizeof(f.glob),
		.glob_bytes = (uint16_t)strlen(glob),
		.level_max = 255},
	       {0}};
	char path[300], next[310];
	int fd;

	snprintf(f.glob, sizeof(f.glob), "%s", glob);
	snprintf(path, sizeof(path), "%s/rules", folder);
	snprintf(next, sizeof(next), "%s.new", path);
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &f, sizeof(f)) != sizeof(f) || close(fd) || rename(next, path))
		die(path);
}

/* Sets a limit for every wait on the socket. */
static int limit(int fd)
{
	const struct timeval t = {WAIT_MS / 1000, 0};

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
}

static int listen_in_folder(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", folder);
	unlink(a.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4) || limit(fd))
		die("socket");
	return fd;
}

/* Receives one message and closes the descriptors that come with it. */
static ssize_t receive(int fd, void *buf, size_t bytes)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {buf, bytes};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		close(*(int *)(void *)CMSG_DATA(c));
	return got;
}

static struct wm_msg_synced wait_synced(int fd)
{
	static union {
		struct wm_msg h;
		struct wm_msg_synced synced;
		char room[WM_MSG_MAX];
	} m;

	for (;;) {
		if (receive(fd, &m, sizeof(m)) <= 0)
			die("no answer from the target");
		if (m.h.type == WM_MSG_SYNCED && m.synced.generation == generation)
			return m.synced;
	}
}

/* Returns the milliseconds from the message to its effect. */
static double change(int fd, const char *glob, uint32_t sites)
{
	const struct wm_msg go = {WM_MSG_RULES, sizeof(go)};
	struct wm_msg_synced s;
	double before;

	write_rules(glob);
	before = now_ms();
	if (send(fd, &go, sizeof(go), MSG_NOSIGNAL) != sizeof(go))
		die("send");
	s = wait_synced(fd);
	before = now_ms() - before;
	if (s.nr_sites != sites || s.nr_refused) {
		fprintf(stderr, "bench enable: %u sites are on and %u refused, not %u and 0\n",
			s.nr_sites, s.nr_refused, sites);
		exit(1);
	}
	return before;
}

struct target {
	pid_t pid;
	int in, out;
};

static struct target start(const char *program)
{
	int in[2], out[2];
	struct target t;
	char c;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe");
	t.pid = fork();
	if (!t.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		setenv(WM_SESSION_ENV, folder, 1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t.in = in[1];
	t.out = out[0];
	if (t.pid < 0 || read(t.out, &c, 1) != 1)
		die(program);
	return t;
}

static unsigned long long finish(struct target *t)
{
	char text[64] = "";
	ssize_t n;

	close(t->in);
	n = read(t->out, text, sizeof(text) - 1);
	close(t->out);
	waitpid(t->pid, NULL, 0);
	return n > 0 ? strtoull(text, NULL, 10) : 0;
}

static unsigned long long one_process(int listener, const char *program)
{
	struct target t;
	unsigned long long passed;
	int fd;

	write_rules("nothing:*");
	t = start(program);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || limit(fd))
		die("no connection from the target");
	(void)wait_synced(fd);
	for (int i = 0; i <= AGAIN; i++) {
		printf("enable_10k%s\tours\t%.3f\n", i ? "_again" : "",
		       change(fd, "many:*", NR_SITES));
		usleep(20000); /* lets the threads emit meanwhile */
		printf("disable_10k\tours\t%.3f\n", change(fd, "nothing:*", 0));
		usleep(20000);
	}
	passed = finish(&t);
	close(fd);
	return passed;
}

int main(int argc, char **argv)
{
	unsigned long long passed = 0, least = ~0ull;
	int listener;

	if (argc < 4)
		return 2;
	folder = argv[2];
	listener = listen_in_folder();
	for (int i = 0; i < atoi(argv[3]); i++) {
		passed = one_process(listener, argv[1]);
		least = passed < least ? passed : least;
	}
	fprintf(stderr, "each target's threads passed at least %.1f million sites\n",
		(double)least / 1e6);
	return least < 1000000;
}
