/* SPDX-License-Identifier: MIT */
/*
 * traceevent_test.c - a hundred thousand random records of all events of the running kernel, in
 * pages laid out like those of its ring. libtraceevent and waymark must find the same records at
 * the same times and the same value in each field (waymark reads them from the transcoded payload),
 * and print the same text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#if __has_include(<event-parse.h>) && __has_include(<kbuffer.h>)

#include <errno.h>
#include <event-parse.h>
#include <fcntl.h>
#include <glob.h>
#include <kbuffer.h>
#include <trace-seq.h>

#include "base/file.h"
#include "base/suite_test_kit.h"
#include "event/payload_test_kit.h"
#include "kdata/formats.h"
#include "kdata/page.h"
#include "kdata/print_test_kit.h"
#include "kdata/transcode.h"

#define NR_KINDS_MIN 200u
#define PAGE_BYTES   65536u
#define RECORD_MAX   8192u
#define DYNAMIC_MAX  5u /* maximum elements of a dynamic array, and letters of a string */

static const char pattern[] = "/sys/kernel/tracing/events/*/*/format";

/*
 * libtraceevent 1.7 leaks some strings of print forms. LeakSanitizer, if present, calls this
 * function.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so\n";
}

/*
 * Print forms that libtraceevent 1.7 prints differently from the kernel and from waymark, with the
 * reason.
 */
static const char *const forms[] = {
    "__print_symbolic",   /* does not sign-extend an unnamed negative number; rejects -6ULL */
    "__print_flags",      /* same as symbolic; also treats unknown masks as 0 */
    "%.*s",               /* printed literally */
    "%*pbl",              /* does not compute the width in parentheses */
    "%pIS",               /* omits families other than IP */
    "vmemmap",            /* treated as 0 */
    "PARAVIRT_LAZY_",     /* treats names without a value as 0; waymark prints ? */
    "XEN_MC_FL_",         /* likewise */
    "jiffies_to_",        /* returns the argument as the result */
    " < 0",               /* compares all numbers as unsigned */
    " == -1",             /* compares numbers as unsigned 64-bit ones */
    " ? \"guest_cr3\"",   /* parses !a ? b : c ? d : e as !(a ? ...) */
    " - REC->nr_data +",  /* parses a - b + c as a - (b + c) */
    "value_nsec / 1000L", /* divides unsigned numbers */
    "REC->tsc_shift",     /* prints a signed byte as unsigned */
    "REC->correct",       /* likewise */
    "100 * REC->",        /* multiplies in 64 bits */
    /* For shifts by more bits than the word has: 0 or whatever the processor computes. */
    "<< REC->",
    "\\t=> %ps", /* a stack: waymark prints <stack trace> and has each address as a value */
};

struct kind {
	const struct wm_kformat *format;
	struct wm_kplan *plan;
	struct tep_event *theirs;
	bool prints;  /* both libraries can run the print form */
	bool differs; /* a difference in the text was found */
};

struct world {
	struct wm_kmachine machine;
	struct wm_kformats *formats;
	struct tep_handle *tep;
	struct kbuffer *kbuffer;
	struct kind *kinds; /* by id */
	uint32_t *ids;
	uint32_t nr_kinds, nr_differ, nr_texts; /* nr_differ: kinds */
	uint64_t random;
	struct wm_page_layout layout;
	unsigned char page[PAGE_BYTES];
	uint32_t bytes; /* size of the page */
};

