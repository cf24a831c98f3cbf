/* SPDX-License-Identifier: MIT */
/*
 * live_test.c - a recording that is read while it runs. All events arrive once and in order; memory
 * does not grow; a slow, stopped or killed reader loses events, which are counted, and leaves
 * nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include "control/control_test_kit.h"

#define SMALL WM_LIVE_BYTES_MIN

/* The events that were read: fake:tick values, which count from 0 in each fake_emit(). */
struct heard {
	/* Number of events except the recorder's own; number of fake:tick. */
	uint64_t events, of_kind;
	int64_t last_ns;
	uint64_t last_value;
	bool in_order;
};

static void start_live(uint64_t bytes)
{
	struct wm_diag diag = {.offset = -1};

	if (wm_live_create(NULL, bytes, &kit.live, &diag))
		fail_msg("%s", diag.sentence);
	kit_start(WM_POOL_DISCARD);
}

static int teardown(void **state)
{
	int err;

	if (kit.channel.pid > 0) {
		wm_channel_done(&kit.channel);
		(void)waitpid(kit.channel.pid, NULL, 0);
		kit.channel.pid = 0;
	}
	wm_live_destroy(kit.live);
	kit.live = NULL;
	err = kit_teardown(state);
	return err;
}

static uint64_t value_of(const struct wm_event *e)
{
	return e->items[e->parts[WM_PART_FIELDS].at].u;
}

static void hear(struct heard *h)
{
	const struct wm_event *e;
	int got;

	while ((got = wm_live_next(kit.live, &e)) > 0) {
		if (e->type->meta)
			continue;
		h->in_order &= e->ns >= h->last_ns;
		h->last_ns = e->ns;
		h->events++;
		if (!strcmp(e->type->name, "fake:tick")) {
			h->of_kind++;
			h->last_value = value_of(e);
		}
	}
	assert_int_equal(got, 0);
}

/* Requests a batch and reads it. Returns whether the trace was replaced. */
static bool batch(struct heard *h, struct wm_report *ret)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_report report;
	int got;

	assert_int_equal(wm_live_look(kit.live, &kit.channel), 0);
	assert_int_equal(wm_live_look(kit.live, &kit.channel), -EALREADY);
	kit_await(WM_REPORT_LOOKED, &report);
	got = wm_live_take(kit.live, &report, &diag);
	if (got < 0)
		fail_msg("%s", diag.sentence);
	hear(h);
	if (ret)
		*ret = report;
	return got == 1;
}

static void last_batch(struct heard *h)
{
	struct wm_diag diag = {.offset = -1};

	(void)kit_stop();
	assert_true(wm_live_take(kit.live, &kit.last, &diag) >= 0);
	hear(h);
	assert_int_equal(wm_live_take(kit.live, &kit.last, &diag), -ENOENT);
}

static void await_joined(void)
{
	struct wm_report report;

	kit_await(WM_REPORT_JOINED, &report);
}

/*
 * Joins and waits until the pump has reported it, because the pump may read a LOOK before a
 * process's messages, which come through another socket.
 */
static void join(struct fake *f)
{
	fake_join(f, WM_POOL_DISCARD);
	await_joined();
}

