/* SPDX-License-Identifier: MIT */
/* page.c - reads the header of a page, and the text that describes its layout. */
#include "kdata/page.h"

#include <stdio.h>
#include <stdlib.h>

/* Bits of the commit word. */
#define COMMIT_LOST   (1u << 31)
#define COMMIT_STORED (1u << 30)
#define COMMIT_BYTES  ((1u << 27) - 1)

#define LAYOUT_TEXT_MAX 4096u /* maximum length of the text; the kernel's has 200 bytes */

void wm_page_layout_init(struct wm_page_layout *l, unsigned long_bytes, bool big_endian)
{
	*l = (struct wm_page_layout){
	    .commit_offset = 8,
	    .data_offset = (uint16_t)(8 + long_bytes),
	    .long_bytes = (uint8_t)long_bytes,
	    .page_bytes = 4096,
	    .big_endian = big_endian,
	    .swap = wm_order_swap(big_endian),
	};
}

/* Returns the number after `key` ("offset:") on a line; UINT32_MAX when there is none. */
static uint32_t number_on_line(const char *line, const char *key)
{
	const char *end = line + strcspn(line, "\n"), *at = strstr(line, key);
	unsigned long value;

	if (!at || at >= end)
		return UINT32_MAX;
	value = strtoul(at + strlen(key), NULL, 10);
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

struct place {
	uint32_t offset, size;
};

/* Finds the field `name`: its line is "field: TYPE NAME; offset:N; size:N; ...". */
static int page_find_field(const char *text, const char *name, struct place *ret,
			   struct wm_diag *diag)
{
	char want[32];
	const char *at;

	(void)snprintf(want, sizeof(want), " %s;", name);
	at = strstr(text, want);
	if (!at)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "the description of ring pages has no field '%s'", name);
	ret->offset = number_on_line(at, "offset:");
	ret->size = number_on_line(at, "size:");
	if (ret->offset > UINT16_MAX || ret->size > WM_PAGE_BYTES_MAX)
		return wm_diag_set(diag, -EBADMSG, NULL, at - text,
				   "the field '%s' of ring pages has no valid offset and size",
				   name);
	return 0;
}

static int layout_of_text(const char *text, bool big_endian, struct wm_page_layout *ret,
			  struct wm_diag *diag)
{
	struct place time, commit, data;
	int err = page_find_field(text, "timestamp", &time, diag);

	if (!err)
		err = page_find_field(text, "commit", &commit, diag);
	if (!err)
		err = page_find_field(text, "data", &data, diag);
	if (err)
		return err;
	if (time.offset != 0 || time.size != 8 || commit.offset < 8 ||
	    (commit.size != 4 && commit.size != 8) || data.offset < commit.offset + commit.size ||
	    data.size < 8)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "ring pages with the time at %u (%u bytes), commit at %u (%u) "
				   "and data at %u (%u) are not of a known kernel",
				   time.offset, time.size, commit.offset, commit.size, data.offset,
				   data.size);
	*ret = (struct wm_page_layout){
	    .commit_offset = (uint16_t)commit.offset,
	    .data_offset = (uint16_t)data.offset,
	    .long_bytes = (uint8_t)commit.size,
	    .page_bytes = data.offset + data.size,
	    .big_endian = big_endian,
	    .swap = wm_order_swap(big_endian),
	};
	return 0;
}

int wm_page_layout_parse(const char *text, size_t bytes, bool big_endian,
			 struct wm_page_layout *ret, struct wm_diag *diag)
{
	char copy[LAYOUT_TEXT_MAX + 1];

	if (bytes > LAYOUT_TEXT_MAX)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "the description of ring pages has %zu bytes, the limit is %u",
				   bytes, LAYOUT_TEXT_MAX);
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return layout_of_text(copy, big_endian, ret, diag);
}

int wm_page_open(struct wm_page_cursor *c, const struct wm_page_layout *l, const void *page,
		 size_t bytes, struct wm_diag *diag)
{
	const unsigned char *p = page;
	uint32_t commit, data_bytes;
	uint64_t lost = 0;

	if (bytes < l->data_offset)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "a ring page's header needs %u bytes, only %zu are present",
				   l->data_offset, bytes);
	commit = (uint32_t)wm_get_uint(p + l->commit_offset, l->long_bytes, l->swap);
	data_bytes = commit & COMMIT_BYTES;
	if (data_bytes > bytes - l->data_offset)
		return wm_diag_set(diag, -EBADMSG, NULL, l->commit_offset,
				   "a ring page of %zu bytes claims %u bytes of records", bytes,
				   data_bytes);
	if (commit & COMMIT_LOST) {
		lost = WM_PAGE_LOST_UNKNOWN;
		if (commit & COMMIT_STORED && data_bytes + l->long_bytes <= bytes - l->data_offset)
			lost = wm_get_uint(p + l->data_offset + data_bytes, l->long_bytes, l->swap);
	}
	*c = (struct wm_page_cursor){
	    .time = wm_get_u64(p, l->swap),
	    .begin = wm_get_u64(p, l->swap),
	    .lost = lost,
	    .committed = data_bytes,
	    .big_endian = l->big_endian,
	    .swap = l->swap,
	    .at = p + l->data_offset,
	    .end = p + l->data_offset + data_bytes,
	    .page = p,
	};
	return 0;
}
