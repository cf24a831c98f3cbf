/* SPDX-License-Identifier: MIT */
/*
 * session_test.c - tests the session folder: its owner and mode, folders that are refused, and
 * folders that are cleaned up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/session/session.h"

static char folder[64], base[128];

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int setup(void **state)
{
	strcpy(folder, "/tmp/wm-session-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(base, sizeof(base), "%s/waymark-%u", folder, (unsigned)geteuid());
	return 0;
}

static int teardown(void **state)
{
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void created_and_removed(void **state)
{
	mode_t wanted = geteuid() == 0 ? 0711 : 0700;
	struct wm_session s;
	char sock[160];
	int fd;

	assert_int_equal(wm_session_create(NULL, folder, &s, NULL), 0);
	assert_int_equal(strncmp(s.path, base, strlen(base)), 0);
	assert_int_equal(mode_of(base), wanted);
	assert_int_equal(mode_of(s.path), wanted);
	(void)snprintf(sock, sizeof(sock), "%s/sock", s.path);
	assert_int_equal(mode_of(sock), geteuid() == 0 ? 0666 : 0600);
	fd = wm_session_connect(s.path);
	assert_true(fd >= 0);
	close(fd);
	wm_session_remove(&s);
	assert_int_equal(access(s.path, F_OK), -1);
	assert_true(wm_session_connect(s.path) < 0);
	wm_session_remove(&s);
	wm_session_done(&s);
}

static void prefers_runtime_dir(void **state)
{
	struct wm_session s;
	char dir[100];

	(void)snprintf(dir, sizeof(dir), "%s/run", folder);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(wm_session_create(dir, folder, &s, NULL), 0);
	assert_int_equal(strncmp(s.path, dir, strlen(dir)), 0);
	wm_session_remove(&s);
	wm_session_done(&s);

	/*
	 * A folder that others can write to is skipped, as are a path with a ':' and a relative
	 * path.
	 */
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(wm_session_create(dir, folder, &s, NULL), 0);
	assert_int_equal(strncmp(s.path, base, strlen(base)), 0);
	wm_session_remove(&s);
	wm_session_done(&s);
	assert_int_equal(wm_session_create("run", folder, &s, NULL), 0);
	assert_int_equal(strncmp(s.path, base, strlen(base)), 0);
	wm_session_remove(&s);
	wm_session_done(&s);
}

static void long_runtime_dir(void **state)
{
	struct wm_session s;
	char dir[200];

	(void)snprintf(dir, sizeof(dir), "%s/%0100d", folder, 0);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(wm_session_create(dir, folder, &s, NULL), 0);
	assert_int_equal(strncmp(s.path, base, strlen(base)), 0);
	wm_session_remove(&s);
	wm_session_done(&s);
	assert_int_equal(wm_session_create(NULL, dir, &s, NULL), -ENAMETOOLONG);
}

static void refuses_strange_folders(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_session s;
	char other[100];

	/* A symbolic link in place of this user's folder. */
	(void)snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(symlink(other, base), 0);
	assert_true(wm_session_create(NULL, folder, &s, &diag) < 0);
	assert_non_null(strstr(diag.sentence, base));
	assert_int_equal(unlink(base), 0);

	/* This user's own folder, but writable by others. */
	assert_int_equal(mkdir(base, 0700), 0);
	assert_int_equal(chmod(base, 0777), 0);
	assert_int_equal(wm_session_create(NULL, folder, &s, &diag), -EPERM);
	if (geteuid() == 0) {
		/* Another user's folder. */
		assert_int_equal(chmod(base, 0700), 0);
		assert_int_equal(chown(base, 12345, 12345), 0);
		assert_int_equal(wm_session_create(NULL, folder, &s, &diag), -EPERM);
	}
	assert_int_equal(rmdir(base), 0);

	/* A parent in which others could rename files: writable and not sticky. */
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(wm_session_create(NULL, folder, &s, &diag), -EPERM);
	assert_int_equal(chmod(folder, 0700), 0);
}

/* A killed recorder's folder is removed; a folder with a live recorder stays. */
static void sweeps_abandoned(void **state)
{
	struct wm_session dead, alive, fresh;

	assert_int_equal(wm_session_create(NULL, folder, &dead, NULL), 0);
	/* Closes the descriptors, which releases the lock as a death does. */
	wm_session_done(&dead);
	assert_int_equal(access(dead.path, F_OK), 0);
	assert_int_equal(wm_session_create(NULL, folder, &alive, NULL), 0);
	assert_int_equal(access(dead.path, F_OK), -1);
	assert_int_equal(wm_session_create(NULL, folder, &fresh, NULL), 0);
	assert_int_equal(access(alive.path, F_OK), 0);
	wm_session_remove(&alive);
	wm_session_remove(&fresh);
	wm_session_done(&alive);
	wm_session_done(&fresh);
}

/* Recorders that start at the same time sweep while the others' folders are incomplete. */
static void many_at_once(void **state)
{
	int status;

	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		for (int n = 0; n < 300; n++) {
			struct wm_session s;

			if (wm_session_create(NULL, folder, &s, NULL) < 0 ||
			    access(s.path, F_OK) < 0)
				_exit(1);
			wm_session_remove(&s);
			wm_session_done(&s);
		}
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(created_and_removed, setup, teardown),
	    cmocka_unit_test_setup_teardown(prefers_runtime_dir, setup, teardown),
	    cmocka_unit_test_setup_teardown(long_runtime_dir, setup, teardown),
	    cmocka_unit_test_setup_teardown(refuses_strange_folders, setup, teardown),
	    cmocka_unit_test_setup_teardown(sweeps_abandoned, setup, teardown),
	    cmocka_unit_test_setup_teardown(many_at_once, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
