/* SPDX-License-Identifier: MIT */
/* Real perf.data files against what perf says of them; the same, cut and changed. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "format/reader.h"

#define FILE_MAX (64u << 20)

struct counts {
	uint64_t samples, meta, own;
	uint64_t faults;
	int refused; /* 0, or why it was not opened */
};

static void count_packets(struct wm_trace *t, struct counts *c)
{
	static const struct wm_want all;
	struct wm_packet_reader *r = t->ops->reader_create(t, &all);
	struct wm_batch b = {0};

	assert_non_null(r);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		const struct wm_packet *p = &t->packets[i];
		int64_t last = INT64_MIN;
		int got;

		assert_int_equal(t->ops->reader_begin(r, p), 0);
		while ((got = wm_batch_read(t, r, &b)) > 0) {
			for (uint32_t k = 0; k < b.nr_events; k++) {
				const struct wm_event *e = &b.events[k];

				assert_true(e->ns >= last); /* sorted */
				assert_true(e->ns == WM_TIME_NONE ||
					    (e->ns >= p->begin_ns && e->ns <= p->end_ns));
				last = e->ns;
				c->samples += !e->type->meta;
				c->meta += e->type->meta;
			}
		}
		assert_int_equal(got, 0);
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
}

static struct counts count(const char *path)
{
	struct wm_diag diag = {.offset = -1};
	struct counts c = {0};
	struct wm_trace *t;

	c.refused = wm_trace_open(path, &t, &diag);
	if (c.refused) {
		assert_true(diag.sentence[0]);
		return c;
	}
	assert_string_equal(t->ops->name, "perf.data");
	count_packets(t, &c);
	c.own = strtoull(wm_trace_word(t, "perf's own records"), NULL, 10);
	c.faults = t->nr_faults + t->nr_faults_more;
	wm_trace_close(t);
	return c;
}

/* --- the corpus ---------------------------------------------------------------- */

/* Calls fn for each perf.data entry: its path, "valid" or not, "records/samples". */
static int each_entry(void (*fn)(const char *path, bool valid, const char *events))
{
	const char *corpus = getenv("WAYMARK_CORPUS");
	char name[4096], line[4096], kind[64], verdict[64], events[64], path[1024];
	FILE *f;
	int n = 0;

	if (!corpus)
		return 0;
	snprintf(name, sizeof(name), "%s/MANIFEST.tsv", corpus);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%1023s %63s %*s %63s %63s", path, kind, verdict, events) != 4 ||
		    strncmp(kind, "perf.data/", 10))
			continue;
		snprintf(name, sizeof(name), "%s/%s", corpus, path);
		fn(name, !strcmp(verdict, "valid"), events);
		n++;
	}
	fclose(f);
	return n;
}

static void check_entry(const char *path, bool valid, const char *events)
{
	struct counts c = count(path);
	unsigned long long records, samples;

	if (!valid) {
		assert_true(c.refused || c.faults);
		return;
	}
	assert_int_equal(sscanf(events, "%llu/%llu", &records, &samples), 2);
	if (c.refused || c.faults || c.samples != samples || c.samples + c.meta + c.own != records)
		print_error("%s: want %s, have %llu+%llu/%llu, refused %d, faults %llu\n", path,
			    events, (unsigned long long)(c.samples + c.meta),
			    (unsigned long long)c.own, (unsigned long long)c.samples, c.refused,
			    (unsigned long long)c.faults);
	assert_int_equal(c.refused, 0);
	assert_int_equal(c.samples, samples);
	assert_int_equal(c.samples + c.meta + c.own, records);
}

static void skip_aloud(void)
{
	print_message("no corpus: set WAYMARK_CORPUS to the folder with MANIFEST.tsv\n");
	skip();
}

static void corpus_counts_are_perfs(void **state)
{
	(void)state;
	if (!each_entry(check_entry))
		skip_aloud();
}

/* --- damage ---------------------------------------------------------------------- */

static char scratch[] = "/tmp/perfdata_test.XXXXXX";

static void write_scratch(const void *data, size_t bytes)
{
	FILE *f = fopen(scratch, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static char *load(const char *path, size_t *bytes)
{
	char *data;

	assert_int_equal(wm_file_read(AT_FDCWD, path, FILE_MAX, &data, bytes), 0);
	return data;
}

static void cut_entry(const char *path, bool valid, const char *events)
{
	struct counts whole;
	size_t bytes;
	char *data;

	(void)events;
	if (!valid)
		return;
	whole = count(path);
	data = load(path, &bytes);
	for (int i = 0; i < 12; i++) {
		struct counts c;

		write_scratch(data, bytes * (size_t)i / 12);
		c = count(scratch);
		/* Nothing is missing without a word. */
		if (c.samples + c.meta < whole.samples + whole.meta)
			assert_true(c.refused || c.faults);
	}
	free(data);
}

static void what_is_cut_is_said(void **state)
{
	(void)state;
	if (!each_entry(cut_entry))
		skip_aloud();
}

static void change_entry(const char *path, bool valid, const char *events)
{
	uint64_t seed = 88172645463325252ull;
	size_t bytes;
	char *data;

	(void)events;
	(void)valid;
	data = load(path, &bytes);
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 8; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			data[k < 4 ? seed % 1024 % bytes : seed % bytes] = (char)(seed >> 32);
		}
		write_scratch(data, bytes);
		(void)count(scratch);
	}
	free(data);
}

static void what_is_changed_is_survived(void **state)
{
	(void)state;
	if (!each_entry(change_entry))
		skip_aloud();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(corpus_counts_are_perfs),
	    cmocka_unit_test(what_is_cut_is_said),
	    cmocka_unit_test(what_is_changed_is_survived),
	};
	int fd = mkstemp(scratch), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(scratch);
	return status;
}
