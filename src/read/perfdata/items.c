/* SPDX-License-Identifier: MIT */
/*
 * items.c - converts samples to items. Parts of a sample that are a single number are rows of a
 * table; each of the others has a function.
 */
#include <errno.h>
#include <string.h>

#include "read/perfdata/perfdata_int.h"

static const struct wm_type u8 = {.kind = WM_TYPE_UNSIGNED, .bits = 8};
static const struct wm_type u16 = {.kind = WM_TYPE_UNSIGNED, .bits = 16};
static const struct wm_type u32 = {.kind = WM_TYPE_UNSIGNED, .bits = 32};
static const struct wm_type s32 = {.kind = WM_TYPE_SIGNED, .bits = 32};
static const struct wm_type u64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_type hex = {.kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};
static const struct wm_type address = {
    .kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_POINTER};
static const struct wm_type truth = {.kind = WM_TYPE_BOOL, .bits = 1};
static const struct wm_type bytes = {.kind = WM_TYPE_BYTES};
static const struct wm_type chain = {.kind = WM_TYPE_LIST, .element = {NULL, &address}};
static const struct wm_type words = {.kind = WM_TYPE_LIST, .element = {NULL, &hex}};

static const struct wm_member branch_members[] = {
    {"from", &address}, {"to", &address},  {"mispredicted", &truth}, {"predicted", &truth},
    {"in_tx", &truth},  {"abort", &truth}, {"cycles", &u16},         {"type", &u8},
};
#define NR_BRANCH (sizeof(branch_members) / sizeof(branch_members[0]))
static const struct wm_type branch = {
    .kind = WM_TYPE_STRUCT, .nr_members = NR_BRANCH, .members = branch_members};
static const struct wm_type branch_list = {.kind = WM_TYPE_LIST, .element = {NULL, &branch}};

static const struct wm_member counter_members[] = {{"value", &u64}, {"id", &u64}, {"lost", &u64}};
static const struct wm_type counter = {
    .kind = WM_TYPE_STRUCT, .nr_members = 3, .members = counter_members};
static const struct wm_type counter_list = {.kind = WM_TYPE_LIST, .element = {NULL, &counter}};

/* --- parts that are not one number ------------------------------------------ */

struct adding {
	const struct wm_perf_shape *shape;
	const struct wm_perf_sample *sample;
	struct wm_batch *batch;
	const struct wm_member *member;
};

static bool perfdata_items_add_bytes(struct adding *x, const unsigned char *data, uint64_t n)
{
	struct wm_item *i;

	if (!wm_batch_room(x->batch, 1))
		return false;
	i = wm_batch_item(x->batch, x->member);
	i->bytes = data;
	i->count = (uint32_t)n;
	return true;
}

static bool perfdata_items_add_words(struct adding *x, const struct wm_perf_words *w)
{
	struct wm_batch *b = x->batch;
	struct wm_item *list;

	if (!wm_batch_room(b, (uint32_t)w->nr + 1))
		return false;
	list = wm_batch_item(b, x->member);
	list->count = (uint32_t)w->nr;
	for (uint64_t i = 0; i < w->nr; i++)
		wm_batch_item(b, &x->member->type->element)->u =
		    wm_kperf_word(w, i, x->shape->swap);
	list->next = b->nr_items;
	return true;
}

/*
 * Returns the index of the marker that starts the chain's user part, or the chain's length if there
 * is none.
 */
static uint64_t user_part(const struct adding *x)
{
	const struct wm_perf_words *w = &x->sample->callchain;
	uint64_t i = 0;

	while (i < w->nr && wm_kperf_word(w, i, x->shape->swap) != WM_PERF_CONTEXT_USER)
		i++;
	return i;
}

/*
 * Adds the chain with its user part as recorded by the processor (--call-graph lbr): from the
 * innermost function to each caller. The kernel walks only its own part.
 */
