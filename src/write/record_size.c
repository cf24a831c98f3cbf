/* SPDX-License-Identifier: MIT */
/* record_size.c - see record_size_int.h. */
#include "write/record_size_int.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "event/context.h"
#include "trace/trace_layout.h"

/* A position in a record; it never advances beyond the available bytes. */
struct walk {
	const unsigned char *data;
	size_t at, avail;
};

static int record_size_skip(struct walk *w, uint64_t bytes)
{
	if (bytes > w->avail - w->at)
		return -EBADMSG;
	w->at += (size_t)bytes;
	return 0;
}

/* Skips a u32 count and that many elements. */
static int skip_counted(struct walk *w, uint32_t element_bytes)
{
	uint32_t count;

	if (w->avail - w->at < sizeof(count))
		return -EBADMSG;
	memcpy(&count, w->data + w->at, sizeof(count));
	__asm__("" : "+r"(count)); /* prevents the compiler from reading it a second time */
	w->at += sizeof(count);
	return record_size_skip(w, (uint64_t)le32toh(count) * element_bytes);
}

static int record_size_skip_string(struct walk *w)
{
	const unsigned char *from = w->data + w->at, *nul = memchr(from, 0, w->avail - w->at);

	return nul ? record_size_skip(w, (uint64_t)(nul - from) + 1) : -EBADMSG;
}

static int skip_field(struct walk *w, const struct wm_field *f)
{
	switch (f->shape) {
	case WM_SHAPE_SCALAR:
		return record_size_skip(w, f->bytes);
	case WM_SHAPE_STRING:
		return record_size_skip_string(w);
	case WM_SHAPE_CHARS:
		return record_size_skip(w, f->length);
	case WM_SHAPE_ARRAY:
		return record_size_skip(w, (uint64_t)f->length * f->bytes);
	case WM_SHAPE_SEQUENCE:
		return skip_counted(w, f->bytes);
	case WM_SHAPE_BLOB:
		return skip_counted(w, 1);
	}
	return -EBADMSG;
}

int64_t wm_packed_size(const struct wm_class *class, uint32_t contexts, const unsigned char *record,
		       size_t avail)
{
	struct walk w = {record, 0, avail};
	uint32_t i;
	int err = record_size_skip(&w, WM_RECORD_HEADER_BYTES);

	if (!err && (contexts & WM_CONTEXT_CPU))
		err = record_size_skip(&w, sizeof(uint32_t));
	if (!err && (contexts & WM_CONTEXT_USTACK))
		err = skip_counted(&w, sizeof(uint64_t));
	if (!err && class->payload_bytes >= 0) {
		err = record_size_skip(&w, (uint64_t) class->payload_bytes);
		return err ? err : (int64_t)w.at;
	}
	for (i = 0; !err && i < class->nr_fields; i++)
		err = skip_field(&w, &class->fields[i]);
	return err ? err : (int64_t)w.at;
}
