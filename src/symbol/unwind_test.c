/* SPDX-License-Identifier: MIT */
/*
 * unwind_test.c - this process unwinds itself from a copy of its stack and registers, through the C
 * library and a signal, with libgcc's backtrace() as the reference. Then the data is damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/file.h"
#include "base/maps.h"
#include "elf/elf_cfi.h"
#include "symbol/unwind.h"

#ifdef __x86_64__

#define STACK_BYTES (256u << 10)
#define MASK        0xff0fffull /* ax ... ss, r8 ... r15 */
#define NR_REGS     20u

/* The registers and stack of a sample, and libgcc's chain at the same moment. */
static struct sample {
	struct wm_item regs[NR_REGS];
	unsigned char stack[STACK_BYTES] __attribute__((aligned(8)));
	size_t stack_bytes;
	void *chain[WM_UNWIND_FRAMES_MAX];
	int nr;
} sample;

static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP,
			    REG_RSP, REG_RIP, REG_EFL, -1,      -1,      REG_R8,  REG_R9,
			    REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static void take_registers(const ucontext_t *c)
{
	for (unsigned i = 0; i < NR_REGS; i++)
		sample.regs[i].u = order[i] < 0 ? 0 : (uint64_t)c->uc_mcontext.gregs[order[i]];
}

static uint64_t sp_of(void)
{
	return sample.regs[7].u;
}

/*
 * Not instrumented, because the copy includes the redzones that sanitizers put between variables.
 */
__attribute__((no_sanitize("address", "thread"))) static void copy_words(void *to, uint64_t from,
									 size_t bytes)
{
	const volatile uint64_t *stack = (const volatile uint64_t *)(uintptr_t)from;

	for (size_t i = 0; i < bytes / 8; i++)
		((uint64_t *)to)[i] = stack[i];
}

/* Copies up to the end of this thread's stack. */
static void take_stack(void)
{
	pthread_attr_t attr;
	void *base;
	size_t bytes, n;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	assert_int_equal(pthread_attr_getstack(&attr, &base, &bytes), 0);
	n = (uint64_t)(uintptr_t)base + bytes - sp_of();
	sample.stack_bytes = n < STACK_BYTES ? n : STACK_BYTES;
	copy_words(sample.stack, sp_of(), sample.stack_bytes);
	pthread_attr_destroy(&attr);
}

__attribute__((noinline)) static void take_here(void)
{
	ucontext_t c;

	assert_int_equal(getcontext(&c), 0);
	take_registers(&c);
	take_stack();
	sample.nr = backtrace(sample.chain, WM_UNWIND_FRAMES_MAX);
}

/* ---- what is on the way ------------------------------------------------------------ */

static int nr_compared;

static int compare(const void *a, const void *b)
{
	if (++nr_compared == 5)
		take_here();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int deep(int depth)
{
	volatile char room[100];
	int numbers[] = {3, 1, 2, 9, 8, 7, 4, 5};

	room[depth] = (char)depth;
	if (depth)
		return deep(depth - 1) + room[depth];
	nr_compared = 0;
	qsort(numbers, 8, sizeof(numbers[0]), compare);
	return numbers[0];
}

static void on_signal(int number)
{
	take_here();
}

/* The function that the signal interrupts: its frame has an exact address, in a leaf function. */
__attribute__((noinline)) static int signalled(int depth)
{
	volatile int x = depth;

	if (depth)
		return signalled(depth - 1) + x;
	raise(SIGUSR1);
	return x;
}

/* ---- the world ------------------------------------------------------------------------ */

struct world {
	struct wm_modules *modules;
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct wm_unwind *unwind;
};

static void map_ourselves(struct world *w)
{
	struct wm_maps maps;

	assert_int_equal(wm_maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < maps.nr; i++) {
		const struct wm_map *from = &maps.maps[i];
		bool is_vdso = !strcmp(from->path, "[vdso]");
		struct wm_module_key k = {.kind = is_vdso ? WM_MODULE_VDSO : WM_MODULE_FILE,
					  .path = from->path,
					  .path_bytes = strlen(from->path),
					  .pid = getpid()};
		struct wm_mapping m = {.start = from->start,
				       .end = from->end,
				       .base = from->start - from->offset,
				       .is_offset = true};

		if (from->path[0] != '/' && !is_vdso)
			continue;
		m.module = wm_modules_get(w->modules, &k);
		assert_int_equal(wm_spaces_map(w->spaces, getpid(), &m), 0);
	}
	wm_maps_done(&maps);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->modules = wm_modules_create();
	w->spaces = wm_spaces_create(w->modules);
	w->symbols = wm_symbols_create(NULL);
	w->unwind = wm_unwind_create(w->spaces, w->symbols);
	assert_non_null(w->unwind);
	map_ourselves(w);
	*state = w;
	return 0;
}

static int end_world(void **state)
{
	struct world *w = *state;

	wm_unwind_destroy(w->unwind);
	wm_symbols_destroy(w->symbols);
	wm_spaces_destroy(w->spaces);
	wm_modules_destroy(w->modules);
	free(w);
	return 0;
}

static struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];

