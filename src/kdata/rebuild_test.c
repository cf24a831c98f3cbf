/* SPDX-License-Identifier: MIT */
/*
 * rebuild_test.c - rebuilds records from an event's items: the print form prints the same text, and
 * every field has its original bytes. Items that do not match the format are refused.
 */
#include "kdata/rebuild.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kdata/format_test_kit.h"
#include "kdata/print.h"

static const struct wm_type number = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_type text = {.kind = WM_TYPE_STRING};
static const struct wm_type blob = {.kind = WM_TYPE_BYTES};
static const struct wm_type list = {.kind = WM_TYPE_LIST, .element = {NULL, &number}};
static const struct wm_member numbers = {"n", &number}, texts = {"s", &text}, lists = {"l", &list},
			      blobs = {"b", &blob};

struct world {
	struct wm_arena arena;
	struct wm_kmachine machine;
	const struct wm_kformat *format;
	struct wm_item items[64];
	uint32_t nr;
	unsigned char out[WM_REBUILD_BYTES_MAX];
};

static struct world *begin(const char *file)
{
	struct world *w = calloc(1, sizeof(*w));

	wm_arena_init(&w->arena, 1 << 24);
	wm_rebuild_machine(&w->machine);
	assert_int_equal(
	    wm_kformat_parse(&w->arena, &w->machine, "sys", file, strlen(file), &w->format, NULL),
	    0);
	return w;
}

static void done(struct world *w)
{
	wm_arena_done(&w->arena);
	free(w);
}

static struct wm_item *add(struct world *w, const struct wm_member *m)
{
	struct wm_item *i = &w->items[w->nr++];

	i->member = m;
	i->next = w->nr;
	return i;
}

static void add_number(struct world *w, int64_t value)
{
	add(w, &numbers)->s = value;
}

static void add_text(struct world *w, const char *s)
{
	struct wm_item *i = add(w, &texts);

	i->text = s;
	i->count = (uint32_t)strlen(s);
}

static void add_list(struct world *w, uint32_t n, int64_t first)
{
	struct wm_item *i = add(w, &lists);

	i->count = n;
	for (uint32_t k = 0; k < n; k++)
		add_number(w, first + k);
	i->next = w->nr;
}

static int64_t rebuild(struct world *w)
{
	const struct wm_rebuild_common common = {.pid = 77, .flags = 1, .preempt_count = 2};

	return wm_rebuild_record(w->format, w->items, 0, w->nr, &common, w->out);
}

static uint64_t field(const struct world *w, int64_t bytes, const char *name, uint32_t i)
{
	const struct wm_kfield *f = wm_kformat_field(w->format, name);
	uint32_t n, width = f->element_bytes ? f->element_bytes : 1;
	const unsigned char *at = wm_kfield_bytes(f, w->machine.swap, w->out, (uint32_t)bytes, &n);

	assert_non_null(at);
	assert_true((i + 1) * width <= n);
	return wm_get_uint(at + (size_t)i * width, width, w->machine.swap);
}

/* The fields of kit_all. */
static void fill_all(struct world *w)
{
	add_number(w, 200);
	add_number(w, -3);
	add_number(w, -300);
	add_number(w, 1);
	add_number(w, 0xfeedbeef);
	add_list(w, 6, 1);
	add_list(w, 1, 0x0a010203);
	add_list(w, 12, 'a');
	add_list(w, 2, 0xdeadbeef);
	add_text(w, "hello");
	add_list(w, 1, (int64_t)(1ull << 63 | 3));
	add_number(w, 1ll << 40);
	add_number(w, -5);
}

