/* SPDX-License-Identifier: MIT */
/*
 * perf_event.c - opens, controls and reads counters; see perf_event.h. perf_refusal.c explains the
 * kernel's errors.
 */
#include "kernel/perf_event.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void wm_perf_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type;
	attr->config = config;
}

void wm_perf_attr_counting(struct perf_event_attr *attr, bool inherit, bool on_exec)
{
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->disabled = 1;
	attr->inherit = inherit;
	attr->enable_on_exec = on_exec;
}

int wm_perf_open(const struct perf_event_attr *attr, struct wm_perf_where where, int group_fd,
		 const char *name, struct wm_diag *diag)
{
	/* The kernel overwrites the size in an attr that it considers too big. */
	struct perf_event_attr copy = *attr;
	long fd;

	do {
		fd = syscall(SYS_perf_event_open, &copy, where.pid, where.cpu, group_fd,
			     PERF_FLAG_FD_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? wm_perf_refused(-errno, attr, where, name, diag) : (int)fd;
}

int wm_perf_filter(int fd, const char *filter, const char *name, struct wm_diag *diag)
{
	int err = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -errno : 0;

	if (err == -EINVAL)
		return wm_diag_set(diag, err, NULL, -1,
				   "the kernel refuses the filter '%.80s' for '%.60s'; check the "
				   "field names with 'waymark list --fields %.60s'",
				   filter, name, name);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be filtered: %s", name,
				   err == -EOPNOTSUPP || err == -ENOTTY ? "it has no fields"
									: strerror(-err));
	return 0;
}

int wm_perf_enable(int fd, bool group)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, group ? PERF_IOC_FLAG_GROUP : 0) < 0 ? -errno : 0;
}

int wm_perf_disable(int fd, bool group)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, group ? PERF_IOC_FLAG_GROUP : 0) < 0 ? -errno : 0;
}

int wm_perf_read(int fd, struct wm_perf_count *ret)
{
	uint64_t words[3];
	ssize_t n;

	do {
		n = read(fd, words, sizeof(words));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)sizeof(words))
		return -EBADMSG;
	*ret = (struct wm_perf_count){words[0], words[1], words[2]};
	return 0;
}

void wm_perf_count_add(struct wm_perf_count *to, const struct wm_perf_count *more)
{
	to->value += more->value;
	to->enabled_ns += more->enabled_ns;
	to->running_ns += more->running_ns;
}

void wm_perf_count_since(struct wm_perf_count *now, const struct wm_perf_count *before)
{
	now->value -= before->value;
	now->enabled_ns -= before->enabled_ns;
	now->running_ns -= before->running_ns;
}

uint64_t wm_perf_count_scaled(const struct wm_perf_count *c)
{
	unsigned __int128 scaled;

	if (c->running_ns >= c->enabled_ns)
		return c->value;
	if (!c->running_ns)
		return 0;
	scaled = (unsigned __int128)c->value * c->enabled_ns / c->running_ns;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}
