/* SPDX-License-Identifier: MIT */
/*
 * rules_change_test.c - compares rule changes with a simple model that keeps all rules and uses the
 * last change that matches an event. Damaged records are refused and change nothing.
 */
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
#include "runtime/agent.h"

#define NR(a)    (sizeof(a) / sizeof((a)[0]))
#define ROOM     4096
#define CHANGES  200
#define RULES_OF 3

static const struct wm_rules_options options = {.buffer_bytes = 1 << 20, .block_ms = 7};
static const struct {
	const char *provider, *name;
} events[] = {{"db", "query"}, {"db", "row"}, {"net", "query"}, {"net", "send"}};
static const char *const globs[] = {"*",        "db:*",  "net:*",    "query", "row",
				    "db:query", "*:*q*", "net:send", "db:r?w"};

static struct wm_rules *make(void)
{
	struct wm_rules *r;

	assert_int_equal(wm_rules_create(&options, &r), 0);
	return r;
}

/* Adds a rule "GLOB", or excludes events with "-GLOB". */
static void add(struct wm_rules *r, const char *word)
{
	int i = *word == '-' ? wm_rules_exclude(r, word + 1, NULL)
			     : wm_rules_add(r, word, NULL, 0, WM_RULES_ALL_LEVELS, NULL);

	assert_true(i >= 0);
}

static int change(struct wm_rules **r, const struct wm_rules *by)
{
	unsigned char room[ROOM];
	size_t bytes = wm_rules_encode(by, room, sizeof(room));

	assert_true(bytes <= sizeof(room));
	return wm_rules_change(r, room, bytes, wm_rules_count(by), NULL);
}

static bool is_on(const struct wm_rules *r, size_t event)
{
	return wm_rules_enable(r, events[event].provider, events[event].name, 0);
}

static void last_word(void **state)
{
	static const struct {
		const char *words[4]; /* each word is one change */
		const char *on;       /* the expected state of each of events[] */
	} cases[] = {
	    {{"*"}, "1111"},
	    {{"*", "-db:query"}, "0111"},
	    {{"*", "-db:*", "db:query"}, "1011"},
	    {{"db:query", "-*"}, "0000"},
	    {{"-*", "send"}, "0001"},
	    {{"*", "-query", "db:*", "-row"}, "1001"},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_rules *r = make();

		for (size_t w = 0; w < 4 && cases[i].words[w]; w++) {
			struct wm_rules *by = make();

			add(by, cases[i].words[w]);
			assert_int_equal(change(&r, by), 0);
			wm_rules_destroy(by);
		}
		for (size_t e = 0; e < NR(events); e++)
			if (is_on(r, e) != (cases[i].on[e] == '1'))
				fail_msg("case %zu, %s:%s", i, events[e].provider, events[e].name);
		wm_rules_destroy(r);
	}
}

/* Within one change an exclusion wins, whatever the order of the rules. */
static void exclusion_wins(void **state)
{
	struct wm_rules *r = make();

	(void)state;
	add(r, "-db:row");
	add(r, "db:*");
	assert_true(is_on(r, 0));
	assert_false(is_on(r, 1));
	assert_false(is_on(r, 2));
	wm_rules_destroy(r);
}

/* Compares random sequences of changes with the model; the file's size stays bounded. */
static void histories(void **state)
{
	struct wm_rules *r = make(), *all[CHANGES];
	unsigned seed = 7;

	(void)state;
	for (size_t c = 0; c < CHANGES; c++) {
		unsigned nr = 1 + (unsigned)rand_r(&seed) % RULES_OF;

		all[c] = make();
		for (unsigned i = 0; i < nr; i++) {
			char word[32] = "-";

			strcat(word, globs[(unsigned)rand_r(&seed) % NR(globs)]);
			add(all[c], word + (rand_r(&seed) & 1));
		}
		assert_int_equal(change(&r, all[c]), 0);
		for (size_t e = 0; e < NR(events); e++) {
			bool named = false, on = false;

			for (size_t h = c + 1; h-- > 0 && !named;) {
				for (uint32_t i = 0; i < wm_rules_count(all[h]); i++)
					named =
					    named || wm_rules_wants(all[h], i, events[e].provider,
								    events[e].name, 0);
				on = is_on(all[h], e);
			}
			if (is_on(r, e) != (named && on))
				fail_msg("change %zu, event %zu", c, e);
		}
		assert_true(wm_rules_count(r) <= NR(globs) + RULES_OF);
	}
	for (size_t c = 0; c < CHANGES; c++)
		wm_rules_destroy(all[c]);
	wm_rules_destroy(r);
}

