/* SPDX-License-Identifier: MIT */
/*
 * print_test.c - compares print forms, as the kernel's macros expand them, with the text that the
 * kernel prints for a record; tests hostile forms and records.
 */
#include "kdata/print.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/suite_test_kit.h"
#include "kdata/format_test_kit.h"
#include "kdata/formats.h"
#include "kdata/print_test_kit.h"

/* The record that every form below prints. It has the fields of kit_all. */
struct record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint8_t a;
	int8_t b;
	int16_t c;
	uint8_t d, gap[3];
	uint64_t text;
	uint8_t mac[6], gap2[2];
	uint8_t ip[4];
	uint8_t odd[12];
	uint32_t words, name, cpus, gap3;
	uint64_t e;
	int64_t f;
	uint32_t word[2];
	char string[8];
	uint64_t cpu[2];
};

static const struct record record = {
    .type = 9,
    .pid = 77,
    .a = 200,
    .b = -3,
    .c = -300,
    .d = 1,
    .text = 0xffffffff81000100,
    .mac = {0, 1, 2, 0xaa, 0xbb, 0xcc},
    .ip = {10, 1, 2, 3},
    .odd = {0x11, 0x22},
    .words = 8u << 16 | 80,
    .name = 8u << 16 | 32, /* relative to the end of the word, at offset 56 */
    .cpus = 16u << 16 | 96,
    .e = 0xffffffff81000110,
    .f = -5,
    .word = {7, 0xdeadbeef},
    .string = "hello",
    .cpu = {0x3f1, 1},
};

static struct wm_kformats *known_kernel(void)
{
	static const char symbols[] = "ffffffff81000000 T _text\nffffffff81000100 t do_it\t[mod]\n"
				      "ffffffff81000200 T _end\n";
	static const char printk[] = "0xffffffff81000100 : \"tick \\\"x\\\"\\n\"\n";
	struct wm_kmachine m;
	struct wm_kformats *k;

	wm_kmachine_init(&m, 8, false);
	k = wm_kformats_create(&m);
	assert_non_null(k);
	assert_int_equal(wm_kformats_add_symbols(k, symbols, sizeof(symbols) - 1), 0);
	assert_int_equal(wm_kformats_add_printk(k, printk, sizeof(printk) - 1), 0);
	assert_int_equal(wm_kformats_seal(k), 0);
	return k;
}

/*
 * Formats a record with a form; the text begins with "FIELDS: " when the form could not be
 * compiled. Returns the number of fields that it shows in hexadecimal.
 */
static unsigned run(const char *form, const void *bytes, uint32_t nr, struct wm_text *out)
{
	struct wm_kformats *k = known_kernel();
	const struct wm_kformat *f;
	const struct wm_kprint *p;
	struct wm_arena arena;
	char *text = NULL;
	unsigned nr_hex;

	wm_arena_init(&arena, 1 << 24);
	assert_true(asprintf(&text, "%.*sprint fmt: %s",
			     (int)(strstr(kit_all, "print fmt") - kit_all), kit_all, form) > 0);
	assert_int_equal(
	    wm_kformat_parse(&arena, wm_kformats_machine(k), "s", text, strlen(text), &f, NULL), 0);
	assert_int_equal(wm_kprint_compile(&arena, wm_kformats_machine(k), f, &p, NULL), 0);
	nr_hex = kit_print_check_hex(wm_kformats_machine(k), f, p);
	wm_text_init(out);
	if (kit_print_is_fields(p))
		wm_text_str(out, "FIELDS: ");
	wm_kprint_run(p, k, bytes, nr, out);
	assert_false(out->failed);
	free(text);
	wm_arena_done(&arena);
	wm_kformats_destroy(k);
	return nr_hex;
}

static void expect(const char *form, const char *want)
{
	struct wm_text out;

	run(form, &record, sizeof(record), &out);
	assert_string_equal(out.data ? out.data : "", want);
	wm_text_done(&out);
}

