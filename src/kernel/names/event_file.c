/* SPDX-License-Identifier: MIT */
/* event_file.c - see event_file.h. */
#include "kernel/names/event_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/maps.h"
#include "base/plural.h"
#include "base/program.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

#define LIBRARIES                                                                                  \
	"/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/" \
	"lib"
#define FILES_MAX 4096u /* limit for a process's mapped files that contain code */

const char *wm_event_file_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void event_file_close(struct wm_event_file *f)
{
	wm_elf_vars_close(f->vars);
	wm_elf_close(f->elf);
	free(f->path);
	*f = (struct wm_event_file){0};
}

struct wm_elf_vars *wm_event_file_vars(struct wm_event_file *f)
{
	if (!f->vars && !f->no_vars)
		f->no_vars = wm_elf_vars_open(f->elf, &f->vars) < 0;
	return f->vars;
}

/* ---- paths ---------------------------------------------------------------------------- */

static bool event_file_is_same(int fd, const char *path)
{
	struct stat seen, named;

	return fstat(fd, &seen) == 0 && stat(path, &named) == 0 && seen.st_ino == named.st_ino &&
	       seen.st_dev == named.st_dev;
}

/*
 * Returns an open file's path with symlinks resolved: a path within `root`, if that root has its
 * own mounts; the path that this process sees, if the root is a plain folder in its file system;
 * otherwise the given path within `root`.
 */
static char *event_file_name_of(int fd, const char *root, const char *path)
{
	char link[48], text[PATH_MAX], *whole;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text) - 1);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	if (asprintf(&whole, "%s%s", root, text) < 0)
		return NULL;
	if (event_file_is_same(fd, whole))
		return whole;
	free(whole);
	if (event_file_is_same(fd, text))
		return strdup(text);
	return asprintf(&whole, "%s/%s", root, path) < 0 ? NULL : whole;
}

/*
 * Turns a path as seen from another root into a path for this process, following symlinks within
 * that root. Returns NULL if there is no such file.
 */
static char *within(const char *root, const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char *name = NULL;

	if (dir >= 0)
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	if (fd >= 0) {
		name = event_file_name_of(fd, root, path);
		(void)close(fd);
	}
	if (dir >= 0)
		(void)close(dir);
	return name;
}

/* The length of the root in a path like "/proc/12/root/usr/bin/x"; 0 if it has none. */
static size_t root_of(const char *path)
{
	size_t n = strlen("/proc/"), digits;

	if (strncmp(path, "/proc/", n))
		return 0;
	digits = strspn(path + n, "0123456789");
	n += digits;
	if (!digits || strncmp(path + n, "/root/", 6))
		return 0;
	return n + strlen("/root");
}

/* Searches each folder of a search path within a root. */
static char *search_within(const char *root, const char *name, const char *search)
{
	char *found = NULL;

	while (!found && search && *search) {
		size_t n = strcspn(search, ":");
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)n, search, name) <
		    (int)sizeof(path))
			found = within(root, path);
		search += n + (search[n] == ':');
	}
	return found;
}

/* Finds a program as the shell does, or a library roughly as the loader does. */
static char *find_file(const struct wm_event_space *s, const char *name)
{
	size_t root_bytes = root_of(name);
	char *found = NULL, *real, root[64];

	if (root_bytes && root_bytes < sizeof(root)) {
		(void)snprintf(root, sizeof(root), "%.*s", (int)root_bytes, name);
		return within(root, name + root_bytes);
	}
	if (s->root && *name == '/')
		found = within(s->root, name);
	else if (s->root && !strchr(name, '/'))
		found = search_within(s->root, name, strstr(name, ".so") ? LIBRARIES : s->search);
	if (found)
		return found;
	found = wm_program_find(name, s->search);
	if (!found && strstr(name, ".so"))
		found = wm_program_find_library(name, LIBRARIES);
	real = found ? realpath(found, NULL) : NULL;
	free(found);
	return real;
}

const char *wm_event_space_root(pid_t pid, char buf[WM_EVENT_ROOT_BYTES])
{
	struct stat ours, its;

	(void)snprintf(buf, WM_EVENT_ROOT_BYTES, "/proc/%d/root", (int)pid);
	if (stat("/", &ours) || stat(buf, &its))
		return NULL;
	return ours.st_ino == its.st_ino && ours.st_dev == its.st_dev ? NULL : buf;
}

/* ---- one file --------------------------------------------------------------------------- */

/*
 * Whether this machine can run the file. x86-64 also runs i386 programs; x32 (64-bit code with
 * 32-bit addresses) is not supported.
 */
static bool runs_here(const struct wm_elf *e)
{
	if (MACHINE == EM_X86_64 && e->narrow)
		return e->machine == EM_386;
	return e->machine == MACHINE && !e->narrow;
}

/* Opens a file; takes ownership of the path. */
static int event_file_open(const struct wm_event_place *p, char *path, struct wm_event_file *ret)
{
	struct wm_diag why = {.offset = -1};
	char machine[24], ours[24];
	int err;

	*ret = (struct wm_event_file){.path = path};
	err = wm_elf_open(path, &ret->elf, &why);
	if (err < 0)
		(void)wm_diag_set(p->diag, err, NULL, -1, "cannot probe '%.100s': %s", path,
				  why.sentence[0] ? why.sentence : strerror(-err));
	if (err == 0 && !runs_here(ret->elf))
		err = wm_diag_set(
		    p->diag, -EINVAL, NULL, -1,
		    "'%.100s' is for %s and cannot run here (%s): a probe in it would never be hit",
		    path, wm_elf_machine_name(ret->elf->machine, machine),
		    wm_elf_machine_name(MACHINE, ours));
	if (err < 0)
		event_file_close(ret);
	return err;
}

