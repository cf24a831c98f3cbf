/* SPDX-License-Identifier: MIT */
/*
 * process.c - lists running processes' events: finds the ELF files that they map, and the events
 * that are enabled. A file is read once, even if many processes map it. A process that can no
 * longer be read has ended and is ignored. See inventory.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <waymark/abi.h>

#include "base/file.h"
#include "base/maps.h"
#include "control/inventory.h"
#include "control/target/remote_runtime.h"

/* A mapped file that has been examined. */
struct wm_seen {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const struct wm_inventory_file *file; /* NULL: no events are known */
};

/* A process being examined. */
struct process {
	pid_t pid;
	bool alone, runtime;
	struct wm_maps maps;
	uint32_t nr;
	struct mapped {
		const struct wm_inventory_file *file;
		uint64_t bias;
	} * files;
};

static bool inventory_process_same_file(const struct wm_map *a, const struct wm_map *b)
{
	return a->inode == b->inode && a->dev_minor == b->dev_minor && a->dev_major == b->dev_major;
}

static struct wm_seen *inventory_process_find_seen(const struct wm_inventory *l,
						   const struct wm_map *map)
{
	for (uint32_t i = 0; i < l->nr_seen; i++) {
		struct wm_seen *s = &l->seen[i];

		if (s->inode == map->inode && s->dev_minor == map->dev_minor &&
		    s->dev_major == map->dev_major)
			return s;
	}
	return NULL;
}

/* Opens and reads a mapped file. Returns NULL if it has no readable events. */
static struct wm_inventory_file *inventory_process_load(const struct wm_inventory *l,
							const struct process *p,
							const struct wm_map *map)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_inventory_file *file = NULL;
	int fd = wm_maps_open(p->pid, map), err = fd;

	if (fd >= 0)
		err = wm_inventory_file_load(fd, map->path, l->fields, &file, &diag);
	if (err == -ENODATA)
		err = wm_inventory_file_of_process(p->pid, &p->maps, map, &file, &diag);
	if (err == 0 && file && !file->elf && file->nr_events && l->fields && p->alone)
		wm_words_say(l->words,
			     "'%s' has no section headers: its events are read from the process, "
			     "without files and lines",
			     map->path);
	if (err < 0 && p->alone && err != -ENOEXEC) {
		if (err == -ENOENT && fd >= 0)
			wm_words_say(
			    l->words,
			    "'%s' has no section headers, and its events cannot be read from "
			    "the process either: %s",
			    map->path, diag.sentence);
		else if (map->deleted && fd < 0)
			wm_words_say(
			    l->words,
			    "cannot read '%s': it was deleted or replaced after process %" PRId64
			    " mapped it; root may still be able to read it",
			    map->path, (int64_t)p->pid);
		else
			wm_words_diag(l->words, "read", map->path, err, &diag);
	}
	if (file && !file->nr_events && !file->nr_bad) {
		wm_inventory_file_destroy(file);
		return NULL;
	}
	return file;
}

static int inventory_process_look_at(struct wm_inventory *l, const struct process *p,
				     const struct wm_map *map,
				     const struct wm_inventory_file **ret_file)
{
	struct wm_seen *seen = inventory_process_find_seen(l, map), *grown;
	struct wm_inventory_file *file;
	int err = 0;

	if (seen) {
		*ret_file = seen->file;
		return 0;
	}
	grown = reallocarray(l->seen, l->nr_seen + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->seen = grown;
	file = inventory_process_load(l, p, map);
	if (file)
		err = wm_inventory_add_file(l, file, NULL);
	if (err < 0)
		return err;
	l->seen[l->nr_seen++] = (struct wm_seen){map->dev_major, map->dev_minor, map->inode, file};
	*ret_file = file;
	return 0;
}

static bool is_runtime(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash + 1, "libwaymark-rt.so", strlen("libwaymark-rt.so"));
}

/* Whether a process has a statically linked runtime, which has a control page. */
static bool has_static_runtime(pid_t pid)
{
	struct wm_target target;

	if (wm_target_open(pid, true, &target, NULL) < 0)
		return false;
	wm_target_close(&target);
	return true;
}

/* Whether the file is also mapped at a lower address in the process. */
static bool inventory_process_met_before(const struct process *p, size_t at)
{
	for (size_t i = at; i > 0; i--) {
		if (inventory_process_same_file(&p->maps.maps[i - 1], &p->maps.maps[at]))
			return true;
	}
	return false;
}

static bool inventory_process_has_code(const struct process *p, size_t at)
{
	for (size_t i = at; i < p->maps.nr; i++) {
		if (inventory_process_same_file(&p->maps.maps[i], &p->maps.maps[at]) &&
		    p->maps.maps[i].perms & WM_MAP_EXEC)
			return true;
	}
	return false;
}

/* Finds a process's files that have events, by address, and where they are loaded. */
static int find_files(struct wm_inventory *l, struct process *p)
{
	int err = 0;

	p->files = calloc(p->maps.nr + 1, sizeof(*p->files));
	if (!p->files)
		return -ENOMEM;
	for (size_t i = 0; i < p->maps.nr && !err; i++) {
		const struct wm_map *map = &p->maps.maps[i];
		struct mapped *to = &p->files[p->nr];

		if (!map->inode || map->perms & WM_MAP_SHARED ||
		    inventory_process_met_before(p, i) || !inventory_process_has_code(p, i))
			continue;
		p->runtime |= is_runtime(map->path);
		err = inventory_process_look_at(l, p, map, &to->file);
		to->bias = map->start;
		if (!err && to->file &&
		    (!to->file->elf ||
		     wm_elf_bias(to->file->elf, map->start, map->offset, &to->bias) == 0))
			p->nr++;
	}
	return err;
}

