/* SPDX-License-Identifier: MIT */
/*
 * inventory.h - which events programs have: files with their events, and groups
 * of files that belong together (a file alone, or all of a process).
 * file.c reads a file's events, memory.c those of a file
 * that no longer tells, process.c finds the files of running
 * processes. What the kernel has is in inventory_kernel.h. Not thread safe;
 * prints nothing.
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
	const struct wm_elf_symbol *function; /* of the file's symbols; NULL: unknown */
	char *source;                         /* file name; NULL: unknown */
	uint32_t line;
};

/* Descriptions of one name and the same fields are one event. */
struct wm_inventory_event {
	struct wm_class *class;
	uint32_t nr_sites;
	uint32_t nr_states;
	uint64_t *states; /* addresses in the file of its struct waymark_event_state */
	struct wm_inventory_place *places; /* nr_sites of them; NULL: not asked for */
};

struct wm_inventory_file {
	char *path;
	struct wm_elf *elf; /* NULL when it has no sites, or is known from memory */
	struct wm_elf_symbols symbols;
	struct wm_inventory_event *events; /* by name */
	uint32_t nr_events;
	uint32_t nr_bad; /* sites that could not be read; `first_bad` says why */
	struct wm_diag first_bad;
};

/*
 * Reads a file's events; takes the descriptor. `places`: where the sites are,
 * too. A file that is readable but has no sites gives no events and 0; one
 * that cannot be read gives an errno and diag, as wm_elf_open() and
 * wm_elf_sites_read().
 */
int wm_inventory_file_load(int fd, const char *path, bool places, struct wm_inventory_file **ret,
			   struct wm_diag *diag);
void wm_inventory_file_destroy(struct wm_inventory_file *f); /* accepts NULL */

/*
 * The events of a mapped file as the runtime in the process knows them, for
 * files without section headers; `map` is the file's first. No places; states
 * count from the map's start. -ENOENT: no runtime there that can be asked, and
 * diag says why.
 */
int wm_inventory_file_of_process(pid_t pid, const struct wm_maps *maps, const struct wm_map *map,
				 struct wm_inventory_file **ret, struct wm_diag *diag);

/* The provider of its events that give none. A link to a program is that program, as when it runs.
 */
void wm_inventory_provider(const char *path, char *buf, size_t size);

/* Files shown together. Borrows the files. */
struct wm_inventory_group {
	char *title; /* the file's path, or the command's */
	pid_t *pids; /* of the processes; NULL: the file alone */
	uint32_t nr_pids;
	bool runtime; /* the processes have the runtime */
	struct wm_inventory_member {
		const struct wm_inventory_file *file;
		uint32_t *on;      /* per event of the file: in how many of the pids */
		uint32_t *unknown; /* ... and in how many that could not be read */
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
	const struct wm_words *words; /* what cannot be read goes there; NULL: nowhere */
};

void wm_inventory_done(struct wm_inventory *l);

/* Takes the file. The group is the file alone when `title` is given. 0 or -ENOMEM. */
int wm_inventory_add_file(struct wm_inventory *l, struct wm_inventory_file *file,
			  const char *title);

/*
 * Adds a running process: to the group of processes that run the same files,
 * or a new one. `alone`: say what cannot be read, and add it even when there
 * is nothing in it. Returns 0, also for a process without events, or -errno.
 */
int wm_inventory_add_process(struct wm_inventory *l, pid_t pid, bool alone);

/* Adds all processes of this user (of everybody for root) that have events or the runtime. */
int wm_inventory_add_all_processes(struct wm_inventory *l);

/* Whether the rules name it; NULL: all are wanted. */
struct wm_rules;
bool wm_inventory_wants(const struct wm_rules *rules, const struct wm_class *c);

/* "marker", "span-begin"...; "info", "debug"...; "uint32", "string", "char[16]"... (returns buf).
 */
const char *wm_inventory_kind(const struct wm_class *c);
const char *wm_inventory_level(const struct wm_class *c);
const char *wm_inventory_type(const struct wm_field *f, char *buf, size_t size);

/* A sentence with the nearest names among the events found; false when there is none. */
bool wm_inventory_near(const struct wm_inventory *l, const char *glob, char *buf, size_t bytes);

#endif
