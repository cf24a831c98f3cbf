/* SPDX-License-Identifier: MIT */
/* A walk in parts, divided at arbitrary times, yields the same result as one walk, to the byte. */
#include "analysis/pass_int.h"
#include "analysis/profile.h"
#include "read/corpus_test_kit.h"
#include "read/open.h"

#define CUTS_MAX 9

/* How often each synthetic recording is divided, with alternating windows and values; fewer
 * under ThreadSanitizer, which is slow.
 */
#ifdef __SANITIZE_THREAD__
#define ROUNDS kit_rounds(1, 12)
#else
#define ROUNDS kit_rounds(2, 12)
#endif

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_below(uint64_t n)
{
	return kit_random(&random_state) % n;
}

/* --- results ------------------------------------------------------------------------------ */

static void same_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_cell(enum wm_cell_kind kind, const union wm_cell *a, const union wm_cell *b)
{
	if (kind == WM_CELL_TEXT)
		same_text(a->text, b->text);
	else
		assert_int_equal(a->u, b->u);
}

static void same_rows(const struct wm_result_table *t, const struct wm_result_row *a,
		      const struct wm_result_row *b)
{
	for (; a && b; a = a->next, b = b->next) {
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->weight, b->weight);
		same_text(a->label, b->label);
		for (uint32_t i = 0; a->kind == WM_ROW_PLAIN && i < t->nr_columns; i++)
			same_cell(t->columns[i].kind, &a->cells[i], &b->cells[i]);
		same_rows(t, a->first, b->first);
	}
	assert_true(!a && !b);
}

static void same_result(const struct wm_result *a, const struct wm_result *b)
{
	const struct wm_result_note *m = a->notes, *n = b->notes;
	const struct wm_result_table *t = a->tables, *u = b->tables;

	for (; m && n; m = m->next, n = n->next)
		assert_string_equal(m->text, n->text);
	assert_true(!m && !n);
	for (; t && u; t = t->next, u = u->next) {
		assert_string_equal(t->title, u->title);
		assert_int_equal(t->nr_left_out, u->nr_left_out);
		same_rows(t, t->first, u->first);
	}
	assert_true(!t && !u);
}

static void same_faults(const struct wm_trace *a, const struct wm_trace *b)
{
	assert_int_equal(a->nr_faults, b->nr_faults);
	for (uint32_t i = 0; i < a->nr_faults; i++) {
		assert_int_equal(a->faults[i].offset, b->faults[i].offset);
		assert_string_equal(a->faults[i].reason, b->faults[i].reason);
	}
}

/* --- walks -------------------------------------------------------------------------------- */

struct walked {
	struct wm_trace *trace;
	struct wm_pass_input in;
	struct wm_pass pass;
	struct wm_result result;
};

static void finish(struct walked *w, const struct wm_pass_run *run)
{
	wm_result_init(&w->result, "test");
	assert_int_equal(wm_pass_head(&w->pass, run->analysis, &w->result), 0);
	assert_int_equal(run->analysis->finish(run->own, &w->result), 0);
	run->analysis->destroy(run->own);
}

/*
 * Walks in `nr` parts, divided at `cuts`; 1: without parts. Returns false when these traces cannot
 * be divided.
 */
static bool walk(struct walked *w, const char *path, const struct wm_profile_values *v,
		 int64_t *cuts, uint32_t nr)
{
	struct wm_pass_run run = {&wm_analysis_profile, NULL, v};
	struct wm_timeline *timeline;
	struct wm_diag diag;
	bool divides;

	*w = (struct walked){.in = {.nr_traces = 1,
				    .begin_ns = cuts ? cuts[0] : INT64_MIN,
				    .end_ns = cuts ? cuts[nr] : INT64_MAX,
				    .nr_threads = 1,
				    .symfs = "/nowhere"}};
	assert_int_equal(wm_read_open(path, &w->trace, &diag), 0);
	w->in.traces = &w->trace;
	assert_int_equal(wm_pass_init(&w->pass, &w->in), 0);
	assert_int_equal(run.analysis->create(&w->pass, v, &run.own, &diag), 0);
	assert_int_equal(wm_timeline_create(&w->trace, 1, &timeline), 0);
	divides = wm_pass_divides(&w->pass, &run);
	if (divides && nr > 1)
		assert_int_equal(wm_pass_walk_parts(&w->pass, &run, timeline, cuts, nr), 0);
	else
		assert_int_equal(wm_pass_walk(&w->pass, &run, 1), 0);
	wm_timeline_destroy(timeline);
	finish(w, &run);
	return divides;
}

