/* SPDX-License-Identifier: MIT */
/*
 * header.c - reads perf.data in file form:
 *
 *   "PERFILE2" u64 size, attr_size; sections attrs, data, event_types
 *   { u64 offset, size }; 256 bits of features; after the data one section for
 *   each feature bit that is set, lowest first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "read/claim_int.h"
#include "read/perfdata/perfdata_int.h"

#define HEADER_BYTES           104u
#define FEATURE_BITS           256u
#define WITHOUT_FEATURES_BYTES 72u /* header size in the first versions of perf */
#define EVENT_TYPE_BYTES       72u /* u64 config; char name[64] */

struct section {
	uint64_t offset, bytes;
};

struct header {
	struct wm_claims claims; /* the ranges of the file that the header describes */
	uint64_t attr_bytes;     /* size of an attr and of its reference to the ids */
	struct section attrs, data, event_types;
	uint64_t features[4];
};

static bool inside(const struct section *s, uint64_t file_bytes)
{
	return s->offset <= file_bytes && s->bytes <= file_bytes - s->offset;
}

static struct section get_section(const unsigned char *p, bool swap)
{
	return (struct section){wm_get_u64(p, swap), wm_get_u64(p + 8, swap)};
}

/*
 * The bits are an array of the recorder's longs: with the other byte order, the two halves of 64
 * bits may be swapped. Every perf sets the bit for the host's name.
 */
static void get_features(struct header *h, const unsigned char *p, bool swap)
{
	const uint64_t host = 1ull << WM_PD_HAS_HOSTNAME;

	for (int i = 0; i < 4; i++)
		h->features[i] = wm_get_u64(p + 8 * i, swap);
	if (!swap || (h->features[0] & host) || !(h->features[0] >> 32 & host))
		return;
	for (int i = 0; i < 4; i++)
		h->features[i] = h->features[i] << 32 | h->features[i] >> 32;
}

static void get_header(struct header *h, const unsigned char *p, bool swap)
{
	h->attr_bytes = wm_get_u64(p + 16, swap);
	h->attrs = get_section(p + 24, swap);
	h->data = get_section(p + 40, swap);
	h->event_types = get_section(p + 56, swap);
	if (wm_get_u64(p + 8, swap) > WITHOUT_FEATURES_BYTES)
		get_features(h, p + WITHOUT_FEATURES_BYTES, swap);
}

/* Reads a section's bytes; the caller frees them. */
static int perfdata_header_load(const struct wm_pd_source *s, const struct section *at,
				unsigned char **ret)
{
	unsigned char *p = malloc(at->bytes + 1);
	int err;

	if (!p)
		return -ENOMEM;
	err = wm_pd_pread(s, p, at->bytes, at->offset);
	if (err) {
		free(p);
		return err;
	}
	*ret = p;
	return 0;
}

static int claim(struct header *h, const struct section *at)
{
	return wm_claims_add(&h->claims, at->offset, at->bytes);
}

static int read_ids(struct wm_pd *pd, const struct wm_pd_source *s, struct header *h,
		    const struct section *at, uint32_t attr, uint64_t file_bytes)
{
	unsigned char *ids = NULL;
	int err;

	if (!at->bytes)
		return 0;
	if (!inside(at, file_bytes) || at->bytes > 8ull * WM_PD_IDS_MAX) {
		wm_trace_fault(pd->trace, s->file, at->offset,
			       "the ids of event %u (%llu bytes) are outside of the file", attr,
			       (unsigned long long)at->bytes);
		return 0;
	}
	err = claim(h, at);
	if (!err)
		err = perfdata_header_load(s, at, &ids);
	for (uint64_t i = 0; !err && i < at->bytes / 8; i++)
		err = wm_pd_id_add(pd, wm_get_u64(ids + 8 * i, pd->swap), attr);
	free(ids);
	return err;
}

