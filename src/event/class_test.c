/* SPDX-License-Identifier: MIT */
/* class_test.c - tests valid, malformed and mutated descriptions, and walks over payloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/class.h"
#include "event/desc_build.h"
#include "event/payload_test_kit.h"
#include "event/schema_int.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* A xorshift generator: it returns the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct wm_class *parse_spec(const struct wm_desc_spec *spec)
{
	struct wm_class *c = NULL;
	struct wm_diag diag = {0};
	unsigned char *desc;
	size_t bytes;

	assert_int_equal(wm_desc_build(spec, &desc, &bytes), 0);
	if (wm_class_parse(desc, bytes, "prog", &c, &diag))
		fail_msg("%s at %ld", diag.sentence, (long)diag.offset);
	free(desc);
	return c;
}

static struct wm_class *parse(const char *schema, const int64_t *values, uint16_t nr_values)
{
	struct wm_desc_spec spec = {.name = "e",
				    .schema = schema,
				    .values = values,
				    .nr_values = nr_values,
				    .level = WAYMARK_INFO};

	return parse_spec(&spec);
}

static void test_every_type(void **state)
{
	static const int64_t values[] = {5, 3, -1, 0, 300};
	static const struct {
		const char *name;
		enum wm_field_shape shape;
		enum wm_scalar scalar;
		uint8_t bytes;
		uint32_t length;
		int32_t offset;
	} want[] = {
	    {"a", WM_SHAPE_SCALAR, WM_SCALAR_SIGNED, 1, 0, 0},
	    {"b", WM_SHAPE_SCALAR, WM_SCALAR_SIGNED, 2, 0, 1},
	    {"c", WM_SHAPE_SCALAR, WM_SCALAR_SIGNED, 4, 0, 3},
	    {"d", WM_SHAPE_SCALAR, WM_SCALAR_SIGNED, 8, 0, 7},
	    {"u", WM_SHAPE_SCALAR, WM_SCALAR_UNSIGNED, 8, 0, 15},
	    {"x", WM_SHAPE_SCALAR, WM_SCALAR_HEX, 2, 0, 23},
	    {"ok", WM_SHAPE_SCALAR, WM_SCALAR_BOOL, 1, 0, 25},
	    {"f", WM_SHAPE_SCALAR, WM_SCALAR_FLOAT, 4, 0, 26},
	    {"g", WM_SHAPE_SCALAR, WM_SCALAR_FLOAT, 8, 0, 30},
	    {"p", WM_SHAPE_SCALAR, WM_SCALAR_POINTER, 8, 0, 38},
	    {"name", WM_SHAPE_CHARS, WM_SCALAR_UNSIGNED, 1, 5, 46},
	    {"arr", WM_SHAPE_ARRAY, WM_SCALAR_UNSIGNED, 2, 3, 51},
	    {"color", WM_SHAPE_SCALAR, WM_SCALAR_UNSIGNED, 1, 0, 57},
	    {"sql", WM_SHAPE_STRING, WM_SCALAR_UNSIGNED, 1, 0, 58},
	    {"seq", WM_SHAPE_SEQUENCE, WM_SCALAR_SIGNED, 4, 0, -1},
	    {"blob", WM_SHAPE_BLOB, WM_SCALAR_HEX, 1, 0, -1},
	    {"last", WM_SHAPE_SCALAR, WM_SCALAR_SIGNED, 4, 0, -1},
	};
	struct wm_class *c = parse("a:i1;b:i2;c:i4;d:i8;u:u8;x:x2;ok:b1;f:f4;g:f8;p:p8;name:c#;"
				   "arr:a#u2;color:eu1{RED#,GREEN#,BLUE#};sql:s;seq:qi4;blob:z;"
				   "last:i4;",
				   values, NR(values));

	(void)state;
	assert_int_equal(c->nr_fields, NR(want));
	assert_int_equal(c->payload_bytes, -1);
	for (uint32_t i = 0; i < NR(want); i++) {
		const struct wm_field *f = &c->fields[i];

		assert_string_equal(f->name, want[i].name);
		assert_int_equal(f->shape, want[i].shape);
		assert_int_equal(f->scalar, want[i].scalar);
		assert_int_equal(f->bytes, want[i].bytes);
		assert_int_equal(f->length, want[i].length);
		assert_int_equal(f->offset, want[i].offset);
	}
	/* A label has the value that reading the field returns: -1 in a u1 is 255, 300 is 44. */
	assert_string_equal(wm_field_label(&c->fields[12], 255), "RED");
	assert_string_equal(wm_field_label(&c->fields[12], 0), "GREEN");
	assert_string_equal(wm_field_label(&c->fields[12], 44), "BLUE");
	assert_null(wm_field_label(&c->fields[12], -1));
	assert_string_equal(c->fields[15].name, "blob");
	wm_class_destroy(c);
	c = parse("", NULL, 0);
	assert_int_equal(c->nr_fields, 0);
	assert_int_equal(c->payload_bytes, 0);
	wm_class_destroy(c);
	c = parse("a:i4;b:a#ei2{X#}", (int64_t[]){2, -7}, 2);
	assert_int_equal(c->payload_bytes, 8);
	assert_string_equal(wm_field_label(&c->fields[1], -7), "X");
	wm_class_destroy(c);
	wm_class_destroy(NULL);
}

