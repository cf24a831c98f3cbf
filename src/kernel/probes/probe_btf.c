/* SPDX-License-Identifier: MIT */
/* probe_btf.c - see probe_btf.h. */
#include "kernel/probes/probe_btf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"
/* Limit for the 8-byte pieces of a structure that is passed in registers. */
#define PIECES_MAX 2u
/* Number of registers that pass arguments; the kernel reads no others by number. */
#define REGISTERS    6u
#define ELEMENTS_MAX 64u /* the kernel's limit for an array's elements */

int wm_probe_btf_open(struct wm_probe_btf *b, struct wm_diag *diag)
{
	char *data;
	size_t bytes;
	int err = wm_file_read(AT_FDCWD, VMLINUX, WM_BTF_BYTES_MAX, &data, &bytes);

	if (err < 0)
		return wm_diag_set(diag, err, VMLINUX, -1, "cannot read " VMLINUX ": %s",
				   strerror(-err));
	err = wm_btf_init(&b->btf, data, bytes, diag);
	if (err < 0) {
		free(data);
		return err;
	}
	b->data = data;
	return 0;
}

void wm_probe_btf_close(struct wm_probe_btf *b)
{
	if (b->data)
		wm_btf_done(&b->btf);
	free(b->data);
	*b = (struct wm_probe_btf){0};
}

static int probe_btf_refuse(struct wm_diag *diag, int err, const char *path, const char *why)
{
	return wm_diag_set(diag, err, NULL, -1, "'%.80s': %s", path, why);
}

/* ---- types in the kernel's syntax ----------------------------------------------------- */

/*
 * Writes a type in the kernel's syntax; returns false if it is neither a single value nor an array
 * of single values.
 */
static bool probe_btf_put_type(const struct wm_btf *b, uint32_t id,
			       const struct wm_btf_member *member, struct wm_probe_value *ret)
{
	struct wm_btf_type t, inner;
	char letter;

	wm_btf_type(b, id, &t);
	if (t.kind == WM_BTF_ARRAY || t.kind == WM_BTF_POINTER)
		wm_btf_type(b, t.of, &inner);
	if (t.kind == WM_BTF_POINTER) {
		ret->points = true;
		(void)snprintf(ret->type, sizeof(ret->type), inner.is_char ? "string" : "x64");
		return true;
	}
	if (t.kind == WM_BTF_ARRAY && inner.is_char) {
		(void)snprintf(ret->type, sizeof(ret->type), "string");
		return true;
	}
	if (t.kind != WM_BTF_ARRAY)
		inner = t;
	if (inner.kind != WM_BTF_SIGNED && inner.kind != WM_BTF_UNSIGNED &&
	    inner.kind != WM_BTF_POINTER)
		return false;
	if (inner.bytes != 1 && inner.bytes != 2 && inner.bytes != 4 && inner.bytes != 8)
		return false;
	letter = inner.kind == WM_BTF_SIGNED ? 's' : inner.kind == WM_BTF_POINTER ? 'x' : 'u';
	if (member && member->nr_bits)
		(void)snprintf(ret->type, sizeof(ret->type), "b%u@%u/%u", member->nr_bits,
			       member->bit_offset, 8 * inner.bytes);
	else if (t.kind == WM_BTF_ARRAY)
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u[%u]", letter, 8 * inner.bytes,
			       t.elements < ELEMENTS_MAX ? t.elements : ELEMENTS_MAX);
	else
		(void)snprintf(ret->type, sizeof(ret->type), "%c%u", letter, 8 * inner.bytes);
	return t.kind != WM_BTF_ARRAY || t.elements;
}

/* ---- parameters -------------------------------------------------------------------------- */

/* The number of registers that a parameter occupies; 0 if it is passed in memory. */
static uint32_t registers_of(const struct wm_btf *b, uint32_t type)
{
	struct wm_btf_type t;

	wm_btf_type(b, type, &t);
	if (t.kind != WM_BTF_STRUCT)
		return 1;
	return t.bytes > 8 * PIECES_MAX ? 0 : (t.bytes + 7) / 8;
}

static int find_parameter(const struct wm_btf *b, uint32_t prototype, const char *name,
			  struct wm_probe_value *ret, uint32_t *ret_type, struct wm_diag *diag)
{
	uint32_t nr = wm_btf_nr_parameters(b, prototype), at = 0;
	struct wm_nearest near;
	char hint[120];

	wm_nearest_init(&near, name);
	for (uint32_t i = 0; i < nr; i++) {
		const char *known = wm_btf_parameter(b, prototype, i, ret_type);
		uint32_t registers = registers_of(b, *ret_type);

		wm_nearest_offer(&near, known);
		if (strcmp(known, name)) {
			at += registers;
			continue;
		}
		if (registers != 1 || at >= REGISTERS)
			return probe_btf_refuse(
			    diag, -EOPNOTSUPP, name,
			    "it is not passed in a single register, so the kernel cannot "
			    "locate it");
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "$arg%u", at + 1);
		return 0;
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(diag, -ENOENT, NULL, -1, "the function has no parameter '%.60s'; %s",
			   name, *hint ? hint : "arg1 is the first argument");
}

