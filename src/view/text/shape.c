/* SPDX-License-Identifier: MIT */
/* shape.c - see shape.h. Recursion is as deep as types are nested, which the readers limit. */
#include "view/shape.h"

#include <stdlib.h>
#include <string.h>

/* --- writing ------------------------------------------------------------------------- */

#define VALUE_ROOM 80u

static inline void put_piece(struct wm_pen *p, const struct wm_piece *piece, uint32_t skip)
{
	uint32_t n = piece->bytes - skip;

	if (n <= WM_PIECE_PADDING) {
		wm_pen_need(p, WM_PIECE_PADDING + VALUE_ROOM);
		memcpy(p->at, piece->text + skip,
		       WM_PIECE_PADDING); /* always 32 bytes; only the first n matter */
		p->at += n;
	} else {
		wm_pen_add(p, piece->text + skip, n);
		wm_pen_need(p, VALUE_ROOM);
	}
}

static inline void shape_put_text(struct wm_pen *p, const char *text)
{
	wm_pen_put(p, text, strlen(text));
}

static const struct wm_item *write_struct(struct wm_pen *p, const struct wm_shape *s,
					  const struct wm_item *i)
{
	uint32_t n = i->count < s->nr_pieces ? i->count : s->nr_pieces;

	shape_put_text(p, s->style->open);
	i++;
	for (uint32_t k = 0; k < n; k++) {
		put_piece(p, &s->pieces[k], k == 0);
		i = s->pieces[k].shape->write(p, s->pieces[k].shape, i);
	}
	wm_pen_need(p, VALUE_ROOM);
	shape_put_text(p, s->style->close);
	return i;
}

static const struct wm_item *write_list(struct wm_pen *p, const struct wm_shape *s,
					const struct wm_item *i)
{
	const struct wm_shape *element = s->pieces[0].shape;
	const struct wm_style *y = s->style;
	uint32_t n = i->count;

	shape_put_text(p, y->list_open);
	i++;
	for (uint32_t k = 0; k < n; k++) {
		wm_pen_need(p, 2 * VALUE_ROOM);
		shape_put_text(p, k ? y->list_next : y->list_first);
		if (y->list_numbers) {
			wm_pen_char(p, '[');
			p->at = wm_digits_u64(p->at, k);
			WM_PEN_PUT(p, "] = ");
		}
		i = element->write(p, element, i);
	}
	wm_pen_need(p, VALUE_ROOM);
	shape_put_text(p, y->list_close);
	return i;
}

static const struct wm_item *write_choice(struct wm_pen *p, const struct wm_shape *s,
					  const struct wm_item *i)
{
	const struct wm_piece *piece = &s->pieces[i->u < s->nr_pieces ? i->u : 0];

	shape_put_text(p, s->style->choice_open);
	if (s->style->choice_after)
		put_piece(p, piece, 0);
	wm_pen_need(p, VALUE_ROOM);
	i = piece->shape->write(p, piece->shape, i + 1);
	wm_pen_need(p, VALUE_ROOM);
	shape_put_text(p, s->style->choice_close);
	return i;
}

static const struct wm_item *write_optional(struct wm_pen *p, const struct wm_shape *s,
					    const struct wm_item *i)
{
	const struct wm_shape *value = s->pieces[0].shape;

	if (!i->count) {
		shape_put_text(p, s->style->none);
		return i + 1;
	}
	shape_put_text(p, s->style->some_open);
	wm_pen_need(p, VALUE_ROOM);
	i = value->write(p, value, i + 1);
	wm_pen_need(p, VALUE_ROOM);
	shape_put_text(p, s->style->some_close);
	return i;
}

uint32_t wm_shape_members(struct wm_pen *p, const struct wm_shape *s, const struct wm_item *items,
			  uint32_t at, uint32_t end, uint32_t nr)
{
	const struct wm_item *i = items + at, *behind = items + end;
	const struct wm_piece *piece = s->pieces, *last = piece + s->nr_pieces;

	for (; i < behind && piece < last; piece++) {
		if (piece->hidden) {
			i = items + i->next;
			continue;
		}
		put_piece(p, piece, nr++ == 0);
		i = piece->shape->write(p, piece->shape, i);
	}
	return nr;
}

/* --- compiling -------------------------------------------------------------------------- */

void wm_shapes_init(struct wm_shapes *s, struct wm_arena *arena, const struct wm_style *style)
{
	*s = (struct wm_shapes){.arena = arena, .style = style};
	wm_table_init(&s->table);
	wm_text_init(&s->name);
}

