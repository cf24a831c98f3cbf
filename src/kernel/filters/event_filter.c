/* SPDX-License-Identifier: MIT */
/* event_filter.c - see event_filter.h. */
#include "kernel/event_filter.h"

#include <stdlib.h>

#include "base/text.h"
#include "event/filter.h"
#include "kdata/transcode.h"
#include "kernel/filters/filter_text.h"

#define ARENA_BYTES ((size_t)4 << 20)

void wm_event_filter_done(struct wm_event_filter *f)
{
	free(f->text);
	free(f->rest);
	*f = (struct wm_event_filter){0};
}

/* A parsed format file. */
struct parsed {
	struct wm_arena arena;
	struct wm_kmachine machine;
	const struct wm_kformat *format;
};

static int event_filter_parse(struct parsed *p, const char *system, const char *format,
			      size_t bytes, struct wm_diag *diag)
{
	wm_arena_init(&p->arena, ARENA_BYTES);
	wm_kmachine_init(&p->machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return wm_kformat_parse(&p->arena, &p->machine, system, format, bytes, &p->format, diag);
}

/* Checks bytecode against the fields that a plan writes; these do not include the common ones. */
static int event_filter_check(const struct parsed *p, const unsigned char *code, size_t bytes,
			      struct wm_diag *diag)
{
	const unsigned char *desc;
	struct wm_kplan *plan;
	size_t desc_bytes;
	int err = wm_kplan_create(p->format, &p->machine, NULL, false, &plan, diag);

	if (err)
		return err;
	desc = wm_kplan_desc(plan, &desc_bytes);
	err = wm_filter_check(code, bytes, desc, desc_bytes, diag);
	wm_kplan_destroy(plan);
	return err;
}

int wm_event_filter_check(const unsigned char *code, size_t bytes, const char *system,
			  const char *format, size_t format_bytes, struct wm_diag *diag)
{
	struct parsed p;
	int err = event_filter_parse(&p, system, format, format_bytes, diag);

	if (!err)
		err = event_filter_check(&p, code, bytes, diag);
	wm_arena_done(&p.arena);
	return err;
}

static int event_filter_make(const char *filter, const struct parsed *p,
			     struct wm_event_filter *ret, struct wm_diag *diag)
{
	unsigned char *code;
	struct wm_text text;
	size_t bytes;
	int err = wm_filter_parse(filter, &code, &bytes, diag);

	if (err)
		return err;
	wm_text_init(&text);
	err = wm_kernel_filter_text(code, bytes, p->format, &text, &ret->rest, &ret->rest_bytes,
				    diag);
	free(code);
	if (text.bytes)
		ret->text = text.data;
	else
		wm_text_done(&text);
	return err || !ret->rest ? err : event_filter_check(p, ret->rest, ret->rest_bytes, diag);
}

int wm_event_filter_make(const char *filter, const char *system, const char *format,
			 size_t format_bytes, struct wm_event_filter *ret, struct wm_diag *diag)
{
	struct wm_event_filter f = {0};
	struct parsed p;
	int err = event_filter_parse(&p, system, format, format_bytes, diag);

	if (!err)
		err = event_filter_make(filter, &p, &f, diag);
	wm_arena_done(&p.arena);
	if (err) {
		wm_event_filter_done(&f);
		return err;
	}
	*ret = f;
	return 0;
}