static void test_every_kind(void **state)
{
	struct world *w = begin(kit_all);
	int64_t n;

	(void)state;
	fill_all(w);
	assert_int_equal(wm_rebuild_nr_fields(w->format), 13);
	n = rebuild(w);
	assert_true(n > 80);
	assert_int_equal(field(w, n, "common_type", 0), 9);
	assert_int_equal(field(w, n, "common_pid", 0), 77);
	assert_int_equal(field(w, n, "common_flags", 0), 1);
	assert_int_equal(field(w, n, "common_preempt_count", 0), 2);
	assert_int_equal(field(w, n, "a", 0), 200);
	assert_int_equal(field(w, n, "b", 0), (uint8_t)-3);
	assert_int_equal(field(w, n, "c", 0), (uint16_t)-300);
	assert_true(field(w, n, "text", 0) == 0xfeedbeef);
	assert_int_equal(field(w, n, "mac", 5), 6);
	assert_int_equal(field(w, n, "ip", 0), 0x0a010203);
	assert_int_equal(field(w, n, "odd", 11), 'l');
	assert_true(field(w, n, "words", 1) == 0xdeadbef0);
	assert_int_equal(field(w, n, "name", 4), 'o');
	assert_int_equal(field(w, n, "name", 5), 0);
	assert_true(field(w, n, "cpus", 0) == (1ull << 63 | 3));
	assert_true(field(w, n, "e", 0) == 1ull << 40);
	assert_true(field(w, n, "f", 0) == (uint64_t)-5);
	done(w);
}

static void test_print_form(void **state)
{
	struct world *w = begin(kit_switch);
	const struct wm_kprint *print;
	struct wm_text t;
	int64_t n;

	(void)state;
	add_text(w, "sh");
	add_number(w, 12);
	add_number(w, 120);
	add_number(w, 1);
	add_text(w, "fifteen-letters");
	add_number(w, 0);
	add_number(w, 98);
	n = rebuild(w);
	assert_int_equal(n, 64);
	assert_int_equal(wm_kprint_compile(&w->arena, &w->machine, w->format, &print, NULL), 0);
	wm_text_init(&t);
	wm_kprint_run(print, NULL, w->out, (uint32_t)n, &t);
	wm_text_char(&t, '\0');
	assert_string_equal(t.data, "prev_comm=sh prev_pid=12 prev_prio=120 prev_state=S ==> "
				    "next_comm=fifteen-letters next_pid=0 next_prio=98");
	wm_text_done(&t);
	done(w);
}

static void test_what_does_not_fit(void **state)
{
	struct world *w = begin(kit_all);
	struct wm_item *long_text;
	static char many[70000];

	(void)state;
	fill_all(w);
	for (uint32_t cut = 0; cut < w->nr; cut++) { /* too few */
		uint32_t nr = w->nr;

		w->nr = cut;
		assert_int_equal(rebuild(w), -EBADMSG);
		w->nr = nr;
	}
	add_number(w, 1); /* one item too many */
	assert_int_equal(rebuild(w), -EBADMSG);
	w->nr--;
	w->items[5].count = 7; /* a list of six elements that claims seven */
	assert_int_equal(rebuild(w), -EBADMSG);
	w->items[5].count = 6;
	w->items[0].member = &lists; /* a number whose type is an empty list */
	w->items[0].count = 0;
	assert_true(rebuild(w) > 0);
	w->items[0].member = &blobs;
	w->items[0].count = 2; /* two bytes for a field of one byte */
	w->items[0].bytes = (const unsigned char *)"xy";
	assert_int_equal(rebuild(w), -EBADMSG);
	done(w);

	w = begin(kit_exec);
	memset(many, 'x', sizeof(many) - 1);
	add_text(w, many);
	long_text = &w->items[0];
	add_number(w, 1);
	add_number(w, 2);
	assert_int_equal(rebuild(w), -EBADMSG);
	long_text->count = 60000;
	assert_int_equal(rebuild(w), 20 + 60001);
	done(w);
}

static void test_tail(void **state)
{
	static const char print[] =
	    "name: print\nID: 5\n" KIT_COMMON KIT_FIELD("unsigned long ip", 8, 8, 0)
		KIT_FIELD("char buf[]", 16, 0, 0) "\nprint fmt: \"%s\", REC->buf\n";
	struct world *w = begin(print);

	(void)state;
	add_number(w, 5);
	add_text(w, "a line\n");
	assert_int_equal(rebuild(w), 16 + 8);
	assert_memory_equal(w->out + 16, "a line\n", 8);
	done(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_kind),
	    cmocka_unit_test(test_print_form),
	    cmocka_unit_test(test_what_does_not_fit),
	    cmocka_unit_test(test_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
