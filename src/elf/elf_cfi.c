/* SPDX-License-Identifier: MIT */
/* elf_cfi.c - finds the rows of unwind tables and caches them; see elf_cfi.h. */
#include "elf/elf_cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/table.h"
#include "elf/elf_cfi_int.h"

#define ROWS_MAX   (1u << 20) /* maximum number of different rows per file */
#define PLACES_MAX (1u << 21) /* addresses cached */
#define OPS_MAX    (1u << 20) /* maximum number of operations in all expressions */
#define NO_ROW     UINT32_MAX

/* The row for an address; NO_ROW when the table has none. */
struct place {
	uint64_t address;
	uint32_t row;
};

struct wm_elf_cfi {
	int fd;
	Elf *elf;
	Dwarf *dwarf;     /* NULL: the table comes from the ELF file itself */
	Dwarf_CFI *table; /* owned by `dwarf`, or by this struct when dwarf is NULL */
	const struct wm_cfi_machine *machine;
	struct wm_cfi_row *rows;
	Dwarf_Op *ops;
	uint32_t nr_rows, room_rows, nr_ops, room_ops;
	struct wm_table row_table; /* hash table of the rows, by their contents */
	struct place *places;
	uint32_t room_places;
	struct wm_table place_table; /* by address */
};

static const uint8_t x86_saved[] = {3, 6, 7, 12, 13, 14, 15, 16};
static const uint8_t i386_saved[] = {3, 4, 5, 6, 7, 8};
static const uint8_t aarch64_saved[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static const struct wm_cfi_machine machines[] = {
    {.elf = EM_X86_64,
     .sp = WM_REG_X86_RSP,
     .pc = WM_REG_X86_RIP,
     .nr_saved = sizeof(x86_saved),
     .nr_all = 17,
     .saved = x86_saved},
    {.elf = EM_386,
     .sp = WM_REG_I386_ESP,
     .pc = WM_REG_I386_EIP,
     .is_narrow = true,
     .nr_saved = sizeof(i386_saved),
     .nr_all = 9,
     .saved = i386_saved},
    {.elf = EM_AARCH64,
     .sp = WM_REG_AARCH64_SP,
     .pc = WM_REG_AARCH64_PC,
     .nr_saved = sizeof(aarch64_saved),
     .nr_all = 33,
     .saved = aarch64_saved},
};

/* ---- opening ------------------------------------------------------------------ */

static void cfi_let_go(struct wm_elf_cfi *c)
{
	if (c->table && !c->dwarf)
		(void)dwarf_cfi_end(c->table);
	if (c->dwarf)
		(void)dwarf_end(c->dwarf);
	if (c->elf)
		(void)elf_end(c->elf);
	if (c->fd >= 0)
		(void)close(c->fd);
	c->table = NULL;
	c->dwarf = NULL;
	c->elf = NULL;
	c->fd = -1;
}

/* Tries .eh_frame of the image, or .debug_frame of a debug file. */
static bool cfi_try_file(struct wm_elf_cfi *c, const struct wm_elf *e, bool is_debug)
{
	if (!e)
		return false;
	(void)elf_version(EV_CURRENT);
	c->fd = fcntl(e->fd, F_DUPFD_CLOEXEC, 0);
	c->elf = c->fd >= 0 ? elf_begin(c->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (c->elf && is_debug)
		c->dwarf = dwarf_begin_elf(c->elf, DWARF_C_READ, NULL);
	if (is_debug)
		c->table = c->dwarf ? dwarf_getcfi(c->dwarf) : NULL;
	else
		c->table = c->elf ? dwarf_getcfi_elf(c->elf) : NULL;
	/*
	 * The file is mapped or has been read completely. Closing it saves descriptors when many
	 * modules are open.
	 */
	if (c->table && elf_cntl(c->elf, ELF_C_FDREAD) == 0) {
		(void)close(c->fd);
		c->fd = -1;
	}
	if (c->table)
		return true;
	cfi_let_go(c);
	return false;
}

static const struct wm_cfi_machine *cfi_machine_of(const struct wm_elf *e)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == e->machine)
			return &machines[i];
	return NULL;
}

