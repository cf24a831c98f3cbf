/* SPDX-License-Identifier: MIT */
/*
 * api_test.c - <waymark/read.h> through its public interface: linked with libwaymark.so, on a trace
 * from our own writer. test/read_api.bats compares it with `waymark print`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include <waymark/waymark.h>

#include "write/writer_test_kit.h"

#define ROUNDS 40u
#define EVENTS (2 * ROUNDS)

static const int64_t labels[] = {0, 1}; /* labels of field "e" */

/*
 * Writes a trace of two threads: n counts up; every second event is from the other thread and has
 * text.
 */
static void write_trace(void)
{
	struct wm_trace_writer *w = kit_create(WM_TRACE_CTF1);
	struct wm_producer *p = kit_producer(w, 42);

	assert_int_equal(kit_event(p, 1, 0, "plain", "n:i4"), 0);
	assert_int_equal(
	    wm_producer_event(p, 2, 0, kit_class("text", "s:s;d:f8;e:eu1{no#,yes#}", labels, 2)),
	    0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct kit_packet k = {0};
		double d = 0.5 * i;
		uint64_t bits;

		memcpy(&bits, &d, sizeof(bits));
		kit_record(&k, 1, KIT_START + 1000 + 10 * i);
		kit_put(&k, i - 5, 4);
		assert_int_equal(kit_send(p, &k, 101, 0), 0);
		kit_record(&k, 2, KIT_START + 1005 + 10 * i);
		kit_string(&k, i % 2 ? "odd" : "even one");
		kit_put(&k, bits, 8);
		kit_put(&k, i % 2, 1);
		assert_int_equal(kit_send(p, &k, 102, 0), 0);
	}
	assert_int_equal(wm_writer_close(w), 0);
}

static struct waymark_trace *open_trace(void)
{
	struct waymark_trace *t = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_open(kit_dir, &t, &error))
		fail_msg("%s", error.text);
	return t;
}

static struct waymark_reader *begin(struct waymark_trace *t, const struct waymark_options *o)
{
	struct waymark_reader *r = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_read(t, o, &r, &error))
		fail_msg("%s", error.text);
	return r;
}

static uint64_t count(struct waymark_reader *r)
{
	const struct waymark_event *e;
	uint64_t n = 0;
	int got;

	while ((got = waymark_next(r, &e)) == 1)
		n++;
	assert_int_equal(got, 0);
	assert_int_equal(waymark_next(r, &e), 0);
	waymark_reader_close(r);
	return n;
}

static void check_first(struct waymark_reader *r, const struct waymark_event *e)
{
	const struct waymark_value *n = waymark_get(e, "n");
	uint32_t bytes;

	assert_int_equal(e->time_ns, KIT_REALTIME + 1000);
	assert_int_equal(e->pid, 42);
	assert_int_equal(e->tid, 101);
	assert_int_equal(e->cpu, -1);
	assert_string_equal(waymark_type_name(e->type), "app:plain");
	assert_non_null(n);
	assert_int_equal(n->s, -5);
	assert_int_equal(waymark_field_kind(n->field), WAYMARK_SIGNED);
	assert_int_equal(waymark_field_bits(n->field), 32);
	assert_int_equal(waymark_field_base(n->field), 10);
	assert_string_equal(waymark_field_name(n->field), "n");
	assert_null(waymark_get(e, "m"));
	assert_memory_equal(waymark_comm(r, e, &bytes), "app", 3);
	assert_int_equal(bytes, 3);
}

