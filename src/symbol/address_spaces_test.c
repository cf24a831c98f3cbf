/* SPDX-License-Identifier: MIT */
/*
 * Tests mappings over time: overlaps, fork, exec, the kernel; and compares random changes with a
 * model.
 */
#include "trace/event_test_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbol/address_spaces.h"

#define EXEC 0x2000u /* misc of perf:comm after exec, and of a synthesized perf:fork */

struct world {
	struct wm_modules *modules;
	struct wm_spaces *spaces;
};

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->modules = wm_modules_create();
	w->spaces = wm_spaces_create(w->modules);
	assert_non_null(w->spaces);
	*state = w;
	return 0;
}

static int end_world(void **state)
{
	struct world *w = *state;

	wm_spaces_destroy(w->spaces);
	wm_modules_destroy(w->modules);
	free(w);
	return 0;
}

static void feed(struct world *w, struct kit_event *k)
{
	assert_int_equal(wm_spaces_feed(w->spaces, &k->event), 0);
}

static void mmap_as(struct world *w, int32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		    const char *name, unsigned misc, unsigned prot)
{
	struct kit_event k;

	kit_begin(&k, "perf:mmap2");
	kit_number(&k, "pid", (uint64_t)(int64_t)pid);
	kit_number(&k, "addr", addr);
	kit_number(&k, "len", len);
	kit_number(&k, "pgoff", pgoff);
	kit_number(&k, "prot", prot);
	kit_number(&k, "misc", misc);
	kit_text(&k, "filename", name);
	feed(w, &k);
}

static void map(struct world *w, int32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		const char *name)
{
	mmap_as(w, pid, addr, len, pgoff, name, WM_MODE_USER, 5);
}

static void task(struct world *w, const char *what, int32_t pid, int32_t ppid, unsigned misc)
{
	struct kit_event k;

	kit_begin(&k, what);
	kit_number(&k, "pid", (uint64_t)pid);
	kit_number(&k, "tid", (uint64_t)pid);
	kit_number(&k, "ppid", (uint64_t)ppid);
	kit_number(&k, "misc", misc);
	feed(w, &k);
}

/* Returns "path+address", or "" for an unknown address. */
static const char *at(struct world *w, int32_t pid, uint64_t address, enum wm_event_mode mode)
{
	static char text[256];
	struct wm_place p;

	if (!wm_spaces_find(w->spaces, pid, address, mode, &p))
		return "";
	snprintf(text, sizeof(text), "%s+%llx%s", p.module->path, (unsigned long long)p.address,
		 p.is_offset ? "" : "!");
	return text;
}

static void test_a_new_mapping_cuts_what_it_overlaps(void **state)
{
	struct world *w = *state;

	map(w, 7, 0x10000, 0x9000, 0x1000, "/bin/a");
	map(w, 7, 0x13000, 0x2000, 0, "/lib/b");
	assert_string_equal(at(w, 7, 0x12fff, WM_MODE_USER), "/bin/a+3fff");
	assert_string_equal(at(w, 7, 0x13000, WM_MODE_USER), "/lib/b+0");
	assert_string_equal(at(w, 7, 0x14fff, WM_MODE_UNKNOWN), "/lib/b+1fff");
	assert_string_equal(at(w, 7, 0x15000, WM_MODE_USER), "/bin/a+6000");
	assert_string_equal(at(w, 7, 0x19000, WM_MODE_USER), "");
	assert_string_equal(at(w, 8, 0x13000, WM_MODE_USER), "");
	map(w, 7, 0, UINT64_MAX, 0, "/all");
	assert_string_equal(at(w, 7, 0x15000, WM_MODE_USER), "/all+15000");
	/* its end would wrap: it ends at the top of memory */
	map(w, 7, 0xffffffffffffff00, UINT64_MAX, 0, "/beyond");
	assert_string_equal(at(w, 7, 0xffffffffffffff10, WM_MODE_USER), "/beyond+10");
	assert_string_equal(at(w, 7, 0x10, WM_MODE_USER), "/all+10");
	map(w, 7, 0x20, 0, 0, "/nothing");
	assert_string_equal(at(w, 7, 0x20, WM_MODE_USER), "/all+20");
}

