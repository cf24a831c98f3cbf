/* SPDX-License-Identifier: MIT */
/*
 * event_name_test.c - resolves names to events: every spelling of an event gives that event, places
 * in a program become offsets in its file, and errors in a name are reported. Tests that need
 * tracefs are skipped where it cannot be read.
 */
#include "kernel/event_name.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	struct wm_event_space space;
	struct wm_event_defs defs;
	struct wm_diag diag;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	wm_event_defs_init(&w->defs);
	return wm_event_space_open(&w->space, "/usr/bin:/bin");
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_event_space_close(&w->space);
	wm_event_defs_done(&w->defs);
	free(w);
	return 0;
}

/* Resolves one more name; returns the first event added, or NULL. */
static const struct wm_event_def *resolve(struct world *w, const char *name, int *ret)
{
	size_t before = w->defs.nr;

	w->diag = (struct wm_diag){.offset = -1};
	*ret = wm_event_name_resolve(&w->space, name, &w->defs, &w->diag);
	if (*ret > 0)
		assert_int_equal(w->defs.nr, before + (size_t)*ret);
	return *ret > 0 ? &w->defs.defs[before] : NULL;
}

static void test_spellings_of_counters(void **state)
{
	static const struct {
		const char *name, *whole;
		uint32_t type;
		uint64_t config;
	} rows[] = {
	    {"page-faults", "sw:page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	    {"faults", "sw:page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	    {"sw:faults", "sw:page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	    {"kernel:sw:cs", "sw:context-switches", PERF_TYPE_SOFTWARE,
	     PERF_COUNT_SW_CONTEXT_SWITCHES},
	    {"task-clock:u", "sw:task-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	    {"cycles", "cpu:cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	    {"cpu-cycles:k", "cpu:cycles:k", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	    {"cpu:branch-instructions", "cpu:branches", PERF_TYPE_HARDWARE,
	     PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	    {"L1-dcache-load-misses", "cpu:L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000},
	    {"dTLB-stores", "cpu:dTLB-stores", PERF_TYPE_HW_CACHE, 0x103},
	    {"r01c2", "r01c2", PERF_TYPE_RAW, 0x1c2},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int nr;
		const struct wm_event_def *d = resolve(w, rows[i].name, &nr);

		if (!d)
			fail_msg("%s: %s", rows[i].name, w->diag.sentence);
		assert_int_equal(nr, 1);
		assert_string_equal(d->name, rows[i].whole);
		assert_int_equal(d->type, rows[i].type);
		assert_true(d->config == rows[i].config);
	}
}

static void test_modifiers(void **state)
{
	struct perf_event_attr attr;
	struct world *w = *state;
	int nr;

	wm_event_def_attr(resolve(w, "cycles:u", &nr), &attr);
	assert_true(attr.exclude_kernel && attr.exclude_hv && !attr.exclude_user);
	wm_event_def_attr(resolve(w, "cycles:uk", &nr), &attr);
	assert_true(!attr.exclude_kernel && attr.exclude_hv && !attr.exclude_user);
	wm_event_def_attr(resolve(w, "cycles:kpp", &nr), &attr);
	assert_true(attr.exclude_user && !attr.exclude_kernel);
	assert_int_equal(attr.precise_ip, 2);
	assert_null(resolve(w, "cycles:x", &nr));
	assert_null(resolve(w, "cycles:", &nr));
}

static void test_tracepoints_and_syscalls(void **state)
{
	static const char *const same[] = {"sched:sched_switch", "sched_switch",
					   "kernel:sched:sched_switch", "sch?d:sched_s[w]itch"};
	struct world *w = *state;
	const struct wm_event_def *d;
	uint64_t id;
	int nr;

	if (!w->space.tracefs) {
		print_message("skipped: %s\n", w->space.tracefs_diag.sentence);
		skip();
	}
	assert_int_equal(wm_tracefs_event_id(w->space.tracefs, "sched", "sched_switch", &id, NULL),
			 0);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		d = resolve(w, same[i], &nr);
		assert_int_equal(nr, 1);
		assert_string_equal(d->name, "sched:sched_switch");
		assert_int_equal(d->type, PERF_TYPE_TRACEPOINT);
		assert_true(d->config == id);
	}
	assert_false(resolve(w, "sch?d:sched_s[w]itch", &nr)->one_of_many);
	assert_true(resolve(w, "sched:*", &nr)->one_of_many);
	assert_true(nr > 5);
	if (wm_tracefs_event_id(w->space.tracefs, "syscalls", "sys_enter_openat", &id, NULL)) {
		print_message("skipped: no system call events (CONFIG_FTRACE_SYSCALLS)\n");
		skip();
	}
	/*
	 * The system call has this name in programs, although the kernel's function has a different
	 * one.
	 */
	if (!wm_tracefs_event_id(w->space.tracefs, "syscalls", "sys_enter_newuname", &id, NULL)) {
		d = resolve(w, "syscall:uname:exit", &nr);
		assert_int_equal(nr, 1);
		assert_string_equal(d->name, "syscall:newuname:exit");
		assert_string_equal(d->event, "sys_exit_newuname");
		assert_null(resolve(w, "uname", &nr));
	}
	d = resolve(w, "syscall:openat", &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(d[0].name, "syscall:openat");
	assert_string_equal(d[0].event, "sys_enter_openat");
	assert_false(d[0].implied);
	assert_string_equal(d[1].event, "sys_exit_openat");
	assert_true(d[1].implied);
	d = resolve(w, "syscall:openat:exit", &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(d->name, "syscall:openat:exit");
	assert_false(d->implied);
	assert_string_equal(d->event, "sys_exit_openat");
	assert_non_null(resolve(w, "syscalls:sys_enter_openat", &nr));
	assert_int_equal(nr, 1);
}

static void test_breakpoints(void **state)
{
	struct perf_event_attr attr;
	struct world *w = *state;
	int nr;

	wm_event_def_attr(resolve(w, "mem:0x1000/4:w", &nr), &attr);
	assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
	assert_int_equal(attr.bp_addr, 0x1000);
	assert_int_equal(attr.bp_len, 4);
	assert_int_equal(attr.bp_type, HW_BREAKPOINT_W);
	wm_event_def_attr(resolve(w, "mem:4096", &nr), &attr);
	assert_int_equal(attr.bp_len, sizeof(long));
	assert_int_equal(attr.bp_type, HW_BREAKPOINT_RW);
	wm_event_def_attr(resolve(w, "mem:0x1000:w:u", &nr), &attr);
	assert_true(attr.exclude_kernel && attr.bp_type == HW_BREAKPOINT_W);
	assert_null(resolve(w, "mem:0x1000/3", &nr));
	assert_null(resolve(w, "mem:0x1000:rx", &nr));
	assert_null(resolve(w, "mem:main", &nr));
	assert_int_equal(nr, -EINVAL);
}

__attribute__((noinline, used)) static int probed_one(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((noinline, used)) static int probed_two(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}

static void test_places_in_this_program(void **state)
{
	struct world *w = *state;
	const struct wm_event_def *d, *p;
	unsigned offset = 1;
	char name[64];
	int nr;

	if (!wm_pmu_named(&w->space.pmus, "uprobe")) {
		print_message("skipped: this kernel has no uprobes\n");
		skip();
	}
	d = resolve(w, "uprobe:/proc/self/exe:probed_one", &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(d->family, WM_FAMILY_UPROBE);
	assert_true(d->offset > 0);
	p = resolve(w, "uretprobe:/proc/self/exe:probed_one", &nr);
	d = &w->defs.defs[w->defs.nr - 2];
	assert_true(p->offset == d->offset && p->config == 1 && d->config == 0);
	/* The bytes between two instruction starts are not valid places. */
	for (nr = 0; nr <= 0 && offset < 16; offset++) {
		(void)snprintf(name, sizeof(name), "uprobe:/proc/self/exe:probed_one+%u", offset);
		p = resolve(w, name, &nr);
		assert_true(nr == 1 || strstr(w->diag.sentence, "in the middle of"));
	}
	assert_int_equal(nr, 1);
	d = &w->defs.defs[w->defs.nr - 3];
	assert_true(p->offset == d->offset + offset - 1);
	(void)resolve(w, "func:/proc/self/exe:probed_*", &nr);
	assert_int_equal(nr, 2);
}

static void test_what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *name;
		int err;
		const char *part;
	} rows[] = {
	    {"", -EINVAL, "empty"},
	    {"user:shop:order", -ENOENT, "program's event"},
	    {"page-fautls", -ENOENT, "page-faults"},
	    {"sw:contxt-switches", -ENOENT, "sw:context-switches"},
	    {"shced:*", -ENOENT, "sched:*"},
	    {"nosuchpmu/event=1/", -ENOENT, "no event source"},
	    {"software/event=1/", -EINVAL, "its terms are"},
	    {"uprobe:main", -EINVAL, "uprobe:PROGRAM:FUNCTION"},
	    {"uprobe::main", -EINVAL, "uprobe:PROGRAM:FUNCTION"},
	    {"uprobe:/nonexistent:main", -ENOENT, "give its path"},
	    {"uprobe:/etc/passwd:main", -ENOEXEC, ""},
	    {"uprobe:/proc/self/exe:probd_one", -ENOENT, "probed_one"},
	    {"uprobe:/proc/self/exe:probed_one+100000", -EINVAL, "outside"},
	    {"uprobe:/proc/self/exe:probed_one+x", -EINVAL, "not a number"},
	    {"uprobe:/proc/self/exe:0x7fffffffffff", -EINVAL, "no code"},
	    {"usdt:/bin/true:x", -EINVAL, "usdt:PROGRAM:PROVIDER:NAME"},
	    {"usdt:/bin/true:a:b", -ENOENT, "no USDT probes"},
	    {"func:/proc/self/exe:none_*", -ENOENT, "no function"},
	    {"kprobe:", -EINVAL, "kprobe:FUNCTION"},
	    {"kretprobe:f+1", -EINVAL, "kretprobe:FUNCTION"},
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err;

		assert_null(resolve(w, rows[i].name, &err));
		/*
		 * Without tracefs, a name that does not exist cannot be told from a tracepoint.
		 */
		if (err == w->space.tracefs_err && !w->space.tracefs)
			continue;
		if (err != rows[i].err || !strstr(w->diag.sentence, rows[i].part))
			fail_msg("%s: %d %s", rows[i].name, err, w->diag.sentence);
	}
}

static void test_lists(void **state)
{
	static const char *const wanted[] = {"cycles", "cpu/event=1,umask=2/u", "uprobe:/a/b:f",
					     "sched:*"};
	const char *list = "cycles,cpu/event=1,umask=2/u,,uprobe:/a/b:f,sched:*", *start;
	size_t bytes, i = 0;

	(void)state;
	while ((bytes = wm_event_name_next(&list, &start))) {
		assert_true(i < sizeof(wanted) / sizeof(wanted[0]));
		assert_int_equal(bytes, strlen(wanted[i]));
		assert_memory_equal(start, wanted[i], bytes);
		i++;
	}
	assert_int_equal(i, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_spellings_of_counters),
	    cmocka_unit_test(test_modifiers),
	    cmocka_unit_test(test_tracepoints_and_syscalls),
	    cmocka_unit_test(test_breakpoints),
	    cmocka_unit_test(test_places_in_this_program),
	    cmocka_unit_test(test_what_is_wrong_is_said),
	    cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
