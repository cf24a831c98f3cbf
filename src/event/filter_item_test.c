/* SPDX-License-Identifier: MIT */
/*
 * filter_item_test.c - evaluates the table of expressions (filter_cases_test_kit.h) on decoded
 * items. Also tests features that only other tracers' events have (enumerations with ranges, packet
 * and stream contexts, missing contexts), and damaged bytecode.
 */
#include "event/filter_item.h"
#include "event/filter_test_kit.h"
#include "event/payload_test_kit.h"

#define ITEMS_MAX 4096

/* A record of the table, converted to items. */
struct event {
	struct wm_class *class;
	struct wm_type fields, *types;
	struct wm_member *members;
	struct wm_item items[ITEMS_MAX];
	const struct wm_type *parts[WM_NR_PARTS];
	uint32_t at[WM_NR_PARTS];
	struct wm_item_contexts contexts;
};

static uint8_t kind_of(const struct wm_field *f)
{
	static const uint8_t kinds[] = {
	    [WM_SCALAR_SIGNED] = WM_TYPE_SIGNED, [WM_SCALAR_UNSIGNED] = WM_TYPE_UNSIGNED,
	    [WM_SCALAR_HEX] = WM_TYPE_UNSIGNED,  [WM_SCALAR_BOOL] = WM_TYPE_BOOL,
	    [WM_SCALAR_FLOAT] = WM_TYPE_FLOAT,   [WM_SCALAR_POINTER] = WM_TYPE_UNSIGNED,
	};

	return kinds[f->scalar];
}

static void scalar_type(const struct wm_field *f, struct wm_type *t)
{
	struct wm_type_label *labels = calloc(f->nr_labels + 1, sizeof(*labels));

	*t = (struct wm_type){.kind = kind_of(f), .bits = (uint8_t)(8 * f->bytes)};
	for (uint32_t i = 0; i < f->nr_labels; i++)
		labels[i] = (struct wm_type_label){f->labels[i].name, f->labels[i].value,
						   f->labels[i].value};
	t->is_enum = f->nr_labels;
	t->nr_labels = f->nr_labels;
	t->labels = labels;
}

static void make_type(const struct wm_field *f, struct wm_type *t, struct wm_type *element)
{
	switch (f->shape) {
	case WM_SHAPE_SCALAR:
		scalar_type(f, t);
		return;
	case WM_SHAPE_STRING:
	case WM_SHAPE_CHARS:
		*t = (struct wm_type){.kind = WM_TYPE_STRING,
				      .fixed = f->shape == WM_SHAPE_CHARS,
				      .length = f->length};
		return;
	case WM_SHAPE_BLOB:
		*t = (struct wm_type){.kind = WM_TYPE_BYTES};
		return;
	default:
		scalar_type(f, element);
		*t = (struct wm_type){.kind = WM_TYPE_LIST,
				      .fixed = f->shape == WM_SHAPE_ARRAY,
				      .length = f->length,
				      .element = {NULL, element}};
	}
}

static void put_scalar(struct wm_item *i, const struct wm_value *v, uint32_t k,
		       const struct wm_type *t)
{
	if (t->kind == WM_TYPE_FLOAT)
		i->f = wm_value_float(v, k);
	else if (t->kind == WM_TYPE_BOOL)
		i->u = wm_value_integer(v, k) != 0;
	else
		i->s = wm_value_integer(v, k);
	if (t->kind == WM_TYPE_UNSIGNED && t->bits < 64)
		i->u &= (1ull << t->bits) - 1;
}

static uint32_t put_value(struct event *e, uint32_t at, const struct wm_value *v,
			  const struct wm_member *m)
{
	struct wm_item *i = &e->items[at];

	*i = (struct wm_item){.member = m, .count = v->count, .next = at + 1};
	if (m->type->kind == WM_TYPE_LIST) {
		for (uint32_t k = 0; k < v->count; k++) {
			e->items[at + 1 + k] =
			    (struct wm_item){.member = &m->type->element, .next = at + 2 + k};
			put_scalar(&e->items[at + 1 + k], v, k, m->type->element.type);
		}
		i->next = at + 1 + v->count;
	} else if (m->type->kind == WM_TYPE_STRING) {
		i->text = (const char *)v->data;
		i->count = (uint32_t)strnlen(i->text, v->count);
	} else if (m->type->kind == WM_TYPE_BYTES) {
		i->bytes = v->data;
	} else {
		put_scalar(i, v, 0, m->type);
	}
	assert_true(i->next < ITEMS_MAX);
	return i->next;
}

