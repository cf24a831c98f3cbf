/* SPDX-License-Identifier: MIT */
/* usdt_operand.c - see usdt_operand.h. Parses assembler syntax for x86-64, i386 and aarch64. */
#include "kernel/probes/usdt_operand.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/probes/probe_dwarf.h"

struct operand {
	const struct wm_usdt_site *site;
	const char *at, *end; /* the text after the '@' */
	const char *whole;
	unsigned nr, bytes;
	bool is_signed, is_float;
	struct wm_diag *diag;
};

/* ---- the list ---------------------------------------------------------------------- */

/*
 * Finds the next operand in a list; blanks inside brackets belong to it. Returns its length; 0: no
 * more operands.
 */
static size_t usdt_operand_next(const char **list)
{
	const char *start;
	int depth = 0;

	*list += strspn(*list, " ");
	start = *list;
	for (; **list && (depth || **list != ' '); ++*list)
		depth += (**list == '[' || **list == '(') - (**list == ']' || **list == ')');
	return (size_t)(*list - start);
}

/* ---- one operand --------------------------------------------------------------------- */

static int usdt_operand_refuse(const struct operand *o, const char *why)
{
	return wm_diag_set(o->diag, -EOPNOTSUPP, NULL, -1, "argument %u (%.*s) %s", o->nr + 1,
			   (int)(o->end - o->whole), o->whole, why);
}

static int set_type(const struct operand *o, struct wm_probe_value *ret)
{
	if (o->is_float && o->bytes >= 4)
		(void)snprintf(ret->type, sizeof(ret->type), "%s",
			       o->bytes == 8 ? "double" : "float");
	else if (o->bytes)
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u", o->is_signed ? 's' : 'u',
			       8 * o->bytes);
	return 0;
}

static int in_register(const struct operand *o, const char *name, size_t bytes,
		       struct wm_probe_value *ret)
{
	const char *kernel;
	unsigned width, shift;

	if (!wm_probe_register(name, bytes, &kernel, &width, &shift))
		return usdt_operand_refuse(o, "is in a register that the kernel cannot read");
	if (o->site->elf && o->site->elf->narrow && o->bytes == 8)
		return usdt_operand_refuse(o,
					   "occupies two registers, but the probe names only one");
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "%%%s", kernel);
	if (shift) {
		(void)snprintf(ret->type, sizeof(ret->type), "b8@%u/16", shift);
		return 0;
	}
	return set_type(o, ret);
}

static int usdt_operand_constant(const struct operand *o, const char *text,
				 struct wm_probe_value *ret)
{
	char *end;
	long long value = strtoll(text, &end, 0);

	if (end == text || end != o->end)
		return usdt_operand_refuse(o, "is not a number");
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "\\%lld", value);
	return set_type(o, ret);
}

/* ---- x86-64 --------------------------------------------------------------------------- */

#if defined(__x86_64__)

static int image(const struct operand *o, uint64_t address, struct wm_probe_value *ret)
{
	if (!wm_probe_image(address, o->site->address, o->site->offset, ret->fetch,
			    sizeof(ret->fetch)))
		return usdt_operand_refuse(
		    o, "is at an address that the kernel cannot reach from this probe");
	return set_type(o, ret);
}

/* Finds the address of "name+8", alone or before "(%rip)". */
static bool symbol_address(const struct operand *o, const char *text, size_t bytes,
			   uint64_t *ret_address)
{
	char name[256], *sign, *end;
	const struct wm_elf_symbol *s;
	long long more = 0;

	if (!bytes || bytes >= sizeof(name))
		return false;
	memcpy(name, text, bytes);
	name[bytes] = '\0';
	sign = strpbrk(name + 1, "+-");
	if (sign) {
		more = strtoll(sign, &end, 0);
		if (*end)
			return false;
		*sign = '\0';
	}
	s = o->site->symbols ? wm_elf_symbol_named(o->site->symbols, name) : NULL;
	if (s)
		*ret_address = s->address + (uint64_t)more;
	return s != NULL;
}

/* Converts "-8(%rbp)" or "name(%rip)"; `open` points to the bracket. */
static int usdt_operand_memory(const struct operand *o, const char *open,
			       struct wm_probe_value *ret)
{
	const char *close = memchr(open, ')', (size_t)(o->end - open));
	struct operand address_of = *o;
	struct wm_probe_value base;
	char *end = NULL;
	long long offset = 0;
	uint64_t address;
	int err;

