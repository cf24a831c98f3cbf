/* SPDX-License-Identifier: MIT */
/*
 * maps.c - see maps.h. A path may contain any byte but NUL and is untrusted; only the numbers
 * before it have a fixed format.
 */
#include "base/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/search.h"

#define DELETED " (deleted)"

struct cursor {
	const char *p;
	bool bad;
};

static uint64_t take_number(struct cursor *c, int base)
{
	char *end;
	uint64_t value;

	/* strtoull() would accept blanks and signs */
	if (!((*c->p >= '0' && *c->p <= '9') || (base == 16 && *c->p >= 'a' && *c->p <= 'f'))) {
		c->bad = true;
		return 0;
	}
	errno = 0;
	value = strtoull(c->p, &end, base);
	if (errno)
		c->bad = true;
	c->p = end;
	return value;
}

static void take_char(struct cursor *c, char wanted)
{
	if (*c->p == wanted)
		c->p++;
	else
		c->bad = true;
}

static uint8_t take_perms(struct cursor *c)
{
	static const struct {
		char letter;
		uint8_t bit;
	} letters[] = {
	    {'r', WM_MAP_READ}, {'w', WM_MAP_WRITE}, {'x', WM_MAP_EXEC}, {'s', WM_MAP_SHARED}};
	uint8_t perms = 0;

	for (size_t i = 0; i < 4; i++) {
		if (*c->p == letters[i].letter)
			perms |= letters[i].bit;
		else if (*c->p != (i == 3 ? 'p' : '-'))
			c->bad = true;
		if (*c->p)
			c->p++;
	}
	return perms;
}

static void restore_newlines(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* Parses one NUL-terminated line. Returns false when it is not in the kernel's format. */
static bool parse_line(char *line, struct wm_map *m)
{
	struct cursor c = {line, false};
	size_t length;
	char *path;

	m->start = take_number(&c, 16);
	take_char(&c, '-');
	m->end = take_number(&c, 16);
	take_char(&c, ' ');
	m->perms = take_perms(&c);
	take_char(&c, ' ');
	m->offset = take_number(&c, 16);
	take_char(&c, ' ');
	m->dev_major = (uint32_t)take_number(&c, 16);
	take_char(&c, ':');
	m->dev_minor = (uint32_t)take_number(&c, 16);
	take_char(&c, ' ');
	m->inode = take_number(&c, 10);
	if (c.bad || m->start >= m->end)
		return false;
	path = line + (c.p - line);
	path += strspn(path, " ");
	length = strlen(path);
	m->deleted = m->inode && length > strlen(DELETED) &&
		     !strcmp(path + length - strlen(DELETED), DELETED);
	if (m->deleted)
		path[length - strlen(DELETED)] = '\0';
	restore_newlines(path);
	m->path = path;
	return true;
}

static size_t maps_count_lines(const char *text)
{
	size_t nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr + 1;
}

/*
 * The kernel prints a process's mappings in pieces. When a mapping that was printed is merged with
 * the next one in between, the next line begins too early. Keeps the part that is new; returns
 * false when nothing is.
 */
static bool cut_overlap(const struct wm_map *before, struct wm_map *m)
{
	if (m->end <= before->end)
		return false;
	if (m->start < before->end) {
		if (m->inode)
			m->offset += before->end - m->start;
		m->start = before->end;
	}
	return true;
}

int wm_maps_parse(char *text, struct wm_maps *ret_maps, struct wm_diag *diag)
{
	struct wm_maps m = {.text = text};
	size_t line_nr = 0;
	char *line = text, *end;

	m.maps = calloc(maps_count_lines(text), sizeof(*m.maps));
	if (!m.maps) {
		free(text);
		return -ENOMEM;
	}
	for (; *line; line = end) {
		end = strchrnul(line, '\n');
		if (*end)
			*end++ = '\0';
		line_nr++;
		if (!parse_line(line, &m.maps[m.nr])) {
			(void)wm_diag_set(diag, -EBADMSG, "maps", line - text,
					  "line %zu is not a mapping", line_nr);
			wm_maps_done(&m);
			return -EBADMSG;
		}
		m.nr += !m.nr || cut_overlap(&m.maps[m.nr - 1], &m.maps[m.nr]);
	}
	*ret_maps = m;
	return 0;
}

int wm_maps_read(pid_t pid, struct wm_maps *ret_maps)
{
	char name[64], *text;
	size_t bytes;
	int err;

	(void)snprintf(name, sizeof(name), "/proc/%" PRId64 "/maps", (int64_t)pid);
	err = wm_file_read(AT_FDCWD, name, WM_MAPS_BYTES_MAX, &text, &bytes);
	return err < 0 ? err : wm_maps_parse(text, ret_maps, NULL);
}

void wm_maps_done(struct wm_maps *m)
{
	free(m->maps);
	free(m->text);
	*m = (struct wm_maps){0};
}

const struct wm_map *wm_maps_find(const struct wm_maps *m, uint64_t address)
{
	size_t low = WM_SEARCH(0, m->nr, i, m->maps[i].end <= address);
	return low < m->nr && m->maps[low].start <= address ? &m->maps[low] : NULL;
}

/* Opens the file without blocking, because a FIFO or a device may have replaced it. */
static int open_regular(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	(void)close(fd);
	return -ENOENT;
}

/* Opens /proc/PID/exe, which works even when the executable has been unlinked. */
static int open_exe(pid_t pid, const struct wm_map *map)
{
	char name[64];
	struct stat st;
	int fd;

	(void)snprintf(name, sizeof(name), "/proc/%" PRId64 "/exe", (int64_t)pid);
	fd = open_regular(name);
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_ino == map->inode))
		return fd;
	(void)close(fd);
	return -ENOENT;
}

int wm_maps_open(pid_t pid, const struct wm_map *map)
{
	char name[64 + 4096];
	int fd, err;

	if (!map->inode || (!map->deleted && *map->path != '/'))
		return -ENOENT;
	if (!map->deleted) {
		int n = snprintf(name, sizeof(name), "/proc/%" PRId64 "/root%s", (int64_t)pid,
				 map->path);

		return n < (int)sizeof(name) ? open_regular(name) : -ENAMETOOLONG;
	}
	(void)snprintf(name, sizeof(name), "/proc/%" PRId64 "/map_files/%" PRIx64 "-%" PRIx64,
		       (int64_t)pid, map->start, map->end);
	err = open_regular(name);
	if (err >= 0)
		return err;
	fd = open_exe(pid, map);
	return fd >= 0 ? fd : err;
}
