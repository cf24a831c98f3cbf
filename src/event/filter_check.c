/* SPDX-License-Identifier: MIT */
/*
 * filter_check.c - explains why a filter does not fit an event, and lists the names in it. Tool
 * side; only the linker decides whether the filter fits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "event/class.h"
#include "event/filter.h"
#include "event/filter_code.h"

#define NAMES_SHOWN 8u

/* "a, b, c and 4 more": the first few names, and how many others there are. */
static void list_names(struct wm_text *t, uint32_t nr, const char *(*name)(const void *, uint32_t),
		       const void *of)
{
	for (uint32_t i = 0; i < nr && i < NAMES_SHOWN; i++) {
		wm_text_str(t, i ? ", " : "");
		wm_text_str(t, name(of, i));
	}
	if (nr > NAMES_SHOWN)
		wm_text_f(t, " and %u more", nr - NAMES_SHOWN);
}

static const char *filter_check_field_name(const void *class, uint32_t i)
{
	return ((const struct wm_class *)class)->fields[i].name;
}

static const char *label_name(const void *field, uint32_t i)
{
	return ((const struct wm_field *)field)->labels[i].name;
}

/* Suggests the names closest to `wanted`; if there are none, lists the first few names. */
static void filter_check_offer(struct wm_text *t, const char *wanted, uint32_t nr,
			       const char *(*name)(const void *, uint32_t), const void *of)
{
	char sentence[WM_DIAG_SENTENCE];
	struct wm_nearest near;

	wm_nearest_init(&near, wanted);
	for (uint32_t i = 0; i < nr; i++)
		wm_nearest_offer(&near, name(of, i));
	(void)wm_nearest_sentence(&near, "", sentence, sizeof(sentence));
	if (*sentence) {
		wm_text_f(t, "; %s", sentence);
		return;
	}
	wm_text_str(t, nr ? ": it has " : ": it has none");
	list_names(t, nr, name, of);
}

/* Messages about one field; %s is its name. */
static const char *const named_faults[] = {
    [WM_FAULT_WHOLE] = "'%s' has several elements: choose one, as in %s[0]",
    [WM_FAULT_NOT_INDEXED] = "'%s' has no elements",
    [WM_FAULT_INDEX] = "the index of '%s' must be an integer",
    [WM_FAULT_INDEX_RANGE] = "'%s' has no element with this index",
};

static const char *const faults[] = {
    [WM_FAULT_CODE] = "the compiled filter is damaged",
    [WM_FAULT_DESC] = "the event's description is damaged",
    [WM_FAULT_SPACE] = "the filter is too long",
    [WM_FAULT_TEXT_NUMBER] = "a string can only be compared",
    [WM_FAULT_TEXT_COMPARE] = "a string cannot be compared with a number",
    [WM_FAULT_TEXT_ORDER] = "strings can be compared with == and != only",
    [WM_FAULT_TEXT_TEXT] = "both sides are constants",
    [WM_FAULT_FLOAT] = "this operator does not accept floating-point numbers",
};

static void filter_check_explain(struct wm_text *t, const struct wm_filter_fault *f,
				 const struct wm_class *c)
{
	char name[256];
	uint32_t n = f->name_bytes < sizeof(name) - 1 ? f->name_bytes : sizeof(name) - 1;

	if (n)
		memcpy(name, f->name, n);
	name[n] = 0;
	if (f->what == WM_FAULT_NO_FIELD) {
		wm_text_f(t, "%s%s%s has no field '%s'", c->provider, *c->provider ? ":" : "",
			  c->name, name);
		filter_check_offer(t, name, c->nr_fields, filter_check_field_name, c);
	} else if (f->what == WM_FAULT_LABEL || f->what == WM_FAULT_LABEL_ORDER) {
		const struct wm_field *field = &c->fields[f->field];

		if (f->what == WM_FAULT_LABEL_ORDER)
			wm_text_f(t, "'%s' matches several values of '%s': use == or !=", name,
				  field->name);
		else
			wm_text_f(t, "'%s' has no label '%s'", field->name, name);
		if (f->what == WM_FAULT_LABEL)
			filter_check_offer(t, name, field->nr_labels, label_name, field);
	} else if (f->what < sizeof(named_faults) / sizeof(named_faults[0]) &&
		   named_faults[f->what]) {
		/* `fmt` contains one %s or two, both for the name */
		const char *fmt = named_faults[f->what], *mark;

		while ((mark = strstr(fmt, "%s"))) {
			wm_text_add(t, fmt, (size_t)(mark - fmt));
			wm_text_str(t, name);
			fmt = mark + 2;
		}
		wm_text_str(t, fmt);
	} else {
		wm_text_str(t, faults[f->what]);
	}
}

/* Copies the op's position in the filter's text, which the parser recorded, to the diag. */
static void locate(struct wm_diag *diag, const unsigned char *code, size_t bytes, uint32_t op)
{
	struct wm_filter_code c;

	if (wm_filter_code_open(&c, code, bytes) || op >= c.nr_ops)
		return;
	diag->offset = wm_load_u16(c.columns + 2 * op);
	diag->line = 1;
	diag->column = (uint32_t)diag->offset + 1;
}

int wm_filter_check(const unsigned char *code, size_t bytes, const void *desc, size_t desc_bytes,
		    struct wm_diag *diag)
{
	void *storage = malloc(WM_FILTER_STORAGE_MAX);
	struct wm_class *class = NULL;
	struct wm_filter_fault fault;
	struct wm_text t;
	int64_t used;
	int err;

	if (!storage)
		return wm_diag_set(diag, -ENOMEM, "filter", -1, "out of memory");
	used = wm_filter_link_why(code, bytes, desc, desc_bytes, storage, WM_FILTER_STORAGE_MAX,
				  &fault);
	free(storage);
	if (used >= 0)
		return 0;
	if (fault.what == WM_FAULT_DESC)
		return wm_diag_set(diag, (int)used, "filter", -1, "%s", faults[fault.what]);
	err = wm_class_parse(desc, desc_bytes, NULL, &class, diag);
	if (err)
		return fault.what == WM_FAULT_CODE
			   ? wm_diag_set(diag, (int)used, "filter", -1, "%s", faults[fault.what])
			   : err;
	wm_text_init(&t);
	filter_check_explain(&t, &fault, class);
	(void)wm_diag_set(diag, (int)used, "filter", -1, "%s", t.data ? t.data : "out of memory");
	if (diag && fault.what != WM_FAULT_CODE)
		locate(diag, code, bytes, fault.op);
	wm_text_done(&t);
	wm_class_destroy(class);
	return (int)used;
}