static void test_head(void **state)
{
	struct wm_desc_spec spec = {.name = "query",
				    .provider = "db",
				    .schema = "a:i4",
				    .print = "a %d\n",
				    .file = "db.c",
				    .kind = WAYMARK_KIND_SPAN,
				    .level = WAYMARK_DEBUG,
				    .line = 42,
				    .flags = WAYMARK_DESC_NOCLOCK};
	struct wm_class *c = parse_spec(&spec);

	(void)state;
	assert_string_equal(c->provider, "db");
	assert_string_equal(c->name, "query");
	assert_string_equal(c->print, "a %d\n");
	assert_string_equal(c->file, "db.c");
	assert_int_equal(c->kind, WAYMARK_KIND_SPAN);
	assert_int_equal(c->level, WAYMARK_DEBUG);
	assert_int_equal(c->line, 42);
	assert_int_equal(c->flags, WAYMARK_DESC_NOCLOCK);
	wm_class_destroy(c);
	spec.provider = spec.print = spec.file = NULL;
	c = parse_spec(&spec);
	assert_string_equal(c->provider, "prog");
	assert_null(c->print);
	assert_string_equal(c->file, "");
	wm_class_destroy(c);
}

/* The names of a class's fields, for comparing; "/x" marks hexadecimal ones. */
static const char *names_of(const struct wm_class *c, char *names)
{
	*names = 0;
	for (uint32_t k = 0; k < c->nr_fields; k++) {
		strcat(names, k ? " " : "");
		strcat(names, c->fields[k].name);
		strcat(names, c->fields[k].scalar == WM_SCALAR_HEX ? "/x" : "");
	}
	return names;
}

static void test_names(void **state)
{
	static const struct {
		const char *schema, *names;
	} cases[] = {
	    {"rows:i4;p->sql:s", "rows p_sql"},
	    {"a:i4;a:i4;a:s", "a a_2 a_3"},
	    {"__x__y_:i4;5:i4;**:i4", "__x__y_ arg2 arg3"},
	    {"gr\xc3\xb6\xc3\x9f"
	     "e:x4;(void *)q:p8",
	     "gr_e/x void_q"},
	};
	char names[256];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct wm_class *c = parse(cases[i].schema, NULL, 0);

		assert_string_equal(names_of(c, names), cases[i].names);
		wm_class_destroy(c);
	}
}

/*
 * Markers: the format, the arguments as written in the source, and their types (a format that
 * begins with '\0' is stored without filler).
 */
