/* SPDX-License-Identifier: MIT */
/* unwind.c - see unwind.h. */
#include "symbol/unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "elf/elf_cfi.h"
#include "trace/user_regs.h"

/* A module's unwind table, by module index. */
struct file {
	struct wm_elf_cfi *cfi; /* NULL: it has none */
	bool opened;
};

struct wm_unwind {
	struct wm_spaces *spaces;
	struct wm_symbols *symbols;
	struct file *files;
	uint32_t room, nr_open;
	uint64_t counts[WM_UNWOUND_NR];
};

static const char *const texts[WM_UNWOUND_NR] = {
    [WM_UNWOUND_WHOLE] = "whole",
    [WM_UNWOUND_CUT] = "truncated at the end of the copied stack",
    [WM_UNWOUND_NO_SAMPLE] = "without registers or stack",
    [WM_UNWOUND_NO_MAPPING] = "ended at an address without a known mapping",
    [WM_UNWOUND_NO_TABLE] = "ended in code without an unwind table",
    [WM_UNWOUND_BROKEN] = "ended at an invalid frame",
    [WM_UNWOUND_DEEP] = "ended at the maximum number of frames",
};

const char *wm_unwound_text(enum wm_unwound how)
{
	return how < WM_UNWOUND_NR ? texts[how] : "";
}

struct wm_unwind *wm_unwind_create(struct wm_spaces *spaces, struct wm_symbols *symbols)
{
	struct wm_unwind *u = calloc(1, sizeof(*u));

	if (u) {
		u->spaces = spaces;
		u->symbols = symbols;
	}
	return u;
}

void wm_unwind_destroy(struct wm_unwind *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->room; i++)
		wm_elf_cfi_close(u->files[i].cfi);
	free(u->files);
	free(u);
}

uint64_t wm_unwind_count(const struct wm_unwind *u, enum wm_unwound how)
{
	return u->counts[how];
}

/* ---- the sample ----------------------------------------------------------------- */

static const struct wm_item *unwind_part(const struct wm_event *e, const char *name)
{
	for (int k = WM_PART_STREAM_CONTEXT; k <= WM_PART_FIELDS; k++) {
		const struct wm_part_range *r = &e->parts[k];

		for (uint32_t i = r->at; i < r->end; i = e->items[i].next)
			if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
				return &e->items[i];
	}
	return NULL;
}

bool wm_unwind_stack_of(const struct wm_trace *t, const struct wm_event *e,
			struct wm_user_stack *ret)
{
	const struct wm_item *regs = unwind_part(e, "regs_user"),
			     *stack = unwind_part(e, "stack_user");
	uint64_t mask = e->type->user_regs;

	if (!regs || !stack || regs->member->type->kind != WM_TYPE_LIST || !regs->count ||
	    stack->member->type->kind != WM_TYPE_BYTES || !stack->count)
		return false;
	if (!mask) {
		const char *word = wm_trace_word(t, "sample_regs");

		mask = word ? strtoull(word, NULL, 0) : 0;
	}
	*ret = (struct wm_user_stack){.pid = e->pid,
				      .mask = mask,
				      .registers = regs + 1,
				      .nr_registers = regs->count,
				      .stack = stack->bytes,
				      .stack_bytes = stack->count};
	return mask != 0;
}

/* ---- machines --------------------------------------------------------------------- */

struct machine {
	uint16_t elf;   /* machine type, EM_* */
	uint8_t word;   /* size of a register, and of a return address on the stack */
	uint8_t nr;     /* number of registers in perf's numbering */
	uint8_t sp, pc; /* DWARF's numbers for stack pointer and return address */
	uint8_t fp;
	uint8_t dwarf[WM_REGS_MAX]; /* DWARF's numbers, indexed by perf's; 255: none */
};

/* perf's order: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8... */
static const struct machine x86 = {
    .elf = EM_X86_64,
    .word = 8,
    .nr = 24,
    .sp = WM_REG_X86_RSP,
    .pc = WM_REG_X86_RIP,
    .fp = WM_REG_X86_RBP,
    .dwarf = {0,   3,   2,   1,   4, 5, 6,  7,  16, 255, 255, 255,
	      255, 255, 255, 255, 8, 9, 10, 11, 12, 13,  14,  15},
};

/* A 32-bit program on a 64-bit kernel. perf numbers its registers as on x86-64. */
static const struct machine i386 = {
    .elf = EM_386,
    .word = 4,
    .nr = 9,
    .sp = WM_REG_I386_ESP,
    .pc = WM_REG_I386_EIP,
    .fp = WM_REG_I386_EBP,
    .dwarf = {0, 3, 1, 2, 6, 7, 5, 4, 8},
};

