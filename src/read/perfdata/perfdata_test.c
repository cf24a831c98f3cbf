/* SPDX-License-Identifier: MIT */
/* Real perf.data files compared with perf's own output; the same files, truncated and changed. */
#include "read/corpus_test_kit.h"
#include "read/open.h"
#include "trace/reader.h"

struct counts {
	uint64_t samples, meta, own;
	uint64_t faults;
	int refused; /* 0, or the error from opening the file */
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

	c.refused = wm_read_open(path, &t, &diag);
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

static void corpus_counts_are_perfs(void **state)
{
	(void)state;
	kit_each_entry("perf.data/", check_entry);
}

/* Counts events other than samples when only those are wanted: packets of samples are not read. */
static uint64_t count_meta_only(struct wm_trace *t)
{
	bool *types = calloc(t->nr_types + 1, sizeof(*types));
	struct wm_want want = {.types = types};
	struct wm_packet_reader *r;
	struct wm_batch b = {0};
	uint64_t nr = 0;
	int got;

	for (uint32_t i = 0; i < t->nr_types; i++)
		types[i] = t->types[i]->meta;
	r = t->ops->reader_create(t, &want);
	assert_non_null(r);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		assert_int_equal(t->ops->reader_begin(r, &t->packets[i]), 0);
		while ((got = wm_batch_read(t, r, &b)) > 0)
			nr += (uint64_t)got;
		assert_int_equal(got, 0);
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
	free(types);
	return nr;
}

static void count_meta(const char *path, bool valid, const char *events)
{
	struct counts whole;
	struct wm_trace *t;

	(void)events;
	if (!valid)
		return;
	whole = count(path);
	assert_int_equal(wm_read_open(path, &t, NULL), 0);
	assert_int_equal(count_meta_only(t), whole.meta);
	wm_trace_close(t);
}

static void what_is_no_sample_is_found_without_samples(void **state)
{
	(void)state;
	kit_each_entry("perf.data/", count_meta);
}

/* --- damage ---------------------------------------------------------------------- */

static void cut_entry(const char *path, bool valid, const char *events)
{
	struct counts whole;
	size_t bytes;
	char *data;

	(void)events;
	if (!valid)
		return;
	whole = count(path);
	data = kit_load(path, &bytes);
	for (int i = 0; i < 12; i++) {
		struct counts c;

		kit_write(data, bytes * (size_t)i / 12);
		c = count(kit_scratch);
		/* Whenever events are missing, a fault or a loss must be reported. */
		if (c.samples + c.meta < whole.samples + whole.meta)
			assert_true(c.refused || c.faults);
	}
	free(data);
}

static void what_is_cut_is_said(void **state)
{
	(void)state;
	kit_each_entry("perf.data/", cut_entry);
}

static void change_entry(const char *path, bool valid, const char *events)
{
	uint64_t seed = 88172645463325252ull;
	size_t bytes;
	char *data;

	(void)events;
	(void)valid;
	data = kit_load(path, &bytes);
	for (int i = 0; i < 10; i++) {
		kit_change(data, bytes, 4, 1024, &seed);
		kit_write(data, bytes);
		(void)count(kit_scratch);
	}
	free(data);
}

static void what_is_changed_is_survived(void **state)
{
	(void)state;
	kit_each_entry("perf.data/", change_entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(corpus_counts_are_perfs),
	    cmocka_unit_test(what_is_no_sample_is_found_without_samples),
	    cmocka_unit_test(what_is_cut_is_said),
	    cmocka_unit_test(what_is_changed_is_survived),
	};

	return kit_run(tests);
}
