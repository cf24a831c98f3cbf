/* SPDX-License-Identifier: MIT */
/*
 * stranger.h - a malicious client at a recorder's socket, for hostile.c: the messages of a traced
 * process, with wrong lengths, wrong values, wrong descriptors, too often, and cut off at any
 * point. Relies on the layouts of runtime/agent.h and ring/pool.h; knows nothing of the recorder's
 * behaviour.
 */
#ifndef TORTURE_STRANGER_H
#define TORTURE_STRANGER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ring/pool.h"
#include "runtime/agent.h"
#include "torture.h"

#define SAID_MAX 70000u

static inline uint64_t any_word(uint64_t *chance)
{
	uint64_t r = (uint64_t)torture_random(chance, ~0u) << 32 | torture_random(chance, ~0u);

	switch (torture_random(chance, 5)) {
	case 0:
		return 0;
	case 1:
		return ~0ull;
	case 2: /* small fields of a state or a commit word */
		return r & 0x000003ff000007ffull;
	case 3:
		return 1ull << torture_random(chance, 64);
	default:
		return r;
	}
}

/* --- descriptors -------------------------------------------------------------- */

static inline int shared_file(off_t bytes, int seals)
{
	int fd = (int)syscall(SYS_memfd_create, "stranger", 3u); /* CLOEXEC, ALLOW_SEALING */

	if (fd >= 0 && ftruncate(fd, bytes) == 0 && seals)
		(void)fcntl(fd, 1024 + 9 /* F_ADD_SEALS */, seals);
	return fd;
}

/* Creates a memfd that is almost a pool: its first page is a valid header except for some words. */
static inline int strange_pool(uint64_t *chance)
{
	struct wm_pool_header h = {.magic = WM_POOL_MAGIC, .version = WM_POOL_VERSION};
	uint64_t word[sizeof(h) / 8];
	int fd = shared_file(1 << 20, 0);

	h.bytes = 1 << 20;
	h.nr_small = torture_random(chance, 2) ? 16 : (uint32_t)any_word(chance);
	h.nr_big = torture_random(chance, 2) ? 14 : (uint32_t)any_word(chance);
	h.big_bytes = torture_random(chance, 2) ? 65536 : (uint32_t)any_word(chance);
	memcpy(word, &h, sizeof(h));
	word[torture_random(chance, sizeof(word) / 8)] = any_word(chance);
	if (fd >= 0 && pwrite(fd, word, sizeof(word), 0) < 0)
		return fd;
	(void)fcntl(fd, 1024 + 9, 7);
	return fd;
}

/* Returns a descriptor to send, or -1. `sock` may be sent through itself. */
static inline int strange_fd(uint64_t *chance, int sock)
{
	int pair[2];

	switch (torture_random(chance, 10)) {
	case 0:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1: /* reading this would block */
		if (pipe(pair))
			return -1;
		close(pair[1]);
		return pair[0];
	case 2:
		return shared_file(1 << 20, 0);
	case 3:
		return shared_file(any_word(chance) & 0x7fffff, 7);
	case 4:
		return shared_file(1ll << 36, 7);
	case 5:
		return dup(sock);
	case 6:
		return open("/", O_PATH | O_CLOEXEC);
	case 7:
	case 8:
		return strange_pool(chance);
	default:
		return -1;
	}
}

/* --- messages ------------------------------------------------------------------ */