static void test_in_order(void **state)
{
	const struct waymark_event *e;
	const struct waymark_value *v;
	struct waymark_trace *t;
	struct waymark_reader *r;
	int64_t before = INT64_MIN;
	uint32_t n = 0;

	write_trace();
	t = open_trace();
	r = begin(t, NULL);
	for (; waymark_next(r, &e) == 1; n++) {
		assert_true(e->time_ns >= before);
		before = e->time_ns;
		if (!n)
			check_first(r, e);
		if (n % 2 == 0)
			continue;
		v = waymark_get(e, "e");
		assert_true(waymark_field_is_enum(v->field));
		assert_string_equal(waymark_value_label(v), n / 2 % 2 ? "yes" : "no");
		v = waymark_get(e, "s");
		assert_int_equal(v->count, n / 2 % 2 ? 3 : 8);
		assert_null(waymark_value_label(v));
	}
	assert_int_equal(n, EVENTS);
	waymark_reader_close(r);
	waymark_close(t);
}

static void test_chosen(void **state)
{
	static const char *const plain[] = {"app:pl*"}, *const field[] = {"s"};
	const struct waymark_options globs = {
	    .size = sizeof(globs), .events = plain, .nr_events = 1};
	const struct waymark_options filter = {.size = sizeof(filter), .filter = "d >= 10"};
	const struct waymark_options both = {
	    .size = sizeof(both), .events = plain, .nr_events = 1, .filter = "n < 0"};
	const struct waymark_options comm = {.size = sizeof(comm),
					     .filter = "$comm == \"app\" && $tid == 101"};
	const struct waymark_options fields = {
	    .size = sizeof(fields), .fields = field, .nr_fields = 1};
	const struct waymark_options meta = {.size = sizeof(meta), .flags = WAYMARK_READ_META};
	const struct waymark_options window = {.size = sizeof(window),
					       .has_begin = 1,
					       .begin_ns = KIT_REALTIME + 1010,
					       .has_end = 1,
					       .end_ns = KIT_REALTIME + 1030};
	struct waymark_trace *t;
	uint64_t streams = 0;

	write_trace();
	t = open_trace();
	assert_int_equal(count(begin(t, &globs)), ROUNDS);
	assert_int_equal(count(begin(t, &filter)), ROUNDS - 20);
	assert_int_equal(count(begin(t, &both)), 5);
	assert_int_equal(count(begin(t, &comm)), ROUNDS);
	assert_int_equal(count(begin(t, &fields)), EVENTS);
	assert_int_equal(count(begin(t, &meta)), EVENTS + 1);
	assert_int_equal(count(begin(t, &window)), 4);
	for (uint32_t i = 0; i < waymark_nr_streams(t); i++) {
		const struct waymark_options one = {.size = sizeof(one), .stream_plus_1 = i + 1};

		streams += count(begin(t, &one));
	}
	assert_int_equal(streams, EVENTS);
	waymark_close(t);
}

static void refused(struct waymark_trace *t, const struct waymark_options *o, int err,
		    const char *why)
{
	struct waymark_reader *r = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	assert_int_equal(waymark_read(t, o, &r, &error), err);
	assert_int_equal(error.code, -err);
	if (!strstr(error.text, why))
		fail_msg("\"%s\", wanted \"%s\"", error.text, why);
	assert_int_equal(waymark_read(t, o, &r, NULL), err);
}

static void test_errors(void **state)
{
	static const char *const none[] = {"nobody:*"};
	const struct waymark_options unmatched = {
	    .size = sizeof(unmatched), .events = none, .nr_events = 1};
	const struct waymark_options bad = {.size = sizeof(bad), .filter = "n > > 1"};
	const struct waymark_options lacking = {.size = sizeof(lacking), .filter = "nothing == 1"};
	const struct waymark_options stream = {.size = sizeof(stream), .stream_plus_1 = 99};
	const struct waymark_options flag = {.size = sizeof(flag), .flags = 1u << 31};
	const struct waymark_options share = {.size = sizeof(share), .share = 1, .nr_shares = 2};
	const struct waymark_event *e;
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_trace *t = NULL;
	struct waymark_reader *r;

	assert_int_equal(waymark_open("/nowhere", &t, &error), -ENOENT);
	assert_non_null(strstr(error.text, "'/nowhere'"));
	assert_int_equal(waymark_open_all(NULL, 0, &t, &error), -EINVAL);
	write_trace();
	t = open_trace();
	refused(t, &unmatched, -ENOENT, "no event matches 'nobody:*'");
	refused(t, &bad, -EINVAL, "column 5");
	refused(t, &lacking, -ENOENT, "'nothing == 1'");
	refused(t, &stream, -ERANGE, "no stream 98");
	refused(t, &flag, -EINVAL, "unknown flag");
	refused(t, &share, -EINVAL, "only unordered");
	r = begin(t, NULL);
	assert_int_equal(waymark_next_batch(r, &e), -EINVAL);
	waymark_reader_close(r);
	waymark_reader_close(NULL);
	waymark_close(t);
	waymark_close(NULL);
}

