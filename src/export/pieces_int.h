/* SPDX-License-Identifier: MIT */
/*
 * pieces_int.h - an output that is split into several files when it becomes too large for its
 * readers: a single file is called OUT, several are called OUT.1, OUT.2... No file gets its name
 * before all are complete.
 */
#ifndef WM_EXPORT_PIECES_INT_H
#define WM_EXPORT_PIECES_INT_H

#include "export/file.h"

#define WM_EXPORT_PIECES_MAX 512u /* each keeps a descriptor open until the end */

struct wm_export_pieces {
	const char *path; /* borrowed */
	bool force;
	uint64_t limit; /* bytes per file; 0: no limit */
	struct wm_export_file *files;
	uint32_t nr;
};

/* Creates the first file. 0 or -errno with `diag`; call wm_export_pieces_done() in either case. */
int wm_export_pieces_create(struct wm_export_pieces *p, const char *path, bool force,
			    uint64_t limit, struct wm_diag *diag);

/* Returns the file being written. */
static inline struct wm_export_file *wm_export_pieces_now(const struct wm_export_pieces *p)
{
	return &p->files[p->nr - 1];
}

static inline bool wm_export_pieces_full(const struct wm_export_pieces *p)
{
	return p->limit && wm_export_pieces_now(p)->bytes >= p->limit;
}

/* Completes the current file and begins another one. 0 or -errno with `diag`. */
int wm_export_pieces_next(struct wm_export_pieces *p, struct wm_diag *diag);

/* Completes all files and gives them their names. 0 or -errno with `diag`. */
int wm_export_pieces_publish(struct wm_export_pieces *p, struct wm_diag *diag);

void wm_export_pieces_done(struct wm_export_pieces *p);

#endif