static void test_markers(void **state)
{
	static const struct {
		const char *print, *spelling, *types, *names;
	} cases[] = {
	    {"rows %d sql %s", "n, text", "is", "rows sql"},
	    {"rows=%d, sql='%.20s' (%f)", "n,text,z", "isf", "rows sql z"},
	    {"100%% of 5 addr 0x%lx at #%lu", "a, b", "uu", "addr/x at"},
	    {"v %*.*d", "w,p,v", "iii", "w p v"},
	    {"x %d x %d x %X", "a,b,c", "iii", "x x_2 x_3/x"},
	    {"%m error %d, then 7 %o %p", "n,q,(void *)r", "iup", "error q/x void_r"},
	    {"%d %s %s", "c ? a : b, s[\"a,\\\"b\"], N::f(1, ',')", "iss", "c_a_b s_a_b N_f_1"},
	    {"%d %d", "f<int, char>(x), y", "ii", "arg1 arg2"},
	    {"only one %d", "a, b", "ib", "one b"},
	    {"cut %-#0", "a", "i", "a"},
	    {"none", "", "", ""},
	    {"%s %s", "5, \"\"", "ss", "arg1 arg2"},
	};
	char names[256];

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		int64_t values[8] = {0};
		uint16_t nr = (uint16_t)strlen(cases[i].types);
		struct wm_desc_spec spec = {.name = "e",
					    .kind = WAYMARK_KIND_MARKER,
					    .schema = cases[i].spelling,
					    .print = cases[i].print,
					    .values = values};

		for (uint16_t k = 0; k < nr; k++)
			values[k] =
			    WAYMARK_ARG(cases[i].types[k], strchr("iu", cases[i].types[k])   ? 4
							   : strchr("fp", cases[i].types[k]) ? 8
											     : 1);
		for (spec.nr_values = nr; spec.nr_values <= nr + 1; spec.nr_values++) {
			struct wm_class *c = parse_spec(&spec);

			assert_string_equal(names_of(c, names), cases[i].names);
			assert_string_equal(c->print, cases[i].print);
			for (uint16_t k = 0; k < nr; k++)
				assert_int_equal(c->fields[k].shape, cases[i].types[k] == 's'
									 ? WM_SHAPE_STRING
									 : WM_SHAPE_SCALAR);
			wm_class_destroy(c);
		}
	}
}

static void test_bad_markers(void **state)
{
	static const int64_t bad[] = {
	    WAYMARK_ARG('i', 3),  WAYMARK_ARG('i', 0),   WAYMARK_ARG('i', 16),
	    WAYMARK_ARG('i', 24), WAYMARK_ARG('c', 4),   WAYMARK_ARG('a', 4),
	    WAYMARK_ARG('e', 4),  WAYMARK_ARG('q', 4),   WAYMARK_ARG('z', 1),
	    WAYMARK_ARG('f', 2),  WAYMARK_ARG('p', 4),   WAYMARK_ARG('b', 4),
	    WAYMARK_ARG(0, 4),    WAYMARK_ARG(0x169, 4), -1,
	};

	(void)state;
	for (size_t i = 0; i < NR(bad); i++) {
		struct wm_desc_spec spec = {.name = "e",
					    .kind = WAYMARK_KIND_MARKER,
					    .schema = "a",
					    .print = "%d",
					    .values = &bad[i],
					    .nr_values = 1};
		struct wm_class *c;
		unsigned char *desc;
		size_t bytes;

		assert_int_equal(wm_desc_build(&spec, &desc, &bytes), 0);
		assert_int_equal(wm_class_parse(desc, bytes, NULL, &c, NULL), -EBADMSG);
		free(desc);
	}
}

