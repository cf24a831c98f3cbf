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

#include "elf/elf_cfi_int.h"

#define ROWS_MAX   (1u << 20) /* limit for the number of different rows of a file */
#define PLACES_MAX (1u << 22) /* addresses cached */
#define OPS_MAX    (1u << 20) /* limit for the operations of all expressions */
#define NO_ROW     UINT32_MAX

/* The row for an address; NO_ROW when the table has none. */
struct place {
	uint64_t address;
	uint32_t row;
	bool used;
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
	/* Hash table with open addressing, by the contents of rows: row index + 1. */
	uint32_t *by_content;
	uint32_t room_by_content;
	struct place *places; /* open addressing */
	uint32_t nr_places, room_places;
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

static void let_go(struct wm_elf_cfi *c)
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
static bool try_file(struct wm_elf_cfi *c, const struct wm_elf *e, bool is_debug)
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
	 * The file is mapped or was read completely. Closing it saves descriptors when many modules
	 * are open.
	 */
	if (c->table && elf_cntl(c->elf, ELF_C_FDREAD) == 0) {
		(void)close(c->fd);
		c->fd = -1;
	}
	if (c->table)
		return true;
	let_go(c);
	return false;
}

static const struct wm_cfi_machine *machine_of(const struct wm_elf *e)
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

	if (!any || !machine_of(any))
		return -ENODATA;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->fd = -1;
	c->machine = machine_of(any);
	if (!try_file(c, image, false) && !try_file(c, image, true) && !try_file(c, debug, true)) {
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
	let_go(c);
	free(c->rows);
	free(c->ops);
	free(c->by_content);
	free(c->places);
	free(c);
}

uint16_t wm_elf_cfi_machine(const struct wm_elf_cfi *c)
{
	return c->machine->elf;
}

/* ---- a row from libdw ------------------------------------------------------------ */

/* Copies the operations, because libdw's exist only as long as the frame or the table. */
static bool copy_ops(struct wm_elf_cfi *c, const Dwarf_Op *ops, size_t nr, struct wm_cfi_rule *rule)
{
	Dwarf_Op *grown;
	uint32_t room = c->room_ops ? c->room_ops : 256;

	if (nr > WM_CFI_OPS_MAX || c->nr_ops + nr > OPS_MAX)
		return false;
	while (room < c->nr_ops + nr)
		room *= 2;
	if (room > c->room_ops) {
		grown = reallocarray(c->ops, room, sizeof(*grown));
		if (!grown)
			return false;
		c->ops = grown;
		c->room_ops = room;
	}
	memcpy(c->ops + c->nr_ops, ops, nr * sizeof(*ops));
	rule->offset = (int32_t)c->nr_ops;
	rule->nr_ops = (uint16_t)nr;
	c->nr_ops += (uint32_t)nr;
	return true;
}

static bool fits(Dwarf_Word value)
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
	if (nr == 1 && ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31 && fits(ops->number)) {
		row->cfa.reg = (uint8_t)(ops->atom - DW_OP_breg0);
		row->cfa.offset = (int32_t)ops->number;
		return true;
	}
	if (nr == 1 && ops->atom == DW_OP_bregx && ops->number < WM_REGS_MAX &&
	    fits(ops->number2)) {
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
	if (at < nr && ops[at].atom == DW_OP_plus_uconst && fits(ops[at].number))
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

static bool read_frame(struct wm_elf_cfi *c, Dwarf_Frame *frame, struct wm_cfi_row *row)
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

static uint32_t hash_row(const struct wm_cfi_row *row)
{
	const unsigned char *b = (const unsigned char *)row;
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t bytes = offsetof(struct wm_cfi_row, rules) + row->nr_rules * sizeof(row->rules[0]);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ b[i]) * 0x100000001b3ull;
	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *place_of_row(const struct wm_elf_cfi *c, const struct wm_cfi_row *row)
{
	uint32_t at = hash_row(row) & (c->room_by_content - 1);

	while (c->by_content[at] && memcmp(&c->rows[c->by_content[at] - 1], row, sizeof(*row)) != 0)
		at = (at + 1) & (c->room_by_content - 1);
	return &c->by_content[at];
}

static bool make_room(struct wm_elf_cfi *c)
{
	uint32_t room = c->room_rows ? 2 * c->room_rows : 64;
	struct wm_cfi_row *rows;

	if (c->nr_rows < c->room_rows)
		return true;
	if (c->nr_rows >= ROWS_MAX)
		return false;
	rows = reallocarray(c->rows, room, sizeof(*rows));
	if (!rows)
		return false;
	c->rows = rows;
	c->room_rows = room;
	free(c->by_content);
	c->room_by_content = 2 * room;
	c->by_content = calloc(c->room_by_content, sizeof(*c->by_content));
	if (!c->by_content) {
		c->nr_rows = c->room_rows = c->room_by_content = 0;
		c->nr_places = 0;
		memset(c->places, 0, c->room_places * sizeof(*c->places));
		return false;
	}
	for (uint32_t i = 0; i < c->nr_rows; i++)
		*place_of_row(c, &c->rows[i]) = i + 1;
	return true;
}

static uint32_t keep_row(struct wm_elf_cfi *c, const struct wm_cfi_row *row)
{
	uint32_t *at = c->room_rows ? place_of_row(c, row) : NULL;

	if (at && *at)
		return *at - 1;
	if (!make_room(c))
		return NO_ROW;
	c->rows[c->nr_rows] = *row;
	*place_of_row(c, row) = ++c->nr_rows;
	return c->nr_rows - 1;
}

static uint32_t find_row(struct wm_elf_cfi *c, uint64_t address)
{
	struct wm_cfi_row row;
	Dwarf_Frame *frame;
	uint32_t found = NO_ROW;

	/* Zeroed with its padding, because rows are compared as bytes. */
	memset(&row, 0, sizeof(row));
	if (dwarf_cfi_addrframe(c->table, address, &frame) != 0)
		return NO_ROW;
	if (read_frame(c, frame, &row))
		found = keep_row(c, &row);
	free(frame);
	return found;
}

/* ---- each address is looked up once ----------------------------------------------------- */

static struct place *place_of(const struct wm_elf_cfi *c, uint64_t address)
{
	uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 32) & (c->room_places - 1);

	while (c->places[at].used && c->places[at].address != address)
		at = (at + 1) & (c->room_places - 1);
	return &c->places[at];
}

static bool grow_places(struct wm_elf_cfi *c)
{
	struct place *old = c->places;
	uint32_t room = c->room_places;

	if (2 * c->nr_places < room)
		return true;
	if (room >= PLACES_MAX) {
		memset(c->places, 0, room * sizeof(*c->places));
		c->nr_places = 0;
		return true;
	}
	c->room_places = room ? 2 * room : 1024;
	c->places = calloc(c->room_places, sizeof(*c->places));
	if (!c->places) {
		c->places = old;
		c->room_places = room;
		return false;
	}
	for (uint32_t i = 0; i < room; i++)
		if (old[i].used)
			*place_of(c, old[i].address) = old[i];
	free(old);
	return true;
}

static uint32_t row_of(struct wm_elf_cfi *c, uint64_t address)
{
	uint32_t row;

	if (c->room_places) {
		const struct place *known = place_of(c, address);

		if (known->used)
			return known->row;
	}
	row = find_row(c, address);
	if (grow_places(c)) {
		*place_of(c, address) = (struct place){address, row, true};
		c->nr_places++;
	}
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