static void test_seek(void **state)
{
	const struct waymark_options unordered = {.size = sizeof(unordered),
						  .flags = WAYMARK_READ_UNORDERED};
	const struct waymark_event *e;
	struct waymark_trace *t;
	struct waymark_reader *r;

	write_trace();
	t = open_trace();
	r = begin(t, NULL);
	assert_int_equal(waymark_seek(r, KIT_REALTIME + 1201), 0);
	assert_int_equal(waymark_next(r, &e), 1);
	assert_int_equal(e->time_ns, KIT_REALTIME + 1205);
	assert_int_equal(waymark_seek(r, INT64_MIN), 0);
	assert_int_equal(waymark_next(r, &e), 1);
	check_first(r, e);
	assert_int_equal(waymark_seek(r, KIT_REALTIME + 1001), 0);
	assert_int_equal(count(r), EVENTS - 1);
	r = begin(t, &unordered);
	assert_int_equal(waymark_seek(r, KIT_REALTIME + 1000 + 10 * (ROUNDS - 1)), 0);
	assert_int_equal(count(r), 2);
	waymark_close(t);
}

/* --- threads --------------------------------------------------------------------------------- */

struct share {
	struct waymark_trace *trace;
	uint32_t share;
	uint64_t events, sum;
};

static void *read_share(void *data)
{
	struct share *s = data;
	const struct waymark_options o = {
	    .size = sizeof(o), .flags = WAYMARK_READ_UNORDERED, .share = s->share, .nr_shares = 3};
	const struct waymark_event *e;
	struct waymark_reader *r;
	int64_t got;

	if (waymark_read(s->trace, &o, &r, NULL))
		return NULL;
	while ((got = waymark_next_batch(r, &e)) > 0)
		for (int64_t i = 0; i < got; i++, s->events++)
			s->sum += (uint64_t)(e[i].time_ns - KIT_REALTIME);
	waymark_reader_close(r);
	return got ? NULL : s;
}

static void test_shares(void **state)
{
	struct share shares[3];
	pthread_t threads[3];
	uint64_t events = 0, sum = 0, wanted = 0;
	struct waymark_trace *t;

	write_trace();
	t = open_trace();
	for (uint32_t i = 0; i < 3; i++) {
		shares[i] = (struct share){.trace = t, .share = i};
		assert_int_equal(pthread_create(&threads[i], NULL, read_share, &shares[i]), 0);
	}
	for (uint32_t i = 0; i < 3; i++) {
		void *done;

		pthread_join(threads[i], &done);
		assert_ptr_equal(done, &shares[i]);
		assert_true(shares[i].events > 0);
		events += shares[i].events;
		sum += shares[i].sum;
	}
	for (uint32_t i = 0; i < ROUNDS; i++)
		wanted += 1000 + 1005 + 20 * i;
	assert_int_equal(events, EVENTS);
	assert_int_equal(sum, wanted);
	waymark_close(t);
}

/* --- columns --------------------------------------------------------------------------------- */

static struct waymark_columns *columns(struct waymark_reader *r, const char *const *names,
				       const enum waymark_column_kind *kinds, uint32_t nr,
				       uint64_t rows)
{
	struct waymark_columns *c = NULL;
	struct waymark_error error = WAYMARK_INIT(error);

	if (waymark_columns(r, names, kinds, nr, rows, &c, &error))
		fail_msg("%s", error.text);
	return c;
}

