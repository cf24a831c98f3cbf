/* SPDX-License-Identifier: MIT */
/* sample.c - see sample_int.h. */
#include "analysis/sample_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_key_int.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/plural.h"

#define BROKEN_MIN  10u /* fewer broken chains are not reported */
#define BROKEN_PART 4u  /* nor fewer than one of so many */

#define USER_MARKER   ((uint64_t)-512) /* perf's marker: user addresses follow */
#define KERNEL_MARKER ((uint64_t)-128) /* perf's marker: kernel addresses follow */

/*
 * Names of call-chain fields: perf's and waymark's, waymark's user stacks, LTTng's contexts.
 */
static const char *const chains[] = {"callchain", "ustack", "callstack_user", "callstack_kernel"};

static bool is_list_of_numbers(const struct wm_type *t)
{
	return t->kind == WM_TYPE_LIST && t->element.type->kind <= WM_TYPE_SIGNED;
}

/* Binds the chain of an ftrace event that is a stack. */
static void sample_bind_stack(const struct wm_event_type *t, struct wm_sample_fields *f)
{
	static const struct {
		const char *name;
		uint64_t marker;
	} stacks[] = {{"kernel_stack", KERNEL_MARKER}, {"user_stack", USER_MARKER}};
	const char *colon = strrchr(t->name, ':'), *name = colon ? colon + 1 : t->name;

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		if (!strcmp(name, stacks[i].name) &&
		    wm_field_ref_find_in(t, WM_PART_FIELDS, "caller", &f->chain) &&
		    is_list_of_numbers(f->chain.type))
			f->marker = stacks[i].marker;
	if (!f->marker)
		f->chain = (struct wm_field_ref){0};
}

bool wm_samples_is_clock(const char *event)
{
	static const char *const clocks[] = {"sw:cpu-clock", "sw:task-clock"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		size_t bytes = strlen(clocks[i]);

		/* modifiers may follow: "sw:cpu-clock:u" */
		if (!strncmp(event, clocks[i], bytes) && (!event[bytes] || event[bytes] == ':'))
			return true;
	}
	return false;
}

static void sample_bind_type(struct wm_samples *s, const struct wm_event_type *t,
			     struct wm_sample_fields *f)
{
	struct wm_field_ref registers, stack;

	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]) && !f->chain.type; i++)
		if (wm_field_ref_find(t, chains[i], &f->chain) &&
		    !is_list_of_numbers(f->chain.type))
			f->chain = (struct wm_field_ref){0};
	if (!f->chain.type)
		sample_bind_stack(t, f);
	f->has_stack = wm_field_ref_find(t, "regs_user", &registers) &&
		       wm_field_ref_find(t, "stack_user", &stack) &&
		       is_list_of_numbers(registers.type) && stack.type->kind == WM_TYPE_BYTES;
	/*
	 * Search only the contexts, because a program's event may have fields with these names for
	 * another purpose.
	 */
	(void)wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "ip", &f->ip);
	(void)wm_field_ref_find_in(t, WM_PART_STREAM_CONTEXT, "period", &f->period);
	if (f->ip.type && f->ip.type->kind > WM_TYPE_SIGNED)
		f->ip = (struct wm_field_ref){0};
	if (f->period.type && f->period.type->kind > WM_TYPE_SIGNED)
		f->period = (struct wm_field_ref){0};
	f->by_frames = f->chain.type && !f->has_stack && !t->has_lbr_chains;
	f->fixed_period = t->period ? t->period : 1;
	s->any_ip |= f->ip.type != NULL;
	s->any_chain |= (f->chain.type != NULL && !f->marker) || f->has_stack;
	s->any_stack |= f->has_stack;
	s->any_period |= f->period.type != NULL || f->fixed_period != 1;
	s->any_clock |= wm_samples_is_clock(t->name);
}

