/* SPDX-License-Identifier: MIT */
/*
 * seeds.c - writes the initial inputs of fuzzers and mutants that a script cannot write:
 *
 * fuzz-seeds DIR: trace.dat files of every kind.
 *
 * fuzz-seeds --harness DIR: for harnesses whose input is not a trace, inputs in DIR/NAME/:
 * descriptions, bytecode, filters, formats of the kernel and pages of its ring, 32-bit and 64-bit
 * programs.
 *
 * seeds.py writes the others.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "elf/elf_class_test_kit.h"
#include "event/desc_build.h"
#include "event/filter.h"
#include "read/tracedat/tracedat_test_kit.h"

#define NR(table) (sizeof(table) / sizeof((table)[0]))

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

/* --- for harnesses --------------------------------------------------------------- */

static const char schema[] = "a:u1;b:i2;c:u4;d:i8;f:f8;s:s;list:u2[];name:s";

static const char *const schemas[] = {
    schema, "x:u4", "s:s;t:s", "a:u1[];b:i8[]", "f:f4;g:f8", "p:p;h:x8",
};

static const char *const filters[] = {
    "a == 1",
    "b < -3 && c >= 0x10 || d & 7",
    "s == \"w*rd\" && name != \"x\"",
    "f * 2.5 > 1e3 && $pid == 1",
    "list[1] == 7 || !(a ^ 0xff) && ~c",
    "$comm == \"app*\" && $time > 10ms",
    "(d << 3) % 5 == -(b + 'c')",
};

static FILE *create(const char *kind, size_t i)
{
	char path[PATH_MAX];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, kind);
	if (mkdir(path, 0700) && errno != EEXIST) {
		perror(path);
		exit(1);
	}
	(void)snprintf(path, sizeof(path), "%s/%s/%zu", folder, kind, i);
	f = fopen(path, "we");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void finish(FILE *f)
{
	if (!ferror(f) && !fclose(f))
		return;
	perror(folder);
	exit(1);
}

/* Writes a length in two bytes, the data, then a payload. */
static void write_sized(FILE *f, const void *data, size_t bytes)
{
	static const unsigned char payload[] =
	    "\1\2\0\3\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\100word\0\2\0\1\0\7\0x";

	(void)putc((int)(bytes & 0xff), f);
	(void)putc((int)(bytes >> 8), f);
	(void)fwrite(data, 1, bytes, f);
	(void)fwrite(payload, 1, sizeof(payload), f);
	finish(f);
}

static void write_events(void)
{
	for (size_t i = 0; i < NR(schemas); i++) {
		size_t bytes;
		unsigned char *desc = wm_desc_simple("fuzz", "event", schemas[i], NULL, 0, &bytes);

		write_sized(create("class", i), desc, bytes);
		free(desc);
	}
	for (size_t i = 0; i < NR(filters); i++) {
		unsigned char *code;
		size_t bytes;
		FILE *f = create("filter", i);

		(void)fprintf(f, "%s%c%s", filters[i], 0, "\1\2\3\4\5\6\7");
		finish(f);
		if (!wm_filter_parse(filters[i], &code, &bytes, NULL)) {
			write_sized(create("code", i), code, bytes);
			free(code);
		}
	}
}

static void write_kernel(void)
{
	static const char *const formats[] = {tick, kit_switch, kit_exec, kit_enter, kit_all};
	static const struct kind kinds[] = {{.long_bytes = 8}, {.long_bytes = 4, .big = true}};

	for (size_t i = 0; i < NR(formats); i++) {
		FILE *f = create("formats", i);

		(void)fprintf(f, "%s%c", formats[i], 0);
		for (int k = 0; k < 80; k++)
			(void)putc(k == 12 ? 0x20 : k == 14 ? 4 : k, f);
		finish(f);
	}
	for (size_t i = 0; i < NR(kinds); i++) {
		struct image m = pages_of(&kinds[i], 0, 0);
		FILE *f = create("pages", i);

		(void)putc((kinds[i].long_bytes == 4) | kinds[i].big << 1, f);
		(void)fwrite(m.data, 1, m.bytes < PAGE ? m.bytes : PAGE, f);
		finish(f);
		free(m.data);
	}
}

static void write_programs(void)
{
	struct kit_image32 narrow;
	struct kit_image64 wide;
	FILE *f = create("elf", 32);

	kit_build32(&narrow);
	(void)fwrite(&narrow, 1, sizeof(narrow), f);
	finish(f);
	f = create("elf", 64);
	kit_build64(&wide);
	(void)fwrite(&wide, 1, sizeof(wide), f);
	finish(f);
}

int main(int argc, char **argv)
{
	bool harness = argc == 3 && !strcmp(argv[1], "--harness");

	if (argc != 2 && !harness)
		return 2;
	folder = argv[argc - 1];
	if (mkdir(folder, 0700) && errno != EEXIST) {
		perror(folder);
		return 1;
	}
	if (harness) {
		write_events();
		write_kernel();
		write_programs();
	} else {
		each_kind(write_kind);
	}
	return 0;
}
