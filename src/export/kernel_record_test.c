/* SPDX-License-Identifier: MIT */
/*
 * Decodes a record to items, writes these as a record and decodes that again: the items must be
 * equal. Covers fields of every kind, both byte orders, longs of both widths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/kernel_record_int.h"
#include "kdata/format_test_kit.h"
#include "read/kernel_items_int.h"

struct world {
	struct wm_arena arena;
	struct wm_kmachine machine;
	const struct wm_kformat *format;
	const struct wm_type *part;
	struct wm_batch batches[2];
	struct wm_text record, scratch;
};

static void begin(struct world *w, const char *text, unsigned long_bytes, bool big)
{
	bool hex[WM_KFORMAT_FIELDS_MAX];

	memset(w, 0, sizeof(*w));
	wm_arena_init(&w->arena, 1 << 20);
	wm_kmachine_init(&w->machine, long_bytes, big);
	assert_int_equal(
	    wm_kformat_parse(&w->arena, &w->machine, "sys", text, strlen(text), &w->format, NULL),
	    0);
	assert_int_equal(wm_kprint_hex(&w->arena, &w->machine, w->format, hex), 0);
	assert_int_equal(wm_kitems_part(&w->arena, hex + w->format->nr_common,
					w->format->fields + w->format->nr_common,
					w->format->nr_fields - w->format->nr_common, &w->part),
			 0);
	wm_text_init(&w->record);
	wm_text_init(&w->scratch);
}

static void end(struct world *w)
{
	wm_batch_done(&w->batches[0]);
	wm_batch_done(&w->batches[1]);
	wm_text_done(&w->record);
	wm_text_done(&w->scratch);
	wm_arena_done(&w->arena);
}

static void put(unsigned char *p, uint32_t value, bool big)
{
	for (int i = 0; i < 4; i++)
		p[big ? 3 - i : i] = (unsigned char)(value >> 8 * i);
}

/* Creates a record with varying bytes, with a piece of 16 bytes for each dynamic field. */
static uint32_t fill(const struct world *w, unsigned char *record)
{
	uint32_t bytes = w->format->fixed_bytes;

	for (uint32_t i = 0; i < bytes; i++)
		record[i] = (unsigned char)(i * 37 + 1);
	for (uint32_t i = 0; i < w->format->nr_fields; i++) {
		const struct wm_kfield *f = &w->format->fields[i];
		uint32_t at = (bytes + 7) & ~7u;

		if (f->flags & WM_KFIELD_BOOL)
			record[f->offset] = 1;
		if (f->flags & WM_KFIELD_CHARS && !(f->flags & WM_KFIELD_DYNAMIC))
			record[f->offset + f->bytes - 1] = 0;
		if (!(f->flags & WM_KFIELD_DYNAMIC))
			continue;
		memset(record + bytes, 0, at - bytes);
		memcpy(record + at, "sixteen_letters", 16);
		bytes = at + 16;
		if (f->flags & WM_KFIELD_REL_LOC)
			at -= f->offset + f->bytes;
		put(record + f->offset, 16u << 16 | at, w->machine.big_endian);
	}
	return bytes;
}

static void decode(struct world *w, struct wm_batch *b, const void *record, uint32_t bytes)
{
	assert_true(wm_kitems_add(&w->machine, w->part, w->format->fields + w->format->nr_common,
				  record, bytes, b));
}

static void expect_same(const struct wm_batch *a, const struct wm_batch *b)
{
	assert_int_equal(a->nr_items, b->nr_items);
	for (uint32_t i = 0; i < a->nr_items; i++) {
		const struct wm_item *x = &a->items[i], *y = &b->items[i];
		uint8_t kind = x->member->type->kind;

		assert_ptr_equal(x->member, y->member);
		assert_int_equal(x->count, y->count);
		if (kind == WM_TYPE_STRING || kind == WM_TYPE_BYTES)
			assert_memory_equal(x->bytes, y->bytes, x->count);
		else if (kind != WM_TYPE_LIST)
			assert_true(x->u == y->u);
	}
}

static void round_trip(const char *text, unsigned long_bytes, bool big)
{
	const struct wm_kernel_common common = {.pid = 4711, .flags = 3, .preempt_count = 2};
	unsigned char record[1024];
	struct wm_part_range part = {0};
	struct world w;
	uint32_t bytes;

	begin(&w, text, long_bytes, big);
	assert_true(wm_export_kernel_fits(w.format, w.part));
	bytes = fill(&w, record);
	decode(&w, &w.batches[0], record, bytes);
	part.end = w.batches[0].nr_items;
	assert_true(part.end > 0);
	assert_int_equal(wm_export_kernel_record(&w.machine, w.format, &common, w.batches[0].items,
						 &part, 1, &w.scratch, &w.record),
			 0);
	decode(&w, &w.batches[1], w.record.data, (uint32_t)w.record.bytes);
	expect_same(&w.batches[0], &w.batches[1]);
	assert_int_equal(wm_get_u16(w.record.data, w.machine.swap), w.format->id);
	assert_int_equal(wm_get_u32(w.record.data + 4, w.machine.swap), 4711);
	assert_int_equal(w.record.data[2], 3);
	end(&w);
}

static void every_kind(void **state)
{
	round_trip(kit_all, 8, false);
	round_trip(kit_all, 8, true);
	round_trip(kit_all, 4, false);
	round_trip(kit_all, 4, true);
}

static void real_events(void **state)
{
	round_trip(kit_switch, 8, false);
	round_trip(kit_exec, 8, false);
	round_trip(kit_enter, 8, true);
}

/* Offsets in a record have 16 bits. */
static void too_long(void **state)
{
	static const struct wm_type string = {.kind = WM_TYPE_STRING};
	static const struct wm_member member = {"filename", &string};
	const struct wm_kernel_common common = {.pid = 1};
	char *text = calloc(1, 70000);
	struct wm_item item = {.member = &member, .text = text, .count = 70000, .next = 1};
	struct wm_part_range part = {0, 1};
	struct world w;

	assert_non_null(text);
	begin(&w, kit_exec, 8, false);
	assert_int_equal(wm_export_kernel_record(&w.machine, w.format, &common, &item, &part, 1,
						 &w.scratch, &w.record),
			 -E2BIG);
	item.count = 65000;
	assert_int_equal(wm_export_kernel_record(&w.machine, w.format, &common, &item, &part, 1,
						 &w.scratch, &w.record),
			 0);
	end(&w);
	free(text);
}

/* A format whose fields have other kinds or names does not fit. */
static void others_do_not_fit(void **state)
{
	struct world a, b;

	begin(&a, kit_exec, 8, false);
	begin(&b, kit_switch, 8, false);
	assert_true(wm_export_kernel_fits(a.format, a.part));
	assert_false(wm_export_kernel_fits(a.format, b.part));
	assert_false(wm_export_kernel_fits(b.format, a.part));
	assert_false(wm_export_kernel_fits(a.format, NULL));
	end(&a);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_kind),
	    cmocka_unit_test(real_events),
	    cmocka_unit_test(too_long),
	    cmocka_unit_test(others_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
