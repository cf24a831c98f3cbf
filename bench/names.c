/* SPDX-License-Identifier: MIT */
/*
 * names.c - measures the cost of finding mapping, name and line of an address that was seen before,
 * and of unwinding a stack. The addresses are those of a recording: `names FILE`, made with `perf
 * record --call-graph dwarf`. Prints "names_place NS", "names_symbol NS", "names_line NS" per
 * address, in the order of the recording, and "names_frame NS" per unwound frame. All are
 * processor times, the best of several runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read/open.h"
#include "symbol/lines.h"
#include "symbol/unwind.h"
#include "trace/merge.h"

#define NR_RUNS   7
#define STACKS    2000u
#define ADDRESSES 200000u

struct stack {
	struct wm_user_stack of;
	struct wm_item *registers;
	unsigned char *bytes;
};

struct bench {
	struct wm_modules *modules;
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct wm_lines *lines;
	struct wm_unwind *unwind;
	struct stack stacks[STACKS];
	uint32_t nr_stacks;
	struct {
		int32_t pid;
		uint64_t address;
	} addresses[ADDRESSES];
	uint32_t nr;
	struct wm_place places[ADDRESSES];
	uint64_t nr_frames;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *copy(const void *from, size_t bytes)
{
	void *to = malloc(bytes);

	if (!to)
		exit(1);
	return memcpy(to, from, bytes);
}

static void take(struct bench *b, const struct wm_user_stack *s)
{
	static struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];
	struct stack *keep = &b->stacks[b->nr_stacks];
	enum wm_unwound how;
	uint32_t nr = wm_unwind(b->unwind, s, frames, &how);

	for (uint32_t i = 0; i < nr && b->nr < ADDRESSES; i++) {
		if (!frames[i].mapped)
			continue;
		b->addresses[b->nr].pid = s->pid;
		b->addresses[b->nr++].address = frames[i].ip;
	}
	if (b->nr_stacks == STACKS)
		return;
	b->nr_stacks++;
	keep->of = *s;
	keep->registers = copy(s->registers, s->nr_registers * sizeof(*s->registers));
	keep->bytes = copy(s->stack, s->stack_bytes);
	keep->of.registers = keep->registers;
	keep->of.stack = keep->bytes;
}

static int read_all(struct bench *b, struct wm_trace *t)
{
	struct wm_merge *merge = wm_merge_create(&t, 1, NULL);
	const struct wm_event *e;

	if (!merge || wm_modules_of_trace(b->modules, t))
		return -1;
	while (wm_merge_next(merge, &e) == 1) {
		struct wm_user_stack s;

		if (wm_spaces_feed(b->spaces, e))
			return -1;
		if (!e->type->meta && wm_unwind_stack_of(t, e, &s))
			take(b, &s);
	}
	wm_merge_destroy(merge);
	return b->nr ? 0 : -1;
}

static void places(struct bench *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		if (!wm_spaces_find(b->spaces, b->addresses[i].pid, b->addresses[i].address,
				    WM_MODE_USER, &b->places[i]))
			exit(1);
}

static void names(struct bench *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		(void)wm_symbols_find(b->symbols, &b->places[i], NULL);
}

static void lines(struct bench *b)
{
	for (uint32_t i = 0; i < b->nr; i++)
		(void)wm_lines_find(b->lines, &b->places[i]);
}

static void unwind(struct bench *b)
{
	static struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];
	enum wm_unwound how;

	b->nr_frames = 0;
	for (uint32_t i = 0; i < b->nr_stacks; i++)
		b->nr_frames += wm_unwind(b->unwind, &b->stacks[i].of, frames, &how);
}

/* The first run fills the caches that later runs use. */
static void measure(struct bench *b, const char *row, void (*run)(struct bench *b),
		    const uint64_t *ops)
{
	double best = 0;

	run(b);
	for (int i = 0; i < NR_RUNS; i++) {
		double begin = now_ns(), ns;

		run(b);
		ns = (now_ns() - begin) / (double)*ops;
		if (!i || ns < best)
			best = ns;
	}
	printf("%s %.2f\n", row, best);
}

int main(int argc, char **argv)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct wm_diag diag = {.offset = -1};
	struct wm_trace *t;
	uint64_t nr;

	if (!b || argc != 2 || wm_read_open(argv[1], &t, &diag)) {
		fprintf(stderr, "names: %s\n", argc == 2 ? diag.sentence : "names FILE");
		return 1;
	}
	b->modules = wm_modules_create();
	b->spaces = wm_spaces_create(b->modules);
	b->symbols = wm_symbols_create(NULL);
	b->lines = wm_lines_create(b->symbols);
	b->unwind = wm_unwind_create(b->spaces, b->symbols);
	if (!b->lines || !b->unwind || read_all(b, t)) {
		fprintf(stderr, "names: no stacks in %s\n", argv[1]);
		return 1;
	}
	nr = b->nr;
	measure(b, "names_place", places, &nr);
	measure(b, "names_symbol", names, &nr);
	measure(b, "names_line", lines, &nr);
	unwind(b);
	measure(b, "names_frame", unwind, &b->nr_frames);
	fprintf(stderr, "%" PRIu32 " addresses, %" PRIu32 " stacks of %" PRIu64 " frames\n", b->nr,
		b->nr_stacks, b->nr_frames);
	return 0;
}
