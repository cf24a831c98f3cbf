/* SPDX-License-Identifier: MIT */
/* elf_vars.c - see elf_vars.h. */
#include "elf/elf_vars.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "elf/elf_vars_int.h"

#define TYPES_MAX   64u        /* maximum types in a chain, such as typedefs of typedefs */
#define MEMBERS_MAX (1u << 16) /* maximum members examined for one name */

int wm_elf_vars_open(const struct wm_elf *e, struct wm_elf_vars **ret)
{
	struct wm_elf_vars *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->elf = e;
	err = wm_dwarf_file_open(e, &v->file);
	if (err < 0) {
		free(v);
		return err;
	}
	(void)elf_version(EV_CURRENT);
	v->image = elf_begin(e->fd, ELF_C_READ, NULL);
	v->eh_cfi = v->image ? dwarf_getcfi_elf(v->image) : NULL;
	*ret = v;
	return 0;
}

void wm_elf_vars_close(struct wm_elf_vars *v)
{
	if (!v)
		return;
	if (v->eh_cfi)
		(void)dwarf_cfi_end(v->eh_cfi);
	if (v->image)
		(void)elf_end(v->image);
	wm_dwarf_file_close(&v->file);
	free(v);
}

bool wm_dwarf_bare_type(Dwarf_Die *of, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(of, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, &type))
		return false;
	for (unsigned i = 0; i < TYPES_MAX; i++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			*ret = type;
			return true;
		}
		if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, &type))
			return false;
	}
	return false;
}

unsigned wm_dwarf_address_bytes(Dwarf_Die *of)
{
	uint8_t bytes = 8;
	Dwarf_Die unit;

	return dwarf_diecu(of, &unit, &bytes, NULL) && bytes == 4 ? 4 : 8;
}

/* ---- types --------------------------------------------------------------------------- */

static unsigned vars_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (dwarf_attr_integrate(die, name, &attribute))
		(void)dwarf_formudata(&attribute, &value);
	return (unsigned)value;
}

/* Whether a type represents text; "unsigned char" and "signed char" represent numbers. */
static bool is_char(Dwarf_Die *type)
{
	unsigned encoding = vars_number_of(type, DW_AT_encoding);
	const char *name = dwarf_diename(type);

	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char) && name &&
	       !strcmp(name, "char");
}

/* A number's encoding; for an enumeration, clang writes the type instead. */
static unsigned vars_encoding(Dwarf_Die *type)
{
	unsigned encoding = vars_number_of(type, DW_AT_encoding);
	Dwarf_Die number;

	if (!encoding && dwarf_tag(type) == DW_TAG_enumeration_type &&
	    wm_dwarf_bare_type(type, &number))
		encoding = vars_number_of(&number, DW_AT_encoding);
	return encoding;
}

static bool is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

/*
 * Sets the kind and size for a type that is a single value or an array of single values. Returns
 * false for other types.
 */
static bool vars_describe(Dwarf_Die *type, struct wm_elf_value *ret)
{
	unsigned encoding = vars_encoding(type);
	Dwarf_Die target;
	Dwarf_Word bytes = 0;

	ret->bytes = wm_dwarf_address_bytes(type);
	if (is_pointer(type)) {
		ret->kind = dwarf_tag(type) == DW_TAG_pointer_type &&
				    wm_dwarf_bare_type(type, &target) && is_char(&target)
				? WM_ELF_VALUE_TEXT
				: WM_ELF_VALUE_POINTER;
		return true;
	}
	if (dwarf_tag(type) == DW_TAG_array_type && wm_dwarf_bare_type(type, &target)) {
		int element = dwarf_bytesize(&target);
		bool chars = is_char(&target);

		if (dwarf_tag(&target) == DW_TAG_array_type || !vars_describe(&target, ret))
			return false;
		if (chars)
			ret->kind = WM_ELF_VALUE_CHARS;
		if (dwarf_aggregate_size(type, &bytes) == 0 && element > 0)
			ret->elements = (uint32_t)(bytes / (Dwarf_Word)element);
		return ret->elements > 0;
	}
	if (dwarf_tag(type) != DW_TAG_base_type && dwarf_tag(type) != DW_TAG_enumeration_type)
		return false;
	ret->bytes = (uint32_t)dwarf_bytesize(type);
	ret->kind = encoding == DW_ATE_float ? WM_ELF_VALUE_FLOAT
		    : encoding == DW_ATE_signed || encoding == DW_ATE_signed_char
			? WM_ELF_VALUE_SIGNED
			: WM_ELF_VALUE_UNSIGNED;
	return ret->bytes == 1 || ret->bytes == 2 || ret->bytes == 4 || ret->bytes == 8;
}

