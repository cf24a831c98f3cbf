/* SPDX-License-Identifier: MIT */
/*
 * terminal_test.c - tests on a pseudo terminal: output, keys, and that its modes are restored.
 */
#include <errno.h>
#include <locale.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

#include "view/screen/terminal.h"

#define OUTPUT_MAX 65536

struct session {
	int master;
	pid_t child;
	struct termios before;
	char output[OUTPUT_MAX];
	size_t bytes;
};

/* Runs a function in a child process on the terminal; its return value becomes the exit status. */
static void begin(struct session *s, const char *term, int (*run)(void))
{
	struct winsize size = {.ws_row = 10, .ws_col = 40};
	int slave;

	*s = (struct session){0};
	assert_int_equal(openpty(&s->master, &slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(slave, &s->before), 0);
	s->child = fork();
	if (!s->child) {
		(void)close(s->master);
		(void)login_tty(slave);
		(void)setenv("TERM", term, 1);
		_exit(run());
	}
	(void)close(slave);
}

static int finish(struct session *s)
{
	struct termios after;
	ssize_t n;
	int status;

	/* Reading fails when the other end is closed. */
	while ((n = read(s->master, s->output + s->bytes, OUTPUT_MAX - 1 - s->bytes)) > 0)
		s->bytes += (size_t)n;
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	assert_int_equal(tcgetattr(s->master, &after), 0);
	assert_memory_equal(&after.c_lflag, &s->before.c_lflag, sizeof(after.c_lflag));
	assert_memory_equal(&after.c_oflag, &s->before.c_oflag, sizeof(after.c_oflag));
	(void)close(s->master);
	return status;
}

static bool was_sent(const struct session *s, const char *bytes)
{
	return memmem(s->output, s->bytes, bytes, strlen(bytes)) != NULL;
}

/* Waits until the child has drawn `mark` and is reading keys. */
static void wait_for(struct session *s, const char *mark)
{
	while (!was_sent(s, mark)) {
		ssize_t n = read(s->master, s->output + s->bytes, OUTPUT_MAX - 1 - s->bytes);

		assert_true(n > 0);
		s->bytes += (size_t)n;
	}
}

static int draw_hostile(void)
{
	static const char text[] = "a\x1b]0;owned\x07\x9b"
				   "31m\xff\xe2\x80\xae\xe6\xbc\xa2z";
	struct wm_terminal *t;
	int rows, columns, err = wm_terminal_open(false, &t, NULL);

	if (err)
		return -err;
	wm_terminal_size(t, &rows, &columns);
	wm_terminal_begin(t);
	(void)wm_terminal_put(t, 0, 0, 0, text, sizeof(text) - 1, WM_INK_PLAIN);
	(void)wm_terminal_put(t, 1, -2, 6, "lefright", 8, WM_INK_PLAIN);
	(void)wm_terminal_put(t, rows, 0, 0, "beyond", 6, WM_INK_PLAIN);
	(void)wm_terminal_put(t, -1, 0, 0, "beyond", 6, WM_INK_PLAIN);
	wm_terminal_fill(t, 2, columns, WM_INK_BAR);
	wm_terminal_show(t);
	wm_terminal_close(t);
	return 0;
}

static void hostile_text_stays_text(void **state)
{
	struct session s;
	int status;

	begin(&s, "xterm", draw_hostile);
	status = finish(&s);
	assert_int_equal(status, 0);
	assert_true(was_sent(&s, "a\\x1b]0;owned\\x07"));
	assert_true(was_sent(&s, "\\xff\\u202e"));
	assert_true(was_sent(&s, "fright"));
	assert_false(was_sent(&s, "lef"));
	assert_false(was_sent(&s, "\x1b]0;"));
	assert_false(was_sent(&s, "\x9b"));
	assert_false(was_sent(&s, "beyond"));
}

/* Reads keys; the exit status is the number of keys that were as expected. */
static int read_keys(void)
{
	static const uint32_t wanted[] = {'x',           WM_KEY_UP,     WM_KEY_ENTER,    0xe9,
					  WM_KEY_F1 + 4, WM_KEY_ESCAPE, WM_KEY_INTERRUPT};
	struct wm_terminal *t;
	int nr = 0, err = wm_terminal_open(false, &t, NULL);

	if (err)
		return err == -ENOTSUP ? ENOTSUP : 100;
	(void)wm_terminal_put(t, 0, 0, 0, "ready", 5, WM_INK_PLAIN);
	wm_terminal_show(t);
	while (nr < (int)(sizeof(wanted) / sizeof(wanted[0])) &&
	       wm_terminal_key(t, 60000) == wanted[nr]) {
		if (wanted[nr++] != WM_KEY_ESCAPE)
			continue;
		(void)wm_terminal_put(t, 1, 0, 0, "alone", 5, WM_INK_PLAIN);
		wm_terminal_show(t);
	}
	if (wm_terminal_key(t, 0) != WM_KEY_NONE)
		nr = 101;
	wm_terminal_close(t);
	return nr;
}

static void keys_are_what_was_typed(void **state)
{
	/* Up as xterm sends it in application mode; F5; a single Esc; Ctrl-C is a signal. */
	static const char typed[] = "x\x1bOA\r\xc3\xa9\x1b[15~\x1b";
	struct session s;
	int status;

	begin(&s, "xterm", read_keys);
	wait_for(&s, "ready");
	assert_int_equal(write(s.master, typed, sizeof(typed) - 1), sizeof(typed) - 1);
	wait_for(&s, "alone"); /* the Esc was read as a key: no bytes followed it */
	assert_int_equal(write(s.master, "\x03", 1), 1);
	status = finish(&s);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static int wait_for_end(void)
{
	struct wm_terminal *t;
	uint32_t key;
	int signo, err = wm_terminal_open(false, &t, NULL);

	if (err)
		return 100;
	(void)wm_terminal_put(t, 0, 0, 0, "ready", 5, WM_INK_PLAIN);
	wm_terminal_show(t);
	key = wm_terminal_key(t, 10000);
	signo = wm_terminal_signal(t);
	wm_terminal_close(t);
	return key == WM_KEY_ENDED ? signo : 101;
}

static void a_signal_ends_it_in_order(void **state)
{
	struct session s;
	int status;

	begin(&s, "xterm", wait_for_end);
	wait_for(&s, "ready");
	assert_int_equal(kill(s.child, SIGTERM), 0);
	status = finish(&s);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), SIGTERM);
}

