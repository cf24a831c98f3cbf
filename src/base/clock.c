/* SPDX-License-Identifier: MIT */
/*
 * clock.c - tool-side clocks. Relies on sysfs, which lists the counters that Linux still trusts;
 * must not be linked into traced programs.
 */
#include "base/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#define KERNEL_NAME "tsc"
#elif defined(__aarch64__)
#define KERNEL_NAME "arch_sys_counter"
#endif

/* Whether the counter ticks at the same rate in all power states. */
static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#else
	return true;
#endif
}

/*
 * The kernel removes a counter that it finds unstable from the list of available clock sources. The
 * current source may be a different one (kvm-clock) even if the counter is good.
 */
static bool kernel_trusts(const char *counter)
{
	static const char path[] =
	    "/sys/devices/system/clocksource/clocksource0/available_clocksource";
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	for (char *save = NULL, *word = strtok_r(text, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save))
		if (!strcmp(word, counter))
			return true;
	return false;
}

enum wm_clock_kind wm_clock_best(void)
{
	return counter_is_invariant() && kernel_trusts(KERNEL_NAME) ? WM_CLOCK_CYCLES
								    : WM_CLOCK_MONOTONIC;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t); /* cannot fail: these clocks exist */
	return (uint64_t)t.tv_sec * WM_NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

uint64_t wm_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t wm_clock_monotonic_raw_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

uint64_t wm_clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

uint64_t wm_clock_read(enum wm_clock_kind kind)
{
	return kind == WM_CLOCK_CYCLES ? wm_clock_cycles() : wm_clock_monotonic_ns();
}
