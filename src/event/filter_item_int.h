/* SPDX-License-Identifier: MIT */
/* filter_item_int.h - the bound form of a filter: filter_bind.c writes it, filter_item.c runs
 * it. */
#ifndef WM_EVENT_FILTER_ITEM_INT_H
#define WM_EVENT_FILTER_ITEM_INT_H

#include "event/filter_item.h"
#include "event/filter_program_int.h"

/*
 * Ops of a bound filter, in addition to END, CONST, CONTEXT, ARITH, INV, COMPARE, JUMP and the
 * float ops of enum wm_insn_op.
 */
enum item_op {
	ITEM_NUMBER = 128, /* x: operand */
	ITEM_REAL,         /* x: operand */
	ITEM_ELEMENT,      /* pops the index; x: the operand */
	ITEM_TEXT,         /* compares two strings, the operands x and y; `invert` negates */
	/* Pops a number and compares it; x: operand with the label's text; kind: op. */
	ITEM_LABEL,
	ITEM_TRUTH, /* turns an integer into 0 or 1 */
	ITEM_NOT,
};

enum operand_kind { OPERAND_MEMBER, OPERAND_COMM, OPERAND_LITERAL, OPERAND_PATTERN };

struct operand {
	enum operand_kind kind;
	const struct wm_type *type; /* type of the member; LABEL: the enumeration */
	int part;
	uint32_t index; /* index of the member in its part */
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
