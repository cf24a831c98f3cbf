/* SPDX-License-Identifier: MIT */
/*
 * faults.c - bench-faults N [varied]: N page faults, as fast as the kernel handles them. Each can
 * be recorded as a sample: bench/read and bench/report record them with perf. Without `varied`, one
 * process faults in two functions. With it, sixteen processes fault in 512 functions at the same
 * time, in some far more often than in others, as in samples of real programs.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"

#define PAGE      4096u
#define PAGES     4096u
#define PROCESSES 16

static __attribute__((noinline)) void write_to(volatile char *p)
{
	*p = 1;
}

static __attribute__((noinline)) char read_from(const volatile char *p)
{
	return *p;
}

/* Declares write_0000 to write_0777. */
#define WRITER(n)                                                                                  \
	static __attribute__((noinline)) void write_##n(volatile char *p)                          \
	{                                                                                          \
		*(volatile int *)p = n;                                                            \
	}
ALL(WRITER)

#define NAME(n) write_##n,
static void (*const writers[])(volatile char *p) = {ALL(NAME)};
#define NR_WRITERS (sizeof(writers) / sizeof(writers[0]))

static void fault(unsigned i, volatile char *p, uint64_t *varied)
{
	if (varied) {
		*varied = *varied * 6364136223846793005ull + 1442695040888963407ull;
		writers[(*varied >> 40) & (*varied >> 52) & (NR_WRITERS - 1)](p);
	} else if (i % 4) {
		write_to(p);
	} else {
		(void)read_from(p);
	}
}

static int faults(long left, uint64_t *varied)
{
	char *pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	(void)madvise(pages, (size_t)PAGE * PAGES, MADV_NOHUGEPAGE);
	while (left > 0) {
		for (unsigned i = 0; i < PAGES && left > 0; i++, left--)
			fault(i, pages + (size_t)i * PAGE, varied);
		if (madvise(pages, (size_t)PAGE * PAGES, MADV_DONTNEED))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;
	int failed = 0, status;

	if (argc < 3)
		return faults(left, NULL);
	for (int i = 0; i < PROCESSES; i++) {
		uint64_t varied = (uint64_t)i;
		pid_t pid = fork();

		if (pid == 0)
			_exit(faults(left / PROCESSES, &varied));
		failed |= pid < 0;
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
