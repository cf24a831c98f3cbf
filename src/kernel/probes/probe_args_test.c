/* SPDX-License-Identifier: MIT */
/*
 * probe_args_test.c - translates users' argument lists and USDT operands to the kernel's syntax;
 * invalid ones are refused with the reason and the column.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/probes/usdt_operand.h"

static int on_name(void *data, const char *name, struct wm_probe_value *ret, struct wm_diag *diag)
{
	(void)data;
	if (!strcmp(name, "bad"))
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1, "bad is optimized out");
	if (!strcmp(name, "$retval")) {
		(void)snprintf(ret->type, sizeof(ret->type), "s16");
		return 0;
	}
	if (strcmp(name, "count") && strncmp(name, "list->", 6))
		return -ENOENT;
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "+8(%%sp)");
	(void)snprintf(ret->type, sizeof(ret->type), "s32");
	return 0;
}

static const struct wm_probe_scope entry = {.probe = "p", .named = on_name};
static const struct wm_probe_scope returns = {.probe = "p", .returns = true, .named = on_name};
static const struct wm_probe_scope narrow = {.probe = "p", .narrow = true, .named = on_name};
static const struct wm_probe_scope kernel = {.probe = "p", .in_kernel = true};

static void test_words(void **state)
{
	static const struct {
		const struct wm_probe_scope *scope;
		const char *text, *words, *recast;
	} rows[] = {
#if defined(__x86_64__)
		{&entry, "n=arg1:s32", "n=%di:s32", NULL},
		{&entry, "arg2:string,arg6", "arg2=+0(%si):string arg6=%r9:u64", NULL},
		{&entry, "a=%rdi, %r10d:u32 , b = +8(%rsp):u8", "a=%di r10d=%r10:u32 b=+8(%sp):u8",
		 NULL},
		{&entry, "+0(%di):double,x=+4(%si):float", "arg1=+0(%di):u64 x=+4(%si):u32",
		 "arg1 x"},
		{&entry, "+0(+8(%di)):string", "arg1=+0(+8(%di)):string", NULL},
		{&entry, "+8(arg3), n=-4(+16(list->next)):s32,+u0(%rdi):ustring",
		 "arg1=+8(%dx) n=-4(+16(+8(%sp))):s32 arg3=+u0(%di):ustring", NULL},
		{&entry, "arg2,+8(arg1)", "arg2=%si:u64 arg2_2=+8(%di)", NULL},
#endif
		{&entry, "count,c=count:u8", "count=+8(%sp):s32 c=+8(%sp):u8", NULL},
		{&entry, "list->head.size", "size=+8(%sp):s32", NULL},
		{&entry, "list->head.size,list->next->head.size, list->next->head.size",
		 "size=+8(%sp):s32 list_next_head_size=+8(%sp):s32 size_3=+8(%sp):s32", NULL},
		{&entry, "$comm,$stack2,five=\\5:s8", "comm=$comm stack2=$stack2 five=\\5:s8",
		 NULL},
		{&entry, "a=@0x1000:u32[4]", "a=@0x1000:u32[4]", NULL},
		{&returns, "$retval,r=$retval:string", "retval=$retval:s16 r=+0($retval):string",
		 NULL},
#if defined(__x86_64__)
		{&narrow, "arg1,n=arg3:s16,$stack4,arg12",
		 "arg1=+4(%sp):u32 n=+12(%sp):s16 "
		 "stack4=+16(%sp):u32 arg12=+48(%sp):u32",
		 NULL},
		{&narrow, "%eax,s=%ecx:string,+8(%ebp),$comm",
		 "eax=%ax:u32 s=+0(%cx):string arg3=+8(%bp):u32 comm=$comm", NULL},
		{&narrow, "count,+4(%esp):double", "count=+8(%sp):s32 arg2=+4(%sp):u64", "arg2"},
#endif
		{&kernel, "arg3:x32,$arg1", "arg3=$arg3:x32 arg1=$arg1:u64", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_diag diag = {.offset = -1};
		struct wm_probe_args args;

		wm_probe_args_init(&args);
		if (wm_probe_args_compile(rows[i].text, rows[i].scope, &args, &diag))
			fail_msg("%s: %s", rows[i].text, diag.sentence);
		assert_string_equal(args.kernel.data, rows[i].words);
		if (rows[i].recast)
			assert_string_equal(args.recast.data, rows[i].recast);
		else
			assert_int_equal(args.recast.bytes, 0);
		wm_probe_args_done(&args);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const struct wm_probe_scope *scope;
		const char *text;
		int err;
		uint32_t column;
		const char *word;
	} rows[] = {
	    {&entry, "", -EINVAL, 1, "missing"},
	    {&entry, "a=%di,,b", -EINVAL, 7, "missing"},
	    {&entry, "a=", -EINVAL, 3, "missing"},
	    {&entry, "a=%xmm0", -EINVAL, 3, "cannot read a register"},
	    {&entry, "a=%ah", -EINVAL, 3, "cannot read a register"},
	    {&entry, "a=+8(%bogus)", -EINVAL, 6, "cannot read a register"},
	    {&entry, "1a=%di", -EINVAL, 1, "a name consists"},
	    {&entry, "x=nothing", -ENOENT, 3, "debug information"},
	    {&entry, "bad", -EOPNOTSUPP, 1, "optimized out"},
	    {&entry, "$retval", -EINVAL, 1, "uretprobe"},
	    {&entry, "arg9:u8", -EINVAL, 1, "on the stack"},
	    {&returns, "arg1", -EINVAL, 1, "function's entry"},
	    {&narrow, "arg1:string", -EOPNOTSUPP, 1, "pointer in memory"},
	    {&narrow, "a=$stack2:string", -EOPNOTSUPP, 3, "pointer in memory"},
	    {&narrow, "+0(+8(%ebp)):u8", -EOPNOTSUPP, 1, "pointer in memory"},
	    {&narrow, "+0(@+0x1000)", -EOPNOTSUPP, 1, "pointer in memory"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_diag diag = {.offset = -1};
		struct wm_probe_args args;

		wm_probe_args_init(&args);
		assert_int_equal(wm_probe_args_compile(rows[i].text, rows[i].scope, &args, &diag),
				 rows[i].err);
		if (!strstr(diag.sentence, rows[i].word) || diag.column != rows[i].column)
			fail_msg("%s: column %u: %s", rows[i].text, diag.column, diag.sentence);
		wm_probe_args_done(&args);
	}
}

static void test_every_byte(void **state)
{
	static const char text[] = "n=%di:s32,+0(+8(%si)):string[2],$retval,a.b->c[1],\"x\",\\-1";

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		for (int c = 1; c < 256; c++) {
			char copy[sizeof(text)];
			struct wm_probe_args args;

			memcpy(copy, text, sizeof(text));
			copy[i] = (char)c;
			wm_probe_args_init(&args);
			(void)wm_probe_args_compile(copy, &returns, &args, NULL);
			(void)wm_probe_args_compile(copy, &kernel, &args, NULL);
			wm_probe_args_done(&args);
		}
	}
}

#if defined(__x86_64__)

static void test_operands(void **state)
{
	static const struct {
		/*
		 * What is expected: the fetched value and its type, or NULL and a word from the
		 * error message.
		 */
		const char *operand, *fetch, *type;
	} rows[] = {
	    {"-4@%edi", "%di", "s32"},
	    {"8@%r15", "%r15", "u64"},
	    {"1@%ah", "%ax", "b8@8/16"},
	    {"2@%r8w", "%r8", "u16"},
	    {"-8@-16(%rbp)", "-16(%bp)", "s64"},
	    {"4@(%rax)", "+0(%ax)", "u32"},
	    {"-4@$-7", "\\-7", "s32"},
	    {"8f@8(%rsp)", "+8(%sp)", "double"},
	    {"4f@8(%rsp)", "+8(%sp)", "float"},
	    {"%rcx", "%cx", ""},
	    {"8@there(%rip)", "@+0x5010", "u64"},
	    {"8@there+8(%rip)", "@+0x5018", "u64"},
	    {"8f@%xmm3", NULL, "cannot read"},
	    {"8@(%rax,%rbx,4)", NULL, "index"},
	    {"8@8(,%rbx,4)", NULL, "index"},
	    {"8@nowhere(%rip)", NULL, "symbol table"},
	    {"8@%fs:16", NULL, "thread"},
	    {"8@$there", NULL, "not a number"},
	    {"8x@%rax", NULL, "malformed"},
	    {"8@", NULL, "malformed"},
	    {"3@%rax", NULL, "malformed"},
	};
	struct wm_elf_symbol there = {.name = "there", .address = 0x6010, .type = 1, .binding = 1};
	struct wm_elf_symbols symbols = {.symbols = &there, .nr = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_usdt_site site = {
		    .symbols = &symbols, .address = 0x2000, .offset = 0x1000};
		struct wm_diag diag = {.offset = -1};
		struct wm_probe_value value;
		char text[64];

		(void)snprintf(text, sizeof(text), "8@%%rax %s 4@$1", rows[i].operand);
		site.operands = text;
		if (!rows[i].fetch) {
			assert_int_equal(wm_usdt_operand(&site, 1, &value, &diag), -EOPNOTSUPP);
			assert_non_null(strstr(diag.sentence, rows[i].type));
			assert_non_null(strstr(diag.sentence, "argument 2 ("));
			continue;
		}
		if (wm_usdt_operand(&site, 1, &value, &diag))
			fail_msg("%s: %s", rows[i].operand, diag.sentence);
		assert_string_equal(value.fetch, rows[i].fetch);
		assert_string_equal(value.type, rows[i].type);
		assert_int_equal(wm_usdt_operand(&site, 2, &value, &diag), 0);
		assert_int_equal(wm_usdt_operand(&site, 3, &value, &diag), -ENOENT);
	}
}

