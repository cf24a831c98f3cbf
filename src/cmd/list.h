/* SPDX-License-Identifier: MIT */
/*
 * list.h - what `waymark list` shows: files with their events, and groups of
 * files that are shown together (a file alone, or all of a process). Private
 * to list.c (what to show), list_file.c (a file's events), list_memory.c (those
 * of a file that no longer tells), list_process.c (running processes) and
 * list_print.c (text and JSON).
 */
#ifndef WM_CMD_LIST_H
#define WM_CMD_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/maps.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "event/class.h"

/* One site of an event. */
struct wm_list_place {
	uint64_t address;                     /* in the file; 0: unknown (a load+test site) */
	const struct wm_elf_symbol *function; /* of the file's symbols; NULL: unknown */
	char *source;                         /* file name; NULL: unknown */
	uint32_t line;
};

/* Descriptions of one name and the same fields are one event. */
struct wm_list_event {
	struct wm_class *class;
	uint32_t nr_sites;
	uint32_t nr_states;
	uint64_t *states;             /* addresses in the file of its struct waymark_event */
	struct wm_list_place *places; /* nr_sites of them; NULL: not asked for */
};

struct wm_list_file {
	char *path;
	struct wm_elf *elf; /* NULL when it has no sites, or is known from memory */
	struct wm_elf_symbols symbols;
	struct wm_list_event *events; /* by name */
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
int wm_list_file_load(int fd, const char *path, bool places, struct wm_list_file **ret,
		      struct wm_diag *diag);
void wm_list_file_destroy(struct wm_list_file *f); /* accepts NULL */

/*
 * The events of a mapped file as the runtime in the process knows them, for
 * files without section headers; `map` is the file's first. No places; states
 * count from the map's start. -ENOENT: no runtime there that can be asked, and
 * diag says why.
 */
int wm_list_file_of_process(pid_t pid, const struct wm_maps *maps, const struct wm_map *map,
			    struct wm_list_file **ret, struct wm_diag *diag);

/* The provider of its events that give none. A link to a program is that program, as when it runs.
 */
void wm_list_provider(const char *path, char *buf, size_t size);

/* Files shown together. Borrows the files. */
struct wm_list_group {
	char *title; /* the file's path, or the command's */
	pid_t *pids; /* of the processes; NULL: the file alone */
	uint32_t nr_pids;
	bool runtime; /* the processes have the runtime */
	struct wm_list_member {
		const struct wm_list_file *file;
		uint32_t *on;      /* per event of the file: in how many of the pids */
		uint32_t *unknown; /* ... and in how many that could not be read */
	} * members;
	uint32_t nr_members;
};

struct wm_list {
	bool fields; /* types, print forms, places */
	struct wm_list_file **files;
	uint32_t nr_files;
	struct wm_list_group *groups;
	uint32_t nr_groups;
	struct wm_seen *seen; /* list_process.c: files by inode */
	uint32_t nr_seen;
};

void wm_list_done(struct wm_list *l);

/* Takes the file. The group is the file alone when `title` is given. 0 or -ENOMEM. */
int wm_list_add_file(struct wm_list *l, struct wm_list_file *file, const char *title);

/*
 * Adds a running process: to the group of processes that run the same files,
 * or a new one. `alone`: say what cannot be read, and add it even when there
 * is nothing in it. Returns 0, also for a process without events, or -errno.
 */
int wm_list_add_process(struct wm_list *l, pid_t pid, bool alone);

/* Adds all processes of this user (of everybody for root) that have events or the runtime. */
int wm_list_add_all_processes(struct wm_list *l);

/* Which events are wanted. */
struct wm_rules;
bool wm_list_wants(const struct wm_rules *rules, const struct wm_class *c);

/*
 * Both return the number of events printed. `rules` NULL: all. JSON goes into
 * an open array.
 */
struct wm_json;
uint32_t wm_list_print_text(const struct wm_list *l, const struct wm_rules *rules);
uint32_t wm_list_print_json(const struct wm_list *l, const struct wm_rules *rules,
			    struct wm_json *j);

#endif