static int sample_bind(struct wm_samples *s)
{
	const struct wm_pass_input *in = s->pass->in;
	bool any_stack = false, any_other = false;

	s->fields = calloc(in->nr_traces + 1, sizeof(*s->fields));
	for (uint32_t i = 0; s->fields && i < in->nr_traces; i++) {
		const struct wm_trace *t = in->traces[i];

		s->fields[i] = calloc(t->nr_types + 1, sizeof(**s->fields));
		if (!s->fields[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < t->nr_types; k++)
			if (wm_pass_selects(s->pass, i, t->types[k])) {
				sample_bind_type(s, t->types[k], &s->fields[i][k]);
				any_stack |= s->fields[i][k].marker != 0;
				any_other |= s->fields[i][k].marker == 0;
			}
	}
	/* A trace.dat describes stacks even if it has none, so they count only if requested. */
	s->any_chain |= any_stack && !any_other;
	return s->fields ? 0 : -ENOMEM;
}

int wm_samples_init(struct wm_samples *s, struct wm_pass *pass, const char *weight,
		    struct wm_diag *diag)
{
	int err;

	*s = (struct wm_samples){.pass = pass, .count = weight && !strcmp(weight, "count")};
	err = sample_bind(s);
	if (!err && weight && !s->count && strcmp(weight, "period") != 0)
		err = wm_key_fields(pass, weight, &s->weights, diag);
	s->count |= !s->weights && !s->any_period;
	if (!err && s->any_stack) {
		s->unwind = wm_unwind_create(pass->spaces, pass->symbols);
		err = s->unwind ? 0 : -ENOMEM;
	}
	if (err)
		wm_samples_done(s);
	return err;
}

void wm_samples_done(struct wm_samples *s)
{
	for (uint32_t i = 0; s->fields && i < s->pass->in->nr_traces; i++)
		free(s->fields[i]);
	free(s->fields);
	wm_unwind_destroy(s->unwind);
	if (s->weights)
		wm_key_fields_free(s->pass, s->weights);
	*s = (struct wm_samples){0};
}

bool wm_samples_weight(const struct wm_samples *s, const struct wm_sight *sight, uint64_t *ret)
{
	uint32_t kind = sight->event->type->index;
	const struct wm_sample_fields *own = &s->fields[sight->trace][kind];
	const struct wm_field_ref *f = s->weights ? &s->weights[sight->trace][kind] : &own->period;
	const struct wm_item *i = f->type && !s->count ? wm_field_ref_item(f, sight->event) : NULL;

	*ret = s->count ? 1 : own->fixed_period;
	if (!i)
		return !s->weights;
	if (f->type->kind == WM_TYPE_FLOAT)
		*ret = i->f > 0 && i->f < 1e18 ? (uint64_t)i->f : 0;
	else if (f->type->kind == WM_TYPE_SIGNED)
		*ret = i->s > 0 ? (uint64_t)i->s : 0; /* negative values have no weight */
	else if (f->type->kind <= WM_TYPE_BOOL)
		*ret = i->u;
	else
		return false;
	return true;
}

/*
 * Replaces the first address of the chain with the event's, which is more exact for precise events.
 */
static void sample_put_end(uint64_t *chain, uint32_t nr, uint64_t ip)
{
	uint32_t i = 0;

	while (i < nr && chain[i] >= WM_CHAIN_MARKERS)
		i++;
	if (i < nr)
		chain[i] = ip;
}

/*
 * Inserts a kernel event's address before its chain, if the chain has only user addresses.
 */
static uint32_t put_kernel_end(uint64_t *chain, uint32_t nr, uint64_t ip)
{
	nr = nr < WM_CHAIN_MAX - 2 ? nr : WM_CHAIN_MAX - 2;
	memmove(chain + 2, chain, nr * sizeof(*chain));
	chain[0] = KERNEL_MARKER;
	chain[1] = ip;
	return nr + 2;
}

/*
 * Appends the callers found from the copy of the stack to a chain of `nr` addresses; returns the
 * new number.
 */
static uint32_t add_unwound(struct wm_samples *s, const struct wm_sight *sight, uint64_t *chain,
			    uint32_t nr)
{
	struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX];
	struct wm_user_stack stack;
	enum wm_unwound how;
	uint32_t nr_frames;

	if (!wm_unwind_stack_of(s->pass->in->traces[sight->trace], sight->event, &stack))
		return nr;
	nr_frames = wm_unwind(s->unwind, &stack, frames, &how);
	if (nr_frames > WM_CHAIN_MAX - 1 - nr)
		nr_frames = nr < WM_CHAIN_MAX ? WM_CHAIN_MAX - 1 - nr : 0;
	if (nr_frames)
		chain[nr++] = USER_MARKER;
	for (uint32_t i = 0; i < nr_frames; i++)
		chain[nr++] = frames[i].ip;
	return nr;
}

/*
 * Stores an ftrace stack, which has no markers and may be terminated early by 0 or, in old kernels,
 * by all ones. Returns the number of addresses.
 */
static uint32_t sample_put_stack(const struct wm_item *list, uint64_t marker, uint64_t *ret)
{
	uint32_t nr = 0;

	ret[nr++] = marker;
	for (uint32_t i = 1; i <= list->count && nr < WM_CHAIN_MAX; i++) {
		if (list[i].u == 0 || list[i].u == UINT64_MAX || list[i].u == UINT32_MAX)
			break;
		ret[nr++] = list[i].u;
	}
	return nr > 1 ? nr : 0;
}

