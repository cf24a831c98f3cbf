/* SPDX-License-Identifier: MIT */
/* file_test.c - tests of the whole-file helpers: limits, growth, replacing, failures. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static int dir;

static int setup(void **state)
{
	strcpy(folder, "/tmp/wm-file-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)unlinkat(dir, "a", 0);
	close(dir);
	return rmdir(folder); /* fails when the test left a file behind */
}

static void test_replace_and_read(void **state)
{
	char *data;
	size_t bytes;
	struct stat st;

	assert_int_equal(wm_file_replace(dir, "a", 0600, "old", 3), 0);
	assert_int_equal(wm_file_replace(dir, "a", 0600, "newer", 5), 0);
	assert_int_equal(wm_file_read(dir, "a", 5, &data, &bytes), 0);
	assert_int_equal(bytes, 5);
	assert_string_equal(data, "newer");
	free(data);
	assert_int_equal(fstatat(dir, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(wm_file_read(dir, "a", 4, &data, &bytes), -EFBIG);
	assert_int_equal(wm_file_read(dir, "b", 4, &data, &bytes), -ENOENT);
	assert_int_equal(wm_file_replace(dir, "", 0600, "", 0), -EINVAL);
	assert_int_equal(wm_file_replace(dir, "x/y", 0600, "", 0), -EINVAL);
}

static void test_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8192, 100000, 1000000};
	char *in = malloc(1000000), *out;
	size_t got;

	for (size_t i = 0; i < 1000000; i++)
		in[i] = (char)(i * 2654435761u >> 13);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(wm_file_replace(dir, "a", 0600, in, sizes[i]), 0);
		assert_int_equal(wm_file_read(dir, "a", sizes[i], &out, &got), 0);
		assert_int_equal(got, sizes[i]);
		assert_memory_equal(out, in, got);
		free(out);
		if (sizes[i])
			assert_int_equal(wm_file_read(dir, "a", sizes[i] - 1, &out, &got), -EFBIG);
	}
	free(in);
}

static void test_replace_fails_whole(void **state)
{
	char *data;
	size_t bytes;
	char name[300];

	assert_int_equal(wm_file_replace(dir, "a", 0600, "keep", 4), 0);
	assert_int_equal(mkdirat(dir, ".a.new", 0700), 0);
	assert_int_equal(wm_file_replace(dir, "a", 0600, "lost", 4), -EISDIR);
	assert_int_equal(unlinkat(dir, ".a.new", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("target", dir, ".a.new"), 0);
	assert_int_equal(wm_file_replace(dir, "a", 0600, "lost", 4), -ELOOP);
	assert_int_equal(wm_file_read(dir, "target", 10, &data, &bytes), -ENOENT);
	assert_int_equal(wm_file_read(dir, "a", 10, &data, &bytes), 0);
	assert_string_equal(data, "keep");
	free(data);
	memset(name, 'n', sizeof(name));
	name[251] = '\0';
	assert_int_equal(wm_file_replace(dir, name, 0600, "", 0), -ENAMETOOLONG);
}

static void *feed(void *data)
{
	int fd = *(int *)data;
	char block[10000];

	memset(block, 'p', sizeof(block));
	for (int i = 0; i < 20; i++)
		assert_int_equal(wm_file_write(fd, block, sizeof(block)), 0);
	close(fd);
	return NULL;
}

static void test_pipe(void **state)
{
	int ends[2];
	pthread_t t;
	char *data;
	size_t bytes;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&t, NULL, feed, &ends[1]), 0);
	assert_int_equal(wm_file_read_fd(ends[0], 1000000, &data, &bytes), 0);
	pthread_join(t, NULL);
	close(ends[0]);
	assert_int_equal(bytes, 200000);
	assert_int_equal(strspn(data, "p"), 200000);
	free(data);
}

static void test_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		skip();
	assert_int_equal(wm_file_write(fd, "x", 1), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_replace_and_read, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_replace_fails_whole, setup, teardown),
	    cmocka_unit_test(test_pipe),
	    cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
