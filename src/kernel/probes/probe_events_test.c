/* SPDX-License-Identifier: MIT */
/*
 * probe_events_test.c - probes in tracefs are removed once their creator is gone: when it exits,
 * after a kill -9, and, if creator and keeper were both killed, by the next process that creates
 * probes. Skipped where tracefs cannot be written.
 */
#include "kernel/probe_events.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/event_name.h"

struct world {
	struct wm_event_space space;
	struct wm_event_defs defs;
};

__attribute__((noinline, used)) static int probed(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	wm_event_defs_init(&w->defs);
	return wm_event_space_open(&w->space, "/bin");
}

static int tear_down(void **state)
{
	struct world *w = *state;

	wm_event_space_close(&w->space);
	wm_event_defs_done(&w->defs);
	free(w);
	return 0;
}

/* Creates one probe in this program, or skips the test with the reason. */
static struct wm_dynamic *make(struct world *w, char *system, char *event)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_dynamic *d = NULL;
	int err = w->space.tracefs ? 0 : -EACCES;

	if (!err)
		err = wm_dynamic_create(w->space.tracefs, &d, &diag);
	if (err < 0 || !wm_pmu_named(&w->space.pmus, "uprobe")) {
		wm_dynamic_destroy(d);
		return NULL;
	}
	assert_int_equal(
	    wm_event_name_resolve(&w->space, "uprobe:/proc/self/exe:probed", &w->defs, &diag), 1);
	assert_int_equal(wm_dynamic_add(d, &w->defs.defs[w->defs.nr - 1], system, event, &diag), 0);
	return d;
}

/* Waits up to a minute until the probe has been removed; returns whether it has. */
static bool is_gone(const struct world *w, const char *system)
{
	const struct timespec nap = {.tv_nsec = 20000000};
	char *text;
	size_t bytes;

	for (int i = 0; i < 3000; i++) {
		bool there;

		assert_int_equal(wm_tracefs_read(w->space.tracefs, "uprobe_events", 1u << 20, &text,
						 &bytes, NULL),
				 0);
		there = strstr(text, system) != NULL;
		free(text);
		if (!there)
			return true;
		(void)nanosleep(&nap, NULL);
	}
	return false;
}

static void test_made_and_removed(void **state)
{
	char system[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
	struct world *w = *state;
	struct wm_dynamic *d = make(w, system, event);
	struct wm_diag diag = {.offset = -1};
	struct wm_event_def blank = {.family = WM_FAMILY_KPROBE, .name = "x", .symbol = "a b"};
	struct wm_event_def none = {.family = WM_FAMILY_UPROBE, .name = "x", .path = "/a"};
	uint64_t id;

	if (!d) {
		print_message("skipped: cannot create probes here\n");
		skip();
	}
	assert_int_equal(wm_tracefs_event_id(w->space.tracefs, system, event, &id, NULL), 0);
	assert_int_equal(wm_dynamic_add(d, &blank, system, event, &diag), -EINVAL);
	assert_non_null(strstr(diag.sentence, "cannot be probed"));
	assert_true(wm_dynamic_add(d, &none, system, event, &diag) < 0);
	assert_non_null(strstr(diag.sentence, "cannot be probed"));
	wm_dynamic_destroy(d);
	assert_true(is_gone(w, system));
}

/* A child creates a probe and is killed, together with its keeper if requested. */
static void killed(struct world *w, bool keeper, char *system)
{
	char event[WM_TRACEFS_NAME_MAX];
	int out[2];
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	/* The keeper becomes a child of this process when its parent is killed. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork();
	if (pid == 0) {
		system[0] = '\0';
		(void)make(w, system, event);
		(void)!write(out[1], system, WM_TRACEFS_NAME_MAX);
		(void)pause();
		_exit(1);
	}
	assert_int_equal(read(out[0], system, WM_TRACEFS_NAME_MAX), WM_TRACEFS_NAME_MAX);
	if (keeper && *system) {
		char path[64], children[64] = "";
		FILE *f;

		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
		f = fopen(path, "r");
		if (!f || !fgets(children, sizeof(children), f))
			*children = '\0';
		if (f)
			(void)fclose(f);
		if (atoi(children) > 0)
			(void)kill(atoi(children), SIGKILL);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	(void)close(out[0]);
	(void)close(out[1]);
	if (!*system) {
		print_message("skipped: cannot create probes here\n");
		skip();
	}
}

static void test_gone_after_kill(void **state)
{
	char system[WM_TRACEFS_NAME_MAX];
	struct world *w = *state;

	killed(w, false, system);
	assert_true(is_gone(w, system));
}

static void test_swept_by_the_next(void **state)
{
	char system[WM_TRACEFS_NAME_MAX], other[WM_TRACEFS_NAME_MAX], event[WM_TRACEFS_NAME_MAX];
	struct world *w = *state;
	struct wm_dynamic *d;

	killed(w, true, system);
	d = make(w, other, event);
	assert_non_null(d);
	assert_true(is_gone(w, system));
	wm_dynamic_destroy(d);
	assert_true(is_gone(w, other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_made_and_removed),
	    cmocka_unit_test(test_gone_after_kill),
	    cmocka_unit_test(test_swept_by_the_next),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
