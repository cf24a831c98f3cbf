/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what waymark can do on this machine, for this user, now: each
 * capability is tried, not guessed from settings, and one that does not work
 * says why and what would make it work. Leaves nothing behind: what is tried
 * is tried in a child, on memory of its own, or in a tracing instance that is
 * removed at once. Prints nothing.
 */
#ifndef WM_CONTROL_DOCTOR_H
#define WM_CONTROL_DOCTOR_H

#include <stddef.h>

enum wm_works {
	WM_WORKS_YES,
	WM_WORKS_PARTLY,
	WM_WORKS_NO,
};

#define WM_CHECK_TEXT 240u

struct wm_check {
	const char *group; /* "Programs", "Events of the kernel" ... */
	const char *id;    /* for programs: "uprobes" */
	const char *name;  /* for people: what it is good for */
	enum wm_works works;
	char detail[WM_CHECK_TEXT]; /* what was found */
	char cure[WM_CHECK_TEXT];   /* "": nothing to do, or nothing can be done */
};

/* Tries everything. free() the checks. 0 or -ENOMEM. */
int wm_doctor(struct wm_check **ret_checks, size_t *ret_nr);

#endif
