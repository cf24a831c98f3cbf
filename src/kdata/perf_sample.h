/* SPDX-License-Identifier: MIT */
/*
 * perf_sample.h - parses PERF_RECORD_SAMPLE: every part that kernels up to 7.x write, in the
 * kernel's order, with bounds checks. Parts point into the record; nothing is copied or allocated.
 */
#ifndef WM_KDATA_PERF_SAMPLE_H
#define WM_KDATA_PERF_SAMPLE_H

#include "kdata/perf_record.h"

/* attr.sample_type */
#define WM_PERF_SAMPLE_IP             (1ull << 0)
#define WM_PERF_SAMPLE_TID            (1ull << 1)
#define WM_PERF_SAMPLE_TIME           (1ull << 2)
#define WM_PERF_SAMPLE_ADDR           (1ull << 3)
#define WM_PERF_SAMPLE_READ           (1ull << 4)
#define WM_PERF_SAMPLE_CALLCHAIN      (1ull << 5)
#define WM_PERF_SAMPLE_ID             (1ull << 6)
#define WM_PERF_SAMPLE_CPU            (1ull << 7)
#define WM_PERF_SAMPLE_PERIOD         (1ull << 8)
#define WM_PERF_SAMPLE_STREAM_ID      (1ull << 9)
#define WM_PERF_SAMPLE_RAW            (1ull << 10)
#define WM_PERF_SAMPLE_BRANCH_STACK   (1ull << 11)
#define WM_PERF_SAMPLE_REGS_USER      (1ull << 12)
#define WM_PERF_SAMPLE_STACK_USER     (1ull << 13)
#define WM_PERF_SAMPLE_WEIGHT         (1ull << 14)
#define WM_PERF_SAMPLE_DATA_SRC       (1ull << 15)
#define WM_PERF_SAMPLE_IDENTIFIER     (1ull << 16)
#define WM_PERF_SAMPLE_TRANSACTION    (1ull << 17)
#define WM_PERF_SAMPLE_REGS_INTR      (1ull << 18)
#define WM_PERF_SAMPLE_PHYS_ADDR      (1ull << 19)
#define WM_PERF_SAMPLE_AUX            (1ull << 20)
#define WM_PERF_SAMPLE_CGROUP         (1ull << 21)
#define WM_PERF_SAMPLE_DATA_PAGE_SIZE (1ull << 22)
#define WM_PERF_SAMPLE_CODE_PAGE_SIZE (1ull << 23)
#define WM_PERF_SAMPLE_WEIGHT_STRUCT  (1ull << 24)
#define WM_PERF_SAMPLE_KNOWN          ((1ull << 25) - 1)

/* attr.read_format */
#define WM_PERF_FORMAT_TOTAL_TIME_ENABLED (1ull << 0)
#define WM_PERF_FORMAT_TOTAL_TIME_RUNNING (1ull << 1)
#define WM_PERF_FORMAT_ID                 (1ull << 2)
#define WM_PERF_FORMAT_GROUP              (1ull << 3)
#define WM_PERF_FORMAT_LOST               (1ull << 4)

/* The branches are the calls that have not returned: the processor's own call stack. */
#define WM_PERF_BRANCH_CALL_STACK (1ull << 11)

/* bits of attr.branch_sample_type that change the layout */
#define WM_PERF_BRANCH_HW_INDEX (1ull << 17)
#define WM_PERF_BRANCH_COUNTERS (1ull << 19)

/*
 * Special words in a call chain that are not addresses: they give the context of the addresses that
 * follow.
 */
#define WM_PERF_CONTEXT_HV     ((uint64_t)-32)
#define WM_PERF_CONTEXT_KERNEL ((uint64_t)-128)
#define WM_PERF_CONTEXT_USER   ((uint64_t)-512)
/* A cookie follows; see CALLCHAIN_DEFERRED. */
#define WM_PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define WM_PERF_CONTEXT_GUEST         ((uint64_t)-2048)
#define WM_PERF_CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define WM_PERF_CONTEXT_GUEST_USER    ((uint64_t)-2560)
#define WM_PERF_CONTEXT_MAX           ((uint64_t)-4095) /* values >= this are context markers */

enum wm_perf_regs_abi { WM_PERF_REGS_NONE, WM_PERF_REGS_32, WM_PERF_REGS_64 };

/* Registers in the order of the mask's bits, lowest first. */
struct wm_perf_regs {
	uint64_t abi; /* enum wm_perf_regs_abi; with WM_PERF_REGS_NONE words.nr is 0 */
	uint64_t mask;
	struct wm_perf_words words;
};

struct wm_perf_branches {
	uint64_t nr;
	uint64_t hw_index;             /* all bits are set when the record has none */
	const unsigned char *entries;  /* wm_kperf_branch_get() */
	struct wm_perf_words counters; /* one per branch, or empty */
};

#define WM_PERF_BRANCH_EXTENDED 15 /* a branch's type: the kind is in new_type */

/* One taken branch. The most recent branch comes first. */
struct wm_perf_branch {
	uint64_t from, to;
	bool mispred, predicted, in_tx, abort;
	uint16_t cycles;
	uint8_t type, spec, new_type, priv;
};

struct wm_perf_sample {
	uint64_t present; /* bits of WM_PERF_SAMPLE_*; fields without a bit are 0 */
	uint16_t misc;
	uint32_t pid, tid, cpu;
	uint64_t ip, time, addr, stream_id, period;
	uint64_t id; /* the member IDENTIFIER or ID */
	struct wm_perf_read read;
	struct wm_perf_words callchain;
	struct wm_perf_bytes raw; /* a tracepoint's record as in ftrace's ring, with padding */
	struct wm_perf_branches branches;
	struct wm_perf_regs regs_user, regs_intr;
	/* The part of the stack that the kernel could read and copy. */
	struct wm_perf_bytes stack_user;
	uint64_t stack_user_asked; /* size of the stack area that the record reserves */
	uint64_t weight;           /* for WEIGHT_STRUCT: u32 | u16 << 32 | u16 << 48 */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	struct wm_perf_bytes aux;
	struct wm_perf_bytes rest; /* bytes after the known parts */
};

/*
 * Parses the sample at `record`, of which `avail` bytes are available. Returns 0, or -EBADMSG when
 * it ends inside a part; in that case *ret is undefined and `diag` (optional) names the part, with
 * an offset relative to the start of the record.
 */
int wm_kperf_sample_parse(const struct wm_perf_shape *s, const void *record, size_t avail,
			  struct wm_perf_sample *ret, struct wm_diag *diag);

/*
 * Returns branch `i`, which must be below nr. Its flags have the same bit order whoever wrote them.
 */
struct wm_perf_branch wm_kperf_branch_get(const struct wm_perf_shape *s,
					  const struct wm_perf_branches *b, uint64_t i);

#endif
