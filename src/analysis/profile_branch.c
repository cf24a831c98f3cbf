/* SPDX-License-Identifier: MIT */
/*
 * profile_branch.c - counts the branches in samples (perf record -b) instead of the samples: each
 * has the weight 1, as in perf report -b. A branch's bucket has two stacks of one frame: the
 * branch's source in the last word but one, its target in the last word.
 */
#include "analysis/profile_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- where the branches are ---------------------------------------------------------------- */

static bool branch_bind_members(const struct wm_type *list, struct wm_branch_fields *ret)
{
	static const char *const names[WM_BRANCH_NR_MEMBERS] = {
	    [WM_BRANCH_FROM] = "from",
	    [WM_BRANCH_TO] = "to",
	    [WM_BRANCH_MISPREDICTED] = "mispredicted",
	    [WM_BRANCH_PREDICTED] = "predicted",
	    [WM_BRANCH_IN_TX] = "in_tx",
	    [WM_BRANCH_ABORT] = "abort",
	    [WM_BRANCH_CYCLES] = "cycles",
	};
	const struct wm_type *t = list->kind == WM_TYPE_LIST ? list->element.type : NULL;
	uint32_t found = 0;

	if (!t || t->kind != WM_TYPE_STRUCT)
		return false;
	for (uint32_t i = 0; i < t->nr_members; i++) {
		if (t->members[i].type->kind > WM_TYPE_BOOL)
			return false; /* such a member may be several items */
		for (uint32_t k = 0; t->members[i].name && k < WM_BRANCH_NR_MEMBERS; k++)
			if (!strcmp(t->members[i].name, names[k])) {
				ret->members[k] = i + 1;
				found |= 1u << k;
			}
	}
	ret->nr_items = 1 + t->nr_members;
	return found & 1u << WM_BRANCH_FROM && found & 1u << WM_BRANCH_TO;
}

int wm_branches_bind(struct wm_profile *p, struct wm_diag *diag)
{
	const struct wm_pass_input *in = p->pass->in;
	bool any = false;

	p->branch_fields = calloc(in->nr_traces + 1, sizeof(*p->branch_fields));
	for (uint32_t i = 0; p->branch_fields && i < in->nr_traces; i++) {
		const struct wm_trace *t = in->traces[i];

		p->branch_fields[i] = calloc(t->nr_types + 1, sizeof(**p->branch_fields));
		if (!p->branch_fields[i])
			return -ENOMEM;
		for (uint32_t k = 0; k < t->nr_types; k++) {
			struct wm_branch_fields *f = &p->branch_fields[i][k];

			if (!wm_pass_selects(p->pass, i, t->types[k]) ||
			    !wm_field_ref_find(t->types[k], "branches", &f->list))
				continue;
			if (branch_bind_members(f->list.type, f))
				any = true;
			else
				f->list = (struct wm_field_ref){0};
		}
	}
	if (!p->branch_fields)
		return -ENOMEM;
	return any ? 0
		   : wm_diag_set(
			 diag, -ENOENT, NULL, -1,
			 "no selected event has branches; record them with 'perf record -b'");
}

void wm_branches_done(struct wm_profile *p)
{
	for (uint32_t i = 0; p->branch_fields && i < p->pass->in->nr_traces; i++)
		free(p->branch_fields[i]);
	free(p->branch_fields);
	p->branch_fields = NULL;
}

/* ---- counting ------------------------------------------------------------------------------- */

/* Returns the stack of one end of a branch; UINT32_MAX: out of memory. */
static uint32_t branch_end(struct wm_profile *p, const struct wm_sight *s, uint64_t address)
{
	enum wm_event_mode mode = address >> 63 ? WM_MODE_KERNEL : WM_MODE_USER;
	int32_t pid = s->event->pid < 0 && s->task ? s->task->pid : s->event->pid;

	if (address >= WM_CHAIN_MARKERS)
		address = WM_CHAIN_MARKERS - 1; /* no code is there; markers are not addresses */
	return wm_stacks_chain(p->stacks, pid, mode, &address, 1);
}

static int branch_count(struct wm_profile *p, const struct wm_sight *s)
{
	uint64_t words[WM_PROFILE_WORDS_MAX];
	uint32_t from, to, bucket;

	if (!wm_profile_words(p, s, words)) {
		p->nr_unfit++;
		return 0;
	}
	from = branch_end(p, s, p->branch.members[WM_BRANCH_FROM]);
	to = branch_end(p, s, p->branch.members[WM_BRANCH_TO]);
	if (from == UINT32_MAX || to == UINT32_MAX)
		return -ENOMEM;
	words[p->buckets.nr_words - 2] = from;
	words[p->buckets.nr_words - 1] = to;
	bucket = wm_buckets_get(&p->buckets, words);
	if (bucket == UINT32_MAX)
		return -ENOMEM;
	p->buckets.weights[bucket] += p->unit;
	p->buckets.counts[bucket] += p->unit;
	return 0;
}

int wm_branches_feed(struct wm_profile *p, const struct wm_sight *s)
{
	const struct wm_branch_fields *f = &p->branch_fields[s->trace][s->event->type->index];
	const struct wm_item *list = f->list.type ? wm_field_ref_item(&f->list, s->event) : NULL;
	const struct wm_item *i = list ? list + 1 : NULL;
	int err = 0;

	/* The members are numbers, so each is one item after that of the branch. */
	for (uint32_t k = 0; list && k < list->count && !err; k++, i += f->nr_items) {
		for (uint32_t m = 0; m < WM_BRANCH_NR_MEMBERS; m++)
			p->branch.members[m] = f->members[m] ? i[f->members[m]].u : 0;
		err = branch_count(p, s);
	}
	return err;
}

uint32_t wm_branch_from(const struct wm_profile *p, const uint64_t *bucket)
{
	uint32_t nr;
	const uint32_t *frames =
	    wm_stacks_frames(p->stacks, (uint32_t)bucket[p->buckets.nr_words - 2], &nr);

	return nr ? frames[0] : WM_FRAME_NONE;
}