static void test_numbers(void **state)
{
	expect("\"%d %u %x %X %o %i\", REC->a, REC->a, REC->a, REC->a, REC->a, REC->b",
	       "200 200 c8 C8 310 -3");
	expect("\"%d %u %hu %hhu %lld %llu\", REC->c, REC->c, REC->c, REC->c, REC->f, REC->f",
	       "-300 4294966996 65236 212 -5 18446744073709551611");
	expect("\"%5d|%-5d|%05d|%+d|% d|%#x|%#o|%.4d|%8.3d|%08x\", REC->a, REC->a, REC->a, REC->a, "
	       "REC->a, REC->a, REC->a, REC->a, REC->a, REC->a",
	       "  200|200  |00200|+200| 200|0xc8|0310|0200|     200|000000c8");
	expect("\"%05d %*d %.*s %c%c %% %zu\", REC->b, 6, REC->b, 3, \"abcdef\", 'x', 0x41, "
	       "sizeof(u64)",
	       "-0003     -3 abc xA % 8");
	expect("\"%lx %lX %Lu\", REC->e, REC->e, REC->e",
	       "ffffffff81000110 FFFFFFFF81000110 18446744071578845456");
	expect("\"plain\\ttext\\n\"", "plain\ttext\n");
	expect("\"a\" \"b%s\" \"c\", \"X\" \"Y\"", "abXYc");
}

/* Results that require C's type rules. */
static void test_expressions(void **state)
{
	expect("\"%d %d %d\", REC->f < 0, REC->b < 0, REC->a > 199", "1 1 1");
	expect("\"%d %d\", REC->f < 0u, (u64)REC->f < 10", "1 0");
	expect("\"%lld %lld %lld\", REC->f / 2, REC->f % 3, REC->f >> 1", "-2 -2 -3");
	expect("\"%llu %d\", (unsigned long long)REC->f >> 63, 1 << 4 | 1", "1 17");
	expect("\"%u %u\", (u8)REC->c, ~REC->a & 0xff", "212 55");
	expect("\"%d %d %d\", 2 + 3 * 4, (2 + 3) * 4, 10 - 2 - 3", "14 20 5");
	expect("\"%d %d\", REC->a / (REC->a - 200), REC->a % 0", "0 0");
	expect("\"%d,%d\", ((unsigned int) ((REC->e) >> 20)), ((unsigned int) ((REC->e) & ((1U << "
	       "20) - 1)))",
	       "-2032,272");
	expect("\"%s %s\", REC->d ? \"yes\" : \"no\", !REC->d ? \"yes\" : REC->a == 200 ? \"200\" "
	       ": \"\"",
	       "yes 200");
	expect("\"%d\", ({ int x = (REC->a); int y = (128); ((x) < (y) ? (x) : (y)); })", "128");
	expect("\"%d\", __builtin_expect(!!((unsigned long)(void *)(REC->e) >= (unsigned "
	       "long)-4095), 0)",
	       "0");
	expect("\"%x %x %d\", REC->mac[3], *(u8 *)REC->mac, (REC)->a", "aa 0 200");
	expect("\"%d %x\", ((u32 *)__get_dynamic_array(words))[0], ((u32 "
	       "*)__get_dynamic_array(words))[1]",
	       "7 deadbeef");
	expect("\"%d %c %x\", __get_dynamic_array_len(words), __get_rel_str(name)[1], "
	       "((u32 *)__get_dynamic_array(words))[2]",
	       "8 e 0");
	expect("\"%s\", __get_rel_str(name)[0] ? \" \" : \"\"", " ");
	expect("\"%d %d\", INT_MAX, REC->a", "? 200"); /* a value that only the kernel has */
	expect("\"%u %d\", jiffies_to_msecs(REC->e), HRTIMER_SOFTIRQ", "? 8");
}

