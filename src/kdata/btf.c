/* SPDX-License-Identifier: MIT */
/* btf.c - see btf.h. */
#include "kdata/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define CHAIN_MAX   32u /* maximum length of a chain of typedefs */
#define NESTING_MAX 8u  /* maximum nesting of unnamed structures */
#define KIND_TAG    18u /* a kind that older kernel headers do not define */
#define KIND_ENUM64 19u

static int btf_refuse(struct wm_diag *diag, size_t offset, const char *what)
{
	return wm_diag_set(diag, -EBADMSG, "btf", (int64_t)offset, "%s", what);
}

static struct btf_type type_at(const struct wm_btf *b, uint32_t offset)
{
	struct btf_type t;

	memcpy(&t, b->types + offset, sizeof(t));
	return t;
}

static uint32_t btf_kind_of(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

/*
 * Returns the size of the members or parameters that follow a type; UINT32_MAX for an unknown kind.
 */
static uint32_t parts_bytes(const struct btf_type *t)
{
	static const struct {
		uint8_t fixed, each;
	} sizes[] = {
	    [BTF_KIND_INT] = {4, 0},
	    [BTF_KIND_PTR] = {0, 0},
	    [BTF_KIND_ARRAY] = {12, 0},
	    [BTF_KIND_STRUCT] = {0, 12},
	    [BTF_KIND_UNION] = {0, 12},
	    [BTF_KIND_ENUM] = {0, 8},
	    [BTF_KIND_FWD] = {0, 0},
	    [BTF_KIND_TYPEDEF] = {0, 0},
	    [BTF_KIND_VOLATILE] = {0, 0},
	    [BTF_KIND_CONST] = {0, 0},
	    [BTF_KIND_RESTRICT] = {0, 0},
	    [BTF_KIND_FUNC] = {0, 0},
	    [BTF_KIND_FUNC_PROTO] = {0, 8},
	    [BTF_KIND_VAR] = {4, 0},
	    [BTF_KIND_DATASEC] = {0, 12},
	    [16] = {0, 0},
	    [17] = {4, 0},
	    [18] = {0, 0},
	    [KIND_ENUM64] = {0, 12},
	};
	uint32_t kind = btf_kind_of(t);

	if (!kind || kind >= sizeof(sizes) / sizeof(sizes[0]))
		return UINT32_MAX;
	return sizes[kind].fixed + sizes[kind].each * BTF_INFO_VLEN(t->info);
}

/* Finds the offset of each type. */
static int index_types(struct wm_btf *b, struct wm_diag *diag)
{
	uint32_t at = 0, room = 0;

	if (WM_ARRAY_GROW(b->offsets, room, 1024))
		return -ENOMEM;
	b->offsets[0] = UINT32_MAX; /* void */
	b->nr = 1;
	while (at < b->types_bytes) {
		struct btf_type t;
		uint32_t bytes;

		if (b->types_bytes - at < sizeof(t))
			return btf_refuse(diag, at, "a type is truncated");
		t = type_at(b, at);
		bytes = parts_bytes(&t);
		if (bytes == UINT32_MAX)
			return btf_refuse(diag, at, "a type has an unknown kind");
		if (bytes > b->types_bytes - at - sizeof(t))
			return btf_refuse(diag, at, "a type is truncated");
		if (b->nr == WM_BTF_TYPES_MAX)
			return -EFBIG;
		if (WM_ARRAY_GROW(b->offsets, room, (size_t)b->nr + 1))
			return -ENOMEM;
		b->offsets[b->nr++] = at;
		at += (uint32_t)sizeof(t) + bytes;
	}
	return 0;
}

int wm_btf_init(struct wm_btf *b, const void *data, size_t bytes, struct wm_diag *diag)
{
	struct btf_header h;
	int err;

	*b = (struct wm_btf){.data = data};
	if (bytes > WM_BTF_BYTES_MAX)
		return -EFBIG;
	if (bytes < sizeof(h))
		return btf_refuse(diag, 0, "the header is truncated");
	memcpy(&h, data, sizeof(h));
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.hdr_len < sizeof(h))
		return btf_refuse(diag, 0, "the header is not that of BTF version 1");
	if (h.hdr_len > bytes || h.type_off > bytes - h.hdr_len ||
	    h.type_len > bytes - h.hdr_len - h.type_off || h.str_off > bytes - h.hdr_len ||
	    h.str_len > bytes - h.hdr_len - h.str_off)
		return btf_refuse(diag, 0, "types or strings extend beyond the end");
	b->types = b->data + h.hdr_len + h.type_off;
	b->types_bytes = h.type_len;
	b->strings = (const char *)b->data + h.hdr_len + h.str_off;
	b->strings_bytes = h.str_len;
	if (!h.str_len || b->strings[h.str_len - 1])
		return btf_refuse(diag, h.str_off, "the strings are not NUL-terminated");
	err = index_types(b, diag);
	if (err)
		wm_btf_done(b);
	return err;
}