static uint32_t unwind(struct world *w, size_t stack_bytes, enum wm_unwound *how)
{
	const struct wm_user_stack s = {.pid = getpid(),
					.mask = MASK,
					.registers = sample.regs,
					.nr_registers = NR_REGS,
					.stack = sample.stack,
					.stack_bytes = stack_bytes};

	return wm_unwind(w->unwind, &s, frames, how);
}

static bool has(struct world *w, uint32_t nr, const char *name)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_symbol *s =
		    frames[i].mapped ? wm_symbols_find(w->symbols, &frames[i].place, NULL) : NULL;

		if (s && !strcmp(s->name, name))
			return true;
	}
	return false;
}

/*
 * The callers must be the same; the first frame is where getcontext() and backtrace() were called.
 * A sanitizer's backtrace() adds its own frame at the front.
 */
static void check_chain(struct world *w)
{
	enum wm_unwound how;
	uint32_t nr = unwind(w, sample.stack_bytes, &how);

	assert_int_equal(how, WM_UNWOUND_WHOLE);
	assert_in_range(sample.nr, nr, nr + 1);
	for (uint32_t i = 1; i < nr; i++) {
		uint64_t theirs = (uint64_t)(uintptr_t)sample.chain[i + sample.nr - nr];

		assert_true(frames[i].ip == theirs - 1 || frames[i].ip == theirs);
		assert_false(frames[i].guessed);
	}
	assert_true(has(w, nr, "main"));
}

static void test_through_the_c_library(void **state)
{
	(void)deep(20);
	check_chain(*state);
	assert_true(sample.nr > 24);
}

static void test_through_a_signal(void **state)
{
	struct sigaction action = {.sa_handler = on_signal}, before;

	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	(void)signalled(3);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	check_chain(*state);
}

static void test_a_short_copy_is_said(void **state)
{
	enum wm_unwound how;
	uint32_t whole, nr;

	(void)deep(20);
	whole = unwind(*state, sample.stack_bytes, &how);
	nr = unwind(*state, 2048, &how);
	assert_int_equal(how, WM_UNWOUND_CUT);
	assert_in_range(nr, 2, whole - 1);
	nr = unwind(*state, 0, &how);
	assert_int_equal(how, WM_UNWOUND_CUT);
	assert_int_equal(nr, 1);
	assert_int_equal(wm_unwind_count(((struct world *)*state)->unwind, WM_UNWOUND_CUT), 2);
}

