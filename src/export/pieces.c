/* SPDX-License-Identifier: MIT */
/* pieces.c - see pieces_int.h. */
#include "export/pieces_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int pieces_add(struct wm_export_pieces *p, const char *path, struct wm_diag *diag)
{
	struct wm_export_file *more = realloc(p->files, (p->nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	p->files = more;
	return wm_export_file_create(&more[p->nr++], path, p->force, diag);
}

int wm_export_pieces_create(struct wm_export_pieces *p, const char *path, bool force,
			    uint64_t limit, struct wm_diag *diag)
{
	*p = (struct wm_export_pieces){.path = path, .force = force, .limit = limit};
	return pieces_add(p, path, diag);
}

/* Gives the first piece a number in its name when a second one begins. */
static int number_first(struct wm_export_pieces *p, struct wm_diag *diag)
{
	char *path = wm_export_piece_path(p->path, 1);
	int err = path ? wm_export_file_refuse(path, p->force, diag) : -ENOMEM;

	if (err) {
		free(path);
		return err;
	}
	free(p->files[0].path);
	p->files[0].path = path;
	return 0;
}

int wm_export_pieces_next(struct wm_export_pieces *p, struct wm_diag *diag)
{
	struct wm_export_file *now = wm_export_pieces_now(p);
	int err = wm_export_file_flush(now);
	char *path;

	if (err)
		return wm_diag_set(diag, err, now->path, -1, "%s", strerror(-err));
	wm_text_done(&now->buffer);
	if (p->nr == WM_EXPORT_PIECES_MAX)
		return wm_diag_set(diag, -EFBIG, p->path, -1,
				   "the output needs more than %u files; allow larger ones with "
				   "--split-size, or choose fewer events",
				   WM_EXPORT_PIECES_MAX);
	if (p->nr == 1)
		err = number_first(p, diag);
	if (err)
		return err;
	path = wm_export_piece_path(p->path, p->nr + 1);
	err = path ? pieces_add(p, path, diag) : -ENOMEM;
	free(path);
	return err;
}

int wm_export_pieces_publish(struct wm_export_pieces *p, struct wm_diag *diag)
{
	int err = wm_export_file_flush(wm_export_pieces_now(p));

	for (uint32_t i = 0; i < p->nr && !err; i++)
		err = wm_export_file_publish(&p->files[i], diag);
	return err;
}

void wm_export_pieces_done(struct wm_export_pieces *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		wm_export_file_done(&p->files[i]);
	free(p->files);
	*p = (struct wm_export_pieces){0};
}
