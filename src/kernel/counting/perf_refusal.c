/* SPDX-License-Identifier: MIT */
/*
 * perf_refusal.c - turns an error from perf_event_open(2) into an error message with a hint. The
 * kernel returns one errno for many reasons; the current settings and capabilities tell them apart.
 * See perf_event.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "kernel/perf_event.h"
#include "kernel/privilege.h"

struct refusal {
	int err; /* the errno, as returned to the caller */
	const struct perf_event_attr *attr;
	struct wm_perf_where where;
	const char *name;
	struct wm_diag *diag;
};

static bool has_prefix(const struct refusal *r, const char *prefix)
{
	return r->attr->type > PERF_TYPE_BREAKPOINT && !strncmp(r->name, prefix, strlen(prefix));
}

static bool is_kernel_probe(const struct refusal *r)
{
	return has_prefix(r, "kprobe:") || has_prefix(r, "kretprobe:");
}

static bool is_program_probe(const struct refusal *r)
{
	return has_prefix(r, "uprobe:") || has_prefix(r, "uretprobe:") || has_prefix(r, "usdt:");
}

/*
 * Probes need a capability, whatever perf_event_paranoid is. Newer kernels demand CAP_SYS_ADMIN for
 * those in programs, which older ones permitted with CAP_PERFMON.
 */
static int refused_probe(const struct refusal *r)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	if (wm_privilege_has(&p, CAP_SYS_ADMIN))
		return wm_diag_set(r->diag, r->err, NULL, -1,
				   "'%.80s' is not permitted: a security module forbids it",
				   r->name);
	if (wm_privilege_perfmon(&p))
		return wm_diag_set(
		    r->diag, r->err, NULL, -1,
		    "'%.80s' is not permitted: this kernel demands CAP_SYS_ADMIN for "
		    "it, CAP_PERFMON is not enough; %s",
		    r->name, wm_privilege_hint(&p));
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.80s' is not permitted: it needs CAP_SYS_ADMIN (on older kernels, "
			   "CAP_PERFMON is enough); %s",
			   r->name, wm_privilege_hint(&p));
}

static int refused_permission(const struct refusal *r)
{
	struct wm_privilege p;
	enum wm_perf_need need = r->where.pid < 0          ? WM_PERF_NEED_CPU
				 : r->attr->exclude_kernel ? WM_PERF_NEED_USER
							   : WM_PERF_NEED_KERNEL;
	static const char *const whats[] = {"whole CPUs", "inside the kernel",
					    "your own processes"};

	if (is_kernel_probe(r) || is_program_probe(r))
		return refused_probe(r);
	wm_privilege_read(&p);
	if (r->attr->type <= PERF_TYPE_BREAKPOINT && !wm_privilege_perf(&p, need))
		return wm_diag_set(
		    r->diag, r->err, NULL, -1,
		    "'%.60s' is not permitted: to count %s, kernel.perf_event_paranoid must be at "
		    "most %d (now %" PRId64 "); %s, or: sudo sysctl kernel.perf_event_paranoid=%d",
		    r->name, whats[need], (int)need, p.paranoid, wm_privilege_hint(&p), (int)need);
	if (r->where.pid > 0 && wm_privilege_perf(&p, need))
		return wm_diag_set(r->diag, r->err, NULL, -1,
				   "'%.60s' is not permitted on thread %d: it belongs to another "
				   "user or is protected; run as root",
				   r->name, (int)r->where.pid);
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.60s' is not permitted: it needs CAP_PERFMON (or CAP_SYS_ADMIN); %s",
			   r->name, wm_privilege_hint(&p));
}

static int refused_files(const struct refusal *r)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "too many open files for '%.60s': it needs one for each event and each "
			   "CPU or thread, and the limit is %" PRIu64
			   "; raise it with 'ulimit -n' or name fewer events",
			   r->name, p.files);
}

const char *wm_perf_kprobe_reason(int err)
{
	switch (-err) {
	case ENOENT:
		return "the kernel has no function of this name; /proc/kallsyms lists all of them";
	case EILSEQ:
		return "no instruction begins at this offset of the function";
	case EADDRNOTAVAIL:
		return "several functions have this name, and the kernel cannot tell which one is "
		       "meant";
	case EINVAL:
		return "the kernel allows no probe here: the offset is outside the function, the "
		       "function ran only at boot, or probes themselves use it (as root: "
		       "/sys/kernel/debug/kprobes/blacklist)";
	default:
		return NULL;
	}
}

