/* SPDX-License-Identifier: MIT */
/* attr.c - attrs: their ids, names and event types; see perfdata_int.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "read/kernel_items_int.h"
#include "read/perfdata/perfdata_int.h"

/*
 * One of the events reports the mappings, but records made by perf itself have no id and are read
 * by the shape of the first.
 */
static void share_build_ids(struct wm_pd *pd, struct wm_perf_shape *added)
{
	bool first = added->has_build_ids && !pd->has_build_ids;

	pd->has_build_ids |= added->has_build_ids;
	added->has_build_ids = pd->has_build_ids;
	for (uint32_t i = 0; first && i < pd->nr_attrs; i++)
		pd->attrs[i].shape.has_build_ids = true;
}

int wm_pd_attr_add(struct wm_pd *pd, const void *data, size_t bytes, struct wm_diag *diag)
{
	struct wm_pd_attr *more, a = {0};
	int err;

	if (pd->nr_attrs >= WM_PD_ATTRS_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, 0, "more than %u events", WM_PD_ATTRS_MAX);
	err = wm_kperf_attr_parse(data, bytes, pd->swap, &a.attr, diag);
	if (err)
		return err;
	wm_kperf_shape_init(&a.shape, &a.attr, pd->big_endian);
	a.bytes = wm_arena_copy(&pd->trace->arena, data,
				a.attr.size ? a.attr.size : WM_PERF_ATTR_BYTES_MIN);
	if (!a.bytes)
		return -ENOMEM;
	more = wm_arena_grow(&pd->trace->arena, pd->attrs, pd->nr_attrs, sizeof(*more));
	if (!more)
		return -ENOMEM;
	pd->attrs = more;
	pd->attrs[pd->nr_attrs] = a;
	share_build_ids(pd, &pd->attrs[pd->nr_attrs].shape);
	if (!pd->nr_attrs && a.shape.time_in_sample > 0)
		pd->time_at = (uint16_t)a.shape.time_in_sample;
	else if (pd->time_at != a.shape.time_in_sample)
		pd->time_at = 0;
	return (int)pd->nr_attrs++;
}

/* --- ids ------------------------------------------------------------------- */

static struct wm_pd_id *find_id(const struct wm_pd *pd, uint64_t id)
{
	struct wm_table_walk w = wm_table_walk(wm_table_hash(&pd->id_table, id));

	while (wm_table_next(&pd->id_table, &w))
		if (pd->ids[w.index].id == id)
			return &pd->ids[w.index];
	return NULL;
}

int wm_pd_id_add(struct wm_pd *pd, uint64_t id, uint32_t attr)
{
	struct wm_pd_id *known;

	if (!id || pd->id_table.nr >= WM_PD_IDS_MAX)
		return 0;
	if (!pd->id_table.nr)
		wm_table_init(&pd->id_table);
	pd->direct_ids[id % WM_PD_DIRECT_IDS] = (struct wm_pd_id){id, attr};
	known = find_id(pd, id);
	if (known) {
		known->attr = attr;
		return 0;
	}
	if (WM_ARRAY_GROW(pd->ids, pd->room_ids, (size_t)pd->id_table.nr + 1))
		return -ENOMEM;
	pd->ids[pd->id_table.nr] = (struct wm_pd_id){id, attr};
	return wm_table_add(&pd->id_table, wm_table_hash(&pd->id_table, id), pd->id_table.nr);
}

const struct wm_pd_attr *wm_pd_attr_find(const struct wm_pd *pd, uint64_t id)
{
	const struct wm_pd_id *known = &pd->direct_ids[id % WM_PD_DIRECT_IDS];

	if (!id)
		return NULL;
	if (known->id != id)
		known = find_id(pd, id);
	return known ? &pd->attrs[known->attr] : NULL;
}

const struct wm_pd_attr *wm_pd_attr_by_id(const struct wm_pd *pd, const unsigned char *record)
{
	const struct wm_pd_attr *found = NULL;
	uint64_t id;

	if (wm_kperf_record_id(&pd->attrs[0].shape, record, &id) == 0)
		found = wm_pd_attr_find(pd, id);
	return found ? found : &pd->attrs[0];
}

/* --- names ------------------------------------------------------------------ */

static const char *const hardware[] = {
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
};
static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",      "branch",    "node"};
static const char *const cache_ops[][2] = {
    {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};

static void cache_name(uint64_t config, char *name, size_t room)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache < 7 && op < 3 && result < 2)
		snprintf(name, room, "%s-%s", caches[cache], cache_ops[op][result]);
}

/* Makes up the name that perf would use for an attr that has none. */
static void default_name(const struct wm_perf_attr *a, char *name, size_t room)
{
	snprintf(name, room, "type-%u:0x%llx", a->type, (unsigned long long)a->config);
	switch (a->type) {
	case WM_PERF_TYPE_HARDWARE:
		if (a->config < sizeof(hardware) / sizeof(hardware[0]))
			snprintf(name, room, "%s", hardware[a->config]);
		break;
	case WM_PERF_TYPE_SOFTWARE:
		if (a->config < sizeof(software) / sizeof(software[0]))
			snprintf(name, room, "%s", software[a->config]);
		break;
	case WM_PERF_TYPE_TRACEPOINT:
		snprintf(name, room, "tracepoint:%llu", (unsigned long long)a->config);
		break;
	case WM_PERF_TYPE_HW_CACHE:
		cache_name(a->config, name, room);
		break;
	case WM_PERF_TYPE_RAW:
		snprintf(name, room, "r%llx", (unsigned long long)a->config);
		break;
	case WM_PERF_TYPE_BREAKPOINT:
		snprintf(name, room, "mem:0x%llx", (unsigned long long)a->config1);
		break;
	}
}

