/* SPDX-License-Identifier: MIT */
/* probe_events.c - see probe_events.h. */
#include "kernel/probe_events.h"

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
#include "kernel/instance.h"
#include "kernel/perf_event.h"
#include "kernel/probes/probe_owner.h"

#define LIST_MAX   (16u << 20)
#define LOG_MAX    (1u << 20)
#define LINE_BYTES 8192u
/* Attempts to remove a probe, which is busy until its last descriptor is closed. */
#define TRIES  100u
#define TRY_NS 20000000u

struct wm_dynamic {
	const struct wm_tracefs *tracefs;
	const char *file; /* "dynamic_events" or, on older kernels, "uprobe_events" */
	char group[64];
	unsigned nr;
	pid_t keeper;
	int alive; /* a pipe that is closed when this process ends; the keeper waits for that */
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

/* Whether a name is the group's, or begins with it, as synthetic events' names do. */
static bool probe_events_is_of(const char *name, const char *group)
{
	size_t n = strlen(group);

	return !strncmp(name, group, n) && (!name[n] || name[n] == '_');
}

/*
 * Removes the probes whose lines are "X:GROUP/NAME ..." or, for synthetic events,
 * "s:synthetic/GROUP_NAME ...". Acts on one group or, if NULL, on all groups whose process has
 * exited. Returns the number of busy probes.
 */
static unsigned remove_probes(const struct wm_tracefs *t, const char *file, const char *group)
{
	static const char synthetic[] = "synthetic/";
	char *text, *save = NULL;
	size_t bytes;
	unsigned busy = 0;

	if (wm_file_read(t->dirfd, file, LIST_MAX, &text, &bytes) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *name = strchr(line, ':'), *slash, remove[512];

		if (!name)
			continue;
		name[strcspn(name, " \t")] = '\0';
		(void)snprintf(remove, sizeof(remove), "-%s", name++);
		slash = strchr(name, '/');
		if (slash && !strncmp(name, synthetic, strlen(synthetic)))
			name = slash + 1;
		else if (slash)
			*slash = '\0';
		if (!slash || strncmp(name, WM_PROBE_OWNER_PREFIX, strlen(WM_PROBE_OWNER_PREFIX)))
			continue;
		if (group ? probe_events_is_of(name, group) : wm_probe_owner_has_exited(name))
			busy += write_line(t, file, remove) == -EBUSY;
	}
	free(text);
	return busy;
}

/* ---- the keeper --------------------------------------------------------------------- */

/*
 * The keeper's main function. It runs in its own session, so that neither the terminal's signals
 * nor a kill of the parent's process group reaches it. It keeps only tracefs and the pipe open.
 */
static void __attribute__((noreturn)) probe_events_keep(const struct wm_dynamic *d, int pipe_end)
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
	for (unsigned i = 0; i < TRIES && remove_probes(d->tracefs, d->file, d->group); i++) {
		(void)nanosleep(&nap, NULL);
		(void)wm_instance_sweep(d->tracefs);
	}
	_exit(0);
}

static int start_keeper(struct wm_dynamic *d)
{
	int fds[2], ready[2], err;
	char byte;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(ready, O_CLOEXEC) < 0) {
		err = -errno;
		(void)close(fds[0]);
		(void)close(fds[1]);
		return err;
	}
	d->keeper = fork();
	if (d->keeper == 0) {
		(void)close(fds[1]);
		probe_events_keep(d, fds[0]);
	}
	err = d->keeper < 0 ? -errno : 0;
	(void)close(fds[0]);
	(void)close(ready[1]);
	/*
	 * Waits until the keeper has closed its inherited descriptors, because an open ring would
	 * keep the instance alive.
	 */
	while (err == 0 && read(ready[0], &byte, 1) < 0 && errno == EINTR)
		;
	(void)close(ready[0]);
	if (err < 0)
		(void)close(fds[1]);
	else
		d->alive = fds[1];
	return err;
}

/*
 * The name of the file that lists all probes; older kernels have one file for each kind of probe.
 */
static const char *list_file(const struct wm_tracefs *t)
{
	return faccessat(t->dirfd, "dynamic_events", F_OK, 0) == 0 ? "dynamic_events"
								   : "uprobe_events";
}

void wm_dynamic_sweep(const struct wm_tracefs *t)
{
	(void)remove_probes(t, list_file(t), NULL);
}

int wm_dynamic_fd(const struct wm_dynamic *d)
{
	return d->alive;
}

static int cannot_write(const struct wm_tracefs *t, const char *file, int err, struct wm_diag *diag)
{
	if (err == -ENOENT)
		return wm_diag_set(
		    diag, err, t->path, -1,
		    "cannot create probes: this kernel has neither dynamic_events nor "
		    "uprobe_events in %s; use one built with CONFIG_UPROBE_EVENTS or "
		    "CONFIG_KPROBE_EVENTS",
		    t->path);
	return wm_diag_set(diag, err, t->path, -1,
			   "cannot create probes: cannot write %s/%s (%s)%s", t->path, file,
			   strerror(-err),
			   err == -EROFS ? "; mount this tracefs writable" : "; run as root");
}

