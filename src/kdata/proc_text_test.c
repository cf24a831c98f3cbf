/* SPDX-License-Identifier: MIT */
/*
 * proc_text_test.c - reads /proc counters from hand-written text, from this machine's files, and
 * from damaged text.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "event/class.h"
#include "event/desc_build.h"
#include "kdata/proc_event_test_kit.h"
#include "kdata/proc_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEXT_MAX ((size_t)4 << 20)

static const struct wm_proc_machine machine = {.ticks_hz = 100, .page_bytes = 4096};

static struct wm_kproc_plan *plan(const char *name, const char *text)
{
	struct wm_kproc_plan *p;

	assert_int_equal(
	    wm_kproc_plan_create(kit_proc_event(name), &machine, text, strlen(text), &p, NULL), 0);
	return p;
}

/*
 * Stores the record in a text that is first copied to its own block, so that a sanitizer detects
 * reads past its end.
 */
static int64_t put(const struct wm_kproc_plan *p, const char *text, unsigned char *to)
{
	size_t bytes = strlen(text);
	char *copy = malloc(bytes + 1);
	const char *at = copy;
	int64_t n;

	assert_non_null(copy);
	memcpy(copy, text, bytes);
	n = wm_kproc_put(p, &at, copy + bytes, to);
	free(copy);
	return n;
}

static uint64_t u64_at(const unsigned char *to, size_t at)
{
	uint64_t v;

	memcpy(&v, to + at, sizeof(v));
	return le64toh(v);
}

static double f64_at(const unsigned char *to, size_t at)
{
	uint64_t bits = u64_at(to, at);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void lines_are_fields_in_bytes(void **state)
{
	const char *first =
	    "MemTotal:       24684092 kB\nActive(anon):  17 kB\nHugePages_Free: 3\n";
	struct wm_kproc_plan *p = plan("meminfo", first);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_string_equal(wm_kproc_plan_schema(p),
			    "MemTotal_bytes:u8;Active_anon_bytes:u8;HugePages_Free:u8");
	assert_string_equal(wm_kproc_plan_field(p, 1)->unit, "bytes");
	assert_string_equal(wm_kproc_plan_field(p, 2)->unit, "");
	assert_int_equal(put(p, first, to), 24);
	assert_int_equal(u64_at(to, 0), 24684092ull * 1024);
	assert_int_equal(u64_at(to, 8), 17 * 1024);
	assert_int_equal(u64_at(to, 16), 3);
	/* An additional line is skipped; a missing line makes the text invalid. */
	assert_int_equal(
	    put(p, "New: 1\nMemTotal: 5 kB\nx\n\nActive(anon): 6\nHugePages_Free: 7", to), 24);
	assert_int_equal(u64_at(to, 16), 7);
	assert_int_equal(put(p, "MemTotal: 5 kB\nHugePages_Free: 7\n", to), -EBADMSG);
	assert_int_equal(put(p, "MemTotal: 5 kB\nActive(anon): 6\n", to), -EBADMSG);
	assert_int_equal(put(p, "MemTotal: 5x kB\nActive(anon): 6\nHugePages_Free: 7\n", to),
			 -EBADMSG);
	assert_int_equal(put(p, "MemTotal: -5\nActive(anon): 6\nHugePages_Free: 7\n", to),
			 -EBADMSG);
	assert_int_equal(put(p, "MemTotal:\nActive(anon): 6\nHugePages_Free: 7\n", to), -EBADMSG);
	assert_int_equal(put(p, "", to), 0);
	wm_kproc_plan_destroy(p);
}

static void numbers_end_at_64_bits(void **state)
{
	struct wm_kproc_plan *p = plan("vmstat", "pgfault 1\n"), *kb = plan("meminfo", "A: 1 kB\n");
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_int_equal(put(p, "pgfault 18446744073709551615\n", to), 8);
	assert_true(u64_at(to, 0) == UINT64_MAX);
	assert_int_equal(put(p, "pgfault 18446744073709551616\n", to), -EBADMSG);
	assert_int_equal(put(p, "pgfault 99999999999999999999999999\n", to), -EBADMSG);
	/* The number of bytes exceeds 64 bits and becomes the maximum. */
	assert_int_equal(put(kb, "A: 18446744073709551615 kB\n", to), 8);
	assert_true(u64_at(to, 0) == UINT64_MAX);
	wm_kproc_plan_destroy(p);
	wm_kproc_plan_destroy(kb);
}

static void stat_is_the_machine_and_each_cpu(void **state)
{
	const char *text = "cpu  30 20 10 5\ncpu0 10 0 0 1\ncpu12 20 20 10 4\nintr 77 1 2 3\n"
			   "ctxt 99\nnews 5 6\nsoftirq 8 1 2\n";
	struct wm_kproc_plan *all = plan("stat", text), *each = plan("cpu", text);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];
	const char *at = text, *end = text + strlen(text);
	uint32_t cpu;

	(void)state;
	assert_string_equal(wm_kproc_plan_schema(all),
			    "user_ns:u8;nice_ns:u8;system_ns:u8;idle_ns:u8;intr:u8;ctxt:u8;news:u8;"
			    "softirq:u8;softirq_hi:u8;softirq_timer:u8");
	assert_int_equal(put(all, text, to), 80);
	assert_int_equal(u64_at(to, 0), 300000000);
	assert_int_equal(u64_at(to, 32), 77);
	assert_int_equal(u64_at(to, 48), 5);
	assert_int_equal(u64_at(to, 72), 2);
	assert_string_equal(wm_kproc_plan_schema(each),
			    "cpu:u4;user_ns:u8;nice_ns:u8;system_ns:u8;idle_ns:u8");
	assert_int_equal(wm_kproc_put(each, &at, end, to), 36);
	assert_int_equal(wm_kproc_put(each, &at, end, to), 36);
	memcpy(&cpu, to, sizeof(cpu));
	assert_int_equal(le32toh(cpu), 12);
	assert_int_equal(u64_at(to, 28), 40000000);
	assert_int_equal(wm_kproc_put(each, &at, end, to), 0);
	wm_kproc_plan_destroy(all);
	wm_kproc_plan_destroy(each);
}

