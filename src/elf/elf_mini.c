/* SPDX-License-Identifier: MIT */
/* elf_mini.c - see elf_mini.h. */
#include "elf/elf_mini.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

#define SECTION     ".gnu_debugdata"
#define OUT_BYTES   (256u << 10)
#define DECODER_MAX (128u << 20) /* memory limit of the decoder */

/*
 * Decompresses to the file. Returns 0, -EBADMSG (the data is damaged), -EFBIG, or another -errno.
 */
static int mini_unpack(const void *data, size_t bytes, int fd)
{
	lzma_stream z = LZMA_STREAM_INIT;
	uint8_t *out = malloc(OUT_BYTES);
	uint64_t written = 0;
	lzma_ret got = LZMA_OK;
	int err = out ? 0 : -ENOMEM;

	if (!err && lzma_stream_decoder(&z, DECODER_MAX, 0) != LZMA_OK)
		err = -ENOMEM;
	z.next_in = data;
	z.avail_in = bytes;
	while (!err && got != LZMA_STREAM_END) {
		size_t n;

		z.next_out = out;
		z.avail_out = OUT_BYTES;
		got = lzma_code(&z, LZMA_FINISH);
		n = OUT_BYTES - z.avail_out;
		written += n;
		if (got != LZMA_OK && got != LZMA_STREAM_END)
			err = got == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
		else if (written > WM_ELF_MINI_MAX)
			err = -EFBIG;
		else
			err = wm_file_write(fd, out, n);
	}
	lzma_end(&z);
	free(out);
	return err;
}

int wm_elf_mini_open(const struct wm_elf *e, struct wm_elf **ret, struct wm_diag *diag)
{
	const struct wm_elf_section *s = wm_elf_section(e, SECTION);
	void *data = NULL;
	int fd = -1, err;

	if (!s || !s->bytes)
		return -ENOENT;
	err = wm_elf_read_new(e, s->offset, s->bytes, WM_ELF_MINI_MAX, &data, diag);
	if (err)
		return err;
	fd = memfd_create("debugdata", MFD_CLOEXEC);
	err = fd < 0 ? -errno : mini_unpack(data, s->bytes, fd);
	free(data);
	if (!err)
		return wm_elf_open_fd(fd, e->name, ret, diag);
	if (fd >= 0)
		(void)close(fd);
	return wm_diag_set(diag, err, e->name, (int64_t)s->offset,
			   "the symbols in " SECTION " cannot be decompressed");
}
