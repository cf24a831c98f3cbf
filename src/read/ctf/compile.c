/* SPDX-License-Identifier: MIT */
/*
 * compile.c - see compile.h. wm_ctf_place_bits() computes the offset of the next field from the
 * start of the current run, or finds that it is not constant. Recursion is limited by the nesting
 * depth of types, WM_CTF_DEPTH_MAX.
 */
#include "read/ctf/compile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/item_type.h"

#define NONE UINT32_MAX

#define NODES_MAX ((size_t)256 << 20)

struct field {
	const struct wm_ctf_type *type;
	const struct wm_member *member; /* NULL: the field is not shown */
	struct wm_ctf_node *node;
	uint16_t role; /* the slot for the field's name or role */
};

static void compile_field(struct wm_ctf_compiler *c, const struct field *f);

int wm_ctf_compile_fail(struct wm_ctf_compiler *c, const struct wm_ctf_ref *at, int err,
			const char *fmt, ...)
{
	char sentence[WM_DIAG_SENTENCE];
	va_list args;

	if (c->err)
		return c->err;
	c->err = err;
	va_start(args, fmt);
	(void)vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	(void)wm_diag_set(c->diag, err, c->diag ? c->diag->where : NULL, at ? at->offset : -1, "%s",
			  sentence);
	if (c->diag && at) {
		c->diag->line = at->line;
		c->diag->column = at->column;
	}
	return err;
}

void wm_ctf_compiler_init(struct wm_ctf_compiler *c, struct wm_ctf_metadata *m, uint32_t max_ops,
			  struct wm_diag *diag)
{
	*c = (struct wm_ctf_compiler){.m = m, .diag = diag, .max_ops = max_ops, .run = NONE};
	c->nr_slots = c->max_slots = WM_CTF_SLOT_OTHERS;
	wm_arena_init(&c->nodes[0], NODES_MAX);
	wm_arena_init(&c->nodes[1], NODES_MAX);
}

void wm_ctf_compiler_done(struct wm_ctf_compiler *c)
{
	free(c->ops);
	wm_arena_done(&c->nodes[0]);
	wm_arena_done(&c->nodes[1]);
}

void wm_ctf_compile_event_end(struct wm_ctf_compiler *c)
{
	wm_arena_done(&c->nodes[1]);
	wm_arena_init(&c->nodes[1], NODES_MAX);
}

/* --- numbers and items ---------------------------------------------------------------------- */

/* Counts items for which the open run has to reserve room. */
static void count_items(struct wm_ctf_compiler *c, const struct field *f, uint64_t count)
{
	if (!f->member)
		return;
	c->nr_items += count;
	if (c->run != NONE)
		wm_ctf_op_at(c, c->run)->n += (uint32_t)count;
}

static uint8_t compile_flags_of(const struct wm_ctf_type *t)
{
	return (uint8_t)((t->is_signed ? WM_CTF_FLAG_SIGNED : 0) |
			 (t->is_bool ? WM_CTF_FLAG_BOOL : 0) |
			 (t->kind == WM_CTF_FLOAT ? WM_CTF_FLAG_FLOAT : 0) |
			 (t->reversed ? WM_CTF_FLAG_TURNED : 0) |
			 (t->order == WM_CTF_BIG ? WM_CTF_FLAG_BIG : 0));
}

/*
 * Returns the operation that loads the type when it begins at a byte boundary; BITS when there is
 * no dedicated one.
 */
static enum wm_ctf_code load_of(const struct wm_ctf_type *t)
{
	static const uint8_t codes[3][2][4] = {
	    {{WM_CTF_OP_U8, WM_CTF_OP_U16, WM_CTF_OP_U32, WM_CTF_OP_U64},
	     {WM_CTF_OP_U8, WM_CTF_OP_U16_SWAP, WM_CTF_OP_U32_SWAP, WM_CTF_OP_U64_SWAP}},
	    {{WM_CTF_OP_S8, WM_CTF_OP_S16, WM_CTF_OP_S32, WM_CTF_OP_S64},
	     {WM_CTF_OP_S8, WM_CTF_OP_S16_SWAP, WM_CTF_OP_S32_SWAP, WM_CTF_OP_S64_SWAP}},
	    {{WM_CTF_OP_BITS, WM_CTF_OP_BITS, WM_CTF_OP_F32, WM_CTF_OP_F64},
	     {WM_CTF_OP_BITS, WM_CTF_OP_BITS, WM_CTF_OP_F32_SWAP, WM_CTF_OP_F64_SWAP}},
	};
	const bool is_little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	bool swap = (t->order == WM_CTF_BIG) == is_little_host;
	int kind = t->kind == WM_CTF_FLOAT ? 2 : t->is_signed ? 1 : 0;

