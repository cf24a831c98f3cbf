/* SPDX-License-Identifier: MIT */
/*
 * nervous_dlsym.c - a dlsym() that allocates in every way before it returns, as older libcs do in a
 * few, and counts its calls. It is to be preloaded after the helpers. Writes "dlsym N" to standard
 * error at exit.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned asked;
static void *kept; /* freed by a later call, when the next allocator is known */
static int filled = 0x5a;
static volatile size_t huge = SIZE_MAX / 2;

static void check(int ok)
{
	if (!ok)
		abort();
}

static void allocate(void)
{
	unsigned char *p = calloc(7, 5), *q, *aligned;
	void *other;

	check(p && !p[0] && !memcmp(p, p + 1, 34));
	memset(p, filled, 35);
	q = realloc(p, 200);
	check(q && q[0] == filled && !memcmp(q, q + 1, 34));
	free(q);
	aligned = memalign(256, 3);
	check(aligned && ((uintptr_t)aligned & 255) == 0);
	check(posix_memalign(&other, 64, 10) == 0 && ((uintptr_t)other & 63) == 0);
	check(!calloc(huge, 3) && !malloc(huge));
	free(other);
	free(aligned);
	free(NULL);
	kept = realloc(kept, 20 + asked);
	check(kept != NULL);
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	asked++;
	allocate();
	return real(handle, name);
}

__attribute__((destructor)) static void done(void)
{
	free(kept);
	fprintf(stderr, "dlsym %u\n", asked);
}
