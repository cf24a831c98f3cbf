/* SPDX-License-Identifier: MIT */
/* dynamic.c - see dynamic.h. */
#include "kernel/dynamic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/perf_event.h"

#define PREFIX     "waymark_"
#define LIST_MAX   (16u << 20)
#define LOG_MAX    (1u << 20)
#define LINE_BYTES 8192u
#define TRIES      100u /* a probe is busy until the last descriptor of it is gone */
#define TRY_NS     20000000u

struct wm_dynamic {
	const struct wm_tracefs *tracefs;
	const char *file; /* "dynamic_events" or, on older kernels, "uprobe_events" */
	char group[64];
	unsigned nr;
	pid_t keeper;
	int alive; /* closed when we end: what the keeper waits for */
};

/* ---- removing -------------------------------------------------------------------- */

static int write_line(const struct wm_tracefs *t, const char *file, const char *line)
{
	int fd = openat(t->dirfd, file, O_WRONLY | O_APPEND | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = wm_file_write(fd, line, strlen(line));
	(void)close(fd);
	return err;
}

/* Field 22 of /proc/PID/stat, what tells two processes of one pid apart; 0: no such process. */
static uint64_t start_of(pid_t pid)
{
	char path[48], *text, *at;
	size_t bytes;
	uint64_t start = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (wm_file_read(AT_FDCWD, path, 4096, &text, &bytes) < 0)
		return 0;
	at = strrchr(text, ')'); /* the name before it may hold anything */
	for (int field = 3; at && field <= 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	free(text);
	return start;
}

/* "waymark_PID_START" of a process that is no more? */
static bool is_orphan(const char *group)
{
	char *end;
	long pid = strtol(group + strlen(PREFIX), &end, 10);
	uint64_t start;

	if (pid <= 0 || pid > INT32_MAX || *end != '_')
		return false;
	start = strtoull(end + 1, &end, 16);
	return !*end && start_of((pid_t)pid) != start;
}

/*
 * Removes the probes whose lines are "X:GROUP/NAME ...": of one group, or
 * (NULL) of groups whose process is no more. How many were busy.
 */
static unsigned remove_probes(const struct wm_tracefs *t, const char *file, const char *group)
{
	char *text, *save = NULL;
	size_t bytes;
	unsigned busy = 0;

	if (wm_file_read(t->dirfd, file, LIST_MAX, &text, &bytes) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = strchr(line, ':'), *slash, remove[512];

		if (!name || strncmp(name + 1, PREFIX, strlen(PREFIX)))
			continue;
		name[strcspn(name, " ")] = '\0';
		(void)snprintf(remove, sizeof(remove), "-%s", name);
		slash = strchr(++name, '/');
		if (!slash)
			continue;
		*slash = '\0';
		if (group ? !strcmp(name, group) : is_orphan(name))
			busy += write_line(t, file, remove) == -EBUSY;
	}
	free(text);
	return busy;
}

/* ---- the keeper --------------------------------------------------------------------- */

/*
 * A session of its own: neither the terminal's signals nor a kill of our
 * process group reach it. Holds nothing of ours open but tracefs and the pipe.
 */
static void __attribute__((noreturn)) keep(const struct wm_dynamic *d, int pipe_end)
{
	const struct timespec nap = {.tv_nsec = TRY_NS};
	int low = d->tracefs->dirfd < pipe_end ? d->tracefs->dirfd : pipe_end;
	int high = d->tracefs->dirfd < pipe_end ? pipe_end : d->tracefs->dirfd;
	char byte;
	ssize_t n;

	(void)setsid();
	(void)prctl(PR_SET_NAME, "waymark-probes");
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	if (low > 0)
		(void)close_range(0, (unsigned)low - 1, 0);
	if (high > low + 1)
		(void)close_range((unsigned)low + 1, (unsigned)high - 1, 0);
	(void)close_range((unsigned)high + 1, ~0u, 0);
	do {
		n = read(pipe_end, &byte, 1);
	} while (n > 0 || (n < 0 && errno == EINTR));
	for (unsigned i = 0; i < TRIES && remove_probes(d->tracefs, d->file, d->group); i++)
		(void)nanosleep(&nap, NULL);
	_exit(0);
}

static int start_keeper(struct wm_dynamic *d)
{
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	d->keeper = fork();
	if (d->keeper == 0) {
		(void)close(fds[1]);
		keep(d, fds[0]);
	}
	err = d->keeper < 0 ? -errno : 0;
	(void)close(fds[0]);
	if (err < 0)
		(void)close(fds[1]);
	else
		d->alive = fds[1];
	return err;
}

int wm_dynamic_create(const struct wm_tracefs *t, struct wm_dynamic **ret, struct wm_diag *diag)
{
	struct wm_dynamic *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->tracefs = t;
	d->file = "dynamic_events";
	if (faccessat(t->dirfd, d->file, F_OK, 0) < 0)
		d->file = "uprobe_events";
	(void)snprintf(d->group, sizeof(d->group), PREFIX "%d_%" PRIx64, (int)getpid(),
		       start_of(getpid()));
	err = faccessat(t->dirfd, d->file, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	if (err < 0) {
		free(d);
		return wm_diag_set(
		    diag, err, t->path, -1,
		    "probes cannot be made: %s/%s may not be written (%s); run as root", t->path,
		    err == -ENOENT ? "uprobe_events" : "dynamic_events", strerror(-err));
	}
	(void)remove_probes(t, d->file, NULL);
	err = start_keeper(d);
	if (err < 0) {
		free(d);
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot start the process that removes probes: %s",
				   strerror(-err));
	}
	*ret = d;
	return 0;
}

void wm_dynamic_destroy(struct wm_dynamic *d)
{
	if (!d)
		return;
	(void)close(d->alive);
	while (waitpid(d->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(d);
}

/* ---- making --------------------------------------------------------------------------- */

/* What the kernel said last: "trace_uprobe: error: Failed to ...", without the prefix. */
static void last_error(const struct wm_tracefs *t, char *buf, size_t bytes)
{
	static const char mark[] = "error: ";
	char *text, *at, *last = NULL;
	size_t nr;

	(void)snprintf(buf, bytes, "the kernel refuses it");
	if (wm_file_read(t->dirfd, "error_log", LOG_MAX, &text, &nr) < 0)
		return;
	for (at = text; (at = strstr(at, mark)); at += strlen(mark))
		last = at + strlen(mark);
	if (last)
		(void)snprintf(buf, bytes, "%.*s", (int)strcspn(last, "\n"), last);
	free(text);
}

/* Why a line was refused; `buf` is room for the sentence. */
static const char *refusal(const struct wm_tracefs *t, bool kernel, int err, char *buf,
			   size_t bytes)
{
	const char *place = kernel ? wm_perf_kprobe_reason(err) : NULL;

	if (err != -EINVAL)
		return place ? place : strerror(-err);
	last_error(t, buf, bytes);
	/* The line was understood: it is the place that it does not like. */
	return place && !strcmp(buf, "Failed to register probe event") ? place : buf;
}

/* "p:GROUP/eN PLACE ARGUMENTS"; false: it cannot be said in the kernel's words. */
static bool make_line(const struct wm_dynamic *d, const struct wm_event_def *def,
		      const char *arguments, const char *event, char *buf, size_t bytes)
{
	bool kernel = def->family == WM_FAMILY_KPROBE || def->family == WM_FAMILY_KRETPROBE;
	bool ret = def->family == WM_FAMILY_URETPROBE || def->family == WM_FAMILY_KRETPROBE;
	char place[LINE_BYTES / 2], semaphore[32] = "";
	int n;

	if (def->semaphore_offset)
		(void)snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")",
			       def->semaphore_offset);
	if (kernel && def->offset)
		n = snprintf(place, sizeof(place), "%s+%" PRIu64, def->symbol, def->offset);
	else if (kernel)
		n = snprintf(place, sizeof(place), "%s", def->symbol);
	else
		n = snprintf(place, sizeof(place), "%s:0x%" PRIx64 "%s", def->path, def->offset,
			     semaphore);
	if (n >= (int)sizeof(place) || strpbrk(place, " \t\n;"))
		return false;
	n = snprintf(buf, bytes, "%c:%s/%s %s%s%s\n", ret ? 'r' : 'p', d->group, event, place,
		     arguments ? " " : "", arguments ? arguments : "");
	return n < (int)bytes;
}

int wm_dynamic_add(struct wm_dynamic *d, const struct wm_event_def *def, const char *arguments,
		   char *ret_system, char *ret_event, struct wm_diag *diag)
{
	bool kernel = def->family == WM_FAMILY_KPROBE || def->family == WM_FAMILY_KRETPROBE;
	const char *file = d->file;
	char line[LINE_BYTES], event[32], why[120];
	int err;

	if (kernel && !strcmp(file, "uprobe_events"))
		file = "kprobe_events";
	(void)snprintf(event, sizeof(event), "e%u", d->nr);
	if (!make_line(d, def, arguments, event, line, sizeof(line)))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%.120s' cannot be probed: its path has blanks or is too long",
				   def->name);
	err = write_line(d->tracefs, file, line);
	if (err < 0)
		return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be probed: %s", def->name,
				   refusal(d->tracefs, kernel, err, why, sizeof(why)));
	d->nr++;
	(void)snprintf(ret_system, WM_TRACEFS_NAME_MAX, "%s", d->group);
	(void)snprintf(ret_event, WM_TRACEFS_NAME_MAX, "%s", event);
	return 0;
}
