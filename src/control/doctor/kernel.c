/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - tests what the kernel permits waymark to count, record and probe. Each facility is
 * tried; settings only serve to explain the result. See doctor.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/plural.h"
#include "control/doctor/doctor_int.h"
#include "kernel/event_name.h"
#include "kernel/perf_event.h"

#define FILE_MAX (64u << 20)

/* ---- tracefs ------------------------------------------------------------------------ */

static void no_tracefs(const struct wm_doctor *d, struct wm_check *c)
{
	wm_check_no(c, WM_WORKS_NO, "see tracefs above", "requires tracefs%s",
		    d->space.tracefs_err == -EOPNOTSUPP ? ", which this kernel does not have" : "");
}

static void check_tracefs(struct wm_doctor *d, struct wm_check *c)
{
	const struct wm_tracefs *t = d->space.tracefs;
	const char *sentence = d->space.tracefs_diag.sentence, *cure = strstr(sentence, "; ");

	if (t)
		wm_check_yes(c, "%s, %zu %s%s", t->path, t->nr_events,
			     wm_plural(t->nr_events, "event", "events"),
			     t->private_mount ? " (not mounted; opened temporarily)" : "");
	else if (cure)
		wm_check_no(c, WM_WORKS_NO, cure + 2, "%.*s", (int)(cure - sentence), sentence);
	else
		wm_check_no(c, WM_WORKS_NO, "", "%s", sentence);
}

/* Whether a tracefs file contains this word; false if it cannot be read. */
static bool file_has(const struct wm_tracefs *t, const char *file, const char *word)
{
	char *text;
	size_t bytes;
	bool has;

	if (wm_tracefs_read(t, file, FILE_MAX, &text, &bytes, NULL) < 0)
		return false;
	has = strstr(text, word) != NULL;
	free(text);
	return has;
}

static void check_syscalls(struct wm_doctor *d, struct wm_check *c)
{
	size_t nr = 0;

	for (size_t i = 0; d->space.tracefs && i < d->space.tracefs->nr_events; i++)
		nr += !strncmp(d->space.tracefs->events[i].name, "sys_enter_", 10);
	if (!d->space.tracefs)
		no_tracefs(d, c);
	else if (nr)
		wm_check_yes(c, "%zu system %s", nr, wm_plural(nr, "call", "calls"));
	else
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_FTRACE_SYSCALLS",
			    "this kernel has no events named after system calls");
}

