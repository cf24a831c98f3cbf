/* SPDX-License-Identifier: MIT */
/*
 * kdata.c - measures the cost of a kernel record in processor time: finding it in a page,
 * converting it to waymark's payload, printing it. The records, in memory, are like those of
 * sched_switch, sys_enter and sched_process_exec. Prints the worst of the three kinds: "kdata_walk
 * NS", "kdata_transcode NS", "kdata_print NS" per event; each kind's value goes to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kdata/format_test_kit.h"
#include "kdata/page.h"
#include "kdata/transcode.h"

#define NR_RUNS     9
#define NR_EVENTS   200000u
#define OUT_BYTES   4096u
#define PAGE_BYTES  4096u
#define PAGE_HEADER 16u

static const struct kind {
	const char *name, *text;
	/* `string` is 8 when a dynamic array's word is at offset 8; 0: none. */
	uint32_t bytes, string;
} kinds[] = {
    {"sched_switch", kit_switch, 64, 0},
    {"sys_enter", kit_enter, 64, 0},
    {"sched_process_exec", kit_exec, 40, 16u << 16 | 20},
};

struct bench {
	const struct kind *kind;
	struct wm_arena arena;
	struct wm_kmachine machine;
	struct wm_page_layout layout;
	const struct wm_kprint *print;
	struct wm_kplan *plan;
	unsigned char page[PAGE_BYTES], out[OUT_BYTES];
	struct wm_text text;
	uint64_t sum; /* keeps the compiler from removing the measured work */
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "bench kdata: %s\n", what);
	exit(1);
}

/* Fills a page with copies of the same record. */
static void fill(struct bench *b)
{
	uint32_t step = 4 + b->kind->bytes, head = 100u << 5 | b->kind->bytes / 4;
	uint64_t commit;
	size_t at;

	memset(b->page, 'a', sizeof(b->page));
	memset(b->page, 0, PAGE_HEADER);
	for (at = PAGE_HEADER; at + step <= PAGE_BYTES; at += step) {
		memcpy(b->page + at, &head, 4);
		if (b->kind->string) {
			memcpy(b->page + at + 12, &b->kind->string, 4);
			memcpy(b->page + at + 24, "/usr/bin/python\0", 16);
		} else {
			memset(b->page + at + 28, 1, 12);
			b->page[at + 23] = 0;
		}
	}
	commit = at - PAGE_HEADER;
	memcpy(b->page + 8, &commit, 8);
}

static void prepare(struct bench *b)
{
	const struct wm_kformat *f;

	wm_arena_init(&b->arena, 1 << 24);
	wm_kmachine_init(&b->machine, 8, false);
	wm_page_layout_init(&b->layout, 8, false);
	if (wm_kformat_parse(&b->arena, &b->machine, "bench", b->kind->text, strlen(b->kind->text),
			     &f, NULL) ||
	    wm_kprint_compile(&b->arena, &b->machine, f, &b->print, NULL) ||
	    wm_kplan_create(f, &b->machine, b->print, false, &b->plan, NULL))
		die("the event is refused");
	wm_text_init(&b->text);
	fill(b);
}

static void walk(struct bench *b, const struct wm_page_cursor *c)
{
	b->sum += c->time + c->data[0];
}

static void transcode(struct bench *b, const struct wm_page_cursor *c)
{
	b->sum += (uint64_t)wm_kplan_run(b->plan, c->data, c->bytes, b->out, sizeof(b->out));
}

static void print(struct bench *b, const struct wm_page_cursor *c)
{
	if (b->text.bytes > OUT_BYTES)
		wm_text_cut(&b->text, 0);
	wm_kprint_run(b->print, NULL, c->data, c->bytes, &b->text);
}

/* Returns the best of several runs, in ns per event. */
static double measure(struct bench *b,
		      void (*each)(struct bench *b, const struct wm_page_cursor *c))
{
	double best = 1e18;

	for (int run = 0; run < NR_RUNS; run++) {
		double begin = now_ns(), each_ns;
		uint32_t nr = 0;

		while (nr < NR_EVENTS) {
			struct wm_page_cursor c;

			if (wm_page_open(&c, &b->layout, b->page, sizeof(b->page), NULL))
				die("the page is refused");
			for (; wm_page_next(&c) > 0; nr++)
				each(b, &c);
			__asm__ volatile("" ::"r"(b) : "memory");
		}
		each_ns = (now_ns() - begin) / nr;
		best = each_ns < best ? each_ns : best;
	}
	return best;
}

int main(void)
{
	static const struct {
		const char *name;
		void (*each)(struct bench *b, const struct wm_page_cursor *c);
	} rows[] = {{"kdata_walk", walk}, {"kdata_transcode", transcode}, {"kdata_print", print}};
	static struct bench b;

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		double worst = 0;

		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			double ns;

			b = (struct bench){.kind = &kinds[k]};
			prepare(&b);
			ns = measure(&b, rows[r].each);
			fprintf(stderr, "%s of %s: %.1f ns\n", rows[r].name, kinds[k].name, ns);
			worst = ns > worst ? ns : worst;
			wm_kplan_destroy(b.plan);
			wm_text_done(&b.text);
			wm_arena_done(&b.arena);
		}
		printf("%s %.1f\n", rows[r].name, worst);
	}
	return 0;
}
