/* SPDX-License-Identifier: MIT */
/*
 * privilege.h - finds out what this process is permitted to trace in the kernel, and which system
 * settings decide that. Reads /proc; changes nothing.
 */
#ifndef WM_KERNEL_PRIVILEGE_H
#define WM_KERNEL_PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wm_privilege {
	/* Effective capabilities, numbered by bit as in <linux/capability.h>. */
	uint64_t capabilities;
	/* In a user namespace, whose root does not have the rights of the machine's root. */
	bool is_inner;
	bool has_paranoid;      /* false: this kernel was built without perf events */
	int64_t paranoid;       /* kernel.perf_event_paranoid: -1 .. 4 */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX: no limit */
	uint64_t files;         /* RLIMIT_NOFILE, the soft limit */
	uint64_t files_hard;
};

void wm_privilege_read(struct wm_privilege *ret);

/*
 * Whether the process has a capability in the machine's own user namespace; those in an inner one
 * do not count for tracing.
 */
bool wm_privilege_has(const struct wm_privilege *p, unsigned capability);

/* Whether perf_event_paranoid does not apply, because of CAP_PERFMON or CAP_SYS_ADMIN. */
bool wm_privilege_perfmon(const struct wm_privilege *p);
/* Whether the process has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN. */
bool wm_privilege_bpf(const struct wm_privilege *p);

/* The highest perf_event_paranoid that permits an ordinary user to do this. */
enum wm_perf_need {
	WM_PERF_NEED_RAW = -1,   /* read the raw records of tracepoints */
	WM_PERF_NEED_CPU = 0,    /* count on whole CPUs, which includes every process */
	WM_PERF_NEED_KERNEL = 1, /* count the kernel's part of the user's own processes */
	WM_PERF_NEED_USER = 2,   /* count the user's own processes outside the kernel */
};
bool wm_privilege_perf(const struct wm_privilege *p, enum wm_perf_need need);

/*
 * Returns what a user without the privilege can do: "run as root"; in a user namespace, whose root
 * is not enough, to run outside it.
 */
const char *wm_privilege_hint(const struct wm_privilege *p);

/* Raises the soft limit for open files to the hard one. Returns the new limit. */
uint64_t wm_privilege_raise_files(void);

/* Reads a /proc/sys file that contains one decimal number. Returns 0 or -errno. */
int wm_privilege_setting(const char *path, int64_t *ret_value);

#endif
