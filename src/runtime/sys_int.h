/* SPDX-License-Identifier: MIT */
/*
 * sys_int.h - system calls without libc: no errno, no cancellation points, no lazy
 * binding, usable in signal handlers and on the agent's own stack. All return
 * the kernel's value: a count, or a negative errno.
 */
#ifndef WM_RUNTIME_SYS_INT_H
#define WM_RUNTIME_SYS_INT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

static inline long wm_syscall6(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#endif
}

#define WM_SYS_0(n)             wm_syscall6(n, 0, 0, 0, 0, 0, 0)
#define WM_SYS_1(n, a)          wm_syscall6(n, (long)(a), 0, 0, 0, 0, 0)
#define WM_SYS_2(n, a, b)       wm_syscall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define WM_SYS_3(n, a, b, c)    wm_syscall6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define WM_SYS_4(n, a, b, c, d) wm_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define WM_SYS_6(n, a, b, c, d, e, f)                                                              \
	wm_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Whether a result is one of the kernel's -errno values. */
static inline int wm_sys_failed(long ret)
{
	return (unsigned long)ret > -4096ul;
}

/* Returns an anonymous private mapping, or NULL. */
void *wm_sys_map(size_t bytes);
void wm_sys_unmap(void *p, size_t bytes);

uint32_t wm_sys_pid(void);
uint32_t wm_sys_tid(void);

/* Replacements for libc functions, because the guest calls no libc. */
void wm_mem_copy(void *to, const void *from, size_t n);
void wm_mem_zero(void *p, size_t n);
int wm_mem_differ(const void *a, const void *b, size_t n);
size_t wm_str_len(const char *s);

#endif
