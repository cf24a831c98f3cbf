/* SPDX-License-Identifier: MIT */
/*
 * live_formats_test.c - tests all events of the running kernel, where its files are readable: each
 * is parsed, nearly every print form compiles, and a record is converted to text and payload.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "kdata/formats.h"
#include "kdata/print_test_kit.h"
#include "kdata/transcode.h"

#define RECORD_BYTES 8192u

static const char pattern[] = "/sys/kernel/tracing/events/*/*/format";

struct tally {
	unsigned nr_events, nr_fields; /* nr_fields: number of events without a usable print form */
};

/* Converts a record of zeros whose dynamic arrays are empty and located at its end. */
static void check_event(struct wm_kformats *k, const struct wm_kformat *f, struct tally *ret)
{
	static unsigned char record[RECORD_BYTES], out[1 << 20];
	const struct wm_kprint *print = wm_kformats_print(k, wm_kformats_form(k, f->id));
	uint32_t bytes = f->fixed_bytes < RECORD_BYTES ? f->fixed_bytes : RECORD_BYTES;
	struct wm_kplan *plan = NULL;
	struct wm_text text;
	struct wm_diag d = {.sentence = ""};

	assert_non_null(print);
	(void)kit_print_check_hex(wm_kformats_machine(k), f, print);
	ret->nr_events++;
	ret->nr_fields += kit_print_is_fields(print);
	wm_text_init(&text);
	wm_kprint_run(print, k, record, bytes, &text);
	assert_false(text.failed);
	wm_text_done(&text);
	if (wm_kplan_create(f, wm_kformats_machine(k), print, true, &plan, &d))
		fail_msg("%s:%s: %s", f->system, f->name, d.sentence);
	assert_true(wm_kplan_run(plan, record, bytes, out, sizeof(out)) >= 0);
	wm_kplan_destroy(plan);
}

/* ".../events/SYSTEM/NAME/format" */
static void add_file(struct wm_kformats *k, char *path)
{
	struct wm_diag d = {.sentence = ""};
	char *text, *system = path + strlen("/sys/kernel/tracing/events/");
	size_t bytes;
	int err;

	if (wm_file_read(AT_FDCWD, path, WM_KFORMAT_TEXT_MAX, &text, &bytes))
		return; /* a dynamic event that has since been removed */
	system[strcspn(system, "/")] = 0;
	err = wm_kformats_add(k, system, text, bytes, NULL, &d);
	if (err && err != -EEXIST)
		fail_msg("%s: %s", path, d.sentence);
	free(text);
}

static void test_this_kernel(void **state)
{
	struct tally tally = {0};
	struct wm_kmachine m;
	struct wm_kformats *k;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) || found.gl_pathc == 0) {
		print_message("cannot read %s: become root, mount tracefs\n", pattern);
		skip();
	}
	wm_kmachine_init(&m, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	k = wm_kformats_create(&m);
	assert_non_null(k);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_file(k, found.gl_pathv[i]);
	globfree(&found);
	assert_int_equal(wm_kformats_seal(k), 0);
	for (uint32_t id = 0; id < wm_kformats_nr_ids(k); id++) {
		if (wm_kformats_event(k, id))
			check_event(k, wm_kformats_event(k, id), &tally);
	}
	print_message("%u events, %u without a print form we can run\n", tally.nr_events,
		      tally.nr_fields);
	assert_true(tally.nr_events > 100);
	assert_true(tally.nr_fields * 50 < tally.nr_events);
	wm_kformats_destroy(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_this_kernel)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
