/* SPDX-License-Identifier: MIT */
/* harness.c - see harness.h. */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "judge.h"
#include "view/writer.h"

void *fuzz_copy(const void *data, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (copy && bytes)
		memcpy(copy, data, bytes);
	return copy;
}

char *fuzz_split(const uint8_t *data, size_t bytes, size_t *ret_text, const uint8_t **ret_rest,
		 size_t *ret_rest_bytes)
{
	const uint8_t *nul = bytes ? memchr(data, 0, bytes) : NULL;
	size_t text = nul ? (size_t)(nul - data) : bytes;
	char *copy = malloc(text + 1);

	if (!copy)
		return NULL;
	if (text)
		memcpy(copy, data, text);
	copy[text] = 0;
	*ret_text = text;
	*ret_rest = nul ? nul + 1 : data + bytes;
	*ret_rest_bytes = nul ? bytes - text - 1 : 0;
	return copy;
}

/*
 * Reads a trace. Damage is a valid result, but a refusal without file, place and reason is a bug.
 */
static void read_path(const char *path, unsigned style)
{
	struct fuzz_verdict v;

	fuzz_judge(path, style % WM_VIEW_NR_FORMATS, &v);
	if (v.flaw == FUZZ_SOUND || v.flaw == FUZZ_NO_MEMORY)
		return;
	(void)fprintf(stderr, "%s: %s\n", fuzz_flaw_names[v.flaw], v.reason);
	abort();
}

void fuzz_read_file(const uint8_t *data, size_t bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || wm_file_write(fd, data, bytes))
		abort();
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_path(path, bytes ? data[bytes - 1] : 0);
	close(fd);
}

static char folder[64]; /* created for the first input, and removed only at the end */

static void remove_folder(void)
{
	static const char *const names[] = {"/metadata", "/stream", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[80];

		(void)snprintf(path, sizeof(path), "%s%s", folder, names[i]);
		(void)remove(path);
	}
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	char path[80];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f))
		abort();
}

void fuzz_read_folder(const void *metadata, size_t metadata_bytes, const void *stream,
		      size_t stream_bytes)
{
	if (!folder[0]) {
		const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

		(void)snprintf(folder, sizeof(folder), "%s/waymark-fuzz-XXXXXX", tmp);
		if (!mkdtemp(folder) || atexit(remove_folder))
			abort();
	}
	write_file("metadata", metadata, metadata_bytes);
	write_file("stream", stream, stream_bytes);
	read_path(folder, (unsigned)(metadata_bytes + stream_bytes));
}
