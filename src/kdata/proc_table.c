/* SPDX-License-Identifier: MIT */
/*
 * proc_table.c - the files in /proc that are recorded as events, and their contents according to
 * proc(5). Values that are named in the file itself are not listed here.
 */
#include <string.h>

#include "kdata/proc_int.h"

/* clang-format off */
#define COUNT(name) {name, WM_PROC_COUNT, WM_PROC_PLAIN}
#define TICKS(name) {name, WM_PROC_COUNT, WM_PROC_TICKS}
#define MS(name) {name, WM_PROC_COUNT, WM_PROC_MS}
#define SECTORS(name) {name, WM_PROC_COUNT, WM_PROC_SECTORS}
#define BYTES(name) {name, WM_PROC_COUNT, WM_PROC_BYTES}
#define SIGNED(name) {name, WM_PROC_SIGNED, WM_PROC_PLAIN}
#define DECIMAL(name) {name, WM_PROC_DECIMAL, WM_PROC_PLAIN}
#define SKIP {"", WM_PROC_SKIP, WM_PROC_PLAIN}
#define END {NULL, WM_PROC_SKIP, WM_PROC_PLAIN}

#define CPU_TIMES TICKS("user"), TICKS("nice"), TICKS("system"), TICKS("idle"), TICKS("iowait"), \
	TICKS("irq"), TICKS("softirq"), TICKS("steal"), TICKS("guest"), TICKS("guest_nice"), END

static const struct wm_proc_column cpu_times[] = {CPU_TIMES};
static const struct wm_proc_column cpu[] = {{"cpu", WM_PROC_CPU, WM_PROC_PLAIN}, CPU_TIMES};

static const struct wm_proc_column softirqs[] = {
	COUNT("softirq"), COUNT("softirq_hi"), COUNT("softirq_timer"), COUNT("softirq_net_tx"),
	COUNT("softirq_net_rx"), COUNT("softirq_block"), COUNT("softirq_irq_poll"),
	COUNT("softirq_tasklet"), COUNT("softirq_sched"), COUNT("softirq_hrtimer"),
	COUNT("softirq_rcu"), END};

static const struct wm_proc_line stat_lines[] = {
	{"cpu", cpu_times}, {"softirq", softirqs}, {NULL, NULL}};

static const struct wm_proc_column diskstats[] = {
	SKIP, SKIP, {"dev", WM_PROC_WORD, WM_PROC_PLAIN},
	COUNT("reads"), COUNT("reads_merged"), SECTORS("read"), MS("reading"),
	COUNT("writes"), COUNT("writes_merged"), SECTORS("written"), MS("writing"),
	COUNT("in_flight"), MS("busy"), MS("waiting"),
	COUNT("discards"), COUNT("discards_merged"), SECTORS("discarded"), MS("discarding"),
	COUNT("flushes"), MS("flushing"), END};

static const struct wm_proc_column net_dev[] = {
	{"dev", WM_PROC_WORD, WM_PROC_PLAIN},
	BYTES("rx"), COUNT("rx_packets"), COUNT("rx_errors"), COUNT("rx_dropped"),
	COUNT("rx_fifo"), COUNT("rx_frame"), COUNT("rx_compressed"), COUNT("rx_multicast"),
	BYTES("tx"), COUNT("tx_packets"), COUNT("tx_errors"), COUNT("tx_dropped"),
	COUNT("tx_fifo"), COUNT("tx_collisions"), COUNT("tx_carrier"), COUNT("tx_compressed"), END};

static const struct wm_proc_column loadavg[] = {
	DECIMAL("load1"), DECIMAL("load5"), DECIMAL("load15"),
	COUNT("running"), COUNT("tasks"), COUNT("last_pid"), END};

#define PRESSURES(whose) \
	{whose "_avg10", WM_PROC_DECIMAL, WM_PROC_PERCENT}, \
	{whose "_avg60", WM_PROC_DECIMAL, WM_PROC_PERCENT}, \
	{whose "_avg300", WM_PROC_DECIMAL, WM_PROC_PERCENT}, \
	{whose "_total", WM_PROC_COUNT, WM_PROC_US}, END
static const struct wm_proc_column of_some[] = {PRESSURES("some")};
static const struct wm_proc_column of_full[] = {PRESSURES("full")};

/*
 * Columns of /proc/PID/stat. Addresses, masks and values that the kernel no longer maintains are
 * skipped.
 */
