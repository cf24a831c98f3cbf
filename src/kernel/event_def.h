/* SPDX-License-Identifier: MIT */
/*
 * event_def.h - one event the kernel can count or record, whatever it is:
 * what people call it, and how perf_event_open(2) is told. Made by
 * event_name.h from names, listed by event_space.h.
 */
#ifndef WM_KERNEL_EVENT_DEF_H
#define WM_KERNEL_EVENT_DEF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "kdata/proc_text.h"

enum wm_event_family {
	WM_FAMILY_TRACEPOINT, /* sched:sched_switch; also events of others' dynamic probes */
	WM_FAMILY_SYSCALL,    /* syscall:openat, two tracepoints each */
	WM_FAMILY_SOFTWARE,   /* sw:page-faults */
	WM_FAMILY_HARDWARE,   /* cpu:cycles, caches, raw numbers */
	WM_FAMILY_PMU,        /* msr:tsc and what else /sys/bus/event_source has */
	WM_FAMILY_BREAKPOINT, /* mem:ADDRESS/8:w */
	WM_FAMILY_USDT,       /* usdt:PROGRAM:provider:name */
	WM_FAMILY_UPROBE,     /* uprobe:PROGRAM:function+16 */
	WM_FAMILY_URETPROBE,
	WM_FAMILY_KPROBE, /* kprobe:function */
	WM_FAMILY_KRETPROBE,
	WM_FAMILY_EPROBE, /* eprobe:SYSTEM:EVENT(...); `symbol` is the event */
	WM_FAMILY_PROC,   /* proc:vmstat: read from /proc, not counted by perf events; `proc` */
	WM_FAMILY_NR,
};

/* "syscall", "sw" ...: the first word of its names; for tracepoints "tracepoint". */
const char *wm_event_family_name(enum wm_event_family family);

enum wm_event_phase {
	WM_PHASE_NONE,
	WM_PHASE_ENTER, /* of a system call */
	WM_PHASE_EXIT,
};

/* Strings belong to the list they are in. */
struct wm_event_def {
	enum wm_event_family family;
	const char *name; /* the one name, "syscall:openat"; several places may share it */
	bool one_of_many; /* a wildcard matched it, and others */

	/* For perf_event_open; wm_event_def_attr() puts them together. */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t address;       /* breakpoints */
	uint32_t bytes, access; /* breakpoints: length, HW_BREAKPOINT_* */
	bool exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise; /* 0..3 */
	bool in_kernel;  /* happens in the kernel only */

	/* Tracepoints and system calls: folder and name in tracefs. */
	const char *system, *event;
	enum wm_event_phase phase;
	bool implied; /* the other phase of a system call named without one */

	/* Probes: a file and the place in it, or a function of the kernel. */
	const char *path;
	uint64_t offset;           /* in the file, or from the function */
	uint64_t semaphore_offset; /* in the file; 0: none */
	const char *symbol;        /* the function, as far as known */
	const char *operands;      /* USDT; "" none */
	bool more;                 /* another place of the event before it on the list */
	const char *label;         /* what a trace calls it: "PROGRAM:function" */
	const char *arguments;     /* what is fetched there (probe_args.h); NULL: nothing */
	const char *floats;        /* names of those that are floats' bytes; NULL: none */
	const char *left_out;      /* a sentence: what of it the kernel cannot fetch; NULL */

	const struct wm_proc_event *proc; /* PROC; of a table that is always there */

	/* PMU events: what one count is worth, "2.3e-10" "Joules"; NULL: 1. */
	const char *scale, *unit;
};

/* Everything in it lives as long as it does. */
struct wm_event_defs {
	struct wm_arena arena;
	struct wm_event_def *defs;
	size_t nr;
};

#define WM_EVENT_DEFS_MAX   65536u
#define WM_EVENT_DEFS_BYTES (64u << 20)

void wm_event_defs_init(struct wm_event_defs *d);
void wm_event_defs_done(struct wm_event_defs *d);

/* Copies `def`, its strings too, to the end. 0, -ENOMEM, -E2BIG. */
int wm_event_defs_add(struct wm_event_defs *d, const struct wm_event_def *def);

/*
 * Takes over perf's modifiers, "u", "kp": those of u, k and h that are named
 * are counted, the others are not; p asks for precise addresses. False, and
 * nothing changed, when the text is none of it.
 */
bool wm_event_def_modify(struct wm_event_def *def, const char *letters);

/*
 * An event was refused with that errno, but what of it is outside the kernel
 * alone would be allowed and makes sense.
 */
bool wm_event_def_may_narrow(const struct wm_event_def *def, int err);

/* An attr that names this event and has nothing else set. Borrows strings of the def. */
void wm_event_def_attr(const struct wm_event_def *def, struct perf_event_attr *attr);

#endif
