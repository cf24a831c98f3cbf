/* SPDX-License-Identifier: MIT */
/*
 * shape.h - field types (event/item.h) compiled for one output style: each name is stored with the
 * punctuation around it, and each value with the function that writes it. A style is a table,
 * struct wm_style; all styles share the code that walks over items.
 */
#ifndef WM_VIEW_SHAPE_H
#define WM_VIEW_SHAPE_H

#include "base/arena.h"
#include "base/table.h"
#include "event/item.h"
#include "view/pen.h"

struct wm_shape;

/*
 * Writes a value and everything inside it; returns the item after it. The caller must have reserved
 * 80 bytes.
 */
typedef const struct wm_item *wm_shape_write(struct wm_pen *p, const struct wm_shape *s,
					     const struct wm_item *i);

struct wm_style {
	/*
	 * A structure: { name after VALUE next name after VALUE }. The first
	 * byte of `next` is omitted before the first member.
	 */
	const char *open, *next, *after, *close;
	const char *list_open, *list_first, *list_next, *list_close;
	bool list_numbers;                                     /* "[0] = " before each element */
	const char *choice_open, *choice_after, *choice_close; /* after NULL: the name is omitted */
	/* text before and after an optional's value; text for an absent one */
	const char *some_open, *some_close, *none;
	/* writes a member's name, escaped */
	void (*name)(struct wm_text *t, const char *name);
	/* returns the function that writes a type without parts */
	wm_shape_write *(*leaf)(const struct wm_type *t);
};

#define WM_PIECE_PADDING 32u

/* A member: the text written before its value. Padded, so that 32 bytes can be read. */
struct wm_piece {
	const char *text;
	uint32_t bytes;
	bool hidden;
	const struct wm_shape *shape;
};

struct wm_shape {
	wm_shape_write *write;
	const struct wm_type *type;
	const struct wm_style *style;
	uint32_t nr_pieces;
	const struct wm_piece *pieces; /* STRUCT, CHOICE: one per member; LIST, OPTIONAL: one */
};

/* The shapes built so far, in a hash table by type. */
struct wm_shapes {
	struct wm_arena *arena;
	const struct wm_style *style;
	struct wm_shape **all; /* in the arena */
	struct wm_table table; /* index of `all`, by type */
	struct wm_text name;   /* of the member that is being prepared */
};

void wm_shapes_init(struct wm_shapes *s, struct wm_arena *arena, const struct wm_style *style);
void wm_shapes_done(struct wm_shapes *s); /* does not free the shapes, which are in the arena */

/* Returns the shape of a type, which must outlive it. NULL: out of memory. */
const struct wm_shape *wm_shape_of(struct wm_shapes *s, const struct wm_type *t);

/* Builds the shape of a structure only some of whose members are shown. */
const struct wm_shape *wm_shape_some(struct wm_shapes *s, const struct wm_type *t,
				     bool (*shown)(const struct wm_member *m, void *data),
				     void *data);

/*
 * Writes the members of a part: items [at, end) of `items`. `nr` members of the same structure have
 * already been written. Returns the new number.
 */
uint32_t wm_shape_members(struct wm_pen *p, const struct wm_shape *s, const struct wm_item *items,
			  uint32_t at, uint32_t end, uint32_t nr);

#endif
