/* SPDX-License-Identifier: MIT */
/*
 * event_name.h - the one namespace of waymark, the kernel's part of it: from
 * what people type to the events meant.
 *
 *   sched:sched_switch  sched:*  sched_switch     tracepoints; without ':' of any system
 *   syscall:openat  syscall:openat:enter          a system call, or its entry or exit alone
 *   sw:page-faults  page-faults  faults           the kernel's own counters
 *   cpu:cycles  cycles  L1-dcache-load-misses     the CPU's counters
 *   proc:vmstat  proc:pid_io                     counters of /proc, which are read, not counted
 *   msr:tsc  msr/tsc/  cpu/event=0x3c/  r01c2     PMU events, terms, raw numbers
 *   mem:0x601040/8:w                              a breakpoint on data
 *   usdt:BIN:provider:name                        probes compiled into a program
 *   uprobe:BIN:function+8  uretprobe:BIN:f        a place in a program, and returns
 *   func:BIN:glob  func:kernel:glob               each function of that name
 *   eprobe:sched:sched_switch(next_comm)          an event, with what is fetched of its fields
 *   kprobe:function+8  kretprobe:function         a place in the kernel
 *
 * Behind a place, in parentheses, what is fetched there: probe_args.h.
 *
 * *, ? and [...] stand for names wherever names are known: everywhere but in
 * BIN. "kernel:" may come before any of them; "user:" names a program's event.
 * :u and :k behind it (and :h, :p, as in perf) count outside or inside the
 * kernel only. BIN is a file or is looked for as a shell does.
 */
#ifndef WM_KERNEL_EVENT_NAME_H
#define WM_KERNEL_EVENT_NAME_H

#include "kernel/event_def.h"
#include "kernel/event_space.h"

#define WM_EVENT_PATTERN_MAX 4096u

/*
 * Adds all events meant by the pattern to the list, which it may leave longer
 * when it fails. How many (> 0), or with a sentence:
 *   -ENOENT      nothing is called so; the nearest names are offered
 *   -EACCES      it might be, but what there is may not be read: the cure
 *   -EINVAL      malformed: what is wrong and how it should look
 *   -EOPNOTSUPP  this kernel has no such events at all
 *   and what reading a program can give (-ENOEXEC, -EBADMSG ...)
 */
int wm_event_name_resolve(const struct wm_event_space *s, const char *pattern,
			  struct wm_event_defs *defs, struct wm_diag *diag);

/*
 * The next pattern of a list separated by commas, as after -e: commas between
 * the slashes of "cpu/event=1,umask=2/" and within parentheses belong to the
 * pattern. Returns its
 * length and moves *list behind it and its comma; 0: no more.
 */
size_t wm_event_name_next(const char **list, const char **ret_start);

#endif
