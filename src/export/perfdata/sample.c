/* SPDX-License-Identifier: MIT */
/*
 * sample.c - writes samples and task events of waymark recordings as records of the kernel's perf
 * interface (kdata/perf_record.h, perf_sample.h). Finds the parts of a sample by the names in
 * doc/format/trace.md.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/kernel_record_int.h"
#include "export/perfdata/perfdata_int.h"
#include "trace/user_regs.h"

#define FIRST_ID       1u
#define REGS_ABI_32    1u
#define REGS_ABI_64    2u
#define CONFIG_DUMMY   9u /* a software event that counts nothing; EVENT_DESC gives the name */
#define BUILD_ID_BYTES 20u
#define COMMON                                                                                     \
	(WM_PERF_SAMPLE_IDENTIFIER | WM_PERF_SAMPLE_IP | WM_PERF_SAMPLE_TID |                      \
	 WM_PERF_SAMPLE_TIME | WM_PERF_SAMPLE_CPU | WM_PERF_SAMPLE_PERIOD)

static void export_sample_put(struct wm_pdx *d, uint64_t value, uint32_t bytes)
{
	wm_pdx_u(d, &d->text, value, bytes);
}

/* --- items by name ---------------------------------------------------------------------------- */

static const struct wm_item *in_part(const struct wm_event *e, enum wm_part part, const char *name)
{
	for (uint32_t i = e->parts[part].at; i < e->parts[part].end; i = e->items[i].next)
		if (e->items[i].member->name && !strcmp(e->items[i].member->name, name))
			return &e->items[i];
	return NULL;
}

static const struct wm_item *item(const struct wm_event *e, const char *name)
{
	const struct wm_item *i = in_part(e, WM_PART_STREAM_CONTEXT, name);

	return i ? i : in_part(e, WM_PART_FIELDS, name);
}

static uint64_t export_sample_number(const struct wm_event *e, const char *name, uint64_t otherwise)
{
	const struct wm_item *i = item(e, name);

	return i && i->member->type->kind <= WM_TYPE_BOOL ? i->u : otherwise;
}

static bool export_sample_has_member(const struct wm_type *part, const char *name)
{
	for (uint32_t i = 0; part && i < part->nr_members; i++)
		if (part->members[i].name && !strcmp(part->members[i].name, name))
			return true;
	return false;
}

/* --- attrs ---------------------------------------------------------------------------- */

/* Optional parts of a sample. */
static const struct {
	const char *name;
	uint64_t bit;
} parts[] = {
    {"addr", WM_PERF_SAMPLE_ADDR},
    {"callchain", WM_PERF_SAMPLE_CALLCHAIN},
    {"regs_user", WM_PERF_SAMPLE_REGS_USER},
    {"stack_user", WM_PERF_SAMPLE_STACK_USER},
};

static void export_sample_set(struct wm_pdx *d, struct wm_pdx_attr *a, uint32_t at, uint64_t value,
			      uint32_t bytes)
{
	wm_text_cut(&d->text, 0);
	export_sample_put(d, value, bytes);
	if (!d->text.failed)
		memcpy(a->bytes + at, d->text.data, bytes);
	wm_text_cut(&d->text, 0);
}

/* Fills an attr. The numbers are offsets within the attr; see kdata/perf_attr.c. */
static void fill_attr(struct wm_pdx *d, struct wm_pdx_attr *a)
{
	uint64_t flags = WM_PERF_ATTR_DISABLED | WM_PERF_ATTR_INHERIT | WM_PERF_ATTR_MMAP |
			 WM_PERF_ATTR_COMM | WM_PERF_ATTR_TASK | WM_PERF_ATTR_SAMPLE_ID_ALL |
			 WM_PERF_ATTR_MMAP2 | WM_PERF_ATTR_COMM_EXEC | WM_PERF_ATTR_USE_CLOCKID;
	uint64_t config;
	uint32_t type;

	if (a->format) {
		type = WM_PERF_TYPE_TRACEPOINT;
		config = a->format->id;
	} else if (!wm_pd_named(a->type->name, &type, &config)) {
		type = WM_PERF_TYPE_SOFTWARE;
		config = CONFIG_DUMMY;
	}
	export_sample_set(d, a, 0, type, 4);
	export_sample_set(d, a, 4, WM_PDX_ATTR_BYTES, 4);
	export_sample_set(d, a, 8, config, 8);
	export_sample_set(d, a, 16, 1, 8);
	export_sample_set(d, a, 24, a->sample_type, 8);
	export_sample_set(d, a, 40, flags, 8);
	if (a->sample_type & WM_PERF_SAMPLE_REGS_USER)
		export_sample_set(d, a, 80, d->regs_user, 8);
	if (a->sample_type & WM_PERF_SAMPLE_STACK_USER)
		export_sample_set(d, a, 88, 8192, 4);
	export_sample_set(d, a, 92, 1, 4); /* CLOCK_MONOTONIC */
}

