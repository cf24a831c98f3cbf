/* SPDX-License-Identifier: MIT */
/*
 * calls.c N [stop] - N times calls getpgid(2), which no other program calls, and tick(); then forks
 * a child. Exits with status 3. With a second argument it first stops itself, so that tools can
 * attach.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int tick(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i + 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 2)
		raise(SIGSTOP);
	for (int i = 0; i < n; i++) {
		syscall(SYS_getpgid, 0);
		tick(i);
	}
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	return 3;
}
