/* SPDX-License-Identifier: MIT */
/*
 * print_type.c - types in a print form, by their names in the kernel. Unlike a compiler, the parser
 * sees no declarations: an unknown name is treated as a type where only a type makes sense; its
 * width is then unknown.
 */
#include "kdata/print_tree_int.h"

/* The known types. A width of 0 means the machine's long. */
static const struct known {
	const char *name;
	uint8_t bytes;
	bool is_signed;
} knowns[] = {
    {"u8", 1, false},         {"__u8", 1, false},        {"uint8_t", 1, false},
    {"s8", 1, true},          {"__s8", 1, true},         {"int8_t", 1, true},
    {"bool", 1, false},       {"_Bool", 1, false},       {"u16", 2, false},
    {"__u16", 2, false},      {"uint16_t", 2, false},    {"s16", 2, true},
    {"__s16", 2, true},       {"int16_t", 2, true},      {"__le16", 2, false},
    {"__be16", 2, false},     {"u32", 4, false},         {"__u32", 4, false},
    {"uint32_t", 4, false},   {"s32", 4, true},          {"__s32", 4, true},
    {"int32_t", 4, true},     {"__le32", 4, false},      {"__be32", 4, false},
    {"u64", 8, false},        {"__u64", 8, false},       {"uint64_t", 8, false},
    {"s64", 8, true},         {"__s64", 8, true},        {"int64_t", 8, true},
    {"__le64", 8, false},     {"__be64", 8, false},      {"size_t", 0, false},
    {"ssize_t", 0, true},     {"loff_t", 8, true},       {"pid_t", 4, true},
    {"gfp_t", 4, false},      {"dev_t", 4, false},       {"sector_t", 8, false},
    {"ino_t", 0, false},      {"umode_t", 2, false},     {"ktime_t", 8, true},
    {"uintptr_t", 0, false},  {"off_t", 0, true},        {"uint", 4, false},
    {"ulong", 0, false},      {"ushort", 2, false},      {"uchar", 1, false},
    {"dma_addr_t", 8, false}, {"phys_addr_t", 8, false}, {"blkcnt_t", 8, false},
    {"uid_t", 4, false},      {"gid_t", 4, false},
};

/* Words that make up C's built-in types, and qualifiers. */
enum { UNSIGNED = 1, SIGNED = 2, SHORT = 4, CHAR = 8, INT = 16, VOID = 32, TAG = 64, OTHER = 128 };

static const struct {
	const char *name;
	uint8_t part;
} parts[] = {
    {"unsigned", UNSIGNED}, {"signed", SIGNED}, {"short", SHORT},    {"char", CHAR},
    {"int", INT},           {"void", VOID},     {"struct", TAG},     {"union", TAG},
    {"enum", TAG},          {"const", OTHER},   {"volatile", OTHER}, {"__user", OTHER},
    {"__force", OTHER},     {"static", OTHER},
};

/* The words of a type that have been read so far. */
struct reading {
	unsigned parts, nr_long, nr_stars;
	const struct known *known;
	bool named; /* the type has an unknown name, or a tag */
};

static bool print_type_take_part(struct wm_kparser *p, struct reading *r)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!wm_kparser_is_name(p, parts[i].name))
			continue;
		r->parts |= parts[i].part;
		wm_kparser_next(p);
		if (parts[i].part == TAG && p->token.kind == WM_KTOKEN_NAME) {
			r->named = true;
			wm_kparser_next(p);
		}
		return true;
	}
	if (!wm_kparser_is_name(p, "long"))
		return false;
	r->nr_long++;
	wm_kparser_next(p);
	return true;
}

static bool take_known(struct wm_kparser *p, struct reading *r)
{
	if (r->known || r->named)
		return false;
	for (size_t i = 0; i < sizeof(knowns) / sizeof(knowns[0]); i++) {
		if (wm_kparser_is_name(p, knowns[i].name)) {
			r->known = &knowns[i];
			wm_kparser_next(p);
			return true;
		}
	}
	return false;
}

static struct wm_ktype conclude(const struct wm_kparser *p, const struct reading *r)
{
	struct wm_ktype t = {.is_pointer = r->nr_stars > 0, .is_signed = !(r->parts & UNSIGNED)};

	if (r->nr_stars > 1) {
		t.bytes = p->machine->long_bytes;
		t.is_signed = false;
	} else if (r->known) {
		t.bytes = r->known->bytes ? r->known->bytes : p->machine->long_bytes;
		t.is_signed = r->known->is_signed;
	} else if (r->parts & CHAR) {
		t.bytes = 1;
	} else if (r->parts & SHORT) {
		t.bytes = 2;
	} else if (r->nr_long) {
		t.bytes = r->nr_long > 1 ? 8 : p->machine->long_bytes;
	} else if (r->parts & (INT | SIGNED | UNSIGNED)) {
		t.bytes = 4;
	} else if (r->parts & VOID) {
		t.bytes = 1;
		t.is_signed = false;
	} else if (r->parts & TAG) {
		t.bytes = t.is_pointer ? 0 : 4; /* an enum is an unsigned int */
		t.is_signed = false;
	}
	return t;
}

bool wm_kparser_type(struct wm_kparser *p, bool declares, struct wm_ktype *ret)
{
	struct reading r = {0};
	bool any = false;

	for (;;) {
		struct wm_kparser before = *p;

		if (print_type_take_part(p, &r) || take_known(p, &r)) {
			any = true;
			continue;
		}
		if (any && wm_kparser_is(p, '*')) {
			r.nr_stars++;
			wm_kparser_next(p);
			continue;
		}
		if (p->token.kind != WM_KTOKEN_NAME || r.known || r.named || r.nr_long ||
		    r.parts & (UNSIGNED | SIGNED | SHORT | CHAR | INT | VOID))
			break;
		wm_kparser_next(p);
		if (declares && !(p->token.kind == WM_KTOKEN_NAME || wm_kparser_is(p, '*'))) {
			*p = before; /* the last word was the name being declared */
			break;
		}
		any = r.named = true;
	}
	*ret = conclude(p, &r);
	return any;
}

/* Returns whether the current token can only follow a cast, not an expression in parentheses. */
static bool begins_operand(const struct wm_kparser *p)
{
	return p->token.kind == WM_KTOKEN_NAME || p->token.kind == WM_KTOKEN_NUMBER ||
	       p->token.kind == WM_KTOKEN_TEXT || wm_kparser_is(p, '(') || wm_kparser_is(p, '~') ||
	       wm_kparser_is(p, '!');
}

bool wm_kparser_cast(struct wm_kparser *p, struct wm_ktype *ret)
{
	struct wm_kparser before = *p;
	bool sure;

	wm_kparser_next(p);
	if (p->token.kind == WM_KTOKEN_NAME && !wm_kparser_is_name(p, "REC") &&
	    wm_kparser_type(p, false, ret) && wm_kparser_is(p, ')')) {
		sure = ret->bytes != 0 || ret->is_pointer;
		wm_kparser_next(p);
		if (begins_operand(p) || (sure && (wm_kparser_is(p, '-') || wm_kparser_is(p, '&') ||
						   wm_kparser_is(p, '*'))))
			return true;
	}
	before.nr_nodes = p->nr_nodes;
	before.no_memory |= p->no_memory;
	*p = before;
	return false;
}
