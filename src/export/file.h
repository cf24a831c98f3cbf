/* SPDX-License-Identifier: MIT */
/*
 * file.h - output files and folders: they are written as "OUT.part" and renamed to OUT when
 * complete. An existing OUT is not touched before the rename, and never without `force`. Only the
 * owner can read the output, as with recordings.
 *
 * An "OUT.part" left by a killed conversion is reused; one locked by another process is refused.
 * Write errors are sticky, so the caller checks once, at the end.
 */
#ifndef WM_EXPORT_FILE_H
#define WM_EXPORT_FILE_H

#include "base/diag.h"
#include "base/text.h"

#define WM_EXPORT_BUFFER_BYTES (256u << 10) /* bytes per write() */

struct wm_export_file {
	char *path, *part;
	int fd; /* -1: no file */
	bool force;
	uint64_t bytes; /* bytes written so far: the offset of the next one */
	int err;        /* the first error */
	struct wm_text buffer;
};

/* Returns -EEXIST with `diag` when something at the path must not be replaced. */
int wm_export_file_refuse(const char *path, bool force, struct wm_diag *diag);

/*
 * Creates the file. Returns 0, or -errno with `diag` when it exists, cannot be created, or another
 * process is writing it.
 */
int wm_export_file_create(struct wm_export_file *f, const char *path, bool force,
			  struct wm_diag *diag);

/*
 * Appends bytes. A large piece may be built in f->buffer instead; then call
 * wm_export_file_added().
 */
void wm_export_file_write(struct wm_export_file *f, const void *data, size_t bytes);

/*
 * Updates f->bytes and writes a full buffer. `before` is buffer.bytes before
 * the caller's additions.
 */
void wm_export_file_added(struct wm_export_file *f, size_t before);

/* Overwrites bytes that were written before. */
void wm_export_file_patch(struct wm_export_file *f, uint64_t at, const void *data, size_t bytes);

/* Writes the rest of the buffer and syncs. 0 or the first error. Does not rename the file. */
int wm_export_file_flush(struct wm_export_file *f);

/* Flushes, then renames the file to its final name. 0 or -errno with `diag`. */
int wm_export_file_publish(struct wm_export_file *f, struct wm_diag *diag);

/* Releases the file, and removes it if it was not published. A zeroed struct is allowed. */
void wm_export_file_done(struct wm_export_file *f);

/*
 * An output folder, with functions like those for a file. `fd` is open on the folder. With `force`,
 * an existing folder is replaced if everything in it is a CTF trace.
 */
struct wm_export_folder {
	const char *asked; /* the caller's path, for messages; it must stay valid */
	char *path, *part;
	int fd;
	bool force;
};
int wm_export_folder_create(struct wm_export_folder *f, const char *path, bool force,
			    struct wm_diag *diag);
int wm_export_folder_publish(struct wm_export_folder *f, struct wm_diag *diag);
void wm_export_folder_done(struct wm_export_folder *f);

/*
 * Returns the name of the n-th piece (from 1) of a split output: "x.json" becomes "x.2.json", "x"
 * becomes "x.2". malloc'ed; NULL: no memory.
 */
char *wm_export_piece_path(const char *path, uint32_t n);

#endif
