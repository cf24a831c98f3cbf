/* SPDX-License-Identifier: MIT */
/*
 * diag.c - fills a struct wm_diag. Relies on vsnprintf alone, so it is not
 * for guest code; knows nothing of who reads the sentence.
 */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

int wm_diag_set(struct wm_diag *d, int err, const char *where, int64_t offset, const char *fmt, ...)
{
	va_list args;

	if (!d)
		return err;
	memset(d, 0, sizeof(*d));
	d->where = where;
	d->offset = offset;
	va_start(args, fmt);
	(void)vsnprintf(d->sentence, sizeof(d->sentence), fmt, args); /* cut when too long */
	va_end(args);
	return err;
}

void wm_diag_keep(struct wm_diag *d)
{
	if (!d || !d->where || d->where == d->kept)
		return;
	(void)snprintf(d->kept, sizeof(d->kept), "%s", d->where);
	d->where = d->kept;
}