static struct event *make_event(const struct record *r)
{
	struct event *e = calloc(1, sizeof(*e));
	size_t bytes;
	unsigned char *desc = describe(r, &bytes);
	struct wm_payload_cursor c = {.data = r->payload, .bytes = r->bytes};
	uint32_t at = 0, n = 0;
	struct wm_value v;

	assert_int_equal(wm_class_parse(desc, bytes, NULL, &e->class, NULL), 0);
	c.class = e->class;
	e->types = calloc(2 * e->class->nr_fields + 1, sizeof(*e->types));
	e->members = calloc(e->class->nr_fields + 1, sizeof(*e->members));
	for (; wm_payload_next(&c, &v) == 1; n++) {
		make_type(v.field, &e->types[2 * n], &e->types[2 * n + 1]);
		e->members[n] = (struct wm_member){v.field->name, &e->types[2 * n]};
		at = put_value(e, at, &v, &e->members[n]);
	}
	assert_int_equal(n, e->class->nr_fields);
	e->fields =
	    (struct wm_type){.kind = WM_TYPE_STRUCT, .nr_members = n, .members = e->members};
	e->parts[WM_PART_FIELDS] = &e->fields;
	e->contexts = (struct wm_item_contexts){
	    r->contexts.pid,     r->contexts.tid,  r->contexts.cpu,
	    r->contexts.time_ns, r->contexts.comm, (uint32_t)strnlen(r->contexts.comm, 16),
	    .known = UINT32_MAX,
	};
	free(desc);
	return e;
}

static void destroy_event(struct event *e)
{
	for (uint32_t i = 0; i < 2 * e->class->nr_fields; i++)
		free((void *)e->types[i].labels);
	free(e->types);
	free(e->members);
	wm_class_destroy(e->class);
	free(e);
}

static int bind(const char *text, struct event *e, struct wm_item_filter **ret,
		struct wm_diag *diag)
{
	unsigned char *code;
	size_t bytes;
	int err = wm_filter_parse(text, &code, &bytes, diag);

	if (err)
		fail_msg("%s: %s", text, diag->sentence);
	err = wm_item_filter_bind(code, bytes, "test:event", e->parts, ret, diag);
	free(code);
	return err;
}

static void test_table(void **unused)
{
	struct event *events[NR(records)];

	for (size_t i = 0; i < NR(records); i++)
		events[i] = make_event(&records[i]);
	for (size_t i = 0; i < NR(cases); i++) {
		struct event *e = events[cases[i].record];
		struct wm_diag diag = {0};
		struct wm_item_filter *f;

		if (bind(cases[i].expression, e, &f, &diag))
			fail_msg("%s: %s", cases[i].expression, diag.sentence);
		if (wm_item_filter_run(f, e->items, e->at, &e->contexts) != cases[i].passes)
			fail_msg("record %u: %s: not %d", cases[i].record, cases[i].expression,
				 cases[i].passes);
		wm_item_filter_destroy(f);
	}
	for (size_t i = 0; i < NR(records); i++)
		destroy_event(events[i]);
}

