/* SPDX-License-Identifier: MIT */
/*
 * meta.c - the kernel's records other than samples, as meta events: perf:mmap2, perf:comm etc. A
 * table lists the fields of each and their offsets in the parsed record.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "read/perfdata/perfdata_int.h"

static const struct wm_type u16 = {.kind = WM_TYPE_UNSIGNED, .bits = 16};
static const struct wm_type u32 = {.kind = WM_TYPE_UNSIGNED, .bits = 32};
static const struct wm_type s32 = {.kind = WM_TYPE_SIGNED, .bits = 32};
static const struct wm_type u64 = {.kind = WM_TYPE_UNSIGNED, .bits = 64};
static const struct wm_type hex = {.kind = WM_TYPE_UNSIGNED, .bits = 64, .look = WM_LOOK_HEX};
static const struct wm_type flags = {.kind = WM_TYPE_UNSIGNED, .bits = 16, .look = WM_LOOK_HEX};
static const struct wm_type string = {.kind = WM_TYPE_STRING};
static const struct wm_type bytes = {.kind = WM_TYPE_BYTES};

#define AT(f)      offsetof(struct wm_perf_record, f)
#define FIELDS_MAX 10

static const struct meta {
	uint32_t kind;
	struct {
		struct wm_member member;
		size_t offset;
	} fields[FIELDS_MAX];
} metas[] = {
    {WM_PERF_MMAP,
     {{{"pid", &s32}, AT(mmap.pid)},
      {{"tid", &s32}, AT(mmap.tid)},
      {{"addr", &hex}, AT(mmap.addr)},
      {{"len", &hex}, AT(mmap.len)},
      {{"pgoff", &hex}, AT(mmap.pgoff)},
      {{"filename", &string}, AT(mmap.filename)},
      {{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_LOST, {{{"id", &u64}, AT(lost.id)}, {{"lost", &u64}, AT(lost.lost)}}},
    {WM_PERF_COMM,
     {{{"pid", &s32}, AT(comm.pid)},
      {{"tid", &s32}, AT(comm.tid)},
      {{"comm", &string}, AT(comm.comm)},
      {{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_EXIT,
     {{{"pid", &s32}, AT(task.pid)},
      {{"ppid", &s32}, AT(task.ppid)},
      {{"tid", &s32}, AT(task.tid)},
      {{"ptid", &s32}, AT(task.ptid)}}},
    {WM_PERF_THROTTLE,
     {{{"id", &u64}, AT(throttle.id)}, {{"stream_id", &u64}, AT(throttle.stream_id)}}},
    {WM_PERF_UNTHROTTLE,
     {{{"id", &u64}, AT(throttle.id)}, {{"stream_id", &u64}, AT(throttle.stream_id)}}},
    {WM_PERF_FORK,
     {{{"pid", &s32}, AT(task.pid)},
      {{"ppid", &s32}, AT(task.ppid)},
      {{"tid", &s32}, AT(task.tid)},
      {{"ptid", &s32}, AT(task.ptid)},
      {{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_READ,
     {{{"pid", &s32}, AT(read.pid)},
      {{"tid", &s32}, AT(read.tid)},
      {{"value", &u64}, AT(read.read.first.value)}}},
    {WM_PERF_MMAP2,
     {{{"pid", &s32}, AT(mmap.pid)},
      {{"tid", &s32}, AT(mmap.tid)},
      {{"addr", &hex}, AT(mmap.addr)},
      {{"len", &hex}, AT(mmap.len)},
      {{"pgoff", &hex}, AT(mmap.pgoff)},
      {{"prot", &u32}, AT(mmap.prot)},
      {{"flags", &u32}, AT(mmap.flags)},
      {{"build_id", &bytes}, AT(mmap)},
      {{"filename", &string}, AT(mmap.filename)},
      {{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_AUX,
     {{{"offset", &hex}, AT(aux.offset)},
      {{"size", &u64}, AT(aux.size)},
      {{"flags", &hex}, AT(aux.flags)}}},
    {WM_PERF_ITRACE_START, {{{"pid", &s32}, AT(thread.pid)}, {{"tid", &s32}, AT(thread.tid)}}},
    {WM_PERF_LOST_SAMPLES, {{{"lost", &u64}, AT(lost.lost)}}},
    {WM_PERF_SWITCH, {{{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_SWITCH_CPU_WIDE,
     {{{"other_pid", &s32}, AT(thread.pid)},
      {{"other_tid", &s32}, AT(thread.tid)},
      {{"misc", &flags}, AT(header.misc)}}},
    {WM_PERF_NAMESPACES,
     {{{"pid", &s32}, AT(namespaces.pid)}, {{"tid", &s32}, AT(namespaces.tid)}}},
    {WM_PERF_KSYMBOL,
     {{{"addr", &hex}, AT(ksymbol.addr)},
      {{"len", &u32}, AT(ksymbol.len)},
      {{"type", &u16}, AT(ksymbol.type)},
      {{"flags", &u16}, AT(ksymbol.flags)},
      {{"name", &string}, AT(ksymbol.name)}}},
    {WM_PERF_BPF_EVENT,
     {{{"type", &u16}, AT(bpf.type)},
      {{"flags", &u16}, AT(bpf.flags)},
      {{"id", &u32}, AT(bpf.id)}}},
    {WM_PERF_CGROUP, {{{"id", &u64}, AT(cgroup.id)}, {{"path", &string}, AT(cgroup.path)}}},
    {WM_PERF_TEXT_POKE, {{{"addr", &hex}, AT(text_poke.addr)}}},
    {WM_PERF_AUX_OUTPUT_HW_ID, {{{"hw_id", &u64}, AT(hw_id)}}},
    {WM_PERF_CALLCHAIN_DEFERRED, {{{"cookie", &hex}, AT(deferred.cookie)}}},
};
#define NR_METAS (sizeof(metas) / sizeof(metas[0]))

static uint32_t nr_fields(const struct meta *m)
{
	uint32_t n = 0;

	while (n < FIELDS_MAX && m->fields[n].member.name)
		n++;
	return n;
}

/* Builds "perf:mmap2" from "MMAP2". */
static char *perfdata_meta_name_of(struct wm_trace *t, uint32_t kind)
{
	char name[40];

	snprintf(name, sizeof(name), "perf:%s", wm_kperf_kind_name(kind));
	for (char *c = name; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return wm_arena_copy(&t->arena, name, strlen(name));
}

static int add_type(struct wm_pd *pd, const struct meta *m)
{
	struct wm_arena *a = &pd->trace->arena;
	struct wm_event_type *event = wm_arena_get(a, sizeof(*event));
	struct wm_type *type = wm_arena_get(a, sizeof(*type));
	struct wm_member *members = wm_arena_array(a, FIELDS_MAX, sizeof(*members));

	if (!event || !type || !members)
		return -ENOMEM;
	type->kind = WM_TYPE_STRUCT;
	type->nr_members = nr_fields(m);
	type->members = members;
	for (uint32_t i = 0; i < type->nr_members; i++)
		members[i] = m->fields[i].member;
	*event = (struct wm_event_type){.name = perfdata_meta_name_of(pd->trace, m->kind),
					.provider = "perf",
					.level = -1,
					.id = m->kind,
					.meta = true,
					.own = m};
	event->parts[WM_PART_FIELDS] = type;
	pd->meta[m->kind] = event;
	return event->name ? wm_trace_add_type(pd->trace, event) : -ENOMEM;
}

int wm_pd_meta_types(struct wm_pd *pd)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_METAS; i++)
		err = add_type(pd, &metas[i]);
	return err;
}