/* x0... x29, lr, sp, pc: perf and DWARF have the same numbers. */
static const struct machine aarch64 = {
    .elf = EM_AARCH64,
    .word = 8,
    .nr = 33,
    .sp = WM_REG_AARCH64_SP,
    .pc = WM_REG_AARCH64_PC,
    .fp = WM_REG_AARCH64_FP,
    .dwarf = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32},
};

static const struct machine *unwind_machine_of(const struct wm_user_stack *s)
{
	if (s->mask >> 32 & 1)
		return &aarch64;
	return wm_user_regs_narrow(s->mask, s->registers, s->nr_registers) ? &i386 : &x86;
}

/* ---- a walk -------------------------------------------------------------------------- */

struct walking {
	struct wm_unwind *u;
	const struct wm_user_stack *stack;
	const struct machine *machine;
	struct wm_registers regs;
	uint64_t base; /* address of the copied stack */
	bool missed;   /* an access went past the end of the copy */
};

static bool read_memory(void *data, uint64_t address, uint64_t *ret)
{
	struct walking *w = data;
	uint64_t at = address - w->base;
	uint8_t word = w->machine->word;

	if (w->stack->stack_bytes < word || at > w->stack->stack_bytes - word) {
		w->missed |= address >= w->base;
		return false;
	}
	*ret = word == 4 ? wm_get_u32(w->stack->stack + at, false)
			 : wm_get_u64(w->stack->stack + at, false);
	return true;
}

static uint64_t unwind_value(const struct walking *w, uint8_t reg)
{
	return w->regs.value[reg];
}

static void take_registers(struct walking *w)
{
	const struct wm_user_stack *s = w->stack;
	uint32_t k = 0;

	for (unsigned bit = 0; bit < 64 && k < s->nr_registers; bit++) {
		unsigned reg = 255;

		if (!(s->mask >> bit & 1))
			continue;
		if (bit < w->machine->nr)
			reg = w->machine->dwarf[bit];
		if (reg < WM_REGS_MAX) {
			w->regs.value[reg] =
			    w->machine->word == 4 ? (uint32_t)s->registers[k].u : s->registers[k].u;
			w->regs.known |= 1ull << reg;
		}
		k++;
	}
	w->base = unwind_value(w, w->machine->sp);
}

static struct wm_elf_cfi *unwind_table_of(struct wm_unwind *u, const struct wm_module *m)
{
	struct wm_module_files files;
	struct file *f;

	if (WM_ARRAY_GROW_ZEROED(u->files, u->room, (size_t)m->index + 1))
		return NULL;
	f = &u->files[m->index];
	if (!f->opened && u->nr_open < WM_UNWIND_OPEN_MAX &&
	    wm_module_open(m, wm_symbols_places(u->symbols), &files, NULL) == WM_NAMED) {
		if (wm_elf_cfi_open(files.image, files.debug, &f->cfi) == 0)
			u->nr_open++;
		wm_module_close(&files);
	}
	f->opened = true;
	return f->cfi;
}

/*
 * If the code keeps a frame pointer, [fp] is the caller's fp and the next word
 * is the return address.
 */
static bool step_by_frame_pointer(struct walking *w)
{
	const struct machine *m = w->machine;
	uint64_t fp = unwind_value(w, m->fp), sp = unwind_value(w, m->sp), next, pc;

	if (!(w->regs.known >> m->fp & 1) || fp < sp || fp & (m->word - 1u) ||
	    !read_memory(w, fp, &next) || !read_memory(w, fp + m->word, &pc))
		return false;
	w->regs.value[m->fp] = next;
	w->regs.value[m->sp] = fp + 2u * m->word;
	w->regs.value[m->pc] = pc;
	w->regs.known = 1ull << m->fp | 1ull << m->sp | 1ull << m->pc;
	return true;
}

/* After a jump to an invalid address, the return address is on top of the stack. */
static bool step_back(struct walking *w)
{
	const struct machine *m = w->machine;
	uint64_t pc;

	if (m == &aarch64 || !read_memory(w, unwind_value(w, m->sp), &pc))
		return false;
	w->regs.value[m->sp] += m->word;
	w->regs.value[m->pc] = pc;
	return true;
}

/*
 * Steps from a sigreturn system call. It is the last instruction of a signal trampoline and never
 * returns, so the address after it is beyond the end of the table's entry.
 */
