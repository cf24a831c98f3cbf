/* SPDX-License-Identifier: MIT */
/*
 * Tests the names of addresses: in libraries that the test compiles (complete, stripped, with a
 * separate symbol file, changed, damaged), in the kernel's list, in a compiler's map, and in this
 * process's vdso.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/elf_symbols.h"
#include "symbol/symbols_int.h"
#include "symbol/vdso_int.h"

static const char source[] =
    "#define A(n, t) __attribute__((alias(#t))) int n(int)\n"
    "__attribute__((noinline)) int __one(int x) { return x * 3; }\n"
    "A(one, __one); A(weak_but_very_long_one, __one) __attribute__((weak));\n"
    "__attribute__((noinline)) static int local(int x) { return x ^ 77; }\n"
    "int _Z3runi(int x) { return local(x) + 1; }\n"
    "int puts(const char *);\n"
    "int talks(int x) { return puts(\"x\") + x; }\n"
    "__asm__(\".text\\nlabel: nop\\nnop\\n.hidden unseen\\nunseen: ret\\n\");\n";

static char folder[] = "/tmp/waymark-symbols-XXXXXX";

static void sh(const char *fmt, ...)
{
	char command[4096], text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && %s", folder, text);
	assert_int_equal(system(command), 0);
}

static void put(const char *name, const void *data, size_t bytes)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static int make_files(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	put("lib.c", source, strlen(source));
	sh("mkdir -p .debug other tmp && "
	   "gcc -O1 -g -fno-ipa-icf -shared -fPIC -Wl,--build-id,-z,lazy -o lib.so lib.c && "
	   "cp lib.so whole.so && "
	   "objcopy --only-keep-debug lib.so .debug/lib.debug && strip lib.so && "
	   "cp lib.so bare.so && "
	   "cd .debug && objcopy --add-gnu-debuglink=lib.debug ../lib.so");
	return 0;
}

static int remove_files(void **state)
{
	sh("rm -r %s", folder);
	return 0;
}

/* ---- asking ----------------------------------------------------------------------- */

struct asking {
	struct wm_modules *modules;
	struct wm_symbols *symbols;
	char path[256];
};

static void begin(struct asking *a, const struct wm_symbols_options *options)
{
	a->modules = wm_modules_create();
	a->symbols = wm_symbols_create(options);
	assert_non_null(a->symbols);
}

static void end(struct asking *a)
{
	wm_symbols_destroy(a->symbols);
	wm_modules_destroy(a->modules);
}

static struct wm_module *module(struct asking *a, enum wm_module_kind kind, const char *name,
				const void *id, size_t id_bytes)
{
	struct wm_module_key k = {
	    .kind = kind, .path = name, .pid = 7, .build_id = id, .build_id_bytes = id_bytes};

	if (kind == WM_MODULE_FILE) {
		snprintf(a->path, sizeof(a->path), "%s/%s", folder, name);
		k.path = a->path;
	}
	k.path_bytes = strlen(k.path);
	return wm_modules_get(a->modules, &k);
}

/* Returns the name at an address, or the reason why it has none. */
static const char *name_at(struct asking *a, struct wm_module *m, uint64_t address)
{
	struct wm_place place = {.module = m, .address = address};
	enum wm_unnamed why;
	const struct wm_symbol *s = wm_symbols_find(a->symbols, &place, &why);

	assert_true(s ? why == WM_NAMED : why != WM_NAMED);
	assert_ptr_equal(wm_symbols_find(a->symbols, &place, NULL), s);
	return s ? s->name : wm_unnamed_text(why);
}

/* Returns the address of `symbol` in the library, and the library's build-id. */
static uint64_t address_of(const char *symbol, unsigned char id[20])
{
	const struct wm_elf_symbol *found;
	struct wm_elf_symbols all;
	struct wm_elf *e;
	char path[256];
	uint64_t address;

	snprintf(path, sizeof(path), "%s/whole.so", folder);
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &all, NULL), 0);
	found = wm_elf_symbol_named(&all, symbol);
	assert_non_null(found);
	address = found->address;
	assert_int_equal(e->build_id_bytes, 20);
	if (id)
		memcpy(id, e->build_id, 20);
	wm_elf_symbols_done(&all);
	wm_elf_close(e);
	return address;
}

/* ---- files -------------------------------------------------------------------------- */

