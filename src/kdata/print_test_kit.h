/* SPDX-License-Identifier: MIT */
/* print_test_kit.h - what tests ask about a compiled print form. */
#ifndef WM_KDATA_PRINT_TEST_KIT_H
#define WM_KDATA_PRINT_TEST_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kdata/print_tree_int.h"

/* Returns whether the event's fields are printed, because its print form could not be compiled. */
static inline bool kit_print_is_fields(const struct wm_kprint *p)
{
	return !p->convs;
}

/*
 * Checks that the fields found without compiling a form are those that the program shows. Returns
 * their number.
 */
static inline unsigned kit_print_check_hex(const struct wm_kmachine *m, const struct wm_kformat *f,
					   const struct wm_kprint *p)
{
	bool hex[WM_KFORMAT_FIELDS_MAX];
	struct wm_arena arena;
	unsigned nr = 0;

	wm_arena_init(&arena, 1 << 24);
	assert_int_equal(wm_kprint_hex(&arena, m, f, hex), 0);
	for (unsigned i = 0; i < f->nr_fields && !kit_print_is_fields(p); i++) {
		nr += hex[i];
		if (hex[i] != wm_kprint_shows_hex(p, &f->fields[i]))
			fail_msg("%s of %s:%s is %sfound to be hexadecimal in %s",
				 f->fields[i].name, f->system, f->name, hex[i] ? "" : "not ",
				 f->print);
	}
	wm_arena_done(&arena);
	return nr;
}

#endif
