/* SPDX-License-Identifier: MIT */
/*
 * elf_cfi_step.c - applies a row of an unwind table. Few rows have expressions: those of the
 * procedure linkage table, of signal frames, and of functions that realign the stack.
 */
#include <dwarf.h>

#include "elf/elf_cfi_int.h"

#define STACK_MAX 64u

/* The state while an expression is computed. */
struct computing {
	const struct wm_registers *regs;
	wm_cfi_memory *memory;
	void *data;
	uint64_t cfa;
	bool has_cfa;
	bool is_narrow; /* numbers are 32 bits wide, zero-extended */
	uint64_t stack[STACK_MAX];
	unsigned nr;
	enum wm_cfi_step failed; /* WM_CFI_STEPPED: no failure */
};

static void cfi_step_fail(struct computing *x, enum wm_cfi_step how)
{
	if (x->failed == WM_CFI_STEPPED)
		x->failed = how;
}

static uint64_t of_width(const struct computing *x, uint64_t value)
{
	return x->is_narrow ? (uint32_t)value : value;
}

static void cfi_step_push(struct computing *x, uint64_t value)
{
	if (x->nr < STACK_MAX)
		x->stack[x->nr++] = of_width(x, value);
	else
		cfi_step_fail(x, WM_CFI_NOT_KNOWN);
}

static uint64_t cfi_step_pop(struct computing *x)
{
	if (x->nr)
		return x->stack[--x->nr];
	cfi_step_fail(x, WM_CFI_NOT_KNOWN);
	return 0;
}

static uint64_t cfi_step_get(struct computing *x, uint64_t reg)
{
	if (reg < WM_REGS_MAX && x->regs->known >> reg & 1)
		return x->regs->value[reg];
	cfi_step_fail(x, WM_CFI_NOT_KNOWN);
	return 0;
}

static uint64_t cfi_step_load(struct computing *x, uint64_t address)
{
	uint64_t value = 0;

	if (!x->memory(x->data, address, &value))
		cfi_step_fail(x, WM_CFI_NO_MEMORY);
	return value;
}

/* Computes an operation with two operands; `a` was below `b` on the stack. */
static bool two(unsigned atom, uint64_t a, uint64_t b, bool is_narrow, uint64_t *ret)
{
	int64_t s = is_narrow ? (int32_t)a : (int64_t)a;
	int64_t t = is_narrow ? (int32_t)b : (int64_t)b;

	switch (atom) {
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*ret = (uint64_t)(s >> (b < 63 ? b : 63));
		return true;
	case DW_OP_eq:
		*ret = a == b;
		return true;
	case DW_OP_ne:
		*ret = a != b;
		return true;
	case DW_OP_ge:
		*ret = s >= t;
		return true;
	case DW_OP_gt:
		*ret = s > t;
		return true;
	case DW_OP_le:
		*ret = s <= t;
		return true;
	case DW_OP_lt:
		*ret = s < t;
		return true;
	default:
		return false;
	}
}

static void rearrange(struct computing *x, unsigned atom, uint64_t n)
{
	uint64_t a, b;

	switch (atom) {
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
		n = atom == DW_OP_dup ? 0 : atom == DW_OP_over ? 1 : n;
		if (n >= x->nr)
			cfi_step_fail(x, WM_CFI_NOT_KNOWN);
		else
			cfi_step_push(x, x->stack[x->nr - 1 - n]);
		break;
	case DW_OP_drop:
		(void)cfi_step_pop(x);
		break;
	case DW_OP_swap:
		a = cfi_step_pop(x);
		b = cfi_step_pop(x);
		cfi_step_push(x, a);
		cfi_step_push(x, b);
		break;
	default:
		cfi_step_fail(x, WM_CFI_NOT_KNOWN);
	}
}

