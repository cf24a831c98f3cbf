/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - hostile MILLISECONDS: for that time, one process traces and must lose no event, while
 * children join like it and then overwrite their own shared memory with random values, send invalid
 * messages over their own socket and close it, and others talk to the recorder's socket without
 * joining.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "stranger.h"

static struct torture_tally *tally;
static uint64_t until;

static unsigned char *find_pool(size_t *ret_bytes)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from = 0, to = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "waymark-pool") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			break;
	if (f)
		fclose(f);
	*ret_bytes = to - from;
	return (unsigned char *)from;
}

static int find_socket(void)
{
	struct stat st;

	for (int fd = 1023; fd > 2; fd--) {
		int type = 0;
		socklen_t n = sizeof(type);
		if (!fstat(fd, &st) && S_ISSOCK(st.st_mode) &&
		    !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) && type == SOCK_SEQPACKET)
			return fd;
	}
	return -1;
}

/*
 * Chooses mostly critical places: the header, the states, the chunks' headers, the first records.
 */
static size_t any_place(uint64_t *chance, size_t bytes)
{
	size_t at;

	switch (torture_random(chance, 4)) {
	case 0:
		at = torture_random(chance, 512);
		break;
	case 1:
		at = 4096 + 8 * (size_t)torture_random(chance, 64);
		break;
	case 2:
		at = (size_t)torture_random(chance, (uint32_t)(bytes / 4096)) * 4096 +
		     torture_random(chance, 128);
		break;
	default:
		at = (size_t)((double)torture_random(chance, ~0u) / 4294967296.0 * (double)bytes);
	}
	at &= ~(size_t)7;
	return at + 8 <= bytes ? at : 0;
}

static void scribble(unsigned char *pool, size_t bytes, uint64_t *chance)
{
	for (int i = 0; i < 64; i++)
		*(volatile uint64_t *)(void *)(pool + any_place(chance, bytes)) = any_word(chance);
}

/* A process that damages only itself, and therefore may crash or hang. */
static void hostile(uint64_t chance)
{
	uint32_t who = torture_slot(tally, TORTURE_HOSTILE);
	bool talks = torture_random(&chance, 2), writes = !talks || torture_random(&chance, 2);
	size_t bytes = 0;
	unsigned char *pool;
	int sock;

	torture_any(tally, who);
	pool = find_pool(&bytes);
	sock = find_socket();
	for (int i = 0; i < 400; i++) {
		if (writes && pool)
			scribble(pool, bytes, &chance);
		for (int k = 0; k < 40; k++)
			torture_any(tally, who);
		if (talks && sock >= 0 && i % 16 == 15)
			say_something(sock, &chance);
		if (talks && sock >= 0 && torture_random(&chance, 400) == 0)
			close(sock), sock = -1;
		usleep(20);
	}
	_exit(0);
}

/* A process that does not join, although its messages may make the recorder treat it as joined. */
static void stranger(uint64_t chance)
{
	(void)torture_slot(tally, TORTURE_HOSTILE);
	for (unsigned n = 0; n < 20; n++)
		visit(&chance);
	_exit(0);
}

static void neighbour(void)
{
	uint32_t who = torture_slot(tally, TORTURE_LOSSLESS);

	while (torture_now_ns() < until + 50000000) {
		for (int i = 0; i < 20; i++)
			torture_any(tally, who);
		usleep(300);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t chance = torture_seed();
	pid_t other;
	int status;

	tally = torture_map();
	until = torture_now_ns() + torture_arg(argc, argv, 1, 1000) * 1000000ull;
	other = fork();
	if (other == 0)
		neighbour();
	while (torture_now_ns() < until) {
		pid_t pid = fork();
		uint64_t patience = torture_now_ns() + 500000000;
		torture_random(&chance, 2);
		if (pid == 0 && torture_random(&chance, 3) == 0)
			stranger(chance);
		if (pid == 0)
			hostile(chance);
		while (waitpid(pid, &status, WNOHANG) == 0 && torture_now_ns() < patience)
			usleep(500);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	waitpid(other, &status, 0);
	return status != 0;
}
