/* SPDX-License-Identifier: MIT */
/* probe_owner.c - see probe_owner.h. */
#include "kernel/probes/probe_owner.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

#define INITIAL_NAMESPACE 0xeffffffcu /* the kernel's PROC_PID_INIT_INO */

struct owner {
	long pid;
	uint64_t start, space;
};

/* Returns the inode of a process's PID namespace, 0 if it is unknown. */
static uint64_t owner_space(const char *process)
{
	char path[300];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

void wm_probe_owner_name(char *ret, size_t bytes)
{
	uint64_t space = owner_space("self");
	char suffix[24] = "";

	if (space && space != INITIAL_NAMESPACE)
		(void)snprintf(suffix, sizeof(suffix), "n%" PRIx64, space);
	(void)snprintf(ret, bytes, WM_PROBE_OWNER_PREFIX "%d_%" PRIx64 "%s", (int)getpid(),
		       wm_process_start(0), suffix);
}

static bool owner_parse(const char *name, struct owner *ret)
{
	size_t prefix = strlen(WM_PROBE_OWNER_PREFIX);
	char *end;

	if (strncmp(name, WM_PROBE_OWNER_PREFIX, prefix) != 0)
		return false;
	ret->pid = strtol(name + prefix, &end, 10);
	if (ret->pid <= 0 || ret->pid > INT32_MAX || *end != '_')
		return false;
	ret->start = strtoull(end + 1, &end, 16);
	ret->space = *end == 'n' ? strtoull(end + 1, &end, 16) : INITIAL_NAMESPACE;
	return !*end || *end == '_';
}

/* Whether /proc numbers processes as this process's PID namespace does. */
static bool proc_is_ours(void)
{
	char self[24];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = '\0';
	return strtol(self, NULL, 10) == getpid();
}

/* Whether a process of the PID namespace exists. The initial namespace sees all processes. */
static bool space_exists(uint64_t space)
{
	DIR *dir = opendir("/proc");
	bool found = !dir;
	struct dirent *d;

	while (dir && !found && (d = readdir(dir)))
		found =
		    d->d_name[0] >= '1' && d->d_name[0] <= '9' && owner_space(d->d_name) == space;
	if (dir)
		closedir(dir);
	return found;
}

bool wm_probe_owner_has_exited(const char *name)
{
	uint64_t space = owner_space("self");
	struct owner owner;

	if (!owner_parse(name, &owner) || !space || !proc_is_ours())
		return false;
	if (owner.space != space)
		return space == INITIAL_NAMESPACE && !space_exists(owner.space);
	return wm_process_start((uint32_t)owner.pid) != owner.start;
}
