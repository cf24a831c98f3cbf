/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pages.c - reads a page of the kernel's ring; the first byte of the input selects the
 * machine.
 */
#include <stdlib.h>

#include "harness.h"
#include "kdata/page.h"

static void walk(const struct wm_page_layout *l, const uint8_t *page, size_t bytes)
{
	struct wm_page_cursor c;
	uint64_t sum = 0;

	if (wm_page_open(&c, l, page, bytes, NULL))
		return;
	while (wm_page_next(&c) == 1)
		for (uint32_t i = 0; i < c.bytes; i++)
			sum += c.data[i] + c.time;
	if (wm_page_offset(&c) > bytes)
		abort();
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from removing the reads */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wm_page_layout l;
	uint8_t *page;

	if (!bytes)
		return 0;
	wm_page_layout_init(&l, data[0] & 1 ? 4 : 8, data[0] & 2);
	page = fuzz_copy(data + 1, bytes - 1);
	if (page)
		walk(&l, page, bytes - 1);
	free(page);
	return 0;
}