static bool is_part(const char *name)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].name, name))
			return true;
	return false;
}

/*
 * Returns the first field that is not part of the sample: tracepoint fields follow the sample's
 * parts.
 */
static uint32_t first_field(const struct wm_type *fields)
{
	uint32_t nr = fields ? fields->nr_members : 0, i = 0;

	while (i < nr &&
	       (is_part(fields->members[i].name) ||
		(i + 1 < nr && is_part(fields->members[i + 1].name) &&
		 wm_export_kernel_is_length(&fields->members[i], &fields->members[i + 1]))))
		i++;
	return i;
}

/* Finds the kernel's format for the fields of the tracepoint. */
static const struct wm_kformat *format_of(const struct wm_pdx *d, const struct wm_pdx_attr *a)
{
	struct wm_type own = *a->type->parts[WM_PART_FIELDS];

	own.members += a->first_field;
	own.nr_members -= a->first_field;
	return wm_tdx_source_format(&d->source, a->type->name, &own);
}

static void export_sample_add_attr(struct wm_pdx *d, const struct wm_event_type *type)
{
	struct wm_pdx_attr *a = &d->attrs[d->nr_attrs];
	const struct wm_type *fields = type->parts[WM_PART_FIELDS];

	a->type = type;
	a->id = FIRST_ID + d->nr_attrs++;
	a->sample_type = COMMON;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (export_sample_has_member(type->parts[WM_PART_STREAM_CONTEXT], parts[i].name) ||
		    export_sample_has_member(type->parts[WM_PART_FIELDS], parts[i].name))
			a->sample_type |= parts[i].bit;
	if (!d->regs_user)
		a->sample_type &= ~WM_PERF_SAMPLE_REGS_USER & ~WM_PERF_SAMPLE_STACK_USER;
	a->first_field = first_field(fields);
	a->loses_fields = fields && a->first_field < fields->nr_members;
	a->format = a->loses_fields ? format_of(d, a) : NULL;
	if (a->format) {
		a->sample_type |= WM_PERF_SAMPLE_RAW;
		a->loses_fields = false;
	}
	fill_attr(d, a);
	d->by_type[type->index] = a;
}

int wm_pdx_make_attrs(struct wm_pdx *d, struct wm_diag *diag)
{
	struct wm_trace *t = d->trace;
	const char *regs = wm_trace_word(t, "sample_regs");
	int err = wm_tdx_source_init(&d->source, &d->formats, t, diag);

	d->regs_user = regs ? strtoull(regs, NULL, 0) : 0;
	d->by_type =
	    wm_arena_array(&d->arena, t->nr_types + (size_t)1, sizeof(struct wm_pdx_attr *));
	d->attrs = wm_arena_array(&d->arena, t->nr_types + (size_t)1, sizeof(*d->attrs));
	if (err || !d->by_type || !d->attrs)
		return err ? err : -ENOMEM;
	for (uint32_t i = 0; i < t->nr_types; i++)
		if (export_sample_has_member(t->types[i]->parts[WM_PART_STREAM_CONTEXT], "ip"))
			export_sample_add_attr(d, t->types[i]);
	return d->text.failed ? -ENOMEM : 0;
}

/* --- records -------------------------------------------------------------------------- */

static void export_sample_begin(struct wm_pdx *d, uint32_t type, uint16_t misc)
{
	wm_text_cut(&d->text, 0);
	export_sample_put(d, type, 4);
	export_sample_put(d, misc, 2);
	export_sample_put(d, 0, 2); /* the size, set by export_sample_finish() */
}

static int export_sample_finish(struct wm_pdx *d)
{
	size_t bytes = d->text.bytes;
	uint16_t size = (uint16_t)bytes;

	if (d->text.failed)
		return -ENOMEM;
	if (bytes > WM_PDX_RECORD_MAX)
		return -E2BIG;
	size = wm_get_u16(&size, d->swap);
	memcpy(d->text.data + 6, &size, sizeof(size));
	return 1;
}

static uint64_t export_sample_time_of(const struct wm_pdx *d, const struct wm_event *e)
{
	return e->ns == WM_TIME_NONE ? 0 : (uint64_t)e->ns - (uint64_t)d->base_ns;
}

static void export_sample_put_list(struct wm_pdx *d, const struct wm_item *list)
{
	uint32_t nr = list && list->member->type->kind == WM_TYPE_LIST ? list->count : 0;

	for (uint32_t i = 0; i < nr; i++)
		export_sample_put(d, list[1 + i].u, 8);
}

