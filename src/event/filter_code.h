/* SPDX-License-Identifier: MIT */
/*
 * filter_code.h - the portable form of a filter. filter_parse.c writes it; filter_link.c reads it,
 * often in another process. Little endian, no alignment; every reader treats it as untrusted. Guest
 * code includes this.
 *
 *   struct wm_filter_head | code[code_bytes] | text[text_bytes] | u16 column[nr_ops]
 *
 * The code is the expression in postfix order. Values are numbers or strings; the code does not
 * contain field types. `AND n` and `OR n` come between their operands: n is the size of the right
 * one's code, skipped when the left one decides. Names and strings are (u16 offset, u16 bytes) in
 * text. Columns, one for each op, are for messages only.
 */
#ifndef WM_EVENT_FILTER_CODE_H
#define WM_EVENT_FILTER_CODE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "event/filter.h"
#include "event/schema_int.h"

#define WM_FILTER_MAGIC 0x31464d57u /* "WMF1" */

struct wm_filter_head {
	uint32_t magic;
	uint16_t code_bytes, text_bytes, nr_ops, reserved;
};

#define WM_FILTER_HEAD_BYTES 12u

enum wm_filter_op {
	WM_OP_INT = 1, /* i64 */
	WM_OP_UINT,    /* u64, for values beyond i64 */
	WM_OP_FLOAT,   /* the bits of a double */
	WM_OP_TEXT,    /* a string to be matched exactly */
	WM_OP_GLOB,    /* a pattern (base/glob.h) */
	WM_OP_FIELD,   /* name */
	WM_OP_ELEMENT, /* a name; pops the index */
	WM_OP_CONTEXT, /* u8: bit number in enum wm_filter_context */

	WM_OP_NEG = 16,
	WM_OP_NOT,
	WM_OP_INV,

	WM_OP_MUL = 32,
	WM_OP_DIV,
	WM_OP_MOD,
	WM_OP_ADD,
	WM_OP_SUB,
	WM_OP_SHL,
	WM_OP_SHR,
	WM_OP_BITAND,
	WM_OP_XOR,
	WM_OP_BITOR,
	WM_OP_LT, /* the comparison operators begin here */
	WM_OP_LE,
	WM_OP_GT,
	WM_OP_GE,
	WM_OP_EQ,
	WM_OP_NE,

	WM_OP_AND = 64, /* u16: size of the right operand's code */
	WM_OP_OR,
};

/* A decoded portable filter. Its pointers point into the encoded one. */
struct wm_filter_code {
	const unsigned char *code, *text, *columns;
	uint32_t code_bytes, text_bytes, nr_ops;
};

static inline int wm_filter_code_open(struct wm_filter_code *c, const void *data, size_t bytes)
{
	const unsigned char *d = data;

	if (bytes < WM_FILTER_HEAD_BYTES || bytes > WM_FILTER_BYTES_MAX ||
	    wm_load_u32(d) != WM_FILTER_MAGIC || wm_load_u16(d + 10))
		return -EBADMSG;
	c->code_bytes = wm_load_u16(d + 4);
	c->text_bytes = wm_load_u16(d + 6);
	c->nr_ops = wm_load_u16(d + 8);
	if (WM_FILTER_HEAD_BYTES + c->code_bytes + c->text_bytes + 2 * c->nr_ops != bytes)
		return -EBADMSG;
	c->code = d + WM_FILTER_HEAD_BYTES;
	c->text = c->code + c->code_bytes;
	c->columns = c->text + c->text_bytes;
	return 0;
}

/* Number of operand bytes that follow an op; -EBADMSG if there is no such op. */
static inline int wm_filter_operand_bytes(uint8_t op)
{
	static const uint8_t leaf[] = {
	    [WM_OP_INT] = 8,  [WM_OP_UINT] = 8,  [WM_OP_FLOAT] = 8,   [WM_OP_TEXT] = 4,
	    [WM_OP_GLOB] = 4, [WM_OP_FIELD] = 4, [WM_OP_ELEMENT] = 4, [WM_OP_CONTEXT] = 1,
	};

	if (op >= WM_OP_INT && op <= WM_OP_CONTEXT)
		return leaf[op];
	if ((op >= WM_OP_NEG && op <= WM_OP_INV) || (op >= WM_OP_MUL && op <= WM_OP_NE))
		return 0;
	return op == WM_OP_AND || op == WM_OP_OR ? 2 : -EBADMSG;
}

/* One op, decoded. */
struct wm_filter_step {
	uint8_t op;
	uint32_t index;               /* number of the op */
	const unsigned char *operand; /* the op's operand bytes */
	const char *text;             /* for ops with a name or a string, else NULL */
	uint32_t text_bytes;
};

/* Reads the op at *pos and advances *pos. Returns 1, 0 at the end, or -EBADMSG. */
static inline int wm_filter_code_next(const struct wm_filter_code *c, uint32_t *pos,
				      struct wm_filter_step *ret)
{
	int operand;

	if (*pos >= c->code_bytes)
		return 0;
	ret->op = c->code[*pos];
	operand = wm_filter_operand_bytes(ret->op);
	if (operand < 0 || (uint32_t)operand > c->code_bytes - *pos - 1)
		return -EBADMSG;
	ret->text = NULL;
	ret->text_bytes = 0;
	ret->operand = c->code + *pos + 1;
	*pos += 1 + (uint32_t)operand;
	if (operand == 4) {
		uint32_t offset = wm_load_u16(ret->operand);

		ret->text_bytes = wm_load_u16(ret->operand + 2);
		if (offset + ret->text_bytes > c->text_bytes)
			return -EBADMSG;
		ret->text = (const char *)c->text + offset;
	}
	return 1;
}

/* --- reasons why a filter cannot be applied to an event --------------- */

enum wm_filter_what {
	WM_FAULT_NONE,
	WM_FAULT_CODE,         /* fails verification */
	WM_FAULT_DESC,         /* the description is malformed */
	WM_FAULT_SPACE,        /* too long */
	WM_FAULT_NO_FIELD,     /* `name` */
	WM_FAULT_WHOLE,        /* `name` is an array or similar and needs an index */
	WM_FAULT_NOT_INDEXED,  /* `name` is a scalar and cannot be indexed */
	WM_FAULT_INDEX,        /* the index is not an integer */
	WM_FAULT_INDEX_RANGE,  /* the index is beyond the end of the fixed array `name` */
	WM_FAULT_TEXT_NUMBER,  /* a string is used where a number is needed */
	WM_FAULT_TEXT_COMPARE, /* a string is compared with a number */
	WM_FAULT_TEXT_ORDER,   /* strings are compared with <, <=, > or >= */
	WM_FAULT_TEXT_TEXT,    /* two constant strings are compared */
	WM_FAULT_LABEL,        /* field `field` has no label `name` */
	WM_FAULT_LABEL_ORDER,  /* < with a label pattern that matches several values */
	WM_FAULT_FLOAT,        /* a float is used where an integer is needed */
};

struct wm_filter_fault {
	enum wm_filter_what what;
	uint32_t op; /* index */
	const char *name;
	uint32_t name_bytes, field;
};

/* Like wm_filter_link(), but also returns the fault, which filter_check.c turns into a message. */
int64_t wm_filter_link_why(const void *code, size_t bytes, const void *desc, size_t desc_bytes,
			   void *storage, size_t storage_bytes, struct wm_filter_fault *ret_fault);

#endif