static void test_the_best_of_several_names(void **state)
{
	struct wm_symbols_options raw = {.raw_names = true};
	uint64_t run = address_of("_Z3runi", NULL);
	struct asking a;

	begin(&a, NULL);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "whole.so", NULL, 0),
				    address_of("one", NULL) + 1),
			    "one");
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "whole.so", NULL, 0), run),
			    "run");
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "whole.so", NULL, 0),
				    address_of("label", NULL) + 2),
			    "label");
	end(&a);
	begin(&a, &raw);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "whole.so", NULL, 0), run),
			    "_Z3runi");
	end(&a);
}

static void test_offsets_are_addresses_elsewhere(void **state)
{
	struct wm_place place = {.is_offset = true};
	uint64_t run = address_of("_Z3runi", NULL), offset, back;
	const struct wm_symbol *s;
	struct wm_elf *e;
	struct asking a;

	begin(&a, NULL);
	place.module = module(&a, WM_MODULE_FILE, "whole.so", NULL, 0);
	assert_int_equal(wm_elf_open(place.module->path, &e, NULL), 0);
	assert_int_equal(wm_elf_offset(e, run, 1, &offset), 0);
	wm_elf_close(e);
	place.address = offset;
	s = wm_symbols_find(a.symbols, &place, NULL);
	assert_non_null(s);
	assert_string_equal(s->name, "run");
	assert_true(wm_symbols_address(a.symbols, &place, &back));
	assert_int_equal(back, run);
	place.address = UINT64_MAX - 5;
	assert_null(wm_symbols_find(a.symbols, &place, NULL));
	assert_int_equal(wm_symbols_count(a.symbols, WM_NAMED), 1);
	assert_int_equal(wm_symbols_count(a.symbols, WM_UNNAMED_OUTSIDE), 1);
	end(&a);
}

static void test_symbols_beside_a_stripped_file(void **state)
{
	uint64_t local = address_of("local", NULL);
	struct wm_symbols_options alone = {.places.no_debug_files = true};
	struct asking a;

	begin(&a, NULL);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "lib.so", NULL, 0), local),
			    "local");
	assert_string_equal(
	    name_at(&a, module(&a, WM_MODULE_FILE, "bare.so", NULL, 0), address_of("talks", NULL)),
	    "talks"); /* .dynsym cannot be stripped */
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "bare.so", NULL, 0), local),
			    wm_unnamed_text(WM_UNNAMED_STRIPPED));
	end(&a);
	begin(&a, &alone);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "lib.so", NULL, 0), local),
			    wm_unnamed_text(WM_UNNAMED_STRIPPED));
	end(&a);
}

static void test_jumps_to_other_libraries(void **state)
{
	struct asking a;
	struct wm_elf *e;
	struct wm_module *m;
	const struct wm_elf_section *plt;

	begin(&a, NULL);
	m = module(&a, WM_MODULE_FILE, "lib.so", NULL, 0);
	assert_int_equal(wm_elf_open(m->path, &e, NULL), 0);
	plt = wm_elf_section(e, ".plt.sec");
	if (plt)
		assert_string_equal(name_at(&a, m, plt->address + 4), "puts@plt");
	else
		assert_string_equal(name_at(&a, m, wm_elf_section(e, ".plt")->address + 16 + 4),
				    "puts@plt");
	wm_elf_close(e);
	end(&a);
}

static void test_another_build_is_not_taken(void **state)
{
	unsigned char id[20], other[20] = {1, 2, 3};
	uint64_t talks = address_of("talks", id);
	struct wm_module *m, *n;
	const char *sentence;
	struct asking a;

	begin(&a, NULL);
	m = module(&a, WM_MODULE_FILE, "whole.so", other, 20);
	assert_string_equal(name_at(&a, m, talks), wm_unnamed_text(WM_UNNAMED_CHANGED));
	assert_int_equal(wm_symbols_state(a.symbols, m, &sentence), WM_UNNAMED_CHANGED);
	assert_string_equal(sentence, wm_unnamed_text(WM_UNNAMED_CHANGED));
	m = module(&a, WM_MODULE_FILE, "whole.so", id, 20);
	assert_string_equal(name_at(&a, m, talks), "talks");
	/* a second module of the build: it is read once */
	n = module(&a, WM_MODULE_FILE, "gone.so", id, 20);
	assert_string_equal(name_at(&a, n, talks), "talks");
	assert_ptr_equal(m->symbols, n->symbols);
	n = module(&a, WM_MODULE_FILE, "gone.so", NULL, 0);
	assert_string_equal(name_at(&a, n, talks), wm_unnamed_text(WM_UNNAMED_NO_FILE));
	assert_int_equal(wm_symbols_count(a.symbols, WM_UNNAMED_CHANGED), 2);
	end(&a);
}

