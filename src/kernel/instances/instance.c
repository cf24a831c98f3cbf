/* SPDX-License-Identifier: MIT */
/* instance.c - a private tracefs instance; see instance.h. */
#include "kernel/instances/instance_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

#define PREFIX     "waymark-"
#define PAGE_KIB   16 /* sub-buffer size, where it can be chosen */
#define BUFFER_MAX (1ull << 30)
#define RING_MAX   (64ull << 20) /* size of each CPU's ring if the caller chose none */
#define RING_MIN   ((uint64_t)PAGE_KIB * 1024 * 2)
#define COMMAND    11 /* width of "  Command: ", which precedes the text */
#define SMALL_FILE 65536u

uint64_t wm_instance_buffer_default(void)
{
	struct sysinfo s;
	uint64_t all;

	if (sysinfo(&s))
		return BUFFER_MAX / 16;
	all = (uint64_t)s.totalram * s.mem_unit / 32;
	return all < BUFFER_MAX ? all : BUFFER_MAX;
}

/* --- files ------------------------------------------------------------------- */

static int put_flags(const struct wm_instance *i, const char *name, const char *text, int flags)
{
	int fd = openat(i->dirfd, name, O_WRONLY | O_CLOEXEC | flags), err;

	if (fd < 0)
		return -errno;
	err = wm_file_write(fd, text, strlen(text));
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int wm_instance_put(const struct wm_instance *i, const char *name, const char *text)
{
	return put_flags(i, name, text, O_TRUNC);
}

int wm_instance_append(const struct wm_instance *i, const char *name, const char *text)
{
	return put_flags(i, name, text, O_APPEND);
}

int wm_instance_put_number(const struct wm_instance *i, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return wm_instance_put(i, name, text);
}

int wm_instance_read_file(const struct wm_instance *i, const char *name, size_t limit,
			  char **ret_text, size_t *ret_bytes)
{
	return wm_file_read(i->dirfd, name, limit, ret_text, ret_bytes);
}

uint64_t wm_instance_get_number(const struct wm_instance *i, const char *name)
{
	uint64_t number;
	size_t bytes;
	char *text;

	if (wm_file_read(i->dirfd, name, SMALL_FILE, &text, &bytes) < 0)
		return 0;
	number = strtoull(text, NULL, 10);
	free(text);
	return number;
}

/* --- creation and removal --------------------------------------------------------- */

int wm_instance_open_parent(const struct wm_tracefs *t, struct wm_diag *diag)
{
	int fd = openat(t->dirfd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "cannot record kernel events: there is no '%s/instances', "
				   "which Linux has had since 3.10",
				   t->path);
	if (fd < 0)
		return wm_diag_set(diag, -errno, NULL, -1,
				   "cannot record kernel events: cannot open '%s/instances': %s",
				   t->path, strerror(errno));
	if (flock(fd, LOCK_EX) < 0) {
		int err = -errno;

		close(fd);
		return wm_diag_set(diag, err, NULL, -1, "cannot lock '%s/instances': %s", t->path,
				   strerror(-err));
	}
	return fd;
}

static bool remove_folder(const struct wm_instance *i, int parent, const char *name)
{
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return true;
	if (errno != EBUSY)
		return false;
	wm_instance_clear_triggers(i);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static void remove_stale(int parent, const char *name, uint32_t *count)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct wm_instance i = {.dirfd = fd};

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    (!wm_instance_is_top(name) || wm_instance_top_restore(parent, name))) {
		(void)wm_instance_put(&i, "tracing_on", "0");
		(void)wm_instance_put(&i, "current_tracer", "nop");
		(void)wm_instance_put(&i, "events/enable", "0");
		*count += remove_folder(&i, parent, name);
	}
	close(fd);
}

