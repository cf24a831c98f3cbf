/* SPDX-License-Identifier: MIT */
/*
 * receive_test.c - all packets that a peer sent before closing are received, even if it left
 * packets unread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "base/receive.h"

static void connect_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
}

/* The peer sends two packets and closes its socket while one packet sent to it is still unread. */
static void say_and_go(const int pair[2])
{
	assert_int_equal(send(pair[0], "order", 5, 0), 5);
	assert_int_equal(send(pair[1], "last", 4, 0), 4);
	assert_int_equal(send(pair[1], "words", 5, 0), 5);
	close(pair[1]);
}

static void the_system_tells_of_the_reset_first(void **state)
{
	char got[8];
	int pair[2];

	(void)state;
	connect_pair(pair);
	say_and_go(pair);
	assert_int_equal(recv(pair[0], got, sizeof(got), 0), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(recv(pair[0], got, sizeof(got), 0), 4);
	close(pair[0]);
}

static void last_words_are_received(void **state)
{
	char got[8];
	int pair[2];

	(void)state;
	connect_pair(pair);
	say_and_go(pair);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), MSG_DONTWAIT), 4);
	assert_memory_equal(got, "last", 4);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), MSG_DONTWAIT), 5);
	assert_memory_equal(got, "words", 5);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), MSG_DONTWAIT), 0);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), 0), 0);
	close(pair[0]);
}

static void nothing_there_is_no_end(void **state)
{
	char got[8];
	int pair[2];

	(void)state;
	connect_pair(pair);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), MSG_DONTWAIT), -EAGAIN);
	assert_int_equal(wm_receive(-1, got, sizeof(got), 0), -EBADF);
	close(pair[1]);
	assert_int_equal(wm_receive(pair[0], got, sizeof(got), MSG_DONTWAIT), 0);
	close(pair[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_system_tells_of_the_reset_first),
	    cmocka_unit_test(last_words_are_received),
	    cmocka_unit_test(nothing_there_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
