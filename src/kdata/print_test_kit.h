/* SPDX-License-Identifier: MIT */
/* print_test_kit.h - what tests ask about a compiled print form. */
#ifndef WM_KDATA_PRINT_TEST_KIT_H
#define WM_KDATA_PRINT_TEST_KIT_H

#include "kdata/print_tree_int.h"

/* Returns whether the event's fields are printed, because its print form could not be compiled. */
static inline bool kit_print_is_fields(const struct wm_kprint *p)
{
	return !p->convs;
}

#endif