static void test_short_and_long_build_ids(void **state)
{
	static const struct {
		const char *linked; /* the linker's --build-id */
		size_t bytes;       /* size of the build-id in the trace */
		bool is;
	} cases[] = {
	    {"0x0102030405060708", 8, true},
	    {"0x0102030405060708", 20, true},
	    {"0x0102030405060708", 7, false},
	    {"0x0102030405060709", 8, false},
	    {"0x0102030405060709", 20, false},
	    {"0x010203040506070800000000", 8, false},
	    {"0x010203040506070800000000000000000000000000000000", 20, true},
	};
	static const unsigned char id[20] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct asking a;
	char name[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "id%zu.so", i);
		sh("gcc -shared -fPIC -fno-ipa-icf -Wl,--build-id=%s -o %s lib.c", cases[i].linked,
		   name);
		begin(&a, NULL); /* a new cache: names are shared by build */
		assert_int_equal(
		    strcmp(name_at(&a, module(&a, WM_MODULE_FILE, name, id, cases[i].bytes), 0),
			   wm_unnamed_text(WM_UNNAMED_CHANGED)) != 0,
		    cases[i].is);
		end(&a);
	}
}

/*
 * A file is found by its build-id when it is no longer at its path: it was renamed, or is in a
 * cache or below a root.
 */
static void test_a_build_is_found_by_its_id(void **state)
{
	unsigned char id[20];
	uint64_t talks = address_of("talks", id);
	struct wm_symbols_options cached = {.places.cache = folder},
				  below = {.places.symfs = folder};
	char hex[48];
	struct asking a;

	for (int i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	sh("mkdir -p .build-id/%.2s/%s && cp whole.so .build-id/%.2s/%s/elf", hex, hex + 2, hex,
	   hex + 2);
	sh("cp whole.so moved.so");
	begin(&a, &cached);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "gone.so", id, 20), talks),
			    "talks");
	end(&a);
	begin(&a, NULL);
	assert_string_equal(
	    name_at(&a, module(&a, WM_MODULE_FILE, "moved.so (deleted)", id, 20), talks), "talks");
	end(&a);
	sh("mkdir -p .%s && cp whole.so .%s/below.so", folder, folder);
	begin(&a, &below);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "below.so", NULL, 0), talks),
			    "talks");
	end(&a);
}

/* A path in a container: only a process inside it can open the file. */
static void test_files_that_only_a_process_sees(void **state)
{
	struct wm_module_key k = {.kind = WM_MODULE_FILE, .path = "/jail.so", .path_bytes = 8};
	unsigned char id[20];
	uint64_t talks = address_of("talks", id);
	int ready[2], status;
	struct asking a;
	pid_t child;
	char c;

	sh("cp whole.so jail.so");
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		c = chroot(folder) == 0 ? 'y' : 'n';
		(void)!write(ready[1], &c, 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	begin(&a, NULL);
	k.pid = child;
	if (c == 'y') {
		assert_string_equal(name_at(&a, wm_modules_get(a.modules, &k), talks),
				    wm_unnamed_text(WM_UNNAMED_NO_FILE)); /* the build is unknown */
		k.build_id = id;
		k.build_id_bytes = 20;
		assert_string_equal(name_at(&a, wm_modules_get(a.modules, &k), talks), "talks");
	}
	end(&a);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(ready[0]);
	close(ready[1]);
	if (c != 'y')
		skip();
}

static void test_what_is_no_file_is_not_opened(void **state)
{
	struct wm_module_key k = {.kind = WM_MODULE_FILE, .path = "/dev/zero", .path_bytes = 9};
	struct asking a;

	sh("mkfifo pipe");
	begin(&a, NULL);
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "pipe", NULL, 0), 1),
			    wm_unnamed_text(WM_UNNAMED_NO_FILE));
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_FILE, "lib.c", NULL, 0), 1),
			    wm_unnamed_text(WM_UNNAMED_UNREADABLE));
	assert_string_equal(name_at(&a, wm_modules_get(a.modules, &k), 1),
			    wm_unnamed_text(WM_UNNAMED_NO_FILE));
	end(&a);
}