static void test_a_jump_to_nowhere(void **state)
{
	enum wm_unwound how;
	uint64_t pc;
	uint32_t nr;

	(void)deep(5);
	nr = unwind(*state, sample.stack_bytes, &how);
	pc = sample.regs[8].u;
	sample.regs[8].u = 0; /* as after calling NULL: the return address is on top */
	memmove(sample.stack + 8, sample.stack, STACK_BYTES - 8);
	memcpy(sample.stack, &pc, 8);
	sample.regs[7].u -= 8;
	assert_int_equal(unwind(*state, sample.stack_bytes + 8, &how), nr + 1);
	assert_int_equal(how, WM_UNWOUND_WHOLE);
	assert_false(frames[0].mapped);
	assert_true(frames[1].mapped);
}

static void test_without_registers(void **state)
{
	const struct wm_user_stack s = {.pid = getpid(), .mask = 1, .registers = sample.regs};
	enum wm_unwound how;

	assert_int_equal(wm_unwind(((struct world *)*state)->unwind, &s, frames, &how), 0);
	assert_int_equal(how, WM_UNWOUND_NO_SAMPLE);
}

static uint64_t random64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Unwinding ends whatever the stack and registers contain. */
static void test_damage_is_survived(void **state)
{
	uint64_t seed = 88172645463325252ull;
	enum wm_unwound how;
	struct sample whole;

	(void)deep(20);
	whole = sample;
	for (int round = 0; round < 2000; round++) {
		sample = whole;
		for (int k = 0; k < 40; k++)
			sample.stack[random64(&seed) % sample.stack_bytes] ^= (uint8_t)seed;
		if (round & 1)
			sample.regs[random64(&seed) % NR_REGS].u = random64(&seed);
		if (round % 5 == 0)
			sample.regs[8].u += random64(&seed) % 100000;
		assert_true(unwind(*state, random64(&seed) % sample.stack_bytes, &how) <=
			    WM_UNWIND_FRAMES_MAX);
		assert_true(how < WM_UNWOUND_NR);
	}
}

static bool any_memory(void *data, uint64_t address, uint64_t *ret)
{
	*ret = random64(data);
	return *ret & 7;
}

/* Changes bytes of this program's own file, mostly in its unwind tables: unwinding must end. */
static void test_damaged_tables_are_survived(void **state)
{
	uint64_t seed = 88172645463325252ull, address;
	const struct wm_elf_section *frame, *text;
	size_t file_bytes;
	struct wm_elf *e;
	char *data;
	int fd;

	assert_int_equal(wm_elf_open("/proc/self/exe", &e, NULL), 0);
	frame = wm_elf_section(e, ".eh_frame");
	text = wm_elf_section(e, ".text");
	assert_true(frame && text);
	assert_int_equal(wm_file_read(AT_FDCWD, "/proc/self/exe", 64u << 20, &data, &file_bytes),
			 0);
	for (int round = 0; round < 40; round++) {
		struct wm_elf_cfi *cfi;
		struct wm_elf *damaged;

		for (int k = 0; k < 200; k++)
			data[frame->offset + random64(&seed) % frame->bytes] = (char)(seed >> 40);
		fd = memfd_create("damaged", MFD_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(wm_file_write(fd, data, file_bytes), 0);
		assert_int_equal(wm_elf_open_fd(fd, "damaged", &damaged, NULL), 0);
		if (wm_elf_cfi_open(damaged, NULL, &cfi) == 0) {
			for (int k = 0; k < 300; k++) {
				struct wm_registers regs = {.known = random64(&seed) | 0x100c0};
				bool exact;

				address = text->address + random64(&seed) % text->bytes;
				(void)wm_elf_cfi_step(cfi, address, &regs, any_memory, &seed,
						      &exact);
			}
			wm_elf_cfi_close(cfi);
		}
		wm_elf_close(damaged);
	}
	free(data);
	wm_elf_close(e);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, make_world, end_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_through_the_c_library),       TEST(test_through_a_signal),
	    TEST(test_a_short_copy_is_said),        TEST(test_a_jump_to_nowhere),
	    TEST(test_without_registers),           TEST(test_damage_is_survived),
	    TEST(test_damaged_tables_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
	return 0; /* the test reads x86-64 registers */
}
#endif
