/* SPDX-License-Identifier: MIT */
/*
 * filter_parts.c - see filter_parts.h. In postfix code && comes before its right operand and gives
 * that operand's size. It is the outermost operator of an expression when this operand ends where
 * the expression ends.
 */
#include "event/filter_parts.h"

#include <stdlib.h>
#include <string.h>

#include "event/filter_code.h"

struct splitting {
	const struct wm_filter_code *c;
	struct wm_filter_part *parts; /* filled from the last part to the first */
	uint32_t nr;
};

/*
 * The && or || that is the outermost operator of an expression: its position and that of its right
 * operand. `op` is 0 when there is none.
 */
struct top {
	uint8_t op;
	uint32_t at, operand;
};

static int find_top(const struct wm_filter_code *c, uint32_t from, uint32_t to, struct top *ret)
{
	uint32_t pos = from, at = from;
	struct wm_filter_step s;
	int more = 1;

	*ret = (struct top){0};
	while (pos < to && (more = wm_filter_code_next(c, &pos, &s)) > 0) {
		if (s.op == WM_OP_AND || s.op == WM_OP_OR) {
			uint32_t bytes = wm_load_u16(s.operand);

			if (!bytes || bytes > to - pos)
				return -EBADMSG;
			if (bytes == to - pos)
				*ret = (struct top){s.op, at, pos};
			pos += bytes;
		}
		at = pos;
	}
	return more < 0 || pos != to ? -EBADMSG : 0;
}

/* Splits from right to left: at the last && first, then the code to its left. */
static int filter_parts_split(struct splitting *s, uint32_t from, uint32_t to, unsigned nest)
{
	for (;;) {
		struct top top;
		int err = find_top(s->c, from, to, &top);

		if (err)
			return err;
		if (top.op != WM_OP_AND || nest > WM_FILTER_NEST_MAX ||
		    /* Each enclosing level adds one more part. */
		    s->nr + 2 + nest > WM_FILTER_PARTS_MAX)
			break;
		err = filter_parts_split(s, top.operand, to, nest + 1);
		if (err)
			return err;
		to = top.at;
	}
	if (from == to || s->nr == WM_FILTER_PARTS_MAX)
		return -EBADMSG;
	s->parts[s->nr++] = (struct wm_filter_part){from, to};
	return 0;
}

int wm_filter_parts(const unsigned char *code, size_t bytes,
		    struct wm_filter_part ret[WM_FILTER_PARTS_MAX])
{
	struct wm_filter_part backwards[WM_FILTER_PARTS_MAX];
	struct wm_filter_code c;
	struct splitting s = {.c = &c, .parts = backwards};
	int err = wm_filter_code_open(&c, code, bytes);

	if (!err)
		err = filter_parts_split(&s, 0, c.code_bytes, 0);
	for (uint32_t i = 0; !err && i < s.nr; i++)
		ret[i] = backwards[s.nr - 1 - i];
	return err ? err : (int)s.nr;
}

/* ---- joining ----------------------------------------------------------------------- */

struct joining {
	const struct wm_filter_code *c;
	unsigned char *code, *columns;
	uint32_t code_bytes, nr_ops;
};

static void put_u16(unsigned char *to, uint32_t value)
{
	to[0] = (unsigned char)value;
	to[1] = (unsigned char)(value >> 8);
}

/* Copies the columns of a part's ops. Columns are stored in the order of the ops. */
static int put_columns(struct joining *j, const struct wm_filter_part *part)
{
	uint32_t pos = 0, at = 0, op = 0;
	struct wm_filter_step s;
	int more = 1;

	while (at < part->to && (more = wm_filter_code_next(j->c, &pos, &s)) > 0) {
		if (at >= part->from && op < j->c->nr_ops)
			memcpy(j->columns + 2 * j->nr_ops++, j->c->columns + 2 * op, 2);
		op++;
		at = pos;
	}
	return more < 0 || at != part->to ? -EBADMSG : 0;
}

static int filter_parts_put_part(struct joining *j, const struct wm_filter_part *part)
{
	uint32_t bytes = part->to - part->from;

	if (j->code_bytes) {
		j->code[j->code_bytes] = WM_OP_AND;
		put_u16(j->code + j->code_bytes + 1, bytes);
		j->code_bytes += 3;
		put_u16(j->columns + 2 * j->nr_ops++, 0); /* never used: && cannot cause a fault */
	}
	memcpy(j->code + j->code_bytes, j->c->code + part->from, bytes);
	j->code_bytes += bytes;
	return put_columns(j, part);
}

static bool is_within(const struct wm_filter_code *c, const struct wm_filter_part *parts,
		      uint32_t nr)
{
	for (uint32_t i = 0, end = 0; i < nr; end = parts[i++].to)
		if (parts[i].from < end || parts[i].to <= parts[i].from ||
		    parts[i].to > c->code_bytes)
			return false;
	return nr > 0;
}

/* Writes head, code, text and columns one after the other. */
static void put_together(const struct joining *j, unsigned char *to)
{
	const struct wm_filter_code *c = j->c;
	unsigned char *at = to;

	for (unsigned i = 0; i < 4; i++)
		*at++ = (unsigned char)(WM_FILTER_MAGIC >> 8 * i);
	put_u16(at, j->code_bytes);
	put_u16(at + 2, c->text_bytes);
	put_u16(at + 4, j->nr_ops);
	put_u16(at + 6, 0);
	at = to + WM_FILTER_HEAD_BYTES;
	memcpy(at, j->code, j->code_bytes);
	memcpy(at + j->code_bytes, c->text, c->text_bytes);
	memcpy(at + j->code_bytes + c->text_bytes, j->columns, 2 * (size_t)j->nr_ops);
}

int wm_filter_of_parts(const unsigned char *code, size_t bytes, const struct wm_filter_part *parts,
		       uint32_t nr, unsigned char **ret_code, size_t *ret_bytes)
{
	struct wm_filter_code c;
	struct joining j = {.c = &c};
	unsigned char *out;
	size_t room;
	int err = wm_filter_code_open(&c, code, bytes);

	if (!err && !is_within(&c, parts, nr))
		err = -EBADMSG;
	if (err)
		return err;
	/* Room for the result; its code and columns are smaller than the original's. */
	room = bytes + 5 * (size_t)nr;
	out = malloc(3 * room);
	if (!out)
		return -ENOMEM;
	j.code = out + room;
	j.columns = j.code + room;
	for (uint32_t i = 0; i < nr && !err; i++)
		err = filter_parts_put_part(&j, &parts[i]);
	if (err) {
		free(out);
		return err;
	}
	put_together(&j, out);
	*ret_code = out;
	*ret_bytes =
	    WM_FILTER_HEAD_BYTES + (size_t)j.code_bytes + c.text_bytes + 2 * (size_t)j.nr_ops;
	return 0;
}
