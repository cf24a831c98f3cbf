/* SPDX-License-Identifier: MIT */
/*
 * pumproc_test.c - tests the pump process: with fake programs that join, emit, leave and die, with
 * a command that leaves or dies, and with a pump that dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>

#include "base/file.h"
#include "control/control_test_kit.h"
#include "control/tool.h"

static bool exists(const char *folder, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* Runs fn in a child, which then waits for SIGKILL. Returns when fn has returned. */
static pid_t in_child(void (*fn)(void *data), void *data)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		wm_channel_done(&kit.channel);
		fn(data);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A command that sends orders while the pump ends. */
static void the_end_is_told_with_orders_unread(void **state)
{
	const struct wm_report done = {.kind = WM_REPORT_DONE};
	struct wm_channel c;
	struct wm_report got;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	c = (struct wm_channel){.fd = pair[0]};
	assert_int_equal(wm_channel_order(&c, WM_ORDER_STOP), 0);
	assert_int_equal(send(pair[1], &done, sizeof(done), 0), sizeof(done));
	close(pair[1]);
	assert_int_equal(wm_channel_read(&c, false, &got), 1);
	assert_int_equal(got.kind, WM_REPORT_DONE);
	assert_int_equal(wm_channel_read(&c, false, &got), -EPIPE);
	wm_channel_done(&c);
}

static void joins_emits_leaves(void **state)
{
	const struct wm_recording_totals *t;
	struct wm_report joined;
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &joined);
	assert_int_equal(joined.pid, getpid());
	assert_true(exists(kit.dir, WM_TOOL_FILE));
	assert_int_equal(fake_emit(&f, 10000), 10000);
	fake_bye(&f);
	fake_close(&f);
	t = kit_stop();
	assert_int_equal(t->events, 10000);
	assert_int_equal(wm_recording_lost(t), 0);
	assert_int_equal(t->nr_processes, 1);
	assert_int_equal(t->matched[0], 1); /* the rule fake:* matched, the rule "other" did not */
	assert_true(t->bytes >= 10000 * KIT_RECORD);
	assert_true(exists(kit.dir, "metadata"));
	assert_false(exists(kit.dir, WM_TOOL_FILE));
	assert_int_equal(access(kit.session.path, F_OK), -1);
}

/* The losses that the process counted are reported: recorded + lost = emitted. */
static void loss_is_exact(void **state)
{
	const struct wm_recording_totals *t;
	struct fake f;
	uint64_t kept = 0, emitted = 0;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	while (kept == emitted) { /* emits faster than the pump drains, until an event is lost */
		kept += fake_emit(&f, 200000);
		emitted += 200000;
	}
	fake_bye(&f);
	fake_close(&f);
	t = kit_stop();
	assert_int_equal(t->events, kept);
	assert_int_equal(t->lost[WM_LOST_FULL], emitted - kept);
	assert_int_equal(wm_recording_lost(t), emitted - kept);
}

static void join_and_emit(void *data)
{
	static struct fake f;

	fake_join(&f, WM_POOL_DISCARD);
	fake_emit(&f, *(uint64_t *)data);
}

static void killed_process(void **state)
{
	const struct wm_recording_totals *t;
	uint64_t nr = 12345;

	kit_start(WM_POOL_DISCARD);
	for (int i = 0; i < 5; i++)
		kill_child(in_child(join_and_emit, &nr));
	t = kit_stop();
	assert_int_equal(t->events, 5 * nr);
	assert_int_equal(wm_recording_lost(t), 0);
	assert_int_equal(t->nr_processes, 5);
}

/* A running process gets DETACH; the events that it emits before its BYE are kept. */
static void live_process_detaches(void **state)
{
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	fake_emit(&f, 100);
	assert_int_equal(wm_channel_order(&kit.channel, WM_ORDER_STOP), 0);
	fake_await_message(&f, WM_MSG_DETACH);
	fake_emit(&f, 23);
	fake_bye(&f);
	kit_await(WM_REPORT_DONE, &kit.last);
	assert_int_equal(kit.last.totals.events, 123);
	fake_close(&f);
}

/* The pool of a process that does not answer is read in its current state. */
static void mute_process(void **state)
{
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	fake_emit(&f, 100);
	assert_int_equal(kit_stop()->events, 100);
	fake_close(&f);
}

/* As after closefrom(3): the socket is closed, but the pool stays mapped and is written to. */
static void closed_socket(void **state)
{
	struct wm_report joined;
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &joined);
	fake_emit(&f, 10);
	close(f.sock);
	f.sock = -1;
	usleep(50000);
	fake_emit(&f, 20);
	assert_int_equal(kit_stop()->events, 30);
	fake_close(&f);
}

static void await_end_of_pump(void)
{
	int status;

	for (int i = 0; i < KIT_SECONDS * 100; i++) {
		if (waitpid(kit.channel.pid, &status, WNOHANG) == kit.channel.pid) {
			kit.channel.pid = 0;
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
			return;
		}
		usleep(10000);
	}
	fail_msg("the pump did not end");
}