static uint64_t next_random(struct world *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

/* ---- the events ----------------------------------------------------------------- */

static void add_format(struct world *w, char *path)
{
	char *text, *system = path + strlen("/sys/kernel/tracing/events/");
	size_t bytes;

	if (strstr(path, "/events/waymark_"))
		return; /* another recording's probe */
	if (wm_file_read(AT_FDCWD, path, WM_KFORMAT_TEXT_MAX, &text, &bytes))
		return; /* a dynamic event that has since been removed */
	system[strcspn(system, "/")] = 0;
	if (wm_kformats_add(w->formats, system, text, bytes, NULL, NULL) == 0)
		/* The print form may be refused. */
		(void)tep_parse_event(w->tep, text, bytes, system);
	free(text);
}

/*
 * If the length is not the array's, libtraceevent's __print_hex() reads beyond the record and
 * crashes.
 */
static bool can_print(const struct world *w, const struct tep_event *theirs, uint32_t id)
{
	return !(theirs->flags & TEP_EVENT_FL_FAILED) &&
	       !strstr(wm_kformats_event(w->formats, id)->print, "__print_hex") &&
	       !kit_print_is_fields(
		   wm_kformats_print(w->formats, wm_kformats_form(w->formats, id)));
}

static void add_kinds(struct world *w)
{
	uint32_t nr = wm_kformats_nr_ids(w->formats);

	w->kinds = calloc(nr, sizeof(*w->kinds));
	w->ids = calloc(nr, sizeof(*w->ids));
	for (uint32_t id = 0; id < nr; id++) {
		const struct wm_kformat *f = wm_kformats_event(w->formats, id);
		struct tep_event *theirs = tep_find_event(w->tep, (int)id);
		struct kind *k = &w->kinds[id];

		if (!f || !theirs || f->fixed_bytes + 64 * f->nr_fields > RECORD_MAX)
			continue;
		*k = (struct kind){.format = f, .theirs = theirs};
		assert_int_equal(wm_kplan_create(f, &w->machine, NULL, true, &k->plan, NULL), 0);
		k->prints = can_print(w, theirs, id);
		w->ids[w->nr_kinds++] = id;
	}
}

/* ---- records ---------------------------------------------------------------------- */

static void put_text(struct world *w, unsigned char *to, uint32_t room)
{
	uint32_t n = room ? (uint32_t)(next_random(w) % room) : 0;

	memset(to, 0, room);
	for (uint32_t i = 0; i < n; i++)
		to[i] = (unsigned char)('a' + next_random(w) % 26);
}

/* Stores a small number, or one at the limits of its type. */
static void put_number(struct world *w, unsigned char *to, uint32_t bytes)
{
	uint64_t random = next_random(w), value;

	switch (random >> 32 & 7) {
	case 0:
		value = 0;
		break;
	case 1:
		value = UINT64_MAX;
		break;
	case 2:
		value = 1ull << (random >> 40 & 63);
		break;
	case 3:
	case 4:
		value = random;
		break;
	default:
		value = random & 63;
	}
	memcpy(to, &value, bytes);
}

static uint32_t put_dynamic(struct world *w, const struct wm_kfield *f, unsigned char *record,
			    uint32_t at)
{
	uint32_t width = f->element_bytes ? f->element_bytes : 1;
	uint32_t bytes = width * (uint32_t)(next_random(w) % (DYNAMIC_MAX + 1)), offset = at;

	if (f->flags & WM_KFIELD_BITMASK)
		bytes = 8;
	if (f->flags & WM_KFIELD_CHARS)
		put_text(w, record + at, ++bytes);
	for (uint32_t i = 0; !(f->flags & WM_KFIELD_CHARS) && i < bytes; i += width)
		put_number(w, record + at + i, width);
	if (f->flags & WM_KFIELD_REL_LOC)
		offset -= f->offset + f->bytes;
	memcpy(record + f->offset, &(uint32_t){bytes << 16 | offset}, 4);
	return at + bytes;
}

static uint32_t make_record(struct world *w, const struct wm_kformat *f, unsigned char *record)
{
	uint32_t at = (f->fixed_bytes + 7) & ~7u;

	memset(record, 0, RECORD_MAX);
	memcpy(record, &(uint16_t){(uint16_t)f->id}, 2);
	for (unsigned i = 1; i < f->nr_fields; i++) {
		const struct wm_kfield *field = &f->fields[i];
		uint32_t width = field->element_bytes ? field->element_bytes : 1;

		if (field->flags & WM_KFIELD_DYNAMIC)
			at = put_dynamic(w, field, record, at);
		else if (field->flags & WM_KFIELD_CHARS)
			put_text(w, record + field->offset, field->bytes);
		else if (field->flags & WM_KFIELD_BOOL)
			record[field->offset] = next_random(w) & 1;
		else
			for (uint32_t k = 0; k + width <= field->bytes; k += width)
				put_number(w, record + field->offset + k, width);
	}
	return (at + 3) & ~3u;
}

/* ---- pages -------------------------------------------------------------------------- */

static void put_word(struct world *w, uint32_t word)
{
	memcpy(w->page + w->bytes, &word, 4);
	w->bytes += 4;
}

/* Stores a record in the ring's form, sometimes preceded by a long time delta. */
static void put_record(struct world *w, const unsigned char *record, uint32_t bytes)
{
	uint32_t delta = (uint32_t)next_random(w) & 0xffff;

	if (next_random(w) % 8 == 0) {
		put_word(w, delta << 5 | WM_PAGE_TIME_EXTEND);
		put_word(w, (uint32_t)next_random(w) & 0xff);
	}
	if (bytes <= 4 * WM_PAGE_DATA_MAX) {
		put_word(w, delta << 5 | bytes / 4);
	} else {
		put_word(w, delta << 5);
		put_word(w, bytes + 4);
	}
	memcpy(w->page + w->bytes, record, bytes);
	w->bytes += bytes;
}

static uint32_t make_page(struct world *w)
{
	static unsigned char record[RECORD_MAX];
	uint64_t begin = next_random(w) >> 8, commit;
	uint32_t nr = 0;

	memcpy(w->page, &begin, 8);
	w->bytes = 16;
	while (w->bytes + RECORD_MAX + 32 < PAGE_BYTES) {
		uint32_t id = w->ids[next_random(w) % w->nr_kinds];

		put_record(w, record, make_record(w, w->kinds[id].format, record));
		nr++;
	}
	commit = w->bytes - 16;
	memcpy(w->page + 8, &commit, 8);
	return nr;
}

/* ---- values --------------------------------------------------------------------------- */

static void differs(const struct kind *k, const struct wm_value *v)
{
	fail_msg("%s:%s: another value of %s", k->format->system, k->format->name, v->field->name);
}

/* Compares two numbers, sign-extended to 64 bits from any width. */
static bool is_same_number(const struct wm_value *v, unsigned long long theirs)
{
	unsigned unused = 64 - 8 * v->field->bytes;

	return (unsigned long long)wm_value_integer(v, 0) << unused == theirs << unused;
}

/* Compares a string up to its NUL, or all elements of an array as bytes. */
static bool is_same_array(const struct wm_value *v, const char *theirs, uint32_t bytes)
{
	bool text = v->field->shape == WM_SHAPE_STRING || v->field->shape == WM_SHAPE_CHARS;
	uint32_t n = text ? (uint32_t)strnlen(theirs, bytes) : bytes;

	return (text ? strnlen((const char *)v->data, v->count) : v->count * v->field->bytes) ==
		   n &&
	       !memcmp(v->data, theirs, n);
}

/* libtraceevent takes an array's length from the format even where the record is shorter. */
static int length_in_record(const struct kind *k, const struct wm_value *v, int length)
{
	const struct wm_kfield *f = wm_kformat_field(k->format, v->field->name);
	int ours = (int)(v->count * v->field->bytes);

	return f && f->flags & WM_KFIELD_TAIL && ours < length ? ours : length;
}

static void compare_values(const struct kind *k, unsigned char *data, uint32_t bytes)
{
	static unsigned char payload[1 << 17];
	struct tep_record record = {.data = data, .size = (int)bytes};
	int64_t n = wm_kplan_run(k->plan, data, bytes, payload, sizeof(payload));
	struct wm_payload_cursor c = {wm_kplan_class(k->plan), payload, (size_t)n, 0, 0};
	struct wm_value v;

	assert_true(n >= 0);
	while (wm_payload_next(&c, &v) > 0) {
		struct tep_format_field *f = tep_find_any_field(k->theirs, v.field->name);
		unsigned long long number;
		const char *array;
		int length;

		assert_non_null(f);
		if (v.field->shape == WM_SHAPE_SCALAR) {
			assert_int_equal(tep_read_number_field(f, data, &number), 0);
			if (!is_same_number(&v, number))
				differs(k, &v);
			continue;
		}
		array = tep_get_field_raw(NULL, k->theirs, v.field->name, &record, &length, 0);
		length = length_in_record(k, &v, length);
		if (!is_same_array(&v, array, (uint32_t)length))
			differs(k, &v);
	}
}

static bool may_differ(const struct kind *k)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strstr(k->format->print, forms[i]))
			return true;
	/*
	 * A string in the kernel's memory, given by its address: waymark prints the address in
	 * parentheses.
	 */
	for (unsigned i = 0; i < k->format->nr_fields; i++)
		if (strstr(k->format->fields[i].type, "char *"))
			return true;
	return false;
}

