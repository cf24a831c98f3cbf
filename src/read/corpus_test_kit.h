/* SPDX-License-Identifier: MIT */
/*
 * corpus_test_kit.h - for tests of the readers: iterates over the corpus in the folder
 * $WAYMARK_CORPUS, and provides a scratch file that a test can truncate and change.
 */
#ifndef WM_READ_CORPUS_TEST_KIT_H
#define WM_READ_CORPUS_TEST_KIT_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/suite_test_kit.h"

#define KIT_FILE_MAX (64u << 20)

/* `events` is a column of the manifest; its meaning depends on the kind of entry. */
typedef void kit_entry(const char *path, bool valid, const char *events);

/*
 * Calls fn for each entry whose kind begins with `of_kind`; skips the test with a message when
 * there are none.
 */
static inline void kit_each_entry(const char *of_kind, kit_entry *fn)
{
	const char *corpus = getenv("WAYMARK_CORPUS");
	char name[4096], line[4096], path[1024], kind[256], verdict[64], events[64];
	FILE *f = NULL;
	int n = 0;

	if (corpus) {
		snprintf(name, sizeof(name), "%s/MANIFEST.tsv", corpus);
		f = fopen(name, "re");
	}
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%1023[^\t]\t%255[^\t]\t%*[^\t]\t%63[^\t]\t%63[^\t]", path, kind,
			   verdict, events) != 4 ||
		    strncmp(kind, of_kind, strlen(of_kind)) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", corpus, path);
		fn(name, strcmp(verdict, "valid") == 0, events);
		n++;
	}
	if (f)
		fclose(f);
	if (n)
		return;
	print_message("no corpus: set WAYMARK_CORPUS to the folder with MANIFEST.tsv\n");
	skip();
}

/* --- a scratch file ------------------------------------------------------------ */

static char kit_scratch[64];

static inline void kit_write(const void *data, size_t bytes)
{
	FILE *f = fopen(kit_scratch, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static inline char *kit_load(const char *path, size_t *bytes)
{
	char *data;

	assert_int_equal(wm_file_read(AT_FDCWD, path, KIT_FILE_MAX, &data, bytes), 0);
	return data;
}

static inline uint64_t kit_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Changes eight bytes: `nr_head` of them among the first `head`, the rest anywhere. */
static inline void kit_change(char *data, size_t bytes, int nr_head, size_t head, uint64_t *seed)
{
	for (int k = 0; k < 8; k++) {
		uint64_t random = kit_random(seed);

		data[k < nr_head ? random % head % bytes : random % bytes] = (char)(random >> 32);
	}
}

/* Creates kit_scratch, runs the group, and removes the file. */
#define kit_run(tests)                                                                             \
	({                                                                                         \
		int fd_, status_ = 1;                                                              \
                                                                                                   \
		snprintf(kit_scratch, sizeof(kit_scratch), "%s/waymark-reader-XXXXXX",             \
			 kit_scratch_folder());                                                    \
		fd_ = mkstemp(kit_scratch);                                                        \
		if (fd_ >= 0) {                                                                    \
			close(fd_);                                                                \
			status_ = cmocka_run_group_tests(tests, NULL, NULL);                       \
			unlink(kit_scratch);                                                       \
		}                                                                                  \
		status_;                                                                           \
	})

#endif
