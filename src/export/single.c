/* SPDX-License-Identifier: MIT */
/* single.c - see single_int.h. */
#include "export/single_int.h"

#include <errno.h>
#include <string.h>

int wm_export_single_open(struct wm_export *x, struct wm_export_file *out, const char *limit,
			  int (*begin)(struct wm_export *x, struct wm_diag *diag),
			  struct wm_diag *diag)
{
	int err;

	if (x->nr_traces > 1)
		return wm_diag_set(diag, -EINVAL, x->traces[1]->path, -1,
				   "%s; convert one trace at a time", limit);
	err = wm_export_file_create(out, x->options.path, x->options.force, diag);
	if (err)
		return err;
	if (diag)
		diag->sentence[0] = '\0';
	err = begin(x, diag);
	if (err && diag && !diag->sentence[0])
		(void)wm_diag_set(diag, err, x->options.path, -1, "%s", strerror(-err));
	return err;
}

int wm_export_single_finish(struct wm_export *x, struct wm_export_file *out, int err,
			    struct wm_diag *diag)
{
	if (err)
		return wm_diag_set(diag, err, x->options.path, -1, "cannot be written: %s",
				   strerror(-err));
	return wm_export_file_publish(out, diag);
}
