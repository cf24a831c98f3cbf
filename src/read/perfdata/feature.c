/* SPDX-License-Identifier: MIT */
/* feature.c - reads the feature sections; see perfdata_int.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "read/perfdata/perfdata_int.h"

uint32_t wm_pd_u32(struct wm_pd_bytes *b)
{
	const unsigned char *p = wm_pd_take(b, 4);

	return p ? wm_get_u32(p, b->swap) : 0;
}

uint64_t wm_pd_u64(struct wm_pd_bytes *b)
{
	const unsigned char *p = wm_pd_take(b, 8);

	return p ? wm_get_u64(p, b->swap) : 0;
}

const unsigned char *wm_pd_take(struct wm_pd_bytes *b, uint64_t bytes)
{
	const unsigned char *p = b->at;

	if (b->failed || bytes > (uint64_t)(b->end - b->at)) {
		b->failed = true;
		return NULL;
	}
	b->at += bytes;
	return p;
}

/*
 * Reads a string as perf writes it: u32 size, then text padded with NULs. NULL if it exceeds the
 * section.
 */
static const char *pd_string(struct wm_pd_bytes *b, struct wm_trace *t)
{
	uint32_t room = wm_pd_u32(b);
	const unsigned char *p = room <= WM_PD_STRING_MAX ? wm_pd_take(b, room) : NULL;

	if (!p) {
		b->failed = true;
		return NULL;
	}
	return wm_arena_copy(&t->arena, p, strnlen((const char *)p, room));
}

/* --- features that are one string ------------------------------------------ */

static const struct {
	uint32_t feature;
	const char *key, *prefix;
} strings[] = {
    {WM_PD_HAS_HOSTNAME, "host", ""},       {WM_PD_HAS_OSRELEASE, "kernel", ""},
    {WM_PD_HAS_VERSION, "tracer", "perf "}, {WM_PD_HAS_ARCH, "arch", ""},
    {WM_PD_HAS_CPUDESC, "cpu", ""},         {WM_PD_HAS_CPUID, "cpuid", ""},
};

static int feature_add_string(struct wm_pd *pd, size_t which, struct wm_pd_bytes *b)
{
	const char *text = pd_string(b, pd->trace);
	char word[512];

	if (!text)
		return 0;
	snprintf(word, sizeof(word), "%s%s", strings[which].prefix, text);
	return wm_trace_add_word(pd->trace, strings[which].key, word);
}

static int add_command(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	uint32_t n = wm_pd_u32(b);
	struct wm_text t;
	int err = 0;

	wm_text_init(&t);
	for (uint32_t i = 0; i < n && !b->failed; i++) {
		const char *word = pd_string(b, pd->trace);

		if (word)
			wm_text_f(&t, "%s%s", i ? " " : "", word);
	}
	if (t.data && !t.failed)
		err = wm_trace_add_word(pd->trace, "command", t.data);
	wm_text_done(&t);
	return err;
}

/* Reads u32 version, clock; u64 wall clock and that clock at the same moment. */
static int add_clock_data(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	uint32_t version = wm_pd_u32(b), id = wm_pd_u32(b);
	uint64_t wall, clock;

	wall = wm_pd_u64(b);
	clock = wm_pd_u64(b);
	if (b->failed || version != 1 || wall > INT64_MAX || clock > INT64_MAX)
		return 0;
	/*
	 * If that clock is the wall clock, ignores the difference: time passed
	 * between the two readings.
	 */
	pd->clock->offset_ns = id == CLOCK_REALTIME ? 0 : (int64_t)wall - (int64_t)clock;
	pd->clock->is_epoch = pd->clock->is_shown_raw = true;
	return 0;
}

/*
 * Reads one BUILD_ID record. In a section they are consecutive, each with a record header whose
 * type may be 0; in pipe form they are ordinary records. s32 pid; 20 bytes of build-id, followed by
 * its length if misc says so; path.
 */
int wm_pd_build_id(struct wm_pd *pd, const unsigned char *record, const struct wm_perf_header *h)
{
	const unsigned char *id = record + WM_PERF_HEADER_BYTES + 4;
	uint32_t mode = h->misc & WM_PERF_MISC_MODE_MASK, bytes = WM_PD_BUILD_ID_BYTES;

	if (h->size < WM_PD_BUILD_ID_NAME)
		return 0;
	if (h->misc & WM_PD_MISC_BUILD_ID_SIZE && id[WM_PD_BUILD_ID_BYTES] <= WM_PD_BUILD_ID_BYTES)
		bytes = id[WM_PD_BUILD_ID_BYTES];
	return wm_trace_add_binary(
	    pd->trace, (const char *)record + WM_PD_BUILD_ID_NAME, h->size - WM_PD_BUILD_ID_NAME,
	    id, bytes, mode == WM_PERF_MISC_KERNEL || mode == WM_PERF_MISC_GUEST_KERNEL);
}