static void a_bad_row_costs_itself_alone(void **state)
{
	const char *text = "   7 0 sda 1 2 3 4\n   7 1 sdb 1 x 3 4\n   7 2\n   7 3 sdc 5 6 7 8\n";
	struct wm_kproc_plan *p = plan("diskstats", text);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];
	const char *at = text, *end = text + strlen(text);

	(void)state;
	assert_string_equal(wm_kproc_plan_schema(p),
			    "dev:s;reads:u8;reads_merged:u8;read_bytes:u8;reading_ns:u8");
	assert_int_equal(wm_kproc_put(p, &at, end, to), 36);
	assert_string_equal((char *)to, "sda");
	assert_int_equal(u64_at(to, 4 + 16), 3 * 512);
	assert_int_equal(u64_at(to, 4 + 24), 4000000);
	assert_int_equal(wm_kproc_put(p, &at, end, to), -EBADMSG);
	assert_int_equal(wm_kproc_put(p, &at, end, to), -EBADMSG);
	assert_int_equal(wm_kproc_put(p, &at, end, to), 36);
	assert_string_equal((char *)to, "sdc");
	assert_int_equal(wm_kproc_put(p, &at, end, to), 0);
	wm_kproc_plan_destroy(p);
}

static void newer_columns_have_a_place(void **state)
{
	struct wm_kproc_plan *p = plan("loadavg", "0.42 1.50 10.00 3/162 32667 12 13\n");
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_int_equal(wm_kproc_plan_nr_fields(p), 8);
	assert_string_equal(wm_kproc_plan_field(p, 6)->name, "column7");
	assert_int_equal(put(p, "0.42 1.50 10.00 3/162 32667 12 13\n", to), 64);
	assert_true(f64_at(to, 0) == 0.42 && f64_at(to, 8) == 1.5 && f64_at(to, 16) == 10);
	assert_int_equal(u64_at(to, 24), 3);
	assert_int_equal(u64_at(to, 32), 162);
	assert_int_equal(put(p, "0.42 1.50 10.00 3/162 32667 12\n", to), -EBADMSG);
	assert_int_equal(put(p, "0. 1.50 10.00 3/162 32667 12 13\n", to), -EBADMSG);
	wm_kproc_plan_destroy(p);
}

static void net_devices_have_no_header(void **state)
{
	const char *text = "Inter-|   Receive    |  Transmit\n face |bytes |bytes\n"
			   "    lo:3267 29 0 0 0 0 0 0 3268 30 0 0 0 0 0 0\n";
	struct wm_kproc_plan *p = plan("net_dev", text);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_int_equal(wm_kproc_plan_nr_fields(p), 17);
	assert_int_equal(put(p, text, to), 3 + 16 * 8);
	assert_string_equal((char *)to, "lo");
	assert_int_equal(u64_at(to, 3), 3267);
	assert_int_equal(u64_at(to, 3 + 64), 3268);
	wm_kproc_plan_destroy(p);
	p = plan("net_dev", ""); /* without a device, the columns are those of the table */
	assert_int_equal(put(p, text, to), 3 + 16 * 8);
	wm_kproc_plan_destroy(p);
}