void wm_btf_done(struct wm_btf *b)
{
	free(b->offsets);
	*b = (struct wm_btf){0};
}

/* ---- types ------------------------------------------------------------------------- */

static const char *string_at(const struct wm_btf *b, uint32_t offset)
{
	return offset < b->strings_bytes ? b->strings + offset : "";
}

/* Reads the type with that id. Returns false for void and for ids that do not exist. */
static bool btf_type_of(const struct wm_btf *b, uint32_t id, struct btf_type *ret)
{
	if (!id || id >= b->nr)
		return false;
	*ret = type_at(b, b->offsets[id]);
	return true;
}

static uint32_t word_behind(const struct wm_btf *b, uint32_t id, uint32_t nr)
{
	uint32_t word;

	memcpy(&word, b->types + b->offsets[id] + sizeof(struct btf_type) + 4 * nr, sizeof(word));
	return word;
}

/* Strips typedefs and qualifiers from a type; also updates its id. */
static bool bare(const struct wm_btf *b, uint32_t *id, struct btf_type *ret)
{
	for (unsigned i = 0; i < CHAIN_MAX && btf_type_of(b, *id, ret); i++) {
		switch (btf_kind_of(ret)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case KIND_TAG:
			*id = ret->type;
			break;
		default:
			return true;
		}
	}
	return false;
}

static void take_array(const struct wm_btf *b, uint32_t id, struct wm_btf_type *ret)
{
	struct wm_btf_type element;
	struct btf_type t;
	uint32_t of = word_behind(b, id, 0);

	ret->of = of;
	ret->elements = word_behind(b, id, 2);
	/* The size of an array of arrays is not needed. */
	if (!bare(b, &of, &t) || btf_kind_of(&t) == BTF_KIND_ARRAY)
		return;
	wm_btf_type(b, of, &element);
	if (!element.bytes || ret->elements <= UINT32_MAX / element.bytes)
		ret->bytes = element.bytes * ret->elements;
}

void wm_btf_type(const struct wm_btf *b, uint32_t id, struct wm_btf_type *ret)
{
	struct btf_type t;
	uint32_t encoding;

	*ret = (struct wm_btf_type){.kind = WM_BTF_OTHER};
	if (!bare(b, &id, &t))
		return;
	ret->id = id;
	switch (btf_kind_of(&t)) {
	case BTF_KIND_INT:
		encoding = BTF_INT_ENCODING(word_behind(b, id, 0));
		ret->kind = encoding & BTF_INT_SIGNED ? WM_BTF_SIGNED : WM_BTF_UNSIGNED;
		ret->bytes = t.size;
		ret->is_char = t.size == 1 && (encoding & BTF_INT_CHAR ||
					       !strcmp(string_at(b, t.name_off), "char"));
		break;
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		ret->kind = t.info >> 31 ? WM_BTF_SIGNED : WM_BTF_UNSIGNED;
		ret->bytes = t.size;
		break;
	case BTF_KIND_PTR:
		ret->kind = WM_BTF_POINTER;
		ret->bytes = sizeof(void *);
		ret->of = t.type;
		break;
	case BTF_KIND_ARRAY:
		ret->kind = WM_BTF_ARRAY;
		take_array(b, id, ret);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		ret->kind = WM_BTF_STRUCT;
		ret->bytes = t.size;
		break;
	default:
		break;
	}
}

static const char *btf_keyword(const struct btf_type *t)
{
	switch (btf_kind_of(t)) {
	case BTF_KIND_STRUCT:
		return "struct ";
	case BTF_KIND_UNION:
		return "union ";
	case BTF_KIND_FWD:
		return t->info >> 31 ? "union " : "struct ";
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		return "enum ";
	default:
		return "";
	}
}

static const char *btf_mark(uint32_t kind)
{
	switch (kind) {
	case BTF_KIND_PTR:
		return "*";
	case BTF_KIND_CONST:
		return "const";
	case BTF_KIND_VOLATILE:
		return "volatile";
	case BTF_KIND_RESTRICT:
		return "restrict";
	default:
		return NULL;
	}
}

