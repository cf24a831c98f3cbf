/* SPDX-License-Identifier: MIT */
/*
 * pmu.c - reads /sys/bus/event_source/devices; see pmu.h. Drivers write these files: sizes are
 * bounded, bit numbers checked.
 */
#include "kernel/names/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"

#define ARENA_MAX  (32u << 20)
#define FILE_BYTES 4096u
#define PATH_BYTES 1024u

/* ---- reading the folders ---------------------------------------------------- */

/* Reads a file's first line into the arena; returns NULL if it cannot be read. */
static const char *first_line(struct wm_arena *arena, int dirfd, const char *name)
{
	size_t bytes;
	char *text;
	const char *kept;

	if (wm_file_read(dirfd, name, FILE_BYTES, &text, &bytes) < 0)
		return NULL;
	kept = wm_arena_copy(arena, text, strcspn(text, "\n"));
	free(text);
	return kept;
}

static const char *line_beside(struct wm_arena *arena, int dirfd, const char *name,
			       const char *suffix)
{
	char file[NAME_MAX + 1];

	if (snprintf(file, sizeof(file), "%s%s", name, suffix) >= (int)sizeof(file))
		return NULL;
	return first_line(arena, dirfd, file);
}

static int pmu_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Reads a PMU's events. A file "cycles" is an event; "cycles.scale", ".unit" and ".snapshot" are
 * its attributes.
 */
static int read_events(struct wm_pmus *p, struct wm_pmu *pmu, int dirfd)
{
	DIR *dir = fdopendir(dirfd);
	struct dirent *entry;

	if (!dir) {
		(void)close(dirfd);
		return 0;
	}
	while (pmu->nr_events < WM_PMU_EVENTS_MAX && (entry = readdir(dir))) {
		struct wm_pmu_event event = {0}, *grown;

		if (strchr(entry->d_name, '.'))
			continue;
		event.name = wm_arena_copy(&p->arena, entry->d_name, strlen(entry->d_name));
		event.terms = first_line(&p->arena, dirfd, entry->d_name);
		event.scale = line_beside(&p->arena, dirfd, entry->d_name, ".scale");
		event.unit = line_beside(&p->arena, dirfd, entry->d_name, ".unit");
		if (!event.name || !event.terms)
			continue;
		grown = wm_arena_grow(&p->arena, pmu->events, pmu->nr_events, sizeof(*grown));
		if (!grown)
			break;
		pmu->events = grown;
		pmu->events[pmu->nr_events++] = event;
	}
	(void)closedir(dir);
	qsort(pmu->events, pmu->nr_events, sizeof(*pmu->events), pmu_by_name);
	return 0;
}

/* Reads one PMU; returns false if it is not usable. */
static bool read_pmu(struct wm_pmus *p, int folder, const char *name, struct wm_pmu *ret)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), events;
	const char *type = fd < 0 ? NULL : first_line(&p->arena, fd, "type");
	int64_t number = -1;

	*ret = (struct wm_pmu){.name = wm_arena_copy(&p->arena, name, strlen(name))};
	if (type && wm_number_parse_integer(type, 0, UINT32_MAX, &number) == 0) {
		ret->type = (uint32_t)number;
		events = openat(fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (events >= 0)
			(void)read_events(p, ret, events);
	}
	if (fd >= 0)
		(void)close(fd);
	return ret->name && number >= 0;
}

int wm_pmus_read(const char *folder, struct wm_pmus *ret)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int err = 0;

	*ret = (struct wm_pmus){.folder = folder};
	wm_arena_init(&ret->arena, ARENA_MAX);
	while (dir && !err && ret->nr < WM_PMU_MAX && (entry = readdir(dir))) {
		struct wm_pmu pmu, *grown;

		if (*entry->d_name == '.' || !read_pmu(ret, dirfd(dir), entry->d_name, &pmu))
			continue;
		grown = wm_arena_grow(&ret->arena, ret->pmus, ret->nr, sizeof(*grown));
		if (grown) {
			ret->pmus = grown;
			ret->pmus[ret->nr++] = pmu;
		} else {
			err = -ENOMEM;
		}
	}
	if (dir)
		(void)closedir(dir);
	if (ret->nr)
		qsort(ret->pmus, ret->nr, sizeof(*ret->pmus), pmu_by_name);
	if (err < 0)
		wm_pmus_done(ret);
	return err;
}

void wm_pmus_done(struct wm_pmus *p)
{
	wm_arena_done(&p->arena);
	p->pmus = NULL;
	p->nr = 0;
}

const struct wm_pmu *wm_pmu_named(const struct wm_pmus *p, const char *name)
{
	return p->nr ? bsearch(&name, p->pmus, p->nr, sizeof(*p->pmus), pmu_by_name) : NULL;
}

/* ---- terms ---------------------------------------------------------------------- */

static uint64_t *config_of(struct wm_event_def *def, const char *name)
{
	if (!strcmp(name, "config"))
		return &def->config;
	if (!strcmp(name, "config1"))
		return &def->config1;
	return strcmp(name, "config2") ? NULL : &def->config2;
}