int wm_elf_cfi_open(const struct wm_elf *image, const struct wm_elf *debug, struct wm_elf_cfi **ret)
{
	const struct wm_elf *any = image ? image : debug;
	struct wm_elf_cfi *c;

	if (!any || !cfi_machine_of(any))
		return -ENODATA;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->fd = -1;
	wm_table_init(&c->row_table);
	wm_table_init(&c->place_table);
	c->machine = cfi_machine_of(any);
	if (!cfi_try_file(c, image, false) && !cfi_try_file(c, image, true) &&
	    !cfi_try_file(c, debug, true)) {
		wm_elf_cfi_close(c);
		return -ENODATA;
	}
	*ret = c;
	return 0;
}

void wm_elf_cfi_close(struct wm_elf_cfi *c)
{
	if (!c)
		return;
	cfi_let_go(c);
	free(c->rows);
	free(c->ops);
	free(c->places);
	wm_table_done(&c->row_table);
	wm_table_done(&c->place_table);
	free(c);
}

uint16_t wm_elf_cfi_machine(const struct wm_elf_cfi *c)
{
	return c->machine->elf;
}

/* ---- a row from libdw ------------------------------------------------------------ */

/* Copies the operations, because libdw's are valid only as long as the frame or the table. */
static bool copy_ops(struct wm_elf_cfi *c, const Dwarf_Op *ops, size_t nr, struct wm_cfi_rule *rule)
{
	if (nr > WM_CFI_OPS_MAX || c->nr_ops + nr > OPS_MAX)
		return false;
	if (WM_ARRAY_GROW(c->ops, c->room_ops, c->nr_ops + nr))
		return false;
	if (nr)
		memcpy(c->ops + c->nr_ops, ops, nr * sizeof(*ops));
	rule->offset = (int32_t)c->nr_ops;
	rule->nr_ops = (uint16_t)nr;
	c->nr_ops += (uint32_t)nr;
	return true;
}

static bool cfi_fits(Dwarf_Word value)
{
	return (int64_t)value == (int32_t)value;
}

/* Reads the rule for the CFA, usually a register and an offset. */
static bool read_cfa(struct wm_elf_cfi *c, Dwarf_Frame *frame, struct wm_cfi_row *row)
{
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_frame_cfa(frame, &ops, &nr) != 0 || !nr)
		return false;
	row->cfa.kind = WM_RULE_VALUE;
	if (nr == 1 && ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31 &&
	    cfi_fits(ops->number)) {
		row->cfa.reg = (uint8_t)(ops->atom - DW_OP_breg0);
		row->cfa.offset = (int32_t)ops->number;
		return true;
	}
	if (nr == 1 && ops->atom == DW_OP_bregx && ops->number < WM_REGS_MAX &&
	    cfi_fits(ops->number2)) {
		row->cfa.reg = (uint8_t)ops->number;
		row->cfa.offset = (int32_t)ops->number2;
		return true;
	}
	row->cfa.kind = WM_RULE_VALUE_EXPRESSION;
	return copy_ops(c, ops, nr, &row->cfa);
}

/*
 * Recognises "CFA + offset": the address of a saved register or, with a third operation, its value.
 */