static void test_fork_shares_and_exec_puts_aside(void **state)
{
	struct world *w = *state;
	uint32_t processes;
	uint64_t mappings;

	for (uint64_t i = 0; i < 1000; i++)
		map(w, 1, 0x1000 * i, 0x1000, 0, i & 1 ? "/lib/b" : "/bin/a");
	for (int32_t child = 2; child < 500; child++)
		task(w, "perf:fork", child, 1, 0);
	wm_spaces_size(w->spaces, &processes, &mappings);
	assert_int_equal(processes, 499);
	assert_in_range(mappings, 990, 1010); /* the children share their mappings */
	map(w, 3, 0, 0x800, 0, "/bin/c");
	assert_string_equal(at(w, 3, 0x10, WM_MODE_USER), "/bin/c+10");
	assert_string_equal(at(w, 1, 0x10, WM_MODE_USER), "/bin/a+10");
	assert_string_equal(at(w, 2, 0x1010, WM_MODE_USER), "/lib/b+10");
	task(w, "perf:comm", 2, 0, 0); /* only sets the name */
	assert_string_equal(at(w, 2, 0x1010, WM_MODE_USER), "/lib/b+10");
	task(w, "perf:comm", 2, 0, EXEC);
	map(w, 2, 0x1000, 0x2000, 0, "/bin/new");
	assert_string_equal(at(w, 2, 0x1010, WM_MODE_USER), "/bin/new+10");
	/* the program that called exec */
	assert_string_equal(at(w, 2, 0x5010, WM_MODE_USER), "/lib/b+10");
	task(w, "perf:comm", 2, 0, EXEC);
	assert_string_equal(at(w, 2, 0x5010, WM_MODE_USER), "");
	assert_string_equal(at(w, 1, 0x1010, WM_MODE_USER), "/lib/b+10");
	task(w, "perf:fork", 9000, 1, EXEC); /* synthesized by perf: the process existed before */
	assert_string_equal(at(w, 9000, 0x10, WM_MODE_USER), "");
	task(w, "perf:fork", 1, 1, 0); /* a thread */
	assert_string_equal(at(w, 1, 0x10, WM_MODE_USER), "/bin/a+10");
}

/* When the kernel has reported a process's mappings, the process's own records are ignored. */
static void test_who_is_watched_says_nothing_new(void **state)
{
	struct world *w = *state;

	map(w, 7, 0x10000, 0x9000, 0, "/bin/a");
	task(w, "waymark:process", 7, 1, 0);
	assert_string_equal(at(w, 7, 0x10010, WM_MODE_USER), "/bin/a+10");
	task(w, "perf:fork", 8, 7, 0);
	task(w, "waymark:process", 8, 7, 0);
	assert_string_equal(at(w, 8, 0x10010, WM_MODE_USER), "/bin/a+10");
	/* without its own records, it has its parent's mappings */
	task(w, "waymark:process", 9, 8, 0);
	assert_string_equal(at(w, 9, 0x10010, WM_MODE_USER), "/bin/a+10");
}

static void test_the_dead_are_few(void **state)
{
	struct world *w = *state;
	uint32_t processes;
	uint64_t mappings;

	map(w, 1, 0x1000, 0x1000, 0, "/bin/a");
	for (int32_t child = 2; child < 50000; child++) {
		task(w, "perf:fork", child, 1, 0);
		map(w, child, 0x2000, 0x1000, 0, "/lib/b");
		task(w, "perf:exit", child, 1, 0);
		assert_string_equal(at(w, child, 0x2000, WM_MODE_USER), "/lib/b+0");
	}
	wm_spaces_size(w->spaces, &processes, &mappings);
	assert_int_equal(processes, WM_SPACES_DEAD_MAX + 1);
	assert_true(mappings <= 2 * processes);
	assert_string_equal(at(w, 1, 0x1000, WM_MODE_USER), "/bin/a+0");
	assert_string_equal(at(w, 49999, 0x2000, WM_MODE_USER), "/lib/b+0");
	assert_string_equal(at(w, 40000, 0x2000, WM_MODE_USER), "");
}

