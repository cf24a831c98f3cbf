/* SPDX-License-Identifier: MIT */
/*
 * privilege.h - what this process is allowed of the kernel's tracing, and the
 * system's settings that decide it. Reads /proc; changes nothing.
 */
#ifndef WM_KERNEL_PRIVILEGE_H
#define WM_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_privilege {
	uint64_t capabilities;  /* effective ones; bit numbers of <linux/capability.h> */
	bool is_inner;          /* of a user namespace: root is root there, not of the machine */
	bool has_paranoid;      /* false: this kernel was built without perf events */
	int64_t paranoid;       /* kernel.perf_event_paranoid: -1 .. 4 */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, UINT64_MAX: unlimited */
	uint64_t files;         /* RLIMIT_NOFILE, the soft limit */
	uint64_t files_hard;
};

void wm_privilege_read(struct wm_privilege *ret);

/* Of the machine: what a user namespace gives counts for nothing in tracing. */
bool wm_privilege_has(const struct wm_privilege *p, unsigned capability);

/* CAP_PERFMON or CAP_SYS_ADMIN: perf_event_paranoid does not bind us. */
bool wm_privilege_perfmon(const struct wm_privilege *p);
/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. */
bool wm_privilege_bpf(const struct wm_privilege *p);

/* The highest perf_event_paranoid that lets an ordinary user do this. */
enum wm_perf_need {
	WM_PERF_NEED_RAW = -1,   /* read the raw records of tracepoints */
	WM_PERF_NEED_CPU = 0,    /* whole CPUs: every process */
	WM_PERF_NEED_KERNEL = 1, /* what happens in the kernel, in one's own processes */
	WM_PERF_NEED_USER = 2,   /* one's own processes outside the kernel */
};
bool wm_privilege_perf(const struct wm_privilege *p, enum wm_perf_need need);

/* "run as root", or for one who is root of a user namespace, where that is not enough. */
const char *wm_privilege_cure(const struct wm_privilege *p);

/* Raises the soft limit of open files to the hard one. The limit now. */
uint64_t wm_privilege_raise_files(void);

/* A whole decimal number in a file of /proc/sys. 0 or -errno. */
int wm_privilege_setting(const char *path, int64_t *ret_value);

#endif
