/* SPDX-License-Identifier: MIT */
/*
 * annotate.c - see annotate.h. A profile counts the samples of each event at each address. For each
 * event, of the functions with the requested name, the one with the most samples is read and
 * disassembled.
 */
#include "analysis/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_int.h"
#include "base/nearest.h"
#include "base/search.h"
#include "elf/disassemble.h"
#include "symbol/kernel_code.h"
#include "symbol/source_text.h"

/* The samples at an address. */
struct hit {
	uint64_t address, weight, count;
};

/* A function with the requested name, in one module. */
struct found {
	struct wm_module *module;
	const struct wm_symbol *symbol;
	uint64_t weight;
};

struct annotating {
	struct wm_pass *pass;
	const struct wm_annotate_what *what;
	struct wm_profile *profile;
	/* The event of this listing, as in the first word of its buckets; 0: all events. */
	uint64_t event;
	struct found best;
	uint32_t nr_found; /* number of functions with that name */
	struct hit *hits;  /* sorted by address */
	uint32_t nr_hits;
	uint64_t total, inside; /* weights of all events and of the function */
	/* Used while rows are being created: */
	struct wm_result *r;
	struct wm_result_table *t;
	struct wm_source_text *source;
	const char *last_file;
	uint32_t last_line;
};

/* --- addresses of samples ------------------------------------------------------------------- */

static bool is_counted(const struct annotating *a, uint32_t bucket)
{
	return wm_profile_bucket(a->profile, bucket).words[0] == a->event;
}

/* Returns the innermost frame of a bucket's chain; NULL: there is none. */
static const struct wm_place *annotate_end_of(struct annotating *a, uint32_t bucket,
					      uint32_t *ret_frame)
{
	uint32_t nr;
	const uint32_t *frames = wm_stacks_frames(wm_profile_stacks(a->profile),
						  wm_profile_bucket(a->profile, bucket).stack, &nr);

	if (!nr)
		return NULL;
	*ret_frame = frames[0];
	return wm_stacks_place(wm_profile_stacks(a->profile), frames[0]);
}

static bool annotate_is_meant(struct annotating *a, uint32_t frame, const struct wm_place *place)
{
	struct wm_stacks *s = wm_profile_stacks(a->profile);

	return place->module && !strcmp(a->what->symbol, wm_stacks_name(s, frame)) &&
	       (!a->what->object || !strcmp(a->what->object, place->module->name));
}

/* Adds up the weight of each function with that name and selects the heaviest. */
static int annotate_find_function(struct annotating *a)
{
	struct found *list = NULL;
	uint32_t nr = wm_profile_nr_buckets(a->profile), frame;

	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_place *place = annotate_end_of(a, i, &frame);
		uint64_t weight = wm_profile_bucket(a->profile, i).weight;
		enum wm_unnamed why;
		struct found f, *more;
		uint32_t k = 0;

		if (!is_counted(a, i))
			continue;
		a->total += weight;
		if (!place || !annotate_is_meant(a, frame, place))
			continue;
		f = (struct found){place->module, wm_symbols_find(a->pass->symbols, place, &why),
				   0};
		while (k < a->nr_found &&
		       (list[k].module != f.module || list[k].symbol != f.symbol))
			k++;
		if (k == a->nr_found) {
			more = realloc(list, (k + 1) * sizeof(*list));
			if (!more) {
				free(list);
				return -ENOMEM;
			}
			list = more;
			list[a->nr_found++] = f;
		}
		list[k].weight += weight;
		if (!a->best.symbol || list[k].weight > a->best.weight)
			a->best = list[k];
	}
	free(list);
	return 0;
}

