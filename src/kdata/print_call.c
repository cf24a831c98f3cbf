/* SPDX-License-Identifier: MIT */
/*
 * print_call.c - the functions in a print form: helpers of the kernel's trace macros, looked up in
 * a table by name. All other functions can be called only inside the kernel, so their result is
 * unknown.
 */
#include <errno.h>

#include "kdata/print_tree_int.h"

#define PAIRS_MAX 4096u /* maximum length of one list of flags or symbols */

/* Skips the ',' that precedes the next argument. */
static bool comma(struct wm_kparser *p)
{
	return wm_kparser_skip(p, ',');
}

static struct wm_knode *close(struct wm_kparser *p, struct wm_knode *n)
{
	if (!n || !wm_kparser_skip(p, ')'))
		return NULL;
	return wm_kparser_whole(p, n);
}

/* Parses an argument that is the name of a field; returns a node of the given kind. */
static struct wm_knode *field_argument(struct wm_kparser *p, enum wm_knode_kind kind)
{
	struct wm_knode *n = wm_kparser_node(p, kind);
	struct wm_ktoken name = p->token;

	if (!n || name.kind != WM_KTOKEN_NAME)
		return wm_kparser_fail(p, "the name of a field is missing");
	for (unsigned i = 0; i < p->format->nr_fields; i++) {
		const struct wm_kfield *f = &p->format->fields[i];

		if (strlen(f->name) == name.length && memcmp(f->name, name.at, name.length) == 0)
			n->field = f;
	}
	if (!n->field)
		return wm_kparser_fail(p, "the event has no such field");
	n->bytes = n->field->element_bytes ? n->field->element_bytes : 1;
	n->is_signed = n->field->flags & WM_KFIELD_SIGNED;
	wm_kparser_next(p);
	return n;
}

/*
 * Parses VALUE, "TEXT" }. Returns 1 for a pair; 0 when the pair is to be skipped, because only the
 * kernel has the value or the text is not a string.
 */
static int read_pair(struct wm_kparser *p, struct wm_kpair *ret)
{
	const struct wm_krun none = {.print = &(struct wm_kprint){.machine = *p->machine}};
	uint32_t nr_unknown = p->nr_unknown;
	struct wm_knode *value = wm_kparser_expression(p), *text;
	bool known = p->nr_unknown == nr_unknown;

	if (!value || !comma(p))
		return -EBADMSG;
	text = wm_kparser_expression(p);
	if (!text || !wm_kparser_skip(p, '}'))
		return -EBADMSG;
	p->nr_unknown = nr_unknown;
	if (!known || text->kind != WM_KNODE_TEXT)
		return 0;
	/* Computed without a record, so fields count as 0. */
	ret->value = wm_krun_number(&none, value);
	ret->text = text->text;
	return 1;
}

/* Parses { VALUE, "TEXT" }, ... up to the ')' of the call. */
static struct wm_knode *pairs(struct wm_kparser *p, struct wm_knode *n)
{
	struct wm_kpair *list = NULL;

	while (!wm_kparser_is(p, ')')) {
		struct wm_kpair pair;
		int got;

		if (n->nr_pairs >= PAIRS_MAX)
			return wm_kparser_fail(p, "a list is too long");
		if (!comma(p))
			return NULL;
		if (wm_kparser_is(p, ')')) /* a comma may follow the last pair */
			break;
		got = wm_kparser_skip(p, '{') ? read_pair(p, &pair) : -EBADMSG;
		if (got < 0)
			return NULL;
		if (got == 0)
			continue;
		list = wm_arena_grow(p->arena, list, n->nr_pairs, sizeof(*list));
		if (!list) {
			p->no_memory = true;
			return wm_kparser_fail(p, "out of memory");
		}
		list[n->nr_pairs++] = pair;
		n->pairs = list;
	}
	return close(p, n);
}

static struct wm_knode *call_symbolic(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_SYMBOLIC);

	if (!n)
		return NULL;
	n->a = wm_kparser_expression(p);
	return n->a ? pairs(p, n) : NULL;
}

static struct wm_knode *call_flags(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_FLAGS), *delimiter;

	if (!n)
		return NULL;
	n->a = wm_kparser_expression(p);
	if (!n->a || !comma(p))
		return NULL;
	delimiter = wm_kparser_expression(p);
	if (!delimiter)
		return NULL;
	n->text = delimiter->kind == WM_KNODE_TEXT ? delimiter->text : "";
	return pairs(p, n);
}

static struct wm_knode *call_bytes(struct wm_kparser *p, uint8_t op)
{
	return close(p, field_argument(p, WM_KNODE_BYTES));
}

static struct wm_knode *call_length(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = field_argument(p, WM_KNODE_LENGTH);

	if (n) {
		n->bytes = 4;
		n->is_signed = true;
	}
	return close(p, n);
}

static struct wm_knode *call_of_field(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, op);

	if (!n)
		return NULL;
	n->a = field_argument(p, WM_KNODE_BYTES);
	return n->a ? close(p, n) : NULL;
}