/* A marker built by a trace reader has fields that are already named. */
static void test_named_marker(void **state)
{
	struct wm_desc_spec spec = {.name = "e",
				    .kind = WAYMARK_KIND_MARKER,
				    .flags = WAYMARK_DESC_LINKED,
				    .schema = "rows:i4;sql:s",
				    .print = "one %d two %s",
				    .named = true};
	struct wm_class *c = parse_spec(&spec);
	char names[256];

	(void)state;
	assert_string_equal(names_of(c, names), "rows sql");
	assert_int_equal(c->kind, WAYMARK_KIND_MARKER);
	assert_int_equal(c->flags, WAYMARK_DESC_LINKED);
	assert_null(c->carrier);
	wm_class_destroy(c);

	spec.carrier = "shop:order";
	c = parse_spec(&spec);
	assert_string_equal(c->carrier, "shop:order");
	wm_class_destroy(c);

	spec.flags = 0; /* without the flag, the description has no carrier string */
	c = parse_spec(&spec);
	assert_null(c->carrier);
	wm_class_destroy(c);
}

/* Checks that the schema is refused and that the diag has this reason and offset. */
static void test_bad_schemas(void **state)
{
	static const struct {
		const char *schema, *why;
		int at; /* offset in the schema; -1: not compared */
	} cases[] = {
	    {"a", "a field without a type", 0},
	    {"a:", "unknown type", 2},
	    {":i4", "without a name", 0},
	    {";a:i4", "a field without a type", 0},
	    {";", "a field without a type", 0},
	    {"a:i4;;b:i4", "a field without a type", 5},
	    {"a:i3", "invalid width", 3},
	    {"a:i0", "unknown type", 2},
	    {"a:i", "invalid width", 3},
	    {"a:b4", "invalid width", 3},
	    {"a:f2", "invalid width", 3},
	    {"a:f1", "invalid width", 3},
	    {"a:p4", "invalid width", 3},
	    {"a:i9", "invalid width", 3},
	    {"a:y4", "unknown type", 2},
	    {"a:i4x", "';' or the end", 4},
	    {"a:i4:b:i4", "';' or the end", 4},
	    {"a:ss", "';' or the end", 3},
	    {"a:c", "expected '#'", 3},
	    {"a:c5", "expected '#'", 3},
	    {"a:a#", "unknown type", 4},
	    {"a:a#s", "unknown type", 4},
	    {"a:a#a#i4", "unknown type", 4},
	    {"a:q", "unknown type", 3},
	    {"a:qz", "unknown type", 3},
	    {"a:c#;b:c#;c:c#", "no value is left", 13},
	    {"a:ei4", "needs labels", 5},
	    {"a:ei4{", "a label is missing", 6},
	    {"a:ei4{}", "a label is missing", 6},
	    {"a:ei4{R", "expected '#'", 7},
	    {"a:ei4{R#", "',' or '}'", 8},
	    {"a:ei4{R#,", "a label is missing", 9},
	    {"a:ei4{R#;G#}", "',' or '}'", 8},
	    {"a:ei4{R;G", "expected '#'", 9},
	    {"a:ei4{R#,G#,B#}", "no value is left", 13},
	    {"a:ei4{R\n#}", "expected '#'", 7},
	    {"a:ef4{R#}", "integer type", -1},
	    {"a:eb1{R#}", "integer type", -1},
	    {"a:es{R#}", "unknown type", 3},
	    {"a:e", "unknown type", 3},
	    {"x:i4;x:i4;x_2:i4", "two fields have the name x_2", 10},
	};
	static const int64_t values[] = {1, 2};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		size_t bytes;
		unsigned char *desc = wm_desc_simple("p", "e", cases[i].schema, values, 2, &bytes);
		struct wm_class *c = NULL;
		struct wm_diag diag;
		int err = wm_class_parse(desc, bytes, NULL, &c, &diag);

		if (err != -EBADMSG || !strstr(diag.sentence, cases[i].why))
			fail_msg("'%s': %d, '%s'", cases[i].schema, err, diag.sentence);
		if (cases[i].at >= 0)
			assert_int_equal(diag.offset, 32 + 16 + 4 + cases[i].at);
		assert_null(c);
		assert_int_equal(wm_class_parse(desc, bytes, NULL, &c, NULL), -EBADMSG);
		free(desc);
	}
}