static void test_helpers(void **state)
{
	expect("\"%s %s\", __print_symbolic(REC->a, { 1, \"ONE\" }, { 200, \"TWO\" }), "
	       "__print_symbolic(REC->b, { 1, \"ONE\" }, { -1, NULL })",
	       "TWO 0xfffffffffffffffd");
	expect(
	    "\"%s|%s|%s\", __print_flags(REC->a, \"|\", { 0x80, \"H\" }, {(1 << 6), \"L\"}, { 8, "
	    "\"E\" }), "
	    "__print_flags(REC->a, \", \", { 0, \"none\" }, { 0xc0UL, \"HL\" }, {SECRET, \"S\"}), "
	    "__print_flags(REC->a - 200, \"\", { 1, \"x\" })",
	    "H|L|E|HL, 0x8|");
	expect("\"%-6s|%6s|%.2s\", __print_symbolic(REC->d, { 1, \"ON\" }), __get_rel_str(name), "
	       "\"abc\"",
	       "ON    | hello|ab");
	expect("\"%s %s\", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, 3)",
	       "00 01 02 aa bb cc 000102");
	expect(
	    "\"%s %s\", __print_array(__get_dynamic_array(words), __get_dynamic_array_len(words) / "
	    "sizeof(u32), sizeof(u32)), __print_array(REC->mac, 2, 1)",
	    "{0x7,0xdeadbeef} {0x0,0x1}");
	expect("\"%s %s\", __get_bitmask(cpus), __get_cpumask(cpus)",
	       "00000000,00000001,00000000,000003f1 0,4-9,64");
	expect("\"%llu.%09u\", __print_ns_to_secs(REC->e), __print_ns_without_secs(REC->e)",
	       "18446744071.578845456");
}

static void test_pointers(void **state)
{
	expect("\"%ps %pS %pF %pS\", (void *)REC->e, (void *)REC->e, (void *)REC->text, (void "
	       "*)4096UL",
	       "do_it do_it+0x10 do_it+0x0 0x1000");
	expect("\"%p %p\", REC->text, (void *)0", "0xffffffff81000100 (nil)");
	expect("\"%s %s\", REC->text, (const char *)REC->e", "tick \"x\"\n (0xffffffff81000110)");
	expect("\"%pM %pm %pMF\", REC->mac, REC->mac, REC->mac",
	       "00:01:02:aa:bb:cc 000102aabbcc 00-01-02-aa-bb-cc");
	expect("\"%pI4 %pi4 %pI6c\", REC->ip, &REC->ip, REC->ip",
	       "10.1.2.3 010.001.002.003 (none)");
	expect("\"%*ph %3phC %*pbl\", 3, REC->mac, REC->mac, 7, __get_dynamic_array(cpus)",
	       "00 01 02 00:01:02 0,4-6");
	expect("\"%pU\", __get_dynamic_array(cpus)", "f1030000-0000-0000-0100-000000000000");
	expect("\"%pUl\", __get_dynamic_array(cpus)", "000003f1-0000-0000-0100-000000000000");
	expect("\"%pe\", (void *)REC->f", "-5");
}

static void test_forms_we_cannot_run(void **state)
{
	static const char fields[] =
	    "FIELDS: a=200 b=-3 c=-300 d=1 text=0xffffffff81000100 mac={ 0, 1, 2, 170, 187, 204 } "
	    "ip={ 50462986 } odd={ 17, 34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } words={ 7, 3735928559 } "
	    "name=hello cpus=00000000,00000001,00000000,000003f1 e=18446744071578845456 f=-5";

	expect("", fields);
	expect("\"%d\"", fields);
	expect("\"%d\", REC->nothing", fields);
	expect("\"%d\", REC->a, REC->b", fields);
	expect("\"%d\", (REC->a", fields);
	expect("\"%d\", REC->a +", fields);
	expect("\"%y\", REC->a", fields);
	expect("\"%d", fields);
	expect("REC->a", fields);
	expect("\"%s\", ({ static const char *x[] = { \"a\" }; x[REC->a]; })", fields);
}

/* Values outside a truncated record are empty or 0. */
static void test_short_records(void **state)
{
	static const char form[] =
	    "\"%u %s %s %pM %s %pU %s\", REC->a, __get_rel_str(name), __print_hex(REC->mac, 6), "
	    "REC->mac, __get_bitmask(cpus), __get_dynamic_array(cpus), __print_array("
	    "__get_dynamic_array(words), 1 << 30, 4)";

	for (uint32_t cut = 0; cut < sizeof(record); cut++) {
		unsigned char *copy = malloc(cut ? cut : 1);
		struct wm_text out;

		memcpy(copy, &record, cut);
		run(form, copy, cut, &out);
		assert_true(out.bytes < 300);
		wm_text_done(&out);
		free(copy);
	}
}