static enum wm_cfi_step step_from_sigreturn(struct walking *w, struct wm_elf_cfi *table,
					    uint64_t address, bool *exact)
{
	const struct walking before = *w;
	enum wm_cfi_step how = wm_elf_cfi_step(table, address - 1, &w->regs, read_memory, w, exact);

	if (*exact)
		return how;
	*w = before;
	return WM_CFI_NO_TABLE;
}

/*
 * Steps using the unwind table. `is_pc`: the address is that of the next instruction, not a return
 * address.
 */
static enum wm_cfi_step step_by_table(struct walking *w, const struct wm_user_frame *frame,
				      bool is_pc, bool *exact)
{
	struct wm_elf_cfi *table = unwind_table_of(w->u, frame->place.module);
	enum wm_cfi_step how;
	uint64_t address;

	if (!table || wm_elf_cfi_machine(table) != w->machine->elf ||
	    !wm_symbols_address(w->u->symbols, &frame->place, &address))
		return WM_CFI_NO_TABLE;
	how = wm_elf_cfi_step(table, address, &w->regs, read_memory, w, exact);
	if (how == WM_CFI_NO_TABLE && is_pc)
		how = step_from_sigreturn(w, table, address, exact);
	return how;
}

/*
 * Steps to the caller. Returns WM_UNWOUND_DEEP if there is one, else the reason why the chain ends.
 */
static enum wm_unwound unwind_step(struct walking *w, struct wm_user_frame *frame, bool is_pc,
				   bool *exact)
{
	enum wm_cfi_step how = step_by_table(w, frame, is_pc, exact);

	if (how == WM_CFI_OUTERMOST)
		return WM_UNWOUND_WHOLE;
	if (how == WM_CFI_NO_MEMORY)
		return w->missed ? WM_UNWOUND_CUT : WM_UNWOUND_BROKEN;
	if (how == WM_CFI_NOT_KNOWN)
		return WM_UNWOUND_BROKEN;
	if (how == WM_CFI_NO_TABLE) {
		*exact = false;
		/* a frame pointer of 0 marks a thread's first function */
		if (!unwind_value(w, w->machine->fp))
			return WM_UNWOUND_WHOLE;
		if (!step_by_frame_pointer(w))
			return w->missed ? WM_UNWOUND_CUT : WM_UNWOUND_NO_TABLE;
		frame->guessed = true;
	}
	return WM_UNWOUND_DEEP;
}

static enum wm_unwound unwind_walk(struct walking *w, struct wm_user_frame *frames, uint32_t *nr)
{
	enum wm_unwound how = WM_UNWOUND_DEEP;
	bool exact = true, is_pc;

	while (*nr < WM_UNWIND_FRAMES_MAX && how == WM_UNWOUND_DEEP) {
		uint64_t pc = unwind_value(w, w->machine->pc), sp = unwind_value(w, w->machine->sp);
		struct wm_user_frame *f = &frames[*nr];

		if (!pc && *nr)
			return WM_UNWOUND_WHOLE;
		*f = (struct wm_user_frame){.ip = exact ? pc : pc - 1};
		f->mapped =
		    wm_spaces_find(w->u->spaces, w->stack->pid, f->ip, WM_MODE_USER, &f->place);
		++*nr;
		if (!f->mapped && (*nr > 1 || !step_back(w)))
			return WM_UNWOUND_NO_MAPPING;
		is_pc = exact;
		exact = false;
		if (f->mapped)
			how = unwind_step(w, f, is_pc, &exact);
		/*
		 * Stacks grow down: the caller's frame is at a higher address, unless a signal
		 * handler used another stack.
		 */
		if (how == WM_UNWOUND_DEEP && !exact && unwind_value(w, w->machine->sp) <= sp &&
		    !(unwind_value(w, w->machine->sp) == sp && *nr == 1))
			how = WM_UNWOUND_BROKEN;
	}
	return how;
}

uint32_t wm_unwind(struct wm_unwind *u, const struct wm_user_stack *s,
		   struct wm_user_frame frames[WM_UNWIND_FRAMES_MAX], enum wm_unwound *ret_how)
{
	struct walking w = {.u = u, .stack = s};
	uint32_t nr = 0;

	w.machine = unwind_machine_of(s);
	take_registers(&w);
	if (!(w.regs.known >> w.machine->sp & 1) || !(w.regs.known >> w.machine->pc & 1))
		*ret_how = WM_UNWOUND_NO_SAMPLE;
	else
		*ret_how = unwind_walk(&w, frames, &nr);
	u->counts[*ret_how]++;
	return nr;
}