	if (t->is_bool || t->reversed || t->bits < 8 || t->bits > 64 || (t->bits & (t->bits - 1)))
		return WM_CTF_OP_BITS;
	return codes[kind][swap][wm_ctf_log2(t->bits) - 3];
}

/* An integer mapped to a clock advances the stream's clock, unless it is an end time. */
static bool moves_clock(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type;
	const char *clock = t->clock ? t->clock : t->element ? t->element->clock : NULL;
	bool is_time = f->role == WM_CTF_TIME_BEGIN || f->role == WM_CTF_EVENT_TIME;

	if (f->role == WM_CTF_TIME_END || (!clock && (t->is_signed || !is_time)))
		return false;
	if (!c->clock || !c->clock[0])
		c->clock = clock ? clock : "";
	return !clock || !strcmp(c->clock, clock);
}

static void compile_roles(struct wm_ctf_compiler *c, struct wm_ctf_op *op, const struct field *f)
{
	if (moves_clock(c, f))
		op->flags |= WM_CTF_FLAG_CLOCK;
	if (!f->role || (f->type->is_signed && f->role < WM_CTF_SLOT_CPU))
		return;
	op->role = f->role;
	c->ids_in_events |= f->role >= WM_CTF_SLOT_CPU;
	c->has[f->role] = true;
	c->bits[f->role] = op->bits;
}

/* Compiles an integer wider than 64 bits, which is shown as bytes. */
static void wide_number(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_ref here = {
	    .line = f->type->line, .column = f->type->column, .offset = -1};
	int64_t at = wm_ctf_place_bits(c, f->type->align, f->type->bits);
	struct wm_ctf_op *op;

	if (f->role && f->role < WM_CTF_SLOT_CPU) {
		(void)wm_ctf_compile_fail(
		    c, &here, -ENOTSUP,
		    "an integer of %u bits in the header or context of packets or "
		    "events: at most 64 are supported there",
		    f->type->bits);
		return;
	}
	if (at < 0 || at % 8 || f->type->bits % 8) { /* the parsers refuse such types */
		(void)wm_ctf_compile_fail(c, &here, -EBADMSG,
					  "an integer of %u bits begins or ends inside a byte: "
					  "only those of at most 64 bits can",
					  f->type->bits);
		return;
	}
	count_items(c, f, 1);
	op = wm_ctf_emit(c, WM_CTF_OP_BYTES, f->member);
	op->at = (uint32_t)(at / 8);
	op->n = f->type->bits / 8;
}

/*
 * Fails when the byte order changes within a byte, because the order decides which bits of the byte
 * come next.
 */
static void compile_check_order(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type;
	const struct wm_ctf_place *at = &c->place;
	struct wm_ctf_op *op;

	if (!at->order || at->order == t->order || t->align >= 8)
		return;
	if (at->known < 8) {
		op = wm_ctf_emit(c, WM_CTF_OP_WHOLE, f->member);
		op->shift = wm_ctf_log2(t->align);
	} else if (((at->mod + t->align - 1) & ~(t->align - 1)) % 8) {
		(void)wm_ctf_compile_fail(
		    c, NULL, -EBADMSG, "the byte order changes within a byte%s%.60s",
		    f->member ? ", at " : "", f->member ? f->member->name : "");
	}
}

static void compile_number(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type;
	enum wm_ctf_code code = load_of(t);
	struct wm_ctf_op *op;
	int64_t at;

	if (t->bits > 64 && t->kind != WM_CTF_FLOAT) {
		wide_number(c, f);
		return;
	}
	compile_check_order(c, f);
	at = wm_ctf_place_bits(c, t->align, t->bits);
	count_items(c, f, 1);
	op = wm_ctf_emit(c,
			 at < 0   ? WM_CTF_OP_FREE_BITS
			 : at % 8 ? WM_CTF_OP_BITS
				  : code,
			 f->member);
	op->bits = (uint8_t)t->bits;
	op->flags |= compile_flags_of(t);
	op->shift = wm_ctf_log2(t->align);
	op->at = (uint32_t)(op->code == WM_CTF_OP_BITS ? at : at / 8);
	if (at < 0) {
		uint32_t pad = (t->align - 1) & (0 - c->place.mod);

		if (t->align > c->place.known)
			c->place = (struct wm_ctf_place){.known = t->align};
		else
			wm_ctf_move(c, pad);
		wm_ctf_move(c, t->bits);
	}
	c->place.order = t->order;
	f->node->op = c->err ? NONE : c->nr_ops - 1;
	compile_roles(c, op, f);
}

