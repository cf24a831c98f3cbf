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
#define READ_AHEAD     (16u << 10)

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

/* Reads bytes from the file, and passes over `bytes` of them. */
static bool input_read(struct wm_td_in *in, void *to, uint64_t nr, uint64_t bytes)
{
	in->err = to ? wm_td_pread(in->td, to, nr, in->at) : -ENOMEM;
	if (in->err) {
		in->failed = true;
		in->err = in->err == -ENODATA ? 0 : in->err;
		return false;
	}
	in->at += bytes;
	return true;
}

/*
 * Reads the bytes into a buffer that grows, and some that follow, as most parts of a file are a few
 * bytes long. Large parts are read alone.
 */
static const unsigned char *take_file(struct wm_td_in *in, uint64_t bytes)
{
	uint64_t nr = bytes < READ_AHEAD ? READ_AHEAD : bytes, left = in->end - in->at;

	if (in->at >= in->buffer_at && in->at + bytes <= in->buffer_at + in->buffer_bytes) {
		in->at += bytes;
		return in->buffer + (in->at - bytes - in->buffer_at);
	}
	nr = nr < left ? nr : left;
	in->buffer_bytes = 0;
	if (nr > in->room || !in->buffer) {
		free(in->buffer);
		in->room = nr ? nr : 1;
		in->buffer = malloc(in->room);
	}
	in->buffer_at = in->at;
	if (!input_read(in, in->buffer, nr, bytes))
		return NULL;
	in->buffer_bytes = nr;
	return in->buffer;
}

static bool input_has(struct wm_td_in *in, uint64_t bytes)
{
	in->failed |= bytes > in->end - in->at || bytes > WM_TD_SECTION_MAX;
	return !in->failed;
}

const unsigned char *wm_td_take(struct wm_td_in *in, uint64_t bytes)
{
	if (!input_has(in, bytes))
		return NULL;
	if (!in->mem)
		return take_file(in, bytes);
	in->at += bytes;
	return in->mem + in->at - bytes;
}

char *wm_td_copy(struct wm_td_in *in, uint64_t bytes)
{
	char *copy = input_has(in, bytes) ? malloc(bytes + 1) : NULL;

	if (in->failed)
		return NULL;
	if (in->mem && copy) {
		memcpy(copy, in->mem + in->at, bytes);
		in->at += bytes;
	} else if (!input_read(in, copy, bytes, bytes)) {
		free(copy);
		return NULL;
	}
	copy[bytes] = 0;
	return copy;
}

void wm_td_skip(struct wm_td_in *in, uint64_t bytes)
{
	if (input_has(in, bytes))
		in->at += bytes;
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
