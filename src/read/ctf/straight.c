/* SPDX-License-Identifier: MIT */
/* straight.c - the steps of straight.h from an event's programs. */
#include "read/ctf/straight.h"

#include <string.h>

#include "read/ctf/plan.h"
#include "trace/value_sum.h"

#define STEPS_MAX 256u

struct steps {
	struct wm_ctf_straight list[STEPS_MAX];
	uint32_t nr, nr_values;
	uint64_t factor; /* of the next value */
};

static struct wm_ctf_straight *add(struct steps *s, enum wm_ctf_straight_code code, uint32_t at)
{
	struct wm_ctf_straight *step = &s->list[s->nr++];

	*step = (struct wm_ctf_straight){.code = (uint16_t)code, .at = at};
	return step;
}

static void add_value(struct steps *s, enum wm_ctf_straight_code code, const struct wm_ctf_op *op)
{
	struct wm_ctf_straight *step;

	if (op->flags & WM_CTF_FLAG_HIDDEN)
		return;
	step = add(s, code, op->at);
	step->n = (uint16_t)op->n;
	step->factor = s->factor;
	s->factor *= WM_VALUE_FACTOR;
	s->nr_values++;
}

/* Numbers as they lie; END: another one. */
static enum wm_ctf_straight_code number_of(const struct wm_ctf_op *op)
{
	static const uint8_t codes[WM_CTF_OP_NR] = {
	    [WM_CTF_OP_U8] = WM_CTF_STRAIGHT_U8,   [WM_CTF_OP_U16] = WM_CTF_STRAIGHT_U16,
	    [WM_CTF_OP_U32] = WM_CTF_STRAIGHT_U32, [WM_CTF_OP_U64] = WM_CTF_STRAIGHT_U64,
	    [WM_CTF_OP_S8] = WM_CTF_STRAIGHT_S8,   [WM_CTF_OP_S16] = WM_CTF_STRAIGHT_S16,
	    [WM_CTF_OP_S32] = WM_CTF_STRAIGHT_S32, [WM_CTF_OP_S64] = WM_CTF_STRAIGHT_U64,
	    [WM_CTF_OP_F32] = WM_CTF_STRAIGHT_F32, [WM_CTF_OP_F64] = WM_CTF_STRAIGHT_F64,
	};
	bool is_cut = !(op->flags & WM_CTF_FLAG_HIDDEN) && op->shown != UINT64_MAX;

	return is_cut || op->flags & WM_CTF_FLAG_CLOCK ? WM_CTF_STRAIGHT_END : codes[op->code];
}

/* One operation; false: the event is not straight. */
static bool step(struct steps *s, const struct wm_ctf_op *op)
{
	enum wm_ctf_straight_code code;

	switch ((enum wm_ctf_code)op->code) {
	case WM_CTF_OP_RUN:
		if (op->shift > 31)
			return false;
		add(s, WM_CTF_STRAIGHT_RUN, (1u << op->shift) - 1)->length = op->length;
		return true;
	case WM_CTF_OP_STRUCT:
	case WM_CTF_OP_OPEN:
	case WM_CTF_OP_CLOSE:
		return true;
	case WM_CTF_OP_TEXT:
		if (op->n > UINT16_MAX)
			return false;
		add_value(s, WM_CTF_STRAIGHT_TEXT, op);
		return true;
	case WM_CTF_OP_STRING:
		add_value(s, WM_CTF_STRAIGHT_STRING, op);
		return !(op->flags & WM_CTF_FLAG_HIDDEN);
	default:
		if (op->code > WM_CTF_OP_F64)
			return false;
		code = number_of(op);
		add_value(s, code, op);
		return code != WM_CTF_STRAIGHT_END;
	}
}

const struct wm_ctf_straight *wm_ctf_straight_make(struct wm_arena *a,
						   const struct wm_ctf_event_plan *plan)
{
	struct steps s = {.factor = WM_VALUE_FACTOR};

	for (int i = 0; i < 3; i++)
		for (const struct wm_ctf_op *op = plan->body[i]; op && op->code != WM_CTF_OP_END;
		     op++)
			if (s.nr >= STEPS_MAX - 1 || !step(&s, op))
				return NULL;
	add(&s, WM_CTF_STRAIGHT_END, s.nr_values);
	return wm_arena_copy(a, s.list, s.nr * sizeof(*s.list));
}