static void varint(struct wm_ctf_compiler *c, const struct field *f)
{
	struct wm_ctf_op *op;

	wm_ctf_end_run(c);
	c->min_bits += 8;
	op = wm_ctf_emit(c, f->type->is_signed ? WM_CTF_OP_LEB_S : WM_CTF_OP_LEB_U, f->member);
	op->bits = 64;
	op->shift = 3;
	c->nr_jumps++;
	f->node->op = c->err ? NONE : c->nr_ops - 1;
	compile_roles(c, op, f);
	wm_ctf_place_unknown(c, 8);
}

/* --- structures ------------------------------------------------------------------- */

/*
 * Returns the slot for a field that holds the process, the thread or the processor, whatever its
 * scope.
 */
static uint16_t compile_role_of(const struct wm_ctf_compiler *c, const struct wm_ctf_member *m)
{
	static const struct {
		const char *name;
		uint16_t slot;
	} names[] = {
	    {"cpu_id", WM_CTF_SLOT_CPU}, {"pid", WM_CTF_SLOT_PID},
	    {"tid", WM_CTF_SLOT_TID},    {"vpid", WM_CTF_SLOT_VPID},
	    {"vtid", WM_CTF_SLOT_VTID},  {"common_pid", WM_CTF_SLOT_TID}, /* of ftrace, converted */
	};
	uint16_t role = (uint16_t)wm_ctf_member_role(c->m, c->scope, m);

	if (role || c->scope == WM_CTF_PACKET_HEADER || c->scope == WM_CTF_EVENT_HEADER ||
	    (c->scope == WM_CTF_EVENT_FIELDS && !c->fields_say_pid))
		return role;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(m->name, names[i].name))
			return names[i].slot;
	}
	return c->is_own && c->scope == WM_CTF_EVENT_CONTEXT && !strcmp(m->name, "cpu")
		   ? WM_CTF_SLOT_CPU
		   : 0;
}

/* Creates nodes for the members or options of a node. */
static bool compile_parts(struct wm_ctf_compiler *c, struct wm_ctf_node *node)
{
	struct wm_arena *nodes = &c->nodes[c->scope >= WM_CTF_EVENT_CONTEXT];

	node->parts = wm_arena_array(nodes, node->type->nr_members + 1, sizeof(*node->parts));
	return node->parts;
}

/*
 * Returns the slot for a field without a name: an option, an optional value, an element. In CTF 2
 * it can have a role.
 */
static uint16_t compile_inner_role(const struct wm_ctf_compiler *c, struct wm_ctf_type *t)
{
	const struct wm_ctf_member m = {.name = "", .raw = "", .type = t};

	return c->m->major == 2 ? (uint16_t)wm_ctf_member_role(c->m, c->scope, &m) : 0;
}

static void compile_members(struct wm_ctf_compiler *c, const struct wm_ctf_type *t,
			    const struct wm_type *shape, struct wm_ctf_node *node)
{
	bool is_root = node == c->roots[c->scope];
	uint32_t shown = 0;

	if (!compile_parts(c, node)) {
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
		return;
	}
	c->frames[c->nr_frames++] = node;
	for (uint32_t i = 0; i < t->nr_members && !c->err; i++) {
		struct field f = {.type = t->members[i].type, .node = &node->parts[i]};

		node->nr_parts = i + 1;
		f.role = compile_role_of(c, &t->members[i]);
		if (shape && (!is_root || wm_ctf_is_shown(c->m, c->scope, &t->members[i])))
			f.member = &shape->members[shown++];
		compile_field(c, &f);
	}
	c->nr_frames--;
}