	if (!close || close + 1 != o->end || open[1] != '%')
		return usdt_operand_refuse(o, "is indexed memory, which the kernel cannot read");
	if (memchr(open, ',', (size_t)(close - open)))
		return usdt_operand_refuse(o, "is indexed memory, which the kernel cannot read");
	if (o->at < open) {
		offset = strtoll(o->at, &end, 0);
		if (end != open && symbol_address(o, o->at, (size_t)(open - o->at), &address))
			return strncmp(open, "(%rip)", 6)
				   ? usdt_operand_refuse(
					 o, "is a symbol with a register offset, which the "
					    "kernel cannot read")
				   : image(o, address, ret);
		if (end != open)
			return usdt_operand_refuse(
			    o, "is a variable that is not in the file's symbol table");
	}
	address_of.bytes = 0;
	err = in_register(&address_of, open + 2, (size_t)(close - open - 2), &base);
	if (err)
		return err;
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "%+lld(%.64s)", offset, base.fetch);
	return set_type(o, ret);
}

static int usdt_operand_convert(const struct operand *o, struct wm_probe_value *ret)
{
	const char *open = memchr(o->at, '(', (size_t)(o->end - o->at));
	uint64_t address;

	if (*o->at == '$')
		return usdt_operand_constant(o, o->at + 1, ret);
	if (*o->at == '%' && memchr(o->at, ':', (size_t)(o->end - o->at)))
		return usdt_operand_refuse(
		    o, "is a thread-local variable, which the kernel cannot locate");
	if (*o->at == '%')
		return in_register(o, o->at + 1, (size_t)(o->end - o->at - 1), ret);
	if (open)
		return usdt_operand_memory(o, open, ret);
	if (symbol_address(o, o->at, (size_t)(o->end - o->at), &address))
		return image(o, address, ret);
	return usdt_operand_refuse(o, "is of an unknown form");
}

#elif defined(__aarch64__)

/* Converts "x3", "42", "[sp, 16]" or "[x0]". */
static int usdt_operand_convert(const struct operand *o, struct wm_probe_value *ret)
{
	const char *name = o->at + 1, *end = o->end - 1, *comma;
	struct wm_probe_value base;
	long long offset = 0;
	char *stop;
	int err;

	if (isdigit((unsigned char)*o->at) || *o->at == '-')
		return usdt_operand_constant(o, o->at, ret);
	if (*o->at != '[')
		return in_register(o, o->at, (size_t)(o->end - o->at), ret);
	comma = memchr(name, ',', (size_t)(end - name));
	if (comma) {
		offset = strtoll(comma + 1, &stop, 0);
		if (stop != end)
			return usdt_operand_refuse(
			    o, "is indexed memory, which the kernel cannot read");
		end = comma;
	}
	err = in_register(o, name, (size_t)(end - name), &base);
	if (err)
		return err;
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "%+lld(%.64s)", offset, base.fetch);
	return set_type(o, ret);
}

#endif

/* Parses width and kind: "-4@", "8f@"; returns false if they are malformed. */
static bool parse_width(struct operand *o)
{
	char *end;
	long n = strtol(o->whole, &end, 10);

	if (end == o->whole || *end == '@')
		o->is_float = false;
	else if (*end == 'f')
		o->is_float = *end++ == 'f';
	else
		return false;
	o->is_signed = n < 0;
	n = n < -8 ? 0 : n < 0 ? -n : n;
	o->bytes = n == 1 || n == 2 || n == 4 || n == 8 ? (unsigned)n : 0;
	o->at = *end == '@' ? end + 1 : o->whole;
	return *end != '@' || o->bytes;
}

int wm_usdt_operand(const struct wm_usdt_site *site, unsigned nr, struct wm_probe_value *ret,
		    struct wm_diag *diag)
{
	struct operand o = {.site = site, .nr = nr, .diag = diag};
	const char *list = site->operands;
	size_t bytes;

	do {
		bytes = usdt_operand_next(&list);
	} while (bytes && nr--);
	if (!bytes)
		return -ENOENT;
	o.whole = list - bytes;
	o.end = list;
	if (!parse_width(&o) || o.at == o.end)
		return usdt_operand_refuse(&o, "is malformed");
	*ret = (struct wm_probe_value){.type = ""};
	return usdt_operand_convert(&o, ret);
}
