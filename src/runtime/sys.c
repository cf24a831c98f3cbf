/* SPDX-License-Identifier: MIT */
/*
 * sys.c - the few services for which other code calls libc. Only for slow paths. The compiler must
 * not replace its loops with libc calls (see the guest's flags in meson.build).
 */
#include "runtime/sys_int.h"

#include <sys/mman.h>

void *wm_sys_map(size_t bytes)
{
	long p = WM_SYS_6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return wm_sys_failed(p) ? NULL : (void *)p;
}

void wm_sys_unmap(void *p, size_t bytes)
{
	/* Cannot fail: only whole mappings from wm_sys_map() are unmapped. */
	(void)WM_SYS_2(SYS_munmap, p, bytes);
}

uint32_t wm_sys_pid(void)
{
	return (uint32_t)WM_SYS_0(SYS_getpid);
}

uint32_t wm_sys_tid(void)
{
	return (uint32_t)WM_SYS_0(SYS_gettid);
}

void wm_mem_copy(void *to, const void *from, size_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
	unsigned char *t = to;
	const unsigned char *f = from;
	while (n--)
		*t++ = *f++;
#endif
}

void wm_mem_zero(void *p, size_t n)
{
#if defined(__x86_64__)
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(0) : "memory");
#else
	unsigned char *b = p;
	while (n--)
		*b++ = 0;
#endif
}

int wm_mem_differ(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return 1;
	return 0;
}

size_t wm_str_len(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}