static void compile_structure(struct wm_ctf_compiler *c, const struct field *f)
{
	uint64_t jumps = c->nr_jumps, items;
	const struct wm_type *shape = f->member ? f->member->type : NULL;
	struct wm_ctf_op *op;
	uint32_t begin;

	wm_ctf_align(c, f->type->align);
	count_items(c, f, 1);
	items = c->nr_items;
	op = wm_ctf_emit(c, WM_CTF_OP_OPEN, f->member);
	op->n = shape ? shape->nr_members : 0;
	begin = c->nr_ops - 1;
	compile_members(c, f->type, shape, f->node);
	if (jumps != c->nr_jumps) {
		(void)wm_ctf_emit(c, WM_CTF_OP_CLOSE, f->member);
		return;
	}
	op = wm_ctf_op_at(c, begin);
	op->code = WM_CTF_OP_STRUCT;
	op->length = c->nr_items - items;
}

/* --- lists ------------------------------------------------------------------------ */

static struct wm_ctf_node *inner_node(struct wm_ctf_compiler *c, const struct field *f)
{
	f->node->inner =
	    wm_arena_get(&c->nodes[c->scope >= WM_CTF_EVENT_CONTEXT], sizeof(*f->node->inner));
	if (!f->node->inner)
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
	return f->node->inner;
}

/* Sets the slot from which a sequence's length is read, or the fixed length. */
static void set_length(struct wm_ctf_compiler *c, const struct wm_ctf_type *t, struct wm_ctf_op *op,
		       uint16_t slot)
{
	if (t->kind == WM_CTF_SEQUENCE)
		op->flags |= WM_CTF_FLAG_INPUT;
	op->slot = slot;
	op->n = (uint32_t)t->length;
}

static uint16_t length_slot(struct wm_ctf_compiler *c, const struct wm_ctf_type *t)
{
	const struct wm_ctf_type *given;

	return t->kind == WM_CTF_SEQUENCE ? wm_ctf_compile_ref(c, t, &given) : 0;
}

/* Compiles an array or sequence of characters or bytes. */
static void compile_span(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type;
	uint16_t slot = length_slot(c, t);
	bool in_run = t->kind == WM_CTF_ARRAY && t->length <= WM_CTF_UNROLLED_BYTES && !t->encoding;
	struct wm_ctf_op *op;
	int64_t at = -1;

	if (f->role == WM_CTF_UUID)
		c->uuid = f->member;
	if (in_run)
		at = wm_ctf_place_bits(c, t->align < 8 ? 8 : t->align, t->length * 8);
	else
		wm_ctf_align(c, t->align < 8 ? 8 : t->align);
	if (!in_run)
		wm_ctf_end_run(c);
	count_items(c, f, 1);
	op = wm_ctf_emit(c,
			 t->encoding ? WM_CTF_OP_WIDE_N
			 : t->text   ? (in_run ? WM_CTF_OP_TEXT : WM_CTF_OP_TEXT_N)
				     : (in_run ? WM_CTF_OP_BYTES : WM_CTF_OP_BYTES_N),
			 f->member);
	set_length(c, t, op, slot);
	op->at = (uint32_t)(at / 8);
	op->bits = t->encoding;
	if (!in_run) {
		c->nr_jumps++;
		c->min_bits += t->length * 8;
		wm_ctf_place_unknown(c, 8);
	}
}

/* Returns whether the elements of an array consist of whole bytes and have no gaps. */
static bool compile_is_plain(const struct wm_ctf_type *t)
{
	const struct wm_ctf_type *e = t->element;
	bool is_number =
	    e->kind == WM_CTF_INTEGER || e->kind == WM_CTF_ENUM || e->kind == WM_CTF_FLOAT;

	return is_number && load_of(e) != WM_CTF_OP_BITS && e->align >= 8 && e->align <= e->bits;
}

static void plain_list(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type, *e = t->element;
	uint16_t slot = length_slot(c, t);
	uint64_t bits = t->kind == WM_CTF_ARRAY ? t->length * e->bits : UINT64_MAX;
	bool in_run = bits <= 8 * WM_CTF_UNROLLED_BYTES;
	struct wm_ctf_op *op;
	int64_t at = -1;

	if (f->role == WM_CTF_UUID)
		c->uuid = f->member;
	if (in_run) {
		at = wm_ctf_place_bits(c, t->align, bits);
		count_items(c, f, 1 + t->length);
	} else {
		wm_ctf_align(c, t->align);
		wm_ctf_end_run(c);
		c->min_bits += t->length * e->bits;
		c->nr_jumps++;
	}
	op = wm_ctf_emit(c, in_run ? WM_CTF_OP_LIST : WM_CTF_OP_LIST_N, f->member);
	set_length(c, t, op, slot);
	op->bits = (uint8_t)e->bits;
	op->at = (uint32_t)(at / 8);
	op->length = load_of(e);
	if (!in_run)
		wm_ctf_place_unknown(c, t->align < e->bits ? t->align : e->bits);
}