/*
 * Puts the low bits of `value` at the positions given by a format such as "config:0-7,32-35", the
 * lowest bit at the first position. Returns 0; -ERANGE if the value has more bits; -EBADMSG if the
 * format is malformed.
 */
static int place_bits(const char *format, uint64_t value, struct wm_event_def *def)
{
	char name[16];
	const char *p = strchr(format, ':');
	uint64_t *to;

	if (!p || (size_t)(p - format) >= sizeof(name))
		return -EBADMSG;
	memcpy(name, format, (size_t)(p - format));
	name[p - format] = '\0';
	to = config_of(def, name);
	while (to && *p) {
		char *end;
		unsigned long first = strtoul(p + 1, &end, 10), last = first;

		if (end == p + 1)
			return -EBADMSG;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last > 63 || (*end && *end != ','))
			return -EBADMSG;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			*to = (*to & ~(1ull << bit)) | (value & 1) << bit;
		p = end;
	}
	return !to ? -EBADMSG : value ? -ERANGE : 0;
}

static int open_pmu(const struct wm_pmus *p, const struct wm_pmu *pmu, const char *sub)
{
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s/%s", p->folder, pmu->name, sub) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Lists a PMU's terms for error messages, as in "event, umask". */
static const char *known_terms(int formats, char *buf, size_t bytes)
{
	int fd = formats < 0 ? -1 : openat(formats, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t used = 0;

	(void)snprintf(buf, bytes, "config, config1, config2");
	used = strlen(buf);
	while (dir && (entry = readdir(dir)) && used < bytes) {
		if (*entry->d_name != '.')
			used += (size_t)snprintf(buf + used, bytes - used, ", %s", entry->d_name);
	}
	if (dir)
		(void)closedir(dir);
	return buf;
}

static int set_term(const struct wm_pmus *p, const struct wm_pmu *pmu, int formats,
		    const char *name, uint64_t value, struct wm_event_def *def,
		    struct wm_diag *diag)
{
	uint64_t *whole = config_of(def, name);
	char terms[160], *format = NULL;
	size_t bytes;
	int err;

	if (whole) {
		*whole = value;
		return 0;
	}
	if (formats < 0 || strchr(name, '/') || *name == '.' ||
	    wm_file_read(formats, name, FILE_BYTES, &format, &bytes) < 0)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "%s has no term or event '%.60s'; its terms are %s", pmu->name,
				   name, known_terms(formats, terms, sizeof(terms)));
	format[strcspn(format, "\n")] = '\0';
	err = place_bits(format, value, def);
	free(format);
	if (err == -ERANGE)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "%s/%s/: 0x%llx is too large for the bits of this term",
				   pmu->name, name, (unsigned long long)value);
	if (err)
		return wm_diag_set(
		    diag, -EINVAL, NULL, -1,
		    "%s/%s/: the kernel's format of this term cannot be read; give the "
		    "bits as config=NUMBER",
		    pmu->name, name);
	return 0;
}

static const struct wm_pmu_event *event_named(const struct wm_pmu *pmu, const char *name)
{
	return pmu->nr_events
		   ? bsearch(&name, pmu->events, pmu->nr_events, sizeof(*pmu->events), pmu_by_name)
		   : NULL;
}

/* Sets the terms in a list. The terms of a named event cannot contain event names. */
static int set_terms(const struct wm_pmus *p, const struct wm_pmu *pmu, int formats, char *terms,
		     bool names, struct wm_event_def *def, struct wm_diag *diag)
{
	char *save = NULL;
	int err = 0;

	for (char *term = strtok_r(terms, ",", &save); term && !err;
	     term = strtok_r(NULL, ",", &save)) {
		char *equal = strchr(term, '='), copy[FILE_BYTES + 1];
		const struct wm_pmu_event *event = names && !equal ? event_named(pmu, term) : NULL;
		int64_t value = 1;

		if (event) {
			(void)snprintf(copy, sizeof(copy), "%s", event->terms);
			def->scale = event->scale;
			def->unit = event->unit;
			err = set_terms(p, pmu, formats, copy, false, def, diag);
			continue;
		}
		if (equal)
			*equal++ = '\0';
		if (equal && wm_number_parse_integer(equal, INT64_MIN, INT64_MAX, &value) < 0)
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "%s/%.40s=%.40s/: the value is not a number", pmu->name,
					   term, equal);
		err = set_term(p, pmu, formats, term, (uint64_t)value, def, diag);
	}
	return err;
}

int wm_pmu_terms(const struct wm_pmus *p, const struct wm_pmu *pmu, const char *terms,
		 struct wm_event_def *def, struct wm_diag *diag)
{
	int formats = open_pmu(p, pmu, "format"), err;
	char *copy = strdup(terms);

	def->type = pmu->type;
	err = copy ? set_terms(p, pmu, formats, copy, true, def, diag) : -ENOMEM;
	free(copy);
	if (formats >= 0)
		(void)close(formats);
	return err;
}