static bool add_recorded_chain(struct adding *x, uint64_t kernel)
{
	const struct wm_perf_branches *s = &x->sample->branches;
	const struct wm_member *element = &x->member->type->element;
	struct wm_batch *b = x->batch;
	struct wm_item *list;

	if (!wm_batch_room(b, (uint32_t)(kernel + s->nr) + 3))
		return false;
	list = wm_batch_item(b, x->member);
	list->count = (uint32_t)(kernel + s->nr) + 2;
	for (uint64_t i = 0; i <= kernel; i++)
		wm_batch_item(b, element)->u =
		    wm_kperf_word(&x->sample->callchain, i, x->shape->swap);
	wm_batch_item(b, element)->u = wm_kperf_branch_get(x->shape, s, 0).to;
	for (uint64_t i = 0; i < s->nr; i++)
		wm_batch_item(b, element)->u = wm_kperf_branch_get(x->shape, s, i).from;
	list->next = b->nr_items;
	return true;
}

static bool add_callchain(struct adding *x)
{
	uint64_t kernel;

	if (__builtin_expect(x->shape->branch_sample_type & WM_PERF_BRANCH_CALL_STACK, 0) &&
	    x->sample->branches.nr) {
		kernel = user_part(x);
		if (kernel < x->sample->callchain.nr)
			return add_recorded_chain(x, kernel);
	}
	return perfdata_items_add_words(x, &x->sample->callchain);
}

static bool add_raw(struct adding *x)
{
	return perfdata_items_add_bytes(x, x->sample->raw.data, x->sample->raw.bytes);
}

static bool perfdata_items_add_stack(struct adding *x)
{
	return perfdata_items_add_bytes(x, x->sample->stack_user.data, x->sample->stack_user.bytes);
}

static bool add_aux(struct adding *x)
{
	return perfdata_items_add_bytes(x, x->sample->aux.data, x->sample->aux.bytes);
}

static bool add_regs_user(struct adding *x)
{
	return perfdata_items_add_words(x, &x->sample->regs_user.words);
}

static bool add_regs_intr(struct adding *x)
{
	return perfdata_items_add_words(x, &x->sample->regs_intr.words);
}

static void add_struct(struct wm_batch *b, const struct wm_member *element, const uint64_t *values)
{
	const struct wm_type *t = element->type;
	struct wm_item *i = wm_batch_item(b, element);

	i->count = t->nr_members;
	i->next += t->nr_members;
	for (uint32_t k = 0; k < t->nr_members; k++)
		wm_batch_item(b, &t->members[k])->u = values[k];
}

static bool add_branches(struct adding *x)
{
	const struct wm_perf_branches *s = &x->sample->branches;
	struct wm_batch *b = x->batch;
	struct wm_item *list;

	if (!wm_batch_room(b, (uint32_t)s->nr * (NR_BRANCH + 1) + 1))
		return false;
	list = wm_batch_item(b, x->member);
	list->count = (uint32_t)s->nr;
	for (uint64_t i = 0; i < s->nr; i++) {
		struct wm_perf_branch e = wm_kperf_branch_get(x->shape, s, i);
		/* The kinds that the kernel added later follow the others. */
		uint64_t type = e.type == WM_PERF_BRANCH_EXTENDED ? 16u + e.new_type : e.type;
		const uint64_t values[NR_BRANCH] = {e.from,  e.to,    e.mispred, e.predicted,
						    e.in_tx, e.abort, e.cycles,  type};

		add_struct(b, &branch_list.element, values);
	}
	list->next = b->nr_items;
	return true;
}

static bool add_read(struct adding *x)
{
	const struct wm_perf_read *r = &x->sample->read;
	struct wm_batch *b = x->batch;
	struct wm_item *list;

	if (!wm_batch_room(b, (uint32_t)r->nr * 4 + 1))
		return false;
	list = wm_batch_item(b, x->member);
	list->count = (uint32_t)r->nr;
	for (uint64_t i = 0; i < r->nr; i++) {
		struct wm_perf_counter c = wm_kperf_read_counter(x->shape, r, i);
		const uint64_t values[] = {c.value, c.id, c.lost};

		add_struct(b, &counter_list.element, values);
	}
	list->next = b->nr_items;
	return true;
}

/* --- the table ---------------------------------------------------------------- */

#define WIDE(f)   offsetof(struct wm_perf_sample, f), 8, NULL
#define NARROW(f) offsetof(struct wm_perf_sample, f), 4, NULL
#define BY(f)     0, 0, f

