/* SPDX-License-Identifier: MIT */
/*
 * own.c - checks that the perf tool's own records match their type. They are not events, so an
 * event whose type was changed to one of these by damage would disappear unnoticed.
 */
#include "read/perfdata/perfdata_int.h"

#define PAD_MAX 8u /* records are padded to eight bytes, by some versions to one word more */

/*
 * The expected size of a kind of record. Sizes include the header; `most` is 0 when the only limit
 * is the 64 KiB of any record.
 */
struct shape {
	uint32_t least, most;
	uint32_t count_at, count_bytes; /* offset of the number of elements; 0: no elements */
	uint32_t element_bytes;         /* the elements follow `least` bytes */
	uint32_t step; /* alignment of records it may have swallowed; 0: its length is exact */
};

static const struct shape shapes[] = {
    [WM_PD_ATTR - 64] = {.least = 8 + 64, .step = 4},
    [WM_PD_EVENT_TYPE - 64] = {.least = 24, .most = 16 + 64},
    [WM_PD_TRACING_DATA - 64] = {.least = 12, .most = 16},
    [WM_PD_BUILD_ID - 64] = {.least = 8 + 4 + 24 + 1, .step = 4},
    [WM_PD_FINISHED_ROUND - 64] = {.least = 8, .most = 8},
    [WM_PD_ID_INDEX - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 32},
    [WM_PD_AUXTRACE_INFO - 64] = {.least = 16, .step = 4},
    [WM_PD_AUXTRACE - 64] = {.least = 48, .most = 48},
    [WM_PD_AUXTRACE_ERROR - 64] = {.least = 8 + 4 * 6 + 8 + 8, .step = 4},
    [WM_PD_THREAD_MAP - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 24},
    [WM_PD_CPU_MAP - 64] = {.least = 12, .step = 4},
    [WM_PD_STAT_CONFIG - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 16},
    [WM_PD_STAT - 64] = {.least = 48, .most = 48},
    [WM_PD_STAT_ROUND - 64] = {.least = 24, .most = 24},
    [WM_PD_EVENT_UPDATE - 64] = {.least = 24, .step = 4},
    [WM_PD_TIME_CONV - 64] = {.least = 32, .most = 56, .step = 4},
    [WM_PD_FEATURE - 64] = {.least = 16, .step = 4},
    [WM_PD_COMPRESSED - 64] = {.least = 8, .step = 1},
    [WM_PD_FINISHED_INIT - 64] = {.least = 8, .most = 8},
    [WM_PD_COMPRESSED2 - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 1},
    [WM_PD_BPF_METADATA - 64] = {.least = 8 + 64, .step = 4},
};

/* A record, which may be inside another one. */
struct own {
	const unsigned char *bytes;
	struct wm_perf_header header;
	bool swap;
};

static const struct shape *perfdata_own_shape_of(uint32_t type)
{
	uint32_t which = type - WM_PERF_KIND_USER;

	return which < sizeof(shapes) / sizeof(shapes[0]) && shapes[which].least ? &shapes[which]
										 : NULL;
}

static bool has_shape(const struct shape *s, const struct own *r)
{
	uint64_t least = s->least, count;

	if (r->header.size < least || (s->most && r->header.size > s->most))
		return false;
	if (!s->count_bytes)
		return true;
	count = wm_get_u64(r->bytes + s->count_at, r->swap);
	least += count <= UINT16_MAX ? count * s->element_bytes : UINT16_MAX + 1u;
	return r->header.size >= least && r->header.size <= least + PAD_MAX;
}