static void compare_texts(struct world *w, struct kind *k, unsigned char *data, uint32_t bytes)
{
	struct tep_record record = {.data = data, .size = (int)bytes};
	struct trace_seq theirs;
	struct wm_text ours;

	wm_text_init(&ours);
	wm_kprint_run(wm_kformats_print(w->formats, wm_kformats_form(w->formats, k->format->id)),
		      w->formats, data, bytes, &ours);
	wm_text_char(&ours, '\0');
	trace_seq_init(&theirs);
	tep_print_event(w->tep, &theirs, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&theirs);
	if (strcmp(ours.data, theirs.buffer)) {
		if (!may_differ(k))
			fail_msg("%s:%s prints '%s', libtraceevent '%s'", k->format->system,
				 k->format->name, ours.data, theirs.buffer);
		w->nr_differ += !k->differs;
		k->differs = true;
	}
	w->nr_texts++;
	trace_seq_destroy(&theirs);
	wm_text_done(&ours);
}

static void compare_page(struct world *w, uint32_t nr)
{
	struct wm_page_cursor c;
	unsigned long long ts;
	void *theirs;
	uint32_t met = 0;

	assert_int_equal(wm_page_open(&c, &w->layout, w->page, w->bytes, NULL), 0);
	assert_int_equal(kbuffer_load_subbuffer(w->kbuffer, w->page), 0);
	theirs = kbuffer_read_event(w->kbuffer, &ts);
	while (wm_page_next(&c) == 1) {
		struct kind *k = &w->kinds[wm_get_u16(c.data, false)];

		assert_ptr_equal(theirs, c.data);
		assert_true(ts == c.time);
		assert_int_equal(kbuffer_event_size(w->kbuffer), c.bytes);
		compare_values(k, theirs, c.bytes);
		if (k->prints)
			compare_texts(w, k, theirs, c.bytes);
		theirs = kbuffer_next_event(w->kbuffer, &ts);
		met++;
	}
	assert_null(theirs);
	assert_int_equal(met, nr);
}

