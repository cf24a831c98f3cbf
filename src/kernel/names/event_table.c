/* SPDX-License-Identifier: MIT */
/* event_table.c - see event_table.h. */
#include "kernel/event_table.h"

#include <stdio.h>

#define SOFTWARE(name, alias, config, in_kernel, help)                                             \
	{                                                                                          \
		name, alias, WM_FAMILY_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, help, \
		    in_kernel                                                                      \
	}
#define HARDWARE(name, alias, config, help)                                                        \
	{                                                                                          \
		name, alias, WM_FAMILY_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, help, \
		    false                                                                          \
	}

static const struct wm_event_known known[] = {
    SOFTWARE("task-clock", NULL, TASK_CLOCK, false, "CPU time used by the tasks, in nanoseconds"),
    SOFTWARE("cpu-clock", NULL, CPU_CLOCK, false,
	     "time measured by a per-CPU timer, in nanoseconds"),
    SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES, true, "a task left its CPU"),
    SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS, true, "a task moved to another CPU"),
    SOFTWARE("page-faults", "faults", PAGE_FAULTS, false, "a memory page was not present"),
    SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN, false, "page faults that needed no disk"),
    SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ, false, "page faults that read from a disk"),
    SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS, false,
	     "unaligned accesses that the kernel completed"),
    SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS, false,
	     "instructions that the kernel emulated"),
    SOFTWARE("cgroup-switches", NULL, CGROUP_SWITCHES, true,
	     "a CPU switched to a task of another cgroup"),
    SOFTWARE("bpf-output", NULL, BPF_OUTPUT, true, "output of BPF programs"),
    SOFTWARE("dummy", NULL, DUMMY, false, "counts nothing"),
    HARDWARE("cycles", "cpu-cycles", CPU_CYCLES, "CPU cycles, at the actual frequency"),
    HARDWARE("instructions", NULL, INSTRUCTIONS, "instructions retired"),
    HARDWARE("cache-references", NULL, CACHE_REFERENCES, "accesses to the last-level cache"),
    HARDWARE("cache-misses", NULL, CACHE_MISSES, "accesses that missed the last-level cache"),
    HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS, "branches retired"),
    HARDWARE("branch-misses", NULL, BRANCH_MISSES, "mispredicted branches"),
    HARDWARE("bus-cycles", NULL, BUS_CYCLES, "bus cycles"),
    HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
	     "cycles in which no instruction was ready to issue"),
    HARDWARE("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
	     "cycles in which resources for issuing were exhausted"),
    HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, "CPU cycles, at a constant frequency"),
};

const struct wm_event_known *wm_event_known(size_t i)
{
	return i < sizeof(known) / sizeof(known[0]) ? &known[i] : NULL;
}

bool wm_event_cache(size_t i, char *name, uint64_t *ret_config)
{
	static const struct {
		const char *name;
		uint64_t id;
		/*
		 * Whether the cache supports stores and prefetches; an instruction cache has no
		 * stores.
		 */
		bool writes, prefetches;
	} caches[] = {
	    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, true, true},
	    {"L1-icache", PERF_COUNT_HW_CACHE_L1I, false, true},
	    {"LLC", PERF_COUNT_HW_CACHE_LL, true, true},
	    {"dTLB", PERF_COUNT_HW_CACHE_DTLB, true, true},
	    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, false, false},
	    {"branch", PERF_COUNT_HW_CACHE_BPU, false, false},
	    {"node", PERF_COUNT_HW_CACHE_NODE, true, true},
	};
	static const struct {
		const char *all, *missed;
		uint64_t id;
	} ops[] = {
	    {"loads", "load-misses", PERF_COUNT_HW_CACHE_OP_READ},
	    {"stores", "store-misses", PERF_COUNT_HW_CACHE_OP_WRITE},
	    {"prefetches", "prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH},
	};

	for (size_t c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		for (size_t o = 0; o < 2 * sizeof(ops) / sizeof(ops[0]); o++) {
			uint64_t op = ops[o / 2].id, miss = o % 2;

			if ((op == PERF_COUNT_HW_CACHE_OP_WRITE && !caches[c].writes) ||
			    (op == PERF_COUNT_HW_CACHE_OP_PREFETCH && !caches[c].prefetches))
				continue;
			if (i-- > 0)
				continue;
			(void)snprintf(name, WM_EVENT_CACHE_NAME, "%s-%s", caches[c].name,
				       miss ? ops[o / 2].missed : ops[o / 2].all);
			*ret_config = caches[c].id | op << 8 | miss << 16;
			return true;
		}
	}
	return false;
}