static void pressure_says_its_values_names(void **state)
{
	const char *text = "some avg10=0.42 avg60=0.73 avg300=1.26 total=15831844\n"
			   "full avg10=0.00 avg60=0.00 avg300=0.01 total=3726592\n";
	struct wm_kproc_plan *p = plan("pressure_io", text);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_int_equal(wm_kproc_plan_nr_fields(p), 8);
	assert_string_equal(wm_kproc_plan_field(p, 3)->name, "some_total_ns");
	assert_string_equal(wm_kproc_plan_field(p, 0)->unit, "percent");
	assert_int_equal(put(p, text, to), 64);
	assert_true(f64_at(to, 8) == 0.73);
	assert_int_equal(u64_at(to, 24), 15831844000ull);
	wm_kproc_plan_destroy(p);
}

#define STAT_REST                                                                                  \
	" R 7 32656 11384 0 -1 4194304 101 0 0 0 5 6 0 0 20 -5 1 0 108346 3133440 366 "            \
	"18446744073709551615 1 2 3 0 0 0 0 0 0 0 0 0 17 1 0 0 4 0 0 1 2 3 4 5 6 7 0\n"

static void a_comm_may_be_anything(void **state)
{
	static const char *const comms[] = {"cat", "a) R (b", ") 1 2 3",
					    "",    "\t((",    "0123456789abcde"};
	struct wm_kproc_plan *p = plan("pid_stat", "1 (x)" STAT_REST);
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];
	char text[512];

	(void)state;
	assert_memory_equal(wm_kproc_plan_schema(p), "comm:s;state:s;ppid:u8;minflt:u8;", 33);
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		size_t n = strlen(comms[i]) + 1;

		(void)snprintf(text, sizeof(text), "1 (%s)%s", comms[i], STAT_REST);
		assert_true(put(p, text, to) > 0);
		assert_string_equal((char *)to, comms[i]);
		assert_string_equal((char *)to + n, "R");
		assert_int_equal(u64_at(to, n + 2), 7);
		assert_int_equal(u64_at(to, n + 2 + 8), 101);
		assert_int_equal(u64_at(to, n + 2 + 8 * 5), 50000000); /* utime_ns */
	}
	assert_int_equal(put(p, "1 (x R 7\n", to), -EBADMSG);
	assert_int_equal(put(p, "1 x) R 7\n", to), -EBADMSG);
	assert_int_equal(put(p, "1 (x)\n", to), -EBADMSG);
	wm_kproc_plan_destroy(p);
}

static void a_kernel_thread_has_no_memory(void **state)
{
	struct wm_kproc_plan *p =
	    plan("pid_status", "Name:\tcat\nPid:\t12\nFDSize:\t256\nVmRSS:\t 16 kB\nThreads:\t1\n"
			       "SigPnd:\t0000000000000000\nnonvoluntary_ctxt_switches:\t2\n");
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	assert_string_equal(wm_kproc_plan_schema(p),
			    "FDSize:u8;VmRSS_bytes:u8;Threads:u8;nonvoluntary_ctxt_switches:u8");
	assert_int_equal(put(p, "FDSize:\t64\nThreads:\t3\nnonvoluntary_ctxt_switches:\t9\n", to),
			 32);
	assert_int_equal(u64_at(to, 0), 64);
	assert_int_equal(u64_at(to, 8), 0);
	assert_int_equal(u64_at(to, 16), 3);
	assert_int_equal(u64_at(to, 24), 9);
	wm_kproc_plan_destroy(p);
}

static void more_counters_than_fields_are_counted(void **state)
{
	struct wm_text t;
	struct wm_kproc_plan *p;
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];

	(void)state;
	wm_text_init(&t);
	for (unsigned i = 0; i < WM_CLASS_FIELDS_MAX + 44; i++)
		wm_text_f(&t, "counter_%u %u\n", i, i);
	wm_text_char(&t, '\0');
	p = plan("vmstat", t.data);
	assert_int_equal(wm_kproc_plan_nr_fields(p), WM_CLASS_FIELDS_MAX);
	assert_int_equal(wm_kproc_plan_left_out(p), 44);
	assert_int_equal(put(p, t.data, to), 8 * WM_CLASS_FIELDS_MAX);
	assert_int_equal(u64_at(to, 8 * 255), 255);
	wm_kproc_plan_destroy(p);
	wm_text_done(&t);
}