static void test_the_kernel_has_a_space_of_its_own(void **state)
{
	struct world *w = *state;
	struct kit_event k;
	struct wm_place p;

	mmap_as(w, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text",
		WM_MODE_KERNEL, 4);
	mmap_as(w, -1, 0xffffffffc0000000, 0x4000, 0, "/lib/modules/6.1/kernel/snd/snd-hda.ko.xz",
		WM_MODE_KERNEL, 4);
	assert_string_equal(at(w, 7, 0xffffffff81000010, WM_MODE_KERNEL),
			    "[kernel.kallsyms]+ffffffff81000010!");
	assert_string_equal(at(w, 7, 0xffffffffc0000010, WM_MODE_UNKNOWN),
			    "[snd_hda]+ffffffffc0000010!");
	assert_string_equal(at(w, 7, 0xffffffffc0000010, WM_MODE_USER), "");
	/* an address in .init.text */
	assert_string_equal(at(w, 7, 0xffffffff82000010, WM_MODE_KERNEL),
			    "[kernel.kallsyms]+ffffffff82000010!");
	assert_string_equal(at(w, 7, 0xfffffffff2000010, WM_MODE_KERNEL), "");
	assert_string_equal(at(w, 7, 0xffffffffc0000010, WM_MODE_GUEST_KERNEL), "");
	assert_true(wm_spaces_find(w->spaces, 7, 0xffffffffc0000010, WM_MODE_KERNEL, &p));
	assert_string_equal(p.module->file, "/lib/modules/6.1/kernel/snd/snd-hda.ko.xz");
	for (int removed = 0; removed < 2; removed++) {
		kit_begin(&k, "perf:ksymbol");
		kit_number(&k, "addr", 0xffffffffc1000000);
		kit_number(&k, "len", 0x100);
		kit_number(&k, "flags", (uint64_t)removed);
		kit_text(&k, "name", "bpf_prog_1");
		feed(w, &k);
		assert_string_equal(at(w, 7, 0xffffffffc1000010, WM_MODE_KERNEL),
				    removed ? "" : "bpf_prog_1+10!");
	}
}

static void test_a_kernel_nobody_described(void **state)
{
	assert_string_equal(at(*state, 7, 0xffffffff81000010, WM_MODE_UNKNOWN),
			    "[kernel.kallsyms]+ffffffff81000010!");
	assert_string_equal(at(*state, 7, 0x400000, WM_MODE_KERNEL), "");
}

static void test_memory_without_a_file(void **state)
{
	struct world *w = *state;
	struct wm_place p;

	map(w, 7, 0x1000, 0x1000, 0x1000, "//anon");
	mmap_as(w, 7, 0x3000, 0x1000, 0x3000, "//anon", WM_MODE_USER, 3);
	mmap_as(w, 7, 0x5000, 0x1000, 0, "[heap]", WM_MODE_USER, 3);
	map(w, 7, 0x7000, 0x1000, 0, "[vdso]");
	map(w, 7, 0x7fff00000000, 0x1000, 0, "[vdso]");
	assert_string_equal(at(w, 7, 0x1010, WM_MODE_USER), "/tmp/perf-7.map+1010!");
	assert_true(wm_spaces_find(w->spaces, 7, 0x1010, WM_MODE_USER, &p));
	assert_string_equal(p.module->name, "[JIT] tid 7");
	assert_string_equal(at(w, 7, 0x3010, WM_MODE_USER), "//anon+3010!");
	assert_string_equal(at(w, 7, 0x5010, WM_MODE_USER), "[heap]+5010!");
	assert_string_equal(at(w, 7, 0x7010, WM_MODE_USER), "[vdso]+10");
	assert_true(wm_spaces_find(w->spaces, 7, 0x7010, WM_MODE_USER, &p));
	assert_int_equal(p.module->kind, WM_MODULE_VDSO32);
	assert_string_equal(at(w, 7, 0x7fff00000010, WM_MODE_USER), "[vdso]+10");
	assert_true(wm_spaces_find(w->spaces, 7, 0x7fff00000010, WM_MODE_USER, &p));
	assert_int_equal(p.module->kind, WM_MODULE_VDSO);
}

static void test_builds_tell_files_of_one_path_apart(void **state)
{
	static const unsigned char one[20] = {1}, two[20] = {2};
	struct world *w = *state;
	struct wm_place p, q;
	struct kit_event k;

	for (int32_t pid = 1; pid <= 2; pid++) {
		kit_begin(&k, "waymark:module");
		kit_number(&k, "pid", (uint64_t)pid);
		kit_number(&k, "base", 0x400000);
		kit_number(&k, "start", 0x401000);
		kit_number(&k, "bytes", 0x1000);
		kit_number(&k, "unload", 0);
		kit_bytes(&k, "build_id", pid == 1 ? one : two, 20);
		kit_text(&k, "path", "/lib/b");
		feed(w, &k);
	}
	assert_true(wm_spaces_find(w->spaces, 1, 0x401010, WM_MODE_USER, &p));
	assert_true(wm_spaces_find(w->spaces, 2, 0x401010, WM_MODE_USER, &q));
	assert_int_equal(p.address, 0x1010);
	assert_false(p.is_offset);
	assert_ptr_not_equal(p.module, q.module);
	assert_memory_equal(q.module->build_id, two, 20);
	map(w, 3, 0x401000, 0x1000, 0, "/lib/b");
	assert_int_equal(wm_modules_build_id(w->modules, "/lib/b", 6, two, 20), 0);
	assert_int_equal(wm_modules_build_id(w->modules, "/lib/c", 6, one, 20), 0);
	map(w, 3, 0x501000, 0x1000, 0, "/lib/c");
	assert_true(wm_spaces_find(w->spaces, 3, 0x401010, WM_MODE_USER, &p));
	assert_memory_equal(p.module->build_id, two, 20);
	assert_true(wm_spaces_find(w->spaces, 3, 0x501010, WM_MODE_USER, &p));
	assert_memory_equal(p.module->build_id, one, 20);
	assert_true(wm_spaces_find(w->spaces, 1, 0x401010, WM_MODE_USER, &p));
	assert_memory_equal(p.module->build_id, one, 20);
	k.items[4].u = 1; /* unload */
	feed(w, &k);
	assert_string_equal(at(w, 2, 0x401010, WM_MODE_USER), "");
}