static void put_callchain(struct wm_pdx *d, const struct wm_event *e)
{
	const struct wm_item *chain = item(e, "callchain");

	export_sample_put(d, chain ? chain->count : 0, 8);
	export_sample_put_list(d, chain);
}

/*
 * Writes the registers of a sample: all of them or none, because the attr's mask determines how
 * many there are.
 */
static void put_regs(struct wm_pdx *d, const struct wm_event *e)
{
	const struct wm_item *regs = item(e, "regs_user");
	bool whole = regs && regs->count == (uint32_t)__builtin_popcountll(d->regs_user);

	if (!whole) {
		export_sample_put(d, 0, 8);
		return;
	}
	export_sample_put(
	    d, wm_user_regs_narrow(d->regs_user, regs + 1, regs->count) ? REGS_ABI_32 : REGS_ABI_64,
	    8);
	export_sample_put_list(d, regs);
}

static bool export_sample_is_bytes(const struct wm_item *i)
{
	return i->member->type->kind == WM_TYPE_BYTES;
}

/* Writes a blob, which is a list of bytes in CTF 1.8. */
static void put_blob(struct wm_pdx *d, const struct wm_item *i)
{
	if (i && export_sample_is_bytes(i))
		wm_text_add(&d->text, i->bytes, i->count);
	else if (i && i->member->type->kind == WM_TYPE_LIST)
		for (uint32_t k = 0; k < i->count; k++)
			wm_text_char(&d->text, (char)i[1 + k].u);
}

static void put_stack(struct wm_pdx *d, const struct wm_event *e)
{
	const struct wm_item *stack = item(e, "stack_user");
	uint32_t bytes = stack ? stack->count : 0, room = (bytes + 7) & ~7u;

	export_sample_put(d, room, 8);
	put_blob(d, stack);
	for (uint32_t i = bytes; i < room; i++)
		export_sample_put(d, 0, 1);
	if (room)
		export_sample_put(d, bytes, 8);
}

/*
 * Returns the mode for the record; never unknown, because perf drops samples with an unknown mode.
 */
static uint8_t export_sample_mode_of(const struct wm_event *e, uint64_t ip)
{
	if (e->mode != WM_MODE_UNKNOWN)
		return e->mode;
	return ip >> 63 ? WM_MODE_KERNEL : WM_MODE_USER;
}

/*
 * Writes a tracepoint's record; the record and its length word are a multiple
 * of eight bytes. 0 or -errno.
 */
static int put_raw(struct wm_pdx *d, const struct wm_pdx_attr *a, const struct wm_event *e)
{
	const struct wm_kernel_common common = {.pid = e->tid >= 0 ? e->tid : 0};
	const struct wm_member *first = &a->type->parts[WM_PART_FIELDS]->members[a->first_field];
	struct wm_part_range fields = e->parts[WM_PART_FIELDS];
	uint32_t bytes, room;
	int err;

	while (fields.at < fields.end && e->items[fields.at].member < first)
		fields.at = e->items[fields.at].next;
	err = wm_export_kernel_record(&d->source.machine, a->format, &common, e->items, &fields, 1,
				      &d->scratch, &d->record);
	if (err)
		return err;
	bytes = (uint32_t)d->record.bytes;
	room = ((bytes + 4 + 7) & ~7u) - 4;
	export_sample_put(d, room, 4);
	wm_text_add(&d->text, d->record.data, bytes);
	for (; bytes < room; bytes++)
		export_sample_put(d, 0, 1);
	return 0;
}

static int export_sample_make(struct wm_pdx *d, const struct wm_pdx_attr *a,
			      const struct wm_event *e)
{
	uint64_t ip = export_sample_number(e, "ip", 0);
	int err = 0;

	export_sample_begin(d, WM_PERF_SAMPLE, export_sample_mode_of(e, ip));
	export_sample_put(d, a->id, 8);
	export_sample_put(d, ip, 8);
	export_sample_put(d, (uint32_t)e->pid, 4);
	export_sample_put(d, (uint32_t)e->tid, 4);
	export_sample_put(d, export_sample_time_of(d, e), 8);
	if (a->sample_type & WM_PERF_SAMPLE_ADDR)
		export_sample_put(d, export_sample_number(e, "addr", 0), 8);
	export_sample_put(d, (uint32_t)e->cpu, 4);
	export_sample_put(d, 0, 4);
	export_sample_put(d, export_sample_number(e, "period", 1), 8);
	if (a->sample_type & WM_PERF_SAMPLE_CALLCHAIN)
		put_callchain(d, e);
	if (a->format)
		err = put_raw(d, a, e);
	if (a->sample_type & WM_PERF_SAMPLE_REGS_USER)
		put_regs(d, e);
	if (a->sample_type & WM_PERF_SAMPLE_STACK_USER)
		put_stack(d, e);
	return err ? err : export_sample_finish(d);
}