static void what_is_no_such_file_is_refused(void **state)
{
	static const char *const texts[] = {"",    "\n\n",   "pgfault\n", "pgfault x\n",
					    ":::", "a b c\n"};
	struct wm_diag diag = {.offset = -1};
	struct wm_kproc_plan *p;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(wm_kproc_plan_create(kit_proc_event("vmstat"), &machine, texts[i],
						      strlen(texts[i]), &p, &diag),
				 -EBADMSG);
	assert_non_null(strstr(diag.sentence, "no counter"));
}

/* --- this machine's files, intact and damaged ---------------------------------------------- */

/*
 * Returns the text of an event's file, which the caller frees; NULL when this kernel does not have
 * the file.
 */
static char *real_text(const struct wm_proc_event *e, size_t *ret_bytes)
{
	char path[64], *text = NULL;

	(void)snprintf(path, sizeof(path), "/proc/%s%s", e->of_task ? "self/" : "", e->file);
	return wm_file_read(AT_FDCWD, path, TEXT_MAX, &text, ret_bytes) < 0 ? NULL : text;
}

/* Checks that the schema can be used to declare an event. */
static void check_schema(const struct wm_proc_event *e, const struct wm_kproc_plan *p)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_class *class;
	size_t bytes;
	unsigned char *desc =
	    wm_desc_simple(WM_PROC_PROVIDER, e->name, wm_kproc_plan_schema(p), NULL, 0, &bytes);

	assert_non_null(desc);
	if (wm_class_parse(desc, bytes, NULL, &class, &diag))
		fail_msg("proc:%s: %s", e->name, diag.sentence);
	assert_int_equal(class->nr_fields, wm_kproc_plan_nr_fields(p));
	wm_class_destroy(class);
	free(desc);
}

static size_t nr_records(const struct wm_kproc_plan *p, const char *text, size_t bytes,
			 size_t *ret_bad)
{
	unsigned char to[WM_PROC_RECORD_BYTES_MAX];
	const char *at = text;
	size_t nr = 0;
	int64_t n;

	*ret_bad = 0;
	while ((n = wm_kproc_put(p, &at, text + bytes, to))) {
		assert_true(n <= (int64_t)sizeof(to) && (n > 0 || n == -EBADMSG));
		assert_true(at > text && at <= text + bytes);
		nr += n > 0;
		*ret_bad += n < 0;
	}
	return nr;
}

/*
 * Truncates the text at 500 places and changes bytes: the only results may be records and -EBADMSG.
 */
static void damage(const struct wm_kproc_plan *p, const char *text, size_t bytes)
{
	uint32_t seed = 12345;
	size_t bad;

	for (size_t i = 0; i < 500; i++) {
		size_t n = bytes * i / 500;
		char *copy = malloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, text, n);
		(void)nr_records(p, copy, n, &bad);
		for (int k = 0; n && k < 8; k++) {
			seed = seed * 1664525u + 1013904223u;
			copy[(seed >> 8) % n] = "\0\n\t 9:=-.(x"[(seed >> 4) % 11];
			(void)nr_records(p, copy, n, &bad);
		}
		free(copy);
	}
}

static void this_machines_files_are_read(void **state)
{
	const struct wm_proc_event *e;
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; (e = wm_kproc_event(i)); i++) {
		struct wm_kproc_plan *p;
		size_t bytes, bad;
		char *text = real_text(e, &bytes);

		if (!text)
			continue;
		assert_int_equal(wm_kproc_plan_create(e, &machine, text, bytes, &p, NULL), 0);
		check_schema(e, p);
		if (nr_records(p, text, bytes, &bad) == 0 && strcmp(e->name, "diskstats") != 0 &&
		    strcmp(e->name, "net_dev") != 0)
			fail_msg("proc:%s: no record", e->name);
		assert_int_equal(bad, 0);
		damage(p, text, bytes);
		wm_kproc_plan_destroy(p);
		free(text);
		seen++;
	}
	/* At least vmstat, meminfo, stat, loadavg, and the per-process files. */
	assert_true(seen >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_are_fields_in_bytes),
	    cmocka_unit_test(numbers_end_at_64_bits),
	    cmocka_unit_test(stat_is_the_machine_and_each_cpu),
	    cmocka_unit_test(a_bad_row_costs_itself_alone),
	    cmocka_unit_test(newer_columns_have_a_place),
	    cmocka_unit_test(net_devices_have_no_header),
	    cmocka_unit_test(pressure_says_its_values_names),
	    cmocka_unit_test(a_comm_may_be_anything),
	    cmocka_unit_test(a_kernel_thread_has_no_memory),
	    cmocka_unit_test(more_counters_than_fields_are_counted),
	    cmocka_unit_test(what_is_no_such_file_is_refused),
	    cmocka_unit_test(this_machines_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