static void btf_write_type(const struct wm_btf *b, uint32_t id, unsigned depth, struct wm_text *to)
{
	struct btf_type t, inner = {0};
	const char *mark;
	bool after;

	if (depth > CHAIN_MAX || !btf_type_of(b, id, &t)) {
		wm_text_str(to, "void");
		return;
	}
	mark = btf_mark(btf_kind_of(&t));
	if (btf_kind_of(&t) == KIND_TAG) {
		btf_write_type(b, t.type, depth + 1, to);
	} else if (mark) {
		(void)btf_type_of(b, t.type, &inner);
		after = *mark == '*' || btf_kind_of(&inner) == BTF_KIND_PTR;
		if (!after)
			wm_text_f(to, "%s ", mark);
		btf_write_type(b, t.type, depth + 1, to);
		/* The mark for a pointer to a function is within "int (*)()". */
		if (after && (*mark != '*' || btf_kind_of(&inner) != BTF_KIND_FUNC_PROTO))
			wm_text_f(to, "%s%s",
				  to->bytes && to->data[to->bytes - 1] == '*' ? "" : " ", mark);
	} else if (btf_kind_of(&t) == BTF_KIND_ARRAY) {
		btf_write_type(b, word_behind(b, id, 0), depth + 1, to);
		wm_text_f(to, "[%u]", word_behind(b, id, 2));
	} else if (btf_kind_of(&t) == BTF_KIND_FUNC_PROTO) {
		btf_write_type(b, t.type, depth + 1, to);
		wm_text_str(to, " (*)()");
	} else {
		wm_text_f(to, "%s%s", btf_keyword(&t),
			  *string_at(b, t.name_off) ? string_at(b, t.name_off) : "(unnamed)");
	}
}

void wm_btf_type_text(const struct wm_btf *b, uint32_t id, struct wm_text *to)
{
	btf_write_type(b, id, 0, to);
}

/* ---- functions ----------------------------------------------------------------------- */

uint32_t wm_btf_function(const struct wm_btf *b, const char *name)
{
	for (uint32_t id = 1; id < b->nr; id++) {
		struct btf_type t = type_at(b, b->offsets[id]), prototype;

		if (btf_kind_of(&t) == BTF_KIND_FUNC && !strcmp(string_at(b, t.name_off), name) &&
		    btf_type_of(b, t.type, &prototype) &&
		    btf_kind_of(&prototype) == BTF_KIND_FUNC_PROTO)
			return t.type;
	}
	return 0;
}

static bool prototype_of(const struct wm_btf *b, uint32_t id, struct btf_type *ret)
{
	return btf_type_of(b, id, ret) && btf_kind_of(ret) == BTF_KIND_FUNC_PROTO;
}

uint32_t wm_btf_returned(const struct wm_btf *b, uint32_t prototype)
{
	struct btf_type t;

	return prototype_of(b, prototype, &t) ? t.type : 0;
}

uint32_t wm_btf_nr_parameters(const struct wm_btf *b, uint32_t prototype)
{
	struct btf_type t;

	return prototype_of(b, prototype, &t) ? BTF_INFO_VLEN(t.info) : 0;
}

const char *wm_btf_parameter(const struct wm_btf *b, uint32_t prototype, uint32_t nr,
			     uint32_t *ret_type)
{
	*ret_type = 0;
	if (nr >= wm_btf_nr_parameters(b, prototype))
		return "";
	*ret_type = word_behind(b, prototype, 2 * nr + 1);
	return string_at(b, word_behind(b, prototype, 2 * nr));
}

/* ---- members --------------------------------------------------------------------------- */

static bool btf_find_member(const struct wm_btf *b, uint32_t id, const char *name, uint32_t at_bits,
			    struct wm_btf_member *ret, unsigned depth)
{
	struct btf_type t;

	if (depth > NESTING_MAX || !bare(b, &id, &t) ||
	    (btf_kind_of(&t) != BTF_KIND_STRUCT && btf_kind_of(&t) != BTF_KIND_UNION))
		return false;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t.info); i++) {
		const char *known = string_at(b, word_behind(b, id, 3 * i));
		uint32_t type = word_behind(b, id, 3 * i + 1),
			 offset = word_behind(b, id, 3 * i + 2);
		uint32_t bits = t.info >> 31 ? offset >> 24 : 0;
		struct wm_btf_type bare_type;

		offset = at_bits + (t.info >> 31 ? offset & 0xffffff : offset);
		if (!*known && btf_find_member(b, type, name, offset, ret, depth + 1))
			return true;
		if (!*known || strcmp(known, name))
			continue;
		wm_btf_type(b, type, &bare_type);
		*ret = (struct wm_btf_member){.type = type, .offset = offset / 8, .nr_bits = bits};
		if (bits && bare_type.bytes && bare_type.bytes <= 16) {
			ret->offset = offset / (8 * bare_type.bytes) * bare_type.bytes;
			ret->bit_offset = offset - 8 * ret->offset;
		}
		return true;
	}
	return false;
}

bool wm_btf_member(const struct wm_btf *b, uint32_t type, const char *name,
		   struct wm_btf_member *ret)
{
	return btf_find_member(b, type, name, 0, ret, 0);
}
