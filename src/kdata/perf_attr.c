/* SPDX-License-Identifier: MIT */
/* perf_attr.c - reads the fields of an attr by offset; fields beyond the attr's size are 0. */
#include "kdata/perf_attr_int.h"

#include <errno.h>
#include <stddef.h>

#include "base/order.h"

/* Offset of each field in the attr and in struct wm_perf_attr; the size is the same in both. */
static const struct part {
	uint8_t offset, bytes;
	uint16_t ours;
} parts[] = {
#define PART(offset, field)                                                                        \
	{                                                                                          \
		offset, sizeof(((struct wm_perf_attr *)0)->field),                                 \
		    offsetof(struct wm_perf_attr, field)                                           \
	}
    PART(0, type),
    PART(4, size),
    PART(8, config),
    PART(16, period),
    PART(24, sample_type),
    PART(32, read_format),
    PART(40, flags),
    PART(48, wakeup),
    PART(52, bp_type),
    PART(56, config1),
    PART(64, config2),
    PART(72, branch_sample_type),
    PART(80, regs_user),
    PART(88, stack_user),
    PART(92, clockid),
    PART(96, regs_intr),
    PART(104, aux_watermark),
    PART(108, sample_max_stack),
    PART(112, aux_sample_size),
    PART(116, aux_action),
    PART(120, sig_data),
    PART(128, config3),
    PART(136, config4),
#undef PART
};
#define KNOWN_BYTES 144u

/*
 * A big-endian compiler allocates bit fields from the top, so the first flag is the last bit. The
 * two bits of precise_ip form a number whose bits keep their order, so they are swapped back.
 */
static uint64_t perf_attr_mirrored(uint64_t bits)
{
	const int precise = WM_PERF_ATTR_PRECISE_SHIFT;
	uint64_t ret = 0, low, high;

	for (int i = 0; i < 64; i++)
		ret |= (bits >> i & 1) << (63 - i);
	low = ret >> precise & 1;
	high = ret >> (precise + 1) & 1;
	return (ret & ~(3ull << precise)) | low << (precise + 1) | high << precise;
}

static void perf_attr_fill(struct wm_perf_attr *a, const unsigned char *data, size_t bytes,
			   bool swap)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];
		unsigned char *to = (unsigned char *)a + part->ours;
		uint64_t value;

		if (part->offset + part->bytes > bytes)
			break;
		value = wm_get_uint(data + part->offset, part->bytes, swap);
		if (part->bytes == 8)
			memcpy(to, &value, 8);
		else if (part->bytes == 4)
			memcpy(to, &(uint32_t){(uint32_t)value}, 4);
		else
			memcpy(to, &(uint16_t){(uint16_t)value}, 2);
	}
}

int wm_kperf_attr_parse(const void *data, size_t bytes, bool swap, struct wm_perf_attr *ret,
			struct wm_diag *diag)
{
	struct wm_perf_attr a = {0};
	const unsigned char *p = data;
	uint32_t size;

	if (bytes < WM_PERF_ATTR_BYTES_MIN)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "an event's attributes need %u bytes, only %zu are present",
				   WM_PERF_ATTR_BYTES_MIN, bytes);
	size = wm_get_u32(p + 4, swap);
	if (size == 0)
		size = WM_PERF_ATTR_BYTES_MIN;
	if (size < WM_PERF_ATTR_BYTES_MIN || size > WM_PERF_ATTR_BYTES_MAX || size > bytes)
		return wm_diag_set(
		    diag, -EBADMSG, NULL, 4,
		    "an event's attributes claim %u bytes, the valid range is %u to %zu", size,
		    WM_PERF_ATTR_BYTES_MIN, bytes);
	perf_attr_fill(&a, p, size, swap);
	if (wm_order_swap(true) == swap) /* the attr is from a big-endian machine */
		a.flags = perf_attr_mirrored(a.flags);
	for (size_t i = KNOWN_BYTES; i < size; i++)
		a.nr_unknown += p[i] != 0;
	*ret = a;
	return 0;
}