/* After kill -9 of the command, the pump sees that the socket pair is closed. */
static void command_dies(void **state)
{
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	fake_emit(&f, 1000);
	wm_channel_done(&kit.channel);
	fake_await_message(&f, WM_MSG_DETACH);
	fake_bye(&f);
	await_end_of_pump();
	assert_true(kit_stream_bytes() >= 1000 * KIT_RECORD);
	assert_false(exists(kit.dir, WM_TOOL_FILE));
	assert_int_equal(access(kit.session.path, F_OK), -1);
	fake_close(&f);
}

static void pump_dies(void **state)
{
	struct wm_report report;
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &report);
	kill_child(kit.channel.pid);
	kit.channel.pid = 0;
	assert_int_equal(wm_channel_read(&kit.channel, false, &report), -EPIPE);
	assert_int_equal(wm_channel_read(&kit.channel, true, &report), 0);
	assert_int_equal(wm_channel_order(&kit.channel, WM_ORDER_STOP), -EPIPE);
	fake_await_close(&f);
	fake_close(&f);
}

static void cannot_begin(void **state)
{
	struct wm_diag diag = {.offset = -1};
	int fd;

	/* Creates a file in place of the trace's folder. */
	fd = open(kit.dir, O_WRONLY | O_CREAT, 0600);
	close(fd);
	assert_true(kit_try_start(WM_POOL_DISCARD, &diag) < 0);
	assert_non_null(strstr(diag.sentence, "Not a directory"));
	kit.channel.pid = 0;
}

/* Nothing is written before a snapshot, which writes the whole buffer. */
static void snapshot_of_overwrite(void **state)
{
	struct wm_msg_snapshot answer;
	struct wm_report report;
	struct wm_diag diag = {.offset = -1};
	struct fake f;

	kit_start(WM_POOL_OVERWRITE);
	fake_join(&f, WM_POOL_OVERWRITE);
	kit_await(WM_REPORT_JOINED, &report);
	fake_emit(&f, 500);
	usleep(150000);
	assert_int_equal(kit_stream_bytes(), 0);
	if (wm_tool_snapshot(kit.dir, &answer, &diag) < 0)
		fail_msg("%s", diag.sentence);
	assert_int_equal(answer.events, 500);
	assert_true(kit_stream_bytes() >= 500 * KIT_RECORD);

	fake_emit(&f, 60);
	assert_int_equal(wm_channel_order(&kit.channel, WM_ORDER_SNAPSHOT), 0);
	kit_await(WM_REPORT_SNAPSHOT, &report);
	assert_int_equal(report.totals.events, 60); /* contains only new events */

	fake_emit(&f, 7);
	fake_bye(&f);
	assert_int_equal(kit_stop()->events, 567);
	fake_close(&f);
	assert_int_equal(wm_tool_snapshot(kit.dir, &answer, &diag), -ENOENT);
}

/* Overwrite mode keeps the last events of a process that died, and counts the others. */
static void overwrite_keeps_the_dead(void **state)
{
	const struct wm_recording_totals *t;
	uint64_t nr = 300000; /* times 16 bytes, which is several times the size of the buffer */
	pid_t pid;

	kit_start(WM_POOL_OVERWRITE);
	pid = fork();
	if (pid == 0) {
		struct fake f;

		wm_channel_done(&kit.channel);
		fake_join(&f, WM_POOL_OVERWRITE);
		fake_emit(&f, nr);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	t = kit_stop();
	assert_true(t->events > KIT_BUFFER / KIT_RECORD / 2);
	assert_true(t->lost[WM_LOST_OVERWRITTEN] > 0);
	assert_int_equal(t->events + wm_recording_lost(t), nr);
}

/*
 * A file reaches its size limit: there is one report, losses are counted, and the trace is closed
 * properly.
 */
static void disk_is_full(void **state)
{
	const struct rlimit small = {.rlim_cur = 100000, .rlim_max = RLIM_INFINITY};
	struct rlimit before;
	const struct wm_recording_totals *t;
	uint64_t kept;
	struct fake f;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	kit_start(WM_POOL_DISCARD);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	fake_join(&f, WM_POOL_DISCARD);
	kept = fake_emit(&f, 20000);
	fake_bye(&f);
	t = kit_stop();
	fake_close(&f);
	assert_true(kit.nr_trouble >= 1);
	assert_non_null(strstr(kit.trouble, kit.dir));
	assert_true(t->lost[WM_LOST_DISK] > 0);
	assert_int_equal(t->events + wm_recording_lost(t), 20000);
	assert_int_equal(kept, 20000);
	(void)signal(SIGXFSZ, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_end_is_told_with_orders_unread),
	    cmocka_unit_test_setup_teardown(joins_emits_leaves, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(loss_is_exact, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(killed_process, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(live_process_detaches, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(mute_process, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(closed_socket, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(command_dies, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(pump_dies, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(cannot_begin, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(snapshot_of_overwrite, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(overwrite_keeps_the_dead, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(disk_is_full, kit_setup, kit_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
