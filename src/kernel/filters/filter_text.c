/* SPDX-License-Identifier: MIT */
/*
 * filter_text.c - see filter_text.h. The postfix code is turned into a tree of nodes in one array;
 * then each node that the kernel's language can express is written as text.
 */
#include "kernel/filters/filter_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event/filter.h"
#include "event/filter_code.h"
#include "event/filter_parts.h"
#include "kernel/event_fields.h"

#define TEXT_MAX 250u /* longest string that the kernel accepts, in bytes */
#define COMM_MAX 16u  /* size of a process name including its NUL */

struct node {
	uint8_t op;
	uint8_t context;          /* for WM_OP_CONTEXT: its bit number */
	const struct node *a, *b; /* operands; NOT has only `a` */
	int64_t value;            /* for WM_OP_INT; also holds the bits of a WM_OP_UINT */
	const char *text;         /* for names and strings; not NUL-terminated */
	uint32_t bytes;
};

struct translation {
	const struct wm_kformat *format;
	struct node nodes[WM_KERNEL_FILTER_NODES_MAX];
	uint32_t nr;
	const struct node *stack[WM_FILTER_STACK_MAX + 2 * WM_FILTER_NEST_MAX];
	uint32_t depth;
	struct wm_diag *diag;
};

/* ---- the tree ---------------------------------------------------------------------- */

static const struct node *filter_text_pop(struct translation *t)
{
	return t->depth ? t->stack[--t->depth] : NULL;
}

static int filter_text_push(struct translation *t, const struct node *n)
{
	if (t->depth == sizeof(t->stack) / sizeof(t->stack[0]))
		return -E2BIG;
	t->stack[t->depth++] = n;
	return 0;
}

static bool is_unary(uint8_t op)
{
	return op >= WM_OP_NEG && op <= WM_OP_INV;
}

static bool is_binary(uint8_t op)
{
	return op >= WM_OP_MUL && op <= WM_OP_NE;
}

static int filter_text_add_step(struct translation *t, const struct wm_filter_step *s)
{
	struct node *n = &t->nodes[t->nr];

	if (t->nr == WM_KERNEL_FILTER_NODES_MAX)
		return -E2BIG;
	t->nr++;
	*n = (struct node){.op = s->op, .text = s->text, .bytes = s->text_bytes};
	if (s->op == WM_OP_INT || s->op == WM_OP_UINT)
		n->value = (int64_t)wm_load_u64(s->operand);
	if (s->op == WM_OP_CONTEXT)
		n->context = *s->operand;
	if (is_binary(s->op))
		n->b = filter_text_pop(t);
	if (is_binary(s->op) || is_unary(s->op) || s->op == WM_OP_ELEMENT)
		n->a = filter_text_pop(t);
	if ((is_binary(s->op) && !n->b) ||
	    ((is_binary(s->op) || is_unary(s->op) || s->op == WM_OP_ELEMENT) && !n->a))
		return -EBADMSG;
	if (s->op == WM_OP_NEG && n->a->op == WM_OP_INT)
		*n = (struct node){.op = WM_OP_INT, .value = -n->a->value}; /* never INT64_MIN */
	return filter_text_push(t, n);
}

/* Reads steps up to `end`. && and || contain the length of their right operand. */
static int filter_text_build(struct translation *t, const struct wm_filter_code *code,
			     uint32_t *pos, uint32_t end, unsigned nest)
{
	struct wm_filter_step s;
	int more = 1, err = 0;

	while (!err && *pos < end && (more = wm_filter_code_next(code, pos, &s)) > 0) {
		struct node *n;

		if (s.op != WM_OP_AND && s.op != WM_OP_OR) {
			err = filter_text_add_step(t, &s);
			continue;
		}
		/* The left operand is on the stack; the right one is read now. */
		if (nest > WM_FILTER_NEST_MAX || t->nr == WM_KERNEL_FILTER_NODES_MAX)
			return -E2BIG;
		n = &t->nodes[t->nr++];
		*n = (struct node){.op = s.op, .a = filter_text_pop(t)};
		err = filter_text_build(t, code, pos, *pos + wm_load_u16(s.operand), nest + 1);
		n->b = filter_text_pop(t);
		if (!err)
			err = n->a && n->b ? filter_text_push(t, n) : -EBADMSG;
	}
	return err ? err : more < 0 ? more : *pos == end ? 0 : -EBADMSG;
}

