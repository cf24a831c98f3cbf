/* SPDX-License-Identifier: MIT */
/*
 * diag.c - fills a struct wm_diag. Uses vsnprintf, so it is not for guest code.
 */
#include "base/diag.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int err;
	const char *words;
} hints[] = {
    {EACCES, "Permission denied; run as root, or as a user with permission"},
    {EPERM, "Operation not permitted; run as root (root of a container may not be enough)"},
    {EMFILE, "Too many open files; raise the limit of open files with 'ulimit -n'"},
    {ENFILE,
     "Too many open files in system; as root: raise the limit with 'sysctl fs.file-max=NUMBER'"},
    {ENOSPC, "No space left on device; free some space, or write to another disk"},
    {EDQUOT, "Disk quota exceeded; free some space, or write to another disk"},
    {EROFS, "Read-only file system; write to another folder"},
    {EFBIG, "File too large; raise the file size limit with 'ulimit -f'"},
    {ENOMEM, "Cannot allocate memory; free some memory, or raise the limit with 'ulimit -v'"},
};

const char *wm_diag_errno(int err)
{
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (hints[i].err == -err)
			return hints[i].words;
	}
	return strerror(-err);
}

/*
 * Appends the hint to a sentence that ends with the errno's description, such as "cannot open the
 * folder: Permission denied".
 */
static void add_hint(struct wm_diag *d, int err)
{
	const char *bare = strerror(-err);
	size_t bytes = strlen(d->sentence), tail = strlen(bare);

	if (bytes < tail || strcmp(d->sentence + bytes - tail, bare) != 0)
		return;
	(void)snprintf(d->sentence + bytes - tail, sizeof(d->sentence) - (bytes - tail), "%s",
		       wm_diag_errno(err));
}

int wm_diag_set(struct wm_diag *d, int err, const char *where, int64_t offset, const char *fmt, ...)
{
	va_list args;

	if (!d)
		return err;
	memset(d, 0, sizeof(*d));
	d->where = where;
	d->offset = offset;
	va_start(args, fmt);
	/* A sentence that is too long is truncated. */
	(void)vsnprintf(d->sentence, sizeof(d->sentence), fmt, args);
	va_end(args);
	add_hint(d, err);
	return err;
}

void wm_diag_keep(struct wm_diag *d)
{
	if (!d || !d->where || d->where == d->kept)
		return;
	(void)snprintf(d->kept, sizeof(d->kept), "%s", d->where);
	d->where = d->kept;
}
