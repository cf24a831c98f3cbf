/* SPDX-License-Identifier: MIT */
/* exit.h - exit statuses, the same for every verb (doc/man/waymark.1). */
#ifndef WM_CMD_EXIT_H
#define WM_CMD_EXIT_H

#include <errno.h>

enum wm_exit {
	WM_EXIT_DONE = 0,
	WM_EXIT_FAILED = 1,
	WM_EXIT_USAGE = 2,         /* wrong option or argument */
	WM_EXIT_NOT_PERMITTED = 3, /* the hint was printed */
	WM_EXIT_NO_MATCH = 4,      /* nothing matched; the closest names were printed */
	WM_EXIT_INCOMPLETE = 5,    /* done, but data is missing; what and why was printed */

	/* With a command, the exit status is the command's, 128 + signal, or one of these: */
	WM_EXIT_BEFORE_COMMAND = 125,
	WM_EXIT_CANNOT_RUN = 126,
	WM_EXIT_NOT_FOUND = 127,
	WM_EXIT_SIGNAL_BASE = 128,
};

/* The status for an operation that failed with a negative errno. */
static inline enum wm_exit wm_exit_of(int err)
{
	return err == -EACCES || err == -EPERM ? WM_EXIT_NOT_PERMITTED : WM_EXIT_FAILED;
}

#endif
