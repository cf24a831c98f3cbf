/* SPDX-License-Identifier: MIT */
/*
 * allocations.c - allocates in every way, a known number of times, and checks the results:
 * alignment, contents, errors, errno. Its own calls have sizes above 1000000, so that they can be
 * distinguished from libc's.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE 1000000

static volatile size_t huge = SIZE_MAX - 100;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static int aligned(const void *p, size_t alignment)
{
	return p && ((uintptr_t)p & (alignment - 1)) == 0;
}

static void plain(void)
{
	for (size_t i = 1; i <= 5; i++) {
		char *p = malloc(BASE + i);
		CHECK(p);
		memset(p, 1, BASE + i);
		p = realloc(p, 2 * BASE + i);
		CHECK(p && p[BASE] == 1);
		p = reallocarray(p, 3, BASE + i);
		CHECK(p && p[BASE] == 1);
		free(p);
	}
	for (size_t i = 1; i <= 3; i++) {
		char *p = calloc(2, BASE + i);
		CHECK(p && !p[0] && !p[2 * BASE]);
		free(p);
	}
}

static void in_vain(void)
{
	void *p = &p;

	errno = 0;
	CHECK(!malloc(huge) && errno == ENOMEM);
	errno = 0;
	CHECK(!calloc(huge, 2) && errno == ENOMEM);
	errno = 0;
	CHECK(!realloc(NULL, huge) && errno == ENOMEM);
	errno = 0;
	CHECK(!reallocarray(NULL, huge, 2) && errno == ENOMEM);
	errno = 77;
	CHECK(posix_memalign(&p, 64, huge) == ENOMEM && p == &p);
	CHECK(posix_memalign(&p, 3, BASE) == EINVAL && p == &p);
	free(NULL);
	p = malloc(BASE);
	errno = 77;
	free(p);
	CHECK(errno == 77);
}

static void all_aligned(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	CHECK(posix_memalign(&p, 4096, BASE + 1) == 0 && aligned(p, 4096));
	free(p);
	p = aligned_alloc(64, BASE + 64);
	CHECK(aligned(p, 64));
	free(p);
	p = memalign(128, BASE + 2);
	CHECK(aligned(p, 128));
	free(p);
	p = valloc(BASE + 3);
	CHECK(aligned(p, page));
	free(p);
	p = pvalloc(BASE + 4);
	CHECK(aligned(p, page) && malloc_usable_size(p) >= BASE + 4);
	free(p);
}

int main(void)
{
	plain();
	in_vain();
	all_aligned();
	puts("fine");
	return 7;
}
