/* SPDX-License-Identifier: MIT */
/*
 * hash.c - the hash over all values (doc/format/hash.md) straight from an
 * event's bytes, without items. Whatever is not as usual (the window ends, a
 * field is bad) is left to who makes items: here it did not happen.
 */
#include "read/ctf/step.h"

#define HASH  1
#define ITEMS 0
#define RUN   run_with_sum
#include "read/ctf/loop.h"

/* --- events that are straight ---------------------------------------------------------------- */

#define STRING_BITS 256u /* that short_string() reads */

#define STRAIGHT_LABEL(code) [WM_CTF_STRAIGHT_##code] = &&code
#define STRAIGHT_NEXT        goto *labels[(++step)->code]
#define STRAIGHT(name, value)                                                                      \
	name:                                                                                      \
	sum += (uint64_t)(value)*step->factor;                                                     \
	STRAIGHT_NEXT

/* The factors of an event's values begin behind those of the packet's. */
static uint64_t scale_of(const struct wm_value_sum *head)
{
	uint64_t scale = 1;

	for (uint64_t i = 0; i < head->nr; i++)
		scale *= WM_VALUE_FACTOR;
	return scale;
}

/*
 * Events with the usual header (q->is_word) that are straight, up to one that
 * is not, or not whole in the window, or has a long string in it.
 */
static uint64_t hash_straight(struct wm_ctf_decoder *d, const struct wm_ctf_stream_plan *p,
			      const struct wm_value_sum *head, uint64_t *hash)
{
	static const void *const labels[WM_CTF_STRAIGHT_NR] = {
	    STRAIGHT_LABEL(END),    STRAIGHT_LABEL(RUN), STRAIGHT_LABEL(U8),  STRAIGHT_LABEL(U16),
	    STRAIGHT_LABEL(U32),    STRAIGHT_LABEL(U64), STRAIGHT_LABEL(S8),  STRAIGHT_LABEL(S16),
	    STRAIGHT_LABEL(S32),    STRAIGHT_LABEL(F32), STRAIGHT_LABEL(F64), STRAIGHT_LABEL(TEXT),
	    STRAIGHT_LABEL(STRING),
	};
	const struct wm_ctf_quick q = p->quick;
	const unsigned char *const data = d->data, *base = data;
	const uint64_t mask = (UINT64_C(1) << q.shift) - 1, scale = scale_of(head), end = d->end;
	uint64_t clock = d->clock, done = d->pos, all = 0, nr = 0, pos, sum, word, id, h;
	const struct wm_ctf_event_plan *plan;
	const struct wm_ctf_straight *step;
	uint32_t bytes;

next:
	pos = (done + mask) & ~mask;
	if (unlikely(pos > end || q.bits > end - pos))
		goto enough;
	word = load64(data + pos / 8);
	pos += q.bits;
	id = word >> q.id_at & q.id_mask;
	plan = wm_ctf_plan_event(p, id);
	if (unlikely(id < q.low || id > q.high || !plan || !plan->straight))
		goto enough;
	sum = 0;
	step = plan->straight;
	goto *labels[step->code];
RUN:
	pos = (pos + step->at) & ~(uint64_t)step->at;
	if (unlikely(pos > end || step->length > end - pos))
		goto enough;
	base = data + pos / 8;
	pos += step->length;
	STRAIGHT_NEXT;
	STRAIGHT(U8, base[step->at]);
	STRAIGHT(U16, load16(base + step->at));
	STRAIGHT(U32, load32(base + step->at));
	STRAIGHT(U64, load64(base + step->at));
	STRAIGHT(S8, (int8_t)base[step->at]);
	STRAIGHT(S16, (int16_t)load16(base + step->at));
	STRAIGHT(S32, (int32_t)load32(base + step->at));
	STRAIGHT(F32, wm_value_real(double_of(float32(load32(base + step->at)))));
	STRAIGHT(F64, wm_value_real(double_of(load64(base + step->at))));
	STRAIGHT(TEXT, wm_value_hash_text(base + step->at,
					  strnlen((const char *)base + step->at, step->n)));
STRING:
	pos = (pos + 7) & ~UINT64_C(7);
	if (unlikely(pos > end || end - pos < STRING_BITS))
		goto enough;
	bytes = short_string(data + pos / 8, &h);
	if (unlikely(!bytes))
		goto enough;
	sum += h * step->factor;
	pos += 8 * (uint64_t)bytes;
	STRAIGHT_NEXT;
END:
	clock = clock_after(clock, word >> q.time_at, q.time_mask);
	done = pos;
	all += wm_value_mix(head->sum + scale * sum + head->nr + step->at);
	nr++;
	goto next;
enough:
	d->clock = clock;
	d->pos = done;
	*hash += all;
	return nr;
}

/* --- all others ---------------------------------------------------------------------------------
 */

static enum wm_ctf_status header(struct wm_ctf_decoder *d, const struct wm_ctf_stream_plan *p,
				 bool is_quick)
{
	return is_quick && quick_header(d, &p->quick) ? WM_CTF_OK
						      : wm_ctf_decode(d, p->event_header, NULL);
}

static enum wm_ctf_status body(struct wm_ctf_decoder *d, const struct wm_ctf_event_plan *plan,
			       struct wm_value_sum *sum)
{
	uint32_t at = 0;

	while (at < 3 && !plan->body[at])
		at++;
	return at == 3 ? WM_CTF_OK : run_with_sum(d, plan->body + at, 3 - at, NULL, NULL, sum);
}

uint64_t wm_ctf_hash_events(struct wm_ctf_decoder *d, const struct wm_ctf_stream_plan *p,
			    bool is_quick, const struct wm_value_sum *head, uint64_t *hash)
{
	bool has_word = is_quick && p->quick.is_word && p->quick.id_bits;
	uint64_t nr = 0;

	for (d->first_item = 0;; nr++) {
		const struct wm_ctf_event_plan *plan;
		uint32_t nr_empty = d->nr_empty;
		struct wm_value_sum sum = *head;
		uint64_t pos, clock;

		if (has_word)
			nr += hash_straight(d, p, head, hash);
		pos = d->pos;
		clock = d->clock;
		if (pos >= d->limit)
			break;
		if (header(d, p, is_quick) || !(plan = wm_ctf_plan_of(p, d->slots)) ||
		    body(d, plan, &sum) || d->pos == pos) {
			d->pos = pos;
			d->clock = clock;
			d->nr_empty = nr_empty;
			break;
		}
		*hash += wm_value_mix(sum.sum + sum.nr);
	}
	return nr;
}