static void test_damaged_files_are_survived(void **state)
{
	uint64_t seed = 88172645463325252ull;
	char path[256], name[32];
	size_t bytes;
	char *data;

	snprintf(path, sizeof(path), "%s/whole.so", folder);
	assert_int_equal(wm_file_read(AT_FDCWD, path, 1u << 24, &data, &bytes), 0);
	for (int round = 0; round < 150; round++) {
		struct wm_module *m;
		struct asking a;

		for (int k = 0; k < 8; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			data[k & 1 ? seed % bytes : bytes - 1 - seed % 2400] = (char)(seed >> 40);
		}
		snprintf(name, sizeof(name), "other/%d.so", round);
		put(name, data, round & 3 ? bytes : bytes - seed % bytes);
		begin(&a, NULL);
		m = module(&a, WM_MODULE_FILE, name, NULL, 0);
		for (uint64_t at = 0; at < 0x5000; at += 0x31)
			(void)name_at(&a, m, at);
		end(&a);
	}
	free(data);
}

/* ---- not files -------------------------------------------------------------------------- */

static void test_a_compilers_map(void **state)
{
	static const char map[] = "1000 20 void one(int)\nnonsense\n1020 10 two\x1b[31m\n"
				  "zz 1\nffffffffffffff00 fff beyond\n1030 8\n1040 8 \n1050 8 last";
	struct wm_symbols_options below = {.places.symfs = folder};
	struct wm_module *m;
	struct asking a;

	put("tmp/perf-7.map", map, strlen(map));
	begin(&a, &below);
	m = module(&a, WM_MODULE_JIT, "/tmp/perf-7.map", NULL, 0);
	assert_string_equal(name_at(&a, m, 0x101f), "void one(int)");
	/* the room view escapes names */
	assert_string_equal(name_at(&a, m, 0x1020), "two\x1b[31m");
	assert_string_equal(name_at(&a, m, 0x1035), wm_unnamed_text(WM_UNNAMED_OUTSIDE));
	assert_string_equal(name_at(&a, m, 0x1050), "last");
	assert_string_equal(
	    name_at(&a, module(&a, WM_MODULE_JIT, "/tmp/perf-8.map", NULL, 0), 0x1000),
	    wm_unnamed_text(WM_UNNAMED_NO_JIT_MAP));
	end(&a);
}

static void test_the_kernels_list(void **state)
{
	static const char list[] = "ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
				   "ffffffff81000100 t helper\nffffffff81000180 r rodata\n"
				   "ffffffff81000200 W weak\nnot a line\nffffffff81000200\n"
				   "ffffffffc0000000 t of_module\t[ext4]\n"
				   "ffffffffc0000040 T last\t[ext4]";
	static const struct {
		uint64_t address;
		const char *name;
	} cases[] = {
	    {0xffffffff81000010, "_stext"},    {0xffffffff81000190, "helper"},
	    {0xffffffff81000fff, "weak"},      {0xffffffff81002fff, NULL},
	    {0xffffffffc0000000, "of_module"}, {0xffffffffc0000041, "last"},
	    {0xffffffffc0003000, NULL},
	};
	struct wm_code code;

	wm_code_init(&code, false);
	assert_int_equal(wm_kallsyms_parse(&code, strdup(list), strlen(list)), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wm_code_symbol *s = wm_code_at(&code, cases[i].address);

		if (cases[i].name)
			assert_string_equal(s ? s->name : "none", cases[i].name);
		else
			assert_null(s);
	}
	wm_code_done(&code);
	wm_code_init(&code, false);
	assert_int_equal(wm_kallsyms_parse(&code, strdup("0 T a\n0000 T b\n"), 15), -ENOENT);
	wm_code_done(&code);
}

static void test_the_kernel_is_not_guessed(void **state)
{
	unsigned char other[20] = {1};
	struct asking a;

	begin(&a, NULL);
	assert_string_equal(name_at(&a,
				    module(&a, WM_MODULE_KERNEL, "[kernel.kallsyms]", other, 20),
				    0xffffffff81000000),
			    wm_unnamed_text(WM_UNNAMED_NO_KALLSYMS));
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_CODE, "bpf_prog_1", NULL, 0), 12),
			    "bpf_prog_1");
	assert_string_equal(name_at(&a, module(&a, WM_MODULE_MEMORY, "[heap]", NULL, 0), 12),
			    wm_unnamed_text(WM_UNNAMED_NO_CODE));
	assert_null(wm_symbols_find(a.symbols, NULL, NULL));
	assert_int_equal(wm_symbols_count(a.symbols, WM_UNNAMED_NO_MAPPING), 1);
	end(&a);
}