static int refused_missing(const struct refusal *r)
{
	bool hardware = r->attr->type == PERF_TYPE_HARDWARE || r->attr->type == PERF_TYPE_RAW ||
			r->attr->type == PERF_TYPE_HW_CACHE;

	return wm_diag_set(
	    r->diag, r->err, NULL, -1, "'%.80s' cannot be counted here: %s", r->name,
	    hardware ? "this CPU has no such counter, or this virtual machine has no access to it"
	    : r->attr->type == PERF_TYPE_TRACEPOINT
		? "the tracepoint no longer exists (its module was unloaded, or its probe removed)"
		: "this kernel does not support it");
}

static int refused_no_kernel(const struct refusal *r)
{
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.80s' cannot be counted: this kernel was built without perf events "
			   "(CONFIG_PERF_EVENTS)",
			   r->name);
}

static const char *watch_reason(const struct perf_event_attr *attr)
{
#if defined(__x86_64__)
	if (attr->bp_type == HW_BREAKPOINT_R)
		return "this CPU cannot watch reads alone; use rw";
	if (attr->bp_type == HW_BREAKPOINT_X && attr->bp_len != sizeof(long))
		return "this CPU watches the execution of an instruction with length 8 only; use "
		       "/8:x";
#endif
	return "the CPU cannot watch this address and length; the address must be a multiple of "
	       "the length (1, 2, 4 or 8)";
}

static bool is_probe(const char *name)
{
	static const char *const families[] = {
	    "uprobe:", "uretprobe:", "usdt:", "kprobe:", "kretprobe:", "func:"};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strncmp(name, families[i], strlen(families[i])))
			return true;
	return false;
}

static int refused_invalid(const struct refusal *r)
{
	if (r->attr->type == PERF_TYPE_BREAKPOINT)
		return wm_diag_set(r->diag, r->err, NULL, -1, "'%.80s': %s", r->name,
				   watch_reason(r->attr));
	if (r->attr->type > PERF_TYPE_BREAKPOINT && r->attr->sample_period && !is_probe(r->name))
		return wm_diag_set(r->diag, r->err, NULL, -1,
				   "'%.80s' can be counted ('waymark stat'), but the kernel does "
				   "not sample it",
				   r->name);
	return wm_diag_set(
	    r->diag, r->err, NULL, -1, "'%.80s': the kernel refuses this event in this form: %s",
	    r->name,
	    is_probe(r->name)
		? "check that the file is a program and that an instruction begins at this place"
		: "it does not support one of the modifiers, or cannot be inherited");
}

/* One row per errno. For other errnos, strerror() is used. */
static const struct {
	int err;
	int (*explain)(const struct refusal *r);
	const char *sentence; /* follows the event's name when `explain` is NULL */
} refusals[] = {
    {EACCES, refused_permission, NULL},
    {EPERM, refused_permission, NULL},
    {EMFILE, refused_files, NULL},
    {ENOENT, refused_missing, NULL},
    {ENODEV, refused_missing, NULL},
    {EOPNOTSUPP, refused_missing, NULL},
    {ENOSYS, refused_no_kernel, NULL},
    {EINVAL, refused_invalid, NULL},
    {ENFILE, NULL, "the whole system has too many open files; raise /proc/sys/fs/file-max"},
    {ESRCH, NULL, "the process or thread has ended"},
    {ENOSPC, NULL,
     "all watchpoints of the CPU are in use; most CPUs have four, and a debugger may use some"},
    {EBUSY, NULL,
     "another tool has exclusive use of the counters (an exclusive event, or the NMI watchdog)"},
    {E2BIG, NULL, "this kernel is too old for an option of this event"},
};

int wm_perf_refused(int err, const struct perf_event_attr *attr, struct wm_perf_where where,
		    const char *name, struct wm_diag *diag)
{
	const struct refusal r = {err, attr, where, name, diag};

	if (is_kernel_probe(&r) && wm_perf_kprobe_reason(err))
		return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be probed: %s", name,
				   wm_perf_kprobe_reason(err));
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		if (refusals[i].err != -err)
			continue;
		if (refusals[i].explain)
			return refusals[i].explain(&r);
		return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be counted: %s", name,
				   refusals[i].sentence);
	}
	return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be opened: %s", name,
			   strerror(-err));
}