static void test_refusals(void **unused)
{
	static const struct {
		const char *text;
		int err;
		const char *sentence;
		unsigned column;
	} wrong[] = {
	    {"rowz == 1", -ENOENT, "test:event has no field 'rowz'; ", 1},
	    {"1 && nothing_like_it", -ENOENT, "test:event has no field 'nothing_like_it'", 6},
	    {"arr", -EINVAL, "'arr' has several elements: choose one, as in arr[0]", 1},
	    {"rows[0]", -EINVAL, "'rows' has no elements", 0},
	    {"arr[99]", -EINVAL, "'arr' has no element with this index", 0},
	    {"arr[1.5]", -EINVAL, "the index of 'arr' must be an integer", 0},
	    {"sql + 1", -EINVAL, "a string can only be compared", 0},
	    {"sql == 1", -EINVAL, "a string cannot be compared with a number", 0},
	    {"sql < \"a\"", -EINVAL, "strings can be compared with == and != only", 0},
	    {"color == \"PINK\"", -EINVAL, "there is no label 'PINK", 0},
	    {"color < \"DARK*\"", -EINVAL, "'DARK*' matches several values", 0},
	    {"ms % 2", -EINVAL, "this operator does not accept floating-point numbers", 0},
	    {"!sql", -EINVAL, "a string can only be compared", 0},
	    {"~ms", -EINVAL, "this operator does not accept floating-point numbers", 0},
	};
	struct event *e = make_event(&records[0]);

	for (size_t i = 0; i < NR(wrong); i++) {
		struct wm_diag diag = {0};
		struct wm_item_filter *f;
		int err = bind(wrong[i].text, e, &f, &diag);

		if (err != wrong[i].err ||
		    strncmp(diag.sentence, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
			fail_msg("%s: %d, %s", wrong[i].text, err, diag.sentence);
		if (wrong[i].column)
			assert_int_equal(diag.column, wrong[i].column);
	}
	destroy_event(e);
}

/* Labels with ranges; a part's own member hides an outer part's; unknown contexts. */
static void test_foreign(void **unused)
{
	static const struct wm_type_label labels[] = {{"LOW", 0, 9}, {"HIGH", 10, 99}};
	static const struct wm_type level = {
	    .kind = WM_TYPE_UNSIGNED, .bits = 8, .is_enum = true, .labels = labels, .nr_labels = 2};
	static const struct wm_type leb = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
	static const struct wm_member outer[] = {{"n", &leb}, {"cpu_id", &leb}};
	static const struct wm_member inner[] = {{"level", &level}, {"n", &leb}};
	static const struct wm_type parts[] = {
	    {.kind = WM_TYPE_STRUCT, .members = outer, .nr_members = 2},
	    {.kind = WM_TYPE_STRUCT, .members = inner, .nr_members = 2}};
	static const struct {
		const char *text;
		bool passes;
	} wanted[] = {
	    {"level == \"HIGH\"", true}, {"level != \"HIGH\"", false},
	    {"level >= \"HIGH\"", true}, {"level > \"LOW\"", true},
	    {"level > \"HIGH\"", false}, {"level <= \"HIGH\"", true},
	    {"level == \"*\"", true},    {"n == 7", true},
	    {"cpu_id == 3", true},       {"$pid == 1", false},
	    {"$pid != 1", false},        {"$comm == \"\"", false},
	    {"$tid == 5", true},         {"1 || $pid", true},
	};
	struct event e = {
	    .parts = {[WM_PART_PACKET_CONTEXT] = &parts[0], [WM_PART_FIELDS] = &parts[1]},
	    .at = {[WM_PART_FIELDS] = 2}};

	for (uint32_t i = 0; i < 4; i++)
		e.items[i] =
		    (struct wm_item){.member = i < 2 ? &outer[i] : &inner[i - 2], .next = i + 1};
	e.items[0].u = 5;
	e.items[1].u = 3;
	e.items[2].u = 42;
	e.items[3].u = 7;
	e.contexts.tid = 5;
	e.contexts.known = WM_FILTER_TID;
	for (size_t i = 0; i < NR(wanted); i++) {
		struct wm_diag diag = {0};
		struct wm_item_filter *f;

		if (bind(wanted[i].text, &e, &f, &diag))
			fail_msg("%s: %s", wanted[i].text, diag.sentence);
		if (wm_item_filter_run(f, e.items, e.at, &e.contexts) != wanted[i].passes)
			fail_msg("%s: not %d", wanted[i].text, wanted[i].passes);
		wm_item_filter_destroy(f);
	}
}

/* Damaged bytecode is refused, or binds to a program that runs without errors under ASan. */
static void test_damage(void **unused)
{
	struct event *e = make_event(&records[0]);
	uint64_t random = 7;

	for (size_t i = 0; i < NR(cases); i += 3) {
		struct wm_diag diag = {0};
		unsigned char *code, *copy;
		size_t bytes;

		if (cases[i].record)
			continue;
		assert_int_equal(wm_filter_parse(cases[i].expression, &code, &bytes, &diag), 0);
		for (int round = 0; round < 200; round++) {
			size_t n = round % 4 ? bytes : next_random(&random) % (bytes + 1);
			struct wm_item_filter *f;

			copy = exact_copy(code, n);
			if (n)
				copy[next_random(&random) % n] ^= 1u << next_random(&random) % 8;
			if (!wm_item_filter_bind(copy, n, "x", e->parts, &f, NULL)) {
				(void)wm_item_filter_run(f, e->items, e->at, &e->contexts);
				wm_item_filter_destroy(f);
			}
			free(copy);
		}
		free(code);
	}
	destroy_event(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_foreign),
	    cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
