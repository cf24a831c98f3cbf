/* SPDX-License-Identifier: MIT */
/* input.c - reads bytes of the file in sequence, decompressed if needed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "read/tracedat/tracedat_int.h"

#define SECTION_PACKED 1u

int wm_td_pread(const struct wm_td *td, void *to, uint64_t bytes, uint64_t offset)
{
	unsigned char *p = to;

	while (bytes) {
		ssize_t got = pread(td->fd, p, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENODATA;
		p += got;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	return 0;
}

bool wm_td_unpack(enum wm_td_codec codec, void *to, size_t to_bytes, const void *from,
		  size_t from_bytes)
{
	uLongf got = to_bytes;

	if (codec == WM_TD_ZSTD)
		return ZSTD_decompress(to, to_bytes, from, from_bytes) == to_bytes;
	if (codec == WM_TD_ZLIB)
		return uncompress(to, &got, from, from_bytes) == Z_OK && got == to_bytes;
	return false;
}

void wm_td_in_file(struct wm_td_in *in, const struct wm_td *td, uint64_t offset)
{
	*in = (struct wm_td_in){.td = td, .at = offset, .end = td->file_bytes};
	in->failed = offset > in->end;
}

void wm_td_in_memory(struct wm_td_in *in, const struct wm_td *td, const void *data, size_t bytes,
		     uint64_t origin)
{
	*in = (struct wm_td_in){.td = td, .mem = data, .end = bytes, .origin = origin};
}

void wm_td_in_done(struct wm_td_in *in)
{
	free(in->buffer);
	in->buffer = NULL;
}

uint64_t wm_td_offset(const struct wm_td_in *in)
{
	uint64_t at = in->mem ? in->origin : in->at;

	return at < in->td->file_bytes ? at : in->td->file_bytes;
}

int wm_td_verdict(const struct wm_td_in *in, const char *what, struct wm_diag *diag)
{
	if (in->err)
		return wm_diag_set(diag, in->err, in->td->trace->path, (int64_t)wm_td_offset(in),
				   "cannot be read: %s", strerror(-in->err));
	if (in->failed)
		return wm_diag_set(diag, -EBADMSG, in->td->trace->path, (int64_t)wm_td_offset(in),
				   "the file ends inside its %s", what);
	return 0;
}

/* Reads bytes from the file into a buffer that grows. */
static const unsigned char *take_file(struct wm_td_in *in, uint64_t bytes)
{
	if (bytes > in->room || !in->buffer) {
		free(in->buffer);
		in->room = bytes < 64 ? 64 : bytes;
		in->buffer = malloc(in->room);
	}
	in->err = in->buffer ? wm_td_pread(in->td, in->buffer, bytes, in->at) : -ENOMEM;
	if (in->err) {
		in->failed = true;
		in->err = in->err == -ENODATA ? 0 : in->err;
		return NULL;
	}
	in->at += bytes;
	return in->buffer;
}

const unsigned char *wm_td_take(struct wm_td_in *in, uint64_t bytes)
{
	const unsigned char *p;

	if (in->failed || bytes > in->end - in->at || bytes > WM_TD_SECTION_MAX) {
		in->failed = true;
		return NULL;
	}
	if (!in->mem)
		return take_file(in, bytes);
	p = in->mem + in->at;
	in->at += bytes;
	return p;
}

uint16_t wm_td_u16(struct wm_td_in *in)
{
	const unsigned char *p = wm_td_take(in, 2);

	return p ? wm_get_u16(p, in->td->machine.swap) : 0;
}

uint32_t wm_td_u32(struct wm_td_in *in)
{
	const unsigned char *p = wm_td_take(in, 4);

	return p ? wm_get_u32(p, in->td->machine.swap) : 0;
}

uint64_t wm_td_u64(struct wm_td_in *in)
{
	const unsigned char *p = wm_td_take(in, 8);

	return p ? wm_get_u64(p, in->td->machine.swap) : 0;
}

const char *wm_td_text(struct wm_td_in *in, char *room)
{
	for (size_t n = 0; n < WM_TD_STRING_MAX; n++) {
		const unsigned char *c = wm_td_take(in, 1);

		if (!c)
			break;
		room[n] = (char)*c;
		if (!*c)
			return room;
	}
	in->failed = true;
	room[0] = 0;
	return room;
}

/* Decompresses a section that is one compressed piece. */
static int unpack_section(struct wm_td_in *in, const struct wm_td *td, uint64_t offset,
			  struct wm_diag *diag)
{
	uint32_t packed = wm_td_u32(in), bytes = wm_td_u32(in);
	const unsigned char *from;
	unsigned char *to;
	bool good;

	if (bytes > WM_TD_SECTION_MAX)
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)offset,
				   "a section claims %u bytes, the limit is %u", bytes,
				   WM_TD_SECTION_MAX);
	from = wm_td_take(in, packed);
	if (!from)
		return wm_td_verdict(in, "compressed section", diag);
	to = malloc(bytes ? bytes : 1);
	if (!to)
		return -ENOMEM;
	good = wm_td_unpack(td->codec, to, bytes, from, packed);
	wm_td_in_done(in);
	wm_td_in_memory(in, td, to, bytes, offset);
	in->buffer = to;
	if (!good)
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)offset,
				   "a section cannot be decompressed: it is damaged");
	return 0;
}

int wm_td_section_head(const struct wm_td *td, uint64_t offset, uint16_t *ret_id,
		       uint64_t *ret_bytes)
{
	unsigned char head[WM_TD_SECTION_HEAD];
	int err = wm_td_pread(td, head, sizeof(head), offset);
	uint64_t bytes;

	if (err)
		return err;
	bytes = wm_get_u64(head + 8, td->machine.swap);
	*ret_id = wm_get_u16(head, td->machine.swap);
	*ret_bytes = bytes < UINT64_MAX - sizeof(head) ? bytes + sizeof(head) : UINT64_MAX;
	return 0;
}

int wm_td_in_unpack(struct wm_td_in *in, const struct wm_td *td, uint64_t offset,
		    struct wm_diag *diag)
{
	uint16_t flags;
	uint64_t bytes;

	wm_td_in_file(in, td, offset);
	(void)wm_td_u16(in); /* skip the id, which is known from the reference to the section */
	flags = wm_td_u16(in);
	(void)wm_td_u32(in); /* skip the offset of a description */
	bytes = wm_td_u64(in);
	if (in->failed)
		return wm_td_verdict(in, "section's header", diag);
	if (bytes > in->end - in->at)
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)offset,
				   "a section claims %llu bytes, the file has %llu left",
				   (unsigned long long)bytes,
				   (unsigned long long)(in->end - in->at));
	in->end = in->at + bytes;
	return flags & SECTION_PACKED ? unpack_section(in, td, offset, diag) : 0;
}