static void test_hostile_forms(void **state)
{
	char *form = malloc(300000), *at = form;
	uint64_t seed = 3;
	uint32_t rounds = kit_rounds(300, 3000);
	struct wm_text out;

	at += sprintf(at, "\"%%d\", ");
	memset(at, '(', 100000);
	strcpy(at + 100000, "1");
	run(form, &record, sizeof(record), &out);
	assert_memory_equal(out.data, "FIELDS", 6);
	wm_text_done(&out);
	for (int i = 0; i < 100000; i++, at += 2)
		memcpy(at, "1+", 2);
	strcpy(at, "1");
	run(form, &record, sizeof(record), &out);
	assert_memory_equal(out.data, "FIELDS", 6);
	wm_text_done(&out);
	for (uint32_t i = 0; i < rounds; i++) {
		size_t bytes;

		strcpy(form, strstr(i & 1 ? kit_switch : kit_enter, "print fmt:") + 10);
		for (char *p; (p = strstr(form, "prev_state")) || (p = strstr(form, "args"));)
			memcpy(p, "a         ", *p == 'p' ? 10 : 4);
		bytes = strlen(form);
		for (int j = 0; j < 3; j++) {
			static const char set[] = "()[]{}\"',;?:%*&-+<>=!~0x \\REC";

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			form[(seed >> 33) % bytes] = set[(seed >> 20) % (sizeof(set) - 1)];
		}
		run(form, &record, sizeof(record), &out);
		wm_text_done(&out);
	}
	free(form);
}

static const char *name_kernel(void *own, uint64_t address, uint64_t *ret_start)
{
	*ret_start = 0x2000;
	return address == 0x2010 ? own : NULL;
}

/* Names of others are used where the trace has none. */
static void test_names(void **state)
{
	static const char text[] =
	    "name: e\nID: 7\nformat:\n\tfield:unsigned short common_type;"
	    "\toffset:0;\tsize:2;\tsigned:0;\n\tfield:void * a;\toffset:8;"
	    "\tsize:8;\tsigned:0;\n\nprint fmt: \"%ps %pS %pB %pS\", REC->a, "
	    "REC->a, (void *)0xffffffff81000110UL, (void *)1UL\n";
	static const uint64_t words[] = {7, 0x2010};
	const struct wm_kernel_names names = {name_kernel, (void *)"elsewhere"};
	struct wm_kformats *k = known_kernel();
	const struct wm_kformat *f;
	const struct wm_kprint *p;
	struct wm_arena arena;
	struct wm_text out;

	wm_arena_init(&arena, 1 << 20);
	wm_text_init(&out);
	assert_int_equal(
	    wm_kformat_parse(&arena, wm_kformats_machine(k), "s", text, sizeof(text) - 1, &f, NULL),
	    0);
	assert_int_equal(wm_kprint_compile(&arena, wm_kformats_machine(k), f, &p, NULL), 0);
	wm_kprint_run_named(p, k, &names, (const unsigned char *)words, sizeof(words), &out);
	assert_string_equal(out.data, "elsewhere elsewhere+0x10 do_it+0x10 0x1");
	wm_text_cut(&out, 0);
	wm_kprint_run_named(p, NULL, &names, (const unsigned char *)words, sizeof(words), &out);
	assert_string_equal(out.data, "elsewhere elsewhere+0x10 0xffffffff81000110 0x1");
	wm_text_done(&out);
	wm_arena_done(&arena);
	wm_kformats_destroy(k);
}

