/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - tests what waymark can do on this machine for this user. Each facility is tried, not
 * inferred from settings; one that does not work gets a reason and a cure. Leaves nothing behind:
 * the tests run in a child, on their own memory, or in a tracing instance that is removed at once.
 * Prints nothing.
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
	const char *group; /* for example "Programs" or "Kernel events" */
	const char *id;    /* fixed name, for programs that read the result, such as "uprobes" */
	const char *name;  /* name for users */
	enum wm_works works;
	char detail[WM_CHECK_TEXT]; /* the result of the test */
	char cure[WM_CHECK_TEXT];   /* "": no cure is needed, or none is possible */
};

/* Runs all checks; the caller frees the array. Returns 0 or -ENOMEM. */
int wm_doctor(struct wm_check **ret_checks, size_t *ret_nr);

#endif