static void test_bad_values(void **state)
{
	static const int64_t bad[] = {-1, WM_CLASS_ARRAY_MAX + 1, INT64_MIN, INT64_MAX};
	struct wm_class *c = NULL;

	(void)state;
	for (size_t i = 0; i < NR(bad); i++) {
		size_t bytes;
		unsigned char *desc = wm_desc_simple("p", "e", "a:a#i4", &bad[i], 1, &bytes);

		assert_int_equal(wm_class_parse(desc, bytes, NULL, &c, NULL), -EBADMSG);
		free(desc);
	}
	c = parse("a:a#i8", (int64_t[]){WM_CLASS_ARRAY_MAX}, 1);
	assert_int_equal(c->payload_bytes, 8 * WM_CLASS_ARRAY_MAX);
	wm_class_destroy(c);
	c = parse("a:a#i8;b:c#", (int64_t[]){0, 0}, 2);
	assert_int_equal(c->payload_bytes, 0);
	wm_class_destroy(c);
}

static void expect_bad(const unsigned char *desc, size_t bytes, const char *why)
{
	/* A copy of the exact size lets ASan detect a read past the end. */
	unsigned char *copy = malloc(bytes ? bytes : 1);
	struct wm_class *c = NULL;
	struct wm_diag diag;
	int err;

	memcpy(copy, desc, bytes);
	err = wm_class_parse(copy, bytes, NULL, &c, &diag);
	if (err != -EBADMSG || !strstr(diag.sentence, why))
		fail_msg("wanted '%s', got %d, '%s'", why, err, diag.sentence);
	free(copy);
}

static void test_bad_frames(void **state)
{
	size_t bytes;
	unsigned char *desc = wm_desc_simple("prov", "e", "a:i4", NULL, 0, &bytes);
	struct waymark_desc *h = (struct waymark_desc *)desc;
	struct waymark_desc good = *h;

	(void)state;
	for (size_t n = 0; n < bytes; n++)
		expect_bad(desc, n, n < sizeof(*h) ? "shorter" : "exceeds the available");
	h->magic++;
	expect_bad(desc, bytes, "magic");
	*h = good, h->size = UINT32_MAX;
	expect_bad(desc, bytes, "exceeds the available");
	*h = good, h->size = 32;
	expect_bad(desc, bytes, "exceed its size");
	*h = good, h->text_size = UINT32_MAX;
	expect_bad(desc, bytes, "exceed its size");
	*h = good, h->nr_values = UINT16_MAX;
	expect_bad(desc, bytes, "exceed its size");
	*h = good, h->kind = WAYMARK_KIND_SPAN + 1;
	expect_bad(desc, bytes, "kind");
	*h = good, h->level = WAYMARK_DEBUG + 1;
	expect_bad(desc, bytes, "level");
	for (uint32_t n = 0; n < good.text_size; n++) {
		*h = good, h->text_size = n;
		expect_bad(desc, bytes, "five strings");
	}
	*h = good;
	desc[sizeof(*h)] = '\n';
	expect_bad(desc, bytes, "control character");
	desc[sizeof(*h)] = 'p';
	desc[sizeof(*h) + 5] = 0;
	expect_bad(desc, bytes, "name is empty");
	free(desc);
}

static void expect_schema_bad(const char *name, const char *schema, const int64_t *values,
			      uint16_t nr_values, const char *why)
{
	size_t bytes;
	unsigned char *desc = wm_desc_simple("p", name, schema, values, nr_values, &bytes);

	assert_non_null(desc);
	expect_bad(desc, bytes, why);
	free(desc);
}

