/* SPDX-License-Identifier: MIT */
/* filter_item_int.h - the bound form of a filter: filter_bind.c writes it, filter_item.c runs
 * it. */
#ifndef WM_EVENT_FILTER_ITEM_INT_H
#define WM_EVENT_FILTER_ITEM_INT_H

#include "event/filter_item.h"
#include "event/filter_program_int.h"

/* Used beside enum wm_insn_op's END, CONST, CONTEXT, ARITH, INV, COMPARE, JUMP and floats. */
enum item_op {
	ITEM_NUMBER = 128, /* x: operand */
	ITEM_REAL,         /* x: operand */
	ITEM_ELEMENT,      /* x: operand; pops the index */
	ITEM_TEXT,         /* x, y: operands; invert */
	ITEM_LABEL,        /* x: operand (a label's text); kind: op; pops the number */
	ITEM_TRUTH,        /* turns an integer into 0 or 1 */
	ITEM_NOT,
};

enum operand_kind { OPERAND_MEMBER, OPERAND_COMM, OPERAND_LITERAL, OPERAND_PATTERN };

struct operand {
	enum operand_kind kind;
	const struct wm_type *type; /* of the member; LABEL: of the enumeration */
	int part;
	uint32_t index; /* of the member in its part */
	const char *text;
	uint32_t bytes;
};

struct wm_item_filter {
	uint32_t needs;
	struct wm_filter_insn *insns;
	struct operand *operands;
	char *text;
};

/* Whether the label's name matches a literal or pattern. */
bool wm_item_label_matches(const struct operand *o, const char *name);

#endif
