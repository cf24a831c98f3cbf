/* SPDX-License-Identifier: MIT */
/*
 * probe_register.c - this machine's registers: their assembler names, their names in the kernel's
 * probes, and which registers pass arguments. See probe_args.h.
 */
#include <string.h>

#include "kernel/probes/probe_args.h"

#if defined(__x86_64__)

struct row {
	const char *kernel;
	const char *names[5]; /* names for 8, 4, 2 and 1 bytes, and for bits 8 to 15 */
};

static const struct row rows[] = {
    {"ax", {"rax", "eax", "ax", "al", "ah"}},     {"bx", {"rbx", "ebx", "bx", "bl", "bh"}},
    {"cx", {"rcx", "ecx", "cx", "cl", "ch"}},     {"dx", {"rdx", "edx", "dx", "dl", "dh"}},
    {"si", {"rsi", "esi", "si", "sil", ""}},      {"di", {"rdi", "edi", "di", "dil", ""}},
    {"bp", {"rbp", "ebp", "bp", "bpl", ""}},      {"sp", {"rsp", "esp", "sp", "spl", ""}},
    {"r8", {"r8", "r8d", "r8w", "r8b", ""}},      {"r9", {"r9", "r9d", "r9w", "r9b", ""}},
    {"r10", {"r10", "r10d", "r10w", "r10b", ""}}, {"r11", {"r11", "r11d", "r11w", "r11b", ""}},
    {"r12", {"r12", "r12d", "r12w", "r12b", ""}}, {"r13", {"r13", "r13d", "r13w", "r13b", ""}},
    {"r14", {"r14", "r14d", "r14w", "r14b", ""}}, {"r15", {"r15", "r15d", "r15w", "r15b", ""}},
    {"ip", {"rip", "eip", "ip", "", ""}},         {"flags", {"rflags", "eflags", "flags", "", ""}},
};

static const char *const arguments[] = {"di", "si", "dx", "cx", "r8", "r9"};
static const char *const by_narrow_number[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
static const char *const by_number[] = {"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",  "sp",
					"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};

bool wm_probe_register(const char *name, size_t bytes, const char **ret_name, unsigned *ret_bytes,
		       unsigned *ret_shift)
{
	static const unsigned widths[] = {8, 4, 2, 1, 1};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned w = 0; w < 5; w++) {
			const char *known = rows[i].names[w];

			if (!bytes || strlen(known) != bytes || memcmp(known, name, bytes))
				continue;
			*ret_name = rows[i].kernel;
			*ret_bytes = widths[w];
			*ret_shift = w == 4 ? 8 : 0;
			return true;
		}
	}
	return false;
}

const char *wm_probe_dwarf_register(unsigned number, bool narrow)
{
	if (narrow)
		return number < 8 ? by_narrow_number[number] : NULL;
	return number < sizeof(by_number) / sizeof(by_number[0]) ? by_number[number] : NULL;
}

#elif defined(__aarch64__)

#define X(n) "x" #n

static const char *const registers[] = {
    X(0),  X(1),  X(2),  X(3),  X(4),  X(5),  X(6),  X(7),  X(8),  X(9),  X(10),
    X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20), X(21),
    X(22), X(23), X(24), X(25), X(26), X(27), X(28), X(29), X(30), "sp",  "pc",
};

static const char *const arguments[] = {X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7)};

bool wm_probe_register(const char *name, size_t bytes, const char **ret_name, unsigned *ret_bytes,
		       unsigned *ret_shift)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		const char *known = registers[i];

		/* w7 is the lower half of x7. */
		if (strlen(known) != bytes || memcmp(known + 1, name + 1, bytes - 1) ||
		    (*name != *known && (*name != 'w' || *known != 'x')))
			continue;
		*ret_name = known;
		*ret_bytes = *name == 'w' ? 4 : 8;
		*ret_shift = 0;
		return true;
	}
	return false;
}

const char *wm_probe_dwarf_register(unsigned number, bool narrow)
{
	return !narrow && number < 32 ? registers[number] : NULL;
}

#endif

const char *wm_probe_argument_register(unsigned nr)
{
	return nr < sizeof(arguments) / sizeof(arguments[0]) ? arguments[nr] : NULL;
}