/* ---- groups ------------------------------------------------------------ */

static char *command_of(pid_t pid)
{
	char name[64], path[4096], *comm;
	ssize_t length;
	size_t bytes;

	(void)snprintf(name, sizeof(name), "/proc/%" PRId64 "/exe", (int64_t)pid);
	length = readlink(name, path, sizeof(path) - 1);
	if (length > 0) {
		path[length] = '\0';
		return strdup(path);
	}
	(void)snprintf(name, sizeof(name), "/proc/%" PRId64 "/comm", (int64_t)pid);
	if (wm_file_read(AT_FDCWD, name, 64, &comm, &bytes) < 0)
		return strdup("?");
	comm[strcspn(comm, "\n")] = '\0';
	return comm;
}

static bool same_files(const struct wm_inventory_group *g, const struct process *p)
{
	if (!g->nr_pids || g->nr_members != p->nr || g->runtime != p->runtime)
		return false;
	for (uint32_t i = 0; i < p->nr; i++) {
		if (g->members[i].file != p->files[i].file)
			return false;
	}
	return true;
}

static int fill_group(struct wm_inventory_group *g, const struct process *p)
{
	g->runtime = p->runtime;
	g->members = calloc(p->nr + 1, sizeof(*g->members));
	if (!g->members)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr; i++) {
		struct wm_inventory_member *m = &g->members[g->nr_members++];

		m->file = p->files[i].file;
		m->on = calloc(m->file->nr_events + 1, sizeof(*m->on));
		m->unknown = calloc(m->file->nr_events + 1, sizeof(*m->unknown));
		if (!m->on || !m->unknown)
			return -ENOMEM;
	}
	return 0;
}

/* Returns a process's group: one with the same command and files, or a new one. */
static int group_of(struct wm_inventory *l, const struct process *p,
		    struct wm_inventory_group **ret)
{
	char *title = command_of(p->pid);
	struct wm_inventory_group *grown;

	for (uint32_t i = 0; title && i < l->nr_groups; i++) {
		if (strcmp(l->groups[i].title, title) || !same_files(&l->groups[i], p))
			continue;
		free(title);
		*ret = &l->groups[i];
		return 0;
	}
	grown = title ? reallocarray(l->groups, l->nr_groups + 1, sizeof(*grown)) : NULL;
	if (!grown) {
		free(title);
		return -ENOMEM;
	}
	l->groups = grown;
	*ret = &l->groups[l->nr_groups++];
	**ret = (struct wm_inventory_group){.title = title};
	return fill_group(*ret, p);
}

/*
 * Whether an event is enabled: reads its word in the process; see <waymark/abi.h>. Returns 1, 0 or
 * -errno.
 */
static int inventory_process_is_on(pid_t pid, uint64_t address)
{
	uint64_t word;
	struct iovec to = {&word, sizeof(word)};
	struct iovec from = {
	    (void *)(uintptr_t)(address + offsetof(struct waymark_event_state, word)),
	    sizeof(word)};

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(word))
		return errno ? -errno : -EFAULT;
	return !(word & WAYMARK_WORD_COMPLEX) ||
	       (word & (WAYMARK_WORD_RECORD | WAYMARK_WORD_PROBES)) != 0;
}

static void count_on(struct wm_inventory_member *m, pid_t pid, uint64_t bias)
{
	for (uint32_t i = 0; i < m->file->nr_events; i++) {
		const struct wm_inventory_event *event = &m->file->events[i];
		int on = 0;

		for (uint32_t s = 0; s < event->nr_states && on == 0; s++)
			on = inventory_process_is_on(pid, event->states[s] + bias);
		m->on[i] += on > 0;
		m->unknown[i] += on < 0;
	}
}

static int add_to_group(struct wm_inventory *l, const struct process *p)
{
	struct wm_inventory_group *g;
	pid_t *pids;
	int err = group_of(l, p, &g);

	if (err < 0)
		return err;
	pids = reallocarray(g->pids, g->nr_pids + 1, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	g->pids = pids;
	g->pids[g->nr_pids++] = p->pid;
	for (uint32_t i = 0; i < p->nr; i++)
		count_on(&g->members[i], p->pid, p->files[i].bias);
	return 0;
}

int wm_inventory_add_process(struct wm_inventory *l, pid_t pid, bool alone)
{
	struct process p = {.pid = pid, .alone = alone};
	int err = wm_maps_read(pid, &p.maps);

	if (err < 0)
		return err;
	err = find_files(l, &p);
	if (!err && p.nr && !p.runtime)
		p.runtime = has_static_runtime(pid);
	if (!err && (p.nr || p.runtime || alone))
		err = add_to_group(l, &p);
	free(p.files);
	wm_maps_done(&p.maps);
	return err;
}

/* ---- all processes ------------------------------------------------------- */

static bool inventory_process_is_ours(int proc, const char *name)
{
	struct stat st;

	return geteuid() == 0 ||
	       (fstatat(proc, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == geteuid());
}

int wm_inventory_add_all_processes(struct wm_inventory *l)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	while (err != -ENOMEM && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !inventory_process_is_ours(dirfd(proc), entry->d_name))
			continue;
		err = wm_inventory_add_process(l, (pid_t)atoi(entry->d_name), false);
	}
	(void)closedir(proc);
	return err == -ENOMEM ? err : 0;
}