static void loop(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type;
	struct field element = {.type = t->element};
	struct wm_ctf_place before;
	uint16_t slot = length_slot(c, t);
	uint32_t begin;
	uint64_t min_bits;

	if (f->member)
		element.member = &f->member->type->element;
	wm_ctf_align(c, t->align);
	wm_ctf_end_run(c);
	before = c->place;
	c->nr_jumps++;
	set_length(c, t, wm_ctf_emit(c, WM_CTF_OP_LOOP, f->member), slot);
	begin = c->nr_ops - 1;
	wm_ctf_place_unknown(c, 1);
	min_bits = c->min_bits;
	element.node = inner_node(c, f);
	element.role = compile_inner_role(c, t->element);
	wm_ctf_align(c, t->element->align);
	if (element.node)
		compile_field(c, &element);
	f->node->inner = NULL;
	wm_ctf_end_run(c);
	min_bits = c->min_bits - min_bits;
	wm_ctf_emit(c, WM_CTF_OP_NEXT, f->member)->at = begin + 1;
	wm_ctf_op_at(c, begin)->at = c->nr_ops - 1;
	wm_ctf_op_at(c, begin)->length = min_bits;
	c->min_bits += t->length > 1 ? (t->length - 1) * min_bits : 0;
	c->min_bits -= t->length ? 0 : min_bits;
	c->place = wm_ctf_join(before, c->place);
}

static void compile_list(struct wm_ctf_compiler *c, const struct field *f)
{
	if (f->type->text || f->type->blob)
		compile_span(c, f);
	else if (compile_is_plain(f->type) && !compile_inner_role(c, f->type->element))
		plain_list(c, f);
	else
		loop(c, f);
}

static void compile_string(struct wm_ctf_compiler *c, const struct field *f)
{
	struct wm_ctf_op *op;

	wm_ctf_end_run(c);
	op = wm_ctf_emit(c, f->type->encoding ? WM_CTF_OP_WIDE : WM_CTF_OP_STRING, f->member);
	op->shift = wm_ctf_log2(f->type->align);
	op->bits = f->type->encoding;
	c->min_bits += 8;
	c->nr_jumps++;
	wm_ctf_place_unknown(c, 8);
}

/* --- variants and optionals --------------------------------------------------------- */

/* Compiles one option of a variant; leaves the target of its final jump open. */
static uint32_t compile_option(struct wm_ctf_compiler *c, const struct field *f, uint32_t i)
{
	struct field one = {.type = f->type->members[i].type};

	if (f->member)
		one.member = &f->member->type->members[i];
	one.role = compile_inner_role(c, f->type->members[i].type);
	one.node = f->node->inner = &f->node->parts[i];
	f->node->nr_parts = i + 1;
	compile_field(c, &one);
	f->node->inner = NULL;
	wm_ctf_end_run(c);
	(void)wm_ctf_emit(c, WM_CTF_OP_JUMP, NULL);
	return c->nr_ops - 1;
}

static void set_targets(struct wm_ctf_choice *choice, const uint32_t *begins)
{
	for (uint32_t i = 0; i < choice->nr_ranges; i++)
		choice->ranges[i].at = begins[choice->ranges[i].option];
}

static void compile_variant(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type, *tag = NULL;
	uint16_t slot = wm_ctf_compile_ref(c, t, &tag);
	struct wm_ctf_choice *choice = tag ? wm_ctf_compile_choice(c, t, tag) : NULL;
	uint32_t *begins = calloc(2 * (size_t)t->nr_members + 1, sizeof(*begins));
	struct wm_ctf_place before, after = {0};
	uint64_t bits = c->min_bits, min_bits = UINT64_MAX;
	struct wm_ctf_op *op;

	if (!choice || !begins || !compile_parts(c, f->node)) {
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
		free(begins);
		return;
	}
	wm_ctf_end_run(c);
	before = c->place;
	op = wm_ctf_emit(c, WM_CTF_OP_CHOOSE, f->member);
	op->slot = slot;
	op->choice = choice;
	c->nr_jumps++;
	for (uint32_t i = 0; i < t->nr_members && !c->err; i++) {
		c->place = before;
		c->min_bits = bits;
		begins[2 * i] = c->nr_ops;
		begins[2 * i + 1] = compile_option(c, f, i);
		after = i ? wm_ctf_join(after, c->place) : c->place;
		min_bits = c->min_bits < min_bits ? c->min_bits : min_bits;
	}
	for (uint32_t i = 0; i < t->nr_members && !c->err; i++) {
		wm_ctf_op_at(c, begins[2 * i + 1])->at = c->nr_ops;
		begins[i] = begins[2 * i];
	}
	set_targets(choice, begins);
	free(begins);
	(void)wm_ctf_emit(c, WM_CTF_OP_CLOSE, f->member);
	c->place = after;
	c->min_bits = min_bits;
}