static void through_the_file(void **state)
{
	char folder[] = "/tmp/wm-change-XXXXXX";
	struct wm_rules *r = make(), *by = make(), *back;
	int dirfd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	dirfd = open(folder, O_RDONLY | O_DIRECTORY);
	add(r, "*");
	add(by, "-db:row");
	assert_int_equal(wm_rules_write(r, dirfd, 0600), 0);
	assert_int_equal(wm_rules_load(dirfd, &back), 0);
	assert_int_equal(change(&back, by), 0);
	assert_int_equal(wm_rules_write(back, dirfd, 0600), 0);
	assert_int_equal(wm_rules_generation(back), 2);
	wm_rules_destroy(back);
	assert_int_equal(wm_rules_load(dirfd, &back), 0);
	assert_int_equal(wm_rules_generation(back), 2);
	assert_int_equal(wm_rules_options(back)->block_ms, 7);
	assert_int_equal(wm_rules_count(back), 2);
	assert_true(is_on(back, 0));
	assert_false(is_on(back, 1));

	assert_int_equal(wm_file_replace(dirfd, "rules", 0600, "short", 5), 0);
	wm_rules_destroy(back);
	assert_int_equal(wm_rules_load(dirfd, &back), -EBADMSG);
	assert_int_equal(unlinkat(dirfd, "rules", 0), 0);
	assert_int_equal(wm_rules_load(dirfd, &back), -ENOENT);
	close(dirfd);
	assert_int_equal(rmdir(folder), 0);
	wm_rules_destroy(r);
	wm_rules_destroy(by);
}

static void damaged(void **state)
{
	struct wm_rules *r = make(), *by = make();
	unsigned char good[ROOM], bad[ROOM];
	struct wm_rule *rule = (void *)bad;
	size_t bytes;

	(void)state;
	add(r, "db:*");
	add(by, "-db:row");
	bytes = wm_rules_encode(by, good, sizeof(good));
#define REFUSED(damage)                                                                            \
	do {                                                                                       \
		memcpy(bad, good, bytes);                                                          \
		damage;                                                                            \
		assert_int_equal(wm_rules_change(&r, bad, bytes, 1, NULL), -EBADMSG);              \
	} while (0)
	REFUSED(rule->bytes = 8);
	REFUSED(rule->bytes += 8);
	REFUSED(rule->bytes -= 4);
	REFUSED(rule->glob_bytes = 0);
	REFUSED(rule->glob_bytes = 300);
	REFUSED(rule->filter_bytes = UINT32_MAX);
	REFUSED(rule->contexts = 1u << 31);
	REFUSED(rule->flags = 2);
	REFUSED(bad[sizeof(*rule)] = 0);
	assert_int_equal(wm_rules_change(&r, good, bytes, 2, NULL), -EBADMSG);
	assert_int_equal(wm_rules_change(&r, good, bytes, 0, NULL), -EBADMSG);
	assert_int_equal(wm_rules_change(&r, good, bytes - 1, 1, NULL), -EBADMSG);
	assert_true(is_on(r, 1)); /* as before */
	assert_int_equal(wm_rules_change(&r, good, bytes, 1, NULL), 0);
	assert_false(is_on(r, 1));
	wm_rules_destroy(r);
	wm_rules_destroy(by);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(last_word), cmocka_unit_test(exclusion_wins),
	    cmocka_unit_test(histories), cmocka_unit_test(through_the_file),
	    cmocka_unit_test(damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