/*
 * Names from another boot are corrected by the recorded address of one symbol, whether that is set
 * before or after they are read.
 */
static void ask_elsewhere(const struct wm_symbols_options *cached, bool ahead)
{
	unsigned char build[20] = {0xab, 0xcd};
	struct wm_module *m;
	struct asking a;

	begin(&a, cached);
	m = module(&a, WM_MODULE_KERNEL, "[kernel.kallsyms]", build, 20);
	if (ahead)
		wm_symbols_expect(a.symbols, m);
	strcpy(m->kernel->name, "_text");
	m->kernel->address = 0xffffffff9a000000;
	assert_string_equal(name_at(&a, m, 0xffffffff9a000110), "helper");
	assert_string_equal(name_at(&a, m, 0xffffffff81000110),
			    wm_unnamed_text(WM_UNNAMED_OUTSIDE));
	m = module(&a, WM_MODULE_KMODULE, "[ext4]", NULL, 0); /* each module moves separately */
	assert_string_equal(name_at(&a, m, 0xffffffff9a000110),
			    wm_unnamed_text(WM_UNNAMED_NO_KALLSYMS));
	end(&a);
}

static void test_a_kernel_that_lay_elsewhere(void **state)
{
	static const char list[] = "ffffffff81000000 T _text\nffffffff81000100 t helper\n"
				   "ffffffff81000200 T behind\n";
	struct wm_symbols_options cached = {.places.cache = folder};

	sh("mkdir -p '[kernel.kallsyms]/abcd000000000000000000000000000000000000'");
	put("[kernel.kallsyms]/abcd000000000000000000000000000000000000/kallsyms", list,
	    strlen(list));
	ask_elsewhere(&cached, false);
	ask_elsewhere(&cached, true);
}

/*
 * wm_symbols_expect() is called for modules of the same build and of others, whose names are then
 * used or not.
 */
static void test_names_that_are_expected(void **state)
{
	uint64_t one = address_of("one", NULL), run = address_of("_Z3runi", NULL);
	struct wm_module *whole, *bare;
	struct asking a;

	begin(&a, NULL);
	bare = module(&a, WM_MODULE_FILE, "bare.so", NULL, 0);
	whole = module(&a, WM_MODULE_FILE, "whole.so", NULL, 0);
	for (int i = 0; i < 3; i++) {
		wm_symbols_expect(a.symbols, whole);
		wm_symbols_expect(a.symbols, bare);
	}
	assert_string_equal(name_at(&a, whole, one), "one");
	assert_string_equal(name_at(&a, bare, run), "run"); /* the name remains in .dynsym */
	wm_symbols_settle(a.symbols);
	wm_symbols_expect(a.symbols, whole); /* already read */
	wm_symbols_expect(a.symbols, module(&a, WM_MODULE_FILE, "missing.so", NULL, 0));
	end(&a);
}

/* Names come from a vmlinux file, found by its build-id. */
static void test_a_kernels_debug_information(void **state)
{
	static const char vmlinux[] = ".text\n.globl _text\n_text: nop\n"
				      ".globl helper\n.type helper,@function\nhelper: nop\nret\n"
				      ".size helper, .-helper\n";
	unsigned char build[20];
	struct wm_symbols_options cached = {.places.cache = folder};
	struct wm_module *m;
	struct asking a;
	struct wm_elf *e;
	char path[256], hex[48];

	put("vmlinux.s", vmlinux, strlen(vmlinux));
	sh("gcc -nostdlib -static -no-pie -Wl,--build-id,-Ttext=0x81000000,-e,_text -o vmlinux "
	   "vmlinux.s");
	snprintf(path, sizeof(path), "%s/vmlinux", folder);
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(e->build_id_bytes, 20);
	memcpy(build, e->build_id, 20);
	wm_elf_close(e);
	for (int i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", build[i]);
	sh("mkdir -p .build-id/%.2s/%s && mv vmlinux .build-id/%.2s/%s/elf", hex, hex + 2, hex,
	   hex + 2);
	begin(&a, &cached);
	m = module(&a, WM_MODULE_KERNEL, "[kernel.kallsyms]", build, 20);
	strcpy(m->kernel->name, "_text");
	m->kernel->address = 0xffffffff9a000000;
	assert_string_equal(name_at(&a, m, 0xffffffff9a000002), "helper");
	end(&a);
}

/*
 * Starts the first process of a new pid namespace, rooted in the folder;
 * returns its pid outside.
 */
static pid_t start_container(pid_t *ret_keeper)
{
	pid_t inside = -1;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	*ret_keeper = fork();
	assert_true(*ret_keeper >= 0);
	if (!*ret_keeper) {
		if (chroot(folder) == 0 && unshare(CLONE_NEWPID) == 0)
			inside = fork();
		if (inside)
			(void)!write(ready[1], &inside, sizeof(inside));
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &inside, sizeof(inside)), sizeof(inside));
	close(ready[0]);
	close(ready[1]);
	return inside;
}