static bool is_simple(const Dwarf_Op *ops, size_t nr, struct wm_cfi_rule *rule)
{
	size_t at = 1;

	if (!nr || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	rule->offset = 0;
	if (at < nr && ops[at].atom == DW_OP_plus_uconst && cfi_fits(ops[at].number))
		rule->offset = (int32_t)ops[at++].number;
	rule->kind = WM_RULE_SAVED;
	if (at < nr && ops[at].atom == DW_OP_stack_value) {
		rule->kind = WM_RULE_VALUE;
		at++;
	}
	return at == nr;
}

static bool register_of(const Dwarf_Op *ops, size_t nr, struct wm_cfi_rule *rule)
{
	if (nr != 1)
		return false;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		rule->offset = (int32_t)(ops->atom - DW_OP_reg0);
	else if (ops->atom == DW_OP_regx && ops->number < WM_REGS_MAX)
		rule->offset = (int32_t)ops->number;
	else
		return false;
	rule->kind = WM_RULE_REGISTER;
	return true;
}

static bool read_rule(struct wm_elf_cfi *c, Dwarf_Frame *frame, uint8_t reg, struct wm_cfi_row *row)
{
	struct wm_cfi_rule *rule = &row->rules[row->nr_rules];
	Dwarf_Op memory[3], *ops;
	size_t nr;

	if (dwarf_frame_register(frame, reg, memory, &ops, &nr) != 0)
		return false;
	if (!nr && !ops)
		return true; /* the register keeps its value */
	*rule = (struct wm_cfi_rule){.reg = reg, .kind = WM_RULE_UNDEFINED};
	row->nr_rules++;
	if (!nr || is_simple(ops, nr, rule) || register_of(ops, nr, rule))
		return true;
	rule->kind = WM_RULE_EXPRESSION;
	if (ops[nr - 1].atom == DW_OP_stack_value) {
		rule->kind = WM_RULE_VALUE_EXPRESSION;
		nr--;
	}
	return copy_ops(c, ops, nr, rule);
}

static bool cfi_read_frame(struct wm_elf_cfi *c, Dwarf_Frame *frame, struct wm_cfi_row *row)
{
	const struct wm_cfi_machine *m = c->machine;
	int pc = dwarf_frame_info(frame, NULL, NULL, &row->is_signal);

	if (pc < 0 || pc >= (int)WM_REGS_MAX || !read_cfa(c, frame, row))
		return false;
	row->pc = (uint8_t)pc;
	for (uint8_t i = 0; i < (row->is_signal ? m->nr_all : m->nr_saved); i++)
		if (!read_rule(c, frame, row->is_signal ? i : m->saved[i], row))
			return false;
	return true;
}

/* ---- each row is stored once --------------------------------------------------------- */

static uint64_t hash_row(const struct wm_elf_cfi *c, const struct wm_cfi_row *row)
{
	return wm_table_hash_bytes(&c->row_table, row,
				   offsetof(struct wm_cfi_row, rules) +
				       row->nr_rules * sizeof(row->rules[0]));
}

static uint32_t keep_row(struct wm_elf_cfi *c, const struct wm_cfi_row *row)
{
	uint64_t hash = hash_row(c, row);
	struct wm_table_walk w = wm_table_walk(hash);

	while (wm_table_next(&c->row_table, &w))
		if (memcmp(&c->rows[w.index], row, sizeof(*row)) == 0)
			return w.index;
	if (c->nr_rows == ROWS_MAX || WM_ARRAY_GROW(c->rows, c->room_rows, c->nr_rows + 1u) ||
	    wm_table_add(&c->row_table, hash, c->nr_rows))
		return NO_ROW;
	c->rows[c->nr_rows] = *row;
	return c->nr_rows++;
}

static uint32_t cfi_find_row(struct wm_elf_cfi *c, uint64_t address)
{
	struct wm_cfi_row row;
	Dwarf_Frame *frame;
	uint32_t found = NO_ROW;

	/* Zeroed including padding, because rows are compared as bytes. */
	memset(&row, 0, sizeof(row));
	if (dwarf_cfi_addrframe(c->table, address, &frame) != 0)
		return NO_ROW;
	if (cfi_read_frame(c, frame, &row))
		found = keep_row(c, &row);
	free(frame);
	return found;
}

/* ---- each address is looked up once ----------------------------------------------------- */

/* At its maximum size, the cache is emptied. When out of memory, the address is not cached. */
static void keep_place(struct wm_elf_cfi *c, struct place place)
{
	uint32_t nr;

	if (c->place_table.nr == PLACES_MAX)
		wm_table_clear(&c->place_table);
	nr = c->place_table.nr;
	if (!WM_ARRAY_GROW(c->places, c->room_places, (size_t)nr + 1) &&
	    !wm_table_add(&c->place_table, wm_table_hash(&c->place_table, place.address), nr))
		c->places[nr] = place;
}

static uint32_t row_of(struct wm_elf_cfi *c, uint64_t address)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&c->place_table, address));
	uint32_t row;

	while (wm_table_next(&c->place_table, &w))
		if (c->places[w.index].address == address)
			return c->places[w.index].row;
	row = cfi_find_row(c, address);
	keep_place(c, (struct place){address, row});
	return row;
}

enum wm_cfi_step wm_elf_cfi_step(struct wm_elf_cfi *c, uint64_t address, struct wm_registers *regs,
				 wm_cfi_memory *memory, void *data, bool *ret_exact)
{
	uint32_t row = row_of(c, address);

	if (row == NO_ROW)
		return WM_CFI_NO_TABLE;
	*ret_exact = c->rows[row].is_signal;
	return wm_cfi_row_step(&c->rows[row], c->ops, c->machine, regs, memory, data);
}