/* An i386 program's registers have 4 bytes, and an 8-byte value needs two of them. */
static void test_narrow_operands(void **state)
{
	static const struct {
		const char *operand, *fetch, *type;
	} rows[] = {
	    {"4@8(%ebp)", "+8(%bp)", "u32"},
	    {"-4@%eax", "%ax", "s32"},
	    {"-1@%bh", "%bx", "b8@8/16"},
	    {"8f@-24(%ebp)", "-24(%bp)", "double"},
	    {"8@12(%esp)", "+12(%sp)", "u64"},
	    {"-4@there", "@+0x5010", "s32"},
	    {"4@there+4", "@+0x5014", "u32"},
	    {"8@%eax", NULL, "two registers"},
	    {"4@(%eax,%ebx,4)", NULL, "index"},
	    {"4@%gs:20", NULL, "thread"},
	    {"4@there@GOTOFF(%ebx)", NULL, "symbol table"},
	};
	struct wm_elf_symbol there = {.name = "there", .address = 0x6010, .type = 1, .binding = 1};
	struct wm_elf_symbols symbols = {.symbols = &there, .nr = 1};
	struct wm_elf elf = {.narrow = true, .machine = EM_386};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wm_usdt_site site = {.elf = &elf,
					    .symbols = &symbols,
					    .address = 0x2000,
					    .offset = 0x1000,
					    .operands = rows[i].operand};
		struct wm_diag diag = {.offset = -1};
		struct wm_probe_value value;
		int err = wm_usdt_operand(&site, 0, &value, &diag);

		assert_int_equal(err, rows[i].fetch ? 0 : -EOPNOTSUPP);
		if (err) {
			assert_non_null(strstr(diag.sentence, rows[i].type));
			continue;
		}
		assert_string_equal(value.fetch, rows[i].fetch);
		assert_string_equal(value.type, rows[i].type);
	}
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_refused),
#if defined(__x86_64__)
		cmocka_unit_test(test_narrow_operands),
#endif
		cmocka_unit_test(test_every_byte),
#if defined(__x86_64__)
		cmocka_unit_test(test_operands),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
