/* SPDX-License-Identifier: MIT */
/*
 * inventory.h - lists program events: files with their events, and groups of files that belong
 * together (a single file, or all files of a process). file.c reads a file's events, memory.c those
 * of a file without section headers, process.c finds the files of running processes. Kernel events
 * are in inventory_kernel.h. Not thread-safe; prints nothing.
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

/* One of an event's sites. */
struct wm_inventory_place {
	/* Address in the file; 0: unknown (a load+test site) */
	uint64_t address;
	const struct wm_elf_symbol *function; /* a symbol in the file; NULL: unknown */
	char *source;                         /* the source file's name; NULL: unknown */
	uint32_t line;
};

/* An event: all descriptions with the same name and fields. */
struct wm_inventory_event {
	struct wm_class *class;
	uint32_t nr_sites;
	uint32_t nr_states;
	/* Addresses, in the file, of the event's struct waymark_event_state. */
	uint64_t *states;
	struct wm_inventory_place *places; /* an array of nr_sites places; NULL: not requested */
};

struct wm_inventory_file {
	char *path;
	struct wm_elf *elf; /* NULL if the file has no sites, or was read from memory */
	struct wm_elf_symbols symbols;
	struct wm_inventory_event *events; /* sorted by name */
	uint32_t nr_events;
	uint32_t nr_bad; /* number of sites that could not be read; `first_bad` has the reason */
	struct wm_diag first_bad;
};

/*
 * Reads a file's events; takes ownership of the descriptor. With `places`, also finds the sites'
 * places. Returns 0 with no events for a readable file without sites; for an unreadable one, an
 * errno and diag as from wm_elf_open() and wm_elf_sites_read().
 */
int wm_inventory_file_load(int fd, const char *path, bool places, struct wm_inventory_file **ret,
			   struct wm_diag *diag);
void wm_inventory_file_destroy(struct wm_inventory_file *f); /* accepts NULL */

/*
 * Reads a mapped file's events from the process's runtime, for files without section headers; `map`
 * is the file's first mapping. Finds no places; states are relative to the start of the mapping.
 * Returns -ENOENT with diag if the process has no accessible runtime.
 */
int wm_inventory_file_of_process(pid_t pid, const struct wm_maps *maps, const struct wm_map *map,
				 struct wm_inventory_file **ret, struct wm_diag *diag);

/*
 * The provider for events that declare none. If the path is a symlink to a program, it is derived
 * from the program's name, as when the program runs.
 */
void wm_inventory_provider(const char *path, char *buf, size_t size);

/* Files that are shown together. Borrows the files. */
struct wm_inventory_group {
	char *title; /* the file's path, or the command's */
	pid_t *pids; /* the group's processes; NULL for a single file */
	uint32_t nr_pids;
	bool runtime; /* the processes contain the runtime */
	struct wm_inventory_member {
		const struct wm_inventory_file *file;
		/* For each of the file's events: the number of processes in which it is enabled. */
		uint32_t *on;
		uint32_t *unknown; /* for each event: number of processes that could not be read */
	} * members;
	uint32_t nr_members;
};

struct wm_inventory {
	bool fields; /* also read types, print forms and places */
	struct wm_inventory_file **files;
	uint32_t nr_files;
	struct wm_inventory_group *groups;
	uint32_t nr_groups;
	struct wm_seen *seen; /* process.c: the files seen, by inode */
	uint32_t nr_seen;
	const struct wm_words *words; /* receives messages about unreadable files; NULL: none */
};

void wm_inventory_done(struct wm_inventory *l);

/*
 * Adds a file and takes ownership of it. With a `title`, also creates a group for this file alone.
 * Returns 0 or -ENOMEM.
 */
int wm_inventory_add_file(struct wm_inventory *l, struct wm_inventory_file *file,
			  const char *title);

/*
 * Adds a running process to the group of processes that run the same files, or to a new group. With
 * `alone`, reports what cannot be read, and adds the process even if it has no events. Returns 0,
 * even if the process has no events, or -errno.
 */
int wm_inventory_add_process(struct wm_inventory *l, pid_t pid, bool alone);

/* Adds all of this user's processes (for root, all users') that have events or the runtime. */
int wm_inventory_add_all_processes(struct wm_inventory *l);

/* Whether the rules select the event; without rules (NULL) all events are selected. */
struct wm_rules;
bool wm_inventory_wants(const struct wm_rules *rules, const struct wm_class *c);

/*
 * Names shown to users for kinds ("marker", "span-begin"), levels ("info", "debug") and types
 * ("uint32", "string", "char[16]"; written to buf, which is returned).
 */
const char *wm_inventory_kind(const struct wm_class *c);
const char *wm_inventory_level(const struct wm_class *c);
const char *wm_inventory_type(const struct wm_field *f, char *buf, size_t size);

/*
 * Writes a sentence with the names of the events nearest to the glob; returns false if there are
 * none.
 */
bool wm_inventory_near(const struct wm_inventory *l, const char *glob, char *buf, size_t bytes);

#endif
