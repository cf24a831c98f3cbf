/* SPDX-License-Identifier: MIT */
/*
 * inventory.h - which events programs have: files with their events, and groups of files that
 * belong together (a single file, or all files of a process). file.c reads a file's events,
 * memory.c those of a file without section headers, process.c finds the files of running processes.
 * Kernel events are in inventory_kernel.h. Not thread safe; prints nothing.
 */
#ifndef WM_CONTROL_INVENTORY_H
#define WM_CONTROL_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/maps.h"
#include "base/words.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "event/class.h"

/* One site of an event. */
struct wm_inventory_place {
	uint64_t address;                     /* in the file; 0: unknown (a load+test site) */
	const struct wm_elf_symbol *function; /* one of the file's symbols; NULL: unknown */
	char *source;                         /* file name; NULL: unknown */
	uint32_t line;
};

/* Descriptions with the same name and fields are one event. */
struct wm_inventory_event {
	struct wm_class *class;
	uint32_t nr_sites;
	uint32_t nr_states;
	uint64_t *states;                  /* file addresses of its struct waymark_event_state */
	struct wm_inventory_place *places; /* nr_sites of them; NULL: not requested */
};

struct wm_inventory_file {
	char *path;
	struct wm_elf *elf; /* NULL if it has no sites, or was read from memory */
	struct wm_elf_symbols symbols;
	struct wm_inventory_event *events; /* sorted by name */
	uint32_t nr_events;
	uint32_t nr_bad; /* sites that could not be read; `first_bad` has the reason */
	struct wm_diag first_bad;
};

/*
 * Reads a file's events; takes ownership of the descriptor. `places`: also finds the sites' places.
 * A readable file without sites gives no events and 0; an unreadable one gives an errno and diag,
 * as wm_elf_open() and wm_elf_sites_read().
 */
int wm_inventory_file_load(int fd, const char *path, bool places, struct wm_inventory_file **ret,
			   struct wm_diag *diag);
void wm_inventory_file_destroy(struct wm_inventory_file *f); /* accepts NULL */

/*
 * The events of a mapped file as registered in the process's runtime, for files without section
 * headers; `map` is the file's first. No places; states are relative to the map's start. -ENOENT
 * with diag: the process has no accessible runtime.
 */
int wm_inventory_file_of_process(pid_t pid, const struct wm_maps *maps, const struct wm_map *map,
				 struct wm_inventory_file **ret, struct wm_diag *diag);

/*
 * The provider of events that declare none. A link to a program yields the program's name, as when
 * it runs.
 */
void wm_inventory_provider(const char *path, char *buf, size_t size);

/* Files displayed together. Borrows the files. */
struct wm_inventory_group {
	char *title; /* the file's path, or the command's */
	pid_t *pids; /* of the processes; NULL: a single file */
	uint32_t nr_pids;
	bool runtime; /* the processes have the runtime */
	struct wm_inventory_member {
		const struct wm_inventory_file *file;
		uint32_t *on;      /* per event of the file: number of pids in which it is on */
		uint32_t *unknown; /* ... and number of pids that could not be read */
	} * members;
	uint32_t nr_members;
};

struct wm_inventory {
	bool fields; /* types, print forms, places */
	struct wm_inventory_file **files;
	uint32_t nr_files;
	struct wm_inventory_group *groups;
	uint32_t nr_groups;
	struct wm_seen *seen; /* process.c: files by inode */
	uint32_t nr_seen;
	const struct wm_words *words; /* messages about unreadable files; NULL: none */
};

void wm_inventory_done(struct wm_inventory *l);

/*
 * Takes ownership of the file. With a `title`, also makes a group of the file alone. 0 or -ENOMEM.
 */
int wm_inventory_add_file(struct wm_inventory *l, struct wm_inventory_file *file,
			  const char *title);

/*
 * Adds a running process: to the group of processes that run the same files, or to a new one.
 * `alone`: report what cannot be read, and add the process even if it has no events. Returns 0,
 * also for a process without events, or -errno.
 */
int wm_inventory_add_process(struct wm_inventory *l, pid_t pid, bool alone);

/* Adds all processes of this user (for root, of all users) that have events or the runtime. */
int wm_inventory_add_all_processes(struct wm_inventory *l);

/* Whether the rules select it; NULL: all are selected. */
struct wm_rules;
bool wm_inventory_wants(const struct wm_rules *rules, const struct wm_class *c);

/* "marker", "span-begin"...; "info", "debug"...; "uint32", "string", "char[16]"... (returns buf).
 */
const char *wm_inventory_kind(const struct wm_class *c);
const char *wm_inventory_level(const struct wm_class *c);
const char *wm_inventory_type(const struct wm_field *f, char *buf, size_t size);

/* Writes a sentence with the nearest names among the events found; false if there are none. */
bool wm_inventory_near(const struct wm_inventory *l, const char *glob, char *buf, size_t bytes);

#endif