static void set_value(struct wm_item *i, const struct wm_type *type, const void *from)
{
	uint32_t narrow;
	uint16_t half;

	if (type == &bytes) {
		const struct wm_perf_mmap *mmap = from;

		i->bytes = mmap->build_id;
		i->count = mmap->build_id ? mmap->build_id_bytes : 0;
	} else if (type == &string) {
		const struct wm_perf_text *text = from;

		i->text = text->data;
		i->count = text->bytes;
	} else if (type->bits == 16) {
		memcpy(&half, from, 2);
		i->u = half;
	} else if (type->bits == 32) {
		memcpy(&narrow, from, 4);
		i->u = narrow;
		if (type == &s32)
			i->s = (int32_t)narrow;
	} else {
		memcpy(&i->u, from, 8);
	}
}

bool wm_pd_meta_items(const struct wm_event_type *type, const struct wm_perf_record *r,
		      struct wm_batch *b)
{
	const struct meta *m = type->own;
	const struct wm_type *fields = type->parts[WM_PART_FIELDS];

	if (!wm_batch_room(b, fields->nr_members))
		return false;
	for (uint32_t i = 0; i < fields->nr_members; i++)
		set_value(wm_batch_item(b, &fields->members[i]), fields->members[i].type,
			  (const unsigned char *)r + m->fields[i].offset);
	return true;
}
