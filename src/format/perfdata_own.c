/* SPDX-License-Identifier: MIT */
/*
 * perfdata_own.c - whether the perf tool's own records can be what their type
 * says. They are no events, so an event whose type was damaged into one of
 * theirs would be gone without a word.
 */
#include "format/perfdata_int.h"

#define PAD_MAX 8u /* records are filled up to eight bytes, by some versions a word more */

/* Sizes with the header; 0 as `most`: no limit but the record's own 64 KiB. */
struct shape {
	uint32_t least, most;
	uint32_t count_at, count_bytes; /* where a number of elements is; 0: none are */
	uint32_t element_bytes;         /* which follow `least` bytes */
};

static const struct shape shapes[] = {
    [WM_PD_ATTR - 64] = {.least = 8 + 64},
    [WM_PD_EVENT_TYPE - 64] = {.least = 24, .most = 16 + 64},
    [WM_PD_TRACING_DATA - 64] = {.least = 12, .most = 16},
    [WM_PD_BUILD_ID - 64] = {.least = 8 + 4 + 24 + 1},
    [WM_PD_FINISHED_ROUND - 64] = {.least = 8, .most = 8},
    [WM_PD_ID_INDEX - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 32},
    [WM_PD_AUXTRACE_INFO - 64] = {.least = 16},
    [WM_PD_AUXTRACE - 64] = {.least = 48, .most = 48},
    [WM_PD_AUXTRACE_ERROR - 64] = {.least = 8 + 4 * 6 + 8 + 8},
    [WM_PD_THREAD_MAP - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 24},
    [WM_PD_CPU_MAP - 64] = {.least = 12},
    [WM_PD_STAT_CONFIG - 64] = {.least = 16, .count_at = 8, .count_bytes = 8, .element_bytes = 16},
    [WM_PD_STAT - 64] = {.least = 48, .most = 48},
    [WM_PD_STAT_ROUND - 64] = {.least = 24, .most = 24},
    [WM_PD_EVENT_UPDATE - 64] = {.least = 24},
    [WM_PD_TIME_CONV - 64] = {.least = 32, .most = 56},
    [WM_PD_FEATURE - 64] = {.least = 16},
    [WM_PD_COMPRESSED - 64] = {.least = 8},
    [WM_PD_FINISHED_INIT - 64] = {.least = 8, .most = 8},
    [WM_PD_COMPRESSED2 - 64] = {.least = 16},
    [WM_PD_BPF_METADATA - 64] = {.least = 8 + 64},
};

static bool has_shape(const struct shape *s, const struct wm_pd_walk *w)
{
	uint64_t least = s->least, count;

	if (w->header.size < least || (s->most && w->header.size > s->most))
		return false;
	if (!s->count_bytes)
		return true;
	count = wm_get_u64(w->record + s->count_at, w->pd->swap);
	least += count <= UINT16_MAX ? count * s->element_bytes : UINT16_MAX + 1u;
	return w->header.size >= least && w->header.size <= least + PAD_MAX;
}

/* What can be asked of those whose size says little. */
static bool has_sense(const struct wm_pd_walk *w)
{
	const unsigned char *body = w->record + WM_PERF_HEADER_BYTES;
	bool swap = w->pd->swap;

	switch (w->header.type) {
	case WM_PD_EVENT_TYPE: /* a number and a name, which old perf cuts behind its end */
		return body[8] >= ' ' && body[8] < 0x7f && !w->record[w->header.size - 1];
	case WM_PD_EVENT_UPDATE:
		return wm_get_u64(body, swap) < 16;
	case WM_PD_FEATURE:
		return wm_get_u64(body, swap) < WM_PD_NR_FEATURES;
	case WM_PD_CPU_MAP:
		return wm_get_u16(body, swap) < 4;
	case WM_PD_AUXTRACE_INFO:
		return wm_get_u32(body, swap) < 64;
	case WM_PD_AUXTRACE_ERROR:
		return wm_get_u32(body, swap) < 16 && wm_get_u32(body + 4, swap) < 256;
	case WM_PD_ATTR:
		return wm_get_u32(body + 4, swap) + 8ull <= w->header.size;
	default:
		return true;
	}
}

void wm_pd_own_check(const struct wm_pd_walk *w)
{
	uint32_t which = w->header.type - WM_PERF_KIND_USER;
	const char *what = NULL;

	if (which >= sizeof(shapes) / sizeof(shapes[0]) || !shapes[which].least)
		what = "no record of that type is known";
	else if (!has_shape(&shapes[which], w) || !has_sense(w))
		what = "no record of that type has this shape";
	if (what)
		wm_trace_fault(w->pd->trace, w->source->file, w->offset,
			       "%s (type %u, %u bytes): it is left out", what, w->header.type,
			       w->header.size);
}
