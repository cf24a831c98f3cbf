/* SPDX-License-Identifier: MIT */
/* Real trace.dat files against what trace-cmd says of them; the same, cut and changed. */
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
	uint64_t events, faults, printed;
	int refused; /* 0, or why it was not opened */
};

static void check_event(const struct wm_trace *t, const struct wm_event *e, struct wm_text *text,
			struct counts *c)
{
	assert_true(e->ns >= e->packet->begin_ns && e->ns <= e->packet->end_ns);
	assert_true(e->parts[WM_PART_FIELDS].end >= e->parts[WM_PART_FIELDS].at);
	wm_text_cut(text, 0);
	assert_true(t->ops->print(t, e, text));
	assert_false(text->failed);
	c->printed += text->bytes != 0;
	c->events++;
}

static void count_packets(struct wm_trace *t, struct counts *c)
{
	static const struct wm_want all;
	struct wm_packet_reader *r = t->ops->reader_create(t, &all);
	struct wm_batch b = {0};
	struct wm_text text;

	assert_non_null(r);
	wm_text_init(&text);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		uint64_t nr = 0;
		int64_t last = INT64_MIN;
		int got;

		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while ((got = wm_batch_read(t, r, &b)) > 0) {
			for (uint32_t k = 0; k < b.nr_events; k++) {
				assert_true(b.events[k].ns >= last);
				last = b.events[k].ns;
				check_event(t, &b.events[k], &text, c);
			}
			nr += b.nr_events;
		}
		assert_int_equal(got, 0);
		assert_int_equal(nr, t->packets[i].nr_events);
	}
	wm_text_done(&text);
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
	assert_string_equal(t->ops->name, "trace.dat");
	count_packets(t, &c);
	c.faults = t->nr_faults + t->nr_faults_more;
	wm_trace_close(t);
	return c;
}

/* --- the corpus ---------------------------------------------------------------- */

/* Calls fn for each trace.dat entry: its path, and how many events it has. */
static int each_entry(void (*fn)(const char *path, unsigned long long events))
{
	const char *corpus = getenv("WAYMARK_CORPUS");
	char name[4096], line[4096], path[1024], verdict[64], kind[256];
	unsigned long long events;
	FILE *f;
	int n = 0;

	if (!corpus)
		return 0;
	snprintf(name, sizeof(name), "%s/MANIFEST.tsv", corpus);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%1023[^\t]\t%255[^\t]\t%*[^\t]\t%63[^\t]\t%llu", path, kind,
			   verdict, &events) != 4 ||
		    strncmp(kind, "trace.dat", 9) != 0 || strcmp(verdict, "valid") != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", corpus, path);
		fn(name, events);
		n++;
	}
	fclose(f);
	return n;
}

static void check_entry(const char *path, unsigned long long events)
{
	struct counts c = count(path);

	if (c.refused || c.events != events)
		print_error("%s: want %llu, have %llu, refused %d, faults %llu\n", path, events,
			    (unsigned long long)c.events, c.refused, (unsigned long long)c.faults);
	assert_int_equal(c.refused, 0);
	assert_int_equal(c.events, events);
	assert_int_equal(c.printed, events);
	assert_int_equal(c.faults, 0);
}

static void skip_aloud(void)
{
	print_message("no corpus: set WAYMARK_CORPUS to the folder with MANIFEST.tsv\n");
	skip();
}

static void corpus_counts_are_trace_cmds(void **state)
{
	(void)state;
	if (!each_entry(check_entry))
		skip_aloud();
}

/* --- damage ---------------------------------------------------------------------- */

static char scratch[] = "/tmp/tracedat_test.XXXXXX";

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

static void cut_entry(const char *path, unsigned long long events)
{
	size_t bytes;
	char *data = load(path, &bytes);

	for (int i = 0; i < 16; i++) {
		struct counts c;

		write_scratch(data, bytes * (size_t)i / 16);
		c = count(scratch);
		if (c.events < events) /* nothing is missing without a word */
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

static void change_entry(const char *path, unsigned long long events)
{
	uint64_t seed = 88172645463325252ull;
	size_t bytes;
	char *data = load(path, &bytes);

	(void)events;
	for (int i = 0; i < 12; i++) {
		for (int k = 0; k < 8; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			data[k < 2 ? seed % 256 : seed % bytes] = (char)(seed >> 32);
		}
		memcpy(data, "\x17\x08\x44tracing", 10);
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
	    cmocka_unit_test(corpus_counts_are_trace_cmds),
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
