/* SPDX-License-Identifier: MIT */
/*
 * trace_file.h - the stream files of a trace directory: which there are, and
 * where the whole packets in each are. Reads with pread into own memory: a
 * file that shrinks underneath gives an error, never a signal.
 */
#ifndef WM_FORMAT_TRACE_FILE_H
#define WM_FORMAT_TRACE_FILE_H

#include <stdint.h>

#include "format/trace_plan.h"

#define WM_TRACE_FILES_MAX 65536u

/* Told of each bad place; `offset` and `diag->sentence` say where and why. */
struct wm_fault_sink {
	void (*fault)(void *data, const char *file, uint64_t offset, const char *reason);
	void *data;
};

struct wm_stream_file {
	char *name;
	uint64_t bytes;      /* of the file when it was opened */
	uint64_t good_bytes; /* end of the last whole packet */
	uint64_t holes;      /* bad bytes before good_bytes */
	uint64_t *packets;   /* offsets of whole packets */
	uint32_t nr_packets;
	struct wm_frame first; /* of the first whole packet */
};

/* What a walk over the frames adds up. */
struct wm_packet_visit {
	void (*packet)(void *data, const struct wm_frame *f); /* NULL: none */
	void *data;
};

/* Names of the stream files of `dirfd`, sorted; free() each and the list. Count or -errno. */
int wm_stream_files_list(int dirfd, char ***ret_names);

/*
 * Index files of packets whose stream file is gone: fn gets the stream file's name and how many
 * packets there were. A folder without an index has none.
 */
void wm_stream_files_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
			  void *data);

/* Opens a regular file there. Descriptor or -errno. */
int wm_stream_file_open(int dirfd, const char *name, uint64_t *ret_bytes);

/*
 * Finds all whole packets of the file called `name`; faults go to `sink`, and
 * reading goes on at the next packet that can be found. 0 or -errno.
 */
int wm_stream_file_index(const struct wm_plan *p, int dirfd, const char *name,
			 const struct wm_fault_sink *sink, const struct wm_packet_visit *visit,
			 struct wm_stream_file *ret);
void wm_stream_file_done(struct wm_stream_file *f);

/*
 * Reads `bytes` at `offset`; -ENODATA when the file ends before, else -errno.
 */
int wm_pread_all(int fd, void *buffer, size_t bytes, uint64_t offset);

#endif