/* ---- writing it ----------------------------------------------------------------------- */

static const struct wm_kfield *filter_text_field_of(const struct translation *t,
						    const struct node *n)
{
	char name[256];

	if (n->op != WM_OP_FIELD || n->bytes >= sizeof(name))
		return NULL;
	memcpy(name, n->text, n->bytes);
	name[n->bytes] = '\0';
	return wm_kformat_field(t->format, name);
}

/*
 * Whether the kernel compares the field as a number. It sees a probe's floating-point numbers and
 * signed bit fields as unsigned integers, so these do not qualify.
 */
static bool filter_text_is_number(const struct wm_kfield *f)
{
	return strcmp(f->type, "double") && strcmp(f->type, "float") && !wm_kfield_sign_bits(f) &&
	       !(f->flags & (WM_KFIELD_ARRAY | WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL |
			     WM_KFIELD_CHARS | WM_KFIELD_POINTER)) &&
	       (f->bytes == 1 || f->bytes == 2 || f->bytes == 4 || f->bytes == 8);
}

/*
 * Whether the constant fits the field, so that truncation to the field's size
 * does not change it.
 */
static bool in_range(const struct node *n, uint32_t bytes, bool is_signed)
{
	unsigned bits = 8 * bytes;
	int64_t low = is_signed ? -(int64_t)((1ull << (bits - 1)) - 1) - 1 : 0;

	if (n->op == WM_OP_UINT)
		return bits == 64 && !is_signed;
	if (n->op != WM_OP_INT || n->value < low)
		return false;
	return is_signed ? n->value <= (int64_t)((1ull << (bits - 1)) - 1)
			 : bits == 64 || (uint64_t)n->value < 1ull << bits;
}

/* The left side of a numeric comparison: its name in the kernel, size and sign. */
struct number {
	char name[256];
	uint32_t bytes;
	bool is_signed;
};

static bool filter_text_number_of(const struct translation *t, const struct node *n,
				  struct number *ret)
{
	const struct wm_kfield *f = filter_text_field_of(t, n);
	/* $pid is a process id, but the kernel's common_pid is a thread id. */
	static const char *const contexts[] = {[1] = "common_pid", [2] = "CPU"};

	if (n->op == WM_OP_CONTEXT && n->context < 3 && contexts[n->context]) {
		*ret = (struct number){.bytes = 4, .is_signed = true};
		(void)strcpy(ret->name, contexts[n->context]);
		return true;
	}
	if (!f || !filter_text_is_number(f))
		return false;
	*ret = (struct number){.bytes = f->bytes, .is_signed = f->flags & WM_KFIELD_SIGNED};
	memcpy(ret->name, n->text, n->bytes);
	return true;
}

static const char *filter_text_spelled(uint8_t op, bool mirrored)
{
	static const char *const plain[] = {
	    [WM_OP_LT] = "<",  [WM_OP_LE] = "<=", [WM_OP_GT] = ">",
	    [WM_OP_GE] = ">=", [WM_OP_EQ] = "==", [WM_OP_NE] = "!=",
	};
	static const char *const turned[] = {
	    [WM_OP_LT] = ">",  [WM_OP_LE] = ">=", [WM_OP_GT] = "<",
	    [WM_OP_GE] = "<=", [WM_OP_EQ] = "==", [WM_OP_NE] = "!=",
	};

	return (mirrored ? turned : plain)[op];
}

static void say_constant(const struct node *n, struct wm_text *text)
{
	if (n->op == WM_OP_UINT)
		wm_text_u64(text, (uint64_t)n->value);
	else
		wm_text_i64(text, n->value);
}

/* Writes a numeric condition: "rows > 100", "100 < rows", "flags & 4" or "(flags & 4) != 0". */
static bool say_numbers(const struct translation *t, const struct node *n, struct wm_text *text)
{
	bool mirrored = n->a->op == WM_OP_INT || n->a->op == WM_OP_UINT;
	const struct node *left = mirrored ? n->b : n->a, *right = mirrored ? n->a : n->b;
	struct number number;

	if (!filter_text_number_of(t, left, &number) ||
	    !in_range(right, number.bytes, number.is_signed))
		return false;
	wm_text_f(text, "%s %s ", number.name, filter_text_spelled(n->op, mirrored));
	say_constant(right, text);
	return true;
}