/* Arguments (buffer, length), or (buffer, count, width). */
static struct wm_knode *call_hex(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_HEX);

	if (!n)
		return NULL;
	n->op = op;
	n->a = wm_kparser_expression(p);
	if (!n->a || !comma(p))
		return NULL;
	n->b = wm_kparser_expression(p);
	return n->b ? close(p, n) : NULL;
}

static struct wm_knode *call_array(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_ARRAY);

	if (!n)
		return NULL;
	n->a = wm_kparser_expression(p);
	if (!n->a || !comma(p))
		return NULL;
	n->b = wm_kparser_expression(p);
	if (!n->b || !comma(p))
		return NULL;
	n->c = wm_kparser_expression(p);
	return n->c ? close(p, n) : NULL;
}

/* Arguments (field, width): prints all elements. */
static struct wm_knode *call_dynamic_array(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_ARRAY);

	if (!n)
		return NULL;
	n->a = field_argument(p, WM_KNODE_BYTES);
	if (!n->a || !comma(p))
		return NULL;
	n->c = wm_kparser_expression(p);
	return n->c ? close(p, n) : NULL;
}

static struct wm_knode *call_seconds(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_node(p, WM_KNODE_SECONDS);

	if (!n)
		return NULL;
	n->op = op;
	n->bytes = 8;
	n->a = wm_kparser_expression(p);
	return n->a ? close(p, n) : NULL;
}

/* Arguments (expression, the value that the compiler should expect). */
static struct wm_knode *call_expect(struct wm_kparser *p, uint8_t op)
{
	struct wm_knode *n = wm_kparser_expression(p);

	if (!n || !comma(p) || !wm_kparser_expression(p))
		return NULL;
	return close(p, n);
}

static struct wm_knode *call_sizeof(struct wm_kparser *p, uint8_t op)
{
	struct wm_kparser before = *p;
	struct wm_knode *n;
	struct wm_ktype t;
	uint64_t bytes;

	if (wm_kparser_type(p, false, &t) && wm_kparser_is(p, ')') && (t.bytes || t.is_pointer)) {
		bytes = t.is_pointer ? p->machine->long_bytes : t.bytes;
	} else {
		*p = before;
		n = wm_kparser_expression(p);
		if (!n)
			return NULL;
		bytes = n->kind == WM_KNODE_BYTES && !(n->field->flags & WM_KFIELD_DYNAMIC)
			    ? n->field->bytes
			    : n->bytes;
	}
	return close(p, wm_kparser_number(p, bytes, p->machine->long_bytes, false));
}

/* Parses a call to any other kernel function: its arguments are parsed, its result is unknown. */
static struct wm_knode *call_unknown(struct wm_kparser *p)
{
	while (!wm_kparser_is(p, ')')) {
		if (!wm_kparser_expression(p))
			return NULL;
		if (!wm_kparser_is(p, ')') && !comma(p))
			return NULL;
	}
	return close(p, wm_kparser_unknown(p));
}

static const struct call {
	const char *name;
	struct wm_knode *(*parse)(struct wm_kparser *p, uint8_t op);
	uint8_t op;
} calls[] = {
    {"__print_symbolic", call_symbolic},
    {"__print_symbolic_u64", call_symbolic},
    {"__print_flags", call_flags},
    {"__print_flags_u64", call_flags},
    {"__get_str", call_bytes},
    {"__get_rel_str", call_bytes},
    {"__get_dynamic_array", call_bytes},
    {"__get_rel_dynamic_array", call_bytes},
    {"__get_dynamic_array_len", call_length},
    {"__get_rel_dynamic_array_len", call_length},
    {"__get_bitmask", call_of_field, WM_KNODE_BITMASK},
    {"__get_rel_bitmask", call_of_field, WM_KNODE_BITMASK},
    {"__get_cpumask", call_of_field, WM_KNODE_CPUS},
    {"__get_rel_cpumask", call_of_field, WM_KNODE_CPUS},
    {"__get_sockaddr", call_of_field, WM_KNODE_SOCKADDR},
    {"__get_rel_sockaddr", call_of_field, WM_KNODE_SOCKADDR},
    {"__get_sockaddr_rel", call_of_field, WM_KNODE_SOCKADDR},
    {"__print_hex", call_hex, ' '},
    {"__print_hex_str", call_hex, 0},
    {"__print_array", call_array},
    {"__print_dynamic_array", call_dynamic_array},
    {"__print_ns_to_secs", call_seconds, 's'},
    {"__print_ns_without_secs", call_seconds, 'n'},
    {"__builtin_expect", call_expect},
    {"sizeof", call_sizeof},
};

struct wm_knode *wm_kparser_call(struct wm_kparser *p, const struct wm_ktoken *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strlen(calls[i].name) == name->length &&
		    memcmp(calls[i].name, name->at, name->length) == 0)
			return calls[i].parse(p, calls[i].op);
	}
	return call_unknown(p);
}
