/* SPDX-License-Identifier: MIT */
/* sampled.c - see sampled.h. */
#include "export/timeline/sampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kdata/perf_sample.h"
#include "view/writer.h"

/* --- types ------------------------------------------------------------------------------ */

/* Returns whether the samples have no fields other than those that make up the chain. */
static bool has_only_chain(const struct wm_type *fields)
{
	static const char *const parts[] = {"callchain", "regs_user", "stack_user"};

	for (uint32_t i = 0; fields && i < fields->nr_members; i++) {
		const char *name = fields->members[i].name;
		bool found = false;

		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			found |= name && strstr(name, parts[k]);
		if (!found)
			return false;
	}
	return true;
}

static bool is_address(const struct wm_type *t)
{
	return t->kind == WM_TYPE_UNSIGNED || t->kind == WM_TYPE_SIGNED;
}

static void sampled_bind(struct wm_sampled_type *s, const struct wm_event_type *t)
{
	if (t->meta || !wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "ip", &s->ip) ||
	    !is_address(s->ip.type))
		return;
	if (wm_field_ref_find(t, "callchain", &s->chain) &&
	    (s->chain.type->kind != WM_TYPE_LIST || !is_address(s->chain.type->element.type)))
		s->chain = (struct wm_field_ref){0};
	if (wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "period", &s->period) &&
	    !is_address(s->period.type))
		s->period = (struct wm_field_ref){0};
	s->fixed_period = t->period ? t->period : 1;
	s->how = has_only_chain(t->parts[WM_PART_FIELDS]) ? WM_SAMPLED_ONLY : WM_SAMPLED_TOO;
}

static int bind_trace(struct wm_sampled *s, const struct wm_trace *t)
{
	struct wm_sampled_type *types = calloc(t->nr_types + 1, sizeof(*types));

	if (!types)
		return -ENOMEM;
	s->types[s->nr_traces++] = types;
	for (uint32_t k = 0; k < t->nr_types; k++) {
		sampled_bind(&types[k], t->types[k]);
		s->nr += types[k].how != WM_SAMPLED_NOT;
	}
	return 0;
}

int wm_sampled_init(struct wm_sampled *s, const struct wm_export *x)
{
	int err = 0;

	*s = (struct wm_sampled){.places = x->options.places};
	s->types = calloc(x->nr_traces + 1, sizeof(*s->types));
	if (!s->types)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nr_traces && !err; i++)
		err = bind_trace(s, x->traces[i]);
	if (!err && s->places && s->nr) {
		s->names = s->places->open(s->places->data);
		err = s->names ? 0 : -ENOMEM;
	}
	return err;
}

void wm_sampled_done(struct wm_sampled *s)
{
	for (uint32_t i = 0; i < s->nr_traces; i++)
		free(s->types[i]);
	free(s->types);
	if (s->names)
		s->places->close(s->names);
	*s = (struct wm_sampled){0};
}

uint64_t wm_sampled_weight(const struct wm_sampled_type *type, const struct wm_event *e)
{
	const struct wm_item *period =
	    type->period.type ? wm_field_ref_item(&type->period, e) : NULL;

	return period ? period->u : type->fixed_period;
}

/* --- chains ------------------------------------------------------------------------------ */

/* The function that receives the frames of one sample. */
struct sampled_out {
	int (*frame)(void *own, const struct wm_named_place *n);
	void *own;
	bool any;
};

static enum wm_event_mode mode_of_marker(uint64_t marker, enum wm_event_mode otherwise)
{
	switch (marker) {
	case WM_PERF_CONTEXT_KERNEL:
		return WM_MODE_KERNEL;
	case WM_PERF_CONTEXT_USER:
		return WM_MODE_USER;
	case WM_PERF_CONTEXT_HV:
		return WM_MODE_HYPERVISOR;
	case WM_PERF_CONTEXT_GUEST_KERNEL:
		return WM_MODE_GUEST_KERNEL;
	case WM_PERF_CONTEXT_GUEST_USER:
		return WM_MODE_GUEST_USER;
	default:
		return otherwise;
	}
}

static int sampled_put(struct sampled_out *out, const struct wm_named_place *n)
{
	out->any = true;
	return out->frame(out->own, n);
}

static int sampled_put_address(struct wm_sampled *s, uint32_t trace, const struct wm_event *e,
			       uint64_t address, enum wm_event_mode mode, struct sampled_out *out)
{
	struct wm_named_place n = {.address = address};
	int err = s->names ? s->places->find(s->names, trace, e, address, mode, &n) : 0;

	return err < 0 ? err : sampled_put(out, &n);
}

int wm_sampled_chain(struct wm_sampled *s, uint32_t trace, const struct wm_event *e,
		     int (*frame)(void *own, const struct wm_named_place *n), void *own)
{
	const struct wm_sampled_type *type = wm_sampled_type(s, trace, e->type);
	const struct wm_item *list = type->chain.type ? wm_field_ref_item(&type->chain, e) : NULL;
	const struct wm_item *ip = wm_field_ref_item(&type->ip, e);
	struct sampled_out out = {frame, own, false};
	enum wm_event_mode mode = e->mode;
	int err = 0, more = 0;

	for (uint32_t i = 1; list && i <= list->count && !err; i++) {
		if (list[i].u >= WM_PERF_CONTEXT_MAX)
			mode = mode_of_marker(list[i].u, mode);
		else
			err = sampled_put_address(s, trace, e, list[i].u, mode, &out);
	}
	if (!err && s->names)
		more = s->places->callers(s->names, trace, e, s->callers);
	if (more < 0)
		return more;
	for (int i = 0; i < more && !err; i++)
		err = sampled_put(&out, &s->callers[i]);
	if (!err && !out.any && ip)
		err = sampled_put_address(s, trace, e, ip->u, e->mode, &out);
	return err;
}
