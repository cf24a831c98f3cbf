/* SPDX-License-Identifier: MIT */
/* Lines of ftrace's text in every form; a complete text, its fields, losses and damage. */
#include <errno.h>
#include <inttypes.h>

#include "read/corpus_test_kit.h"
#include "read/ftrace/ftrace_int.h"
#include "read/open.h"

static const struct {
	const char *line, *comm, *flags, *name, *text;
	int32_t tid, pid, cpu;
	int64_t ns;
} events[] = {
    {"            bash-411     (    411) [001] dN.2.  4626.132111: sched_switch: a=1", "bash",
     "dN.2.", "sched_switch", "a=1", 411, 411, 1, 4626132111000},
    {"          <idle>-0       (-------) [000] ..s1.     1.000001: irq: x", "<idle>", "..s1.",
     "irq", "x", 0, -1, 0, 1000001000},
    {"  a [b] - 7-c-12  [003]   5.000000500: hrtimer: now=3", "a [b] - 7-c", "", "hrtimer", "now=3",
     12, -1, 3, 5000000500},
    {"kworker/u8:3-9 [127] d... 12345678: tick:", "kworker/u8:3", "d...", "tick", "", 9, -1, 127,
     12345678},
    {"cat-5 [000] ..... 2.5: do_open <-vfs_open", "cat", ".....", "function", "do_open <-vfs_open",
     5, -1, 0, 2500000000},
    {"cat-5 [000] ..... 2.5: <stack trace>", "cat", ".....", "kernel_stack", "<stack trace>", 5, -1,
     0, 2500000000},
    {"    bash-18239     0dN.1. 17385us+: sys_exit: NR 1 = 2", "bash", "dN.1.", "sys_exit",
     "NR 1 = 2", 18239, -1, 0, 17385000},
    {"  <idle>-0     127..s2    0us : tick_do <-tick_go", "<idle>", "..s2", "function",
     "tick_do <-tick_go", 0, -1, 127, 0},
    {" a-1 b-7   1d.... 42 : tick: x", "a-1 b", "d....", "tick", "x", 7, -1, 1, 42},
    {"   a 1 b   411 [001]  4626.132111: sched:sched_switch: a=1", "a 1 b", "",
     "sched:sched_switch", "a=1", 411, -1, 1, 4626132111000},
    {"bash  411/412  2.5:     250000 cpu-clock:uH:   7f00 f+0x1 (/lib/x.so.1)", "bash", "",
     "cpu-clock:uH", "7f00 f+0x1 (/lib/x.so.1)", 412, 411, -1, 2500000000},
    {"bash  411  2.5:          1 page-faults: ", "bash", "", "page-faults", "", 411, -1, -1,
     2500000000},
};

static void expect_text(const struct wm_ft_text *have, const char *want)
{
	assert_int_equal(have->bytes, strlen(want));
	assert_memory_equal(have->at, want, have->bytes);
}

static void test_events(void **state)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct wm_ft_line l;

		wm_ft_line_parse(events[i].line, strlen(events[i].line), &l);
		if (l.kind != WM_FT_EVENT)
			fail_msg("no event: %s", events[i].line);
		expect_text(&l.comm, events[i].comm);
		expect_text(&l.flags, events[i].flags);
		expect_text(&l.name, events[i].name);
		expect_text(&l.text, events[i].text);
		assert_int_equal(l.tid, events[i].tid);
		assert_int_equal(l.pid, events[i].pid);
		assert_int_equal(l.cpu, events[i].cpu);
		assert_int_equal(l.ns, events[i].ns);
	}
}

static void test_others(void **state)
{
	static const struct {
		const char *line;
		enum wm_ft_kind kind;
	} lines[] = {
	    {"# tracer: nop", WM_FT_COMMENT},
	    {"", WM_FT_COMMENT},
	    {"CPU:1 [LOST 12 EVENTS]", WM_FT_LOST},
	    {"CPU:0 [7 EVENTS DROPPED]", WM_FT_LOST},
	    {" => schedule", WM_FT_MORE},
	    {"\t    7f00 f+0x1 (/lib/x.so.1)", WM_FT_MORE},
	    {"bash 2.5: 1 x: y", WM_FT_NO_EVENT},
	    {"bash 1 2.5: 1 x", WM_FT_NO_EVENT},
	    {" 0)   1.2 us    |  schedule();", WM_FT_NO_EVENT},
	    {"bash [000] d... 1.0: x: y", WM_FT_NO_EVENT},
	    {"bash-1 [000] d... 1,0: x: y", WM_FT_NO_EVENT},
	    {"bash-1 [x] d... 1.0: x: y", WM_FT_NO_EVENT},
	    {"bash-99999999999 [000] d... 1.0: x: y", WM_FT_NO_EVENT},
	    {"bash-1  0d... 5us: x: y", WM_FT_NO_EVENT},
	    {"bash-1  d... 5us : x: y", WM_FT_NO_EVENT},
	    {"bash-1  0d... 99999999999999999us : x: y", WM_FT_NO_EVENT},
	    {"bash-1 [000] d... 99999999999999999999.0: x: y", WM_FT_NO_EVENT},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct wm_ft_line l;

		wm_ft_line_parse(lines[i].line, strlen(lines[i].line), &l);
		if (l.kind != lines[i].kind)
			fail_msg("kind %d of: %s", l.kind, lines[i].line);
	}
}

