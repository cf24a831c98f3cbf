/* SPDX-License-Identifier: MIT */
/* privilege.c - see privilege.h. If a file cannot be read, the permission counts as missing. */
#include "kernel/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/number.h"

#define STATUS_MAX  65536u
#define SETTING_MAX 64u

int wm_privilege_setting(const char *path, int64_t *ret_value)
{
	char *text;
	size_t bytes;
	int err = wm_file_read(AT_FDCWD, path, SETTING_MAX, &text, &bytes);

	if (err < 0)
		return err;
	text[strcspn(text, "\n")] = '\0';
	err = wm_number_parse_integer(text, INT64_MIN, INT64_MAX, ret_value);
	free(text);
	return err < 0 ? -EBADMSG : 0;
}

static uint64_t effective_capabilities(void)
{
	static const char key[] = "\nCapEff:";
	uint64_t bits = 0;
	size_t bytes;
	char *text, *at;

	if (wm_file_read(AT_FDCWD, "/proc/self/status", STATUS_MAX, &text, &bytes) < 0)
		return 0;
	at = strstr(text, key);
	if (at)
		bits = strtoull(at + sizeof(key) - 1, NULL, 16);
	free(text);
	return bits;
}

static uint64_t privilege_limit(rlim_t value)
{
	return value == RLIM_INFINITY ? UINT64_MAX : value;
}

/*
 * Whether this process is in a user namespace other than the machine's, which always has this inode
 * number (PROC_USER_INIT_INO).
 */
static bool is_inner(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != 0xEFFFFFFDu;
}

void wm_privilege_read(struct wm_privilege *ret)
{
	struct rlimit r;

	*ret =
	    (struct wm_privilege){.capabilities = effective_capabilities(), .is_inner = is_inner()};
	ret->has_paranoid =
	    wm_privilege_setting("/proc/sys/kernel/perf_event_paranoid", &ret->paranoid) == 0;
	if (getrlimit(RLIMIT_MEMLOCK, &r) == 0)
		ret->memlock_bytes = privilege_limit(r.rlim_cur);
	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		ret->files = privilege_limit(r.rlim_cur);
		ret->files_hard = privilege_limit(r.rlim_max);
	}
}

bool wm_privilege_has(const struct wm_privilege *p, unsigned capability)
{
	return capability < 64 && !p->is_inner && p->capabilities >> capability & 1;
}

bool wm_privilege_perfmon(const struct wm_privilege *p)
{
	return wm_privilege_has(p, CAP_PERFMON) || wm_privilege_has(p, CAP_SYS_ADMIN);
}

bool wm_privilege_bpf(const struct wm_privilege *p)
{
	return wm_privilege_has(p, CAP_SYS_ADMIN) ||
	       (wm_privilege_has(p, CAP_BPF) && wm_privilege_has(p, CAP_PERFMON));
}

bool wm_privilege_perf(const struct wm_privilege *p, enum wm_perf_need need)
{
	return wm_privilege_perfmon(p) || (p->has_paranoid && p->paranoid <= (int64_t)need);
}

const char *wm_privilege_hint(const struct wm_privilege *p)
{
	return p->is_inner ? "run as root outside of this user namespace (container)"
			   : "run as root";
}

uint64_t wm_privilege_raise_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 0;
	if (r.rlim_cur < r.rlim_max) {
		struct rlimit raised = {r.rlim_max, r.rlim_max};

		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			r = raised;
	}
	return privilege_limit(r.rlim_cur);
}