static void test_lttng_says_the_build_afterwards(void **state)
{
	static const unsigned char id[20] = {9, 8};
	struct world *w = *state;
	struct kit_event k;
	struct wm_place p;

	for (int pic = 0; pic < 2; pic++) {
		kit_begin(&k, "lttng_ust_statedump:bin_info");
		k.event.pid = 5;
		kit_number(&k, "baddr", pic ? 0x7000000 : 0x400000);
		kit_number(&k, "memsz", 0x2000);
		kit_text(&k, "path", pic ? "/lib/b" : "/bin/a");
		kit_number(&k, "is_pic", (uint64_t)pic);
		feed(w, &k);
	}
	kit_begin(&k, "lttng_ust_statedump:build_id");
	k.event.pid = 5;
	kit_number(&k, "baddr", 0x7000000);
	kit_bytes(&k, "build_id", id, 20);
	feed(w, &k);
	assert_string_equal(at(w, 5, 0x400010, WM_MODE_USER), "/bin/a+400010!");
	assert_string_equal(at(w, 5, 0x7000010, WM_MODE_USER), "/lib/b+10!");
	assert_true(wm_spaces_find(w->spaces, 5, 0x7000010, WM_MODE_USER, &p));
	assert_memory_equal(p.module->build_id, id, 20);
}

/* Compares random mappings and holes with an array of each page's owner. */
static void test_what_is_found_is_what_a_model_says(void **state)
{
	enum { PAGES = 64, NAMES = 16 };
	struct world *w = *state;
	int model[PAGES] = {0};
	uint64_t seed = 88172645463325252ull;

	for (int round = 0; round < 20000; round++) {
		uint64_t from, to;
		char name[16], want[32];
		int who;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		from = seed % PAGES;
		to = from + (seed >> 16) % (PAGES - from) / 4 + 1;
		who = (int)(seed >> 32) % (NAMES + 3) - 2;
		snprintf(name, sizeof(name), "/n%d", who);
		if (who > 0)
			map(w, 1, from << 12, (to - from) << 12, from << 12, name);
		else
			wm_spaces_unmap(w->spaces, 1, from << 12, to << 12);
		for (uint64_t i = from; i < to; i++)
			model[i] = who > 0 ? who : 0;
		from = (seed >> 40) % PAGES;
		snprintf(want, sizeof(want), "/n%d+%llx", model[from],
			 (unsigned long long)(from << 12));
		assert_string_equal(at(w, 1, from << 12, WM_MODE_USER), model[from] ? want : "");
	}
}

static void test_a_process_has_not_more_than_so_many(void **state)
{
	struct world *w = *state;

	for (uint64_t i = 0; i < WM_SPACE_MAPPINGS_MAX + 100; i++)
		map(w, 1, 0x2000 * i, 0x1000, 0, "/bin/a");
	assert_int_equal(wm_spaces_nr_refused(w->spaces), 100);
	assert_string_equal(at(w, 1, 0x2000, WM_MODE_USER), "/bin/a+0");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, make_world, end_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_new_mapping_cuts_what_it_overlaps),
	    TEST(test_fork_shares_and_exec_puts_aside),
	    TEST(test_who_is_watched_says_nothing_new),
	    TEST(test_the_dead_are_few),
	    TEST(test_the_kernel_has_a_space_of_its_own),
	    TEST(test_a_kernel_nobody_described),
	    TEST(test_memory_without_a_file),
	    TEST(test_builds_tell_files_of_one_path_apart),
	    TEST(test_lttng_says_the_build_afterwards),
	    TEST(test_what_is_found_is_what_a_model_says),
	    TEST(test_a_process_has_not_more_than_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
