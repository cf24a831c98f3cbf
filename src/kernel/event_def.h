/* SPDX-License-Identifier: MIT */
/*
 * event_def.h - one event that the kernel can count or record, of any family: its name for users,
 * and its perf_event_open(2) attributes. event_name.h creates defs from names, event_space.h lists
 * them.
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
	WM_FAMILY_TRACEPOINT, /* sched:sched_switch, and also other tools' dynamic probes */
	WM_FAMILY_SYSCALL,    /* syscall:openat; each system call has two tracepoints */
	WM_FAMILY_SOFTWARE,   /* sw:page-faults */
	WM_FAMILY_HARDWARE,   /* cpu:cycles, caches, raw event numbers */
	WM_FAMILY_PMU,        /* msr:tsc and the other PMUs in /sys/bus/event_source */
	WM_FAMILY_BREAKPOINT, /* mem:ADDRESS/8:w */
	WM_FAMILY_USDT,       /* usdt:PROGRAM:provider:name */
	WM_FAMILY_UPROBE,     /* uprobe:PROGRAM:function+16 */
	WM_FAMILY_URETPROBE,
	WM_FAMILY_KPROBE, /* kprobe:function */
	WM_FAMILY_KRETPROBE,
	WM_FAMILY_EPROBE, /* eprobe:SYSTEM:EVENT(...); `symbol` is the event's name */
	WM_FAMILY_PROC,   /* proc:vmstat: read from /proc, not counted by perf; see `proc` */
	WM_FAMILY_NR,
};

/* The first word of the family's names, such as "syscall" or "sw"; "tracepoint" for tracepoints. */
const char *wm_event_family_name(enum wm_event_family family);

enum wm_event_phase {
	WM_PHASE_NONE,
	WM_PHASE_ENTER, /* a system call's entry */
	WM_PHASE_EXIT,
};

/* A def's strings belong to the list that contains the def. */
struct wm_event_def {
	enum wm_event_family family;
	/* The canonical name, such as "syscall:openat"; several places may share it. */
	const char *name;
	bool one_of_many; /* a wildcard matched this event and others */
	uint32_t group;   /* events with the same number are counted together; 0: alone */

	/* For perf_event_open(2); wm_event_def_attr() copies these to an attr. */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t address;       /* breakpoints */
	uint32_t bytes, access; /* for breakpoints: length, and HW_BREAKPOINT_* */
	bool exclude_user, exclude_kernel, exclude_hv;
	uint8_t precise; /* 0..3 */
	bool in_kernel;  /* the event happens only in the kernel */

	/* For tracepoints and system calls: folder and name in tracefs. */
	const char *system, *event;
	enum wm_event_phase phase;
	bool implied; /* a system call's other phase, added when the user gave none */

	/* For probes: a file and a place in it, or a kernel function. */
	const char *path;
	uint64_t offset;           /* offset in the file, or from the function */
	uint64_t semaphore_offset; /* offset in the file; 0: no semaphore */
	const char *symbol;        /* the function's name, if known */
	bool is_copy;              /* an inlined copy of the function `symbol` begins there */
	bool by_line;              /* given as a source line, not as a function or an address */
	const char *operands;      /* a USDT probe's operands; "": none */
	bool more;                 /* this is another place for the previous event in the list */
	const char *label;         /* the event's name in a trace, "PROGRAM:function" */
	const char *arguments;     /* the values fetched there (probe_args.h); NULL: none */
	const char *recast;        /* those whose type the kernel lacks (probe_args.h) */
	/* A message about arguments that the kernel cannot fetch; NULL: none. */
	const char *left_out;

	/* A sentence about places of the name that are not probed; NULL: all are. */
	const char *places_left_out;

	const struct wm_proc_event *proc; /* for PROC events; points into a static table */

	/* For PMU events: the value of a single count, such as "2.3e-10" "Joules"; NULL: 1. */
	const char *scale, *unit;
};

/* Owns all of its defs' strings. */
struct wm_event_defs {
	struct wm_arena arena;
	struct wm_event_def *defs;
	size_t nr;
};

#define WM_EVENT_DEFS_MAX   65536u
#define WM_EVENT_DEFS_BYTES (64u << 20)

void wm_event_defs_init(struct wm_event_defs *d);
void wm_event_defs_done(struct wm_event_defs *d);

/* Appends a copy of `def` and its strings. Returns 0, -ENOMEM or -E2BIG. */
int wm_event_defs_add(struct wm_event_defs *d, const struct wm_event_def *def);

/*
 * Applies perf's modifiers, such as "u" or "kp": of the modes u, k and h, only the named ones are
 * counted; p requests precise addresses. Returns false and changes nothing if `letters` is not a
 * list of modifiers.
 */
bool wm_event_def_modify(struct wm_event_def *def, const char *letters);

/*
 * Whether an event that was refused with this errno may still be counted outside the kernel, and
 * counting it there makes sense.
 */
bool wm_event_def_may_narrow(const struct wm_event_def *def, int err);

/*
 * Fills in an attr with what identifies this event and sets nothing else. Borrows the def's
 * strings.
 */
void wm_event_def_attr(const struct wm_event_def *def, struct perf_event_attr *attr);

#endif
