/* SPDX-License-Identifier: MIT */
/* file_test.c - outputs get their names only when they are complete. */
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
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "export/pieces_int.h"

static char folder[] = "/tmp/export_file_test.XXXXXX";

static int enter(void **state)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	char command[sizeof(folder) + 16];

	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

static bool is_there(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

static void holds(const char *name, const char *wanted)
{
	size_t bytes;
	char *data;

	assert_int_equal(wm_file_read(AT_FDCWD, name, 1 << 20, &data, &bytes), 0);
	assert_string_equal(data, wanted);
	free(data);
}

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, text, strlen(text)), 0);
	close(fd);
}

static void named_when_whole(void **state)
{
	struct wm_export_file f;
	struct stat st;

	assert_int_equal(wm_export_file_create(&f, "x", false, NULL), 0);
	wm_export_file_write(&f, "hello world", 11);
	assert_int_equal(f.bytes, 11);
	wm_export_file_patch(&f, 0, "J", 1);
	wm_export_file_write(&f, "!", 1);
	assert_true(is_there("x.part") && !is_there("x"));
	assert_int_equal(wm_export_file_publish(&f, NULL), 0);
	wm_export_file_done(&f);
	assert_false(is_there("x.part"));
	holds("x", "Jello world!");
	assert_int_equal(stat("x", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void dropped_when_not(void **state)
{
	struct wm_export_file f;

	assert_int_equal(wm_export_file_create(&f, "x", false, NULL), 0);
	wm_export_file_write(&f, "half", 4);
	wm_export_file_done(&f);
	assert_false(is_there("x.part") || is_there("x"));
}

static void what_is_there_stays(void **state)
{
	struct wm_diag diag = {0};
	struct wm_export_file f;

	write_file("x", "mine");
	assert_int_equal(wm_export_file_create(&f, "x", false, &diag), -EEXIST);
	assert_non_null(strstr(diag.sentence, "--force"));
	wm_export_file_done(&f);

	assert_int_equal(wm_export_file_create(&f, "x", true, &diag), 0);
	holds("x", "mine");
	wm_export_file_done(&f);
	holds("x", "mine");

	assert_int_equal(wm_export_file_create(&f, "x", true, &diag), 0);
	assert_int_equal(wm_export_file_publish(&f, &diag), 0);
	wm_export_file_done(&f);
	holds("x", "");

	assert_int_equal(wm_export_file_create(&f, ".", true, &diag), -EEXIST);
	wm_export_file_done(&f);
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(wm_export_file_create(&f, "link", true, &diag), -EEXIST);
	wm_export_file_done(&f);
}

/* Another process creates the output while this one writes it. */
static void made_meanwhile(void **state)
{
	struct wm_diag diag = {0};
	struct wm_export_file f;

	assert_int_equal(wm_export_file_create(&f, "x", false, &diag), 0);
	write_file("x", "theirs");
	assert_int_equal(wm_export_file_publish(&f, &diag), -EEXIST);
	wm_export_file_done(&f);
	holds("x", "theirs");
	assert_false(is_there("x.part"));
}

static void one_at_a_time(void **state)
{
	struct wm_export_file f, g;
	struct wm_diag diag = {0};

	assert_int_equal(wm_export_file_create(&f, "x", false, &diag), 0);
	assert_int_equal(wm_export_file_create(&g, "x", false, &diag), -EBUSY);
	assert_non_null(strstr(diag.sentence, "another conversion"));
	wm_export_file_done(&g);
	assert_true(is_there("x.part"));
	wm_export_file_done(&f);

	write_file("x.part", "of one that was killed");
	assert_int_equal(wm_export_file_create(&g, "x", false, &diag), 0);
	wm_export_file_write(&g, "new", 3);
	assert_int_equal(wm_export_file_publish(&g, &diag), 0);
	wm_export_file_done(&g);
	holds("x", "new");
}

static void folders(void **state)
{
	struct wm_export_folder f;
	struct wm_diag diag = {0};

	assert_int_equal(mkdir("d.part", 0700), 0);
	write_file("d.part/rest", "of one that was killed");
	assert_int_equal(wm_export_folder_create(&f, "d/", false, &diag), 0);
	assert_false(is_there("d.part/rest"));
	write_file("d.part/metadata", "m");
	assert_int_equal(mkdir("d.part/index", 0700), 0);
	write_file("d.part/index/x", "i");
	wm_export_folder_done(&f);
	assert_false(is_there("d.part") || is_there("d"));

	assert_int_equal(wm_export_folder_create(&f, "d", false, &diag), 0);
	write_file("d.part/metadata", "m");
	assert_int_equal(wm_export_folder_publish(&f, &diag), 0);
	wm_export_folder_done(&f);
	holds("d/metadata", "m");
	assert_int_equal(wm_export_folder_create(&f, "d", false, &diag), -EEXIST);
	wm_export_folder_done(&f);

	write_file("d/old", "o");
	assert_int_equal(wm_export_folder_create(&f, "d", true, &diag), 0);
	write_file("d.part/metadata", "n");
	holds("d/metadata", "m");
	assert_int_equal(wm_export_folder_publish(&f, &diag), 0);
	wm_export_folder_done(&f);
	holds("d/metadata", "n");
	assert_false(is_there("d/old") || is_there("d.part"));

	assert_int_equal(mkdir("mine", 0700), 0);
	write_file("mine/letter", "l");
	assert_int_equal(wm_export_folder_create(&f, "mine", true, &diag), -EEXIST);
	wm_export_folder_done(&f);
	holds("mine/letter", "l");
}

static void piece_names(void **state)
{
	static const char *const names[][2] = {
	    {"x.json", "x.2.json"}, {"x", "x.2"},         {"a.b/x", "a.b/x.2"},
	    {".x", ".x.2"},         {"x.a.b", "x.a.2.b"}, {"x.", "x.2."},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *made = wm_export_piece_path(names[i][0], 2);

		assert_string_equal(made, names[i][1]);
		free(made);
	}
}

static void one_piece_or_several(void **state)
{
	struct wm_export_pieces p;
	struct wm_diag diag = {0};

	assert_int_equal(wm_export_pieces_create(&p, "x.json", false, 4, &diag), 0);
	wm_export_file_write(wm_export_pieces_now(&p), "one", 3);
	assert_false(wm_export_pieces_full(&p));
	assert_int_equal(wm_export_pieces_publish(&p, &diag), 0);
	wm_export_pieces_done(&p);
	holds("x.json", "one");
	assert_int_equal(unlink("x.json"), 0);

	assert_int_equal(wm_export_pieces_create(&p, "x.json", false, 4, &diag), 0);
	wm_export_file_write(wm_export_pieces_now(&p), "first", 5);
	assert_true(wm_export_pieces_full(&p));
	assert_int_equal(wm_export_pieces_next(&p, &diag), 0);
	wm_export_file_write(wm_export_pieces_now(&p), "second", 6);
	assert_false(is_there("x.1.json"));
	assert_int_equal(wm_export_pieces_publish(&p, &diag), 0);
	wm_export_pieces_done(&p);
	holds("x.1.json", "first");
	holds("x.2.json", "second");
	assert_false(is_there("x.json") || is_there("x.json.part") || is_there("x.2.json.part"));
}

/*
 * A piece's name already exists: all pieces are removed, and the existing file is not touched.
 */
static void pieces_in_the_way(void **state)
{
	struct wm_export_pieces p;
	struct wm_diag diag = {0};

	write_file("x.2", "theirs");
	assert_int_equal(wm_export_pieces_create(&p, "x", false, 1, &diag), 0);
	wm_export_file_write(wm_export_pieces_now(&p), "first", 5);
	assert_int_equal(wm_export_pieces_next(&p, &diag), -EEXIST);
	wm_export_pieces_done(&p);
	holds("x.2", "theirs");
	assert_false(is_there("x") || is_there("x.1") || is_there("x.part"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
	const struct CMUnitTest tests[] = {
	    TEST(named_when_whole), TEST(dropped_when_not),     TEST(what_is_there_stays),
	    TEST(made_meanwhile),   TEST(one_at_a_time),        TEST(folders),
	    TEST(piece_names),      TEST(one_piece_or_several), TEST(pieces_in_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