static const char trace[] =
    "# tracer: nop\n"
    "#\n"
    "# entries-in-buffer/entries-written: 4/9   #P:2\n"
    "#\n"
    "            a b-7       [001] d..2.   10.000001: sched_switch: prev_comm=a b prev_pid=7 "
    "prev_state=R ==> next_comm=c next_pid=-1 flags=0x10\n"
    "              c-8       [000] .....   10.000002: tracing_mark_write: one\n"
    "two\n"
    "CPU:0 [LOST 3 EVENTS]\n"
    "              c-8       [000] .....   10.000004: <stack trace>\n"
    " => f\n"
    " => g\n"
    "            a b-7       [001] d..2.   10.000003: sched_switch: prev_comm= prev_pid=0 "
    "prev_state=S ==> next_comm=x=y next_pid=2 flags=0x1f\n";

static void add_event(const struct wm_event *e, struct wm_text *t)
{
	wm_text_f(t, "%" PRId64 " %d %d %s", e->ns, e->cpu, e->tid, e->type->name);
	for (uint32_t i = e->parts[WM_PART_FIELDS].at; i < e->parts[WM_PART_FIELDS].end; i++) {
		const struct wm_item *item = &e->items[i];

		wm_text_f(t, " %s=", item->member->name);
		if (item->member->type->kind == WM_TYPE_STRING)
			wm_text_f(t, "'%.*s'", (int)item->count, item->text);
		else
			wm_text_f(t, "%" PRId64, item->s);
	}
	wm_text_char(t, '\n');
}