void wm_shapes_done(struct wm_shapes *s)
{
	wm_table_done(&s->table);
	wm_text_done(&s->name);
	*s = (struct wm_shapes){0};
}

static const struct wm_shape *shape_find(const struct wm_shapes *s, const struct wm_type *t,
					 uint64_t hash)
{
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&s->table, &w))
		if (s->all[w.index]->type == t)
			return s->all[w.index];
	return NULL;
}

/* Returns the shape; NULL: out of memory. */
static const struct wm_shape *shape_add(struct wm_shapes *s, struct wm_shape *shape, uint64_t hash)
{
	uint32_t nr = s->table.nr;
	struct wm_shape **more = wm_arena_grow(s->arena, s->all, nr, sizeof(*more));

	if (!more)
		return NULL;
	s->all = more;
	more[nr] = shape;
	return wm_table_add(&s->table, hash, nr) ? NULL : shape;
}

static bool make_piece(struct wm_shapes *s, const struct wm_member *m, struct wm_piece *piece)
{
	struct wm_text *t = &s->name;
	char *copy;

	wm_text_cut(t, 0);
	if (m->name) {
		wm_text_str(t, s->style->next);
		s->style->name(t, m->name);
		wm_text_str(t, s->style->after);
	}
	copy = t->failed ? NULL : wm_arena_get(s->arena, t->bytes + WM_PIECE_PADDING + 1);
	if (!copy)
		return false;
	if (t->bytes)
		memcpy(copy, t->data, t->bytes);
	piece->text = copy;
	piece->bytes = (uint32_t)t->bytes;
	piece->shape = wm_shape_of(s, m->type); /* changes the text */
	return piece->shape;
}

/* Removes the separator before the name of a choice's option. */
static void without_next(const struct wm_style *y, struct wm_piece *piece)
{
	uint32_t n = (uint32_t)strlen(y->next);

	if (piece->bytes >= n) {
		piece->text += n;
		piece->bytes -= n;
	}
}

static struct wm_piece *make_pieces(struct wm_shapes *s, const struct wm_type *t)
{
	struct wm_piece *pieces = wm_arena_array(s->arena, t->nr_members + 1, sizeof(*pieces));

	for (uint32_t k = 0; pieces && k < t->nr_members; k++) {
		if (!make_piece(s, &t->members[k], &pieces[k]))
			return NULL;
		if (t->kind == WM_TYPE_CHOICE)
			without_next(s->style, &pieces[k]);
	}
	return pieces;
}

static bool shape_fill(struct wm_shapes *s, const struct wm_type *t, struct wm_shape *shape)
{
	static wm_shape_write *const writers[WM_TYPE_NR] = {
	    [WM_TYPE_STRUCT] = write_struct,
	    [WM_TYPE_LIST] = write_list,
	    [WM_TYPE_CHOICE] = write_choice,
	    [WM_TYPE_OPTIONAL] = write_optional,
	};
	struct wm_piece *pieces;

	shape->type = t;
	shape->style = s->style;
	shape->write = writers[t->kind];
	if (!shape->write) {
		shape->write = s->style->leaf(t);
		return true;
	}
	if (t->kind == WM_TYPE_STRUCT || t->kind == WM_TYPE_CHOICE) {
		shape->nr_pieces = t->nr_members;
		shape->pieces = make_pieces(s, t);
		return shape->pieces;
	}
	pieces = wm_arena_get(s->arena, sizeof(*pieces));
	shape->nr_pieces = 1;
	shape->pieces = pieces;
	return pieces && make_piece(s, &t->element, pieces);
}

const struct wm_shape *wm_shape_of(struct wm_shapes *s, const struct wm_type *t)
{
	uint64_t hash = wm_table_hash(&s->table, (uintptr_t)t);
	const struct wm_shape *known = shape_find(s, t, hash);
	struct wm_shape *shape;

	if (known)
		return known;
	shape = wm_arena_get(s->arena, sizeof(*shape));
	return shape && shape_fill(s, t, shape) ? shape_add(s, shape, hash) : NULL;
}

const struct wm_shape *wm_shape_some(struct wm_shapes *s, const struct wm_type *t,
				     bool (*shown)(const struct wm_member *m, void *data),
				     void *data)
{
	struct wm_shape *shape = wm_arena_get(s->arena, sizeof(*shape));
	struct wm_piece *pieces;

	if (!shape || !shape_fill(s, t, shape))
		return NULL;
	pieces = (struct wm_piece *)shape->pieces; /* allocated here, by shape_fill() */
	for (uint32_t k = 0; k < t->nr_members; k++)
		pieces[k].hidden = !shown(&t->members[k], data);
	return shape;
}
