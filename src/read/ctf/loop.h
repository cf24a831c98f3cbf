/* SPDX-License-Identifier: MIT */
/*
 * loop.h - the loop over programs, included twice by decode.c: with ITEMS the values are put into a
 * batch, without it they are skipped. RUN is the function's name. Each operation ends with its own
 * jump to the next one, so that the branch predictor learns pairs of operations. Labels are named
 * after the operation codes.
 *
 * Runs programs in sequence and skips those without operations; the first must have some. If
 * `parts` is not NULL, each element is set to the range of one program's items.
 */
static enum wm_ctf_status RUN(struct wm_ctf_decoder *d, const struct wm_ctf_op *const *programs,
			      uint32_t nr_programs, struct wm_batch *b, struct wm_part_range *parts)
{
	static const void *const labels[WM_CTF_OP_NR] = {
	    LABEL(WM_CTF_OP_END),      LABEL(WM_CTF_OP_RUN),       LABEL(WM_CTF_OP_U8),
	    LABEL(WM_CTF_OP_U16),      LABEL(WM_CTF_OP_U32),       LABEL(WM_CTF_OP_U64),
	    LABEL(WM_CTF_OP_U16_SWAP), LABEL(WM_CTF_OP_U32_SWAP),  LABEL(WM_CTF_OP_U64_SWAP),
	    LABEL(WM_CTF_OP_S8),       LABEL(WM_CTF_OP_S16),       LABEL(WM_CTF_OP_S32),
	    LABEL(WM_CTF_OP_S64),      LABEL(WM_CTF_OP_S16_SWAP),  LABEL(WM_CTF_OP_S32_SWAP),
	    LABEL(WM_CTF_OP_S64_SWAP), LABEL(WM_CTF_OP_F32),       LABEL(WM_CTF_OP_F64),
	    LABEL(WM_CTF_OP_F32_SWAP), LABEL(WM_CTF_OP_F64_SWAP),  LABEL(WM_CTF_OP_BITS),
	    LABEL(WM_CTF_OP_TEXT),     LABEL(WM_CTF_OP_BYTES),     LABEL(WM_CTF_OP_LIST),
	    LABEL(WM_CTF_OP_STRUCT),   LABEL(WM_CTF_OP_FREE_BITS), LABEL(WM_CTF_OP_STRING),
	    LABEL(WM_CTF_OP_TEXT_N),   LABEL(WM_CTF_OP_BYTES_N),   LABEL(WM_CTF_OP_WIDE),
	    LABEL(WM_CTF_OP_WIDE_N),   LABEL(WM_CTF_OP_LIST_N),    LABEL(WM_CTF_OP_LEB_U),
	    LABEL(WM_CTF_OP_LEB_S),    LABEL(WM_CTF_OP_ALIGN),     LABEL(WM_CTF_OP_OPEN),
	    LABEL(WM_CTF_OP_CLOSE),    LABEL(WM_CTF_OP_LOOP),      LABEL(WM_CTF_OP_NEXT),
	    LABEL(WM_CTF_OP_CHOOSE),   LABEL(WM_CTF_OP_PERHAPS),   LABEL(WM_CTF_OP_JUMP),
	    LABEL(WM_CTF_OP_WHOLE),
	};
	struct loop_state s = {.items = ITEMS ? b->items : NULL, .n = ITEMS ? b->nr_items : 0};
	const struct wm_ctf_op *op = *programs;
	const struct wm_ctf_choice_range *chosen;
	const unsigned char *base = d->data;
	enum wm_ctf_status status;
	struct wm_ctf_loop *loop;
	struct wm_item *i;
	uint64_t v, pos;
	int bytes;

	if (ITEMS && parts)
		parts->at = s.n;
	goto *labels[op->code];
WM_CTF_OP_END:
	if (ITEMS && parts)
		parts++->end = s.n;
	while (--nr_programs && !*++programs)
		if (ITEMS && parts)
			*parts++ = (struct wm_part_range){s.n, s.n};
	if (nr_programs) {
		if (ITEMS && parts)
			parts->at = s.n;
		op = *programs;
		goto *labels[op->code];
	}
	if (ITEMS)
		b->nr_items = s.n;
	return WM_CTF_OK;
WM_CTF_OP_RUN:
	v = (UINT64_C(1) << op->shift) - 1;
	pos = (d->pos + v) & ~v;
	if (unlikely(pos > d->end || op->length > d->end - pos))
		return more(d, op);
	base = d->data + pos / 8;
	d->pos = pos + op->length;
	if (ITEMS)
		ROOM(op->n);
	else
		op += op->at;
	NEXT;
	NUMBER(WM_CTF_OP_U8, base[op->at]);
	NUMBER(WM_CTF_OP_U16, load16(base + op->at));
	NUMBER(WM_CTF_OP_U32, load32(base + op->at));
	NUMBER(WM_CTF_OP_U64, load64(base + op->at));
	NUMBER(WM_CTF_OP_U16_SWAP, swap16(base + op->at));
	NUMBER(WM_CTF_OP_U32_SWAP, swap32(base + op->at));
	NUMBER(WM_CTF_OP_U64_SWAP, swap64(base + op->at));
	NUMBER(WM_CTF_OP_S8, (int8_t)base[op->at]);
	NUMBER(WM_CTF_OP_S16, (int16_t)load16(base + op->at));
	NUMBER(WM_CTF_OP_S32, (int32_t)load32(base + op->at));
	NUMBER(WM_CTF_OP_S64, load64(base + op->at));
	NUMBER(WM_CTF_OP_S16_SWAP, (int16_t)swap16(base + op->at));
	NUMBER(WM_CTF_OP_S32_SWAP, (int32_t)swap32(base + op->at));
	NUMBER(WM_CTF_OP_S64_SWAP, swap64(base + op->at));
	REAL(WM_CTF_OP_F32, float32(load32(base + op->at)));
	REAL(WM_CTF_OP_F64, load64(base + op->at));
	REAL(WM_CTF_OP_F32_SWAP, float32(swap32(base + op->at)));
	REAL(WM_CTF_OP_F64_SWAP, swap64(base + op->at));
WM_CTF_OP_BITS:
	v = load_any(base, op->at, op);
	goto number;
WM_CTF_OP_TEXT:
WM_CTF_OP_BYTES:
	if (!SHOWN)
		NEXT;
	i = add(&s, op);
	i->bytes = base + op->at;
	i->count =
	    op->code == WM_CTF_OP_BYTES ? op->n : (uint32_t)strnlen((const char *)i->bytes, op->n);
	NEXT;
WM_CTF_OP_LIST:
	if (!SHOWN)
		NEXT;
	i = add(&s, op);
	i->u = 0;
	i->count = op->n;
	plain_elements(i + 1, s.n, &op->member->type->element, op->length, base + op->at, op->n);
	s.n += op->n;
	i->next = s.n;
	NEXT;
WM_CTF_OP_STRUCT:
	if (!SHOWN)
		NEXT;
	ROOM(1);
	i = add(&s, op);
	i->u = 0;
	i->count = op->n;
	i->next = s.n + (uint32_t)op->length;
	NEXT;
WM_CTF_OP_OPEN:
	if (!SHOWN)
		NEXT;
	ROOM(1);
	d->open[s.nr_open++] = s.n;
	i = add(&s, op);
	i->u = 0;
	i->count = op->n;
	NEXT;
WM_CTF_OP_CLOSE:
	if (SHOWN)
		s.items[d->open[--s.nr_open]].next = s.n;
	NEXT;
WM_CTF_OP_FREE_BITS:
	v = (UINT64_C(1) << op->shift) - 1;
	pos = (d->pos + v) & ~v;
	if (unlikely(pos > d->end || op->bits > d->end - pos))
		return more(d, op);
	v = load_any(d->data, pos, op);
	d->pos = pos + op->bits;
	if (SHOWN)
		ROOM(1);
	goto number;
WM_CTF_OP_STRING:
WM_CTF_OP_TEXT_N:
WM_CTF_OP_BYTES_N:
WM_CTF_OP_WIDE:
WM_CTF_OP_WIDE_N:
	if (SHOWN)
		ROOM(1);
	status = step_span(d, op, SHOWN ? add(&s, op) : NULL);
	if (unlikely(status))
		return status;
	NEXT;
WM_CTF_OP_LIST_N:
	if (!length(d, op, op->bits, &v))
		return bad(d, op, "is longer than the rest of the packet");
	if (v * op->bits > d->end - d->pos)
		return more(d, op);
	base = d->data + d->pos / 8;
	d->pos += v * op->bits;
	if (!SHOWN)
		NEXT;
	if (v > WM_CTF_ITEMS_MAX || s.n - d->first_item > WM_CTF_ITEMS_MAX)
		return bad(d, op, "has more elements than can be shown");
	ROOM((uint32_t)v + 1);
	if (!SHOWN)
		NEXT;
	i = add(&s, op);
	i->u = 0;
	i->count = (uint32_t)v;
	plain_elements(i + 1, s.n, &op->member->type->element, op->length, base, i->count);
	s.n += i->count;
	i->next = s.n;
	NEXT;
WM_CTF_OP_LEB_U:
WM_CTF_OP_LEB_S:
	d->pos = (d->pos + 7) & ~UINT64_C(7);
	if (d->pos > d->end)
		return more(d, op);
	bytes =
	    load_leb(d->data + d->pos / 8, (d->end - d->pos) / 8, op->code == WM_CTF_OP_LEB_S, &v);
	if (!bytes)
		return more(d, op);
	if (bytes < 0)
		return bad(d, op, "is a number of more than 64 bits");
	d->pos += 8 * (uint64_t)bytes;
	if (op->flags & WM_CTF_FLAG_CLOCK)
		move_clock(d, v, 7 * (uint32_t)bytes);
	if (SHOWN)
		ROOM(1);
	goto value;
WM_CTF_OP_ALIGN:
	v = (UINT64_C(1) << op->shift) - 1;
	d->pos = (d->pos + v) & ~v;
	if (d->pos > d->end)
		return more(d, op);
	NEXT;
WM_CTF_OP_WHOLE:
	v = (UINT64_C(1) << op->shift) - 1;
	if (((d->pos + v) & ~v) % 8)
		return bad(d, op, "has a different byte order from the preceding bits of its byte");
	NEXT;
WM_CTF_OP_LOOP:
	if (!length(d, op, op->length, &v))
		return bad(d, op, "is longer than the rest of the packet");
	loop = &d->loops[s.nr_loops++];
	*loop = (struct wm_ctf_loop){.left = v, .begin = d->pos, .item = s.n};
	if (SHOWN) {
		if (v > WM_CTF_ITEMS_MAX || s.n - d->first_item > WM_CTF_ITEMS_MAX)
			return bad(d, op, "has more elements than can be shown");
		ROOM(1);
		i = add(&s, op);
		i->u = 0;
		i->count = (uint32_t)v;
	}
	if (v)
		NEXT;
	op = d->ops + op->at;
	goto list_ends;
WM_CTF_OP_NEXT:
	loop = &d->loops[s.nr_loops - 1];
	if (--loop->left) {
		if (!not_empty(d, loop))
			return bad(d, op, "has too many zero-size elements");
		if (ITEMS && s.n - d->first_item > WM_CTF_ITEMS_MAX)
			return bad(d, op, "has more elements than can be shown");
		loop->begin = d->pos;
		op = d->ops + op->at - 1;
		NEXT;
	}
list_ends:
	loop = &d->loops[--s.nr_loops];
	if (SHOWN)
		s.items[loop->item].next = s.n;
	NEXT;
WM_CTF_OP_CHOOSE:
	chosen = wm_ctf_choose(op->choice, d->slots[op->slot]);
	if (!chosen)
		return bad(d, op,
			   op->n ? "has no value, but another field needs one"
				 : "has a tag that chooses none of its options");
	if (SHOWN) {
		ROOM(1);
		d->open[s.nr_open++] = s.n;
		i = add(&s, op);
		i->u = chosen->option;
		i->count = 1;
	}
	op = d->ops + chosen->at - 1;
	NEXT;
WM_CTF_OP_PERHAPS:
	chosen = wm_ctf_choose(op->choice, d->slots[op->slot]);
	if (SHOWN) {
		ROOM(1);
		d->open[s.nr_open++] = s.n;
		i = add(&s, op);
		i->u = 0;
		i->count = chosen != NULL;
	}
	if (!chosen)
		op = d->ops + op->at - 1;
	NEXT;
WM_CTF_OP_JUMP:
	op = d->ops + op->at - 1;
	NEXT;
number:
	if (unlikely(op->flags & WM_CTF_FLAG_CLOCK))
		move_clock(d, v, op->bits);
value:
	STORE;
	NEXT;
}
