/* SPDX-License-Identifier: MIT */
/* event_def.c - see event_def.h. */
#include "kernel/event_def.h"

#include <errno.h>
#include <string.h>

#include "kernel/perf_event.h"
#include "kernel/privilege.h"

const char *wm_event_family_name(enum wm_event_family family)
{
	static const char *const names[WM_FAMILY_NR] = {
	    [WM_FAMILY_TRACEPOINT] = "tracepoint",
	    [WM_FAMILY_SYSCALL] = "syscall",
	    [WM_FAMILY_SOFTWARE] = "sw",
	    [WM_FAMILY_HARDWARE] = "cpu",
	    [WM_FAMILY_PMU] = "pmu",
	    [WM_FAMILY_BREAKPOINT] = "mem",
	    [WM_FAMILY_USDT] = "usdt",
	    [WM_FAMILY_UPROBE] = "uprobe",
	    [WM_FAMILY_URETPROBE] = "uretprobe",
	    [WM_FAMILY_KPROBE] = "kprobe",
	    [WM_FAMILY_KRETPROBE] = "kretprobe",
	    [WM_FAMILY_EPROBE] = "eprobe",
	    [WM_FAMILY_PROC] = WM_PROC_PROVIDER,
	};

	return (unsigned)family < WM_FAMILY_NR ? names[family] : "?";
}

void wm_event_defs_init(struct wm_event_defs *d)
{
	*d = (struct wm_event_defs){0};
	wm_arena_init(&d->arena, WM_EVENT_DEFS_BYTES);
}

void wm_event_defs_done(struct wm_event_defs *d)
{
	wm_arena_done(&d->arena);
	d->defs = NULL;
	d->nr = 0;
}

/* Replaces *s with a copy; returns false when out of memory. */
static bool event_def_keep(struct wm_event_defs *d, const char **s)
{
	if (!*s)
		return true;
	*s = wm_arena_copy(&d->arena, *s, strlen(*s));
	return *s != NULL;
}

int wm_event_defs_add(struct wm_event_defs *d, const struct wm_event_def *def)
{
	struct wm_event_def copy = *def, *grown;

	if (d->nr >= WM_EVENT_DEFS_MAX)
		return -E2BIG;
	if (!event_def_keep(d, &copy.name) || !event_def_keep(d, &copy.system) ||
	    !event_def_keep(d, &copy.event) || !event_def_keep(d, &copy.path) ||
	    !event_def_keep(d, &copy.symbol) || !event_def_keep(d, &copy.operands) ||
	    !event_def_keep(d, &copy.label) || !event_def_keep(d, &copy.arguments) ||
	    !event_def_keep(d, &copy.recast) || !event_def_keep(d, &copy.left_out) ||
	    !event_def_keep(d, &copy.places_left_out) || !event_def_keep(d, &copy.scale) ||
	    !event_def_keep(d, &copy.unit))
		return -ENOMEM;
	grown = wm_arena_grow(&d->arena, d->defs, d->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->defs = grown;
	d->defs[d->nr++] = copy;
	return 0;
}

bool wm_event_def_modify(struct wm_event_def *def, const char *letters)
{
	bool user = false, kernel = false, hv = false;
	unsigned precise = 0;

	for (const char *p = letters; *p; p++) {
		if (!strchr("ukhp", *p))
			return false;
		user |= *p == 'u';
		kernel |= *p == 'k';
		hv |= *p == 'h';
		precise += *p == 'p';
	}
	if (user || kernel || hv) {
		def->exclude_user = !user;
		def->exclude_kernel = !kernel;
		def->exclude_hv = !hv;
	}
	def->precise = precise > 3 ? 3 : (uint8_t)precise;
	return *letters != '\0';
}

bool wm_event_def_may_narrow(const struct wm_event_def *def, int err)
{
	struct wm_privilege p;

	if ((err != -EACCES && err != -EPERM) || def->in_kernel || def->exclude_kernel ||
	    def->exclude_user ||
	    (def->family != WM_FAMILY_SOFTWARE && def->family != WM_FAMILY_HARDWARE))
		return false;
	wm_privilege_read(&p);
	return !wm_privilege_perf(&p, WM_PERF_NEED_KERNEL);
}

void wm_event_def_attr(const struct wm_event_def *def, struct perf_event_attr *attr)
{
	wm_perf_attr_init(attr, def->type, def->config);
	attr->config1 = def->config1;
	attr->config2 = def->config2;
	attr->exclude_user = def->exclude_user;
	attr->exclude_kernel = def->exclude_kernel;
	attr->exclude_hv = def->exclude_hv;
	attr->precise_ip = def->precise & 3u;
	switch (def->family) {
	case WM_FAMILY_BREAKPOINT:
		attr->bp_type = def->access;
		attr->bp_addr = def->address;
		attr->bp_len = def->bytes;
		break;
	case WM_FAMILY_USDT:
	case WM_FAMILY_UPROBE:
	case WM_FAMILY_URETPROBE:
		attr->uprobe_path = (uint64_t)(uintptr_t)def->path;
		attr->probe_offset = def->offset;
		break;
	case WM_FAMILY_KPROBE:
	case WM_FAMILY_KRETPROBE:
		attr->kprobe_func = (uint64_t)(uintptr_t)def->symbol;
		attr->probe_offset = def->offset;
		break;
	default:
		break;
	}
}
