/* SPDX-License-Identifier: MIT */
/* proc_event_test_kit.h - looks up the events of /proc by name, for tests. */
#ifndef WM_KDATA_PROC_EVENT_TEST_KIT_H
#define WM_KDATA_PROC_EVENT_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kdata/proc_text.h"

static inline const struct wm_proc_event *kit_proc_event(const char *name)
{
	const struct wm_proc_event *e;

	for (size_t i = 0; (e = wm_kproc_event(i)); i++)
		if (!strcmp(e->name, name))
			return e;
	fail_msg("no event %s", name);
	return NULL;
}

#endif