/* ---- parts of a variable ------------------------------------------------------------------ */

static int vars_refuse(struct wm_diag *diag, int err, const char *path, const char *why)
{
	return wm_diag_set(diag, err, NULL, -1, "'%.80s': %s", path, why);
}

/* Adds a step: a load from memory. */
static bool vars_step(struct wm_elf_value *v, int64_t offset)
{
	if (v->nr_steps >= WM_ELF_VALUE_DEPTH)
		return false;
	v->offset[v->nr_steps++] = offset;
	return true;
}

/*
 * The first bit of a bit field, counted from the location of `member`. Before version 4, DWARF
 * counted from the highest bit of a storage unit; clang, and gcc with -gdwarf-4, still do.
 */
static bool vars_first_bit(Dwarf_Die *member, unsigned bits, unsigned type_bytes, int *ret)
{
	unsigned unit = vars_number_of(member, DW_AT_byte_size);

	if (dwarf_hasattr(member, DW_AT_data_bit_offset)) {
		*ret = (int)vars_number_of(member, DW_AT_data_bit_offset);
		return true;
	}
	*ret =
	    (int)(8 * (unit ? unit : type_bytes) - bits - vars_number_of(member, DW_AT_bit_offset));
	return dwarf_hasattr(member, DW_AT_bit_offset);
}

/*
 * Chooses the number to load, which must contain the whole bit field: in a packed structure, the
 * field may begin in one number of its type and end in the next. Returns false when 8 bytes are too
 * few.
 */
static bool take_bits(Dwarf_Die *member, Dwarf_Die *type, struct wm_elf_value *v)
{
	unsigned bits = vars_number_of(member, DW_AT_bit_size), bytes, shift;
	int type_bytes = dwarf_bytesize(type), at;

	if (!dwarf_hasattr(member, DW_AT_bit_size))
		return true;
	if (!bits || type_bytes < 1 || type_bytes > 8 ||
	    !vars_first_bit(member, bits, (unsigned)type_bytes, &at) || at < 0)
		return false;
	bytes = (unsigned)type_bytes;
	shift = (unsigned)at % (8 * bytes);
	if (shift + bits > 8 * bytes) {
		shift = (unsigned)at % 8;
		while (bytes < 8 && shift + bits > 8 * bytes)
			bytes *= 2;
	}
	v->nr_bits = bits;
	v->bit_offset = shift;
	v->bytes = bytes;
	v->offset[v->nr_steps - 1] += ((unsigned)at - shift) / 8;
	return shift + bits <= 8 * bytes;
}

/*
 * The state of a search for a member. In broken debug information, a type may inherit from itself,
 * even twice.
 */
struct member_search {
	const char *name;
	struct wm_nearest near;
	uint32_t nr_seen; /* members examined */
	Dwarf_Die found;
	uint64_t offset;
};

