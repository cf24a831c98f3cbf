/* SPDX-License-Identifier: MIT */
/*
 * tracefs.c - finds a tracefs and reads it; see tracefs.h. Names that users give become parts of
 * paths here, so a name with a slash or a leading dot, which no event has, is refused before any
 * file is opened.
 */
#include "kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "kernel/privilege.h"

#define USUAL_PLACE "/sys/kernel/tracing"
#define ID_MAX      64u

/* ---- finding it ----------------------------------------------------------- */

/* The results of the search, for the message when no tracefs is usable. */
struct search {
	int dirfd;
	char path[256];
	char denied[256]; /* the first folder that exists but cannot be read; "": none */
};

/* Whether this folder is a tracefs whose events can be read. Records the result in `s`. */
static bool try_folder(struct search *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = fd < 0 ? errno : 0;

	if (fd >= 0 && faccessat(fd, "available_events", R_OK, AT_EACCESS) == 0) {
		s->dirfd = fd;
		(void)snprintf(s->path, sizeof(s->path), "%s", path);
		return true;
	}
	if (fd >= 0) {
		err = errno;
		(void)close(fd);
	}
	if ((err == EACCES || err == EPERM) && !*s->denied)
		(void)snprintf(s->denied, sizeof(s->denied), "%s", path);
	return false;
}

static bool try_mounts(struct search *s)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent entry;
	char line[4096], path[4096];
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &entry, line, sizeof(line))) {
		bool debugfs = !strcmp(entry.mnt_type, "debugfs");

		if (!debugfs && strcmp(entry.mnt_type, "tracefs"))
			continue;
		if (snprintf(path, sizeof(path), "%s%s", entry.mnt_dir,
			     debugfs ? "/tracing" : "") >= (int)sizeof(s->path))
			continue;
		found = try_folder(s, path);
	}
	if (mounts)
		(void)endmntent(mounts);
	return found;
}

/* Opens a private tracefs that no other process sees. Returns 0 or -errno. */
static int open_private(struct search *s)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1, err = 0;

	if (context < 0)
		return -errno;
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ||
	    (fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)) < 0)
		err = -errno;
	(void)close(context);
	/* Its files have the modes of the mounted one, which CAP_SYS_ADMIN does not override. */
	if (!err && faccessat(fd, "available_events", R_OK, AT_EACCESS) < 0) {
		err = -errno;
		(void)close(fd);
	}
	if (err)
		return err;
	s->dirfd = fd;
	(void)snprintf(s->path, sizeof(s->path), "tracefs");
	return 0;
}

static int not_found(const struct search *s, int err, struct wm_diag *diag)
{
	struct wm_privilege p;

	wm_privilege_read(&p);
	if (*s->denied)
		return wm_diag_set(diag, -EACCES, s->denied, -1,
				   "only root may read %s; %s or, to list and count only, give a "
				   "group access: sudo mount -o remount,mode=750,gid=GROUP %s",
				   s->denied, wm_privilege_hint(&p), s->denied);
	if (err == -ENODEV)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel was built without tracing (CONFIG_TRACING): it has "
				   "no tracepoints");
	return wm_diag_set(diag, -ENOENT, NULL, -1,
			   "no tracefs is mounted; as root: mount -t tracefs nodev %s",
			   USUAL_PLACE);
}

int wm_tracefs_open(struct wm_tracefs **ret, struct wm_diag *diag)
{
	struct search s = {.dirfd = -1};
	struct wm_tracefs *t;
	bool mounted = try_folder(&s, USUAL_PLACE) || try_mounts(&s);
	int err = mounted ? 0 : open_private(&s);

	if (err < 0)
		return not_found(&s, err, diag);
	t = calloc(1, sizeof(*t));
	if (!t) {
		(void)close(s.dirfd);
		return -ENOMEM;
	}
	t->dirfd = s.dirfd;
	t->private_mount = !mounted;
	memcpy(t->path, s.path, sizeof(t->path));
	*ret = t;
	return 0;
}

void wm_tracefs_close(struct wm_tracefs *t)
{
	if (!t)
		return;
	(void)close(t->dirfd);
	free(t->events);
	free(t->text);
	free(t);
}

/* ---- files ------------------------------------------------------------------ */

int wm_tracefs_read(const struct wm_tracefs *t, const char *name, size_t limit, char **ret_text,
		    size_t *ret_bytes, struct wm_diag *diag)
{
	int err = wm_file_read(t->dirfd, name, limit, ret_text, ret_bytes);

	if (err == -EACCES || err == -EPERM)
		return wm_diag_set(diag, err, t->path, -1,
				   "not permitted to read %s/%s; run as root, or as a member of "
				   "the group that owns it",
				   t->path, name);
	if (err < 0)
		return wm_diag_set(diag, err, t->path, -1, "cannot read %s/%s: %s", t->path, name,
				   strerror(-err));
	return 0;
}

