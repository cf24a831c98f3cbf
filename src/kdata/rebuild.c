/* SPDX-License-Identifier: MIT */
/* rebuild.c - see rebuild.h. */
#include "kdata/rebuild.h"

#include <errno.h>
#include <string.h>

#define LONG_BYTES 8u

struct rebuilding {
	const struct wm_item *items;
	unsigned char *out;
	uint32_t bytes; /* current size of the record: its fixed part, then dynamic arrays */
};

void wm_rebuild_machine(struct wm_kmachine *ret)
{
	wm_kmachine_init(ret, LONG_BYTES, false);
}

static void rebuild_put(unsigned char *to, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = i < sizeof(value) ? (unsigned char)(value >> 8 * i) : 0;
}

/* --- one field's bytes ------------------------------------------------------------------ */

/* Writes at most `room` bytes of an item's contents. Returns their number, or -EBADMSG. */
static int64_t rebuild_put_item(const struct rebuilding *r, uint32_t index, uint32_t width,
				unsigned char *to, uint32_t room)
{
	const struct wm_item *i = &r->items[index];
	uint32_t n = i->count;

	switch (i->member->type->kind) {
	case WM_TYPE_STRING:
	case WM_TYPE_BYTES:
		if (n > room)
			return -EBADMSG;
		if (n)
			memcpy(to, i->bytes, n);
		return n;
	case WM_TYPE_LIST:
		if (width == 0 || n > room / width || i->next != index + 1 + n)
			return -EBADMSG;
		for (uint32_t k = 0; k < n; k++)
			rebuild_put(to + (size_t)k * width, i[k + 1].u, width);
		return (int64_t)n * width;
	case WM_TYPE_UNSIGNED:
	case WM_TYPE_SIGNED:
	case WM_TYPE_BOOL:
		if (width > room || width > 8)
			return -EBADMSG;
		rebuild_put(to, i->u, width);
		return width;
	default:
		return -EBADMSG;
	}
}

static uint32_t rebuild_width_of(const struct wm_kfield *f)
{
	if (f->flags & WM_KFIELD_BITMASK)
		return LONG_BYTES; /* on this machine, 64-bit words are longs */
	return f->element_bytes ? f->element_bytes : 1;
}

/*
 * Appends the elements of a dynamic array and stores their offset and size in the field's
 * __data_loc or __rel_loc word; an array at the end of the record (WM_KFIELD_TAIL) has no such
 * word. Strings are NUL-terminated in the record.
 */
static int rebuild_add_dynamic(struct rebuilding *r, const struct wm_kfield *f, uint32_t index)
{
	bool is_tail = f->flags & WM_KFIELD_TAIL;
	uint32_t at = is_tail ? f->offset : r->bytes, from = at;
	int64_t n;

	if (at >= WM_REBUILD_BYTES_MAX)
		return -EBADMSG;
	n = rebuild_put_item(r, index, rebuild_width_of(f), r->out + at,
			     WM_REBUILD_BYTES_MAX - 1 - at);
	if (n < 0)
		return (int)n;
	if (f->flags & WM_KFIELD_CHARS)
		r->out[at + n++] = 0;
	r->bytes = at + (uint32_t)n;
	if (is_tail)
		return 0;
	if (f->flags & WM_KFIELD_REL_LOC)
		from -= f->offset + f->bytes;
	rebuild_put(r->out + f->offset, (uint64_t)n << 16 | from, f->bytes);
	return 0;
}

static int rebuild_add_field(struct rebuilding *r, const struct wm_kfield *f, uint32_t index)
{
	int64_t n;

	if (f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))
		return rebuild_add_dynamic(r, f, index);
	if (f->flags & WM_KFIELD_POINTER && !(f->flags & WM_KFIELD_ARRAY)) {
		rebuild_put(r->out + f->offset, r->items[index].u, f->bytes);
		return 0;
	}
	n = rebuild_put_item(r, index, rebuild_width_of(f), r->out + f->offset, f->bytes);
	return n < 0 ? (int)n : 0;
}

/*
 * Returns whether an item is the length of the list after it. In CTF 1.8 this length is a separate
 * member, named "_words_length" for "words".
 */
static bool rebuild_is_length(const struct wm_item *items, uint32_t at, uint32_t end)
{
	const char *name = items[at].member->name, *next;
	uint32_t behind = items[at].next;
	size_t n;

	if (behind >= end || !name || name[0] != '_' || !items[behind].member->name)
		return false;
	next = items[behind].member->name;
	n = strlen(next);
	return !strncmp(name + 1, next, n) && !strcmp(name + 1 + n, "_length");
}

/* --- the record -------------------------------------------------------------------------- */

static bool is_in_class(const struct wm_kfield *f)
{
	return f->bytes || f->flags & WM_KFIELD_TAIL;
}

uint32_t wm_rebuild_nr_fields(const struct wm_kformat *f)
{
	uint32_t n = 0;

	for (unsigned i = f->nr_common; i < f->nr_fields; i++)
		n += is_in_class(&f->fields[i]);
	return n;
}

static void rebuild_put_common(const struct wm_kformat *f, const struct wm_rebuild_common *common,
			       unsigned char *out)
{
	const struct {
		const char *name;
		uint64_t value;
	} words[] = {{"common_type", f->id},
		     {"common_flags", common->flags},
		     {"common_preempt_count", common->preempt_count},
		     {"common_pid", common->pid}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct wm_kfield *field = wm_kformat_field(f, words[i].name);

		if (field && field->bytes <= 8)
			rebuild_put(out + field->offset, words[i].value, field->bytes);
	}
}

int64_t wm_rebuild_record(const struct wm_kformat *f, const struct wm_item *items, uint32_t at,
			  uint32_t end, const struct wm_rebuild_common *common, unsigned char *out)
{
	struct rebuilding r = {.items = items, .out = out, .bytes = f->fixed_bytes};
	int err = f->fixed_bytes < WM_REBUILD_BYTES_MAX ? 0 : -EBADMSG;

	if (err)
		return err;
	memset(out, 0, f->fixed_bytes);
	rebuild_put_common(f, common, out);
	for (unsigned i = f->nr_common; i < f->nr_fields && !err; i++) {
		if (!is_in_class(&f->fields[i]))
			continue;
		if (at < end && rebuild_is_length(items, at, end))
			at = items[at].next;
		if (at >= end)
			return -EBADMSG;
		err = rebuild_add_field(&r, &f->fields[i], at);
		at = items[at].next;
	}
	return err ? err : at == end ? (int64_t)r.bytes : -EBADMSG;
}
