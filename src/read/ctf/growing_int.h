/* SPDX-License-Identifier: MIT */
/*
 * growing_int.h - what growing.c (looks and events) and growing_file.c (names
 * and bytes of files) share; see growing.h.
 */
#ifndef WM_READ_CTF_GROWING_INT_H
#define WM_READ_CTF_GROWING_INT_H

#include <time.h>

#include "read/ctf/trace.h"
#include "read/growing.h"

/* A stream file. done <= what waits to be given < part.at <= part.end. */
struct wm_growing_file {
	char *name;
	struct wm_ctf_part part;
	uint64_t done;                   /* everything before was given */
	uint64_t fresh;                  /* packets from there on are of the last look */
	uint64_t discarded;              /* events_discarded of the last packet */
	uint64_t free_to, index_free_to; /* bytes before are no more */
};

struct wm_merge;

struct wm_growing {
	char *dir;
	int dirfd;
	bool give_back;
	struct wm_trace *trace, *before;
	size_t arena_limit;
	ino_t metadata_ino;
	off_t metadata_bytes;
	struct timespec metadata_time;
	struct wm_growing_file *files;
	uint32_t nr_files;
	uint32_t *by_stream; /* index of the file, by the stream's */
	const struct wm_want *want;
	struct wm_merge *merge; /* NULL: not begun, or over */
	bool looked;            /* there may be events to give */
	uint64_t until, given;  /* ticks: of this look, and of the one before */
	int64_t until_ns;
	uint64_t skipped; /* totals.skipped that totals.events does not hold */
	struct wm_growing_totals totals;
};

/* Finds new files, and the end of the whole packets of all. 0 or -errno. */
int wm_growing_files_list(struct wm_growing *g);
void wm_growing_files_done(struct wm_growing *g);

/* Gives back what was read of the file and its index. How many bytes. */
uint64_t wm_growing_file_free(struct wm_growing *g, struct wm_growing_file *f);

#endif
