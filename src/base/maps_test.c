/* SPDX-License-Identifier: MIT */
/*
 * maps_test.c - tests lines of every form, hostile lines, and the map of the test process itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/maps.h"

static int parse(const char *text, struct wm_maps *m, struct wm_diag *diag)
{
	return wm_maps_parse(strdup(text), m, diag);
}

static void test_lines(void **state)
{
	struct wm_maps m;

	assert_int_equal(
	    parse(
		"55d0c0000000-55d0c0002000 r--p 00000000 fd:01 1234                       "
		"/usr/bin/a b\n"
		"55d0c0002000-55d0c0003000 r-xp 00002000 fd:01 1234 /tmp/x\\012y\\040z (deleted)\n"
		"7f0000000000-7f0000001000 rw-s 00000000 00:01 77 /memfd:pool (deleted)\n"
		"7f0000001000-7f0000002000 ---p 00000000 00:00 0 \n"
		"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
		&m, NULL),
	    0);
	assert_int_equal(m.nr, 6);
	assert_string_equal(m.maps[0].path, "/usr/bin/a b");
	assert_int_equal(m.maps[0].perms, WM_MAP_READ);
	assert_int_equal(m.maps[0].dev_major, 0xfd);
	assert_int_equal(m.maps[0].inode, 1234);
	assert_false(m.maps[0].deleted);
	assert_string_equal(m.maps[1].path, "/tmp/x\ny\\040z");
	assert_true(m.maps[1].deleted);
	assert_int_equal(m.maps[1].offset, 0x2000);
	assert_int_equal(m.maps[1].perms, WM_MAP_READ | WM_MAP_EXEC);
	assert_string_equal(m.maps[2].path, "/memfd:pool");
	assert_int_equal(m.maps[2].perms, WM_MAP_READ | WM_MAP_WRITE | WM_MAP_SHARED);
	assert_string_equal(m.maps[3].path, "");
	assert_int_equal(m.maps[3].perms, 0);
	assert_string_equal(m.maps[4].path, "[stack]");
	assert_true(m.maps[5].end == 0xffffffffff601000ull);

	assert_ptr_equal(wm_maps_find(&m, 0x55d0c0000000), &m.maps[0]);
	assert_ptr_equal(wm_maps_find(&m, 0x55d0c0001fff), &m.maps[0]);
	assert_ptr_equal(wm_maps_find(&m, 0x55d0c0002000), &m.maps[1]);
	assert_null(wm_maps_find(&m, 0x55d0c0003000));
	assert_null(wm_maps_find(&m, 0));
	assert_null(wm_maps_find(&m, UINT64_MAX));
	wm_maps_done(&m);
	assert_int_equal(parse("", &m, NULL), 0); /* the map of a kernel thread is empty */
	assert_int_equal(m.nr, 0);
	assert_null(wm_maps_find(&m, 1));
	wm_maps_done(&m);
}

static void test_bad_lines(void **state)
{
	static const char *const bad[] = {
	    "\n",
	    "x",
	    "1000-2000",
	    "1000-2000 r--p",
	    "1000-2000 r--q 0 0:0 0 ",
	    "1000-2000 rrrr 0 0:0 0 ",
	    "2000-1000 r--p 0 0:0 0 ",
	    "1000-1000 r--p 0 0:0 0 ",
	    "-1000-2000 r--p 0 0:0 0 ",
	    " 1000-2000 r--p 0 0:0 0 ",
	    "11112222333344445-2 r--p 0 0:0 0 ",
	    "1000-2000 r--p 0 0 0 ",
	    "1000-2000 r--p 0 0:0 zz ",
	};
	struct wm_maps m = {0};
	struct wm_diag diag;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i], &m, NULL), -EBADMSG);
	assert_int_equal(parse("1000-2000 r--p 0 0:0 0 \nx", &m, &diag), -EBADMSG);
	assert_string_equal(diag.sentence, "line 2 is not a mapping");
	assert_null(m.maps); /* unchanged */
}

/* Mappings that were merged while the kernel printed them. */
static void test_overlaps(void **state)
{
	struct wm_maps m;

	(void)state;
	assert_int_equal(parse("1000-3000 r--p 1000 0:1 7 /a\n2000-5000 r--p 2000 0:1 7 /a\n"
			       "1000-5000 r--p 1000 0:1 7 /a\n6000-7000 rw-p 0 0:0 0 \n",
			       &m, NULL),
			 0);
	assert_int_equal(m.nr, 3);
	assert_int_equal(m.maps[1].start, 0x3000);
	assert_int_equal(m.maps[1].end, 0x5000);
	assert_int_equal(m.maps[1].offset, 0x3000);
	assert_int_equal(m.maps[2].start, 0x6000);
	wm_maps_done(&m);
}

static void test_ourselves(void **state)
{
	struct wm_maps m;
	const struct wm_map *map;
	struct stat exe, st;
	int fd;

	assert_int_equal(wm_maps_read(getpid(), &m), 0);
	map = wm_maps_find(&m, (uint64_t)(uintptr_t)&test_ourselves);
	assert_non_null(map);
	assert_true(map->perms & WM_MAP_EXEC);
	fd = wm_maps_open(getpid(), map);
	assert_true(fd >= 0);
	assert_int_equal(stat("/proc/self/exe", &exe), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_ino, exe.st_ino);
	close(fd);
	map = wm_maps_find(&m, (uint64_t)(uintptr_t)&st);
	assert_non_null(map);
	assert_int_equal(wm_maps_open(getpid(), map), -ENOENT);
	wm_maps_done(&m);
	assert_true(wm_maps_read(0x7fffffff, &m) < 0);
}

/*
 * A name that contains a newline, and a file that was replaced by something other than a regular
 * file.
 */
static void test_odd_names(void **state)
{
	char dir[] = "/tmp/wm-maps-XXXXXX", name[64];
	struct wm_maps m;
	const struct wm_map *map;
	void *at;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/a\nb", dir);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	assert_int_equal(wm_maps_read(getpid(), &m), 0);
	map = wm_maps_find(&m, (uint64_t)(uintptr_t)at);
	assert_string_equal(map->path, name);
	fd = wm_maps_open(getpid(), map);
	assert_true(fd >= 0);
	close(fd);
	unlink(name);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(wm_maps_open(getpid(), map), -ENOENT);
	wm_maps_done(&m);
	assert_int_equal(wm_maps_read(getpid(), &m), 0);
	map = wm_maps_find(&m, (uint64_t)(uintptr_t)at);
	assert_true(map->deleted);
	assert_string_equal(map->path, name);
	fd = wm_maps_open(getpid(), map);
	if (fd >= 0) { /* opening through map_files needs privileges */
		char byte;

		assert_int_equal(read(fd, &byte, 1), 1);
		assert_int_equal(byte, 'x');
		close(fd);
	}
	wm_maps_done(&m);
	munmap(at, 1);
	unlink(name);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines),     cmocka_unit_test(test_bad_lines),
	    cmocka_unit_test(test_overlaps),  cmocka_unit_test(test_ourselves),
	    cmocka_unit_test(test_odd_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
