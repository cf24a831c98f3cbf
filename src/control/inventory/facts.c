/* SPDX-License-Identifier: MIT */
/*
 * facts.c - properties of kernel events besides their names, and the families to which they belong;
 * see inventory_kernel.h.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/inventory_kernel.h"
#include "kernel/event_table.h"

const char *wm_inventory_kernel_kind(const struct wm_event_def *d)
{
	static const char *const kinds[WM_FAMILY_NR] = {
	    [WM_FAMILY_TRACEPOINT] = "tracepoint",
	    [WM_FAMILY_SYSCALL] = "system-call",
	    [WM_FAMILY_SOFTWARE] = "software",
	    [WM_FAMILY_HARDWARE] = "hardware",
	    [WM_FAMILY_PMU] = "pmu",
	    [WM_FAMILY_BREAKPOINT] = "breakpoint",
	    [WM_FAMILY_USDT] = "usdt",
	    [WM_FAMILY_UPROBE] = "uprobe",
	    [WM_FAMILY_URETPROBE] = "uretprobe",
	    [WM_FAMILY_KPROBE] = "kprobe",
	    [WM_FAMILY_KRETPROBE] = "kretprobe",
	    [WM_FAMILY_EPROBE] = "eprobe",
	    [WM_FAMILY_PROC] = "counters",
	};

	return kinds[d->family];
}

const char *wm_inventory_kernel_help(const struct wm_event_def *d)
{
	const struct wm_event_known *k;

	if (d->proc)
		return d->proc->help;
	for (size_t i = 0; (k = wm_event_known(i)); i++) {
		if (k->family == d->family && k->type == d->type && k->config == d->config)
			return k->help;
	}
	return "";
}

/* ---- families ---------------------------------------------------------------------------- */

static int count_item(const struct wm_event_item *item, void *data)
{
	uint32_t *counts = data;

	counts[item->family]++;
	return 0;
}

struct family {
	const char *name, *what, *example;
	/* Has no count, because its events are created at places that users name. */
	enum wm_event_family family;
};

static const struct family families[] = {
    {"tracepoint", "tracepoints in the kernel's source", "waymark list 'sched:*'",
     WM_FAMILY_TRACEPOINT},
    {"syscall", "system calls of programs", "waymark list 'syscall:open*'", WM_FAMILY_SYSCALL},
    {"sw", "events the kernel counts itself", "waymark list 'sw:*'", WM_FAMILY_SOFTWARE},
    {"cpu", "events the CPU counts", "waymark list 'cpu:*'", WM_FAMILY_HARDWARE},
    {"proc", "counters of /proc, read periodically", "waymark list 'proc:*'", WM_FAMILY_PROC},
    {"pmu", "other counters of the machine", "ls /sys/bus/event_source/devices", WM_FAMILY_PMU},
    {"usdt", "probes compiled into a program", "waymark list 'usdt:BIN:*:*'", WM_FAMILY_NR},
    {"uprobe", "any function of a program", "waymark list 'func:BIN:*'", WM_FAMILY_NR},
    {"kprobe", "any function of the kernel", "waymark list 'func:kernel:vfs_*'", WM_FAMILY_NR},
    {"mem", "accesses to an address", "waymark stat -e mem:0x601040/8:w -- CMD", WM_FAMILY_NR},
};

static_assert(sizeof(families) / sizeof(families[0]) == WM_INVENTORY_FAMILIES, "");

/* The reason why a family is not available on this machine; NULL: it is available. */
static const char *facts_missing(const struct wm_inventory_kernel *k, const struct family *f)
{
	bool tracefs = f->family == WM_FAMILY_TRACEPOINT || f->family == WM_FAMILY_SYSCALL;

	if (tracefs && !k->space.tracefs)
		return k->space.tracefs_diag.sentence;
	if (f->family == WM_FAMILY_HARDWARE && !k->space.hardware)
		return "this machine has no such counters, or waymark may not use them";
	if (!strcmp(f->name, "kprobe") && !wm_pmu_named(&k->space.pmus, "kprobe"))
		return "this kernel was built without kprobes";
	if ((!strcmp(f->name, "uprobe") || !strcmp(f->name, "usdt")) &&
	    !wm_pmu_named(&k->space.pmus, "uprobe"))
		return "this kernel was built without uprobes";
	return NULL;
}

void wm_inventory_kernel_families(const struct wm_inventory_kernel *k,
				  struct wm_inventory_family ret[WM_INVENTORY_FAMILIES])
{
	uint32_t counts[WM_FAMILY_NR] = {0};

	(void)wm_event_space_each(&k->space, count_item, counts);
	for (size_t i = 0; i < WM_INVENTORY_FAMILIES; i++) {
		const struct family *f = &families[i];

		ret[i] = (struct wm_inventory_family){
		    .name = f->name,
		    .what = f->what,
		    .example = f->example,
		    .missing = facts_missing(k, f),
		    .is_counted = f->family != WM_FAMILY_NR,
		    .nr_events = f->family != WM_FAMILY_NR ? counts[f->family] : 0,
		};
	}
}