/* --- task events ---------------------------------------------------------------------- */

static void export_sample_put_ids(struct wm_pdx *d, const struct wm_event *e,
				  const char *const *names, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		export_sample_put(d, export_sample_number(e, names[i], 0), 4);
}

/* Writes a string with its NUL, padded to a multiple of eight bytes. */
static void export_sample_put_text(struct wm_pdx *d, const struct wm_item *i)
{
	uint32_t bytes = i && i->member->type->kind == WM_TYPE_STRING ? i->count : 0;

	if (bytes)
		wm_text_add(&d->text, i->text, bytes);
	do
		export_sample_put(d, 0, 1);
	while (++bytes % 8);
}

static void export_sample_comm(struct wm_pdx *d, const struct wm_event *e)
{
	static const char *const ids[] = {"pid", "tid"};

	export_sample_put_ids(d, e, ids, 2);
	export_sample_put_text(d, item(e, "comm"));
}

static void task(struct wm_pdx *d, const struct wm_event *e)
{
	static const char *const ids[] = {"pid", "ppid", "tid", "ptid"};

	export_sample_put_ids(d, e, ids, 4);
	export_sample_put(d, export_sample_time_of(d, e), 8);
}

static void mmap2(struct wm_pdx *d, const struct wm_event *e)
{
	static const char *const ids[] = {"pid", "tid"};
	const struct wm_item *id = item(e, "build_id");
	uint32_t bytes = id && id->count <= BUILD_ID_BYTES ? id->count : 0;

	export_sample_put_ids(d, e, ids, 2);
	export_sample_put(d, export_sample_number(e, "addr", 0), 8);
	export_sample_put(d, export_sample_number(e, "len", 0), 8);
	export_sample_put(d, export_sample_number(e, "pgoff", 0), 8);
	export_sample_put(d, bytes, 4); /* one byte of size, three of padding */
	if (bytes)
		put_blob(d, id);
	for (; bytes < BUILD_ID_BYTES; bytes++)
		export_sample_put(d, 0, 1);
	export_sample_put(d, export_sample_number(e, "prot", 0), 4);
	export_sample_put(d, export_sample_number(e, "flags", 0), 4);
	export_sample_put_text(d, item(e, "filename"));
}

/* All of it is in the trailer. */
static void export_sample_switch(struct wm_pdx *d, const struct wm_event *e)
{
	(void)d;
	(void)e;
}

static const struct {
	const char *name;
	uint32_t kind;
	void (*put)(struct wm_pdx *d, const struct wm_event *e);
} tasks[] = {
    {"perf:comm", WM_PERF_COMM, export_sample_comm},
    {"perf:fork", WM_PERF_FORK, task},
    {"perf:exit", WM_PERF_EXIT, task},
    {"perf:mmap2", WM_PERF_MMAP2, mmap2},
    {"perf:switch", WM_PERF_SWITCH, export_sample_switch},
};

static void put_trailer(struct wm_pdx *d, uint32_t kind, const struct wm_event *e)
{
	static const char *const ids[] = {"pid", "tid"};

	if (kind == WM_PERF_SWITCH) {
		export_sample_put_ids(d, e, ids, 2);
	} else {
		export_sample_put(d, (uint32_t)e->pid, 4);
		export_sample_put(d, (uint32_t)e->tid, 4);
	}
	export_sample_put(d, export_sample_time_of(d, e), 8);
	export_sample_put(d, (uint32_t)e->cpu, 4);
	export_sample_put(d, 0, 4);
	export_sample_put(d, FIRST_ID, 8);
}

int wm_pdx_record(struct wm_pdx *d, const struct wm_event *e)
{
	const struct wm_pdx_attr *a = d->by_type[e->type->index];
	const struct wm_item *id;
	uint16_t misc;

	if (a && a->loses_fields)
		wm_export_reduce(d->x,
				 "tracepoint fields, because no known kernel has their format", 1);
	if (a)
		return export_sample_make(d, a, e);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		if (strcmp(e->type->name, tasks[i].name) != 0)
			continue;
		misc = (uint16_t)export_sample_number(e, "misc", 0);
		id = tasks[i].kind == WM_PERF_MMAP2 ? item(e, "build_id") : NULL;
		if (id)
			misc = id->count ? misc | WM_PERF_MISC_MMAP_BUILD_ID
					 : (uint16_t)(misc & ~WM_PERF_MISC_MMAP_BUILD_ID);
		export_sample_begin(d, tasks[i].kind, misc);
		tasks[i].put(d, e);
		put_trailer(d, tasks[i].kind, e);
		return export_sample_finish(d);
	}
	return 0;
}
