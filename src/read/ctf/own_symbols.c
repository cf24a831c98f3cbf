/* SPDX-License-Identifier: MIT */
/*
 * own_symbols.c - reads the files in DIR/kernel/ of waymark's own traces: the kernel's symbols,
 * plain or compressed, and its event formats.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/file.h"
#include "read/ctf/trace.h"

/* Decompresses the symbols. Takes ownership of `packed`. */
static int own_symbols_unpack(char *packed, size_t bytes, char **ret_text, size_t *ret_bytes)
{
	unsigned long long room = ZSTD_getFrameContentSize(packed, bytes);
	char *text = NULL;
	size_t got;
	int err = -EBADMSG;

	/* The size in the file may be wrong, so it is trusted only up to a limit. */
	if (room <= WM_KALLSYMS_MAX) {
		text = malloc((size_t)room + 1);
		err = text ? 0 : -ENOMEM;
	}
	if (!err) {
		got = ZSTD_decompress(text, (size_t)room, packed, bytes);
		err = ZSTD_isError(got) || got != room ? -EBADMSG : 0;
	}
	free(packed);
	if (err) {
		free(text);
		return err;
	}
	text[room] = '\0';
	*ret_text = text;
	*ret_bytes = (size_t)room;
	return 0;
}

static int read_one(const struct wm_trace *t, const struct wm_ctf_folder *f, const char *name,
		    char **ret_text, size_t *ret_bytes)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s/kernel/%s", t->path, f->origin.name, name) < 0)
		return -ENOMEM;
	err = wm_file_read(AT_FDCWD, path, WM_KALLSYMS_MAX, ret_text, ret_bytes);
	free(path);
	return err;
}

int wm_ctf_own_formats(struct wm_trace *t, char **ret_text, size_t *ret_bytes)
{
	const struct wm_ctf_trace *c = t->own;
	int err = -ENOENT;

	for (uint32_t i = 0; i < c->nr_folders && err == -ENOENT; i++) {
		const struct wm_ctf_folder *f = &c->folders[i];

		if (f->plan && wm_ctf_is_own(f->plan->metadata))
			err = read_one(t, f, "formats", ret_text, ret_bytes);
	}
	return err;
}

int wm_ctf_own_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes)
{
	const struct wm_ctf_trace *c = t->own;
	int err = -ENOENT;

	for (uint32_t i = 0; i < c->nr_folders && err == -ENOENT; i++) {
		const struct wm_ctf_folder *f = &c->folders[i];
		char *packed;
		size_t packed_bytes;

		if (!f->plan || !wm_ctf_is_own(f->plan->metadata))
			continue;
		err = read_one(t, f, "kallsyms", ret_text, ret_bytes);
		if (err != -ENOENT)
			break;
		err = read_one(t, f, "kallsyms.zst", &packed, &packed_bytes);
		if (!err)
			err = own_symbols_unpack(packed, packed_bytes, ret_text, ret_bytes);
	}
	return err;
}
