/* SPDX-License-Identifier: MIT */
/*
 * elf_vars_test.c - finds parameters, variables, lines and instruction starts in this program
 * itself; skipped when it was built without debug information.
 */
#include "elf/elf_vars.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf/elf_symbols.h"
#include "elf/instruction.h"

struct head {
	unsigned low : 3, high : 7;
	struct {
		short inner;
	};
	const char *text;
	double numbers[4];
};
struct item {
	struct head head;
	struct item *next;
};

static uint32_t body_line;

__attribute__((noinline, used)) static int subject(int count, const struct item *list,
						   double weight, char c)
{
	body_line = __LINE__ + 1;
	__asm__ volatile("" : "+r"(count), "+r"(list), "+x"(weight), "+r"(c));
	return count + list->head.inner + c + (int)weight;
}

struct world {
	struct wm_elf *elf;
	struct wm_elf_vars *vars;
	const struct wm_elf_symbol *function;
	struct wm_elf_symbols symbols;
	struct wm_diag diag;
};

static bool open_world(struct world *w)
{
	*w = (struct world){.diag = {.offset = -1}};
	assert_int_equal(wm_elf_open("/proc/self/exe", &w->elf, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(w->elf, &w->symbols, NULL), 0);
	w->function = wm_elf_symbol_named(&w->symbols, "subject");
	return w->function && wm_elf_vars_open(w->elf, &w->vars) == 0;
}

static void close_world(struct world *w)
{
	wm_elf_vars_close(w->vars);
	wm_elf_symbols_done(&w->symbols);
	wm_elf_close(w->elf);
}

static int on_parameter(const char *name, void *data)
{
	char *all = data;

	strcat(all, name);
	strcat(all, " ");
	return 0;
}

static void test_parameters(void **state)
{
	static const struct {
		const char *path;
		enum wm_elf_value_kind kind;
		unsigned bytes, nr_steps;
	} rows[] = {
	    {"count", WM_ELF_VALUE_SIGNED, 4, 0},
	    {"list", WM_ELF_VALUE_POINTER, 8, 0},
	    {"list->next", WM_ELF_VALUE_POINTER, 8, 1},
	    {"list->head.inner", WM_ELF_VALUE_SIGNED, 2, 1},
	    {"list->head.text", WM_ELF_VALUE_TEXT, 8, 1},
	    {"list->next->next->head.text", WM_ELF_VALUE_TEXT, 8, 3},
	    {"list->head.numbers[2]", WM_ELF_VALUE_FLOAT, 8, 1},
	    {"list[1].head.numbers", WM_ELF_VALUE_FLOAT, 8, 1},
	    {"list->head.high", WM_ELF_VALUE_UNSIGNED, 4, 1},
	    {"c", WM_ELF_VALUE_SIGNED, 1, 0},
	};
	struct wm_elf_where at;
	struct world w;
	char names[100] = "";

	(void)state;
	if (!open_world(&w)) {
		close_world(&w);
		skip();
	}
	at = (struct wm_elf_where){.address = w.function->address, .scope = WM_ELF_SCOPE_FUNCTION};
	assert_int_equal(wm_elf_vars_parameters(w.vars, &at, on_parameter, names), 0);
	assert_string_equal(names, "count list weight c ");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_elf_value v;

		if (wm_elf_vars_find(w.vars, &at, rows[i].path, &v, &w.diag))
			fail_msg("%s: %s", rows[i].path, w.diag.sentence);
		assert_int_equal(v.kind, rows[i].kind);
		assert_int_equal(v.bytes, rows[i].bytes);
		assert_int_equal(v.nr_steps, rows[i].nr_steps);
		assert_int_equal(v.base, WM_ELF_VALUE_REGISTER);
		if (strstr(rows[i].path, "high")) {
			assert_int_equal(v.nr_bits, 7);
			assert_int_equal(v.bit_offset, 3);
		}
		if (strstr(rows[i].path, "numbers[2]"))
			assert_int_equal(v.offset[0], offsetof(struct item, head.numbers[2]));
		if (strstr(rows[i].path, "list[1]"))
			assert_int_equal(v.offset[0],
					 sizeof(struct item) + offsetof(struct item, head.numbers));
	}
	close_world(&w);
}

