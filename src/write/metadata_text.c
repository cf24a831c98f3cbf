/* SPDX-License-Identifier: MIT */
/* metadata_text.c - shared by both metadata languages; see metadata.h and metadata_int.h. */
#include <string.h>

#include "base/utf8.h"
#include "write/metadata_int.h"

const struct wm_meta_format wm_meta_formats[] = {
    [WM_META_TSDL] = {wm_meta_tsdl_trace, wm_meta_tsdl_stream, wm_meta_tsdl_event},
    [WM_META_JSON] = {wm_meta_json_trace, wm_meta_json_stream, wm_meta_json_event},
};

void wm_meta_uuid(struct wm_text *t, const unsigned char uuid[WM_TRACE_UUID_BYTES])
{
	for (uint32_t i = 0; i < WM_TRACE_UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			wm_text_char(t, '-');
		wm_text_f(t, "%02x", uuid[i]);
	}
}

uint32_t wm_meta_utf8(const char *s)
{
	uint32_t c;

	/* A NUL is not a continuation byte, so this never reads beyond the string. */
	return wm_utf8_read((const unsigned char *)s, 4, &c);
}

bool wm_meta_has_labels(const struct wm_type *type)
{
	int64_t low, high;

	for (uint32_t i = 0; (type->is_enum || type->is_flags) && i < type->nr_labels; i++)
		if (wm_type_label_clip(type, &type->labels[i], &low, &high))
			return true;
	return false;
}

static const char *metadata_text_role_of(const char *name)
{
	static const struct {
		const char *name, *role;
	} roles[] = {
	    {"magic", "packet-magic-number"},
	    {"uuid", "metadata-stream-uuid"},
	    {"stream_id", "data-stream-class-id"},
	    {"stream_instance_id", "data-stream-id"},
	    {"timestamp_begin", "default-clock-timestamp"},
	    {"timestamp_end", "packet-end-default-clock-timestamp"},
	    {"content_size", "packet-content-length"},
	    {"packet_size", "packet-total-length"},
	    {"packet_seq_num", "packet-sequence-number"},
	    {"events_discarded", "discarded-event-record-counter-snapshot"},
	    {"id", "event-record-class-id"},
	    {"timestamp", "default-clock-timestamp"},
	};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return NULL;
}

struct wm_meta_field wm_meta_frame_field(const char *name, uint32_t bits, const char *alias,
					 const char *clock)
{
	static const struct wm_type bytes = {.kind = WM_TYPE_BYTES};
	static const struct wm_type numbers[] = {
	    {.kind = WM_TYPE_UNSIGNED, .bits = 8},  {.kind = WM_TYPE_UNSIGNED, .bits = 16},
	    {.kind = WM_TYPE_UNSIGNED, .bits = 24}, {.kind = WM_TYPE_UNSIGNED, .bits = 32},
	    {.kind = WM_TYPE_UNSIGNED, .bits = 40}, {.kind = WM_TYPE_UNSIGNED, .bits = 48},
	    {.kind = WM_TYPE_UNSIGNED, .bits = 56}, {.kind = WM_TYPE_UNSIGNED, .bits = 64},
	};
	struct wm_meta_field f = {
	    .name = name, .alias = alias, .clock = clock, .role = metadata_text_role_of(name)};

	if (!strcmp(name, "uuid")) {
		f.type = &bytes;
		f.length = WM_TRACE_UUID_BYTES;
	} else {
		f.type = &numbers[bits / 8 - 1];
	}
	return f;
}

struct wm_meta_field wm_meta_structure(struct wm_meta_field *fields, uint32_t nr)
{
	static const struct wm_type structure = {.kind = WM_TYPE_STRUCT};

	return (struct wm_meta_field){.type = &structure, .nr_parts = nr, .parts = fields};
}

void wm_meta_frame_add(struct wm_meta_frame *frame, struct wm_meta_field field)
{
	uint32_t nr = frame->structure.nr_parts;

	frame->fields[nr] = field;
	frame->structure = wm_meta_structure(frame->fields, nr + 1);
}