/*
 * Writes a test of a mask. The mask must not contain the sign bit, because the kernel sign-extends
 * the field before it compares.
 */
static bool say_mask(const struct translation *t, const struct node *n, struct wm_text *text)
{
	bool mirrored = n->a->op == WM_OP_INT;
	const struct node *left = mirrored ? n->b : n->a, *right = mirrored ? n->a : n->b;
	struct number number;

	if (!filter_text_number_of(t, left, &number) || right->op != WM_OP_INT ||
	    right->value < 0 || !in_range(right, number.bytes, number.is_signed))
		return false;
	wm_text_f(text, "%s & %" PRId64, number.name, right->value);
	return true;
}

/*
 * Writes a string. The kernel's strings have no escapes, so a string can contain only one kind of
 * quote.
 */
static bool say_string(const struct node *n, struct wm_text *text)
{
	char quote = memchr(n->text, '"', n->bytes) ? '\'' : '"';

	if (n->bytes >= TEXT_MAX || memchr(n->text, quote, n->bytes) ||
	    memchr(n->text, 0, n->bytes))
		return false;
	wm_text_char(text, quote);
	wm_text_add(text, n->text, n->bytes);
	wm_text_char(text, quote);
	return true;
}

/*
 * Finds a string field or $comm by name; *ret_max is the maximum length of strings compared with
 * it.
 */
static bool filter_text_of(const struct translation *t, const struct node *n, char name[256],
			   uint32_t *ret_max)
{
	const struct wm_kfield *f = filter_text_field_of(t, n);

	if (n->op == WM_OP_CONTEXT && n->context == 4) {
		(void)strcpy(name, "COMM");
		*ret_max = COMM_MAX;
		return true;
	}
	if (!f || !(f->flags & WM_KFIELD_CHARS) || f->flags & WM_KFIELD_TAIL)
		return false;
	memcpy(name, n->text, n->bytes);
	name[n->bytes] = '\0';
	*ret_max = f->flags & WM_KFIELD_DYNAMIC ? TEXT_MAX : f->bytes;
	return true;
}

static bool say_texts(const struct translation *t, const struct node *n, struct wm_text *text)
{
	bool mirrored = n->a->op == WM_OP_TEXT || n->a->op == WM_OP_GLOB;
	const struct node *left = mirrored ? n->b : n->a, *right = mirrored ? n->a : n->b;
	bool glob = right->op == WM_OP_GLOB, negated = n->op == WM_OP_NE;
	char name[256];
	uint32_t max;

	if ((n->op != WM_OP_EQ && n->op != WM_OP_NE) || !filter_text_of(t, left, name, &max) ||
	    (!glob && right->bytes >= max))
		return false;
	/* The kernel reads sets and escapes in patterns differently. */
	if (glob &&
	    (memchr(right->text, '[', right->bytes) || memchr(right->text, '\\', right->bytes)))
		return false;
	wm_text_f(text, "%s%s %s ", glob && negated ? "!(" : "", name,
		  glob ? "~" : filter_text_spelled(n->op, false));
	if (!say_string(right, text))
		return false;
	wm_text_str(text, glob && negated ? ")" : "");
	return true;
}

static bool filter_text_is_text(const struct node *n)
{
	return n->op == WM_OP_TEXT || n->op == WM_OP_GLOB;
}

static bool filter_text_is_zero(const struct node *n)
{
	return n->op == WM_OP_INT && n->value == 0;
}

static bool filter_text_say(const struct translation *t, const struct node *n,
			    struct wm_text *text);

static bool say_comparison(const struct translation *t, const struct node *n, struct wm_text *text)
{
	bool mask = n->a->op == WM_OP_BITAND && filter_text_is_zero(n->b);

	if (mask && n->op == WM_OP_NE)
		return say_mask(t, n->a, text);
	if (mask && n->op == WM_OP_EQ) {
		wm_text_str(text, "!(");
		if (!say_mask(t, n->a, text))
			return false;
		wm_text_str(text, ")");
		return true;
	}
	return filter_text_is_text(n->a) || filter_text_is_text(n->b) ? say_texts(t, n, text)
								      : say_numbers(t, n, text);
}

static bool say_joined(const struct translation *t, const struct node *n, struct wm_text *text)
{
	wm_text_str(text, "(");
	if (!filter_text_say(t, n->a, text))
		return false;
	wm_text_str(text, n->op == WM_OP_AND ? ") && (" : ") || (");
	if (!filter_text_say(t, n->b, text))
		return false;
	wm_text_str(text, ")");
	return true;
}