static int annotate_by_address(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Returns the place's link-time address in the image; kernel addresses are unchanged. */
static bool annotate_address_of(const struct annotating *a, const struct wm_place *place,
				uint64_t *ret)
{
	if (place->is_offset)
		return wm_symbols_address(a->pass->symbols, place, ret);
	*ret = place->address;
	return true;
}

static int collect_hits(struct annotating *a)
{
	uint32_t nr = wm_profile_nr_buckets(a->profile), frame, kept = 0;

	a->hits = calloc(nr + 1, sizeof(*a->hits));
	if (!a->hits)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct wm_place *place = annotate_end_of(a, i, &frame);
		struct wm_bucket b = wm_profile_bucket(a->profile, i);
		enum wm_unnamed why;
		uint64_t address;

		if (!is_counted(a, i) || !place || place->module != a->best.module ||
		    wm_symbols_find(a->pass->symbols, place, &why) != a->best.symbol ||
		    !annotate_address_of(a, place, &address))
			continue;
		a->hits[a->nr_hits++] = (struct hit){address, b.weight, b.count};
		a->inside += b.weight;
	}
	qsort(a->hits, a->nr_hits, sizeof(*a->hits), annotate_by_address);
	for (uint32_t i = 0; i < a->nr_hits; i++) {
		if (kept && a->hits[kept - 1].address == a->hits[i].address) {
			a->hits[kept - 1].weight += a->hits[i].weight;
			a->hits[kept - 1].count += a->hits[i].count;
		} else {
			a->hits[kept++] = a->hits[i];
		}
	}
	a->nr_hits = kept;
	return 0;
}

/* Returns the sum of the samples in [address, address + bytes). */
static struct hit hit_at(const struct annotating *a, uint64_t address, uint32_t bytes)
{
	struct hit sum = {.address = address};
	uint32_t low = WM_SEARCH(0, a->nr_hits, i, a->hits[i].address < address);
	for (; low < a->nr_hits && a->hits[low].address - address < bytes; low++) {
		sum.weight += a->hits[low].weight;
		sum.count += a->hits[low].count;
	}
	return sum;
}

/* --- rows ----------------------------------------------------------------------------- */

enum column { SHARE, EVENTS, ADDRESS, INSTRUCTION, SOURCE, NR_COLUMNS };

static const struct wm_result_column columns[NR_COLUMNS] = {
    {"share", "Share", WM_CELL_SHARE},       {"events", "Events", WM_CELL_COUNT},
    {"address", "Address", WM_CELL_ADDRESS}, {"instruction", "Instruction", WM_CELL_TEXT},
    {"source", "Source", WM_CELL_TEXT},
};

/* Returns "1130 <memcpy@plt>", or "12a0 <+0x40>" for a target inside the function. */
static const char *target_text(struct annotating *a, uint64_t target)
{
	const struct wm_place place = {a->best.module, target, false};
	enum wm_unnamed why;
	const struct wm_symbol *s;

	if (target >= a->best.symbol->start && target < a->best.symbol->end)
		return wm_result_format(a->r, "%" PRIx64 " <+0x%" PRIx64 ">", target,
					target - a->best.symbol->start);
	s = wm_symbols_find(a->pass->symbols, &place, &why);
	return s ? wm_result_format(a->r, "%" PRIx64 " <%s>", target, s->name)
		 : wm_result_format(a->r, "%" PRIx64, target);
}

/* Returns the source line, or NULL if it is unknown or the same as the last one. */
static const char *source_text(struct annotating *a, uint64_t address)
{
	const struct wm_place place = {a->best.module, address, false};
	const struct wm_line_frames *f =
	    a->what->no_source ? NULL : wm_lines_find(a->pass->lines, &place);
	const char *file, *text, *slash;

	if (!f || !f->nr || !f->frames[0].file || !f->frames[0].line)
		return NULL;
	file = f->frames[0].file;
	if (a->last_file && !strcmp(a->last_file, file) && a->last_line == f->frames[0].line)
		return NULL;
	a->last_file = file;
	a->last_line = f->frames[0].line;
	slash = strrchr(file, '/');
	text = wm_lines_text_get(a->source, file, a->last_line);
	return wm_result_format(a->r, "%s:%" PRIu32 "%s%s", slash ? slash + 1 : file, a->last_line,
				text ? "  " : "", text ? text : "");
}

static int annotate_put_row(struct annotating *a, const struct hit *h, const char *instruction)
{
	union wm_cell *cells;
	struct wm_result_row *row = wm_result_row(a->r, a->t, NULL, &cells);

	if (!row)
		return -ENOMEM;
	row->weight = h->weight;
	row->share = a->inside ? (double)h->weight / (double)a->inside : 0;
	cells[SHARE].f = row->share;
	cells[EVENTS].u = h->count;
	cells[ADDRESS].u = h->address;
	cells[INSTRUCTION].text = instruction;
	cells[SOURCE].text = source_text(a, h->address);
	return 0;
}

