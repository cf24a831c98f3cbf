/* SPDX-License-Identifier: MIT */
/*
 * timed.c - bench-timed OUT COMMAND...: runs the command with its output in OUT, and prints seconds
 * of wall time, seconds of processor time, and its peak anonymous memory (MiB, sampled every 5 ms),
 * separated by tabs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns RssAnon of /proc/PID/status in KiB; 0 when the process has exited. */
static long anonymous(pid_t pid)
{
	char name[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	double begin = now(), wall;
	long most = 0, kib;
	struct rusage r;
	struct pollfd p = {.events = POLLIN};
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		int out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);

		if (out < 0 || dup2(out, 1) < 0)
			_exit(126);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	p.fd = pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd < 0)
		return 1;
	while (poll(&p, 1, 5) == 0) {
		kib = anonymous(pid);
		most = kib > most ? kib : most;
	}
	wall = now() - begin;
	if (wait4(pid, &status, 0, &r) != pid)
		return 1;
	printf("%.4f\t%.4f\t%.1f\n", wall,
	       (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
		   (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6,
	       (double)most / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