uint32_t wm_instance_sweep_in(int parent)
{
	int fd = fcntl(parent, F_DUPFD_CLOEXEC, 0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	uint32_t count = 0;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	rewinddir(dir);
	while ((d = readdir(dir)))
		if (!strncmp(d->d_name, PREFIX, sizeof(PREFIX) - 1))
			remove_stale(parent, d->d_name, &count);
	closedir(dir);
	return count;
}

uint32_t wm_instance_sweep(const struct wm_tracefs *t)
{
	int parent = wm_instance_open_parent(t, NULL);
	uint32_t count = 0;

	if (parent >= 0) {
		count = wm_instance_sweep_in(parent);
		close(parent);
	}
	return count;
}

static int instance_make_folder(struct wm_instance *i, struct wm_diag *diag)
{
	int err = -EEXIST;

	for (unsigned n = 0; err == -EEXIST && n < 1000; n++) {
		snprintf(i->name, sizeof(i->name), PREFIX "%d-%u", (int)getpid(), n);
		err = mkdirat(i->parent, i->name, 0700) ? -errno : 0;
	}
	if (err)
		return wm_diag_set(diag, err, NULL, -1, "cannot create a tracing instance: %s",
				   strerror(-err));
	i->dirfd = openat(i->parent, i->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (i->dirfd < 0 || flock(i->dirfd, LOCK_EX | LOCK_NB) < 0)
		return wm_diag_set(diag, -errno, NULL, -1,
				   "cannot open or lock the new tracing instance: %s",
				   strerror(errno));
	return 0;
}

int wm_instance_set_clock(struct wm_instance *i, enum wm_clock_kind kind, struct wm_diag *diag)
{
#if defined(__x86_64__)
	const char *cycles = "x86-tsc";
#else
	const char *cycles = "counter"; /* refused: none of the kernel's trace clocks is CNTVCT */
#endif
	const char *clock = kind == WM_CLOCK_CYCLES ? cycles : "mono";
	int err = wm_instance_put(i, "trace_clock", clock);

	if (!err)
		return 0;
	if (err != -EINVAL)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot set the clock of a tracing instance: %s",
				   strerror(-err));
	return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
			   "the kernel's tracing has no clock '%s', which the programs' events "
			   "use: their times could not be compared",
			   clock);
}

uint64_t wm_instance_cpu_bytes(const struct wm_instance *i, uint64_t bytes)
{
	uint64_t each = (bytes ? bytes : wm_instance_buffer_default()) / i->nr_cpus;

	if (!bytes && each > RING_MAX)
		each = RING_MAX;
	return each > RING_MIN ? each : RING_MIN;
}

/* Sets the rings' size; falls back to smaller ones if the caller chose none and memory is short. */
static int put_ring_size(struct wm_instance *i, uint64_t bytes)
{
	int err;

	i->cpu_bytes = wm_instance_cpu_bytes(i, bytes);
	err = wm_instance_put_number(i, "buffer_size_kb", i->cpu_bytes / 1024);
	while (err == -ENOMEM && !bytes && i->cpu_bytes / 2 >= RING_MIN) {
		i->cpu_bytes /= 2;
		err = wm_instance_put_number(i, "buffer_size_kb", i->cpu_bytes / 1024);
	}
	return err;
}

/*
 * Sets up the rings, with sub-buffers of PAGE_KIB where the kernel allows their size to be chosen.
 */
static int set_buffers(struct wm_instance *i, uint64_t bytes, struct wm_diag *diag)
{
	int err;

	/* Exists since Linux 6.8. */
	(void)wm_instance_put_number(i, "buffer_subbuf_size_kb", PAGE_KIB);
	i->page_bytes = (uint32_t)wm_instance_get_number(i, "buffer_subbuf_size_kb") * 1024;
	if (i->page_bytes < 4096 || i->page_bytes > 1u << 20)
		i->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	err = put_ring_size(i, bytes);
	if (err)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot get a ring of %llu KiB for each CPU: %s",
				   (unsigned long long)(i->cpu_bytes / 1024), strerror(-err));
	/* Exists since Linux 5.0. */
	(void)wm_instance_put(i, "buffer_percent", WM_INSTANCE_WAKE_PERCENT);
	return 0;
}