static int put_instruction(const struct wm_disassembled *i, void *data)
{
	struct annotating *a = data;
	struct hit h = hit_at(a, i->address, i->bytes);

	const char *operands = i->has_target ? target_text(a, i->target) : i->operands;

	return annotate_put_row(a, &h,
				operands[0] ? wm_result_format(a->r, "%-7s %s", i->name, operands)
					    : wm_result_format(a->r, "%s", i->name));
}

/* Disassembles the function's bytes from the file. */
static int disassemble(struct annotating *a, struct wm_elf *e)
{
	const struct wm_symbol *s = a->best.symbol;
	uint64_t bytes = s->end - s->start, offset;
	void *code;
	int err;

	if (!bytes || bytes > WM_ANNOTATE_CODE_MAX)
		return -EFBIG;
	err = wm_elf_offset(e, s->start, bytes, &offset);
	if (!err)
		err = wm_elf_read_new(e, offset, bytes, WM_ANNOTATE_CODE_MAX, &code, NULL);
	if (err)
		return err;
	err = wm_disassemble(e->machine, code, bytes, s->start, put_instruction, a);
	free(code);
	return err;
}

/* Lists the addresses of the samples when the code is not available. */
static int put_hits(struct annotating *a, const char *why)
{
	int err = 0;

	wm_result_note(a->r, WM_NOTE_PROBLEM, "code", "cannot show the instructions of %s: %s",
		       a->best.module->path, why);
	for (uint32_t i = 0; i < a->nr_hits && !err; i++)
		err = annotate_put_row(a, &a->hits[i], NULL);
	return err;
}

/* Returns why the code cannot be disassembled; NULL for errors of other kinds. */
static const char *no_code(int err)
{
	return err == -ENOTSUP ? "the code is for another architecture"
	       : err == -ELIBACC
		   ? "this architecture needs the library Capstone (Debian: libcapstone4)"
		   : NULL;
}

static int put_kernel(struct annotating *a)
{
	struct wm_kernel_code code;
	struct wm_diag diag = {.offset = -1};
	int err = wm_symbols_kernel_code(a->best.module, a->best.symbol,
					 wm_symbols_places(a->pass->symbols), &code, &diag);

	if (err)
		return err == -ENOMEM ? err : put_hits(a, diag.sentence);
	err = wm_disassemble(code.machine, code.bytes, code.nr_bytes, a->best.symbol->start,
			     put_instruction, a);
	free(code.bytes);
	return no_code(err) ? put_hits(a, no_code(err)) : err;
}

static int put_code(struct annotating *a)
{
	struct wm_module_files files = {0};
	struct wm_diag diag = {.offset = -1};
	enum wm_unnamed why;
	int err;

	if (a->best.module->kind == WM_MODULE_KERNEL || a->best.module->kind == WM_MODULE_KMODULE)
		return put_kernel(a);
	if (a->best.module->kind != WM_MODULE_FILE)
		return put_hits(a, "its code is not in a file");
	why = wm_module_open(a->best.module, wm_symbols_places(a->pass->symbols), &files, &diag);
	if (!files.image) {
		wm_module_close(&files);
		return put_hits(a, wm_unnamed_text(why));
	}
	err = disassemble(a, files.image);
	wm_module_close(&files);
	if (!err || err == -ENOMEM)
		return err;
	return put_hits(a, no_code(err) ? no_code(err)
					: "the file does not contain the code of this function");
}

static struct wm_result_table *annotate_make_table(struct annotating *a)
{
	const char *event = wm_names_text(&a->pass->state.names, (uint32_t)a->event);
	struct wm_result_table *t = wm_result_table(
	    a->r, "annotate",
	    wm_result_format(a->r, "%s%s%s in %s: %.2f%% of the total weight",
			     a->event ? event : "", a->event ? ": " : "", a->best.symbol->name,
			     a->best.module->path,
			     a->total ? 100.0 * (double)a->inside / (double)a->total : 0),
	    columns, NR_COLUMNS);