static bool perfdata_attr_find(const char *const *names, size_t nr, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < nr; i++) {
		if (!strcmp(names[i], name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool wm_pd_named(const char *name, uint32_t *ret_type, uint64_t *ret_config)
{
	const char *colon = strchr(name, ':'), *word = colon ? colon + 1 : name;

	*ret_type = WM_PERF_TYPE_SOFTWARE;
	if (perfdata_attr_find(software, sizeof(software) / sizeof(software[0]), word, ret_config))
		return true;
	*ret_type = WM_PERF_TYPE_HARDWARE;
	return perfdata_attr_find(hardware, sizeof(hardware) / sizeof(hardware[0]), word,
				  ret_config);
}

void wm_pd_attr_name(struct wm_pd *pd, uint32_t attr, const char *name)
{
	if (attr < pd->nr_attrs && *name)
		pd->attrs[attr].name = wm_arena_copy(&pd->trace->arena, name, strlen(name));
}

void wm_pd_config_name(struct wm_pd *pd, uint64_t config, const char *name)
{
	char copy[WM_PD_NAME_BYTES + 1];

	memcpy(copy, name, WM_PD_NAME_BYTES);
	copy[WM_PD_NAME_BYTES] = '\0';
	for (uint32_t i = 0; i < pd->nr_attrs; i++)
		if (!pd->attrs[i].name && pd->attrs[i].attr.config == config)
			wm_pd_attr_name(pd, i, copy);
}

/* Adds a tracepoint's own fields, if the file has its format. */
static int add_fields(struct wm_pd *pd, struct wm_pd_attr *a, struct wm_event_type *type)
{
	const struct wm_kformat *f = NULL;
	bool hex[WM_KFORMAT_FIELDS_MAX];

	if (pd->formats && a->attr.type == WM_PERF_TYPE_TRACEPOINT && a->attr.config <= UINT16_MAX)
		f = wm_kformats_event(pd->formats, (uint32_t)a->attr.config);
	if (!f || !(a->attr.sample_type & WM_PERF_SAMPLE_RAW))
		return 0;
	a->format = f;
	a->form = wm_kformats_form(pd->formats, (uint32_t)a->attr.config);
	type->print = f->print;
	type->prints = true;
	return wm_kprint_hex(&pd->trace->arena, &pd->machine, f, hex) ||
		       wm_kitems_part(&pd->trace->arena, hex + f->nr_common,
				      f->fields + f->nr_common, f->nr_fields - f->nr_common,
				      &type->parts[WM_PART_FIELDS])
		   ? -ENOMEM
		   : 0;
}

static int finish_attr(struct wm_pd *pd, uint32_t i)
{
	struct wm_pd_attr *a = &pd->attrs[i];
	struct wm_event_type *type = wm_arena_get(&pd->trace->arena, sizeof(*type));
	char name[128];

	if (!type)
		return -ENOMEM;
	if (!a->name && pd->formats && a->attr.type == WM_PERF_TYPE_TRACEPOINT &&
	    a->attr.config <= UINT16_MAX) {
		const struct wm_kformat *f =
		    wm_kformats_event(pd->formats, (uint32_t)a->attr.config);

		if (f &&
		    snprintf(name, sizeof(name), "%s:%s", f->system, f->name) < (int)sizeof(name))
			wm_pd_attr_name(pd, i, name);
	}
	if (!a->name) {
		default_name(&a->attr, name, sizeof(name));
		wm_pd_attr_name(pd, i, name);
	}
	if (pd->has_counts && !pd->has_samples)
		return wm_pd_stat_type(pd, i);
	if (add_fields(pd, a, type))
		return -ENOMEM;
	wm_pd_flat_make(a);
	type->parts[WM_PART_STREAM_CONTEXT] = wm_pd_sample_type(pd->trace, a);
	if (!a->name || !type->parts[WM_PART_STREAM_CONTEXT])
		return -ENOMEM;
	type->name = a->name;
	type->provider = wm_trace_provider(pd->trace, a->name);
	type->level = -1;
	type->id = i;
	type->period = a->attr.period;
	type->has_lbr_chains = a->shape.branch_sample_type & WM_PERF_BRANCH_CALL_STACK;
	type->user_regs = a->attr.sample_type & WM_PERF_SAMPLE_REGS_USER ? a->attr.regs_user : 0;
	type->own = a;
	a->type = type;
	if (!type->provider || wm_trace_add_type(pd->trace, type))
		return -ENOMEM;
	return pd->has_counts ? wm_pd_stat_type(pd, i) : 0;
}

int wm_pd_attrs_finish(struct wm_pd *pd)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < pd->nr_attrs; i++)
		err = finish_attr(pd, i);
	return err;
}