static void read_events(struct wm_trace *t, struct wm_text *out)
{
	struct wm_packet_reader *r = t->ops->reader_create(t, NULL);
	struct wm_batch b = {0};

	for (uint64_t p = 0; p < t->nr_packets; p++) {
		uint64_t nr = 0;

		assert_int_equal(t->ops->reader_begin(r, &t->packets[p]), 0);
		while (wm_batch_read(t, r, &b) > 0) {
			for (uint32_t i = 0; i < b.nr_events; i++)
				add_event(&b.events[i], out);
			nr += b.nr_events;
		}
		assert_int_equal(nr, t->packets[p].nr_events);
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(r);
}

static void test_whole(void **state)
{
	struct wm_trace *t;
	struct wm_text out;

	kit_write(trace, sizeof(trace) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
	assert_string_equal(t->ops->name, "ftrace");
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(t->nr_packets, 2); /* a new packet begins where time decreases */
	assert_int_equal(t->nr_losses, 2);
	assert_int_equal(t->losses[0].count, 3);
	assert_int_equal(t->losses[0].begin_ns, 10000002000);
	assert_int_equal(t->losses[0].end_ns, 10000004000);
	assert_int_equal(t->losses[1].count, 5);
	assert_string_equal(t->losses[1].cause, "overwritten");
	wm_text_init(&out);
	read_events(t, &out);
	assert_string_equal(
	    out.data,
	    "10000001000 1 7 sched_switch prev_comm='a b' prev_pid=7 prev_state='R' next_comm='c' "
	    "next_pid=-1 flags=16\n"
	    "10000002000 0 8 tracing_mark_write text='one\ntwo'\n"
	    "10000004000 0 8 kernel_stack text='<stack trace>\n => f\n => g'\n"
	    "10000003000 1 7 sched_switch prev_comm='' prev_pid=0 prev_state='S' next_comm='x=y' "
	    "next_pid=2 flags=31\n");
	wm_text_done(&out);
	wm_trace_close(t);
}

/* A latency tracer's header gives the number of events in another form. */
static void test_latency(void **state)
{
	static const char latency[] =
	    "# tracer: irqsoff\n#\n"
	    "# irqsoff latency trace v1.1.5 on 6.18.0\n"
	    "# ------------------------------------------------------------------\n"
	    "# latency: 16 us, #2/5, CPU#0 | (M:PREEMPT(none) VP:0, KP:0, SP:0 HP:0 #P:2)\n"
	    "#  cmd     pid   ||||| time  |   caller\n"
	    "    bash-18     0d...    1us+: f <-g\n"
	    "    bash-18     0d...    9us : <stack trace>\n => f\n => g\n";
	struct wm_trace *t;
	struct wm_text out;

	kit_write(latency, sizeof(latency) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
	assert_int_equal(t->nr_faults, 0);
	assert_int_equal(t->nr_losses, 1);
	assert_int_equal(t->losses[0].count, 3);
	wm_text_init(&out);
	read_events(t, &out);
	assert_string_equal(out.data,
			    "1000 0 18 function text='f <-g'\n"
			    "9000 0 18 kernel_stack text='<stack trace>\n => f\n => g'\n");
	wm_text_done(&out);
	wm_trace_close(t);
}

/* The verbose option omits the column names, and the number of events. */
static void test_short_header(void **state)
{
	static const char verbose[] = "# tracer: nop\n#\n a-1 [000] ..... 2.5: x: y\n";
	static const char damaged[] =
	    "# tracer: nop\n#\n#  TASK-PID  CPU#\n a-1 [000] ..... 2.5: x: y\n";
	struct wm_trace *t;

	kit_write(verbose, sizeof(verbose) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
	assert_int_equal(t->nr_faults, 0);
	wm_trace_close(t);
	kit_write(damaged, sizeof(damaged) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
	assert_int_equal(t->nr_faults, 1);
	wm_trace_close(t);
}

/* Text that is not the kernel's own, and whose last line has no newline, has all its events. */
static void test_last_line(void **state)
{
	static const char lines[] = "a-1 [000] 2.5: x: y\na-1 [000] 2.6: x: last";
	static const char first[] = "a-1 [000] 2.6: x: last";
	static const char *const texts[] = {lines, first};

	for (size_t i = 0; i < 2; i++) {
		struct wm_text out;
		struct wm_trace *t;

		wm_text_init(&out);
		kit_write(texts[i], strlen(texts[i]));
		assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
		read_events(t, &out);
		assert_int_equal(t->nr_faults, 0);
		assert_non_null(strstr(out.data, "text='last'"));
		wm_text_done(&out);
		wm_trace_close(t);
	}
}

/* Wherever the text is truncated, missing events are reported. */
static void test_cuts(void **state)
{
	for (size_t bytes = 16; bytes < sizeof(trace) - 1; bytes++) {
		struct wm_trace *t;

		kit_write(trace, bytes);
		if (wm_read_open(kit_scratch, &t, NULL))
			continue;
		assert_true(t->nr_faults > 0);
		wm_trace_close(t);
	}
}

static const char page_begin[] = "<!DOCTYPE html>\n<html>\n<script>\nvar viewer = '# tracer: ';\n";
static const char page_data[] = "</script>\n  <script class=\"trace-data\" "
				"type=\"application/text\">\nUSER PID\nroot 1\n  </script>\n"
				"  <script class=\"trace-data\" type=\"application/text\">\n";
static const char page_end[] = "  </script>\n</body>\n</html>\n";

/* Writes a page of systrace with a viewer of that size; `cut` leaves out what follows the trace. */
static void write_page(size_t viewer, bool cut)
{
	struct wm_text page;

	wm_text_init(&page);
	wm_text_str(&page, page_begin);
	while (page.bytes < viewer)
		wm_text_char(&page, 'x');
	wm_text_str(&page, page_data);
	wm_text_str(&page, trace);
	wm_text_str(&page, cut ? "" : page_end);
	kit_write(page.data, page.bytes);
	wm_text_done(&page);
}

/* The text in a page, wherever it begins in the parts of the page that are read, is a trace. */
static void test_page(void **state)
{
	struct wm_text want, out;
	struct wm_trace *t;

	wm_text_init(&want);
	wm_text_init(&out);
	kit_write(trace, sizeof(trace) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
	read_events(t, &want);
	wm_trace_close(t);
	for (size_t viewer = (1 << 20) - 256; viewer < (1 << 20) + 16; viewer += 3) {
		write_page(viewer, viewer % 2);
		assert_int_equal(wm_read_open(kit_scratch, &t, NULL), 0);
		assert_int_equal(t->nr_faults, viewer % 2);
		assert_int_equal(t->nr_losses, 2);
		wm_text_cut(&out, 0);
		read_events(t, &out);
		assert_string_equal(out.data, want.data);
		wm_trace_close(t);
	}
	wm_text_done(&want);
	wm_text_done(&out);
}

static void test_page_without_trace(void **state)
{
	static const char *const pages[] = {
	    page_begin, "<html><script class=\"trace-data\">\n{\"traceEvents\":[]}\n</script>"};
	struct wm_diag diag;
	struct wm_trace *t;

	for (size_t i = 0; i < 2; i++) {
		kit_write(pages[i], strlen(pages[i]));
		assert_int_equal(wm_read_open(kit_scratch, &t, &diag), -EBADMSG);
		assert_non_null(strstr(diag.sentence, "systrace"));
	}
}

static void test_refused(void **state)
{
	static const char graph[] = "# tracer: function_graph\n#\n 0)   1.2 us    |  schedule();\n";
	struct wm_diag diag;
	struct wm_trace *t;

	kit_write(graph, sizeof(graph) - 1);
	assert_int_equal(wm_read_open(kit_scratch, &t, &diag), -ENOTSUP);
	assert_int_equal(diag.offset, 27);
	kit_write("hello [000] 1.0: x\n", 19);
	assert_int_equal(wm_read_open(kit_scratch, &t, &diag), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),       cmocka_unit_test(test_others),
	    cmocka_unit_test(test_whole),        cmocka_unit_test(test_latency),
	    cmocka_unit_test(test_last_line),    cmocka_unit_test(test_cuts),
	    cmocka_unit_test(test_short_header), cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_page),         cmocka_unit_test(test_page_without_trace),
	};

	return kit_run(tests);
}