static void compile_optional(struct wm_ctf_compiler *c, const struct field *f)
{
	const struct wm_ctf_type *t = f->type, *tag = NULL;
	uint16_t slot = wm_ctf_compile_ref(c, t, &tag);
	struct wm_ctf_choice *choice = tag ? wm_ctf_compile_choice(c, t, tag) : NULL;
	struct field inner = {.type = t->element};
	struct wm_ctf_place before;
	uint64_t bits = c->min_bits;
	struct wm_ctf_op *op;
	uint32_t begin;

	if (!choice)
		return;
	wm_ctf_end_run(c);
	before = c->place;
	op = wm_ctf_emit(c, WM_CTF_OP_PERHAPS, f->member);
	op->slot = slot;
	op->choice = choice;
	begin = c->nr_ops - 1;
	c->nr_jumps++;
	if (f->member)
		inner.member = &f->member->type->element;
	inner.role = compile_inner_role(c, t->element);
	inner.node = inner_node(c, f);
	if (inner.node)
		compile_field(c, &inner);
	f->node->parts = f->node->inner;
	f->node->nr_parts = f->node->parts != NULL;
	f->node->perhaps = begin;
	f->node->inner = NULL;
	wm_ctf_end_run(c);
	wm_ctf_op_at(c, begin)->at = c->nr_ops;
	(void)wm_ctf_emit(c, WM_CTF_OP_CLOSE, f->member);
	c->place = wm_ctf_join(before, c->place);
	c->min_bits = bits;
}

/* --- the whole -------------------------------------------------------------------- */

static void compile_field(struct wm_ctf_compiler *c, const struct field *f)
{
	static void (*const kinds[WM_CTF_NR_KINDS])(struct wm_ctf_compiler * c,
						    const struct field *f) = {
	    [WM_CTF_INTEGER] = compile_number,
	    [WM_CTF_FLOAT] = compile_number,
	    [WM_CTF_STRING] = compile_string,
	    [WM_CTF_ENUM] = compile_number,
	    [WM_CTF_STRUCT] = compile_structure,
	    [WM_CTF_VARIANT] = compile_variant,
	    [WM_CTF_ARRAY] = compile_list,
	    [WM_CTF_SEQUENCE] = compile_list,
	    [WM_CTF_VARINT] = varint,
	    [WM_CTF_OPTIONAL] = compile_optional,
	};

	*f->node = (struct wm_ctf_node){.type = f->type, .op = NONE};
	if (!c->err)
		kinds[f->type->kind](c, f);
}

uint32_t wm_ctf_compile(struct wm_ctf_compiler *c, enum wm_ctf_scope scope,
			const struct wm_ctf_type *t, const struct wm_type *shape,
			struct wm_ctf_place *at)
{
	uint32_t begin = c->nr_ops;
	struct wm_ctf_node *root;

	for (int i = scope; i < WM_CTF_NR_SCOPES; i++)
		c->roots[i] = NULL;
	if (!t || c->err)
		return NONE;
	root = wm_arena_get(&c->nodes[scope >= WM_CTF_EVENT_CONTEXT], sizeof(*root));
	if (!root) {
		(void)wm_ctf_compile_fail(c, NULL, -ENOMEM, "out of memory for the plan");
		return NONE;
	}
	*root = (struct wm_ctf_node){.type = t, .op = NONE};
	c->scope = scope;
	c->roots[scope] = root;
	c->place = *at;
	c->nr_frames = 0;
	wm_ctf_end_run(c);
	wm_ctf_align(c, t->align);
	compile_members(c, t, shape, root);
	wm_ctf_end_run(c);
	(void)wm_ctf_emit(c, WM_CTF_OP_END, NULL);
	*at = c->place;
	return c->err ? NONE : begin;
}
