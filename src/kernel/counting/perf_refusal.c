/* SPDX-License-Identifier: MIT */
/*
 * perf_refusal.c - why perf_event_open(2) said no, in a sentence with a cure.
 * The kernel gives one errno for many reasons; the settings and capabilities
 * of the moment tell them apart. See perf_event.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "kernel/perf_event.h"
#include "kernel/privilege.h"

struct refusal {
	int err; /* as given to people who call us */
	const struct perf_event_attr *attr;
	struct wm_perf_where where;
	const char *name;
	struct wm_diag *diag;
};

static int refused_permission(const struct refusal *r)
{
	struct wm_privilege p;
	enum wm_perf_need need = r->where.pid < 0          ? WM_PERF_NEED_CPU
				 : r->attr->exclude_kernel ? WM_PERF_NEED_USER
							   : WM_PERF_NEED_KERNEL;
	static const char *const whats[] = {"whole CPUs", "what happens in the kernel",
					    "one's own processes"};

	wm_privilege_read(&p);
	/* Probes are for the privileged, whatever the setting. */
	if (r->attr->type <= PERF_TYPE_BREAKPOINT && !wm_privilege_perf(&p, need))
		return wm_diag_set(
		    r->diag, r->err, NULL, -1,
		    "'%.60s' is not permitted: to count %s, kernel.perf_event_paranoid must be %d "
		    "or less and is %" PRId64 "; %s, or: sudo sysctl "
		    "kernel.perf_event_paranoid=%d",
		    r->name, whats[need], (int)need, p.paranoid, wm_privilege_cure(&p), (int)need);
	if (r->where.pid > 0 && wm_privilege_perf(&p, need))
		return wm_diag_set(r->diag, r->err, NULL, -1,
				   "'%.60s' is not permitted on thread %d: it is another user's or "
				   "protected; try again as root",
				   r->name, (int)r->where.pid);
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.60s' is not permitted: it needs CAP_PERFMON (or CAP_SYS_ADMIN); %s",
			   r->name, wm_privilege_cure(&p));
}

static int refused_files(const struct refusal *r)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "too many open files for '%.60s': one is needed for each event and each "
			   "CPU or thread, the limit is %" PRIu64
			   "; raise it with 'ulimit -n' or name fewer events",
			   r->name, p.files);
}

const char *wm_perf_kprobe_reason(int err)
{
	switch (-err) {
	case ENOENT:
		return "the kernel has no function of this name; /proc/kallsyms has all there are";
	case EILSEQ:
		return "no instruction begins at this offset of the function";
	case EADDRNOTAVAIL:
		return "several functions have this name, and the kernel cannot tell which is "
		       "meant";
	case EINVAL:
		return "the kernel allows no probe here: the offset is outside the function, or "
		       "the function served only to start the kernel, or probes themselves need "
		       "it (as root: /sys/kernel/debug/kprobes/blacklist)";
	default:
		return NULL;
	}
}

static bool is_kernel_probe(const struct refusal *r)
{
	return r->attr->type > PERF_TYPE_BREAKPOINT &&
	       (!strncmp(r->name, "kprobe:", 7) || !strncmp(r->name, "kretprobe:", 10));
}

static int refused_missing(const struct refusal *r)
{
	bool hardware = r->attr->type == PERF_TYPE_HARDWARE || r->attr->type == PERF_TYPE_RAW ||
			r->attr->type == PERF_TYPE_HW_CACHE;

	return wm_diag_set(
	    r->diag, r->err, NULL, -1, "'%.80s' is not counted here: %s", r->name,
	    hardware ? "this CPU has no such counter, or none is given to this virtual machine"
	    : r->attr->type == PERF_TYPE_TRACEPOINT
		? "the tracepoint is gone (a module unloaded, a probe removed)"
		: "this kernel does not know it");
}

static int refused_no_kernel(const struct refusal *r)
{
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.80s' is not counted: this kernel was built without perf events "
			   "(CONFIG_PERF_EVENTS)",
			   r->name);
}

static int refused_invalid(const struct refusal *r)
{
	if (r->attr->type == PERF_TYPE_BREAKPOINT)
		return wm_diag_set(r->diag, r->err, NULL, -1,
				   "'%.80s': the CPU cannot watch this address and length; the "
				   "address must be a multiple of the length (1, 2, 4 or 8)",
				   r->name);
	return wm_diag_set(r->diag, r->err, NULL, -1,
			   "'%.80s': the kernel refuses this event in this form (%s)", r->name,
			   r->attr->type > PERF_TYPE_BREAKPOINT
			       ? "is the place an instruction's first byte, the file a program?"
			       : "a modifier it does not have, or it cannot be inherited");
}

/* One row an errno; what is not here gets strerror's words. */
static const struct {
	int err;
	int (*explain)(const struct refusal *r);
	const char *sentence; /* what follows the name, when explain is NULL */
} refusals[] = {
    {EACCES, refused_permission, NULL},
    {EPERM, refused_permission, NULL},
    {EMFILE, refused_files, NULL},
    {ENOENT, refused_missing, NULL},
    {ENODEV, refused_missing, NULL},
    {EOPNOTSUPP, refused_missing, NULL},
    {ENOSYS, refused_no_kernel, NULL},
    {EINVAL, refused_invalid, NULL},
    {ENFILE, NULL, "the whole system has too many open files; see /proc/sys/fs/file-max"},
    {ESRCH, NULL, "the process or thread has ended"},
    {ENOSPC, NULL, "the CPU has no watchpoint left; it has four or so, a debugger may hold some"},
    {EBUSY, NULL,
     "another user of the counters holds them for itself (an exclusive event, the NMI "
     "watchdog)"},
    {E2BIG, NULL, "this kernel is older than something the event asks for"},
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
