/* SPDX-License-Identifier: MIT */
/*
 * perf_attr_int.h - reads struct perf_event_attr from bytes: in any size that a kernel has used
 * (from 64 bytes in 2.6.32 to 144), in either byte order. Members missing from a smaller attr are
 * 0; unknown members at the end of a larger one are counted in nr_unknown.
 *
 * The constants are the kernel's interface, defined here because the headers of the build machine
 * may be older than the files being read.
 */
#ifndef WM_KDATA_PERF_ATTR_INT_H
#define WM_KDATA_PERF_ATTR_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_PERF_ATTR_BYTES_MIN 64u    /* size in the first kernel that had this struct */
#define WM_PERF_ATTR_BYTES_MAX 65536u /* larger sizes are rejected */

/* attr.flags, starting at bit 0 on every machine. precise_ip is two bits wide. */
#define WM_PERF_ATTR_DISABLED        (1ull << 0)
#define WM_PERF_ATTR_INHERIT         (1ull << 1)
#define WM_PERF_ATTR_PINNED          (1ull << 2)
#define WM_PERF_ATTR_EXCLUSIVE       (1ull << 3)
#define WM_PERF_ATTR_EXCLUDE_USER    (1ull << 4)
#define WM_PERF_ATTR_EXCLUDE_KERNEL  (1ull << 5)
#define WM_PERF_ATTR_EXCLUDE_HV      (1ull << 6)
#define WM_PERF_ATTR_EXCLUDE_IDLE    (1ull << 7)
#define WM_PERF_ATTR_MMAP            (1ull << 8)
#define WM_PERF_ATTR_COMM            (1ull << 9)
#define WM_PERF_ATTR_FREQ            (1ull << 10)
#define WM_PERF_ATTR_INHERIT_STAT    (1ull << 11)
#define WM_PERF_ATTR_ENABLE_ON_EXEC  (1ull << 12)
#define WM_PERF_ATTR_TASK            (1ull << 13)
#define WM_PERF_ATTR_WATERMARK       (1ull << 14)
#define WM_PERF_ATTR_PRECISE_SHIFT   15
#define WM_PERF_ATTR_MMAP_DATA       (1ull << 17)
#define WM_PERF_ATTR_SAMPLE_ID_ALL   (1ull << 18)
#define WM_PERF_ATTR_EXCLUDE_HOST    (1ull << 19)
#define WM_PERF_ATTR_EXCLUDE_GUEST   (1ull << 20)
#define WM_PERF_ATTR_EXCLUDE_CHAIN_K (1ull << 21)
#define WM_PERF_ATTR_EXCLUDE_CHAIN_U (1ull << 22)
#define WM_PERF_ATTR_MMAP2           (1ull << 23)
#define WM_PERF_ATTR_COMM_EXEC       (1ull << 24)
#define WM_PERF_ATTR_USE_CLOCKID     (1ull << 25)
#define WM_PERF_ATTR_CONTEXT_SWITCH  (1ull << 26)
#define WM_PERF_ATTR_WRITE_BACKWARD  (1ull << 27)
#define WM_PERF_ATTR_NAMESPACES      (1ull << 28)
#define WM_PERF_ATTR_KSYMBOL         (1ull << 29)
#define WM_PERF_ATTR_BPF_EVENT       (1ull << 30)
#define WM_PERF_ATTR_AUX_OUTPUT      (1ull << 31)
#define WM_PERF_ATTR_CGROUP          (1ull << 32)
#define WM_PERF_ATTR_TEXT_POKE       (1ull << 33)
#define WM_PERF_ATTR_BUILD_ID        (1ull << 34)
#define WM_PERF_ATTR_INHERIT_THREAD  (1ull << 35)
#define WM_PERF_ATTR_REMOVE_ON_EXEC  (1ull << 36)
#define WM_PERF_ATTR_SIGTRAP         (1ull << 37)
#define WM_PERF_ATTR_DEFER_CALLCHAIN (1ull << 38)
#define WM_PERF_ATTR_DEFER_OUTPUT    (1ull << 39)

/* attr.type */
enum wm_perf_type {
	WM_PERF_TYPE_HARDWARE = 0,
	WM_PERF_TYPE_SOFTWARE = 1,
	WM_PERF_TYPE_TRACEPOINT = 2, /* `config` is the event's id in tracefs */
	WM_PERF_TYPE_HW_CACHE = 3,
	WM_PERF_TYPE_RAW = 4,
	WM_PERF_TYPE_BREAKPOINT = 5,
};

struct wm_perf_attr {
	uint32_t type, size; /* `size` as in the file; 0 is read as 64 */
	uint64_t config;
	uint64_t period; /* a frequency with WM_PERF_ATTR_FREQ */
	uint64_t sample_type, read_format;
	uint64_t flags;  /* WM_PERF_ATTR_* */
	uint32_t wakeup; /* a number of events, or of bytes with WM_PERF_ATTR_WATERMARK */
	uint32_t bp_type;
	uint64_t config1, config2, config3, config4;
	uint64_t branch_sample_type;
	uint64_t regs_user, regs_intr; /* masks: one bit per sampled register */
	uint32_t stack_user;           /* bytes requested */
	int32_t clockid;
	uint32_t aux_watermark, aux_sample_size, aux_action;
	uint16_t sample_max_stack;
	uint64_t sig_data;
	/*
	 * Number of nonzero bytes at the end whose meaning is unknown: the attr is from a newer
	 * kernel.
	 */
	uint32_t nr_unknown;
};

/*
 * Reads the attr at the start of `data`, which has `bytes` bytes. The attr's size member says where
 * it ends; the first version of perf wrote 0 for 64. Returns -EBADMSG when the size is below 64 or
 * above `bytes`; `diag` (optional) states the reason, with an offset relative to `data`.
 */
int wm_kperf_attr_parse(const void *data, size_t bytes, bool swap, struct wm_perf_attr *ret,
			struct wm_diag *diag);

/* Returns whether a flag is set. */
static inline bool wm_kperf_attr_has(const struct wm_perf_attr *a, uint64_t flag)
{
	return (a->flags & flag) != 0;
}

#endif
