/* SPDX-License-Identifier: MIT */
/*
 * change_test.c - rule changes while a session is served. Fake programs get RULES and follow them
 * or not, or join with old rules; tools send valid and malformed requests, and disconnect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "control/control_test_kit.h"
#include "control/tool.h"

/* A tool, in its own thread because it waits for its answer. */
struct asking {
	pthread_t thread;
	const char *glob; /* events to switch off; NULL: a request without rules */
	struct wm_msg_changed answer;
	int err;
};

static void *ask(void *data)
{
	const struct wm_rules_options none = {0};
	struct asking *a = data;
	struct wm_rules *rules;

	a->err = wm_rules_create(&none, &rules);
	if (a->err == 0 && a->glob)
		(void)wm_rules_exclude(rules, a->glob, NULL);
	if (a->err == 0)
		a->err = wm_tool_change(kit.dir, rules, &a->answer, NULL);
	wm_rules_destroy(rules);
	return NULL;
}

static void begin_asking(struct asking *a, const char *glob)
{
	*a = (struct asking){.glob = glob};
	assert_int_equal(pthread_create(&a->thread, NULL, ask, a), 0);
}

static const struct wm_msg_changed *answer_of(struct asking *a)
{
	assert_int_equal(pthread_join(a->thread, NULL), 0);
	assert_int_equal(a->err, 0);
	return &a->answer;
}

static void follow(struct fake *f, uint64_t generation, uint32_t nr_events, uint64_t matched)
{
	const struct wm_msg_synced s = {
	    .h = {.type = WM_MSG_SYNCED, .bytes = sizeof(s)},
	    .generation = generation,
	    .nr_events = nr_events,
	    .matched = {matched},
	};

	fake_send(f, &s, sizeof(s));
}

static void all_follow(void **state)
{
	const struct wm_msg_changed *answer;
	struct wm_report report;
	struct asking a;
	struct fake f, g;

	kit_start(WM_POOL_DISCARD);
	fake_join(&f, WM_POOL_DISCARD);
	fake_join(&g, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &report);
	kit_await(WM_REPORT_JOINED, &report);
	begin_asking(&a, "fake:tick");
	fake_await_message(&f, WM_MSG_RULES);
	fake_await_message(&g, WM_MSG_RULES);
	kit_await(WM_REPORT_CHANGED, &report);
	follow(&f, 2, 3, 1); /* rule 0 of the file is not part of the change */
	follow(&g, 2, 5, 1 << 2);
	answer = answer_of(&a);
	assert_int_equal(answer->generation, 2);
	assert_int_equal(answer->nr_processes, 2);
	assert_int_equal(answer->nr_late, 0);
	assert_int_equal(answer->events_min, 3);
	assert_int_equal(answer->events_max, 5);
	assert_int_equal(answer->matched[0], 1); /* rule 2 of the file is rule 0 of the change */
	assert_int_equal(answer->pids[0], getpid());

	begin_asking(&a, NULL); /* a request that changes nothing and notifies no process */
	assert_int_equal(answer_of(&a)->generation, 2);
	assert_true(fake_is_connected(&f));
	fake_bye(&f);
	fake_bye(&g);
	assert_int_equal(kit_stop()->nr_changes, 1);
	fake_close(&f);
	fake_close(&g);
}

static void late_and_deaf(void **state)
{
	const struct wm_msg_changed *answer;
	struct wm_report report;
	struct asking a;
	struct fake late, deaf;

	kit_start(WM_POOL_DISCARD);
	fake_join(&late, WM_POOL_DISCARD);
	fake_join(&deaf, WM_POOL_DISCARD);
	kit_await(WM_REPORT_JOINED, &report);
	kit_await(WM_REPORT_JOINED, &report);
	close(deaf.sock); /* the process continues, and its pool is still mapped */
	deaf.sock = -1;
	begin_asking(&a, "fake:*");
	fake_await_message(&late, WM_MSG_RULES);
	answer = answer_of(&a);
	assert_int_equal(answer->nr_processes, 2);
	assert_int_equal(answer->nr_late, 1);
	assert_int_equal(answer->nr_deaf, 1);
	fake_bye(&late);
	(void)kit_stop();
	fake_close(&late);
	fake_close(&deaf);
}

