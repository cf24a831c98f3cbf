/* SPDX-License-Identifier: MIT */
/*
 * faults.c - bench-faults N: N page faults, as fast as the kernel takes them,
 * from two functions: events of which a sample each can be recorded. bench/read
 * has perf record them.
 */
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE  4096u
#define PAGES 4096u

static __attribute__((noinline)) void write_to(volatile char *p)
{
	*p = 1;
}

static __attribute__((noinline)) char read_from(const volatile char *p)
{
	return *p;
}

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;
	char *pages = mmap(NULL, (size_t)PAGE * PAGES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	(void)madvise(pages, (size_t)PAGE * PAGES, MADV_NOHUGEPAGE);
	while (left > 0) {
		for (unsigned i = 0; i < PAGES && left > 0; i++, left--) {
			if (i % 4)
				write_to(pages + (size_t)i * PAGE);
			else
				(void)read_from(pages + (size_t)i * PAGE);
		}
		if (madvise(pages, (size_t)PAGE * PAGES, MADV_DONTNEED))
			return 1;
	}
	return 0;
}