static int read_attrs(struct wm_pd *pd, const struct wm_pd_source *s, struct header *h,
		      uint64_t file_bytes, struct wm_diag *diag)
{
	unsigned char *data;
	uint64_t n;
	int got, err;

	if (h->attr_bytes < WM_PERF_ATTR_BYTES_MIN + 16 ||
	    h->attr_bytes > WM_PERF_ATTR_BYTES_MAX + 16)
		return wm_diag_set(diag, -EBADMSG, s->file, 16,
				   "the header says that the attributes of an event have %llu "
				   "bytes; %u to %u are possible",
				   (unsigned long long)h->attr_bytes, WM_PERF_ATTR_BYTES_MIN + 16u,
				   WM_PERF_ATTR_BYTES_MAX + 16u);
	if (!inside(&h->attrs, file_bytes))
		return wm_diag_set(
		    diag, -EBADMSG, s->file, 24,
		    "the events' attributes (%llu bytes at %llu) are outside of the file",
		    (unsigned long long)h->attrs.bytes, (unsigned long long)h->attrs.offset);
	n = h->attrs.bytes / h->attr_bytes;
	if (!n || n > WM_PD_ATTRS_MAX)
		return wm_diag_set(diag, -EBADMSG, s->file, 32,
				   "the header lists %llu events; 1 to %u are possible",
				   (unsigned long long)n, WM_PD_ATTRS_MAX);
	err = claim(h, &h->attrs);
	if (!err)
		err = perfdata_header_load(s, &h->attrs, &data);
	if (err)
		return err;
	for (uint64_t i = 0; !err && i < n; i++) {
		const unsigned char *p = data + i * h->attr_bytes;
		struct section ids = get_section(p + h->attr_bytes - 16, pd->swap);

		got = wm_pd_attr_add(pd, p, h->attr_bytes - 16, diag);
		if (got < 0 && diag)
			diag->offset += (int64_t)(h->attrs.offset + i * h->attr_bytes);
		err = got < 0 ? got : read_ids(pd, s, h, &ids, (uint32_t)got, file_bytes);
	}
	free(data);
	return err;
}

/*
 * Reads the event_types section, in which old versions of perf stored event names by attr.config,
 * before HEADER_EVENT_DESC existed.
 */
static int read_event_types(struct wm_pd *pd, const struct wm_pd_source *s, struct header *h,
			    uint64_t file_bytes)
{
	const struct section *at = &h->event_types;
	unsigned char *data;
	int err;

	if (!at->bytes || !inside(at, file_bytes) || at->bytes > WM_PD_FEATURE_MAX)
		return 0;
	err = claim(h, at);
	if (!err)
		err = perfdata_header_load(s, at, &data);
	if (err)
		return err;
	for (uint64_t i = 0; i + EVENT_TYPE_BYTES <= at->bytes; i += EVENT_TYPE_BYTES)
		wm_pd_config_name(pd, wm_get_u64(data + i, pd->swap), (const char *)data + i + 8);
	free(data);
	return 0;
}

static int read_feature(struct wm_pd *pd, const struct wm_pd_source *s, uint32_t f,
			const struct section *at)
{
	unsigned char *data;
	int err = f < WM_PD_NR_FEATURES ? perfdata_header_load(s, at, &data) : 0;

	if (err || f >= WM_PD_NR_FEATURES)
		return err; /* other bits are features of newer versions of perf */
	err = wm_pd_feature(pd, f, data, at->bytes);
	free(data);
	if (err > 0)
		wm_trace_fault(pd->trace, s->file, at->offset,
			       "feature %u (%llu bytes) ends inside a value", f,
			       (unsigned long long)at->bytes);
	return err < 0 ? err : 0;
}

static bool feature_is_usable(struct wm_pd *pd, const struct wm_pd_source *s, uint32_t f,
			      const struct section *at, uint64_t file_bytes)
{
	bool is_inside = inside(at, file_bytes);

	if (!is_inside)
		wm_trace_fault(pd->trace, s->file, at->offset,
			       "feature %u (%llu bytes) is outside of the file", f,
			       (unsigned long long)at->bytes);
	else if (at->bytes > WM_PD_FEATURE_MAX)
		wm_trace_fault(pd->trace, s->file, at->offset,
			       "feature %u has %llu bytes, the limit is %u", f,
			       (unsigned long long)at->bytes, WM_PD_FEATURE_MAX);
	return is_inside && at->bytes <= WM_PD_FEATURE_MAX;
}