int wm_dynamic_create(const struct wm_tracefs *t, struct wm_dynamic **ret, struct wm_diag *diag)
{
	struct wm_dynamic *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->tracefs = t;
	d->file = list_file(t);
	wm_probe_owner_name(d->group, sizeof(d->group));
	err = faccessat(t->dirfd, d->file, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	if (err < 0) {
		free(d);
		return cannot_write(t, list_file(t), err, diag);
	}
	(void)wm_instance_sweep(t);
	wm_dynamic_sweep(t);
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

/*
 * Reads the kernel's last error, if it is about a line that begins with `begin`, and the caret's
 * column in that line (from 1; 0: none). All tools share the log.
 */
static uint32_t last_error(const struct wm_tracefs *t, const char *begin, char *buf, size_t bytes)
{
	static const char mark[] = "error: ", command[] = "Command: ";
	char *text, *at, *last = NULL, *line, *caret;
	uint32_t column = 0;
	size_t nr;

	if (wm_file_read(t->dirfd, "error_log", LOG_MAX, &text, &nr) < 0)
		return 0;
	for (at = text; (at = strstr(at, mark)); at += strlen(mark))
		last = at + strlen(mark);
	line = last ? strstr(last, command) : NULL;
	if (line && !strncmp(line + strlen(command), begin, strcspn(begin, " "))) {
		(void)snprintf(buf, bytes, "%.*s", (int)strcspn(last, "\n"), last);
		caret = strchr(line, '^');
		for (at = caret; at && at > line && at[-1] != '\n'; at--)
			;
		/* The caret is in the line below "  Command: TEXT". */
		if (caret && (size_t)(caret - at) >= strlen(command) + 2)
			column = (uint32_t)((size_t)(caret - at) - strlen(command) - 2 + 1);
	}
	free(text);
	return column;
}

/* A line that defines a probe, and the offset of the arguments in it. */
struct line {
	char text[LINE_BYTES];
	size_t arguments;
	int file; /* open while the kernel resolves the path to it; -1: none */
};

static int probe_events_refused(const struct wm_tracefs *t, const struct wm_event_def *def,
				const struct line *l, int err, struct wm_diag *diag)
{
	bool kernel = def->family == WM_FAMILY_KPROBE || def->family == WM_FAMILY_KRETPROBE;
	const char *place = kernel ? wm_perf_kprobe_reason(err) : NULL;
	const char *at = "";
	char why[160] = "the kernel refuses it and gives no reason";
	uint32_t column = 0;

	if (def->family == WM_FAMILY_EPROBE)
		(void)snprintf(why, sizeof(why),
			       "this kernel has no probes on events (they need Linux 5.15 or "
			       "later, with CONFIG_KPROBE_EVENTS)");
	if (err == -EINVAL)
		column = last_error(t, l->text, why, sizeof(why));
	/* The kernel has parsed the line but refuses the place. */
	if (err != -EINVAL || (place && !strcmp(why, "Failed to register probe event")))
		(void)snprintf(why, sizeof(why), "%s", place ? place : strerror(-err));
	if (def->arguments && column > l->arguments && column <= strlen(l->text))
		at = l->text + column - 1;
	return wm_diag_set(diag, err, NULL, -1, "'%.80s' cannot be probed: %s%s%.*s%s", def->name,
			   why, *at ? ", at '" : "", (int)strcspn(at, " \n"), at, *at ? "'" : "");
}

/*
 * Writes the path. The kernel splits lines at blanks, so a path that contains a blank is passed as
 * an open descriptor.
 */
static int make_path(const struct wm_event_def *def, struct line *l, char *buf, size_t bytes)
{
	int n;

	l->file = -1;
	if (!strpbrk(def->path, " \t\n;#")) {
		n = snprintf(buf, bytes, "%s", def->path);
		return n < (int)bytes ? 0 : -ENAMETOOLONG;
	}
	l->file = open(def->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (l->file < 0)
		return -errno;
	(void)snprintf(buf, bytes, "/proc/self/fd/%d", l->file);
	return 0;
}

/* Writes a line "p:GROUP/eN PLACE ARGUMENTS". */
static int make_line(const struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
		     struct line *l)
{
	bool kernel = def->family == WM_FAMILY_KPROBE || def->family == WM_FAMILY_KRETPROBE;
	bool ret = def->family == WM_FAMILY_URETPROBE || def->family == WM_FAMILY_KRETPROBE;
	char path[LINE_BYTES / 2], offset[32] = "", semaphore[32] = "";
	int n, err = 0;

	l->file = -1;
	if (def->semaphore_offset)
		(void)snprintf(semaphore, sizeof(semaphore), "(0x%" PRIx64 ")",
			       def->semaphore_offset);
	if (def->family == WM_FAMILY_EPROBE) {
		n = snprintf(path, sizeof(path), "%s", def->symbol);
		*strchrnul(path, ':') = '.';
		path[n < (int)sizeof(path) ? n : 0] = '\0';
	} else if (kernel) {
		n = snprintf(path, sizeof(path), "%s", def->symbol);
		err = n < (int)sizeof(path) && !strpbrk(path, " \t\n;#") ? 0 : -EINVAL;
		if (def->offset)
			(void)snprintf(offset, sizeof(offset), "+%" PRIu64, def->offset);
	} else {
		err = make_path(def, l, path, sizeof(path));
		(void)snprintf(offset, sizeof(offset), ":0x%" PRIx64, def->offset);
	}
	if (err)
		return err;
	n = snprintf(l->text, sizeof(l->text), "%c:%s/%s %s%s%s ",
		     def->family == WM_FAMILY_EPROBE ? 'e'
		     : ret                           ? 'r'
						     : 'p',
		     d->group, event, path, offset, semaphore);
	if (n >= (int)sizeof(l->text))
		return -E2BIG;
	l->arguments = (size_t)n;
	n = snprintf(l->text + n, sizeof(l->text) - (size_t)n, "%s\n",
		     def->arguments ? def->arguments : "");
	return n < (int)(sizeof(l->text) - l->arguments) ? 0 : -E2BIG;
}

static int probe_events_put(struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
			    struct wm_diag *diag)
{
	bool kernel = def->family == WM_FAMILY_KPROBE || def->family == WM_FAMILY_KRETPROBE;
	const char *file = d->file;
	struct line l;
	int err = make_line(d, def, event, &l);

	if (kernel && !strcmp(file, "uprobe_events"))
		file = "kprobe_events";
	if (err)
		wm_diag_set(diag, err, NULL, -1, "'%.120s' cannot be probed: %s", def->name,
			    err == -E2BIG ? "the list of values to fetch is too long"
					  : strerror(-err));
	else if ((err = write_line(d->tracefs, file, l.text)))
		(void)probe_events_refused(d->tracefs, def, &l, err, diag);
	if (l.file >= 0)
		(void)close(l.file);
	return err;
}

int wm_dynamic_add(struct wm_dynamic *d, const struct wm_event_def *def, char *ret_system,
		   char *ret_event, struct wm_diag *diag)
{
	char event[32];
	int err;

	(void)snprintf(event, sizeof(event), "e%u", d->nr);
	err = probe_events_put(d, def, event, diag);
	if (err)
		return err;
	d->nr++;
	(void)snprintf(ret_system, WM_TRACEFS_NAME_MAX, "%s", d->group);
	(void)snprintf(ret_event, WM_TRACEFS_NAME_MAX, "%s", event);
	return 0;
}

int wm_dynamic_append(struct wm_dynamic *d, const struct wm_event_def *def, const char *event,
		      struct wm_diag *diag)
{
	return probe_events_put(d, def, event, diag);
}

int wm_dynamic_synthetic(struct wm_dynamic *d, const char *definition, char *ret_event,
			 struct wm_diag *diag)
{
	size_t name_bytes = strcspn(definition, " \t;");
	char event[WM_TRACEFS_NAME_MAX], text[LINE_BYTES],
	    why[160] = "the kernel refuses it and gives no reason";
	int n, err;

	if (faccessat(d->tracefs->dirfd, "synthetic_events", F_OK, 0) < 0)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel has no synthetic events (it was built without "
				   "CONFIG_SYNTH_EVENTS)");
	n = snprintf(event, sizeof(event), "%s_%.*s", d->group, (int)name_bytes, definition);
	if (!name_bytes || !definition[name_bytes] || n >= (int)sizeof(event))
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "'%.120s' is not of the form NAME TYPE FIELD; ..., e.g. wakeup "
				   "u64 latency; pid_t pid",
				   definition);
	n = snprintf(text, sizeof(text), "s:synthetic/%s%s\n", event, definition + name_bytes);
	err = n < (int)sizeof(text) ? write_line(d->tracefs, d->file, text) : -E2BIG;
	if (err == -EINVAL)
		(void)last_error(d->tracefs, text, why, sizeof(why));
	if (err)
		return wm_diag_set(diag, err, NULL, -1,
				   "cannot make the synthetic event '%.120s': %s", definition,
				   err == -EINVAL ? why : strerror(-err));
	(void)snprintf(ret_event, WM_TRACEFS_NAME_MAX, "%s", event);
	return 0;
}