static void test_refused(void **state)
{
	static const struct {
		const char *path, *word;
		int err;
	} rows[] = {
	    {"cuont", "'count'", -ENOENT},
	    {"list->nxet", "'next'", -ENOENT},
	    {"list->head", "name one of its members", -EOPNOTSUPP},
	    {"count[1]", "not an array", -EOPNOTSUPP},
	    {"count->x", "not a structure", -EINVAL},
	    {"list->", "as in C", -EINVAL},
	    {"list[x]", "index", -EINVAL},
	    {"list->next->next->next->next->next->next->next->next->next", "points to",
	     -EOPNOTSUPP},
	    {"", "not a name", -EINVAL},
	};
	struct wm_elf_where at;
	struct world w;

	(void)state;
	if (!open_world(&w)) {
		close_world(&w);
		skip();
	}
	at = (struct wm_elf_where){.address = w.function->address, .scope = WM_ELF_SCOPE_FUNCTION};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_elf_value v;
		int err = wm_elf_vars_find(w.vars, &at, rows[i].path, &v, &w.diag);

		if (!strstr(w.diag.sentence, rows[i].word) || err != rows[i].err)
			print_message("%s: %d %s\n", rows[i].path, err, w.diag.sentence);
		assert_non_null(strstr(w.diag.sentence, rows[i].word));
		assert_int_equal(err, rows[i].err);
	}
	close_world(&w);
}

static void test_lines_and_returns(void **state)
{
	struct item it = {.head = {.inner = 1}};
	struct wm_elf_value v;
	uint64_t *addresses;
	struct world w;
	size_t nr;

	(void)state;
	(void)subject(1, &it, 2, 'c');
	if (!open_world(&w)) {
		close_world(&w);
		skip();
	}
	assert_int_equal(wm_elf_vars_returned(w.vars, w.function->address, &v), 0);
	assert_int_equal(v.kind, WM_ELF_VALUE_SIGNED);
	assert_int_equal(
	    wm_elf_vars_line(w.vars, "elf_vars_test.c", body_line, &addresses, &nr, &w.diag), 0);
	assert_int_equal(nr, 1);
	assert_true(addresses[0] >= w.function->address &&
		    addresses[0] < w.function->address + w.function->bytes);
	free(addresses);
	assert_int_equal(wm_elf_vars_line(w.vars, "elf_vars_test.c", 1, &addresses, &nr, &w.diag),
			 -ENOENT);
	assert_non_null(strstr(w.diag.sentence, "the next line with code"));
	assert_int_equal(wm_elf_vars_line(w.vars, "vars_test.c", 1, &addresses, &nr, &w.diag),
			 -ENOENT);
	assert_non_null(strstr(w.diag.sentence, "did you mean 'elf_vars_test.c'"));
	close_world(&w);
}

static int on_variable(const struct wm_elf_variable *v, void *data)
{
	char *all = data;

	(void)snprintf(all + strlen(all), 200 - strlen(all), "%s|%s%s ", v->type, v->name,
		       v->is_parameter ? "" : "(local)");
	assert_false(v->has_members);
	return 0;
}

static int on_source(const struct wm_elf_source *source, void *data)
{
	bool *found = data;

	assert_non_null(strstr(source->file, "elf_vars_test.c"));
	assert_true(source->nr_lines > 0);
	for (size_t i = 0; i < source->nr_lines; i++) {
		*found |= source->lines[i] == body_line;
		assert_true(!i || source->lines[i] > source->lines[i - 1]);
	}
	return 0;
}

static void test_lists(void **state)
{
	struct item it = {.head = {.inner = 1}};
	bool in_function = false, in_file = false;
	char all[200] = "";
	struct wm_elf_where at;
	struct world w;

	(void)state;
	(void)subject(1, &it, 2, 'c');
	if (!open_world(&w)) {
		close_world(&w);
		skip();
	}
	at = (struct wm_elf_where){.address = w.function->address, .scope = WM_ELF_SCOPE_FUNCTION};
	assert_int_equal(wm_elf_vars_each(w.vars, &at, on_variable, all), 0);
	assert_string_equal(all, "int|count const struct item *|list double|weight char|c ");
	assert_int_equal(wm_elf_vars_lines(w.vars, "subject", on_source, &in_function, &w.diag), 1);
	assert_int_equal(wm_elf_vars_lines(w.vars, "elf_vars_test.c", on_source, &in_file, &w.diag),
			 1);
	assert_true(in_function && in_file);
	assert_int_equal(wm_elf_vars_lines(w.vars, "subjekt", on_source, &in_file, &w.diag),
			 -ENOENT);
	assert_non_null(strstr(w.diag.sentence, "did you mean 'subject'"));
	close_world(&w);
}

/* Every byte of the function either begins an instruction or is part of the previous one. */
static void test_instructions(void **state)
{
	uint64_t begin, last, at;
	struct world w;

	(void)state;
	(void)open_world(&w);
	assert_non_null(w.function);
	last = w.function->address;
	for (at = last; at < w.function->address + w.function->bytes; at++) {
		int begins = wm_elf_instruction_begins(w.elf, w.function->address, at, &begin);

		assert_true(begins == 0 || begins == 1);
		if (begins)
			last = at;
		else
			assert_int_equal(begin, last);
		assert_true(at - last < 16);
	}
	assert_true(wm_elf_instruction_begins(w.elf, w.function->address, 0, &begin) < 0);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parameters),        cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_lines_and_returns), cmocka_unit_test(test_lists),
	    cmocka_unit_test(test_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
