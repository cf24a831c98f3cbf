/* SPDX-License-Identifier: MIT */
/*
 * render_test.c - identical output for any number of threads and slices; filters, counts, ends of
 * traces, and a failing sink.
 */
#include "view/render.h"

#include "trace/reader_test_kit.h"

static struct wm_trace *make(void)
{
	struct fake *f = fake_create();
	int64_t ns = 1000;

	for (uint32_t s = 0; s < 3; s++) {
		ns = 1000 + s;
		for (int p = 0; p < 60; p++) {
			fake_packet(f, s);
			for (int i = 0; i < 50; i++)
				fake_event(f, ns += 1 + (i * 7 + p) % 11);
		}
	}
	return fake_trace(f);
}

struct sink {
	struct wm_text text;
	int err;
	size_t after; /* bytes accepted before it fails */
};

static int take(void *data, const char *bytes, size_t count)
{
	struct sink *s = data;

	wm_text_add(&s->text, bytes, count);
	return s->text.bytes > s->after ? s->err : 0;
}

struct setup {
	struct wm_trace *trace;
	struct wm_timeline *timeline;
	struct wm_view *view;
	struct sink sink;
	struct wm_render r;
};

static void begin(struct setup *s, enum wm_view_format format)
{
	*s = (struct setup){.trace = make()};
	assert_int_equal(wm_timeline_create(&s->trace, 1, &s->timeline), 0);
	s->view = wm_view_create(&s->trace, 1, &(struct wm_view_options){.format = format});
	s->r = (struct wm_render){.timeline = s->timeline,
				  .view = s->view,
				  .begin_ns = INT64_MIN,
				  .end_ns = INT64_MAX,
				  .limit = UINT64_MAX,
				  .nr_threads = 1,
				  .write = take,
				  .sink = &s->sink};
}

static void end(struct setup *s)
{
	wm_text_done(&s->sink.text);
	wm_view_destroy(s->view);
	wm_timeline_destroy(s->timeline);
	wm_trace_close(s->trace);
}

static uint64_t render(struct setup *s)
{
	struct wm_view_past past = {0};
	uint64_t nr;

	wm_text_cut(&s->sink.text, 0);
	assert_int_equal(wm_render(&s->r, &past, &nr), 0);
	return nr;
}

static void test_threads(void **unused)
{
	for (int format = 0; format < WM_VIEW_NR_FORMATS; format++) {
		struct setup s;
		char *whole;

		begin(&s, (enum wm_view_format)format);
		assert_int_equal(render(&s), 9000);
		whole = strdup(s.sink.text.data);
		for (uint32_t threads = 2; threads < 6; threads++) {
			s.r.nr_threads = threads;
			s.r.slice_bytes = 500 + 3000 * threads;
			assert_int_equal(render(&s), 9000);
			assert_string_equal(s.sink.text.data, whole);
		}
		free(whole);
		end(&s);
	}
}

static bool odd(const void *data, uint32_t trace, const struct wm_event *e)
{
	return fake_number_of(e) & 1;
}

static uint32_t lines(const struct setup *s)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->sink.text.bytes; i++)
		n += s->sink.text.data[i] == '\n';
	return n;
}

static void test_filter_skip_limit(void **unused)
{
	struct setup s;

	begin(&s, WM_VIEW_JSONL);
	s.r.passes = odd;
	s.r.nr_threads = 3;
	s.r.slice_bytes = 1;
	assert_int_equal(render(&s), 4500);
	assert_int_equal(lines(&s), 4500);
	s.r.skip = 10;
	s.r.limit = 5;
	assert_int_equal(render(&s), 15);
	assert_int_equal(lines(&s), 5);
	s.r.skip = 4499;
	assert_int_equal(render(&s), 4500);
	assert_int_equal(lines(&s), 1);
	s.r.limit = 0;
	assert_int_equal(render(&s), 4499);
	assert_int_equal(lines(&s), 0);
	end(&s);
}

static void test_tail(void **unused)
{
	static const uint64_t wanted[] = {1, 2, 77, 4499, 4500, 4501, 1000000};
	struct setup s;

	begin(&s, WM_VIEW_JSONL);
	s.r.passes = odd;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		s.r.slice_bytes = i % 2 ? 1 : 5000;
		s.r.skip = 0;
		s.r.begin_ns = INT64_MIN;
		assert_int_equal(wm_render_tail(&s.r, wanted[i], &s.r.begin_ns, &s.r.skip), 0);
		render(&s);
		assert_int_equal(lines(&s), wanted[i] < 4500 ? wanted[i] : 4500);
	}
	end(&s);
}

static void test_errors(void **unused)
{
	struct wm_view_past past = {0};
	uint64_t nr;
	struct setup s;

	begin(&s, WM_VIEW_WAYMARK);
	s.r.slice_bytes = 4000;
	for (uint32_t threads = 1; threads < 5; threads++) {
		s.r.nr_threads = threads;
		wm_text_cut(&s.sink.text, 0);
		s.sink.err = -EPIPE;
		s.sink.after = 1000;
		assert_int_equal(wm_render(&s.r, &past, &nr), -EPIPE);
		s.sink.err = 0;
		((struct fake *)s.trace->own)->bad = 33;
		((struct fake *)s.trace->own)->read_err = -EIO;
		assert_int_equal(wm_render(&s.r, &past, &nr), -EIO);
		((struct fake *)s.trace->own)->read_err = 0;
	}
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_filter_skip_limit),
	    cmocka_unit_test(test_tail),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