/* Executes one operation; libdw stores constants, sign-extended, in `number`. */
static void operate(struct computing *x, const Dwarf_Op *op)
{
	unsigned atom = op->atom;
	uint64_t a, b, result;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		cfi_step_push(x, atom - DW_OP_lit0);
	} else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		cfi_step_push(x, cfi_step_get(x, atom - DW_OP_breg0) + op->number);
	} else if (atom == DW_OP_bregx) {
		cfi_step_push(x, cfi_step_get(x, op->number) + op->number2);
	} else if (atom == DW_OP_addr || (atom >= DW_OP_const1u && atom <= DW_OP_consts)) {
		cfi_step_push(x, op->number);
	} else if (atom == DW_OP_call_frame_cfa) {
		if (!x->has_cfa)
			cfi_step_fail(x, WM_CFI_NOT_KNOWN);
		cfi_step_push(x, x->cfa);
	} else if (atom == DW_OP_plus_uconst) {
		cfi_step_push(x, cfi_step_pop(x) + op->number);
	} else if (atom == DW_OP_deref) {
		cfi_step_push(x, cfi_step_load(x, cfi_step_pop(x)));
	} else if (atom == DW_OP_neg || atom == DW_OP_not) {
		a = cfi_step_pop(x);
		cfi_step_push(x, atom == DW_OP_neg ? -a : ~a);
	} else if (two(atom, 0, 0, x->is_narrow, &result)) {
		b = cfi_step_pop(x);
		a = cfi_step_pop(x);
		(void)two(atom, a, b, x->is_narrow, &result);
		cfi_step_push(x, result);
	} else if (atom != DW_OP_nop) {
		rearrange(x, atom, op->number);
	}
}

/* x->stack is not zeroed: only pushed values are read. */
static uint64_t cfi_step_compute(struct computing *x, const Dwarf_Op *ops,
				 const struct wm_cfi_rule *rule)
{
	x->nr = 0;
	for (unsigned i = 0; i < rule->nr_ops && x->failed == WM_CFI_STEPPED; i++)
		operate(x, &ops[(uint32_t)rule->offset + i]);
	return cfi_step_pop(x);
}

static uint64_t cfi_step_value_of(struct computing *x, const Dwarf_Op *ops,
				  const struct wm_cfi_rule *rule)
{
	switch (rule->kind) {
	case WM_RULE_SAVED:
		return cfi_step_load(x, of_width(x, x->cfa + (uint64_t)(int64_t)rule->offset));
	case WM_RULE_VALUE:
		return of_width(x, x->cfa + (uint64_t)(int64_t)rule->offset);
	case WM_RULE_REGISTER:
		return cfi_step_get(x, (uint64_t)rule->offset);
	case WM_RULE_EXPRESSION:
		return cfi_step_load(x, cfi_step_compute(x, ops, rule));
	default:
		return cfi_step_compute(x, ops, rule);
	}
}

/* Computes all values before setting the first, because rules refer to the callee's registers. */
static bool compute_all(struct computing *x, const struct wm_cfi_row *row, const Dwarf_Op *ops,
			uint64_t values[WM_REGS_MAX], uint64_t *ret_lost)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < row->nr_rules; i++) {
		const struct wm_cfi_rule *rule = &row->rules[i];

		if (rule->kind == WM_RULE_UNDEFINED) {
			lost |= 1ull << i;
			continue;
		}
		values[i] = cfi_step_value_of(x, ops, rule);
		if (x->failed == WM_CFI_STEPPED)
			continue;
		/*
		 * A failure for any register other than pc matters only to a later step that needs
		 * that register.
		 */
		if (rule->reg == row->pc)
			return false;
		lost |= 1ull << i;
		x->failed = WM_CFI_STEPPED;
	}
	*ret_lost = lost;
	return true;
}

enum wm_cfi_step wm_cfi_row_step(const struct wm_cfi_row *row, const Dwarf_Op *ops,
				 const struct wm_cfi_machine *machine, struct wm_registers *regs,
				 wm_cfi_memory *memory, void *data)
{
	struct computing x;
	uint64_t values[WM_REGS_MAX], lost;

	x.regs = regs;
	x.memory = memory;
	x.data = data;
	x.has_cfa = false;
	x.is_narrow = machine->is_narrow;
	x.failed = WM_CFI_STEPPED;
	x.cfa =
	    row->cfa.kind == WM_RULE_VALUE
		? of_width(&x, cfi_step_get(&x, row->cfa.reg) + (uint64_t)(int64_t)row->cfa.offset)
		: cfi_step_compute(&x, ops, &row->cfa);
	x.has_cfa = true;
	if (x.failed != WM_CFI_STEPPED || !compute_all(&x, row, ops, values, &lost))
		return x.failed;
	regs->value[machine->sp] = x.cfa;
	regs->known |= 1ull << machine->sp;
	for (unsigned i = 0; i < row->nr_rules; i++) {
		uint64_t bit = 1ull << row->rules[i].reg;

		if (lost >> i & 1) {
			regs->known &= ~bit;
			continue;
		}
		regs->value[row->rules[i].reg] = values[i];
		regs->known |= bit;
	}
	if (!(regs->known >> row->pc & 1))
		return WM_CFI_OUTERMOST;
	regs->value[machine->pc] = regs->value[row->pc];
	regs->known |= 1ull << machine->pc;
	return WM_CFI_STEPPED;
}