	if (t && a->event)
		t->subject = wm_result_text(a->r, event, strlen(event));
	return t;
}

/* Adds the listing of one event, if it occurred in such a function. */
static int show_event(struct annotating *a)
{
	int err = annotate_find_function(a);

	if (err || !a->best.symbol)
		return err;
	err = collect_hits(a);
	if (err)
		return err;
	if (a->nr_found > 1)
		wm_result_note(a->r, WM_NOTE_PROBLEM, "function",
			       "%" PRIu32
			       " functions have that name; this is the one with the most "
			       "events; --dso selects another",
			       a->nr_found);
	a->t = annotate_make_table(a);
	return a->t ? put_code(a) : -ENOMEM;
}

static bool is_meant_event(const struct wm_pass *pass, const struct wm_annotate_what *w,
			   uint64_t event)
{
	return !w->event || !strcmp(w->event, wm_names_text(&pass->state.names, (uint32_t)event));
}

/* Adds the listing for a bucket's event, unless an earlier bucket has the same event. */
static int annotate_show(struct annotating *a, uint32_t bucket)
{
	int err;

	a->event = wm_profile_bucket(a->profile, bucket).words[0];
	if (!is_meant_event(a->pass, a->what, a->event))
		return 0;
	for (uint32_t i = 0; i < bucket; i++)
		if (is_counted(a, i))
			return 0;
	err = wm_lines_text_create(&a->source);
	if (!err)
		err = show_event(a);
	wm_lines_text_destroy(a->source);
	free(a->hits);
	return err;
}

/* Suggests functions with similar names in which events occurred. */
static void annotate_say_nearest(struct wm_pass *pass, struct wm_profile *profile,
				 const struct wm_annotate_what *w, struct wm_result *r)
{
	struct annotating a = {.pass = pass, .profile = profile, .what = w, .r = r};
	struct wm_nearest near;
	char hint[512];
	uint32_t frame;

	wm_nearest_init(&near, w->symbol);
	for (uint32_t i = 0; i < wm_profile_nr_buckets(profile); i++)
		if (annotate_end_of(&a, i, &frame))
			wm_nearest_offer(&near, wm_stacks_name(wm_profile_stacks(profile), frame));
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	wm_result_note(r, WM_NOTE_PROBLEM, "function",
		       "no event occurred in a function named '%s'%s%s", w->symbol,
		       hint[0] ? "; " : "", hint);
}

int wm_annotate(struct wm_pass *pass, struct wm_profile *profile, const struct wm_annotate_what *w,
		struct wm_result *r)
{
	uint32_t nr = wm_profile_nr_buckets(profile);
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		struct annotating a = {.pass = pass, .profile = profile, .what = w, .r = r};

		err = annotate_show(&a, i);
	}
	if (!err && !r->tables)
		annotate_say_nearest(pass, profile, w, r);
	return err || !r->failed ? err : -ENOMEM;
}

/* --- the analysis ----------------------------------------------------------------------- */

struct own {
	struct wm_pass *pass;
	struct wm_profile *profile;
	const struct wm_annotate_values *v;
};

static int annotate_create(struct wm_pass *pass, const void *values, void **ret,
			   struct wm_diag *diag)
{
	struct own *own = calloc(1, sizeof(*own));

	if (!own)
		return -ENOMEM;
	*ret = own;
	own->pass = pass;
	own->v = values;
	return wm_profile_create(pass, WM_PROFILE_EVENTS, &own->v->profile, &own->profile, diag);
}

static int annotate_feed(void *own, const struct wm_sight *s)
{
	return wm_profile_feed(((struct own *)own)->profile, s);
}

static int annotate_finish(void *data, struct wm_result *r)
{
	struct own *own = data;

	return wm_annotate(own->pass, own->profile, &own->v->what, r);
}

static void annotate_destroy(void *data)
{
	struct own *own = data;

	if (!own)
		return;
	wm_profile_destroy(own->profile);
	free(own);
}

const struct wm_analysis wm_analysis_annotate = {
    .name = "annotate",
    .summary = "one function, instruction by instruction",
    .create = annotate_create,
    .feed = annotate_feed,
    .finish = annotate_finish,
    .destroy = annotate_destroy,
};