int wm_instance_open_rings(struct wm_instance *i, struct wm_diag *diag)
{
	uint32_t opened = 0;
	char name[64];

	for (uint32_t cpu = 0; cpu < i->nr_cpus; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
		i->fds[cpu] = openat(i->dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		opened += i->fds[cpu] >= 0;
	}
	if (opened)
		return 0;
	return wm_diag_set(diag, -errno, NULL, -1, "cannot open any CPU's ring: %s",
			   strerror(errno));
}

static int instance_set_up(struct wm_instance *i, const struct wm_instance_options *o,
			   struct wm_diag *diag)
{
	int err = instance_make_folder(i, diag);

	if (!err)
		err = wm_instance_put(i, "tracing_on", "0");
	if (!err)
		err = wm_instance_set_clock(i, o->clock, diag);
	if (!err)
		err = set_buffers(i, o->buffer_bytes, diag);
	if (err)
		return err;
	return wm_instance_open_rings(i, diag);
}

int wm_instance_allocate(struct wm_instance **ret)
{
	struct wm_instance *i = calloc(1, sizeof(*i));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (!i)
		return -ENOMEM;
	i->dirfd = i->parent = i->journal = -1;
	i->nr_cpus = cpus < 1                      ? 1
		     : cpus > WM_INSTANCE_CPUS_MAX ? WM_INSTANCE_CPUS_MAX
						   : (uint32_t)cpus;
	i->fds = malloc(i->nr_cpus * sizeof(*i->fds));
	for (uint32_t cpu = 0; i->fds && cpu < i->nr_cpus; cpu++)
		i->fds[cpu] = -1;
	if (!i->fds) {
		free(i);
		return -ENOMEM;
	}
	*ret = i;
	return 0;
}

int wm_instance_create(const struct wm_tracefs *t, const struct wm_instance_options *o,
		       struct wm_instance **ret, struct wm_diag *diag)
{
	struct wm_instance *i;
	int err = wm_instance_allocate(&i);

	if (err)
		return err;
	i->parent = wm_instance_open_parent(t, diag);
	err = i->parent < 0 ? i->parent : 0;
	if (!err) {
		(void)wm_instance_sweep_in(i->parent);
		err = instance_set_up(i, o, diag);
		(void)flock(i->parent, LOCK_UN);
	}
	if (err) {
		wm_instance_destroy(i);
		return err;
	}
	*ret = i;
	return 0;
}

void wm_instance_close_rings(struct wm_instance *i)
{
	for (uint32_t cpu = 0; i->fds && cpu < i->nr_cpus; cpu++) {
		if (i->fds[cpu] >= 0)
			close(i->fds[cpu]);
		i->fds[cpu] = -1;
	}
}

int wm_instance_fds(const struct wm_instance *i, int **ret)
{
	int *fds = malloc((i->nr_cpus + 3u) * sizeof(*fds)), n = 0;

	if (!fds)
		return -ENOMEM;
	fds[n++] = i->dirfd;
	fds[n++] = i->parent;
	if (i->top)
		fds[n++] = i->journal;
	for (uint32_t cpu = 0; cpu < i->nr_cpus; cpu++)
		if (i->fds[cpu] >= 0)
			fds[n++] = i->fds[cpu];
	*ret = fds;
	return n;
}

static void remove_instance(struct wm_instance *i)
{
	(void)wm_instance_put(i, "tracing_on", "0");
	if (i->functions)
		(void)wm_instance_put(i, "current_tracer", "nop");
	(void)wm_instance_put(i, "events/enable", "0");
	(void)remove_folder(i, i->parent, i->name);
}

void wm_instance_destroy(struct wm_instance *i)
{
	if (!i)
		return;
	wm_instance_close_rings(i);
	if (i->journal >= 0)
		wm_instance_give_top_back(i);
	else if (i->dirfd >= 0 && !i->top)
		remove_instance(i);
	if (i->journal >= 0)
		close(i->journal);
	if (i->dirfd >= 0)
		close(i->dirfd);
	if (i->parent >= 0)
		close(i->parent);
	free(i->fds);
	free(i);
}

/* --- events --------------------------------------------------------------------- */

bool wm_instance_has(const struct wm_instance *i, const char *name)
{
	return faccessat(i->dirfd, name, F_OK, 0) == 0;
}

void wm_instance_forget_errors(const struct wm_instance *i)
{
	(void)wm_instance_put(i, "error_log", "");
}

uint32_t wm_instance_last_error(const struct wm_instance *i, char *buf, size_t bytes)
{
	char *log = NULL, *error, *caret, *end, *line;
	uint32_t column = 0;
	size_t nr;

	if (wm_file_read(i->dirfd, "error_log", SMALL_FILE, &log, &nr) < 0)
		return 0;
	error = strstr(log, "error: ");
	while (error && !strncmp(error, "error: ", 7)) /* the log repeats this prefix */
		error += 7;
	end = error ? strchr(error, '\n') : NULL;
	caret = end ? strchr(end, '^') : NULL;
	for (line = caret; line && line > log && line[-1] != '\n'; line--)
		;
	if (caret && caret - line >= COMMAND)
		column = (uint32_t)(caret - line) - COMMAND + 1;
	if (error)
		(void)snprintf(buf, bytes, "%.*s", (int)strcspn(error, "\n"), error);
	free(log);
	return column;
}

/*
 * Reports a refused filter; sets diag->column to the position of the caret below the refused word.
 */
static int filter_refused(struct wm_instance *i, const char *called, const char *filter,
			  struct wm_diag *diag)
{
	char why[160] = "the kernel gives no reason";
	uint32_t column = wm_instance_last_error(i, why, sizeof(why));

	wm_diag_set(diag, -EINVAL, NULL, -1, "the kernel refuses the filter '%s' of %s: %s", filter,
		    called, why);
	if (diag && column && column <= strlen(filter))
		diag->column = column;
	return -EINVAL;
}

#define EVENT_FILE_BYTES (2 * WM_TRACEFS_NAME_MAX + 32)

static int put_of_event(struct wm_instance *i, const struct wm_instance_event *e, const char *file,
			const char *text)
{
	char path[EVENT_FILE_BYTES];

	(void)snprintf(path, sizeof(path), "events/%s/%s/%s", e->system, e->name, file);
	return wm_instance_put(i, path, text);
}

static const char *instance_called(const struct wm_instance_event *e, char buf[EVENT_FILE_BYTES])
{
	(void)snprintf(buf, EVENT_FILE_BYTES, "%s:%s", e->system, e->name);
	return e->called ? e->called : buf;
}

int wm_instance_enable(struct wm_instance *i, const struct wm_instance_event *e, const char *filter,
		       struct wm_diag *diag)
{
	char name[EVENT_FILE_BYTES];
	int err = filter ? wm_instance_refilter(i, e, filter, diag) : 0;

	if (err == -EINVAL)
		return err;
	if (!err)
		err = put_of_event(i, e, "enable", "1");
	return err ? wm_diag_set(diag, err, NULL, -1, "cannot enable %.200s: %s",
				 instance_called(e, name), strerror(-err))
		   : 0;
}

int wm_instance_disable(struct wm_instance *i, const struct wm_instance_event *e)
{
	return put_of_event(i, e, "enable", "0");
}

int wm_instance_refilter(struct wm_instance *i, const struct wm_instance_event *e,
			 const char *filter, struct wm_diag *diag)
{
	char name[EVENT_FILE_BYTES];
	int err;

	wm_instance_forget_errors(i);
	err = put_of_event(i, e, "filter", filter ? filter : "0");
	if (err == -EINVAL && filter)
		return filter_refused(i, instance_called(e, name), filter, diag);
	return err ? wm_diag_set(diag, err, NULL, -1, "cannot filter %.200s: %s",
				 instance_called(e, name), strerror(-err))
		   : 0;
}

int wm_instance_start(struct wm_instance *i, struct wm_diag *diag)
{
	int err = wm_instance_put(i, "tracing_on", "1");

	return err ? wm_diag_set(diag, err, NULL, -1, "cannot enable tracing: %s", strerror(-err))
		   : 0;
}

void wm_instance_stop(struct wm_instance *i)
{
	(void)wm_instance_put(i, "tracing_on", "0");
}

/* --- reading ------------------------------------------------------------------- */

uint32_t wm_instance_nr_cpus(const struct wm_instance *i)
{
	return i->nr_cpus;
}

uint32_t wm_instance_page_bytes(const struct wm_instance *i)
{
	return i->page_bytes;
}

uint64_t wm_instance_buffer_bytes(const struct wm_instance *i)
{
	return i->cpu_bytes * i->nr_cpus;
}

int wm_instance_fd(const struct wm_instance *i, uint32_t cpu)
{
	return i->fds[cpu];
}

ssize_t wm_instance_read(struct wm_instance *i, uint32_t cpu, void *page)
{
	ssize_t got;

	if (i->fds[cpu] < 0)
		return 0;
	do {
		got = read(i->fds[cpu], page, i->page_bytes);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	return got;
}

int wm_instance_limit(struct wm_instance *i, uint64_t most_bytes)
{
	uint64_t bytes = most_bytes / i->nr_cpus;
	int err;

	if (bytes >= i->cpu_bytes)
		return 0;
	err = wm_instance_put_number(i, "buffer_size_kb", bytes / 1024);
	if (!err)
		i->cpu_bytes = bytes;
	return err;
}

int wm_instance_copy_markers(struct wm_instance *i)
{
	return wm_instance_put(i, "options/copy_trace_marker", "1");
}
