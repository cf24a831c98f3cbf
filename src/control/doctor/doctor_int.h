/* SPDX-License-Identifier: MIT */
/* doctor_int.h - private to doctor.c, program.c and kernel.c. */
#ifndef WM_CONTROL_DOCTOR_DOCTOR_INT_H
#define WM_CONTROL_DOCTOR_DOCTOR_INT_H

#include "control/doctor.h"
#include "kernel/event_space.h"
#include "kernel/privilege.h"

struct wm_doctor {
	struct wm_event_space space;
	struct wm_privilege privilege;
	char root[sizeof(((struct wm_check *)0)->cure)]; /* see wm_check_root() */
};

struct wm_doctor_check {
	const char *group, *id, *name;
	void (*run)(struct wm_doctor *d, struct wm_check *c);
};

/* Each array ends with an entry that has no name. */
extern const struct wm_doctor_check wm_doctor_programs[], wm_doctor_kernel[];

/* Set the result and, for "no" and "partly", the cure ("": none). */
void wm_check_yes(struct wm_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void wm_check_no(struct wm_check *c, enum wm_works works, const char *cure, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * The cure that begins with running as root (in a user namespace: outside of it) and goes on with
 * `more`. Valid until the next call.
 */
const char *wm_check_root(struct wm_doctor *d, const char *more);

#endif