static void test_limits(void **state)
{
	char name[WM_CLASS_NAME_MAX + 2], *schema = calloc(1, 65536);
	int64_t *values = calloc(WM_CLASS_LABELS_MAX + 1, 8);
	struct wm_class *c;
	size_t n = 0;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	expect_schema_bad(name, "a:i4", NULL, 0, "longer than 255");
	for (unsigned i = 0; i < WM_CLASS_FIELDS_MAX; i++)
		n += (size_t)sprintf(schema + n, "f%u:i8;", i);
	c = parse(schema, NULL, 0);
	assert_int_equal(c->nr_fields, WM_CLASS_FIELDS_MAX);
	assert_int_equal(c->fields[255].offset, 255 * 8);
	wm_class_destroy(c);
	strcpy(schema + n, "one_more:i8");
	expect_schema_bad("e", schema, NULL, 0, "too many fields");

	n = (size_t)sprintf(schema, "a:ei4{");
	for (unsigned i = 0; i < WM_CLASS_LABELS_MAX; i++) {
		n += (size_t)sprintf(schema + n, "L%u#,", i);
		values[i] = i;
	}
	strcpy(schema + n - 1, "}");
	c = parse(schema, values, WM_CLASS_LABELS_MAX);
	assert_int_equal(c->fields[0].nr_labels, WM_CLASS_LABELS_MAX);
	assert_string_equal(wm_field_label(&c->fields[0], 4095), "L4095");
	wm_class_destroy(c);
	strcpy(schema + n - 1, ",L#}");
	expect_schema_bad("e", schema, values, WM_CLASS_LABELS_MAX + 1, "too many labels");

	n = (size_t)sprintf(schema, "a:ei4{");
	memset(schema + n, 'L', WM_CLASS_NAME_MAX + 1);
	strcpy(schema + n + WM_CLASS_NAME_MAX + 1, "#}");
	expect_schema_bad("e", schema, values, 1, "label is too long");

	/* Overlong field names are truncated but stay distinct. */
	memset(schema, 'x', 1000);
	strcpy(schema + 1000, ":i4;");
	memset(schema + 1004, 'x', 999);
	strcpy(schema + 1004 + 999, ":i4");
	c = parse(schema, NULL, 0);
	assert_int_equal(strlen(c->fields[1].name), strlen(c->fields[0].name) + 2);
	wm_class_destroy(c);
	free(schema);
	free(values);
}

static void test_equal(void **state)
{
	static const char *const schemas[] = {
	    "a:i4;b:s",
	    "a:u4;b:s",
	    "a:i8;b:s",
	    "c:i4;b:s",
	    "a:i4",
	    "a:i4;b:c#",
	    "a:i4;b:a#u1",
	    "a:ei4{X#,Y#}",
	    "a:ei4{X#,Z#}",
	    "a:ei4{X#}",
	    "a:i4;b:qu1",
	    "a:i4;b:z",
	    "",
	};
	static const int64_t one[] = {1, 2}, two[] = {2, 3};

	(void)state;
	for (size_t i = 0; i < NR(schemas); i++) {
		for (size_t k = 0; k < NR(schemas); k++) {
			struct wm_class *a = parse(schemas[i], one, 2);
			struct wm_class *b = parse(schemas[k], one, 2);

			assert_int_equal(wm_class_equal(a, b), i == k);
			wm_class_destroy(a);
			wm_class_destroy(b);
		}
	}
	for (size_t i = 5; i < 8; i++) { /* the schema text is the same, the values differ */
		struct wm_class *a = parse(schemas[i], one, 2), *b = parse(schemas[i], two, 2);

		assert_false(wm_class_equal(a, b));
		wm_class_destroy(a);
		wm_class_destroy(b);
	}
	struct wm_desc_spec spec = {.name = "e", .schema = "a:i4", .file = "x", .print = "y"};
	struct wm_class *a = parse_spec(&spec), *b;

	spec.file = spec.print = NULL; /* source position and print format are not compared */
	b = parse_spec(&spec);
	assert_true(wm_class_equal(a, b));
	wm_class_destroy(b);
	spec.level = 3;
	b = parse_spec(&spec);
	assert_false(wm_class_equal(a, b));
	wm_class_destroy(b);
	spec.level = 0;
	spec.name = "f";
	b = parse_spec(&spec);
	assert_false(wm_class_equal(a, b));
	wm_class_destroy(b);
	wm_class_destroy(a);
}