static int add_build_ids(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	int err = 0;

	while (!err && b->end - b->at >= (ptrdiff_t)WM_PERF_HEADER_BYTES) {
		const unsigned char *record = b->at;
		struct wm_perf_header h = wm_kperf_header_get(record, b->swap);

		if (h.size < WM_PERF_HEADER_BYTES || !wm_pd_take(b, h.size)) {
			b->failed = true;
			break;
		}
		err = wm_pd_build_id(pd, record, &h);
	}
	return err;
}

/* Returns the index of the attr with this id, or -1. */
static int64_t attr_with_id(const struct wm_pd *pd, uint64_t id)
{
	const struct wm_pd_attr *a = wm_pd_attr_find(pd, id);

	return a ? a - pd->attrs : -1;
}

/*
 * Reads HEADER_EVENT_DESC: u32 number of events, u32 size of an attr; then for each event its attr,
 * u32 number of ids, name, ids. Entry i names attr i, unless one of its ids belongs to another
 * attr.
 */
static int add_event_desc(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	uint32_t n = wm_pd_u32(b), attr_bytes = wm_pd_u32(b);

	for (uint32_t i = 0; i < n && !b->failed; i++) {
		int64_t attr = i < pd->nr_attrs ? (int64_t)i : -1;
		uint32_t nr_ids;
		const char *name;

		(void)wm_pd_take(b, attr_bytes);
		nr_ids = wm_pd_u32(b);
		name = pd_string(b, pd->trace);
		for (uint32_t k = 0; k < nr_ids && !b->failed; k++) {
			int64_t found = attr_with_id(pd, wm_pd_u64(b));

			if (found >= 0)
				attr = found;
		}
		if (name && attr >= 0 && !b->failed)
			wm_pd_attr_name(pd, (uint32_t)attr, name);
	}
	return 0;
}

/* Reads the number of processors: u32 present, u32 online. */
static int add_nr_cpus(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	pd->nr_cpus = wm_pd_u32(b);
	return 0;
}

/*
 * Reads u32 version, kind, level... Kind 0, which perf stat writes, means that nothing is
 * compressed.
 */
static int feature_note_packed(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	(void)wm_pd_u32(b);
	pd->packed |= wm_pd_u32(b) != 0 || b->failed;
	return 0;
}

static const struct {
	uint32_t feature;
	int (*add)(struct wm_pd *pd, struct wm_pd_bytes *b);
} others[] = {
    {WM_PD_HAS_TRACING_DATA, wm_pd_tracing},
    {WM_PD_HAS_CMDLINE, add_command},
    {WM_PD_HAS_BUILD_ID, add_build_ids},
    {WM_PD_HAS_EVENT_DESC, add_event_desc},
    {WM_PD_HAS_COMPRESSED, feature_note_packed},
    {WM_PD_HAS_CLOCK_DATA, add_clock_data},
    {WM_PD_HAS_NRCPUS, add_nr_cpus},
};

int wm_pd_keep(struct wm_pd *pd, uint32_t feature, const void *data, size_t bytes)
{
	struct wm_arena *a = &pd->trace->arena;
	struct wm_pd_kept *more;

	if (bytes > WM_PD_KEPT_MAX)
		return 0;
	more = wm_arena_grow(a, pd->kept, pd->nr_kept, sizeof(*more));
	if (!more)
		return -ENOMEM;
	pd->kept = more;
	more[pd->nr_kept] =
	    (struct wm_pd_kept){feature, (uint32_t)bytes, wm_arena_copy(a, data, bytes)};
	return more[pd->nr_kept].data ? (int)(pd->nr_kept++, 0) : -ENOMEM;
}

int wm_pd_feature(struct wm_pd *pd, uint32_t feature, const unsigned char *data, size_t bytes)
{
	struct wm_pd_bytes b = {.at = data, .end = data + bytes, .swap = pd->swap};
	int err = feature == WM_PD_HAS_TRACING_DATA ? 0 : wm_pd_keep(pd, feature, data, bytes);

	if (err || !bytes) /* perf may find no value for a feature, such as a processor's name */
		return err;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (strings[i].feature == feature)
			err = feature_add_string(pd, i, &b);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].feature == feature)
			err = others[i].add(pd, &b);
	return err ? err : b.failed;
}