/*
 * The parts of a sample, in record order. The time and the fields that identify the attr are not
 * items.
 */
static const struct part {
	uint64_t bit;
	struct wm_member member;
	size_t offset;
	unsigned width;
	bool (*add)(struct adding *x);
} parts[] = {
    {WM_PERF_SAMPLE_IP, {"ip", &address}, WIDE(ip)},
    {WM_PERF_SAMPLE_TID, {"pid", &s32}, NARROW(pid)},
    {WM_PERF_SAMPLE_TID, {"tid", &s32}, NARROW(tid)},
    {WM_PERF_SAMPLE_ADDR, {"addr", &address}, WIDE(addr)},
    {WM_PERF_SAMPLE_CPU, {"cpu", &u32}, NARROW(cpu)},
    {WM_PERF_SAMPLE_PERIOD, {"period", &u64}, WIDE(period)},
    {WM_PERF_SAMPLE_READ, {"counters", &counter_list}, BY(add_read)},
    {WM_PERF_SAMPLE_CALLCHAIN, {"callchain", &chain}, BY(add_callchain)},
    {WM_PERF_SAMPLE_RAW, {"raw", &bytes}, BY(add_raw)},
    {WM_PERF_SAMPLE_BRANCH_STACK, {"branches", &branch_list}, BY(add_branches)},
    {WM_PERF_SAMPLE_REGS_USER, {"regs_user", &words}, BY(add_regs_user)},
    {WM_PERF_SAMPLE_STACK_USER, {"stack_user", &bytes}, BY(perfdata_items_add_stack)},
    {WM_PERF_SAMPLE_WEIGHT | WM_PERF_SAMPLE_WEIGHT_STRUCT, {"weight", &u64}, WIDE(weight)},
    {WM_PERF_SAMPLE_DATA_SRC, {"data_src", &hex}, WIDE(data_src)},
    {WM_PERF_SAMPLE_TRANSACTION, {"transaction", &hex}, WIDE(transaction)},
    {WM_PERF_SAMPLE_REGS_INTR, {"regs_intr", &words}, BY(add_regs_intr)},
    {WM_PERF_SAMPLE_PHYS_ADDR, {"phys_addr", &address}, WIDE(phys_addr)},
    {WM_PERF_SAMPLE_AUX, {"aux", &bytes}, BY(add_aux)},
    {WM_PERF_SAMPLE_CGROUP, {"cgroup", &u64}, WIDE(cgroup)},
    {WM_PERF_SAMPLE_DATA_PAGE_SIZE, {"data_page_size", &u64}, WIDE(data_page_size)},
    {WM_PERF_SAMPLE_CODE_PAGE_SIZE, {"code_page_size", &u64}, WIDE(code_page_size)},
};
#define NR_SAMPLE_PARTS (sizeof(parts) / sizeof(parts[0]))

/*
 * Lists the parts of an attr's samples that are items. A tracepoint's raw data are its fields. An
 * event whose counter was read with a sample has a period, even if the samples have none.
 */
static void list_parts(struct wm_pd_attr *a)
{
	uint64_t type = a->shape.sample_type;

	if (a->format)
		type &= ~(uint64_t)WM_PERF_SAMPLE_RAW;
	if (wm_pd_reads(a))
		type |= WM_PERF_SAMPLE_PERIOD;
	_Static_assert(NR_SAMPLE_PARTS <= WM_PD_PARTS_MAX, "a list has room for all parts");
	a->nr_parts = 0;
	for (size_t i = 0; i < NR_SAMPLE_PARTS; i++)
		if (type & parts[i].bit)
			a->parts[a->nr_parts++] = (uint8_t)i;
}

const struct wm_type *wm_pd_sample_type(struct wm_trace *t, struct wm_pd_attr *a)
{
	struct wm_type *type = wm_arena_get(&t->arena, sizeof(*type));
	struct wm_member *members = wm_arena_array(&t->arena, NR_SAMPLE_PARTS, sizeof(*members));

	if (!type || !members)
		return NULL;
	list_parts(a);
	type->kind = WM_TYPE_STRUCT;
	type->members = members;
	for (uint32_t i = 0; i < a->nr_parts; i++)
		members[type->nr_members++] = parts[a->parts[i]].member;
	return type;
}

