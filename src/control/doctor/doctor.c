/* SPDX-License-Identifier: MIT */
/* doctor.c - runs all checks; see doctor.h. */
#include "control/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/doctor/doctor_int.h"

void wm_check_yes(struct wm_check *c, const char *fmt, ...)
{
	va_list args;

	c->works = WM_WORKS_YES;
	va_start(args, fmt);
	(void)vsnprintf(c->detail, sizeof(c->detail), fmt, args);
	va_end(args);
}

void wm_check_no(struct wm_check *c, enum wm_works works, const char *cure, const char *fmt, ...)
{
	va_list args;

	c->works = works;
	(void)snprintf(c->cure, sizeof(c->cure), "%s", cure);
	va_start(args, fmt);
	(void)vsnprintf(c->detail, sizeof(c->detail), fmt, args);
	va_end(args);
}

const char *wm_check_root(struct wm_doctor *d, const char *more)
{
	(void)snprintf(d->root, sizeof(d->root), "%s%s", wm_privilege_hint(&d->privilege), more);
	return d->root;
}

static size_t doctor_count(const struct wm_doctor_check *table)
{
	size_t nr = 0;

	while (table[nr].name)
		nr++;
	return nr;
}

static void run_table(struct wm_doctor *d, const struct wm_doctor_check *table,
		      struct wm_check *checks)
{
	for (size_t i = 0; table[i].name; i++) {
		checks[i] = (struct wm_check){
		    .group = table[i].group, .id = table[i].id, .name = table[i].name};
		table[i].run(d, &checks[i]);
	}
}

int wm_doctor(struct wm_check **ret_checks, size_t *ret_nr)
{
	size_t nr_programs = doctor_count(wm_doctor_programs),
	       nr_kernel = doctor_count(wm_doctor_kernel);
	struct wm_check *checks = calloc(nr_programs + nr_kernel, sizeof(*checks));
	struct wm_doctor d;
	int err;

	if (!checks)
		return -ENOMEM;
	err = wm_event_space_open(&d.space, NULL);
	if (err < 0) {
		free(checks);
		return err;
	}
	wm_privilege_read(&d.privilege);
	run_table(&d, wm_doctor_programs, checks);
	run_table(&d, wm_doctor_kernel, checks + nr_programs);
	wm_event_space_close(&d.space);
	*ret_checks = checks;
	*ret_nr = nr_programs + nr_kernel;
	return 0;
}
