/* SPDX-License-Identifier: MIT */
/*
 * formats_test.c - looks up events by id, and symbols, strings and names in the kernel's list
 * formats.
 */
#include "kdata/formats.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kdata/format_test_kit.h"
#include "kdata/print.h"

static struct wm_kformats *create(void)
{
	struct wm_kmachine m;
	struct wm_kformats *k;

	wm_kmachine_init(&m, 8, false);
	k = wm_kformats_create(&m);
	assert_non_null(k);
	return k;
}

static void test_events(void **state)
{
	struct wm_kformats *k = create();
	const struct wm_kformat *f;
	struct wm_diag d;

	assert_int_equal(wm_kformats_add(k, "sched", kit_switch, sizeof(kit_switch) - 1, &f, NULL),
			 0);
	assert_int_equal(
	    wm_kformats_add(k, "raw_syscalls", kit_enter, sizeof(kit_enter) - 1, NULL, NULL), 0);
	assert_int_equal(wm_kformats_add(k, "x", kit_switch, sizeof(kit_switch) - 1, NULL, &d),
			 -EEXIST);
	assert_non_null(strstr(d.sentence, "314"));
	assert_int_equal(
	    wm_kformats_add(k, "sched", kit_switch, sizeof(kit_switch) - 1, NULL, NULL), 0);
	assert_int_equal(wm_kformats_add(k, "x", "name: a\nID: 65536\n", 18, NULL, &d), -EBADMSG);
	assert_int_equal(wm_kformats_seal(k), 0);
	assert_ptr_equal(wm_kformats_event(k, 314), f);
	assert_non_null(wm_kformats_print(k, wm_kformats_form(k, 314)));
	assert_ptr_equal(wm_kformats_print(k, wm_kformats_form(k, 314)),
			 wm_kformats_print(k, wm_kformats_form(k, 314)));
	assert_null(wm_kformats_event(k, 22));
	assert_null(wm_kformats_form(k, 22));
	assert_null(wm_kformats_event(k, 65535));
	assert_null(wm_kformats_event(k, UINT32_MAX));
	assert_int_equal(wm_kformats_nr_ids(k), 315);
	wm_kformats_destroy(k);
}

static void check_symbol(const struct wm_kformats *k, uint64_t addr, const char *wanted)
{
	uint64_t start;
	size_t bytes;
	const char *got = wm_kformats_symbol(k, addr, &start, &bytes);

	if (!wanted) {
		assert_null(got);
		return;
	}
	assert_int_equal(bytes, strlen(wanted));
	assert_memory_equal(got, wanted, bytes);
	assert_true(start <= addr);
}

static const char symbols[] = "ffffffff81000200 T second\n"
			      "ffffffff81000100 T first\n"
			      "0000000000000000 A zero\n"
			      "0000000000033000 A __per_cpu_end\n"
			      "ffffffff81000180 t $x\n"
			      "no symbol\n\n"
			      "ffffffffc0000000 t late\t[module]\n"
			      "ffffffffc0001000 t last";

static void check_symbols(const struct wm_kformats *k)
{
	uint64_t start;
	size_t bytes;

	check_symbol(k, 0xffffffff81000100, "first");
	check_symbol(k, 0xffffffff810001ff, "first");
	(void)wm_kformats_symbol(k, 0xffffffff810001ff, &start, &bytes);
	assert_true(start == 0xffffffff81000100);
	check_symbol(k, 0xffffffffc0000fff, "late");
	check_symbol(k, 0xffffffff810000ff, NULL);
	/* The last symbol has no known size. */
	check_symbol(k, 0xffffffffc0001000, NULL);
	check_symbol(k, 0, NULL);
	check_symbol(k, 0x7f96d53520b0, NULL); /* an address in a program */
}

static void test_symbols(void **state)
{
	struct wm_kformats *k = create();

	assert_int_equal(wm_kformats_add_symbols(k, symbols, sizeof(symbols) - 1), 1);
	assert_int_equal(wm_kformats_seal(k), 0);
	check_symbols(k);
	wm_kformats_destroy(k);
}

static int give_symbols(void *data, char **ret_text, size_t *ret_bytes)
{
	unsigned *nr_asked = data;

	(*nr_asked)++;
	*ret_text = strdup(symbols);
	*ret_bytes = sizeof(symbols) - 1;
	return *ret_text ? 0 : -ENOMEM;
}

static int refuse_symbols(void *data, char **ret_text, size_t *ret_bytes)
{
	return -ENOENT;
}

/* A source is asked when an address is looked up, not before, and once. */
static void test_symbols_when_asked(void **state)
{
	struct wm_kformats *k = create();
	unsigned nr_asked = 0;

	wm_kformats_set_symbols(k, give_symbols, &nr_asked);
	assert_int_equal(wm_kformats_seal(k), 0);
	assert_int_equal(nr_asked, 0);
	check_symbols(k);
	assert_int_equal(nr_asked, 1);
	wm_kformats_destroy(k);

	k = create();
	wm_kformats_set_symbols(k, refuse_symbols, NULL);
	assert_int_equal(wm_kformats_seal(k), 0);
	check_symbol(k, 0xffffffff81000100, NULL);
	wm_kformats_destroy(k);
}

static void test_texts_and_comms(void **state)
{
	static const char printk[] = "0xffffffff82000000 : \"a\\tb \\\\ %d\\n\"\n"
				     "0xffffffff81000000 : \"\"\nrubbish\n0x3 : \"open\n";
	static const char comms[] = "12 bash\n1 systemd\n400 with space\nx\n7\n";
	struct wm_kformats *k = create();

	assert_int_equal(wm_kformats_add_printk(k, printk, sizeof(printk) - 1), 2);
	assert_int_equal(wm_kformats_add_comms(k, comms, sizeof(comms) - 1), 2);
	assert_int_equal(wm_kformats_seal(k), 0);
	assert_string_equal(wm_kformats_text(k, 0xffffffff82000000), "a\tb \\ %d\n");
	assert_string_equal(wm_kformats_text(k, 0xffffffff81000000), "");
	assert_null(wm_kformats_text(k, 0xffffffff82000001));
	assert_string_equal(wm_kformats_comm(k, 1), "systemd");
	assert_string_equal(wm_kformats_comm(k, 400), "with space");
	assert_null(wm_kformats_comm(k, 2));
	wm_kformats_destroy(k);
}

static void test_nothing_known(void **state)
{
	struct wm_kformats *k = create();

	assert_int_equal(wm_kformats_seal(k), 0);
	check_symbol(k, 1, NULL);
	assert_null(wm_kformats_text(k, 1));
	assert_null(wm_kformats_comm(k, 1));
	wm_kformats_destroy(k);
	wm_kformats_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_symbols),
	    cmocka_unit_test(test_symbols_when_asked),
	    cmocka_unit_test(test_texts_and_comms),
	    cmocka_unit_test(test_nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