static bool perfdata_items_add_part(struct adding *x, const struct part *p)
{
	const unsigned char *from = (const unsigned char *)x->sample + p->offset;
	struct wm_item *i;

	x->member = &p->member;
	if (p->add)
		return p->add(x);
	if (!wm_batch_room(x->batch, 1))
		return false;
	i = wm_batch_item(x->batch, x->member);
	if (p->width == 8) {
		memcpy(&i->u, from, 8);
	} else {
		uint32_t v;

		memcpy(&v, from, 4);
		i->u = v;
		if (p->member.type == &s32)
			i->s = (int32_t)v;
	}
	return true;
}

bool wm_pd_sample_items(const struct wm_pd_attr *a, const struct wm_perf_shape *shape,
			const struct wm_perf_sample *s, struct wm_batch *b)
{
	struct adding x = {.shape = shape, .sample = s, .batch = b};

	for (uint32_t i = 0; i < a->nr_parts; i++)
		if (!perfdata_items_add_part(&x, &parts[a->parts[i]]))
			return false;
	return true;
}

/* --- samples with words at constant offsets ------------------------------------- */

/* The words that begin a sample, in order. */
static const uint64_t words_first[] = {
    WM_PERF_SAMPLE_IDENTIFIER, WM_PERF_SAMPLE_IP,   WM_PERF_SAMPLE_TID,
    WM_PERF_SAMPLE_TIME,       WM_PERF_SAMPLE_ADDR, WM_PERF_SAMPLE_ID,
    WM_PERF_SAMPLE_STREAM_ID,  WM_PERF_SAMPLE_CPU,  WM_PERF_SAMPLE_PERIOD,
};
#define NR_FIRST (sizeof(words_first) / sizeof(words_first[0]))

/*
 * Returns the offset of a word; with `bit` 0, the end of all words; 0: samples
 * of the type do not have it.
 */
static uint16_t perfdata_items_place_of(uint64_t type, uint64_t bit)
{
	uint16_t at = WM_PERF_HEADER_BYTES;

	for (size_t i = 0; i < NR_FIRST; i++) {
		if (words_first[i] == bit)
			return type & bit ? at : 0;
		at += type & words_first[i] ? 8 : 0;
	}
	return at;
}

static void flat_item(struct wm_pd_flat *f, const struct part *p, uint64_t type)
{
	uint16_t at = type & p->bit ? perfdata_items_place_of(type, p->bit) : 0;
	bool is_tid = p->offset == offsetof(struct wm_perf_sample, tid);

	if (!at || f->nr_items == sizeof(f->items) / sizeof(f->items[0]))
		return;
	f->items[f->nr_items] = (struct wm_pd_flat_item){
	    .item = {.member = &p->member, .next = f->nr_items + 1},
	    .at = (uint16_t)(at + (is_tid ? 4 : 0)),
	    .width = (uint8_t)(p->width + (p->member.type == &s32 ? 1 : 0)),
	};
	f->nr_items++;
}

void wm_pd_flat_make(struct wm_pd_attr *a)
{
	uint64_t type = a->shape.sample_type, flat = a->format ? WM_PERF_SAMPLE_RAW : 0;
	struct wm_pd_flat *f = &a->flat;

	for (size_t i = 0; i < NR_FIRST; i++)
		flat |= words_first[i];
	if (type & ~flat)
		return;
	for (size_t i = 0; i < NR_SAMPLE_PARTS; i++)
		if (parts[i].width)
			flat_item(f, &parts[i], type);
	f->tid_at = perfdata_items_place_of(type, WM_PERF_SAMPLE_TID);
	f->cpu_at = perfdata_items_place_of(type, WM_PERF_SAMPLE_CPU);
	f->raw_at = type & WM_PERF_SAMPLE_RAW ? perfdata_items_place_of(type, 0) : 0;
	f->bytes = (uint16_t)(perfdata_items_place_of(type, 0) + (f->raw_at ? 4 : 0));
}