static bool is_printable(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

/* Checks the contents of records of variable size. */
static bool has_sense(const struct own *r)
{
	const unsigned char *body = r->bytes + WM_PERF_HEADER_BYTES;

	switch (r->header.type) {
	case WM_PD_EVENT_TYPE: /* a number and a name, which is cut to whole words, with or
				* without a NUL */
		return is_printable(body[8]) && (!r->bytes[r->header.size - 1] ||
						 is_printable(r->bytes[r->header.size - 1]));
	case WM_PD_EVENT_UPDATE:
		return wm_get_u64(body, r->swap) < 16;
	case WM_PD_FEATURE:
		return wm_get_u64(body, r->swap) < WM_PD_NR_FEATURES;
	case WM_PD_CPU_MAP:
		return wm_get_u16(body, r->swap) < 4;
	case WM_PD_AUXTRACE_INFO:
		return wm_get_u32(body, r->swap) < 64;
	case WM_PD_AUXTRACE_ERROR:
		return wm_get_u32(body, r->swap) < 16 && wm_get_u32(body + 4, r->swap) < 256;
	case WM_PD_ATTR:
		return wm_get_u32(body + 4, r->swap) + 8ull <= r->header.size;
	default:
		return true;
	}
}

/* --- records in records ---------------------------------------------------------------- */

/* Returns the size of the record's fixed part. */
static uint32_t first_bytes(const struct shape *s, const struct own *r)
{
	uint32_t attr_bytes = wm_get_u32(r->bytes + WM_PERF_HEADER_BYTES + 4, r->swap);

	return r->header.type == WM_PD_ATTR && attr_bytes > s->least - WM_PERF_HEADER_BYTES
		   ? WM_PERF_HEADER_BYTES + attr_bytes
		   : s->least;
}

static bool perfdata_own_begins(const struct own *r)
{
	const struct shape *s = perfdata_own_shape_of(r->header.type);

	if (r->header.type >= WM_PERF_KIND_USER)
		return s && has_shape(s, r) && has_sense(r);
	return r->header.type && r->header.type < WM_PERF_KIND_NR;
}

/*
 * Returns whether the record ends with another complete record: if so, its size was damaged, and it
 * has swallowed the records up to the end of that one.
 */
static bool took_in_others(const struct shape *s, const struct own *r)
{
	uint32_t at = (first_bytes(s, r) + s->step - 1) / s->step * s->step, size = r->header.size;

	for (; at + WM_PERF_HEADER_BYTES <= size; at += s->step) {
		const unsigned char *bytes = r->bytes + at;
		struct own in = {bytes, wm_kperf_header_get(bytes, r->swap), r->swap};

		if (in.header.size == size - at && perfdata_own_begins(&in))
			return true;
	}
	return false;
}

/* --- entry point --------------------------------------------------------------------- */

static void perfdata_own_tell(const struct wm_pd_walk *w, const char *what, const char *result)
{
	wm_trace_fault(w->pd->trace, w->source->file, w->offset, "%s (type %u, %u bytes): %s", what,
		       w->header.type, w->header.size, result);
}

/* Returns whether the feature has a layout; reports a mismatch. */
static bool check_feature(const struct wm_pd_walk *w)
{
	struct wm_pd_bytes b = {.at = w->record + WM_PERF_HEADER_BYTES,
				.end = w->record + w->header.size,
				.swap = w->pd->swap};
	uint32_t feature = (uint32_t)wm_pd_u64(&b);
	const char *flaw = NULL;
	bool known = wm_pd_layout_check(w->pd, feature, b, &flaw);

	if (flaw)
		wm_trace_fault(
		    w->pd->trace, w->source->file, w->offset,
		    "the record of feature %u (type %u, %u bytes) %s: events may be missing",
		    feature, w->header.type, w->header.size, flaw);
	return known;
}

void wm_pd_own_check(const struct wm_pd_walk *w)
{
	const struct own r = {w->record, w->header, w->pd->swap};
	const struct shape *s = perfdata_own_shape_of(w->header.type);

	if (!s)
		perfdata_own_tell(w, "this type of record is unknown", "it is left out");
	else if (!has_shape(s, &r) || !has_sense(&r))
		perfdata_own_tell(w, "the record does not match its type", "it is left out");
	else if (w->header.type == WM_PD_FEATURE && check_feature(w))
		return;
	else if (s->step && took_in_others(s, &r))
		perfdata_own_tell(w, "the record contains other records", "events may be missing");
}