/* Waits until the records are older than the margin that the recorder keeps. */
static void let_them_age(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static struct heard nothing(void)
{
	return (struct heard){.last_ns = INT64_MIN, .in_order = true};
}

static void folder_of_live(char *buf, size_t size)
{
	struct wm_recording_options o = {0};

	wm_live_options(kit.live, &o);
	(void)snprintf(buf, size, "%s", o.dir);
}

/* ------------------------------------------------------------------ */

static void events_come_once_in_order(void **state)
{
	struct heard h = nothing();
	struct fake f;

	start_live(0);
	join(&f);
	assert_int_equal(fake_emit(&f, 1000), 1000);
	let_them_age();
	assert_true(batch(&h, NULL));
	assert_int_equal(h.events, 1000);
	assert_int_equal(h.last_value, 999);
	assert_false(batch(&h, NULL));
	assert_int_equal(h.events, 1000);
	for (int i = 0; i < 20; i++) { /* some of each in this batch, some in the next */
		assert_int_equal(fake_emit(&f, 500), 500);
		assert_false(batch(&h, NULL));
	}
	fake_bye(&f);
	fake_close(&f);
	last_batch(&h);
	assert_int_equal(h.events, 1000 + 20 * 500);
	assert_int_equal(h.of_kind, h.events);
	assert_true(h.in_order);
	assert_int_equal(wm_recording_lost(&kit.last.totals), 0);
}

/* A process that joins later adds an event type, so the trace is replaced. */
static void kinds_are_added(void **state)
{
	struct heard h = nothing();
	const struct wm_trace *t;
	struct fake f, g;
	uint32_t tick;

	start_live(0);
	join(&f);
	(void)fake_emit(&f, 10);
	let_them_age();
	assert_true(batch(&h, NULL));
	t = wm_live_trace(kit.live);
	for (tick = 0; tick < t->nr_types && strcmp(t->types[tick]->name, "fake:tick");)
		tick++;
	assert_true(tick < t->nr_types);
	fake_connect(&g, WM_POOL_DISCARD);
	fake_hello(&g);
	fake_event(&g, KIT_EVENT_ID, "tock");
	fake_synced(&g);
	await_joined();
	(void)fake_emit(&g, 7);
	(void)fake_emit(&f, 5);
	let_them_age();
	assert_true(batch(&h, NULL));
	assert_int_equal(h.events, 22);
	assert_int_equal(h.of_kind, 15);
	assert_ptr_not_equal(wm_live_trace(kit.live), t);
	assert_string_equal(wm_live_trace(kit.live)->types[tick]->name, "fake:tick");
	/* The previous trace is valid until the next batch. */
	assert_string_equal(t->types[tick]->name, "fake:tick");
	fake_bye(&f);
	fake_bye(&g);
	fake_close(&f);
	fake_close(&g);
	last_batch(&h);
	assert_int_equal(h.events, 22);
	assert_true(h.in_order);
}

static uint64_t bytes_in(const char *path)
{
	char name[512];
	struct dirent *e;
	DIR *dir = opendir(path);
	struct stat st;
	uint64_t sum = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		(void)snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (!stat(name, &st) && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_blocks * 512;
		else if (!strcmp(e->d_name, "index"))
			sum += bytes_in(name);
	}
	closedir(dir);
	return sum;
}

/* Many more events than may wait are recorded; data that was read is freed. */
static void nothing_grows(void **state)
{
	struct heard h = nothing();
	struct wm_growing_totals t;
	uint64_t emitted = 0, most = 0, kept = 0;
	char folder[256];
	struct fake f;

	start_live(SMALL);
	folder_of_live(folder, sizeof(folder));
	join(&f);
	while (h.events < 20 * SMALL / KIT_RECORD) {
		kept += fake_emit(&f, 8000);
		emitted += 8000;
		(void)batch(&h, NULL);
		if (bytes_in(folder) > most)
			most = bytes_in(folder);
	}
	assert_in_range(most, 1, 2 * SMALL);
	fake_bye(&f);
	fake_close(&f);
	last_batch(&h);
	wm_live_totals(kit.live, &t);
	assert_true(t.freed > 10 * SMALL);
	assert_int_equal(h.events, kept);
	assert_int_equal(h.events + wm_recording_lost(&kit.last.totals), emitted);
	assert_int_equal(t.skipped, 0);
}

/* A reader pauses for a long time: few events wait, the others are lost and counted. */
static void a_slow_reader_loses(void **state)
{
	struct heard h = nothing();
	uint64_t emitted = 0;
	char folder[256];
	struct fake f;

	start_live(SMALL);
	folder_of_live(folder, sizeof(folder));
	join(&f);
	/*
	 * Emits until as many bytes wait in the folder as the limit permits; the pump writes them.
	 */
	for (int i = 0; i < 200 || (i < KIT_SECONDS * 1000 && bytes_in(folder) < SMALL / 2); i++) {
		(void)fake_emit(&f, 8000);
		emitted += 8000;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	assert_in_range(bytes_in(folder), SMALL / 2, 4 * SMALL);
	for (int i = 0; i < 3; i++) /* first all the waiting events, then those that had no room */
		(void)batch(&h, NULL);
	fake_bye(&f);
	fake_close(&f);
	last_batch(&h);
	assert_true(wm_recording_lost(&kit.last.totals) > emitted / 4);
	assert_int_equal(h.events + wm_recording_lost(&kit.last.totals), emitted);
}

static void what_is_not_asked_for_is_counted(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct heard h = nothing();
	const struct wm_event *e;
	struct wm_growing_totals t;
	struct wm_report report;
	struct fake f;
	int nr = 0;

	start_live(0);
	join(&f);
	(void)fake_emit(&f, 100);
	let_them_age();
	assert_int_equal(wm_live_look(kit.live, &kit.channel), 0);
	kit_await(WM_REPORT_LOOKED, &report);
	assert_int_equal(wm_live_take(kit.live, &report, &diag), 1);
	while (nr < 30 && wm_live_next(kit.live, &e) == 1)
		nr += !e->type->meta;
	assert_int_equal(nr, 30);
	(void)batch(&h, NULL);
	assert_int_equal(h.events, 0);
	wm_live_totals(kit.live, &t);
	assert_int_equal(t.skipped, 70);
	fake_bye(&f);
	fake_close(&f);
}

/* A record that arrives only now, but is older than the last batch. */
static void late_ones_are_given_and_counted(void **state)
{
	struct heard h = nothing();
	struct wm_growing_totals t;
	struct fake f, g;

	start_live(0);
	join(&f);
	join(&g);
	(void)fake_emit(&g, 1);
	fake_seal(&g);
	(void)fake_emit(&f, 10);
	let_them_age();
	(void)batch(&h, NULL);
	assert_int_equal(h.events, 11);
	let_them_age();
	fake_connect(&g, WM_POOL_DISCARD); /* joins only now, but has already emitted an event */
	(void)fake_emit(&g, 3);
	let_them_age();
	(void)fake_emit(&f, 10);
	let_them_age();
	(void)batch(&h, NULL);
	fake_hello(&g);
	fake_event(&g, KIT_EVENT_ID, "tick");
	fake_synced(&g);
	fake_seal(&g);
	await_joined();
	let_them_age();
	(void)batch(&h, NULL);
	last_batch(&h);
	wm_live_totals(kit.live, &t);
	assert_int_equal(h.events, 24);
	assert_int_equal(t.late, 3);
	assert_false(h.in_order);
	fake_close(&f);
	fake_close(&g);
}

/* ------------------------------------------------------------------ *
 * Nothing is left
 * ------------------------------------------------------------------ */

static void await_gone(const char *path)
{
	for (int i = 0; i < KIT_SECONDS * 100 && !access(path, F_OK); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_int_equal(access(path, F_OK), -1);
}

/*
 * Starts a command that records, reports its folder and waits to be killed. Returns its recorder's
 * pid.
 */
static pid_t recording_child(char *folder, size_t size, pid_t *ret_pump)
{
	int said[2];
	pid_t pid;

	assert_int_equal(pipe(said), 0);
	pid = fork();
	if (!pid) {
		char text[256] = "";

		/* So that a failing test leaves no child behind. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		start_live(0);
		folder_of_live(text, sizeof(text));
		(void)!write(said[1], &kit.channel.pid, sizeof(kit.channel.pid));
		(void)!write(said[1], text, sizeof(text));
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], ret_pump, sizeof(*ret_pump)), sizeof(*ret_pump));
	assert_int_equal(read(said[0], folder, size), size);
	close(said[0]);
	return pid;
}

static void kill_and_wait(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Waits until the kernel has released the killed process's lock. */
static void await_unlocked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	assert_true(fd >= 0);
	for (int i = 0; i < KIT_SECONDS * 100 && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	close(fd);
}

static void a_killed_command_leaves_nothing(void **state)
{
	char folder[256];
	pid_t pump, pid = recording_child(folder, sizeof(folder), &pump);

	assert_int_equal(access(folder, F_OK), 0);
	kill_and_wait(pid);
	await_gone(folder);
}

/* If the recorder was killed, too, the next recording removes the folder. Folders in use stay. */
static void the_next_one_sweeps(void **state)
{
	const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char folder[256], other[256];
	pid_t pump, other_pump, pid = recording_child(folder, sizeof(folder), &pump);
	pid_t lives = recording_child(other, sizeof(other), &other_pump);
	struct wm_diag diag = {.offset = -1};

	assert_int_equal(kill(pump, SIGKILL), 0);
	kill_and_wait(pid);
	await_unlocked(folder);
	assert_int_equal(access(folder, F_OK), 0);
	assert_int_equal(utimensat(AT_FDCWD, folder, old, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, other, old, 0), 0);
	assert_int_equal(wm_live_create(NULL, 0, &kit.live, &diag), 0);
	assert_int_equal(access(folder, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	kill_and_wait(lives);
	await_gone(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(events_come_once_in_order, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(kinds_are_added, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(nothing_grows, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(a_slow_reader_loses, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(what_is_not_asked_for_is_counted, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(late_ones_are_given_and_counted, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(a_killed_command_leaves_nothing, kit_setup, teardown),
	    cmocka_unit_test_setup_teardown(the_next_one_sweeps, kit_setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