/*
 * Writes a condition. Returns false if the kernel's language cannot express it; `text` then ends
 * with an incomplete condition.
 */
static bool filter_text_say(const struct translation *t, const struct node *n, struct wm_text *text)
{
	struct number number;

	if (n->op == WM_OP_AND || n->op == WM_OP_OR)
		return say_joined(t, n, text);
	if (n->op == WM_OP_NOT) {
		wm_text_str(text, "!(");
		if (!filter_text_say(t, n->a, text))
			return false;
		wm_text_str(text, ")");
		return true;
	}
	if (n->op >= WM_OP_LT && n->op <= WM_OP_NE)
		return say_comparison(t, n, text);
	if (n->op == WM_OP_BITAND)
		return say_mask(t, n, text);
	if (!filter_text_number_of(t, n, &number))
		return false;
	wm_text_f(text, "%s != 0", number.name);
	return true;
}

/*
 * Appends a part if the kernel's language can express it. Returns 1, 0 if it cannot, or -errno.
 */
static int say_part(struct translation *t, const struct wm_filter_code *c,
		    const struct wm_filter_part *part, struct wm_text *text)
{
	size_t before = text->bytes;
	uint32_t pos = part->from;
	int err;

	t->nr = t->depth = 0;
	err = filter_text_build(t, c, &pos, part->to, 0);
	if (err)
		return err;
	if (t->depth != 1)
		return -EBADMSG;
	wm_text_str(text, before ? " && (" : "(");
	if (!filter_text_say(t, t->stack[0], text)) {
		bool failed = text->failed;

		wm_text_cut(text, before);
		text->failed = failed;
		return 0;
	}
	wm_text_str(text, ")");
	return 1;
}

static int filter_text_no_field(const struct translation *t, const char *text, uint32_t bytes)
{
	char name[64], hint[WM_DIAG_SENTENCE / 2];

	(void)snprintf(name, sizeof(name), "%.*s", bytes < 60 ? (int)bytes : 60, text);
	return wm_diag_set(t->diag, -ENOENT, NULL, -1, "%s:%s has no field '%s'; %s",
			   t->format->system, t->format->name, name,
			   wm_event_fields_hint(t->format, NULL, name, hint, sizeof(hint)));
}

/* Checks that the event has all fields that the filter names. */
static int check_names(const struct translation *t, const struct wm_filter_code *c)
{
	struct wm_filter_step s;
	uint32_t pos = 0;
	int more;

	for (uint32_t op = 0; (more = wm_filter_code_next(c, &pos, &s)) > 0; op++) {
		const struct node n = {.op = WM_OP_FIELD, .text = s.text, .bytes = s.text_bytes};

		if ((s.op != WM_OP_FIELD && s.op != WM_OP_ELEMENT) || filter_text_field_of(t, &n))
			continue;
		(void)filter_text_no_field(t, s.text, s.text_bytes);
		if (t->diag && op < c->nr_ops)
			t->diag->column = wm_load_u16(c->columns + 2 * op) + 1u;
		return -ENOENT;
	}
	return more;
}

int wm_kernel_filter_text(const unsigned char *code, size_t bytes, const struct wm_kformat *format,
			  struct wm_text *text, unsigned char **ret_rest, size_t *ret_rest_bytes,
			  struct wm_diag *diag)
{
	struct wm_filter_part parts[WM_FILTER_PARTS_MAX];
	struct translation t = {.format = format, .diag = diag};
	struct wm_filter_code c;
	uint32_t nr_left = 0;
	int nr, err = wm_filter_code_open(&c, code, bytes);

	if (!err)
		err = check_names(&t, &c);
	if (err)
		return err;
	nr = wm_filter_parts(code, bytes, parts);
	if (nr < 0)
		return nr;
	for (int i = 0; i < nr; i++) {
		int said = say_part(&t, &c, &parts[i], text);

		if (said < 0)
			return said;
		if (!said)
			parts[nr_left++] = parts[i];
	}
	if (text->failed)
		return -ENOMEM;
	*ret_rest = NULL;
	*ret_rest_bytes = 0;
	return nr_left ? wm_filter_of_parts(code, bytes, parts, nr_left, ret_rest, ret_rest_bytes)
		       : 0;
}