/* Uses a private instance, so that other tracers' buffers are not touched. */
static void try_ring(struct wm_doctor *d, struct wm_check *c)
{
	const struct wm_tracefs *t = d->space.tracefs;
	char name[64], path[128];
	int fd, err = 0;
	void *meta = MAP_FAILED;

	(void)snprintf(name, sizeof(name), "instances/waymark_%d_doctor", (int)getpid());
	if (mkdirat(t->dirfd, name, 0700) < 0) {
		wm_check_no(c, WM_WORKS_NO,
			    wm_check_root(d,
					  ", or with CAP_DAC_OVERRIDE; in a container, give it a "
					  "writable tracefs"),
			    "cannot create a tracing instance in %s: %s", t->path, strerror(errno));
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/per_cpu/cpu0/trace_pipe_raw", name);
	fd = openat(t->dirfd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		meta = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	err = meta == MAP_FAILED ? errno : 0; /* from openat() or mmap() */
	if (meta != MAP_FAILED)
		(void)munmap(meta, (size_t)sysconf(_SC_PAGESIZE));
	if (fd >= 0)
		(void)close(fd);
	(void)unlinkat(t->dirfd, name, AT_REMOVEDIR);
	if (err && fd < 0)
		wm_check_no(c, WM_WORKS_NO, "", "cannot open the buffer of a tracing instance: %s",
			    strerror(err));
	else if (err)
		wm_check_no(c, WM_WORKS_PARTLY, "",
			    "readable, not mappable (%s); Linux 6.10 and later can map it",
			    strerror(err));
	else
		wm_check_yes(c, "an instance with a mapped buffer");
}

static void check_ring(struct wm_doctor *d, struct wm_check *c)
{
	if (d->space.tracefs)
		try_ring(d, c);
	else
		no_tracefs(d, c);
}

static void check_trace_clock(struct wm_doctor *d, struct wm_check *c)
{
	bool cycles = wm_clock_best() == WM_CLOCK_CYCLES;

	if (!d->space.tracefs)
		no_tracefs(d, c);
	else if (cycles && file_has(d->space.tracefs, "trace_clock", "x86-tsc"))
		wm_check_yes(c, "the cycle counter (x86-tsc), as in programs");
	else if (file_has(d->space.tracefs, "trace_clock", "mono"))
		wm_check_yes(c, cycles ? "CLOCK_MONOTONIC (mono)"
				       : "CLOCK_MONOTONIC (mono), as in programs");
	else
		wm_check_no(c, WM_WORKS_NO, "use Linux 4.1 or later",
			    "the kernel's tracing offers no clock that programs can read");
}

static void check_function_tracer(struct wm_doctor *d, struct wm_check *c)
{
	const struct wm_tracefs *t = d->space.tracefs;
	int fd;

	if (!t) {
		no_tracefs(d, c);
		return;
	}
	if (!file_has(t, "available_tracers", "function")) {
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_FUNCTION_TRACER",
			    "this kernel was built without it");
		return;
	}
	fd = openat(t->dirfd, "available_filter_functions", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		wm_check_no(c, WM_WORKS_NO, "use a kernel that is not locked down",
			    "built in, but not available to any user (%s)", strerror(errno));
	else
		wm_check_yes(c, "%s",
			     file_has(t, "available_tracers", "function_graph")
				 ? "function and function_graph"
				 : "function");
	if (fd >= 0)
		(void)close(fd);
}

static void check_histograms(struct wm_doctor *d, struct wm_check *c)
{
	if (!d->space.tracefs)
		no_tracefs(d, c);
	else if (faccessat(d->space.tracefs->dirfd, "events/sched/sched_switch/hist", F_OK, 0) == 0)
		wm_check_yes(c, "in the kernel, with hist triggers");
	else
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_HIST_TRIGGERS",
			    "this kernel was built without hist triggers");
}

static void check_snapshots(struct wm_doctor *d, struct wm_check *c)
{
	if (!d->space.tracefs)
		no_tracefs(d, c);
	else if (faccessat(d->space.tracefs->dirfd, "snapshot", F_OK, 0) == 0)
		wm_check_yes(c, "with snapshot triggers");
	else
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_TRACER_SNAPSHOT",
			    "this kernel was built without snapshots");
}

static void check_synthetic(struct wm_doctor *d, struct wm_check *c)
{
	if (!d->space.tracefs)
		no_tracefs(d, c);
	else if (faccessat(d->space.tracefs->dirfd, "synthetic_events", F_OK, 0) == 0)
		wm_check_yes(c, "record --synthetic");
	else
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_SYNTH_EVENTS",
			    "this kernel was built without synthetic events");
}

/* ---- perf events -------------------------------------------------------------------------- */

/* Opens an event as `waymark stat` would, and sets the result. */
static void try_event(struct wm_doctor *d, const char *name, struct wm_perf_where where,
		      const char *yes, struct wm_check *c)
{
	struct wm_diag diag = {.offset = -1};
	struct perf_event_attr attr;
	struct wm_event_defs defs;
	const char *cure;
	int fd;

	wm_event_defs_init(&defs);
	fd = wm_event_name_resolve(&d->space, name, &defs, &diag);
	if (fd > 0) {
		wm_event_def_attr(&defs.defs[0], &attr);
		wm_perf_attr_counting(&attr, false, false);
		fd = wm_perf_open(&attr, where, -1, defs.defs[0].name, &diag);
	}
	wm_event_defs_done(&defs);
	if (fd >= 0) {
		(void)close(fd);
		wm_check_yes(c, "%s", yes);
		return;
	}
	cure = strstr(diag.sentence, "; ");
	wm_check_no(c, WM_WORKS_NO, cure ? cure + 2 : "", "%.*s",
		    cure ? (int)(cure - diag.sentence) : (int)sizeof(diag.sentence), diag.sentence);
}

static const struct wm_perf_where self = {0, -1}, cpu0 = {-1, 0};

static void check_perf_own(struct wm_doctor *d, struct wm_check *c)
{
	try_event(d, "page-faults:u", self, "their user-space events", c);
}

static void check_perf_kernel(struct wm_doctor *d, struct wm_check *c)
{
	try_event(d, "page-faults", self, "their kernel events, too", c);
}

static void check_perf_all(struct wm_doctor *d, struct wm_check *c)
{
	try_event(d, "cpu-clock", cpu0, "all processes of all users", c);
}

static void check_tracepoints(struct wm_doctor *d, struct wm_check *c)
{
	if (d->space.tracefs)
		try_event(d, "sched:sched_switch", self, "can be counted", c);
	else
		no_tracefs(d, c);
}