static inline void send_all(int sock, const void *bytes, size_t n, const int *fds, unsigned nr_fds)
{
	union {
		char room[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c = &control.align;

	if (nr_fds) {
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
	}
	(void)sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Writes an EVENT with a valid description, in which at most one word is changed. */
static inline size_t strange_event(unsigned char *to, uint64_t *chance)
{
	const struct waymark_desc *d = (const void *)&WAYMARK_ID(desc, torture, bytes);
	struct wm_msg_event e = {{WM_MSG_EVENT, 0}, torture_random(chance, 300), 0, d->size, 0};
	size_t at = sizeof(e) + 4 * (size_t)torture_random(chance, d->size / 4);
	uint32_t other = (uint32_t)any_word(chance);

	memcpy(to, &e, sizeof(e));
	memcpy(to + sizeof(e), d, d->size);
	if (torture_random(chance, 4))
		memcpy(to + at, &other, sizeof(other));
	return sizeof(e) + d->size;
}

static inline size_t strange_hello(unsigned char *to, uint64_t *chance)
{
	struct wm_msg_hello h = {.h = {WM_MSG_HELLO, 0},
				 .protocol = WM_PROTOCOL,
				 .abi = WAYMARK_ABI,
				 .pid = (uint32_t)any_word(chance),
				 .pool_bytes = any_word(chance),
				 .start_clock = any_word(chance),
				 .path_bytes = torture_random(chance, 4) ? 4 : any_word(chance),
				 .comm = "\033[31mall sixteen"};

	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), "/a\n", 4);
	return sizeof(h) + 4;
}

/* Writes a message of any type; the length in its header is mostly correct. */
static inline size_t strange_message(unsigned char *to, uint64_t *chance)
{
	struct wm_msg h = {torture_random(chance, 9), 0};
	size_t bytes;

	switch (torture_random(chance, 4)) {
	case 0:
		bytes = strange_event(to, chance);
		h.type = WM_MSG_EVENT;
		break;
	case 1:
		bytes = strange_hello(to, chance);
		h.type = WM_MSG_HELLO;
		break;
	default: /* including a tool's SNAPSHOT */
		bytes = torture_random(chance, 16) ? torture_random(chance, 320) : 65000;
		if (torture_random(chance, 8) == 0)
			h.type = torture_random(chance, 2) ? 64 : torture_random(chance, 200);
		for (size_t i = 0; i < bytes && i < 320; i += 8) {
			uint64_t word = any_word(chance);
			memcpy(to + i, &word, 8);
		}
	}
	h.bytes = torture_random(chance, 8) ? (uint32_t)bytes : (uint32_t)any_word(chance);
	memcpy(to, &h, bytes < sizeof(h) ? bytes : sizeof(h));
	return torture_random(chance, 16) ? bytes : torture_random(chance, (uint32_t)bytes + 1);
}

static inline void say_something(int sock, uint64_t *chance)
{
	static unsigned char text[SAID_MAX] __attribute__((aligned(8)));
	size_t bytes = strange_message(text, chance);
	unsigned nr = 0, most = torture_random(chance, 16) ? 1 : 8;
	int fds[8];

	while (nr < most && torture_random(chance, 3)) {
		fds[nr] = strange_fd(chance, sock);
		if (fds[nr] < 0)
			break;
		nr++;
	}
	send_all(sock, text, bytes, fds, nr);
	while (nr)
		close(fds[--nr]);
}

/* --- visits -------------------------------------------------------------------- */

/* Connects to the first recorder; returns -1 when it does not accept the connection. */
static inline int knock(void)
{
	const char *folder = getenv("WAYMARK_SESSION");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (!folder || sock < 0)
		return sock < 0 ? -1 : (close(sock), -1);
	snprintf(a.sun_path, sizeof(a.sun_path), "%.*s/sock", (int)strcspn(folder, ":"), folder);
	if (connect(sock, (struct sockaddr *)&a, sizeof(a)) == 0)
		return sock;
	close(sock);
	return -1;
}

/* Sends some messages and closes the connection, sometimes one direction after the other. */
static inline void converse(uint64_t *chance)
{
	int sock = knock();

	for (unsigned n = torture_random(chance, 40); sock >= 0 && n; n--) {
		say_something(sock, chance);
		if (torture_random(chance, 20) == 0)
			(void)shutdown(sock, (int)torture_random(chance, 3));
	}
	if (sock >= 0)
		close(sock);
}

/*
 * Sends as many messages as the recorder accepts, for some time, including valid ones that are
 * answered at once.
 */
static inline void flood(uint64_t *chance)
{
	static unsigned char text[SAID_MAX] __attribute__((aligned(8)));
	uint64_t until = torture_now_ns() + 20000000;
	struct wm_msg snapshot = {64, sizeof(snapshot)};
	bool tool = torture_random(chance, 2);
	int sock = knock();

	while (sock >= 0 && torture_now_ns() < until) {
		if (tool)
			send_all(sock, &snapshot, sizeof(snapshot), NULL, 0);
		else
			send_all(sock, text, strange_event(text, chance), NULL, 0);
	}
	if (sock >= 0)
		close(sock);
}

/* Opens many connections that send nothing and stay. */
static inline void crowd(uint64_t *chance)
{
	int sock[600];
	unsigned nr = 0, most = torture_random(chance, 600);

	while (nr < most && (sock[nr] = knock()) >= 0)
		nr++;
	usleep(5000);
	while (nr)
		close(sock[--nr]);
}

static inline void visit(uint64_t *chance)
{
	switch (torture_random(chance, 8)) {
	case 0:
		crowd(chance);
		break;
	case 1:
		flood(chance);
		break;
	default:
		converse(chance);
	}
}

#endif
