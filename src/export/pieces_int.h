/* SPDX-License-Identifier: MIT */
/*
 * pieces_int.h - an output that becomes several files when it grows beyond
 * what its readers can open: OUT while it is one, OUT.1, OUT.2... when there
 * are more. None has its name before all are whole.
 */
#ifndef WM_EXPORT_PIECES_INT_H
#define WM_EXPORT_PIECES_INT_H

#include "export/file.h"

#define WM_EXPORT_PIECES_MAX 512u /* each holds a descriptor until the end */

struct wm_export_pieces {
	const char *path; /* borrowed */
	bool force;
	uint64_t limit; /* bytes of one; 0: none */
	struct wm_export_file *files;
	uint32_t nr;
};

/* Begins the first one. 0 or -errno with `diag`; wm_export_pieces_done() in any case. */
int wm_export_pieces_create(struct wm_export_pieces *p, const char *path, bool force,
			    uint64_t limit, struct wm_diag *diag);

/* The one that is being written. */
static inline struct wm_export_file *wm_export_pieces_now(const struct wm_export_pieces *p)
{
	return &p->files[p->nr - 1];
}

static inline bool wm_export_pieces_full(const struct wm_export_pieces *p)
{
	return p->limit && wm_export_pieces_now(p)->bytes >= p->limit;
}

/* The one that is being written is whole; another one begins. 0 or -errno with `diag`. */
int wm_export_pieces_next(struct wm_export_pieces *p, struct wm_diag *diag);

/* All are whole, and get their names. 0 or -errno with `diag`. */
int wm_export_pieces_publish(struct wm_export_pieces *p, struct wm_diag *diag);

void wm_export_pieces_done(struct wm_export_pieces *p);

#endif
