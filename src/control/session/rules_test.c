/* SPDX-License-Identifier: MIT */
/* rules_test.c - tests globs as users write them, and the bytes of DIR/rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "control/rules.h"
#include "event/context.h"
#include "ring/pool.h"
#include "runtime/agent.h"

static const struct wm_rules_options options = {.pool_mode = WM_POOL_OVERWRITE,
						.buffer_bytes = 1 << 20,
						.chunk_bytes = 65536,
						.block_ms = 5,
						.clock_kind = WM_CLOCK_CYCLES};

static void wanted(void **state)
{
	static const struct {
		const char *glob, *provider, *name;
		uint32_t level_max, level;
		bool want;
	} cases[] = {
	    {"app:query", "app", "query", 255, 7, true},
	    {"app:query", "app", "querys", 255, 7, false},
	    {"query", "app", "query", 255, 0, true},
	    {"query", "query", "app", 255, 0, false},
	    {"*", "app", "query", 255, 0, true},
	    {"app:*", "app", "query", 4, 4, true},
	    {"app:*", "app", "query", 4, 5, false},
	    {"user:app:q*", "app", "query", 255, 0, true},
	    {"user:query", "app", "query", 255, 0, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wm_rules *r;

		assert_int_equal(wm_rules_create(&options, &r), 0);
		assert_int_equal(wm_rules_add(r, cases[i].glob, NULL, 0, cases[i].level_max, NULL),
				 0);
		if (wm_rules_wants(r, 0, cases[i].provider, cases[i].name, cases[i].level) !=
		    cases[i].want)
			fail_msg("'%s' and %s:%s", cases[i].glob, cases[i].provider, cases[i].name);
		wm_rules_destroy(r);
	}
}

static void refused(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_rules *r;
	char longest[WM_RULES_GLOB_MAX + 1];

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(wm_rules_create(&options, &r), 0);
	assert_int_equal(wm_rules_add(r, "", NULL, 0, 255, &diag), -EINVAL);
	assert_int_equal(wm_rules_add(r, "user:", NULL, 0, 255, &diag), -EINVAL);
	assert_int_equal(wm_rules_add(r, "kernel:sched:*", NULL, 0, 255, &diag), -EINVAL);
	assert_string_equal(diag.sentence,
			    "'kernel:sched:*' names kernel events, but only program events "
			    "can be selected here");
	assert_int_equal(wm_rules_add(r, longest, NULL, 0, 255, &diag), -EINVAL);
	assert_int_equal(wm_rules_add(r, "app:x", "rows >", 0, 255, &diag), -EINVAL);
	assert_true(diag.column > 0);
	assert_int_equal(wm_rules_count(r), 0);
	for (uint32_t i = 0; i < WM_RULES_NR_MAX; i++)
		assert_int_equal(wm_rules_add(r, "x", NULL, 0, 255, &diag), i);
	assert_int_equal(wm_rules_add(r, "x", NULL, 0, 255, &diag), -E2BIG);
	wm_rules_destroy(r);
}

static void file_layout(void **state)
{
	char folder[] = "/tmp/wm-rules-XXXXXX", *text;
	struct wm_rules_header header;
	struct wm_rule rule;
	struct wm_rules *r;
	size_t bytes;
	int dirfd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	dirfd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(wm_rules_create(&options, &r), 0);
	assert_int_equal(wm_rules_add(r, "app:q*", NULL, WM_CONTEXT_CPU, 255, NULL), 0);
	assert_int_equal(wm_rules_add(r, "query", "rows > 1", 0, 6, NULL), 1);
	assert_int_equal(wm_rules_write(r, dirfd, 0600), 0);
	assert_int_equal(wm_rules_write(r, dirfd, 0600), 0);
	assert_int_equal(wm_file_read(dirfd, "rules", 1 << 20, &text, &bytes), 0);

	memcpy(&header, text, sizeof(header));
	assert_true(header.magic == WM_RULES_MAGIC);
	assert_int_equal(header.version, WM_PROTOCOL);
	assert_int_equal(header.bytes, bytes);
	assert_int_equal(header.generation, 2);
	assert_int_equal(header.nr_rules, 2);
	assert_int_equal(header.pool_mode, WM_POOL_OVERWRITE);
	assert_int_equal(header.buffer_bytes, 1 << 20);
	assert_int_equal(header.chunk_bytes, 65536);
	assert_int_equal(header.block_ms, 5);
	assert_int_equal(header.clock_kind, WM_CLOCK_CYCLES);

	memcpy(&rule, text + sizeof(header), sizeof(rule));
	assert_int_equal(rule.bytes, 32); /* 24 bytes + "app:q*", rounded up to a multiple of 8 */
	assert_int_equal(rule.contexts, WM_CONTEXT_CPU);
	assert_int_equal(rule.level_max, 255);
	assert_int_equal(rule.filter_bytes, 0);
	assert_int_equal(rule.glob_bytes, 6);
	assert_memory_equal(text + sizeof(header) + sizeof(rule), "app:q*", 6);

	memcpy(&rule, text + sizeof(header) + 32, sizeof(rule));
	assert_int_equal(rule.level_max, 6);
	assert_memory_equal(text + sizeof(header) + 32 + sizeof(rule), "*:query", 7);
	assert_true(rule.filter_bytes > 0);
	assert_int_equal(sizeof(header) + 32 + rule.bytes, bytes);

	free(text);
	wm_rules_destroy(r);
	assert_int_equal(unlinkat(dirfd, "rules", 0), 0);
	close(dirfd);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(wanted),
	    cmocka_unit_test(refused),
	    cmocka_unit_test(file_layout),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
