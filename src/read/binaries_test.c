/* SPDX-License-Identifier: MIT */
/*
 * The binaries of a trace: each is listed once; for real perf.data files the list is compared with
 * perf's own.
 */
#include <errno.h>

#include "read/corpus_test_kit.h"
#include "read/open.h"
#include "trace/reader.h"

static void close_nothing(struct wm_trace *t)
{
	(void)t;
}

static const struct wm_reader_ops no_ops = {.name = "none", .close = close_nothing};

static void each_build_once(void **state)
{
	struct wm_trace *t = wm_trace_create("x");
	char path[32];

	(void)state;
	t->ops = &no_ops;
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 500; i++) {
			(void)snprintf(path, sizeof(path), "/bin/%u", i % 250);
			assert_int_equal(
			    wm_trace_add_binary(t, path, sizeof(path), &i, sizeof(i), i == 7), 0);
		}
	}
	assert_int_equal(t->nr_binaries, 500);
	for (unsigned i = 0; i < 500; i++) {
		assert_memory_equal(t->binaries[i].build_id, &i, sizeof(i));
		assert_int_equal(atoi(t->binaries[i].path + 5), i % 250);
		assert_int_equal(t->binaries[i].kernel, i == 7);
	}
	assert_int_equal(wm_trace_add_binary(t, "", 0, "x", 1, false), 0);
	assert_int_equal(wm_trace_add_binary(t, "/x", 2, "", 0, false), 0);
	assert_int_equal(wm_trace_add_binary(t, "/x", 2, path, WM_BUILD_ID_MAX + 1, false), 0);
	assert_int_equal(t->nr_binaries, 500);
	wm_trace_close(t);
}

static void no_symbols(void **state)
{
	struct wm_trace *t = wm_trace_create("x");
	const char *text;
	size_t bytes;

	(void)state;
	t->ops = &no_ops;
	assert_int_equal(wm_trace_kallsyms(t, &text, &bytes), -ENOENT);
	wm_trace_close(t);
}

static bool has(const struct wm_trace *t, const char *id, const char *path)
{
	for (uint32_t i = 0; i < t->nr_binaries; i++) {
		const struct wm_trace_binary *b = &t->binaries[i];
		char hex[2 * WM_BUILD_ID_MAX + 1] = "";

		for (uint32_t k = 0; k < b->build_id_bytes; k++)
			(void)snprintf(hex + 2 * k, 3, "%02x", b->build_id[k]);
		/*
		 * Old versions of perf strip trailing zeros from a build-id, so only the prefix is
		 * compared; the kernel is printed as [kernel.kallsyms].
		 */
		if (!strncmp(hex, id, strlen(id)) && (b->kernel || !strcmp(b->path, path)))
			return true;
	}
	return false;
}

static int nr_files, nr_ids;

static void compare_entry(const char *path, bool valid, const char *events)
{
	char command[4096], line[4096], id[128], name[2048];
	struct wm_trace *t;
	FILE *f;

	(void)events;
	if (!valid)
		return;
	(void)snprintf(command, sizeof(command), "perf buildid-list -i '%s' 2>/dev/null", path);
	assert_int_equal(wm_read_open(path, &t, NULL), 0);
	f = popen(command, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%127[0-9a-f] %2047[^\n]", id, name) != 2)
			continue;
		if (!has(t, id, name))
			print_error("%s: %s %s is missing\n", path, id, name);
		assert_true(has(t, id, name));
		nr_ids++;
	}
	nr_files++;
	(void)pclose(f);
	wm_trace_close(t);
}

static void ids_are_perfs(void **state)
{
	(void)state;
	if (system("perf --version >/dev/null 2>&1") != 0) {
		print_message("SKIPPED: perf is not installed\n");
		skip();
	}
	kit_each_entry("perf.data/", compare_entry);
	print_message("%d build-ids of %d files\n", nr_ids, nr_files);
	assert_true(nr_ids > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_build_once),
	    cmocka_unit_test(no_symbols),
	    cmocka_unit_test(ids_are_perfs),
	};

	return kit_run(tests);
}
