/* SPDX-License-Identifier: MIT */
/*
 * event_name.h - the kernel's part of waymark's one namespace: turns the names that users type into
 * events.
 *
 *   sched:sched_switch  sched:*  sched_switch     tracepoints; without ':' from any system
 *   syscall:openat  syscall:openat:enter          a system call, or just its entry or exit
 *   sw:page-faults  page-faults  faults           the kernel's own counters
 *   cpu:cycles  cycles  L1-dcache-load-misses     the CPU's counters
 *   proc:vmstat  proc:pid_io                     /proc counters, which are read, not counted
 *   msr:tsc  msr/tsc/  cpu/event=0x3c/  r01c2     PMU events, terms, raw numbers
 *   mem:0x601040/8:w                              a breakpoint on data
 *   usdt:BIN:provider:name                        probes compiled into a program
 *   uprobe:BIN:function+8  uretprobe:BIN:f        a place in a program, or a function's return
 *   func:BIN:glob  func:kernel:glob               each function with a matching name
 *   eprobe:sched:sched_switch(next_comm)          an event, with values fetched from its fields
 *   kprobe:function+8  kretprobe:function         a place in the kernel
 *
 * A place may be followed by parentheses with the values to fetch there; see probe_args.h. *, ? and
 * [...] match wherever the names can be listed, which is everywhere except in BIN. "kernel:" may
 * precede any of them; "user:" precedes a program's event. The suffixes :u and :k (and :h, :p, as
 * in perf) restrict counting to outside or inside the kernel. BIN is a file, or is searched for as
 * a shell does.
 */
#ifndef WM_KERNEL_EVENT_NAME_H
#define WM_KERNEL_EVENT_NAME_H

#include "kernel/event_def.h"
#include "kernel/event_space.h"

#define WM_EVENT_PATTERN_MAX 4096u

/*
 * Appends all events that match the pattern to the list, which may be longer even after a failure.
 * Returns the number of events (> 0), or an error with a message:
 *
 *   -ENOENT      no event has this name; the nearest names are offered
 *   -EACCES      it may exist, but the list may not be read: the hint
 *   -EINVAL      malformed: what is wrong, and the right form
 *   -EOPNOTSUPP  this kernel has no such events at all
 *   and the errors of reading a program (-ENOEXEC, -EBADMSG ...)
 */
int wm_event_name_resolve(const struct wm_event_space *s, const char *pattern,
			  struct wm_event_defs *defs, struct wm_diag *diag);

/*
 * Finds the next pattern in a comma-separated list, as after -e. Commas between the slashes of
 * "cpu/event=1,umask=2/" and inside parentheses belong to the pattern. Returns its length and moves
 * *list past it and its comma; 0: no more patterns.
 */
size_t wm_event_name_next(const char **list, const char **ret_start);

#endif
