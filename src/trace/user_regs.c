/* SPDX-License-Identifier: MIT */
/* user_regs.c - see user_regs.h. */
#include "trace/user_regs.h"

#define PERF_X86_CS   10u
#define PERF_ARM64_PC 32u

/* Linux's code selectors for 64-bit programs: native, and as a Xen guest. */
#define CS_64     0x33u
#define CS_64_XEN 0xe033u

bool wm_user_regs_narrow(uint64_t mask, const struct wm_item *values, uint32_t nr)
{
	uint32_t at = (uint32_t)__builtin_popcountll(mask & ((1ull << PERF_X86_CS) - 1));
	uint64_t cs;

	if (mask >> PERF_ARM64_PC & 1 || !(mask >> PERF_X86_CS & 1) || at >= nr)
		return false;
	cs = values[at].u & 0xffff;
	return cs && cs != CS_64 && cs != CS_64_XEN; /* 0 is not a valid selector */
}