static const char walk_schema[] = "a:i1;u:u8;ok:b1;f:f4;g:f8;name:c#;arr:a#i2;sql:s;seq:qu4;"
				  "blob:z;last:i8";
static const int64_t walk_values[] = {4, 2};
static const unsigned char walk_payload[] = {
    0xff,                                                          /* a = -1 */
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,                /* u = 2^64 - 1 */
    7,                                                             /* ok = true */
    0,    0,    0x20, 0xc0,                                        /* f = -2.5 */
    0,    0,    0,    0,    0,    0,    0xf8, 0x3f,                /* g = 1.5 */
    'a',  'b',  0,    'x',                                         /* name = "ab" */
    1,    0,    0xfe, 0xff,                                        /* arr = 1, -2 */
    'h',  'i',  0,                                                 /* sql = "hi" */
    2,    0,    0,    0,    5,    0,    0,    0,    6, 0, 0, 0x80, /* seq */
    3,    0,    0,    0,    9,    0xfe, 7,                         /* blob */
    1,    2,    0,    0,    0,    0,    0,    0x80,                /* last */
};

static int walk(const struct wm_class *c, const unsigned char *payload, size_t bytes,
		struct wm_value *values)
{
	struct wm_payload_cursor cursor = {.class = c, .data = payload, .bytes = bytes};
	int n = 0, more;

	while ((more = wm_payload_next(&cursor, &values[n])) > 0)
		n++;
	return more < 0 ? more : n;
}

static void test_walk(void **state)
{
	struct wm_class *c = parse(walk_schema, walk_values, 2);
	struct wm_value v[16];

	(void)state;
	assert_int_equal(walk(c, walk_payload, sizeof(walk_payload), v), 11);
	assert_int_equal(wm_value_integer(&v[0], 0), -1);
	assert_int_equal(wm_value_integer(&v[1], 0), -1); /* the bits */
	assert_true(wm_value_float(&v[1], 0) == 18446744073709551615.0);
	assert_int_equal(wm_value_integer(&v[2], 0), 1);
	assert_true(wm_value_float(&v[3], 0) == -2.5);
	assert_int_equal(wm_value_integer(&v[3], 0), -2);
	assert_true(wm_value_float(&v[4], 0) == 1.5);
	assert_int_equal(v[5].count, 2);
	assert_memory_equal(v[5].data, "ab", 2);
	assert_int_equal(v[6].count, 2);
	assert_int_equal(wm_value_integer(&v[6], 1), -2);
	assert_true(wm_value_float(&v[6], 1) == -2.0);
	assert_int_equal(wm_value_integer(&v[6], 2), 0); /* out of range: 0 */
	assert_int_equal(v[7].count, 2);
	assert_string_equal((const char *)v[7].data, "hi");
	assert_int_equal(v[8].count, 2);
	assert_int_equal(wm_value_integer(&v[8], 1), 0x80000006);
	assert_int_equal(v[9].count, 3);
	assert_int_equal(wm_value_integer(&v[9], 1), 0xfe);
	assert_int_equal(wm_value_integer(&v[10], 0), INT64_MIN + 0x201);
	for (size_t n = 0; n < sizeof(walk_payload); n++) {
		unsigned char *cut = malloc(n ? n : 1);

		memcpy(cut, walk_payload, n);
		assert_int_equal(walk(c, cut, n, v), -EBADMSG);
		free(cut);
	}
	wm_class_destroy(c);
}

/* Reads every value in a payload of this class. */
static uint64_t read_all(const struct wm_class *c, const unsigned char *payload, size_t bytes)
{
	struct wm_payload_cursor cursor = {.class = c, .data = payload, .bytes = bytes};
	struct wm_value v;
	uint64_t sum = 0;

	while (wm_payload_next(&cursor, &v) > 0) {
		for (uint32_t i = 0; i < v.count; i++)
			sum += (uint64_t)wm_value_integer(&v, i) + (wm_value_float(&v, i) > 1);
		(void)wm_field_label(v.field, wm_value_integer(&v, 0));
	}
	return sum;
}