static void check_rows(const struct waymark_columns *c, uint64_t first, int64_t rows)
{
	const int64_t *time = waymark_column_data(c, 0), *n = waymark_column_data(c, 1);
	const double *d = waymark_column_data(c, 2);
	const uint64_t *s = waymark_column_data(c, 3), *e = waymark_column_data(c, 4);

	for (int64_t i = 0; i < rows; i++) {
		uint64_t at = first + (uint64_t)i, round = at / 2;
		bool has_text = at % 2;
		const char *text = !has_text ? "" : round % 2 ? "odd" : "even one";
		const char *label = !has_text ? "" : round % 2 ? "yes" : "no";

		assert_int_equal(time[i], KIT_REALTIME + 1000 + 5 * at);
		assert_int_equal(waymark_column_valid(c, 0)[i], 1);
		assert_int_equal(waymark_column_valid(c, 1)[i], !has_text);
		assert_int_equal(n[i], has_text ? 0 : (int64_t)round - 5);
		assert_true(d[i] == (has_text ? 0.5 * (double)round : 0));
		assert_int_equal(waymark_column_valid(c, 2)[i], has_text);
		assert_int_equal(s[i + 1] - s[i], strlen(text));
		assert_memory_equal(waymark_column_text(c, 3) + s[i], text, strlen(text));
		assert_int_equal(e[i + 1] - e[i], strlen(label));
		assert_memory_equal(waymark_column_text(c, 4) + e[i], label, strlen(label));
	}
}

static void test_columns(void **state)
{
	static const char *const names[] = {"$time", "n", "d", "s", "e"};
	static const enum waymark_column_kind kinds[] = {WAYMARK_COLUMN_AUTO, WAYMARK_COLUMN_AUTO,
							 WAYMARK_COLUMN_AUTO, WAYMARK_COLUMN_AUTO,
							 WAYMARK_COLUMN_TEXT};
	struct waymark_columns *c;
	struct waymark_trace *t;
	struct waymark_reader *r;
	uint64_t at = 0;
	int64_t rows;

	write_trace();
	t = open_trace();
	r = begin(t, NULL);
	c = columns(r, names, kinds, 5, 7);
	assert_int_equal(waymark_column_kind(c, 0), WAYMARK_COLUMN_INT64);
	assert_int_equal(waymark_column_kind(c, 1), WAYMARK_COLUMN_INT64);
	assert_int_equal(waymark_column_kind(c, 2), WAYMARK_COLUMN_DOUBLE);
	assert_int_equal(waymark_column_kind(c, 3), WAYMARK_COLUMN_TEXT);
	while ((rows = waymark_columns_fill(c)) > 0) {
		assert_true(rows == 7 || at + (uint64_t)rows == EVENTS);
		check_rows(c, at, rows);
		at += (uint64_t)rows;
	}
	assert_int_equal(rows, 0);
	assert_int_equal(at, EVENTS);
	waymark_columns_close(c);
	waymark_reader_close(r);
	waymark_close(t);
}