static int with_file(const struct wm_event_place *p, char *path, const char *rest,
		     wm_event_file_fn *fn)
{
	struct wm_event_file file;
	int err = event_file_open(p, path, &file);

	if (err < 0)
		return err;
	err = fn(p, &file, rest);
	event_file_close(&file);
	return err;
}

/* ---- a process's files -------------------------------------------------------------------- */

static bool seen_before(const struct wm_maps *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (m->maps[k].perms & WM_MAP_EXEC && m->maps[k].inode == m->maps[i].inode &&
		    !strcmp(m->maps[k].path, m->maps[i].path))
			return true;
	return false;
}

/*
 * Returns the path in the process's root or, if that root is a plain folder in this file system, in
 * this process's root.
 */
static char *mapped_path(pid_t pid, const struct wm_map *map)
{
	struct stat st;
	char *path;

	if (asprintf(&path, "/proc/%d/root%s", (int)pid, map->path) < 0)
		return NULL;
	if (stat(path, &st) == 0 && st.st_ino == map->inode)
		return path;
	free(path);
	return stat(map->path, &st) == 0 && st.st_ino == map->inode ? strdup(map->path) : NULL;
}

static int each_mapped(const struct wm_event_place *p, pid_t pid, const struct wm_maps *m,
		       const char *rest, bool every, wm_event_file_fn *fn)
{
	struct wm_diag first = {.offset = -1};
	unsigned nr_files = 0;
	int nr = 0;

	for (size_t i = 0; i < m->nr && nr_files < FILES_MAX; i++) {
		const struct wm_map *map = &m->maps[i];
		struct wm_diag diag = {.offset = -1};
		struct wm_event_place quiet = *p;
		char *path = NULL;
		int got;

		if (!(map->perms & WM_MAP_EXEC) || !map->inode || *map->path != '/' ||
		    map->deleted || seen_before(m, i))
			continue;
		quiet.diag = &diag;
		path = mapped_path(pid, map);
		if (!path)
			continue;
		nr_files++;
		got = with_file(&quiet, path, rest, fn);
		if (got < 0 && !first.sentence[0])
			first = diag;
		if (got == -ENOENT || got == -ENOEXEC)
			continue;
		if (got < 0) {
			if (p->diag)
				*p->diag = diag;
			return got;
		}
		nr += got;
		if (nr && !every)
			break;
	}
	if (!nr)
		return wm_diag_set(
		    p->diag, -ENOENT, NULL, -1,
		    "not found in the %u %s that process %d runs code from; the error "
		    "for the first: %.200s",
		    nr_files, wm_plural(nr_files, "file", "files"), (int)pid, first.sentence);
	return nr;
}

static int cannot_see(struct wm_diag *diag, pid_t pid, int err)
{
	if (err == -ENOENT || err == -ESRCH)
		return wm_diag_set(diag, -ESRCH, NULL, -1,
				   "there is no process %d, and no file of that name", (int)pid);
	return wm_diag_set(diag, err, NULL, -1, "cannot see the files of process %d: %s", (int)pid,
			   strerror(-err));
}

static int of_process(const struct wm_event_place *p, const char *number, const char *rest,
		      bool every, wm_event_file_fn *fn)
{
	pid_t pid = (pid_t)strtol(number, NULL, 10);
	struct wm_maps maps;
	int err = wm_maps_read(pid, &maps);

	if (err < 0)
		return cannot_see(p->diag, pid, err);
	err = each_mapped(p, pid, &maps, rest, every, fn);
	wm_maps_done(&maps);
	return err;
}

/* ---- splitting BIN from the rest --------------------------------------------------------- */

static bool event_file_is_number(const char *name)
{
	return *name && strlen(name) < 10 && !name[strspn(name, "0123456789")];
}

static unsigned colons(const char *text)
{
	unsigned nr = 0;

	for (; *text; text++)
		nr += *text == ':';
	return nr;
}

int wm_event_file_each(const struct wm_event_place *p, unsigned nr, bool every, const char *form,
		       wm_event_file_fn *fn)
{
	char *copy = strdup(p->text), *path = NULL, *end = NULL, *first;
	int err;

	if (!copy)
		return -ENOMEM;
	first = strchr(copy, ':');
	if (!first || first == copy || colons(copy) < nr || copy[strlen(copy) - 1] == ':') {
		free(copy);
		return wm_diag_set(p->diag, -EINVAL, NULL, -1, "'%s:%.80s' is not of the form %s",
				   p->family, p->text, form);
	}
	for (char *at = first; at && !path; at = strchr(at + 1, ':')) {
		*at = '\0';
		path = find_file(p->space, copy);
		end = path ? at : end;
		if (!path)
			*at = ':';
	}
	if (path) {
		err = colons(end + 1) + 1 < nr ? wm_diag_set(p->diag, -EINVAL, NULL, -1,
							     "'%s:%.80s' is not of the form %s",
							     p->family, p->text, form)
					       : 0;
		if (err)
			free(path);
		else
			err = with_file(p, path, end + 1, fn);
	} else {
		*first = '\0';
		err = event_file_is_number(copy)
			  ? of_process(p, copy, first + 1, every, fn)
			  : wm_diag_set(
				p->diag, -ENOENT, NULL, -1,
				"'%s:%.60s': found no program or library '%.60s'; give its path",
				p->family, p->text, copy);
	}
	free(copy);
	return err;
}
