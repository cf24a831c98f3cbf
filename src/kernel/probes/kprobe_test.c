/* SPDX-License-Identifier: MIT */
/*
 * kprobe_test.c - probes at places in the kernel: counts a known number of calls from this program,
 * and checks that refusals have an error message with a hint. Skipped where the kernel has no
 * kprobes; test/vm/kernel.bats runs it on one that has.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/event_name.h"
#include "kernel/perf_event.h"

#define CALLS 250

struct world {
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct wm_diag diag;
};

static struct world world;

static int set_up(void **state)
{
	*state = &world;
	world = (struct world){.diag = {.offset = -1}};
	wm_event_defs_init(&world.defs);
	return wm_event_space_open(&world.space, NULL);
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_event_space_close(&w->space);
	wm_event_defs_done(&w->defs);
	return 0;
}

static void needs_kprobes(const struct world *w)
{
	if (wm_pmu_named(&w->space.pmus, "kprobe") && geteuid() == 0)
		return;
	print_message("skipped: no kprobes in this kernel, or not for this user\n");
	skip();
}

static int open_counter(struct world *w, const struct wm_event_def *def)
{
	struct perf_event_attr attr;

	wm_perf_attr_init(&attr, 0, 0);
	wm_event_def_attr(def, &attr);
	wm_perf_attr_counting(&attr, false, false);
	return wm_perf_open(&attr, (struct wm_perf_where){0, -1}, -1, def->name, &w->diag);
}

/*
 * Opens the events with this name; returns the sum of their counts over CALLS calls to getppid(2).
 */
static uint64_t counted(struct world *w, const char *name, int nr_due)
{
	int fd[8], nr = wm_event_name_resolve(&w->space, name, &w->defs, &w->diag);
	struct wm_perf_count count;
	uint64_t sum = 0;

	if (nr != nr_due)
		fail_msg("%s: %d events, %s", name, nr, w->diag.sentence);
	for (int i = 0; i < nr; i++) {
		fd[i] = open_counter(w, &w->defs.defs[w->defs.nr - (size_t)nr + (size_t)i]);
		if (fd[i] < 0)
			fail_msg("%s: %s", name, w->diag.sentence);
		assert_int_equal(wm_perf_enable(fd[i], false), 0);
	}
	for (int i = 0; i < CALLS; i++)
		(void)syscall(SYS_getppid);
	for (int i = 0; i < nr; i++) {
		assert_int_equal(wm_perf_read(fd[i], &count), 0);
		sum += count.value;
		close(fd[i]);
	}
	return sum;
}

static void test_calls_are_counted(void **state)
{
	struct world *w = *state;

	needs_kprobes(w);
	assert_int_equal(counted(w, "kprobe:__x64_sys_getppid", 1), CALLS);
	assert_int_equal(counted(w, "kretprobe:__x64_sys_getppid", 1), CALLS);
	assert_int_equal(counted(w, "kprobe:__x64_sys_getppi?", 1), CALLS);
	assert_int_equal(counted(w, "func:kernel:__x64_sys_getp[pg]id", 2), CALLS);
	assert_int_equal(counted(w, "kprobe:__x64_sys_sync", 1), 0);
}

/*
 * Several probes on one function each get all hits; none remains once the descriptors are closed.
 */
static void test_probes_vanish_with_their_descriptors(void **state)
{
	static const char list[] = "/sys/kernel/debug/kprobes/list";
	struct world *w = *state;
	char line[256];
	FILE *file;

	needs_kprobes(w);
	assert_int_equal(counted(w, "kprobe:__x64_sys_getppid", 1), CALLS);
	file = fopen(list, "r");
	if (!file)
		return; /* debugfs is not mounted, so nothing more can be checked */
	while (fgets(line, sizeof(line), file))
		assert_null(strstr(line, "__x64_sys_getppid"));
	fclose(file);
}

static void test_refusals_are_sentences(void **state)
{
	static const struct {
		const char *name;
		int err;
		const char *part;
	} cases[] = {
	    {"kprobe:no_such_function_there_is", -ENOENT, "/proc/kallsyms"},
	    {"kprobe:__x64_sys_getppid+1", -EILSEQ, "no instruction begins"},
	    {"kprobe:__x64_sys_getppid+0x100000", -EINVAL, "outside"},
	    {"kprobe:do_int3", -EINVAL, "/sys/kernel/debug/kprobes/blacklist"},
	    {"kretprobe:no_such_function_there_is", -ENOENT, "/proc/kallsyms"},
	};
	struct world *w = *state;

	needs_kprobes(w);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err;

		w->diag = (struct wm_diag){.offset = -1};
		err = wm_event_name_resolve(&w->space, cases[i].name, &w->defs, &w->diag);
		if (err > 0)
			err = open_counter(w, &w->defs.defs[w->defs.nr - 1]);
		if (err != cases[i].err || !strstr(w->diag.sentence, cases[i].part))
			fail_msg("%s: %d (%s): %s", cases[i].name, err, strerror(-err),
				 w->diag.sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_calls_are_counted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_probes_vanish_with_their_descriptors, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(test_refusals_are_sentences, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
