/* SPDX-License-Identifier: MIT */
/*
 * event_format_test.c - reads fields from a format file, from damaged files, which never yield more
 * than they contain, and from records that end early.
 */
#include "kdata/event_format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kdata/format_test_kit.h"

struct world {
	struct wm_arena arena;
	struct wm_kmachine machine;
};

static struct world begin(void)
{
	struct world w;

	wm_arena_init(&w.arena, 1 << 24);
	wm_kmachine_init(&w.machine, 8, false);
	return w;
}

static const struct wm_kformat *parsed(struct world *w, const char *text)
{
	const struct wm_kformat *f = NULL;

	assert_int_equal(
	    wm_kformat_parse(&w->arena, &w->machine, "sys", text, strlen(text), &f, NULL), 0);
	return f;
}

static void check(const struct wm_kformat *f, const char *name, const char *type, unsigned offset,
		  unsigned element_bytes, unsigned length, unsigned flags)
{
	const struct wm_kfield *k = wm_kformat_field(f, name);

	assert_non_null(k);
	assert_string_equal(k->type, type);
	assert_int_equal(k->offset, offset);
	assert_int_equal(k->element_bytes, element_bytes);
	assert_int_equal(k->length, length);
	assert_int_equal(k->flags, flags);
}

static void test_fields(void **state)
{
	struct world w = begin();
	const struct wm_kformat *f = parsed(&w, kit_all);

	assert_string_equal(f->system, "sys");
	assert_string_equal(f->name, "all_kinds");
	assert_int_equal(f->id, 9);
	assert_int_equal(f->nr_common, 4);
	assert_int_equal(f->nr_fields, 17);
	assert_int_equal(f->fixed_bytes, 80);
	assert_string_equal(f->print, "\"%u\", REC->a");
	check(f, "common_pid", "int", 4, 4, 0, WM_KFIELD_SIGNED);
	check(f, "a", "u8", 8, 1, 0, 0);
	check(f, "c", "short", 10, 2, 0, WM_KFIELD_SIGNED);
	check(f, "d", "bool", 12, 1, 0, WM_KFIELD_BOOL);
	check(f, "text", "const char *", 16, 8, 0, WM_KFIELD_POINTER);
	check(f, "mac", "u8", 24, 1, 6, WM_KFIELD_ARRAY);
	check(f, "ip", "__be32", 32, 4, 1, WM_KFIELD_ARRAY);
	check(f, "odd", "struct thing", 36, 0, 0, 0);
	check(f, "words", "__data_loc u32[]", 48, 4, 0, WM_KFIELD_ARRAY | WM_KFIELD_DATA_LOC);
	check(f, "name", "__rel_loc char[]", 52, 1, 0,
	      WM_KFIELD_ARRAY | WM_KFIELD_REL_LOC | WM_KFIELD_CHARS);
	check(f, "cpus", "__data_loc cpumask_t", 56, 8, 0,
	      WM_KFIELD_ARRAY | WM_KFIELD_DATA_LOC | WM_KFIELD_BITMASK);
	assert_null(wm_kformat_field(f, "nothing"));
	f = parsed(&w, kit_switch);
	check(f, "prev_comm", "char", 8, 1, 16, WM_KFIELD_ARRAY | WM_KFIELD_CHARS);
	f = parsed(&w, kit_enter);
	check(f, "args", "unsigned long", 16, 8, 6, WM_KFIELD_ARRAY);
	wm_arena_done(&w.arena);
}

/* An array at the end of one of ftrace's own events has as many elements as fit in the record. */
static void test_stacks(void **state)
{
	static const char text[] =
	    "name: kernel_stack\nID: 4\nformat:\n\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	    "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n";
	struct world w = begin();
	const struct wm_kformat *f = NULL;
	unsigned char record[128] = {0};
	const struct wm_kfield *caller;
	uint32_t bytes;

	assert_int_equal(
	    wm_kformat_parse(&w.arena, &w.machine, "ftrace", text, sizeof(text) - 1, &f, NULL), 0);
	assert_int_equal(f->fixed_bytes, 16);
	check(f, "caller", "unsigned long", 16, 8, 0, WM_KFIELD_ARRAY | WM_KFIELD_TAIL);
	caller = wm_kformat_field(f, "caller");
	for (uint32_t nr = 0; nr < 14; nr++) {
		assert_ptr_equal(wm_kfield_bytes(caller, false, record, 16 + 8 * nr, &bytes),
				 record + 16);
		assert_int_equal(bytes, 8 * nr);
	}
	assert_null(wm_kfield_bytes(caller, false, record, 15, &bytes));
	wm_arena_done(&w.arena);
}

