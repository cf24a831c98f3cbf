/* SPDX-License-Identifier: MIT */
/*
 * pmu_test.c - tests the PMUs of an invented machine: formats that scatter bits, events by name,
 * and invalid terms.
 */
#include "kernel/names/pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/waymark-pmu-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void make_folder(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	make_folder("cpu");
	make_folder("cpu/events");
	make_folder("cpu/format");
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/edge", "config:18\n");
	put("cpu/format/offcore", "config1:0-63\n");
	put("cpu/format/broken", "config:70\n");
	put("cpu/events/energy", "event=0x2,umask=3\n");
	put("cpu/events/energy.unit", "Joules\n");
	put("cpu/events/energy.scale", "2.5e-10\n");
	make_folder("uncore");
	put("uncore/type", "12\n");
	make_folder("strange");
	put("strange/type", "many\n");
	return 0;
}

static int unlink_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_pmus_and_events(void **state)
{
	struct wm_pmus p;
	const struct wm_pmu *cpu;

	(void)state;
	assert_int_equal(wm_pmus_read(folder, &p), 0);
	assert_int_equal(p.nr, 2);
	cpu = wm_pmu_named(&p, "cpu");
	assert_non_null(cpu);
	assert_int_equal(cpu->type, 4);
	assert_int_equal(cpu->nr_events, 1);
	assert_string_equal(cpu->events[0].name, "energy");
	assert_string_equal(cpu->events[0].unit, "Joules");
	assert_null(wm_pmu_named(&p, "strange"));
	wm_pmus_done(&p);
}

static void test_terms_land_in_their_bits(void **state)
{
	static const struct {
		const char *terms;
		uint64_t config, config1;
	} rows[] = {
	    {"event=0x3c", 0x3c, 0},
	    {"event=0xa3c,umask=0xff,edge", 0xa0004ff3cull, 0},
	    {"energy", 0x302, 0},
	    {"energy,edge=1", 0x40302, 0},
	    {"config=7,offcore=0x1122334455667788", 7, 0x1122334455667788ull},
	    {"", 0, 0},
	};
	struct wm_pmus p;

	(void)state;
	assert_int_equal(wm_pmus_read(folder, &p), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_event_def def = {0};

		assert_int_equal(
		    wm_pmu_terms(&p, wm_pmu_named(&p, "cpu"), rows[i].terms, &def, NULL), 0);
		assert_int_equal(def.type, 4);
		assert_true(def.config == rows[i].config && def.config1 == rows[i].config1);
	}
	wm_pmus_done(&p);
}

static void test_refused_terms(void **state)
{
	static const char *const rows[][2] = {
	    {"evnt=1", "its terms are"}, {"event=0x1000", "too large"},
	    {"event=x", "not a number"}, {"broken=1", "cannot be read"},
	    {"../type=1", "no term"},    {"edge=2", "too large"},
	};
	struct wm_pmus p;

	(void)state;
	assert_int_equal(wm_pmus_read(folder, &p), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_event_def def = {0};
		struct wm_diag diag = {.offset = -1};

		assert_int_equal(wm_pmu_terms(&p, wm_pmu_named(&p, "cpu"), rows[i][0], &def, &diag),
				 -EINVAL);
		assert_non_null(strstr(diag.sentence, rows[i][1]));
	}
	wm_pmus_done(&p);
}

static void test_no_such_folder(void **state)
{
	struct wm_pmus p;

	(void)state;
	assert_int_equal(wm_pmus_read("/nonexistent", &p), 0);
	assert_int_equal(p.nr, 0);
	assert_null(wm_pmu_named(&p, "cpu"));
	wm_pmus_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pmus_and_events),
	    cmocka_unit_test(test_terms_land_in_their_bits),
	    cmocka_unit_test(test_refused_terms),
	    cmocka_unit_test(test_no_such_folder),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
