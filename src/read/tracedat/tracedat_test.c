/* SPDX-License-Identifier: MIT */
/* Real trace.dat files compared with trace-cmd's output; the same files, truncated and changed. */
#include "read/corpus_test_kit.h"
#include "read/open.h"
#include "trace/reader.h"

struct counts {
	uint64_t events, faults, printed;
	int refused; /* 0, or the error from opening the file */
};

static void check_event(const struct wm_trace *t, const struct wm_event *e, struct wm_text *text,
			struct counts *c)
{
	assert_true(e->ns >= e->packet->begin_ns && e->ns <= e->packet->end_ns);
	assert_true(e->parts[WM_PART_FIELDS].end >= e->parts[WM_PART_FIELDS].at);
	wm_text_cut(text, 0);
	assert_true(t->ops->print(t, e, NULL, text));
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

	c.refused = wm_read_open(path, &t, &diag);
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

static void check_entry(const char *path, bool valid, const char *text)
{
	unsigned long long events = strtoull(text, NULL, 10);
	struct counts c;

	if (!valid)
		return;
	c = count(path);

	if (c.refused || c.events != events)
		print_error("%s: want %llu, have %llu, refused %d, faults %llu\n", path, events,
			    (unsigned long long)c.events, c.refused, (unsigned long long)c.faults);
	assert_int_equal(c.refused, 0);
	assert_int_equal(c.events, events);
	assert_int_equal(c.printed, events);
	assert_int_equal(c.faults, 0);
}

static void corpus_counts_are_trace_cmds(void **state)
{
	(void)state;
	kit_each_entry("trace.dat", check_entry);
}

/* --- damage ---------------------------------------------------------------------- */

static void cut_entry(const char *path, bool valid, const char *text)
{
	unsigned long long events = strtoull(text, NULL, 10);
	size_t bytes;
	char *data;

	if (!valid)
		return;
	data = kit_load(path, &bytes);

	for (int i = 0; i < 16; i++) {
		struct counts c;

		kit_write(data, bytes * (size_t)i / 16);
		c = count(kit_scratch);
		if (c.events < events) /* whenever events are missing, a fault must be reported */
			assert_true(c.refused || c.faults);
	}
	free(data);
}

static void what_is_cut_is_said(void **state)
{
	(void)state;
	kit_each_entry("trace.dat", cut_entry);
}

static void change_entry(const char *path, bool valid, const char *text)
{
	uint64_t seed = 88172645463325252ull;
	size_t bytes;
	char *data = kit_load(path, &bytes);

	(void)valid;
	(void)text;
	for (int i = 0; i < 12; i++) {
		kit_change(data, bytes, 2, 256, &seed);
		memcpy(data, "\x17\x08\x44tracing", 10);
		kit_write(data, bytes);
		(void)count(kit_scratch);
	}
	free(data);
}

static void what_is_changed_is_survived(void **state)
{
	(void)state;
	kit_each_entry("trace.dat", change_entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(corpus_counts_are_trace_cmds),
	    cmocka_unit_test(what_is_cut_is_said),
	    cmocka_unit_test(what_is_changed_is_survived),
	};

	return kit_run(tests);
}