static void test_bprint(void **state)
{
	static const char form[] =
	    "name: bprint\nID: 6\n" KIT_COMMON KIT_FIELD("unsigned long ip", 8, 8, 0)
		KIT_FIELD("const char * fmt", 16, 8, 0) KIT_FIELD(
		    "u32 buf[]", 24, 0, 0) "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n";
	static const char printk[] = "0x1000 : \"n=%d s=%-4s| l=%ld c=%c h=%hx %ps %%\"\n";
	static const char symbols[] = "1000 T here\n2000 T there\n";
	struct {
		uint64_t common, ip, fmt;
		int32_t n;
		char s[4];
		uint32_t l[2];
		char c, gap;
		uint16_t h;
		uint32_t p[2];
	} r = {6, 0x1004, 0x1000, -4, "abc", {0xffffffff, 0xffffffff}, 'z', 0, 0xbeef, {0x1001, 0}};
	struct wm_kmachine m;
	struct wm_kformats *k;
	struct wm_text out;

	wm_kmachine_init(&m, 8, false);
	k = wm_kformats_create(&m);
	assert_int_equal(wm_kformats_add(k, "ftrace", form, sizeof(form) - 1, NULL, NULL), 0);
	assert_int_equal(wm_kformats_add_printk(k, printk, sizeof(printk) - 1), 0);
	assert_int_equal(wm_kformats_add_symbols(k, symbols, sizeof(symbols) - 1), 0);
	assert_int_equal(wm_kformats_seal(k), 0);
	wm_text_init(&out);
	wm_kprint_run(wm_kformats_print(k, wm_kformats_form(k, 6)), k, (unsigned char *)&r,
		      sizeof(r), &out);
	assert_string_equal(out.data, "here: n=-4 s=abc | l=-1 c=z h=beef here %");
	wm_text_cut(&out, 0);
	wm_kprint_run(wm_kformats_print(k, wm_kformats_form(k, 6)), k, (unsigned char *)&r, 30,
		      &out);
	assert_string_equal(out.data, "here: n=-4 s=ab  | l=0 c= h=0 0x0 %");
	wm_text_done(&out);
	wm_kformats_destroy(k);
}

static void test_switch(void **state)
{
	struct {
		uint64_t common;
		char prev[16];
		int32_t pid, prio;
		int64_t state;
		char next[16];
		int32_t next_pid, next_prio;
	} r = {314, "bash", 10, 120, 0x101, "swapper/0", 0, 120};
	struct wm_kformats *k = known_kernel();
	const struct wm_kformat *f;
	const struct wm_kprint *p;
	struct wm_arena arena;
	struct wm_text out;

	wm_arena_init(&arena, 1 << 20);
	wm_text_init(&out);
	assert_int_equal(wm_kformat_parse(&arena, wm_kformats_machine(k), "sched", kit_switch,
					  sizeof(kit_switch) - 1, &f, NULL),
			 0);
	assert_int_equal(wm_kprint_compile(&arena, wm_kformats_machine(k), f, &p, NULL), 0);
	wm_kprint_run(p, k, (unsigned char *)&r, sizeof(r), &out);
	assert_string_equal(out.data, "prev_comm=bash prev_pid=10 prev_prio=120 prev_state=S+ ==> "
				      "next_comm=swapper/0 next_pid=0 next_prio=120");
	wm_text_done(&out);
	wm_arena_done(&arena);
	wm_kformats_destroy(k);
}

static void test_fields_in_hex(void **state)
{
	static const struct {
		const char *form;
		unsigned nr_hex;
	} table[] = {
	    {"\"%x\", REC->e", 1},
	    {"\"%d\", REC->e", 0},
	    {"\"%% %d %#llX\" \" %%x\", REC->a, ((unsigned long long)(REC->e))", 1},
	    {"\"%s %x\", __print_symbolic(REC->a, { 1, \"),(\" }, { ',', \"\\\"\" }), REC->e", 1},
	    {"\"%*x %.*x %08x\", REC->a, REC->b, REC->a, REC->c, REC->mac[REC->a]", 3},
	    {"\"%x %x\", REC->e & 255, REC->a ? REC->b : REC->c", 0},
	    {"\"%x\", REC->mac[SOME_MACRO]", 0},
	    {"\"%p\"", 0},
	};
	struct wm_text out;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(run(table[i].form, &record, sizeof(record), &out),
				 table[i].nr_hex);
		wm_text_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers),       cmocka_unit_test(test_expressions),
	    cmocka_unit_test(test_helpers),       cmocka_unit_test(test_pointers),
	    cmocka_unit_test(test_bprint),        cmocka_unit_test(test_forms_we_cannot_run),
	    cmocka_unit_test(test_switch),        cmocka_unit_test(test_short_records),
	    cmocka_unit_test(test_hostile_forms), cmocka_unit_test(test_names),
	    cmocka_unit_test(test_fields_in_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