/* Members of an unnamed structure count as members of the enclosing one. */
static bool vars_find_member(struct member_search *s, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	Dwarf_Die member, inner;

	if (depth > TYPES_MAX || dwarf_child(type, &member) != 0)
		return false;
	do {
		const char *known = dwarf_diename(&member);
		int tag = dwarf_tag(&member);
		uint64_t offset = at + vars_number_of(&member, DW_AT_data_member_location);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		if (++s->nr_seen > MEMBERS_MAX)
			return false;
		if (known && tag == DW_TAG_member)
			wm_nearest_offer(&s->near, known);
		if (known && tag == DW_TAG_member && !strcmp(known, s->name)) {
			s->found = member;
			s->offset = offset;
			return true;
		}
		if ((!known || tag == DW_TAG_inheritance) && wm_dwarf_bare_type(&member, &inner) &&
		    vars_find_member(s, &inner, offset, depth + 1))
			return true;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

bool wm_dwarf_has_members(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Applies ".name" or "->name" to a value of `type`, which becomes the member's type. */
static int vars_take_member(struct wm_elf_value *v, Dwarf_Die *type, const char *name,
			    const char *path, struct wm_diag *diag)
{
	struct member_search search = {.name = name};
	Dwarf_Die outer = *type;
	char hint[120], why[200];

	if (is_pointer(type)) {
		if (!wm_dwarf_bare_type(type, &outer) || !vars_step(v, 0))
			return vars_refuse(diag, -EOPNOTSUPP, path,
					   "it points to an unknown type, or is nested too deep");
	}
	if (!wm_dwarf_has_members(&outer))
		return vars_refuse(diag, -EINVAL, path,
				   "it is not a structure or a pointer to one");
	if (!v->nr_steps)
		return vars_refuse(diag, -EOPNOTSUPP, path, "it is a structure in registers");
	wm_nearest_init(&search.near, name);
	if (!vars_find_member(&search, &outer, 0, 0)) {
		wm_nearest_sentence(&search.near, "", hint, sizeof(hint));
		(void)snprintf(why, sizeof(why), "it has no member '%.40s'%s%s", name,
			       *hint ? "; " : "", hint);
		return vars_refuse(diag, -ENOENT, path, why);
	}
	v->offset[v->nr_steps - 1] += (int64_t)search.offset;
	if (!wm_dwarf_bare_type(&search.found, type))
		return vars_refuse(diag, -EOPNOTSUPP, path, "it has no type");
	if (!take_bits(&search.found, type, v))
		return vars_refuse(diag, -EOPNOTSUPP, path,
				   "it is a bit field that no number of 8 bytes contains");
	return 0;
}

/*
 * The dimensions of an array, starting at number `first`: sets the number of elements below that
 * dimension. Returns the number of dimensions; 0: their sizes are not known.
 */
static unsigned vars_dimensions(Dwarf_Die *array, unsigned first, uint64_t *ret_below)
{
	Dwarf_Attribute attribute;
	Dwarf_Word count;
	Dwarf_Die child;
	unsigned nr = 0;

	*ret_below = 1;
	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (nr++ <= first)
			continue;
		if (dwarf_attr(&child, DW_AT_count, &attribute) &&
		    dwarf_formudata(&attribute, &count) == 0)
			*ret_below *= count;
		else if (dwarf_attr(&child, DW_AT_upper_bound, &attribute) &&
			 dwarf_formudata(&attribute, &count) == 0)
			*ret_below *= count + 1;
		else
			return 0;
	} while (dwarf_siblingof(&child, &child) == 0);
	return nr;
}

/*
 * Applies "[3]" to an array or a pointer. `dimension` counts the indices of one array: it becomes 0
 * when the element is reached.
 */
static int take_element(struct wm_elf_value *v, Dwarf_Die *type, uint32_t index,
			unsigned *dimension, const char *path, struct wm_diag *diag)
{
	uint64_t below = 1;
	unsigned nr = 1;
	Dwarf_Die element;
	Dwarf_Word bytes;

	if ((!is_pointer(type) && dwarf_tag(type) != DW_TAG_array_type) ||
	    !wm_dwarf_bare_type(type, &element) || dwarf_aggregate_size(&element, &bytes) != 0)
		return vars_refuse(diag, -EOPNOTSUPP, path, "it is not an array or a pointer");
	if (!is_pointer(type))
		nr = vars_dimensions(type, *dimension, &below);
	if (!nr)
		return vars_refuse(diag, -EOPNOTSUPP, path, "the size of the array is not known");
	if (is_pointer(type) && !vars_step(v, 0))
		return vars_refuse(diag, -EOPNOTSUPP, path, "it is nested too deep");
	if (!v->nr_steps)
		return vars_refuse(diag, -EOPNOTSUPP, path, "it is an array in registers");
	v->offset[v->nr_steps - 1] += (int64_t)(index * below * bytes);
	*dimension = *dimension + 1 < nr ? *dimension + 1 : 0;
	if (!*dimension)
		*type = element;
	return 0;
}

/* Applies the parts that follow the variable's name: "->head.size[3]". */
static int take_parts(struct wm_elf_value *v, Dwarf_Die *type, const char *parts, const char *path,
		      struct wm_diag *diag)
{
	unsigned dimension = 0;
	int err = 0;

	while (*parts && !err) {
		size_t skip = *parts == '.' ? 1 : !strncmp(parts, "->", 2) ? 2 : 0, n;
		char name[128], *end;
		unsigned long index;

		if (*parts == '[') {
			index = strtoul(parts + 1, &end, 0);
			if (end == parts + 1 || *end != ']' || index > UINT32_MAX / 2)
				return vars_refuse(diag, -EINVAL, path,
						   "an index must be a number, as in [3]");
			err = take_element(v, type, (uint32_t)index, &dimension, path, diag);
			parts = end + 1;
			continue;
		}
		if (dimension)
			break;
		parts += skip;
		for (n = 0; isalnum((unsigned char)parts[n]) || parts[n] == '_'; n++)
			;
		if (!skip || !n || n >= sizeof(name))
			return vars_refuse(diag, -EINVAL, path,
					   "write its parts as in C: p->head.size[3]");
		memcpy(name, parts, n);
		name[n] = '\0';
		err = vars_take_member(v, type, name, path, diag);
		parts += n;
	}
	if (!err && dimension)
		return vars_refuse(diag, -EOPNOTSUPP, path,
				   "it is an array in an array: give all its indices");
	return err;
}

/* ---- variables ---------------------------------------------------------------------------- */

static bool is_entry(Dwarf_Die *function, uint64_t address)
{
	Dwarf_Addr entry;

	return dwarf_entrypc(function, &entry) == 0 && entry == address;
}

/* Whether the variable is a parameter of the function itself, not of one inlined into it. */
static bool has_parameter(Dwarf_Die *function, Dwarf_Die *variable)
{
	Dwarf_Die child;

	if (dwarf_tag(variable) != DW_TAG_formal_parameter || dwarf_child(function, &child) != 0)
		return false;
	do {
		if (dwarf_dieoffset(&child) == dwarf_dieoffset(variable))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static int vars_place(struct wm_elf_vars *v, Dwarf_Die *variable, const struct wm_elf_where *where,
		      struct wm_elf_value *ret, const char **why)
{
	uint64_t address = where->address;
	Dwarf_Die function;
	bool known = wm_dwarf_function_at(v, address, &function);
	int err = wm_dwarf_place(v, variable, known ? &function : NULL, address, ret, why);

	/*
	 * Until the function has stored a parameter in its frame, the parameter is where the caller
	 * put it.
	 */
	if (err == -EAGAIN && is_entry(&function, address) && has_parameter(&function, variable))
		err = wm_dwarf_argument(&function, variable, ret, why);
	return err;
}

int wm_elf_vars_find(struct wm_elf_vars *v, const struct wm_elf_where *where, const char *path,
		     struct wm_elf_value *ret, struct wm_diag *diag)
{
	size_t n = strcspn(path, ".-[");
	const char *why = "it has no type";
	struct wm_elf_value value;
	Dwarf_Die variable, type;
	uint32_t bit_bytes;
	char name[128];
	int err;

	if (!n || n >= sizeof(name))
		return vars_refuse(diag, -EINVAL, path, "this is not a name");
	memcpy(name, path, n);
	name[n] = '\0';
	err = wm_dwarf_variable(v, where, name, &variable, diag);
	if (err)
		return err;
	err = vars_place(v, &variable, where, &value, &why);
	if (err || !wm_dwarf_bare_type(&variable, &type))
		return vars_refuse(diag, -EOPNOTSUPP, path, why);
	err = take_parts(&value, &type, path + n, path, diag);
	if (err)
		return err;
	bit_bytes = value.bytes;
	if (wm_dwarf_has_members(&type))
		return vars_refuse(diag, -EOPNOTSUPP, path,
				   "it is a structure; name one of its members");
	if (!vars_describe(&type, &value))
		return vars_refuse(
		    diag, -EOPNOTSUPP, path,
		    "it is not a pointer, a number of 1, 2, 4 or 8 bytes or an array of these: "
		    "name an element, or fetch it by register and offset");
	if (value.base != WM_ELF_VALUE_ADDRESS && !value.nr_steps && value.elements)
		return vars_refuse(diag, -EOPNOTSUPP, path, "it is an array in a register");
	if (value.nr_bits)
		value.bytes = bit_bytes;
	*ret = value;
	return 0;
}

int wm_elf_vars_returned(struct wm_elf_vars *v, uint64_t address, struct wm_elf_value *ret)
{
	Dwarf_Die function, type;

	*ret = (struct wm_elf_value){.base = WM_ELF_VALUE_REGISTER};
	if (!wm_dwarf_function_at(v, address, &function) || !wm_dwarf_bare_type(&function, &type) ||
	    !vars_describe(&type, ret) || ret->elements)
		return -ENOENT;
	return 0;
}

int wm_elf_vars_returned_text(struct wm_elf_vars *v, uint64_t address, struct wm_text *to)
{
	Dwarf_Die function;

	if (!wm_dwarf_function_at(v, address, &function))
		return -ENOENT;
	wm_dwarf_type_text(&function, to);
	return to->failed ? -ENOMEM : 0;
}

int wm_elf_vars_parameters(struct wm_elf_vars *v, const struct wm_elf_where *where,
			   int (*fn)(const char *name, void *data), void *data)
{
	Dwarf_Die function, child;
	int err = 0;

	if (where->scope == WM_ELF_SCOPE_COPY ? !wm_dwarf_copy_at(v, where, &function)
					      : !wm_dwarf_function_at(v, where->address, &function))
		return -ENOENT;
	if (dwarf_child(&function, &child) != 0)
		return 0;
	do {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_formal_parameter && name)
			err = fn(name, data);
	} while (!err && dwarf_siblingof(&child, &child) == 0);
	return err;
}
