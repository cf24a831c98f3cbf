/* SPDX-License-Identifier: MIT */
/*
 * writer_branches.c - the branches of a sample in perf's format, as in perf script -F brstack: a
 * branch is FROM/TO/M or P/X/A/CYCLES/TYPE, the most recent one first.
 */
#include "view/text/writer_int.h"

#define BRANCH_ROOM 256u

/* A branch as numbers; a member that the trace lacks is 0. */
enum member { FROM, TO, MISPREDICTED, PREDICTED, IN_TX, ABORT, CYCLES, TYPE, NR_MEMBERS };

struct branch {
	uint64_t members[NR_MEMBERS];
};

static void branch_read(const struct wm_type *t, const struct wm_item *item, struct branch *ret)
{
	static const char *const names[NR_MEMBERS] = {
	    "from", "to", "mispredicted", "predicted", "in_tx", "abort", "cycles", "type",
	};

	*ret = (struct branch){0};
	for (uint32_t i = 0; i < t->nr_members; i++)
		for (int k = 0; k < NR_MEMBERS; k++)
			if (!strcmp(t->members[i].name, names[k]))
				ret->members[k] = item[1 + i].u;
}

/* Returns the kernel's name of a kind of branch, as in perf; from 16 on, those that it added. */
static const char *branch_type_name(uint64_t type)
{
	static const char *const names[] = {
	    "",           "COND",    "UNCOND", "IND",       "CALL",       "IND_CALL",
	    "RET",        "SYSCALL", "SYSRET", "COND_CALL", "COND_RET",   "ERET",
	    "IRQ",        "SERROR",  "NO_TX",  "",          "FAULT_ALGN", "FAULT_DATA",
	    "FAULT_INST", "ARCH_1",  "ARCH_2", "ARCH_3",    "ARCH_4",     "ARCH_5",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "";
}

static void branch_put_end(struct wm_pen *p, const struct view_asking *a, uint32_t column,
			   uint64_t address)
{
	enum wm_event_mode mode = address >> 63 ? WM_MODE_KERNEL : WM_MODE_USER;
	struct wm_named_place n;

	wm_view_name_place(a, address, mode, &n);
	if (column == WM_VIEW_BRSTACK) {
		WM_PEN_PUT(p, "0x");
		p->at = wm_digits_bits(p->at, address, 4, "0123456789abcdef");
	} else if (n.symbol) {
		wm_view_put_safe(p, n.symbol, (uint32_t)strlen(n.symbol));
		WM_PEN_PUT(p, "+0x");
		p->at = wm_digits_bits(p->at, n.offset, 4, "0123456789abcdef");
	} else {
		WM_PEN_PUT(p, "[unknown]");
	}
	if (a->t->options->columns & WM_VIEW_DSO) {
		const char *file = n.file ? n.file : "[unknown]";

		wm_pen_char(p, '(');
		wm_view_put_safe(p, file, (uint32_t)strlen(file));
		wm_pen_char(p, ')');
	}
	wm_pen_need(p, BRANCH_ROOM);
}

static void branch_put_flags(struct wm_pen *p, const struct branch *b)
{
	const uint64_t *m = b->members;
	const char *type = branch_type_name(m[TYPE]);

	wm_pen_char(p, '/');
	wm_pen_char(p, m[MISPREDICTED] ? 'M' : m[PREDICTED] ? 'P' : '-');
	wm_pen_char(p, '/');
	wm_pen_char(p, m[IN_TX] ? 'X' : '-');
	wm_pen_char(p, '/');
	wm_pen_char(p, m[ABORT] ? 'A' : '-');
	wm_pen_char(p, '/');
	p->at = wm_digits_u64(p->at, m[CYCLES]);
	wm_pen_char(p, '/');
	wm_pen_put(p, type, strlen(type));
	wm_pen_char(p, ' ');
}

void wm_view_put_branches(struct wm_pen *p, struct wm_view_page *page, const struct view_trace *t,
			  const struct wm_event *e, const struct wm_item *list, uint32_t column)
{
	const struct view_asking asking = {page, t, e};
	const struct wm_type *type = list->member->type->element.type;
	const struct wm_item *at = list + 1;
	struct branch b;

	for (uint32_t i = 0; i < list->count; i++, at += 1 + type->nr_members) {
		branch_read(type, at, &b);
		wm_pen_need(p, BRANCH_ROOM);
		if (column == WM_VIEW_BRSTACK)
			wm_pen_char(p, ' ');
		branch_put_end(p, &asking, column, b.members[FROM]);
		wm_pen_char(p, '/');
		branch_put_end(p, &asking, column, b.members[TO]);
		branch_put_flags(p, &b);
		wm_pen_need(p, BRANCH_ROOM);
	}
}