static struct world *set_up(const glob_t *found)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->random = 20261122;
	wm_kmachine_init(&w->machine, sizeof(long), false);
	wm_page_layout_init(&w->layout, sizeof(long), false);
	w->formats = wm_kformats_create(&w->machine);
	w->tep = tep_alloc();
	w->kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	tep_set_long_size(w->tep, sizeof(long));
	tep_set_loglevel(TEP_LOG_NONE);
	for (size_t i = 0; i < found->gl_pathc; i++)
		add_format(w, found->gl_pathv[i]);
	assert_int_equal(wm_kformats_seal(w->formats), 0);
	add_kinds(w);
	return w;
}

static void tear_down(struct world *w)
{
	for (uint32_t i = 0; i < w->nr_kinds; i++)
		wm_kplan_destroy(w->kinds[w->ids[i]].plan);
	free(w->kinds);
	free(w->ids);
	wm_kformats_destroy(w->formats);
	kbuffer_free(w->kbuffer);
	tep_free(w->tep);
	free(w);
}

static void test_random_records(void **state)
{
	struct world *w;
	uint32_t nr = 0, nr_wanted = kit_rounds(20000, 100000);
	glob_t found;

	(void)state;
	if (glob(pattern, 0, NULL, &found) || found.gl_pathc < NR_KINDS_MIN) {
		print_message("SKIPPED: cannot read %s: become root, mount tracefs\n", pattern);
		skip();
	}
	w = set_up(&found);
	globfree(&found);
	while (nr < nr_wanted) {
		uint32_t more = make_page(w);

		compare_page(w, more);
		nr += more;
	}
	print_message("%u records of %u events; %u texts, of which those of %u events differ where "
		      "libtraceevent is wrong\n",
		      nr, w->nr_kinds, w->nr_texts, w->nr_differ);
	assert_true(w->nr_kinds >= NR_KINDS_MIN);
	assert_true(w->nr_differ * 4 < w->nr_kinds);
	tear_down(w);
}

#else

static void test_random_records(void **state)
{
	(void)state;
	print_message("SKIPPED: libtraceevent-dev is not installed\n");
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_records)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