static void check_hardware(struct wm_doctor *d, struct wm_check *c)
{
	try_event(d, "cpu:cycles:u", self, "cycles, instructions, caches, branches", c);
	if (c->works == WM_WORKS_NO && !*c->cure)
		(void)snprintf(c->cure, sizeof(c->cure),
			       "in a virtual machine: let its host pass the PMU through; "
			       "clocks and software events work without");
}

static void check_breakpoints(struct wm_doctor *d, struct wm_check *c)
{
	static long watched;
	char name[64];

	(void)snprintf(name, sizeof(name), "mem:0x%" PRIxPTR "/8:w:u", (uintptr_t)&watched);
	try_event(d, name, self, "memory accesses can be watched", c);
}

static void check_uprobes(struct wm_doctor *d, struct wm_check *c)
{
	if (!wm_pmu_named(&d->space.pmus, "uprobe"))
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_UPROBE_EVENTS",
			    "this kernel was built without uprobes");
	else
		try_event(d, "uprobe:/proc/self/exe:main", self,
			  "any function of a program, and USDT probes", c);
}

static void check_kprobes(struct wm_doctor *d, struct wm_check *c)
{
	if (!wm_pmu_named(&d->space.pmus, "kprobe"))
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_KPROBE_EVENTS",
			    "this kernel was built without kprobes");
	else
		try_event(d, "kprobe:do_exit", self, "any function of the kernel", c);
}

/* The kernel supports event probes only together with kprobes, whatever its README file lists. */
static void check_eprobes(struct wm_doctor *d, struct wm_check *c)
{
	const struct wm_tracefs *t = d->space.tracefs;

	if (!t)
		no_tracefs(d, c);
	else if (faccessat(t->dirfd, "kprobe_events", F_OK, 0) == 0 && file_has(t, "README", "e[:"))
		wm_check_yes(c, "fetch data that an event's pointers refer to");
	else
		wm_check_no(c, WM_WORKS_NO,
			    "use Linux 5.15 or later, built with CONFIG_KPROBE_EVENTS",
			    "this kernel has no event probes");
}

static void check_paranoid(struct wm_doctor *d, struct wm_check *c)
{
	static const char *const meanings[] = {
	    "no restrictions", "raw records need privilege", "whole CPUs need privilege",
	    "kernel events need privilege", "everything needs privilege"};
	const struct wm_privilege *p = &d->privilege;
	int64_t level = p->paranoid < -1 ? -1 : p->paranoid > 3 ? 3 : p->paranoid;

	if (!p->has_paranoid)
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_PERF_EVENTS",
			    "this kernel has no perf events");
	else if (wm_privilege_perfmon(p))
		wm_check_yes(
		    c, "kernel.perf_event_paranoid is %" PRId64 ", which does not restrict you",
		    p->paranoid);
	else if (level <= 0)
		wm_check_yes(c, "kernel.perf_event_paranoid is %" PRId64 ": %s", p->paranoid,
			     meanings[level + 1]);
	else
		wm_check_no(c, WM_WORKS_PARTLY,
			    wm_check_root(d, ", or: sudo sysctl kernel.perf_event_paranoid=-1"),
			    "kernel.perf_event_paranoid is %" PRId64 ": %s", p->paranoid,
			    meanings[level + 1]);
}

static void check_limits(struct wm_doctor *d, struct wm_check *c)
{
	const struct wm_privilege *p = &d->privilege;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int64_t mlock_kb = 0;

	(void)wm_privilege_setting("/proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
	if (p->files_hard < 64u * (uint64_t)(cpus > 0 ? cpus : 1))
		wm_check_no(c, WM_WORKS_PARTLY,
			    "as root: ulimit -n NUMBER; in a systemd unit: LimitNOFILE=NUMBER",
			    "only %" PRIu64 " open files: each event needs one per CPU",
			    p->files_hard);
	else
		wm_check_yes(c,
			     "%" PRIu64 " open files; %" PRId64
			     " KiB of buffers per CPU without privilege, and %" PRIu64
			     " KiB of locked memory",
			     p->files_hard, mlock_kb,
			     p->memlock_bytes == UINT64_MAX ? UINT64_MAX : p->memlock_bytes / 1024);
}

/* ---- BPF and symbols ------------------------------------------------------------------------ */

static void check_bpf(struct wm_doctor *d, struct wm_check *c)
{
	/* the program r0 = 0; exit */
	const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					{.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_TRACEPOINT};
	int fd, err;

	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uint64_t)(uintptr_t) "Dual MIT/GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	err = fd < 0 ? errno : 0;
	if (fd >= 0)
		(void)close(fd);
	if (!err)
		wm_check_yes(c, "programs can be loaded");
	else if (err == ENOSYS || err == EINVAL)
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_BPF_SYSCALL",
			    "this kernel was built without BPF (%s)", strerror(err));
	else
		wm_check_no(
		    c, WM_WORKS_NO,
		    wm_check_root(d,
				  d->privilege.is_inner ? "" : ", or with CAP_BPF and CAP_PERFMON"),
		    "programs cannot be loaded: %s%s", strerror(err),
		    wm_privilege_bpf(&d->privilege) ? ""
						    : ", because you lack CAP_BPF on the host");
}

