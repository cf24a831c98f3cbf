/* SPDX-License-Identifier: MIT */
/*
 * tsdl_names_test.c - names of types in nested scopes, and names chosen to collide in one bucket of
 * a table without a seed, which do not collide. Counts probes, not time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/table_test_kit.h"
#include "read/ctf/meta/tsdl_int.h"

#define KEYS 2048u

static uint32_t fnv(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static void done(struct tsdl *p)
{
	wm_table_done(&p->name_table);
	free(p->names);
}

static void test_crafted(void **unused)
{
	static char texts[KEYS][16];
	struct tsdl p = {.lexer = {.err = 0}};
	uint32_t nr = 0;

	wm_table_init(&p.name_table);
	for (unsigned i = 0; nr < KEYS; i++) {
		(void)snprintf(texts[nr], sizeof(texts[nr]), "t%u", i);
		if (fnv(texts[nr]) % 1024 == 0)
			wm_tsdl_declare(&p, TSDL_ALIAS, texts[nr++], NULL);
	}
	assert_int_equal(p.name_table.nr, KEYS);
	KIT_ASSERT_LINEAR(&p.name_table);
	done(&p);
}

static void test_scopes(void **unused)
{
	struct wm_ctf_type outer = {.bits = 1}, inner = {.bits = 2}, other = {.bits = 3};
	struct tsdl p = {.lexer = {.err = 0}};

	wm_table_init(&p.name_table);
	wm_tsdl_declare(&p, TSDL_ALIAS, "a", &outer);
	wm_tsdl_scope_open(&p);
	assert_ptr_equal(wm_tsdl_find(&p, TSDL_ALIAS, "a")->type, &outer);
	wm_tsdl_declare(&p, TSDL_ALIAS, "a", &inner);
	wm_tsdl_declare(&p, TSDL_STRUCT, "a", &other);
	assert_ptr_equal(wm_tsdl_find(&p, TSDL_ALIAS, "a")->type, &inner);
	assert_ptr_equal(wm_tsdl_find(&p, TSDL_STRUCT, "a")->type, &other);
	wm_tsdl_scope_close(&p);
	assert_ptr_equal(wm_tsdl_find(&p, TSDL_ALIAS, "a")->type, &outer);
	assert_null(wm_tsdl_find(&p, TSDL_STRUCT, "a"));
	done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_crafted),
	    cmocka_unit_test(test_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
