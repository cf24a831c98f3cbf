/* SPDX-License-Identifier: MIT */
/*
 * growing_int.h - the state of a growing trace, shared by growing.c, which reads events, and
 * growing_file.c, which finds and reads the stream files; see growing.h.
 */
#ifndef WM_READ_CTF_GROWING_INT_H
#define WM_READ_CTF_GROWING_INT_H

#include <time.h>

#include "read/ctf/trace.h"
#include "read/growing.h"

/* A stream file. done <= packets to be returned < part.at <= part.end. */
struct wm_growing_file {
	char *name;
	struct wm_ctf_part part;
	uint64_t done;  /* offset: all packets before it have been returned */
	uint64_t fresh; /* offset: packets from here on were found by the last wm_growing_look() */
	uint64_t discarded;              /* events_discarded of the last packet */
	uint64_t free_to, index_free_to; /* offsets: the bytes before them have been freed */
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
	uint32_t *by_stream; /* file index, indexed by stream */
	const struct wm_want *want;
	struct wm_merge *merge; /* NULL before the first event and after the last one */
	bool looked;            /* there may be events to return */
	uint64_t until, given;  /* of the last wm_growing_look() and of the one before, in ticks */
	int64_t until_ns;
	uint64_t skipped; /* part of totals.skipped already subtracted from totals.events */
	struct wm_growing_totals totals;
};

/* Finds new files, and the end of the complete packets of each file. 0 or -errno. */
int wm_growing_files_list(struct wm_growing *g);
void wm_growing_files_done(struct wm_growing *g);

/*
 * Frees the disk space of the parts of the file and its index that have been read. Returns the
 * number of bytes freed.
 */
uint64_t wm_growing_file_free(struct wm_growing *g, struct wm_growing_file *f);

#endif
