/* SPDX-License-Identifier: MIT */
/*
 * file.h - files and folders that are being made: "OUT.part" until they
 * are whole, then OUT. What is there under OUT is not touched before, and not
 * at all without `force`. Readable by their maker alone, as recordings are.
 *
 * A "OUT.part" that a killed conversion left is taken over; one that another
 * process holds (its lock says so) is refused. Errors are remembered: who
 * writes asks once, at the end.
 */
#ifndef WM_EXPORT_FILE_H
#define WM_EXPORT_FILE_H

#include "base/diag.h"
#include "base/text.h"

#define WM_EXPORT_BUFFER_BYTES (256u << 10) /* written at once */

struct wm_export_file {
	char *path, *part;
	int fd; /* -1: none */
	bool force;
	uint64_t bytes; /* written so far: where the next byte goes */
	int err;        /* the first one; sticky */
	struct wm_text buffer;
};

/* -EEXIST with `diag` when the name is taken by what is not to be replaced. */
int wm_export_file_refuse(const char *path, bool force, struct wm_diag *diag);

/* 0 or -errno with `diag`: it is there, it cannot be made, another one makes it. */
int wm_export_file_create(struct wm_export_file *f, const char *path, bool force,
			  struct wm_diag *diag);

/* Adds bytes. A large piece may be built in f->buffer instead, then wm_export_file_added(). */
void wm_export_file_write(struct wm_export_file *f, const void *data, size_t bytes);

/* Writes the buffer when it is full; f->bytes is right again. `before` is buffer.bytes' of then. */
void wm_export_file_added(struct wm_export_file *f, size_t before);

/* Replaces bytes that were written already. */
void wm_export_file_patch(struct wm_export_file *f, uint64_t at, const void *data, size_t bytes);

/* Writes what is left, syncs. 0 or the first error. The name comes with publish(). */
int wm_export_file_flush(struct wm_export_file *f);

/* Flushes, and gives the file its name. 0 or -errno with `diag`. */
int wm_export_file_publish(struct wm_export_file *f, struct wm_diag *diag);

/* Releases it; what was not published is removed. Of zeros: nothing. */
void wm_export_file_done(struct wm_export_file *f);

/* The same for a folder of files; `fd` is the folder. A folder that is there is never replaced. */
struct wm_export_folder {
	char *path, *part;
	int fd;
};
int wm_export_folder_create(struct wm_export_folder *f, const char *path, struct wm_diag *diag);
int wm_export_folder_publish(struct wm_export_folder *f, struct wm_diag *diag);
void wm_export_folder_done(struct wm_export_folder *f);

/*
 * The name of the n-th piece (from 1) of a split output: "x.json" becomes
 * "x.2.json", "x" becomes "x.2". malloc'ed; NULL: no memory.
 */
char *wm_export_piece_path(const char *path, uint32_t n);

#endif
