/* SPDX-License-Identifier: MIT */
/*
 * seeds.c - fuzz-seeds DIR: writes trace.dat files of every kind into DIR: both
 * versions, all compressions, byte orders and widths. seeds.py writes the rest.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "format/tracedat_test_kit.h"

static const char *folder;

static void write_kind(const struct kind *k)
{
	struct image m = make(k);
	char path[PATH_MAX];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/v%d-%s-%s-%u-%u", folder, k->version,
		       codec_names[k->codec], k->big ? "big" : "little", 8 * k->long_bytes,
		       k->nr_buffers);
	f = fopen(path, "we");
	if (!f || fwrite(m.data, 1, m.bytes, f) != m.bytes || fclose(f)) {
		perror(path);
		exit(1);
	}
	free(m.data);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	folder = argv[1];
	if (mkdir(folder, 0700) && errno != EEXIST) {
		perror(folder);
		return 1;
	}
	each_kind(write_kind);
	return 0;
}
