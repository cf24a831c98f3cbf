/* SPDX-License-Identifier: MIT */
/*
 * name_stacks.c - prints the names of the addresses in a trace's samples, in the form of `perf
 * script -F ip,sym,dso`: the ip or the call chain, innermost first, and an empty line after each
 * sample.
 *
 * name_stacks TRACE [WORD...]
 *
 * WORD is `quiet`: prints only the messages on stderr; `lines`: adds "file:line" of each address
 * and, on separate lines before it, the functions inlined there; `unwind`: adds the callers found
 * by unwinding the copied stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kdata/perf_sample.h"
#include "read/open.h"
#include "symbol/lines.h"
#include "symbol/symbols.h"
#include "symbol/unwind.h"
#include "trace/merge.h"

#define PERF_SHOWS 127u /* limit for the addresses of a chain */

struct naming {
	struct wm_trace *trace;
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct wm_lines *lines;   /* NULL when not requested */
	struct wm_unwind *unwind; /* NULL when not requested */
	bool quiet;
	uint64_t nr_samples, nr_addresses;
};

static const struct wm_item *part(const struct wm_event *e, const char *name)
{
	const struct wm_part_range *r = &e->parts[WM_PART_STREAM_CONTEXT];

	for (uint32_t i = r->at; i < r->end; i = e->items[i].next)
		if (!strcmp(e->items[i].member->name, name))
			return &e->items[i];
	return NULL;
}

static void name_inlined(struct naming *n, const struct wm_place *place, const char *lead)
{
	const struct wm_line_frames *f = wm_lines_find(n->lines, place);

	for (uint32_t i = 0; f && !n->quiet && i < f->nr; i++)
		printf("%s%s %s:%u%s\n", lead, f->frames[i].function ? f->frames[i].function : "??",
		       f->frames[i].file ? f->frames[i].file : "??", f->frames[i].line,
		       i + 1 < f->nr ? " (inlined)" : "");
}

static void name_place(struct naming *n, uint64_t ip, const struct wm_place *place,
		       const char *lead)
{
	const struct wm_symbol *s = wm_symbols_find(n->symbols, place, NULL);

	n->nr_addresses++;
	if (place && n->lines)
		name_inlined(n, place, lead);
	if (!n->quiet)
		printf("%s%16" PRIx64 " %s (%s)\n", lead, ip, s ? s->name : "[unknown]",
		       place ? place->module->path : "[unknown]");
}

static void name_one(struct naming *n, const struct wm_event *e, uint64_t ip,
		     enum wm_event_mode mode, const char *lead)
{
	struct wm_place place;
	bool mapped = wm_spaces_find(n->spaces, e->pid, ip, mode, &place);

	name_place(n, ip, mapped ? &place : NULL, lead);
}

static bool name_unwound(struct naming *n, const struct wm_event *e)
{
	static struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];
	struct wm_user_stack stack;
	enum wm_unwound how;
	uint32_t nr;

	if (!n->unwind || !wm_unwind_stack_of(n->trace, e, &stack))
		return false;
	nr = wm_unwind(n->unwind, &stack, frames, &how);
	for (uint32_t i = 0; i < nr; i++)
		name_place(n, frames[i].ip, frames[i].mapped ? &frames[i].place : NULL, "\t");
	return nr > 0;
}

/*
 * Finds the context that begins at a marker in a chain. Returns false when there is no such marker,
 * and the chain is damaged.
 */
static bool context(uint64_t marker, enum wm_event_mode *ret)
{
	switch (marker) {
	case WM_PERF_CONTEXT_KERNEL:
		*ret = WM_MODE_KERNEL;
		return true;
	case WM_PERF_CONTEXT_USER:
		*ret = WM_MODE_USER;
		return true;
	case WM_PERF_CONTEXT_HV:
		*ret = WM_MODE_HYPERVISOR;
		return true;
	default:
		return false;
	}
}

/* Whether perf prints nothing of a chain, because a frame pointer led to an impossible address. */
static bool is_damaged(const struct wm_item *chain)
{
	enum wm_event_mode mode;

	for (uint32_t i = 1; i <= chain->count; i++)
		if (chain[i].u >= WM_PERF_CONTEXT_MAX && !context(chain[i].u, &mode))
			return true;
	return false;
}

static void name_chain(struct naming *n, const struct wm_event *e, const struct wm_item *chain)
{
	enum wm_event_mode mode = e->mode;
	uint32_t nr = 0;

	for (uint32_t i = 1; i <= chain->count && nr < PERF_SHOWS; i++)
		if (!(chain[i].u >= WM_PERF_CONTEXT_MAX && context(chain[i].u, &mode))) {
			name_one(n, e, chain[i].u, mode, "\t");
			nr++;
		}
}

static void name_sample(struct naming *n, const struct wm_event *e)
{
	const struct wm_item *ip = part(e, "ip"), *chain = part(e, "callchain");
	bool has_chain = chain && chain->count;

	n->nr_samples++;
	if (has_chain && !is_damaged(chain))
		name_chain(n, e, chain);
	if (!name_unwound(n, e) && ip && !has_chain)
		name_one(n, e, ip->u, e->mode, "");
	if (!n->quiet && chain)
		printf("\n");
}

int main(int argc, char **argv)
{
	const char *home = getenv("HOME");
	char cache[4096];
	struct wm_symbols_options options = {.places.cache = cache};
	struct wm_modules *modules = wm_modules_create();
	struct naming n = {0};
	struct wm_diag diag = {.offset = -1};
	const struct wm_event *e;
	struct wm_merge *merge;
	struct wm_trace *t;

	snprintf(cache, sizeof(cache), "%s/.debug", home ? home : "");
	if (argc < 2 || wm_read_open(argv[1], &t, &diag)) {
		fprintf(stderr, "name_stacks: %s\n", diag.sentence);
		return 1;
	}
	n.trace = t;
	n.spaces = wm_spaces_create(modules);
	n.symbols = wm_symbols_create(&options);
	merge = wm_merge_create(&t, 1, NULL);
	for (int i = 2; i < argc; i++) {
		n.quiet |= !strcmp(argv[i], "quiet");
		if (!strcmp(argv[i], "lines"))
			n.lines = wm_lines_create(n.symbols);
		if (!strcmp(argv[i], "unwind"))
			n.unwind = wm_unwind_create(n.spaces, n.symbols);
	}
	if (!n.spaces || !n.symbols || !merge || wm_modules_of_trace(modules, t))
		return 1;
	while (wm_merge_next(merge, &e) == 1) {
		if (wm_spaces_feed(n.spaces, e))
			return 1;
		if (!e->type->meta)
			name_sample(&n, e);
	}
	fprintf(stderr, "%" PRIu64 " samples, %" PRIu64 " addresses\n", n.nr_samples,
		n.nr_addresses);
	for (int i = 0; i < WM_UNNAMED_NR; i++)
		if (wm_symbols_count(n.symbols, i))
			fprintf(stderr, "%10" PRIu64 " %s\n", wm_symbols_count(n.symbols, i),
				wm_unnamed_text(i));
	wm_merge_destroy(merge);
	for (int i = 0; n.unwind && i < WM_UNWOUND_NR; i++)
		if (wm_unwind_count(n.unwind, i))
			fprintf(stderr, "%10" PRIu64 " stacks %s\n", wm_unwind_count(n.unwind, i),
				wm_unwound_text(i));
	wm_unwind_destroy(n.unwind);
	wm_lines_destroy(n.lines);
	wm_symbols_destroy(n.symbols);
	wm_spaces_destroy(n.spaces);
	wm_modules_destroy(modules);
	wm_trace_close(t);
	return 0;
}