uint32_t wm_samples_chain(struct wm_samples *s, const struct wm_sight *sight, bool whole,
			  uint64_t *ret)
{
	const struct wm_sample_fields *f = &s->fields[sight->trace][sight->event->type->index];
	const struct wm_item *list = f->chain.type && (whole || !f->ip.type)
					 ? wm_field_ref_item(&f->chain, sight->event)
					 : NULL;
	const struct wm_item *ip = f->ip.type ? wm_field_ref_item(&f->ip, sight->event) : NULL;
	uint32_t nr = list ? list->count : 0;

	if (list && f->marker)
		return sample_put_stack(list, f->marker, ret);
	if (nr > WM_CHAIN_MAX) {
		nr = WM_CHAIN_MAX;
		s->nr_cut++;
	}
	for (uint32_t i = 0; i < nr; i++)
		ret[i] = list[1 + i].u; /* elements are numbers, so each is one item */
	if (f->has_stack && (whole || !f->ip.type))
		nr = add_unwound(s, sight, ret, nr);
	if (!nr && ip)
		ret[nr++] = ip->u;
	else if (ip && ret[0] == USER_MARKER && sight->event->mode == WM_MODE_KERNEL)
		nr = put_kernel_end(ret, nr, ip->u);
	else if (ip)
		sample_put_end(ret, nr, ip->u);
	return nr;
}

void wm_samples_join(struct wm_samples *s, const struct wm_samples *later)
{
	const struct wm_pass_input *in = s->pass->in;

	s->nr_cut += later->nr_cut;
	for (uint32_t i = 0; i < in->nr_traces; i++)
		for (uint32_t k = 0; k < in->traces[i]->nr_types; k++) {
			s->fields[i][k].nr_user += later->fields[i][k].nr_user;
			s->fields[i][k].nr_broken += later->fields[i][k].nr_broken;
		}
}

/* ---- chains that frame pointers did not provide --------------------------------------------- */

/* The chains of an event, which can have a type in each trace and stream class. */
struct event_chains {
	const struct wm_event_type *type; /* the first one */
	uint64_t nr_user, nr_broken;
};

static bool sample_is_same(const struct wm_event_type *a, const struct wm_event_type *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->provider, b->provider);
}

/* Lists the events with chains by frame pointers. Returns their number; -ENOMEM. */
static int list_chains(const struct wm_samples *s, struct event_chains **ret)
{
	const struct wm_pass_input *in = s->pass->in;
	struct event_chains *list = NULL;
	uint32_t nr = 0, room = 0, at;

	for (uint32_t i = 0; i < in->nr_traces; i++)
		for (uint32_t k = 0; k < in->traces[i]->nr_types; k++) {
			const struct wm_sample_fields *f = &s->fields[i][k];
			const struct wm_event_type *t = in->traces[i]->types[k];

			for (at = 0; f->nr_user && at < nr && !sample_is_same(list[at].type, t);)
				at++;
			if (!f->nr_user)
				continue;
			if (at == nr && WM_ARRAY_GROW_ZEROED(list, room, (size_t)nr + 1)) {
				free(list);
				return -ENOMEM;
			}
			nr += at == nr;
			list[at].type = t;
			list[at].nr_user += f->nr_user;
			list[at].nr_broken += f->nr_broken;
		}
	*ret = list;
	return (int)nr;
}

/*
 * Reports call chains that frame pointers could not provide. A few are normal: at function entry,
 * or in libraries without frame pointers. Copies of the stack and chains that the processor
 * recorded do not need frame pointers. The event is named if others have chains, too.
 */
static void note_broken(const struct wm_samples *s, struct wm_result *r)
{
	struct event_chains *list = NULL;
	int nr = list_chains(s, &list);
	bool named = nr > 1 || s->any_stack;

	if (nr < 0)
		r->failed = true;
	for (int i = 0; i < nr; i++) {
		const struct event_chains *c = &list[i];
		bool split = named && c->type->provider[0] && !strchr(c->type->name, ':');

		if (c->nr_broken < BROKEN_MIN || c->nr_broken < c->nr_user / BROKEN_PART)
			continue;
		wm_result_note(r, WM_NOTE_PROBLEM, "broken",
			       "%" PRIu64 " of %" PRIu64 " call chains of programs%s%s%s%s have no "
			       "callers: the code has no frame pointers; record with -g dwarf",
			       c->nr_broken, c->nr_user, named ? " at " : "",
			       split ? c->type->provider : "", split ? ":" : "",
			       named ? c->type->name : "");
	}
	free(list);
}

void wm_samples_notes(const struct wm_samples *s, struct wm_result *r)
{
	if (s->nr_cut)
		wm_result_note(r, WM_NOTE_PROBLEM, "cut",
			       "%" PRIu64 " call %s truncated: the limit is %u addresses",
			       s->nr_cut, wm_plural(s->nr_cut, "chain", "chains"), WM_CHAIN_MAX);
	note_broken(s, r);
	for (int how = 0; s->unwind && how < WM_UNWOUND_NR; how++)
		if (how != WM_UNWOUND_WHOLE && wm_unwind_count(s->unwind, how))
			wm_result_note(
			    r, WM_NOTE_PROBLEM, "unwound", "%" PRIu64 " call %s: %s",
			    wm_unwind_count(s->unwind, how),
			    wm_plural(wm_unwind_count(s->unwind, how), "chain", "chains"),
			    wm_unwound_text(how));
}