static int open_only(void)
{
	struct wm_terminal *t;
	struct wm_diag diag = {0};
	int err = wm_terminal_open(false, &t, &diag);

	return -err == ENODEV && strstr(diag.sentence, "TERM") ? ENODEV : 100;
}

static void terminals_without_a_cursor_are_refused(void **state)
{
	struct session s;

	begin(&s, "dumb", open_only);
	assert_int_equal(WEXITSTATUS(finish(&s)), ENODEV);
	begin(&s, "nosuchterm", open_only);
	assert_int_equal(WEXITSTATUS(finish(&s)), ENODEV);
	begin(&s, "", open_only);
	assert_int_equal(WEXITSTATUS(finish(&s)), ENODEV);
}

/* Without the library there is nothing to test. */
static int has_terminal(void **state)
{
	struct session s;

	(void)setlocale(LC_CTYPE, "C.UTF-8");
	begin(&s, "xterm", draw_hostile);
	if (WEXITSTATUS(finish(&s)) == ENOTSUP)
		exit(77);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(hostile_text_stays_text),
	    cmocka_unit_test(keys_are_what_was_typed),
	    cmocka_unit_test(a_signal_ends_it_in_order),
	    cmocka_unit_test(terminals_without_a_cursor_are_refused),
	};

	return cmocka_run_group_tests(tests, has_terminal, NULL);
}
