/* SPDX-License-Identifier: MIT */
/*
 * btf_test.c - reads this kernel's own types, where available, and truncated or modified data,
 * which may cause an error but no invalid access.
 */
#include "kdata/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

/* int f(struct s *p, char *text); struct s { int a; struct { short b; unsigned c : 3; }; }; */
static const char strings[] = "\0int\0char\0s\0a\0b\0c\0short\0f\0p\0text";
enum { INT = 1, CHAR = 5, S = 10, A = 12, B = 14, C = 16, SHORT = 18, F = 24, P = 26, TEXT = 28 };

static size_t make(unsigned char *to)
{
	const uint32_t types[] = {
	    INT,   BTF_KIND_INT << 24,
	    4,     (BTF_INT_SIGNED << 24) | 32, /* 1 int */
	    CHAR,  BTF_KIND_INT << 24,
	    1,     (BTF_INT_SIGNED << 24) | 8, /* 2 char */
	    SHORT, BTF_KIND_INT << 24,
	    2,     (BTF_INT_SIGNED << 24) | 16, /* 3 short */
	    0,     (1u << 31) | (BTF_KIND_STRUCT << 24) | 2,
	    4, /* 4 */
	    B,     3,
	    0,     C,
	    1,     (3u << 24) | 16,
	    S,     (BTF_KIND_STRUCT << 24) | 2,
	    8,     A,
	    1,     0,
	    0,     4,
	    32, /* type 5: struct s */
	    0,     BTF_KIND_PTR << 24,
	    5, /* 6 */
	    0,     BTF_KIND_CONST << 24,
	    2, /* 7 */
	    0,     BTF_KIND_PTR << 24,
	    7, /* 8 */
	    0,     (BTF_KIND_FUNC_PROTO << 24) | 2,
	    1,     P,
	    6,     TEXT,
	    8, /* 9 */
	    F,     BTF_KIND_FUNC << 24,
	    9, /* 10 */
	    0,     BTF_KIND_ARRAY << 24,
	    0,     3,
	    1,     4, /* 11 short[4] */
	};
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = sizeof(types),
			       .str_off = sizeof(types),
			       .str_len = sizeof(strings)};

	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), types, sizeof(types));
	memcpy(to + sizeof(h) + sizeof(types), strings, sizeof(strings));
	return sizeof(h) + sizeof(types) + sizeof(strings);
}

static void assert_type(const struct wm_btf *b, uint32_t id, const char *expected)
{
	struct wm_text text;

	wm_text_init(&text);
	wm_btf_type_text(b, id, &text);
	assert_string_equal(text.data, expected);
	wm_text_done(&text);
}

static void test_types(void **state)
{
	unsigned char data[1024];
	struct wm_btf_member m;
	struct wm_btf_type t;
	struct wm_btf b;
	uint32_t f, type;

	(void)state;
	assert_int_equal(wm_btf_init(&b, data, make(data), NULL), 0);
	assert_int_equal(b.nr, 12);
	f = wm_btf_function(&b, "f");
	assert_int_equal(wm_btf_function(&b, "g"), 0);
	assert_int_equal(wm_btf_nr_parameters(&b, f), 2);
	assert_int_equal(wm_btf_returned(&b, f), 1);
	assert_string_equal(wm_btf_parameter(&b, f, 1, &type), "text");
	wm_btf_type(&b, type, &t);
	assert_int_equal(t.kind, WM_BTF_POINTER);
	wm_btf_type(&b, t.of, &t);
	assert_true(t.is_char && t.kind == WM_BTF_SIGNED && t.bytes == 1);
	assert_string_equal(wm_btf_parameter(&b, f, 2, &type), "");
	assert_true(wm_btf_member(&b, 5, "a", &m) && m.offset == 0 && !m.nr_bits);
	assert_true(wm_btf_member(&b, 5, "b", &m) && m.offset == 4 && m.type == 3);
	assert_true(wm_btf_member(&b, 5, "c", &m) && m.nr_bits == 3);
	assert_int_equal(8 * m.offset + m.bit_offset, 32 + 16);
	assert_false(wm_btf_member(&b, 5, "d", &m));
	assert_type(&b, 0, "void");
	assert_type(&b, 6, "struct s *");
	assert_type(&b, 8, "const char *");
	assert_type(&b, 11, "short[4]");
	assert_type(&b, wm_btf_returned(&b, f), "int");
	wm_btf_type(&b, 11, &t);
	assert_true(t.kind == WM_BTF_ARRAY && t.elements == 4 && t.bytes == 8);
	wm_btf_done(&b);
}

static void ask_all(const struct wm_btf *b)
{
	struct wm_btf_member m;
	struct wm_btf_type t;
	uint32_t type;

	for (uint32_t id = 0; id <= b->nr; id++) {
		wm_btf_type(b, id, &t);
		(void)wm_btf_member(b, id, "nothing", &m);
		(void)wm_btf_returned(b, id);
		for (uint32_t i = 0; i < wm_btf_nr_parameters(b, id) && i < 100; i++)
			(void)strlen(wm_btf_parameter(b, id, i, &type));
	}
	(void)wm_btf_function(b, "nothing");
}

static void test_hostile(void **state)
{
	unsigned char data[1024];
	size_t bytes = make(data);
	struct wm_btf b;

	(void)state;
	for (size_t n = 0; n < bytes; n++) {
		unsigned char *cut = malloc(n ? n : 1);

		memcpy(cut, data, n);
		assert_true(wm_btf_init(&b, cut, n, NULL) < 0);
		free(cut);
	}
	for (size_t i = 0; i < bytes; i++) {
		for (int bit = 0; bit < 8; bit++) {
			unsigned char *copy = malloc(bytes);

			memcpy(copy, data, bytes);
			copy[i] ^= (unsigned char)(1 << bit);
			if (wm_btf_init(&b, copy, bytes, NULL) == 0) {
				ask_all(&b);
				wm_btf_done(&b);
			}
			free(copy);
		}
	}
}

static void test_this_kernel(void **state)
{
	struct wm_btf_member m;
	struct wm_btf_type t;
	uint32_t f, type;
	struct wm_btf b;
	size_t bytes;
	char *data;

	(void)state;
	if (wm_file_read(AT_FDCWD, "/sys/kernel/btf/vmlinux", WM_BTF_BYTES_MAX, &data, &bytes) <
	    0) {
		print_message("skipped: this kernel does not describe its types\n");
		skip();
	}
	assert_int_equal(wm_btf_init(&b, data, bytes, NULL), 0);
	f = wm_btf_function(&b, "vfs_read");
	assert_int_equal(wm_btf_nr_parameters(&b, f), 4);
	assert_string_equal(wm_btf_parameter(&b, f, 0, &type), "file");
	wm_btf_type(&b, type, &t);
	assert_int_equal(t.kind, WM_BTF_POINTER);
	assert_true(wm_btf_member(&b, t.of, "f_flags", &m));
	wm_btf_type(&b, m.type, &t);
	assert_true(t.kind == WM_BTF_UNSIGNED && t.bytes == 4);
	wm_btf_done(&b);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_types),
	    cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
