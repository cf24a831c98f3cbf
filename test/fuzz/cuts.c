/* SPDX-License-Identifier: MIT */
/*
 * cuts.c - fuzz-cuts BYTES TRACE...: truncates each file of each trace at each of its last BYTES
 * bytes, as a crash or a full disk does, and reads the rest. Everything that is missing must be
 * reported; otherwise the exit status is 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "judge.h"

struct cutting {
	struct fuzz_input in;
	struct fuzz_verdict whole;
	char path[64]; /* path of the folder with the truncated trace */
	uint64_t nr, nr_bad;
};

static void read_as(struct cutting *c, size_t file, const struct fuzz_bytes *bytes,
		    struct fuzz_verdict *ret)
{
	if (mkdir(c->path, 0700) || fuzz_input_write(&c->in, c->path, file, bytes)) {
		perror(c->path);
		exit(2);
	}
	fuzz_judge(c->path, 0, ret);
	fuzz_input_remove(&c->in, c->path);
}

static void cut_file(struct cutting *c, size_t file, size_t most)
{
	const struct fuzz_file *f = &c->in.files[file];
	size_t begin = f->bytes > most ? f->bytes - most : 0;

	for (size_t bytes = begin; bytes < f->bytes; bytes++) {
		const struct fuzz_bytes cut = {f->data, bytes, bytes};
		struct fuzz_verdict v;
		bool told;

		read_as(c, file, &cut, &v);
		told = v.err || v.nr_faults || v.nr_lost > c->whole.nr_lost;
		c->nr++;
		if (!v.flaw && (told || v.events >= c->whole.events))
			continue;
		c->nr_bad++;
		(void)printf("%s/%s cut to %zu of %zu bytes: %s, %llu of %llu events\n", c->in.path,
			     f->name, bytes, f->bytes, fuzz_flaw_names[v.flaw],
			     (unsigned long long)v.events, (unsigned long long)c->whole.events);
	}
}

static void cut_trace(struct cutting *c, const char *path, size_t most)
{
	int err = fuzz_input_load(&c->in, path);

	if (err || !c->in.is_folder) {
		(void)fprintf(stderr, "%s: %s\n", path, err ? strerror(-err) : "no folder");
		exit(2);
	}
	read_as(c, SIZE_MAX, NULL, &c->whole);
	if (c->whole.err || c->whole.nr_faults || !c->whole.events) {
		(void)fprintf(stderr, "%s: not sound to begin with\n", path);
		exit(2);
	}
	for (size_t i = 0; i < c->in.nr_files; i++)
		cut_file(c, i, most);
	fuzz_input_done(&c->in);
}

int main(int argc, char **argv)
{
	char scratch[] = "/tmp/waymark-cuts-XXXXXX";
	struct cutting c = {.nr = 0};

	if (argc < 3 || !mkdtemp(scratch)) {
		(void)fprintf(stderr, "usage: fuzz-cuts BYTES TRACE...\n");
		return 2;
	}
	(void)snprintf(c.path, sizeof(c.path), "%s/cut", scratch);
	for (int i = 2; i < argc; i++)
		cut_trace(&c, argv[i], strtoul(argv[1], NULL, 10));
	(void)rmdir(scratch);
	(void)printf("%llu cuts, %llu without a word\n", (unsigned long long)c.nr,
		     (unsigned long long)c.nr_bad);
	return c.nr_bad != 0;
}