static int read_features(struct wm_pd *pd, const struct wm_pd_source *s, struct header *h,
			 uint64_t file_bytes)
{
	struct section at = {h->data.offset + h->data.bytes, 16};
	uint64_t table = at.offset, table_end = file_bytes;

	for (uint32_t f = 0; f < FEATURE_BITS; f++) {
		unsigned char entry[16];
		struct section section;
		int err;

		if (!(h->features[f / 64] >> (f % 64) & 1))
			continue;
		if (!inside(&at, file_bytes) || wm_pd_pread(s, entry, 16, at.offset)) {
			wm_trace_fault(pd->trace, s->file, at.offset,
				       "the table of features ends before feature %u; the recorder "
				       "was probably killed",
				       f);
			return 0;
		}
		section = get_section(entry, pd->swap);
		err = claim(h, &at);
		at.offset += 16;
		if (!feature_is_usable(pd, s, f, &section, file_bytes))
			continue;
		if (section.offset >= at.offset && section.offset < table_end)
			table_end = section.offset;
		if (!err)
			err = claim(h, &section);
		if (!err)
			err = read_feature(pd, s, f, &section);
		if (err)
			return err;
		h->features[f / 64] &= ~(1ull << f % 64); /* done with this feature */
	}
	/* perf 3.4 reserves entries in the table for features that it does not write. */
	return table_end < file_bytes ? wm_claims_add(&h->claims, table, table_end - table) : 0;
}

/*
 * Determines whether records may be compressed: if the section cannot be read, its feature bit
 * decides.
 */
static void perfdata_header_note_packed(struct wm_pd *pd, const struct header *h)
{
	pd->packed |= h->features[WM_PD_HAS_COMPRESSED / 64] >> WM_PD_HAS_COMPRESSED % 64 & 1;
}

/* Clips the data section to the file. */
static void place_data(struct wm_pd *pd, struct wm_pd_source *s, struct header *h,
		       uint64_t file_bytes)
{
	if (h->data.offset > file_bytes)
		h->data.offset = file_bytes;
	if (!h->data.bytes || h->data.bytes > file_bytes - h->data.offset) {
		wm_trace_fault(pd->trace, s->file, 48,
			       h->data.bytes ? "the file ends inside its data: it was truncated"
					     : "the header has no data size: the recorder was "
					       "killed, or is still writing");
		pd->trace->incomplete = true;
		h->data.bytes = file_bytes - h->data.offset;
		perfdata_header_note_packed(pd, h);
		/* the feature sections would be after the data */
		memset(h->features, 0, sizeof(h->features));
	}
	s->begin = h->data.offset;
	s->end = h->data.offset + h->data.bytes;
}

static int read_parts(struct wm_pd *pd, struct wm_pd_source *s, struct header *h,
		      uint64_t file_bytes, struct wm_diag *diag)
{
	const struct wm_claims_of of = {.trace = pd->trace,
					.file = s->file,
					.fd = s->fd,
					.bytes = file_bytes,
					.least = WM_PERF_HEADER_BYTES};
	const struct section head = {0, HEADER_BYTES};
	int err = claim(h, &head);

	if (!err)
		err = read_attrs(pd, s, h, file_bytes, diag);
	if (!err)
		err = read_event_types(pd, s, h, file_bytes);
	if (err)
		return err;
	place_data(pd, s, h, file_bytes);
	err = claim(h, &h->data);
	if (!err)
		err = read_features(pd, s, h, file_bytes);
	perfdata_header_note_packed(pd, h);
	return err ? err : wm_claims_tell(&h->claims, &of);
}

int wm_pd_header_read(struct wm_pd *pd, struct wm_pd_source *s, struct wm_diag *diag)
{
	unsigned char bytes[HEADER_BYTES];
	struct header h = {.attr_bytes = 0};
	struct stat st;
	int err;

	if (fstat(s->fd, &st))
		return -errno;
	if (wm_pd_pread(s, bytes, sizeof(bytes), 0))
		return wm_diag_set(diag, -EBADMSG, s->file, 0,
				   "the file ends inside its header (%u bytes)", HEADER_BYTES);
	get_header(&h, bytes, pd->swap);
	err = read_parts(pd, s, &h, (uint64_t)st.st_size, diag);
	wm_claims_done(&h.claims);
	return err;
}