static const struct wm_proc_column pid_stat[] = {
	SKIP /* the pid is in the event's context */, {"comm", WM_PROC_COMM, WM_PROC_PLAIN},
	{"state", WM_PROC_WORD, WM_PROC_PLAIN}, COUNT("ppid"),
	SKIP /* pgrp */, SKIP /* session */, SKIP /* tty_nr */, SKIP /* tpgid */, SKIP /* flags */,
	COUNT("minflt"), COUNT("cminflt"), COUNT("majflt"), COUNT("cmajflt"),
	TICKS("utime"), TICKS("stime"), TICKS("cutime"), TICKS("cstime"),
	SIGNED("priority"), SIGNED("nice"), COUNT("num_threads"), SKIP /* itrealvalue */,
	TICKS("starttime"), BYTES("vsize"), {"rss", WM_PROC_COUNT, WM_PROC_PAGES},
	SKIP, SKIP, SKIP, SKIP, SKIP, SKIP /* skips rsslim to kstkeip */,
	SKIP, SKIP, SKIP, SKIP /* signals */, SKIP /* wchan */, SKIP, SKIP /* swap */,
	SKIP /* exit_signal */, COUNT("processor"), COUNT("rt_priority"), COUNT("policy"),
	TICKS("delayacct_blkio"), TICKS("guest_time"), TICKS("cguest_time"), END};

static const struct wm_proc_column rchar[] = {BYTES("rchar"), END};
static const struct wm_proc_column wchar[] = {BYTES("wchar"), END};
static const struct wm_proc_column read_bytes[] = {BYTES("read"), END};
static const struct wm_proc_column write_bytes[] = {BYTES("write"), END};
static const struct wm_proc_column cancelled[] = {BYTES("cancelled_write"), END};
static const struct wm_proc_line pid_io_lines[] = {
	{"rchar", rchar}, {"wchar", wchar}, {"read_bytes", read_bytes},
	{"write_bytes", write_bytes}, {"cancelled_write_bytes", cancelled}, {NULL, NULL}};

static const struct wm_proc_line pid_status_lines[] = {
	{"FDSize", NULL}, {"Threads", NULL}, {"voluntary_ctxt_switches", NULL},
	{"nonvoluntary_ctxt_switches", NULL}, {NULL, NULL}};

static const struct wm_proc_line pressure_lines[] = {
	{"some", of_some}, {"full", of_full}, {NULL, NULL}};

#define PRESSURE(what) \
	{.event = {"pressure_" what, "pressure/" what, "time that tasks were stalled on " what, \
		   false}, .lines = pressure_lines}

static const struct wm_proc_shape shapes[] = {
	{.event = {"vmstat", "vmstat", "memory: pages, faults, reclaim, since boot",
		   false}},
	{.event = {"meminfo", "meminfo", "memory: amounts by use", false}},
	{.event = {"stat", "stat", "the machine: times of all CPUs, interrupts, context switches, forks",
		   false}, .lines = stat_lines, .begins = "cpu"},
	{.event = {"cpu", "stat", "times of each CPU", false},
	 .rows = cpu, .between = " ", .begins = "cpu"},
	{.event = {"diskstats", "diskstats", "counters of each block device", false},
	 .rows = diskstats, .between = " "},
	{.event = {"net_dev", "net/dev", "counters of each network device", false},
	 .rows = net_dev, .between = " :", .not_with = "|"},
	{.event = {"loadavg", "loadavg", "average number of tasks that run or wait for a disk", false},
	 .rows = loadavg, .between = " /"},
	PRESSURE("cpu"), PRESSURE("io"), PRESSURE("memory"), PRESSURE("irq"),
	{.event = {"pid_stat", "stat", "each process: times, faults, memory", true},
	 .rows = pid_stat, .between = " "},
	{.event = {"pid_io", "io", "each process: reads and writes", true},
	 .lines = pid_io_lines},
	{.event = {"pid_status", "status", "each process: memory by kind, context switches", true},
	 .lines = pid_status_lines, .sizes_only = true, .may_lack = true},
};
/* clang-format on */

const struct wm_proc_event *wm_kproc_event(size_t i)
{
	_Static_assert(sizeof(shapes) / sizeof(shapes[0]) <= WM_PROC_EVENTS_MAX, "raise it");
	return i < sizeof(shapes) / sizeof(shapes[0]) ? &shapes[i].event : NULL;
}

const struct wm_proc_shape *wm_kproc_shape_of(const struct wm_proc_event *e)
{
	return (const struct wm_proc_shape *)((const char *)e -
					      offsetof(struct wm_proc_shape, event));
}

/*
 * Returns whether a line is a row. If rows begin with "cpu", the line "cpu0 ..." is a row, but "cpu
 * ...", the sum, is not.
 */
bool wm_kproc_is_row(const struct wm_proc_shape *s, const char *line, const char *end)
{
	size_t n = s->begins ? strlen(s->begins) : 0;

	if (line == end)
		return false;
	if (n && ((size_t)(end - line) <= n || memcmp(line, s->begins, n) != 0 || line[n] < '0' ||
		  line[n] > '9'))
		return false;
	return !s->not_with || !memchr(line, s->not_with[0], (size_t)(end - line));
}
