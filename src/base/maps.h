/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the memory map of a process: parses /proc/PID/maps and opens the mapped files as that
 * process sees them. The process may change its map at any time: the result is a snapshot.
 */
#ifndef WM_BASE_MAPS_H
#define WM_BASE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

enum wm_map_perms {
	WM_MAP_READ = 1u << 0,
	WM_MAP_WRITE = 1u << 1,
	WM_MAP_EXEC = 1u << 2,
	WM_MAP_SHARED = 1u << 3,
};

struct wm_map {
	uint64_t start, end; /* the mapped addresses; the end is exclusive */
	uint64_t offset;     /* offset in the file */
	uint64_t inode;      /* 0: no file is mapped */
	uint32_t dev_major, dev_minor;
	uint8_t perms; /* enum wm_map_perms bits */
	bool deleted;  /* the file was unlinked; `path` is its last name */
	/*
	 * The path as the process sees it; "[stack]" and similar for special mappings; or "". The
	 * kernel writes a newline as "\012", which is decoded; it escapes no other byte here.
	 */
	const char *path;
};

struct wm_maps {
	struct wm_map *maps; /* sorted by ascending address */
	size_t nr;
	char *text; /* holds the paths */
};

#define WM_MAPS_BYTES_MAX (64u << 20)

/*
 * Returns 0; -ENOENT or -ESRCH: no such process; -EACCES or -EPERM: no permission. The result for a
 * kernel thread has no maps.
 */
int wm_maps_read(pid_t pid, struct wm_maps *ret_maps);

/*
 * Parses `text` (malloc'ed, NUL-terminated) and takes ownership of it, even on failure. Returns 0,
 * -EBADMSG or -ENOMEM.
 */
int wm_maps_parse(char *text, struct wm_maps *ret_maps, struct wm_diag *diag);

void wm_maps_done(struct wm_maps *m);

/* returns NULL when the address is not mapped */
const struct wm_map *wm_maps_find(const struct wm_maps *m, uint64_t address);

/*
 * Opens the mapped file read-only: by its name inside the process's root or, when it was deleted,
 * through /proc/PID/exe or /proc/PID/map_files (needs privileges). Returns the descriptor or
 * -errno; -ENOENT also when the mapping has no file.
 */
int wm_maps_open(pid_t pid, const struct wm_map *map);

#endif