static void done(struct walked *w)
{
	wm_result_done(&w->result);
	wm_pass_done(&w->pass);
	wm_trace_close(w->trace);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Chooses times of the trace at which to divide [begin, end); parts may be empty. */
static uint32_t cut_anywhere(const struct wm_trace *t, int64_t begin, int64_t end, int64_t *cuts)
{
	uint32_t nr = 2 + (uint32_t)random_below(CUTS_MAX - 2);
	uint64_t span = (uint64_t)(t->end_ns - t->begin_ns) + 3;

	for (uint32_t i = 1; i < nr; i++) {
		int64_t at = t->begin_ns - 1 + (int64_t)random_below(span);

		cuts[i] = at < begin ? begin : at > end ? end : at;
	}
	qsort(cuts + 1, nr - 1, sizeof(*cuts), by_number);
	cuts[0] = begin;
	cuts[nr] = end;
	return nr;
}

static const struct wm_profile_values values[] = {
    {.keys = "comm,dso,sym", .graph = WM_GRAPH_CALLER, .weights = true},
    {.keys = "pid,tid,sym", .no_children = true},
    {.keys = "event,comm"},
    {.keys = "cpu,dso", .weight = "count", .hierarchy = true},
    {.keys = "comm,sym", .graph = WM_GRAPH_CALLEE, .comms = "bash,swapper,t3,t5"},
};
#define NR_VALUES (sizeof(values) / sizeof(values[0]))

static void check_window(const char *path, const struct wm_profile_values *v, const int64_t *window)
{
	int64_t whole[2] = {window[0], window[1]}, cuts[CUTS_MAX + 1];
	struct walked one, parts;
	uint32_t nr;

	if (!walk(&one, path, v, whole, 1)) {
		done(&one);
		return;
	}
	nr = cut_anywhere(one.trace, window[0], window[1], cuts);
	(void)walk(&parts, path, v, cuts, nr);
	same_result(&one.result, &parts.result);
	same_faults(one.trace, parts.trace);
	done(&one);
	done(&parts);
}

static void check_file(const char *path, bool valid, const char *events)
{
	/* In `make check`, each file is tested with one set of values, in turn. */
	static size_t turn;
	const size_t step = kit_rounds(NR_VALUES, 1);
	int64_t window[2] = {INT64_MIN, INT64_MAX};

	(void)events;
	for (size_t i = turn++ % step; valid && i < NR_VALUES; i += step)
		check_window(path, &values[i], window);
}

static void parts_of_the_corpus_find_what_one_walk_finds(void **state)
{
	(void)state;
	kit_each_entry("perf.data/", check_file);
}

/* --- a synthetic recording ------------------------------------------------------------------- */

#define SAMPLE_TYPE (1u | 2u | 4u | 0x20u | 0x80u) /* IP, TID, TIME, CALLCHAIN, CPU */
#define RECORDS     20000
#define ATTR_BYTES  112u
#define DATA_AT     (104u + ATTR_BYTES + 16)

struct making {
	FILE *f;
	uint64_t time, bytes;
	bool is_damaged; /* the length of some chains exceeds their record */
};

static void put(struct making *m, const void *data, size_t bytes)
{
	assert_int_equal(fwrite(data, 1, bytes, m->f), bytes);
	m->bytes += bytes;
}

/* Writes a record with `words`; TID, TIME and CPU follow them in records other than samples. */
static void put_record(struct making *m, uint32_t type, uint16_t misc, const uint64_t *words,
		       uint32_t nr, bool is_sample)
{
	uint32_t all = nr + (is_sample ? 0 : 3);
	uint64_t id[3] = {0, m->time, 0};
	struct {
		uint32_t type;
		uint16_t misc, size;
	} header = {type, misc, (uint16_t)(8 + 8 * all)};

	put(m, &header, sizeof(header));
	put(m, words, nr * sizeof(*words));
	if (!is_sample)
		put(m, id, sizeof(id));
}

static uint64_t two(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static uint32_t some_pid(void)
{
	return (uint32_t)random_below(40);
}

static void put_sample(struct making *m)
{
	static const uint64_t kernel = (uint64_t)-128, user = (uint64_t)-512, bad = (uint64_t)-9;
	uint32_t pid = some_pid(), nr = (uint32_t)random_below(6);
	uint64_t words[16] = {0x400000 + 16 * random_below(90), two(pid, pid), m->time,
			      random_below(3)};
	bool in_kernel = !random_below(4);
	uint32_t at = 5;

	words[at++] = in_kernel ? kernel : user;
	words[at++] = words[0];
	for (uint32_t i = 0; i < nr; i++)
		words[at++] = random_below(50) ? 0x400000 + 16 * random_below(20) : bad;
	words[4] = m->is_damaged && !random_below(200) ? 1000 : at - 5;
	if (in_kernel)
		words[0] = words[6] = 0xffffffff81000000ull + 16 * random_below(90);
	put_record(m, 9, in_kernel ? 1 : 2, words, at, true);
}

static void put_comm(struct making *m)
{
	uint32_t pid = some_pid();
	uint64_t words[2] = {two(pid, pid), 0};

	snprintf((char *)&words[1], 8, "t%u", (unsigned)random_below(20));
	put_record(m, 3, random_below(2) ? 0x2000 : 0, words, 2, false);
}

static void put_task(struct making *m, uint32_t type)
{
	uint32_t pid = some_pid(), parent = some_pid();
	uint64_t words[3] = {two(pid, parent), two(pid, parent), m->time};

	put_record(m, type, 0, words, 3, false);
}

static void put_mmap(struct making *m)
{
	uint32_t pid = some_pid();
	uint64_t words[5] = {two(pid, pid), 0x400000 + 256 * random_below(4),
			     256 * (1 + random_below(4)), 0, 0};

	snprintf((char *)&words[4], 8, "/lib/%u", (unsigned)random_below(30));
	put_record(m, 1, 2, words, 5, false);
}

static void put_head(struct making *m, uint64_t data_bytes)
{
	uint64_t head[13] = {0x32454c4946524550ull, 104,     16 + ATTR_BYTES, 104,
			     16 + ATTR_BYTES,       DATA_AT, data_bytes};
	uint64_t attr[(ATTR_BYTES + 16) / 8] = {two(1, ATTR_BYTES), 2, 1, SAMPLE_TYPE};

	attr[5] = 1ull << 18; /* sample_id_all */
	rewind(m->f);
	put(m, head, sizeof(head));
	put(m, attr, sizeof(attr));
}

/*
 * Writes records as from two of perf's buffers: the second one begins earlier than the first one
 * ends.
 */
static void put_records(struct making *m)
{
	for (int i = 0; i < RECORDS; i++) {
		m->time += random_below(4);
		if (i % 1000 == 500)
			m->time -= 400;
		switch (random_below(300)) {
		case 0:
			put_comm(m);
			break;
		case 1:
			put_task(m, 7);
			break;
		case 2:
			put_task(m, 4);
			break;
		case 3:
			put_mmap(m);
			break;
		default:
			put_sample(m);
		}
	}
}

static void make_recording(bool is_damaged)
{
	struct making m = {
	    .f = fopen(kit_scratch, "w+e"), .time = 1000000, .is_damaged = is_damaged};
	uint64_t bytes;

	assert_non_null(m.f);
	put_head(&m, 0);
	m.bytes = 0;
	put_records(&m);
	bytes = m.bytes;
	put_head(&m, bytes);
	assert_int_equal(fclose(m.f), 0);
}

static int64_t windows[][2] = {{INT64_MIN, INT64_MAX}, {1005000, 1020000}, {1010000, INT64_MAX}};

static void parts_of_a_made_one_find_what_one_walk_finds(void **state)
{
	struct walked w;

	(void)state;
	make_recording(false);
	assert_true(walk(&w, kit_scratch, &values[0], NULL, 1));
	assert_int_equal(w.trace->nr_faults, 0);
	assert_true(w.pass.nr_events > RECORDS / 2);
	assert_non_null(w.result.tables->first);
	done(&w);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < NR_VALUES; i++)
			check_window(kit_scratch, &values[i], windows[round % 3]);
}

static bool opens(const char *path)
{
	struct wm_diag diag;
	struct wm_trace *t;
	int err = wm_read_open(path, &t, &diag);

	if (!err)
		wm_trace_close(t);
	return !err;
}

/* The faults, and their order, are also the same as in one walk. */
static void parts_of_a_damaged_one_find_what_one_walk_finds(void **state)
{
	char *data, *whole;
	size_t bytes;

	(void)state;
	make_recording(true);
	data = kit_load(kit_scratch, &bytes);
	whole = kit_load(kit_scratch, &bytes);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		if (round % 4 == 0)
			memcpy(data, whole, bytes);
		else
			kit_change(data + DATA_AT, bytes - DATA_AT, 0, 1, &random_state);
		kit_write(data, bytes);
		if (opens(kit_scratch))
			check_window(kit_scratch, &values[round % NR_VALUES], windows[0]);
	}
	free(data);
	free(whole);
}

/* Waits that begin in one part and end in another cannot be divided. */
static void waits_are_not_divided(void **state)
{
	(void)state;
	assert_null(wm_analysis_off_cpu.divides);
	assert_null(wm_analysis_wakeups.divides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts_of_the_corpus_find_what_one_walk_finds),
	    cmocka_unit_test(parts_of_a_made_one_find_what_one_walk_finds),
	    cmocka_unit_test(parts_of_a_damaged_one_find_what_one_walk_finds),
	    cmocka_unit_test(waits_are_not_divided),
	};

	return kit_run(tests);
}
