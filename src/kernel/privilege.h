/* SPDX-License-Identifier: MIT */
/*
 * privilege.h - this process's permissions for kernel tracing, and the system
 * settings that decide them. Reads /proc; changes nothing.
 */
#ifndef WM_KERNEL_PRIVILEGE_H
#define WM_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_privilege {
	uint64_t capabilities;  /* effective ones; bit numbers of <linux/capability.h> */
	bool is_inner;          /* in a user namespace: root there is not root of the machine */
	bool has_paranoid;      /* false: this kernel was built without perf events */
	int64_t paranoid;       /* kernel.perf_event_paranoid: -1 .. 4 */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, UINT64_MAX: unlimited */
	uint64_t files;         /* RLIMIT_NOFILE, the soft limit */
	uint64_t files_hard;
};

void wm_privilege_read(struct wm_privilege *ret);

/*
 * In the machine's own user namespace: capabilities from an inner one do not
 * count for tracing.
 */
bool wm_privilege_has(const struct wm_privilege *p, unsigned capability);

/* CAP_PERFMON or CAP_SYS_ADMIN: perf_event_paranoid does not apply. */
bool wm_privilege_perfmon(const struct wm_privilege *p);
/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. */
bool wm_privilege_bpf(const struct wm_privilege *p);

/* The highest perf_event_paranoid that permits this to an ordinary user. */
enum wm_perf_need {
	WM_PERF_NEED_RAW = -1,   /* read the raw records of tracepoints */
	WM_PERF_NEED_CPU = 0,    /* whole CPUs: every process */
	WM_PERF_NEED_KERNEL = 1, /* the kernel's part of the user's own processes */
	WM_PERF_NEED_USER = 2,   /* the user's own processes outside the kernel */
};
bool wm_privilege_perf(const struct wm_privilege *p, enum wm_perf_need need);

/* "run as root", or the cure for root of a user namespace, for whom that is not enough. */
const char *wm_privilege_cure(const struct wm_privilege *p);

/* Raises the soft limit of open files to the hard one. Returns the resulting limit. */
uint64_t wm_privilege_raise_files(void);

/* A whole decimal number in a file of /proc/sys. 0 or -errno. */
int wm_privilege_setting(const char *path, int64_t *ret_value);

#endif