/* A just-in-time compiler in a container names its map by its pid in the container. */
static void test_a_map_in_a_container(void **state)
{
	static const char map[] = "1000 20 inside\n";
	struct wm_module_key k = {.kind = WM_MODULE_JIT};
	pid_t keeper, inside = start_container(&keeper);
	struct asking a;
	char name[32];
	int status;

	if (inside > 0) {
		put("tmp/perf-1.map", map, strlen(map));
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", inside);
		k.path = name;
		k.path_bytes = strlen(name);
		k.pid = inside;
		begin(&a, NULL);
		assert_string_equal(name_at(&a, wm_modules_get(a.modules, &k), 0x1001), "inside");
		end(&a);
		assert_int_equal(kill(inside, SIGKILL), 0);
	}
	assert_int_equal(kill(keeper, SIGKILL), 0);
	assert_int_equal(waitpid(keeper, &status, 0), keeper);
	if (inside <= 0)
		skip();
}

static void test_the_vdso(void **state)
{
	unsigned char other[20] = {1};
	struct wm_module *m;
	struct asking a;
	bool seen = false;

	if (!getauxval(AT_SYSINFO_EHDR))
		skip();
	begin(&a, NULL);
	m = module(&a, WM_MODULE_VDSO, "[vdso]", NULL, 0);
	for (uint64_t at = 0; at < 0x2000 && !seen; at++)
		seen = strstr(name_at(&a, m, at), "clock_gettime") != NULL;
	assert_true(seen);
	m = module(&a, WM_MODULE_VDSO, "[vdso]", other, 20);
	assert_string_equal(name_at(&a, m, 0x800), wm_unnamed_text(WM_UNNAMED_CHANGED));
	end(&a);
}

/* The vdso of 32-bit programs can be read, and this process keeps its own. */
static void test_the_vdso_of_32_bits(void **state)
{
	struct wm_module *m;
	struct wm_elf *e;
	struct asking a;
	bool seen = false;

	if (wm_vdso_open_narrow(&e) < 0)
		skip();
	assert_int_equal(e->machine, EM_386);
	wm_elf_close(e);
	begin(&a, NULL);
	m = module(&a, WM_MODULE_VDSO32, "[vdso]", NULL, 0);
	for (uint64_t at = 0; at < 0x4000 && !seen; at++)
		seen = !strcmp(name_at(&a, m, at), "__kernel_vsyscall");
	assert_true(seen);
	assert_int_equal(waitpid(-1, NULL, __WALL), -1); /* the child was reaped */
	end(&a);
	test_the_vdso(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_best_of_several_names),
	    cmocka_unit_test(test_offsets_are_addresses_elsewhere),
	    cmocka_unit_test(test_symbols_beside_a_stripped_file),
	    cmocka_unit_test(test_jumps_to_other_libraries),
	    cmocka_unit_test(test_another_build_is_not_taken),
	    cmocka_unit_test(test_short_and_long_build_ids),
	    cmocka_unit_test(test_a_build_is_found_by_its_id),
	    cmocka_unit_test(test_files_that_only_a_process_sees),
	    cmocka_unit_test(test_what_is_no_file_is_not_opened),
	    cmocka_unit_test(test_damaged_files_are_survived),
	    cmocka_unit_test(test_a_compilers_map),
	    cmocka_unit_test(test_the_kernels_list),
	    cmocka_unit_test(test_the_kernel_is_not_guessed),
	    cmocka_unit_test(test_a_kernel_that_lay_elsewhere),
	    cmocka_unit_test(test_names_that_are_expected),
	    cmocka_unit_test(test_a_kernels_debug_information),
	    cmocka_unit_test(test_the_vdso),
	    cmocka_unit_test(test_the_vdso_of_32_bits),
	    cmocka_unit_test(test_a_map_in_a_container),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