/* Builds the path of an event's file. Returns -ENOENT if no event can have this name. */
static int event_file(const char *system, const char *name, const char *file, char *buf,
		      size_t bytes)
{
	if (!*system || !*name || *system == '.' || *name == '.' || strchr(system, '/') ||
	    strchr(name, '/') || strlen(system) >= WM_TRACEFS_NAME_MAX ||
	    strlen(name) >= WM_TRACEFS_NAME_MAX)
		return -ENOENT;
	(void)snprintf(buf, bytes, "events/%s/%s/%s", system, name, file);
	return 0;
}

/* Writes a question with the names nearest to an event's, or how to list all. */
static void tracefs_hint(const struct wm_tracefs *t, const char *system, const char *name,
			 char *hint, size_t bytes)
{
	char *text = NULL, wanted[2 * WM_TRACEFS_NAME_MAX], *save = NULL;
	struct wm_nearest near;
	size_t size;

	(void)snprintf(wanted, sizeof(wanted), "%s:%s", system, name);
	wm_nearest_init(&near, wanted);
	if (wm_file_read(t->dirfd, "available_events", WM_TRACEFS_LIST_MAX, &text, &size) == 0)
		for (char *line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			wm_nearest_offer(&near, line);
	free(text);
	if (!*wm_nearest_sentence(&near, "", hint, bytes))
		(void)snprintf(hint, bytes, "run 'waymark list' to see its events");
}

static int tracefs_no_event(const struct wm_tracefs *t, const char *system, const char *name,
			    struct wm_diag *diag)
{
	char hint[WM_DIAG_SENTENCE / 2];

	tracefs_hint(t, system, name, hint, sizeof(hint));
	return wm_diag_set(diag, -ENOENT, NULL, -1, "this kernel has no event '%.80s:%.80s'; %s",
			   system, name, hint);
}

static int read_event_file(const struct wm_tracefs *t, const char *system, const char *name,
			   const char *file, size_t limit, char **ret_text, size_t *ret_bytes,
			   struct wm_diag *diag)
{
	char path[2 * WM_TRACEFS_NAME_MAX + 32];
	int err = event_file(system, name, file, path, sizeof(path));

	if (!err)
		err = wm_tracefs_read(t, path, limit, ret_text, ret_bytes, diag);
	return err == -ENOENT && diag ? tracefs_no_event(t, system, name, diag) : err;
}

bool wm_tracefs_has_system(const struct wm_tracefs *t, const char *system, size_t bytes)
{
	char folder[WM_TRACEFS_NAME_MAX + 16];

	if (!bytes || bytes >= WM_TRACEFS_NAME_MAX || memchr(system, '/', bytes))
		return false;
	(void)snprintf(folder, sizeof(folder), "events/%.*s/enable", (int)bytes, system);
	return faccessat(t->dirfd, folder, F_OK, 0) == 0;
}

int wm_tracefs_event_id(const struct wm_tracefs *t, const char *system, const char *name,
			uint64_t *ret_id, struct wm_diag *diag)
{
	char *text;
	size_t bytes;
	int64_t id;
	int err = read_event_file(t, system, name, "id", ID_MAX, &text, &bytes, diag);

	if (err < 0)
		return err;
	text[strcspn(text, "\n")] = '\0';
	err = wm_number_parse_integer(text, 1, UINT32_MAX, &id);
	free(text);
	if (err < 0)
		return wm_diag_set(diag, -EBADMSG, t->path, -1,
				   "events/%.80s/%.80s/id in %s is not a number", system, name,
				   t->path);
	*ret_id = (uint64_t)id;
	return 0;
}

int wm_tracefs_event_format(const struct wm_tracefs *t, const char *system, const char *name,
			    char **ret_text, size_t *ret_bytes, struct wm_diag *diag)
{
	return read_event_file(t, system, name, "format", WM_TRACEFS_FORMAT_MAX, ret_text,
			       ret_bytes, diag);
}

/* ---- the list of events --------------------------------------------------------- */

static int tracefs_by_name(const void *a, const void *b)
{
	const struct wm_tracefs_event *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	return order ? order : strcmp(x->name, y->name);
}

/* Parses lines of the form SYSTEM:NAME. Skips other lines, which later kernels may add. */
static void split_lines(struct wm_tracefs *t)
{
	char *save = NULL;

	for (char *line = strtok_r(t->text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':');

		if (!colon || colon == line || !colon[1])
			continue;
		*colon = '\0';
		t->events[t->nr_events++] = (struct wm_tracefs_event){line, colon + 1};
	}
	qsort(t->events, t->nr_events, sizeof(*t->events), tracefs_by_name);
}

int wm_tracefs_load(struct wm_tracefs *t, struct wm_diag *diag)
{
	size_t bytes, nr = 1;
	int err;

	if (t->text)
		return 0;
	err = wm_tracefs_read(t, "available_events", WM_TRACEFS_LIST_MAX, &t->text, &bytes, diag);
	if (err < 0)
		return err;
	for (size_t i = 0; i < bytes; i++)
		nr += t->text[i] == '\n';
	t->events = calloc(nr, sizeof(*t->events));
	if (!t->events) {
		free(t->text);
		t->text = NULL;
		return -ENOMEM;
	}
	split_lines(t);
	return 0;
}