static void test_mutated_payloads(void **state)
{
	struct wm_class *c = parse(walk_schema, walk_values, 2);
	uint64_t seed = 88172645463325252ull, sum = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t bytes = next_random(&seed) % (sizeof(walk_payload) + 1);
		unsigned char *copy = malloc(bytes ? bytes : 1);

		memcpy(copy, walk_payload, bytes);
		for (int k = 0; bytes && k < 4; k++)
			copy[next_random(&seed) % bytes] = (unsigned char)next_random(&seed);
		sum += read_all(c, copy, bytes);
		free(copy);
	}
	assert_true(sum != 0);
	wm_class_destroy(c);
}

/* A parsed class satisfies its invariants, whatever bytes it was parsed from. */
static void check_class(const struct wm_class *c)
{
	assert_true(c->nr_fields <= WM_CLASS_FIELDS_MAX);
	assert_true(*c->name);
	for (uint32_t i = 0; i < c->nr_fields; i++) {
		const struct wm_field *f = &c->fields[i];

		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(c->fields[k].name, f->name);
		assert_true(f->bytes == 1 || f->bytes == 2 || f->bytes == 4 || f->bytes == 8);
		assert_true(f->length <= WM_CLASS_ARRAY_MAX);
		for (const char *p = f->name; *p; p++)
			assert_true(wm_schema_name_char(*p));
		for (uint32_t k = 0; k < f->nr_labels; k++)
			assert_non_null(wm_field_label(f, f->labels[k].value));
	}
	assert_true(wm_class_equal(c, c));
}

static void test_mutated_descriptions(void **state)
{
	int64_t values[] = {4, 2, 0, 1, 2};
	struct wm_desc_spec spec = {
	    .provider = "prov",
	    .name = "name",
	    .schema = "a:i1;u:u8;ok:b1;f:f4;name:c#;arr:a#i2;e:eu1{A#,B#,C#};sql:s;seq:qu4;z:z",
	    .print = "a %d u %*d 0x%x",
	    .file = "file.c",
	    .values = values,
	    .nr_values = NR(values),
	};
	unsigned char *desc;
	uint64_t seed = 1234567;
	size_t bytes;
	int good = 0, bad = 0;

	(void)state;
	for (int round = 0; round < 60000; round++) {
		int64_t typed = round & 1 ? WAYMARK_ARG('i', 4) : 4;
		unsigned char *copy;
		size_t n;
		struct wm_class *c;

		spec.kind = round % 6;
		values[0] = values[1] = typed;
		assert_int_equal(wm_desc_build(&spec, &desc, &bytes), 0);
		n = round % 4 ? bytes : next_random(&seed) % (bytes + 1);
		copy = malloc(n ? n : 1);
		memcpy(copy, desc, n);
		for (uint64_t k = next_random(&seed) % 6; n && k; k--) {
			uint64_t r = next_random(&seed);
			size_t at = r % n, from = (r >> 20) % n;

			/*
			 * Stores a random byte or one copied from elsewhere, which is more often
			 * valid in the grammar.
			 */
			copy[at] = r >> 63 ? (unsigned char)(r >> 40) : copy[from];
		}
		if (!wm_class_parse(copy, n, "p", &c, NULL)) {
			check_class(c);
			wm_class_destroy(c);
			good++;
		} else {
			bad++;
		}
		free(copy);
		free(desc);
	}
	assert_true(good > 1000 && bad > 1000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_type),
	    cmocka_unit_test(test_head),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_markers),
	    cmocka_unit_test(test_bad_markers),
	    cmocka_unit_test(test_named_marker),
	    cmocka_unit_test(test_bad_schemas),
	    cmocka_unit_test(test_bad_values),
	    cmocka_unit_test(test_bad_frames),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_equal),
	    cmocka_unit_test(test_walk),
	    cmocka_unit_test(test_mutated_payloads),
	    cmocka_unit_test(test_mutated_descriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