/*
 * A process exits without having read about the change: its socket is reset, and the recorder gets
 * that error before the process's last messages.
 */
static void gone_with_the_change_unread(void **state)
{
	struct wm_report report;
	struct pollfd change;
	struct asking a;
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	fake_connect(&f, WM_POOL_DISCARD);
	fake_hello(&f);
	fake_synced(&f);
	kit_await(WM_REPORT_JOINED, &report);
	begin_asking(&a, "fake:tick");
	change = (struct pollfd){.fd = f.sock, .events = POLLIN};
	assert_int_equal(poll(&change, 1, KIT_SECONDS * 1000), 1);
	kit_await(WM_REPORT_CHANGED, &report);
	assert_int_equal(kill(kit.channel.pid, SIGSTOP), 0);
	fake_event(&f, KIT_EVENT_ID, "tick");
	assert_int_equal(fake_emit(&f, 100), 100);
	fake_bye(&f);
	fake_close(&f);
	assert_int_equal(kill(kit.channel.pid, SIGCONT), 0);
	(void)answer_of(&a);
	assert_int_equal(kit_stop()->events, 100);
}

/* A process reads the rules, then the rules change, and then it sends HELLO. */
static void joined_with_old_rules(void **state)
{
	struct asking a;
	struct fake f;

	kit_start(WM_POOL_DISCARD);
	begin_asking(&a, "fake:*");
	assert_int_equal(answer_of(&a)->nr_processes, 0);
	fake_join(&f, WM_POOL_DISCARD); /* the process follows generation 1 */
	fake_await_message(&f, WM_MSG_RULES);
	follow(&f, 2, 0, 0);
	fake_bye(&f);
	(void)kit_stop();
	fake_close(&f);
}

static void ask_nonsense(const void *message, size_t bytes)
{
	int sock = wm_session_connect(kit.session.path);
	struct fake f = {.sock = sock, .pool_fd = -1};

	assert_true(sock >= 0);
	assert_int_equal(send(sock, message, bytes, MSG_NOSIGNAL), bytes);
	fake_await_close(&f);
	close(sock);
}

static void nonsense(void **state)
{
	struct {
		struct wm_msg_change m;
		unsigned char rules[40];
	} m = {.m = {.h = {.type = WM_MSG_CHANGE, .bytes = sizeof(m)}}};
	struct wm_msg_changed answer;
	struct asking a;
	int sock;

	kit_start(WM_POOL_DISCARD);
	m.m.nr_rules = WM_RULES_NR_MAX + 1;
	ask_nonsense(&m, sizeof(m));
	ask_nonsense(&(struct wm_msg){.type = WM_MSG_CHANGE, .bytes = sizeof(struct wm_msg)},
		     sizeof(struct wm_msg));
	ask_nonsense(&(struct wm_msg){.type = 77, .bytes = sizeof(struct wm_msg)},
		     sizeof(struct wm_msg));

	m.m.nr_rules = 1; /* of zeros */
	sock = wm_session_connect(kit.session.path);
	assert_int_equal(send(sock, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
	assert_int_equal(recv(sock, &answer, sizeof(answer), 0), sizeof(answer));
	assert_int_equal(answer.err, -EBADMSG);
	close(sock);

	m.m.nr_rules = 0; /* sends a request without waiting for the answer */
	m.m.h.bytes = sizeof(m.m);
	sock = wm_session_connect(kit.session.path);
	assert_int_equal(send(sock, &m, sizeof(m.m), MSG_NOSIGNAL), sizeof(m.m));
	close(sock);

	begin_asking(&a, "fake:*");
	assert_int_equal(answer_of(&a)->generation, 2);
	assert_int_equal(kit_stop()->nr_changes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(all_follow, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(late_and_deaf, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(gone_with_the_change_unread, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(joined_with_old_rules, kit_setup, kit_teardown),
	    cmocka_unit_test_setup_teardown(nonsense, kit_setup, kit_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