/* Forms used by kernels older than 2.6.32, array lengths given by name, and tails. */
static void test_oddities(void **state)
{
	static const char text[] =
	    "name: print\nID: 5\nformat:\n\tfield:int common_type;\toffset:0;\tsize:2;\n\n"
	    "\tfield special:char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\n"
	    "\tfield:u32 grid[2][3];\toffset:24;\tsize:24;\n"
	    "\tfield:char buf[];\toffset:48;\tsize:0;\n\tfield:u32 more;\toffset:48;\tsize:0;\n";
	struct world w = begin();
	const struct wm_kformat *f = parsed(&w, text);
	unsigned char record[60] = {0};
	uint32_t bytes;

	check(f, "comm", "char", 8, 1, 16, WM_KFIELD_ARRAY | WM_KFIELD_CHARS);
	check(f, "grid", "u32", 24, 4, 6, WM_KFIELD_ARRAY);
	check(f, "buf", "char", 48, 1, 0, WM_KFIELD_ARRAY | WM_KFIELD_CHARS | WM_KFIELD_TAIL);
	check(f, "more", "u32", 48, 4, 0, WM_KFIELD_ARRAY | WM_KFIELD_TAIL);
	assert_string_equal(f->print, "");
	assert_ptr_equal(wm_kfield_bytes(wm_kformat_field(f, "buf"), false, record, 60, &bytes),
			 record + 48);
	assert_int_equal(bytes, 12);
	assert_null(wm_kfield_bytes(wm_kformat_field(f, "buf"), false, record, 47, &bytes));
	wm_arena_done(&w.arena);
}

static void test_places(void **state)
{
	struct world w = begin();
	const struct wm_kformat *f = parsed(&w, kit_all);
	const struct wm_kfield *words = wm_kformat_field(f, "words"),
			       *name = wm_kformat_field(f, "name"), *b = wm_kformat_field(f, "b"),
			       *e = wm_kformat_field(f, "e");
	unsigned char record[100] = {0};
	uint32_t bytes, word = 8u << 16 | 92;

	memcpy(record + 48, &word, 4);
	assert_ptr_equal(wm_kfield_bytes(words, false, record, 100, &bytes), record + 92);
	assert_int_equal(bytes, 8);
	assert_null(wm_kfield_bytes(words, false, record, 99, &bytes));
	assert_int_equal(bytes, 0);
	word = 4u << 16 | 24; /* relative to the end of the word, at offset 56 */
	memcpy(record + 52, &word, 4);
	assert_ptr_equal(wm_kfield_bytes(name, false, record, 100, &bytes), record + 80);
	word = 4u << 16 | 0xffff;
	memcpy(record + 52, &word, 4);
	assert_null(wm_kfield_bytes(name, false, record, 100, &bytes));
	record[9] = 0xfe;
	assert_true(wm_kfield_number(b, false, record, 10) == (uint64_t)-2);
	assert_int_equal(wm_kfield_number(b, false, record, 9), 0);
	record[64] = 1;
	assert_true(wm_kfield_number(e, true, record, 72) == 1ull << 56);
	assert_int_equal(wm_kfield_number(e, true, record, 71), 0);
	wm_arena_done(&w.arena);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "name: x\n",
	    "ID: 3\n",
	    "name: \nID: 3\n",
	    "name: x\nID: y\n",
	    "name: x\nID: 99999999999\n",
	    "name: x\nID: 3\nformat:\n\tfield:int a\toffset:0\n",
	    "name: x\nID: 3\nformat:\n\tfield: * ;\toffset:0;\tsize:4;\n",
	    "name: x\nID: 3\nformat:\n\tfield:int a;\toffset:-1;\tsize:4;\n",
	    "name: x\nID: 3\nformat:\n\tfield:int a;\toffset:0;\tsize:99999999;\n",
	    "name: x\nID: 3\nformat:\n\tfield:int a];\toffset:0;\tsize:4;\n",
	    "name: x\nID: 3\nformat:\n\tfield:__data_loc char[] a;\toffset:0;\tsize:8;\n",
	};
	struct world w = begin();
	const struct wm_kformat *f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wm_diag d = {.sentence = ""};

		assert_int_equal(
		    wm_kformat_parse(&w.arena, &w.machine, "s", bad[i], strlen(bad[i]), &f, &d),
		    -EBADMSG);
		assert_true(d.sentence[0] && d.offset >= 0 && d.offset <= (int64_t)strlen(bad[i]));
	}
	assert_int_equal(
	    wm_kformat_parse(&w.arena, &w.machine, "s", "name: x\0ID: 3\n", 14, &f, NULL),
	    -EBADMSG);
	wm_arena_done(&w.arena);
}

/*
 * Truncates the text at every byte; it ends at the end of a malloc'ed block, without a terminator.
 */
static void test_cuts(void **state)
{
	struct world w = begin();
	const struct wm_kformat *f;

	for (size_t cut = 0; cut < sizeof(kit_all); cut++) {
		char *copy = malloc(cut ? cut : 1);

		memcpy(copy, kit_all, cut);
		(void)wm_kformat_parse(&w.arena, &w.machine, "s", copy, cut, &f, NULL);
		free(copy);
	}
	wm_arena_done(&w.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),   cmocka_unit_test(test_stacks),
	    cmocka_unit_test(test_oddities), cmocka_unit_test(test_places),
	    cmocka_unit_test(test_refused),  cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