/* A column of a requested kind contains the values that can be converted to it. */
static void test_column_kinds(void **state)
{
	static const char *const names[] = {"n", "n", "d", "e", "$tid", "$comm"};
	static const enum waymark_column_kind kinds[] = {
	    WAYMARK_COLUMN_UINT64, WAYMARK_COLUMN_DOUBLE, WAYMARK_COLUMN_INT64,
	    WAYMARK_COLUMN_AUTO,   WAYMARK_COLUMN_AUTO,   WAYMARK_COLUMN_AUTO};
	static const char *const missing[] = {"nothing"};
	struct waymark_error error = WAYMARK_INIT(error);
	struct waymark_columns *c;
	struct waymark_trace *t;
	struct waymark_reader *r;

	write_trace();
	t = open_trace();
	r = begin(t, NULL);
	c = columns(r, names, kinds, 6, EVENTS);
	assert_int_equal(waymark_columns_fill(c), EVENTS);
	assert_int_equal(waymark_column_valid(c, 0)[0], 0); /* -5 */
	assert_int_equal(waymark_column_valid(c, 0)[10], 1);
	assert_true(((const double *)waymark_column_data(c, 1))[0] == -5);
	/* 1.5 is converted to 1 */
	assert_int_equal(((const int64_t *)waymark_column_data(c, 2))[7], 1);
	assert_int_equal(((const uint64_t *)waymark_column_data(c, 3))[3], 1);
	assert_int_equal(((const int64_t *)waymark_column_data(c, 4))[1], 102);
	assert_int_equal(((const uint64_t *)waymark_column_data(c, 5))[EVENTS], 3 * EVENTS);
	assert_int_equal(waymark_columns_fill(c), 0);
	assert_null(waymark_column_data(c, 6));
	waymark_columns_close(c);
	assert_int_equal(waymark_columns(r, missing, NULL, 1, 1, &c, &error), -ENOENT);
	assert_non_null(strstr(error.text, "'nothing'"));
	assert_int_equal(waymark_columns(r, missing, NULL, 0, 1, &c, &error), -EINVAL);
	waymark_reader_close(r);
	waymark_close(t);
}

/* --- description -------------------------------------------------------------------------- */

static void test_what_there_is(void **state)
{
	char path[128];
	struct waymark_stream stream = WAYMARK_INIT(stream);
	struct waymark_fault fault = WAYMARK_INIT(fault);
	struct waymark_info info = WAYMARK_INIT(info);
	struct waymark_trace *t;
	uint32_t nr_types = 0;

	write_trace();
	(void)snprintf(path, sizeof(path), "%s/user-1-0", kit_dir);
	assert_int_equal(truncate(path, 370), 0);
	t = open_trace();
	assert_int_equal(waymark_nr_traces(t), 1);
	assert_int_equal(waymark_info(t, 0, &info), 0);
	assert_int_equal(waymark_info(t, 1, &info), -ERANGE);
	assert_string_equal(info.format, "ctf");
	assert_string_equal(info.version, "1.8");
	assert_true(info.is_epoch);
	assert_string_equal(waymark_word(t, 0, "tracer_name"), "waymark");
	assert_null(waymark_word(t, 0, "nothing"));
	assert_int_equal(waymark_nr_faults(t), 1);
	assert_int_equal(waymark_fault(t, 0, &fault), 0);
	assert_string_equal(fault.file, "user-1-0");
	if (!strstr(fault.reason, "is truncated"))
		fail_msg("%s", fault.reason);
	assert_int_equal(waymark_fault(t, 1, &fault), -ERANGE);
	assert_int_equal(waymark_stream(t, 0, &stream), 0);
	assert_int_equal(waymark_stream(t, waymark_nr_streams(t), &stream), -ERANGE);
	for (uint32_t i = 0; i < waymark_nr_types(t); i++) {
		const struct waymark_type *type = waymark_type(t, i);

		assert_int_equal(waymark_type_number(type), i);
		nr_types += !waymark_type_is_meta(type);
		if (strcmp(waymark_type_name(type), "app:text") != 0)
			continue;
		assert_int_equal(waymark_type_nr_fields(type, WAYMARK_FIELDS), 3);
		assert_string_equal(waymark_field_name(waymark_type_field(type, WAYMARK_FIELDS, 0)),
				    "s");
		assert_null(waymark_type_field(type, WAYMARK_FIELDS, 3));
	}
	assert_int_equal(nr_types, 2);
	assert_null(waymark_type(t, waymark_nr_types(t)));
	assert_string_equal(waymark_version(), WM_VERSION);
	waymark_close(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_in_order),     TEST(test_chosen),        TEST(test_errors),
	    TEST(test_seek),         TEST(test_shares),        TEST(test_columns),
	    TEST(test_column_kinds), TEST(test_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