static void check_btf(struct wm_doctor *d, struct wm_check *c)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		wm_check_yes(c, "/sys/kernel/btf/vmlinux");
	else
		wm_check_no(c, WM_WORKS_NO,
			    errno == ENOENT ? "use a kernel built with CONFIG_DEBUG_INFO_BTF"
					    : wm_check_root(d, ""),
			    "/sys/kernel/btf/vmlinux: %s", strerror(errno));
}

/*
 * Reads the first line that is for code. Lines for per-CPU data, which may come first, start at
 * address 0.
 */
static void first_function(FILE *f, char *line, size_t bytes)
{
	char *type;

	while (fgets(line, (int)bytes, f)) {
		type = strchr(line, ' ');
		if (type && (type[1] == 'T' || type[1] == 't'))
			return;
	}
}

static void check_symbols(struct wm_doctor *d, struct wm_check *c)
{
	char line[512] = "";
	FILE *f = fopen("/proc/kallsyms", "re");
	int64_t restricted = 0;
	bool shown;

	if (f) {
		first_function(f, line, sizeof(line));
		(void)fclose(f);
	}
	shown = strtoull(line, NULL, 16) != 0;
	(void)wm_privilege_setting("/proc/sys/kernel/kptr_restrict", &restricted);
	if (shown)
		wm_check_yes(c, "/proc/kallsyms has the addresses");
	else if (!f || !*line)
		wm_check_no(c, WM_WORKS_NO, "use a kernel built with CONFIG_KALLSYMS",
			    "/proc/kallsyms cannot be read");
	else
		wm_check_no(
		    c, WM_WORKS_NO,
		    wm_check_root(d, restricted > 1 ? ", after: sudo sysctl kernel.kptr_restrict=1"
				     : restricted == 1
					 ? ", or: sudo sysctl kernel.kptr_restrict=0"
					 : ", or: sudo sysctl kernel.perf_event_paranoid=1"),
		    "/proc/kallsyms hides the addresses (kernel.kptr_restrict is %" PRId64 ")",
		    restricted);
}

#define COUNT  "Counting"
#define EVENTS "Kernel events"
#define PROBES "Probes"
#define BPF    "BPF and symbols"

const struct wm_doctor_check wm_doctor_kernel[] = {
    {COUNT, "perf-own", "your own processes", check_perf_own},
    {COUNT, "perf-kernel", "with their kernel events", check_perf_kernel},
    {COUNT, "perf-all", "the whole machine", check_perf_all},
    {COUNT, "paranoid", "system settings", check_paranoid},
    {COUNT, "limits", "limits", check_limits},
    {COUNT, "hardware", "CPU counters", check_hardware},
    {COUNT, "breakpoints", "memory breakpoints", check_breakpoints},
    {EVENTS, "tracefs", "tracefs", check_tracefs},
    {EVENTS, "tracepoints", "tracepoints", check_tracepoints},
    {EVENTS, "syscalls", "system calls by name", check_syscalls},
    {EVENTS, "ring", "buffers", check_ring},
    {EVENTS, "trace-clock", "same clock as programs", check_trace_clock},
    {EVENTS, "function", "function tracer", check_function_tracer},
    {EVENTS, "hist", "histograms", check_histograms},
    {EVENTS, "snapshot", "snapshots", check_snapshots},
    {EVENTS, "synthetic", "synthetic events", check_synthetic},
    {PROBES, "uprobes", "in programs", check_uprobes},
    {PROBES, "kprobes", "in the kernel", check_kprobes},
    {PROBES, "eprobes", "on events", check_eprobes},
    {BPF, "bpf", "BPF", check_bpf},
    {BPF, "btf", "kernel types (BTF)", check_btf},
    {BPF, "kallsyms", "names of kernel addresses", check_symbols},
    {NULL, NULL, NULL, NULL},
};