/* Applies "->name" or ".name": one step from a structure, or a pointer to one, to its member. */
static int probe_btf_take_member(const struct wm_btf *b, const char *name, const char *path,
				 uint32_t *type, struct wm_btf_member *member, bool *in_memory,
				 struct wm_probe_value *ret, struct wm_diag *diag)
{
	char inner[WM_PROBE_FETCH_MAX];
	struct wm_btf_type t;

	wm_btf_type(b, *type, &t);
	if (t.kind == WM_BTF_POINTER) {
		memcpy(inner, ret->fetch, sizeof(inner));
		(void)snprintf(ret->fetch, sizeof(ret->fetch), "+0(%.900s)", inner);
		*in_memory = true;
		wm_btf_type(b, t.of, &t);
	}
	if (t.kind != WM_BTF_STRUCT || !*in_memory)
		return probe_btf_refuse(diag, -EINVAL, path,
					"it is neither a structure nor a pointer to one");
	if (!wm_btf_member(b, t.id, name, member))
		return probe_btf_refuse(diag, -ENOENT, path, "the structure has no such member");
	/* The innermost step begins with its offset: "+8(...". */
	memcpy(inner, strchr(ret->fetch, '('), strlen(strchr(ret->fetch, '(')) + 1);
	(void)snprintf(ret->fetch, sizeof(ret->fetch), "+%ld%.900s",
		       strtol(ret->fetch, NULL, 10) + (long)member->offset, inner);
	*type = member->type;
	return 0;
}

static int take_members(const struct wm_btf *b, const char *parts, const char *path, uint32_t type,
			struct wm_probe_value *ret, struct wm_diag *diag)
{
	struct wm_btf_member member = {0};
	bool in_memory = false;

	while (*parts) {
		size_t skip = *parts == '.' ? 1 : !strncmp(parts, "->", 2) ? 2 : 0, n;
		char name[128];
		int err;

		parts += skip;
		for (n = 0; isalnum((unsigned char)parts[n]) || parts[n] == '_'; n++)
			;
		if (!skip || !n || n >= sizeof(name))
			return probe_btf_refuse(diag, -EINVAL, path,
						"write members as in C: file->f_inode->i_ino");
		memcpy(name, parts, n);
		name[n] = '\0';
		err = probe_btf_take_member(b, name, path, &type, &member, &in_memory, ret, diag);
		if (err)
			return err;
		parts += n;
	}
	if (!probe_btf_put_type(b, type, &member, ret))
		return probe_btf_refuse(diag, -EOPNOTSUPP, path,
					"it is a structure; name one of its members");
	return 0;
}

int wm_probe_btf_named(void *data, const char *name, struct wm_probe_value *ret,
		       struct wm_diag *diag)
{
	const struct wm_probe_btf_site *site = data;
	uint32_t prototype = site->btf ? wm_btf_function(&site->btf->btf, site->function) : 0, type;
	size_t n = strcspn(name, ".-");
	char first[128];
	int err;

	if (!prototype)
		return -ENOENT;
	if (*name == '$') {
		struct wm_probe_value value;
		uint32_t returned = wm_btf_returned(&site->btf->btf, prototype);

		if (strcmp(name, "$retval") ||
		    !probe_btf_put_type(&site->btf->btf, returned, NULL, &value))
			return -ENOENT;
		memcpy(ret->type, value.type, sizeof(ret->type));
		ret->points = value.points;
		return 0;
	}
	if (site->returns || !site->entry)
		return probe_btf_refuse(diag, -EOPNOTSUPP, name,
					"parameters are available only at a function's entry");
	if (!n || n >= sizeof(first))
		return probe_btf_refuse(diag, -EINVAL, name, "this is not a valid name");
	memcpy(first, name, n);
	first[n] = '\0';
	err = find_parameter(&site->btf->btf, prototype, first, ret, &type, diag);
	return err ? err : take_members(&site->btf->btf, name + n, name, type, ret, diag);
}

int wm_probe_btf_each(void *data, int (*fn)(const char *name, void *), void *user)
{
	const struct wm_probe_btf_site *site = data;
	uint32_t prototype = site->btf ? wm_btf_function(&site->btf->btf, site->function) : 0, type;
	int err = 0;

	if (!prototype || !site->entry || site->returns)
		return -ENOENT;
	for (uint32_t i = 0; !err && i < wm_btf_nr_parameters(&site->btf->btf, prototype); i++)
		err = fn(wm_btf_parameter(&site->btf->btf, prototype, i, &type), user);
	return err;
}
