/* SPDX-License-Identifier: MIT */
/*
 * list_kernel_print.c - the kernel's events and families as text and JSON;
 * see list_kernel.h. Fields come from tracefs, as the kernel declares them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/list_kernel.h"
#include "cmd/say.h"
#include "elf/usdt.h"
#include "kdata/event_format.h"
#include "kernel/event_table.h"

#define FORMAT_ARENA (4u << 20)

static const char *kind_name(const struct wm_event_def *d)
{
	static const char *const kinds[WM_FAMILY_NR] = {
	    [WM_FAMILY_TRACEPOINT] = "tracepoint",
	    [WM_FAMILY_SYSCALL] = "system-call",
	    [WM_FAMILY_SOFTWARE] = "software",
	    [WM_FAMILY_HARDWARE] = "hardware",
	    [WM_FAMILY_PMU] = "pmu",
	    [WM_FAMILY_BREAKPOINT] = "breakpoint",
	    [WM_FAMILY_USDT] = "usdt",
	    [WM_FAMILY_UPROBE] = "uprobe",
	    [WM_FAMILY_URETPROBE] = "uretprobe",
	    [WM_FAMILY_KPROBE] = "kprobe",
	    [WM_FAMILY_KRETPROBE] = "kretprobe",
	    [WM_FAMILY_EPROBE] = "eprobe",
	};

	return kinds[d->family];
}

/* What a software or hardware event counts; "" for others. */
static const char *help_of(const struct wm_event_def *d)
{
	const struct wm_event_known *k;

	for (size_t i = 0; (k = wm_event_known(i)); i++) {
		if (k->family == d->family && k->type == d->type && k->config == d->config)
			return k->help;
	}
	return "";
}

/* Places that follow and belong to the same event. */
static uint32_t nr_places(const struct wm_event_defs *defs, size_t at)
{
	uint32_t nr = 1;

	while (at + nr < defs->nr && defs->defs[at + nr].more)
		nr++;
	return nr;
}

/* ---- fields ----------------------------------------------------------------------- */

struct format {
	struct wm_arena arena;
	const struct wm_kformat *format;
};

/* The event's own fields, without the common ones. False: there is none to show. */
static bool read_format(const struct wm_list_kernel *k, const struct wm_event_def *d,
			struct format *ret)
{
	struct wm_kmachine machine;
	size_t bytes;
	char *text;
	int err;

	if (!d->system || !k->space.tracefs ||
	    wm_tracefs_event_format(k->space.tracefs, d->system, d->event, &text, &bytes, NULL) < 0)
		return false;
	wm_arena_init(&ret->arena, FORMAT_ARENA);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = wm_kformat_parse(&ret->arena, &machine, d->system, text, bytes, &ret->format, NULL);
	free(text);
	if (err < 0)
		wm_arena_done(&ret->arena);
	return err == 0;
}

/* "char[16]", "u8[]", "unsigned long". */
static const char *type_text(const struct wm_kfield *f, char *buf, size_t bytes)
{
	if (f->flags & (WM_KFIELD_DYNAMIC | WM_KFIELD_TAIL))
		(void)snprintf(buf, bytes, "%s[]", f->type);
	else if (f->flags & WM_KFIELD_ARRAY)
		(void)snprintf(buf, bytes, "%s[%" PRIu32 "]", f->type, f->length);
	else
		(void)snprintf(buf, bytes, "%s", f->type);
	return buf;
}

static void print_format(const struct wm_list_kernel *k, const struct wm_event_def *d)
{
	struct format f;
	char type[128];

	if (!read_format(k, d, &f))
		return;
	for (uint16_t i = f.format->nr_common; i < f.format->nr_fields; i++) {
		(void)printf("      %-16s ", type_text(&f.format->fields[i], type, sizeof(type)));
		wm_say_clean(stdout, f.format->fields[i].name);
		(void)printf("\n");
	}
	if (*f.format->print) {
		(void)printf("      print ");
		wm_say_clean(stdout, f.format->print);
		(void)printf("\n");
	}
	wm_arena_done(&f.arena);
}

static void print_details(const struct wm_list_kernel *k, size_t at)
{
	const struct wm_event_def *d = &k->defs.defs[at];
	uint32_t nr = nr_places(&k->defs, at);

	print_format(k, d);
	for (uint32_t i = 0; d->path && i < nr; i++) {
		const struct wm_event_def *place = &d[i];

		(void)printf("      at 0x%" PRIx64 " of the file", place->offset);
		if (place->operands && *place->operands) {
			(void)printf(", operands ");
			wm_say_clean(stdout, place->operands);
		}
		if (place->semaphore_offset)
			(void)printf(", semaphore at 0x%" PRIx64, place->semaphore_offset);
		(void)printf("\n");
	}
}

/* ---- text --------------------------------------------------------------------------- */

static unsigned width_of_names(const struct wm_event_defs *defs)
{
	size_t width = strlen("EVENT");

	for (size_t i = 0; i < defs->nr; i++) {
		size_t bytes = strlen(defs->defs[i].name);

		width = bytes > width && bytes <= 60 ? bytes : width;
	}
	return (unsigned)width;
}

static void print_note(const struct wm_event_def *d, uint32_t places)
{
	const char *help = help_of(d);
	const struct wm_elf_usdt usdt = {.operands = d->operands ? d->operands : ""};
	unsigned operands = wm_elf_usdt_nr_operands(&usdt);

	if (*help)
		(void)printf("  %s", help);
	if (d->family == WM_FAMILY_USDT)
		(void)printf("  %u operand%s, %" PRIu32 " place%s%s", operands,
			     operands == 1 ? "" : "s", places, places == 1 ? "" : "s",
			     d->semaphore_offset ? ", semaphore" : "");
}

uint32_t wm_list_kernel_text(const struct wm_list_kernel *k, bool blank)
{
	unsigned width = width_of_names(&k->defs);
	uint32_t nr = 0;

	for (size_t i = 0; i < k->defs.nr; i++) {
		const struct wm_event_def *d = &k->defs.defs[i];
		int pad = (int)width - (int)strlen(d->name);

		if (d->more || d->implied)
			continue;
		if (!nr++)
			(void)printf("%skernel:\n  %-*s  KIND\n", blank ? "\n" : "", (int)width,
				     "EVENT");
		(void)printf("  ");
		wm_say_clean(stdout, d->name);
		(void)printf("%*s  %s", pad > 0 ? pad : 0, "", kind_name(d));
		print_note(d, nr_places(&k->defs, i));
		(void)printf("\n");
		if (k->fields)
			print_details(k, i);
		if (k->fields && i + 1 < k->defs.nr && k->defs.defs[i + 1].implied) {
			(void)printf("    when it returns:\n");
			print_details(k, i + 1);
		}
	}
	return nr;
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void json_format(const struct wm_list_kernel *k, const struct wm_event_def *d,
			const char *key, struct wm_json *j)
{
	struct format f;
	char type[128];

	if (!read_format(k, d, &f))
		return;
	wm_json_array(j, key);
	for (uint16_t i = f.format->nr_common; i < f.format->nr_fields; i++) {
		const struct wm_kfield *field = &f.format->fields[i];

		wm_json_object(j, NULL);
		wm_json_string(j, "name", field->name);
		wm_json_string(j, "type", type_text(field, type, sizeof(type)));
		wm_json_u64(j, "offset", field->offset);
		wm_json_u64(j, "bytes", field->bytes);
		wm_json_bool(j, "signed", field->flags & WM_KFIELD_SIGNED);
		wm_json_end(j);
	}
	wm_json_end(j);
	if (!d->implied)
		wm_json_string(j, "print", *f.format->print ? f.format->print : NULL);
	wm_arena_done(&f.arena);
}

static void json_places(const struct wm_event_def *d, uint32_t nr, struct wm_json *j)
{
	wm_json_string(j, "file", d->path);
	wm_json_array(j, "places");
	for (uint32_t i = 0; i < nr; i++) {
		wm_json_object(j, NULL);
		wm_json_u64(j, "offset", d[i].offset);
		if (d[i].operands)
			wm_json_string(j, "operands", d[i].operands);
		if (d[i].semaphore_offset)
			wm_json_u64(j, "semaphore", d[i].semaphore_offset);
		wm_json_end(j);
	}
	wm_json_end(j);
}

static void json_event(const struct wm_list_kernel *k, size_t at, struct wm_json *j)
{
	const struct wm_event_def *d = &k->defs.defs[at];
	const char *help = help_of(d);

	wm_json_object(j, NULL);
	wm_json_string(j, "name", d->name);
	wm_json_string(j, "kind", kind_name(d));
	if (*help)
		wm_json_string(j, "help", help);
	if (d->path)
		json_places(d, nr_places(&k->defs, at), j);
	if (k->fields && d->system)
		json_format(k, d, "fields", j);
	if (k->fields && at + 1 < k->defs.nr && d[1].implied)
		json_format(k, &d[1], "exit_fields", j);
	wm_json_end(j);
}

uint32_t wm_list_kernel_json(const struct wm_list_kernel *k, struct wm_json *j)
{
	uint32_t nr = 0;

	if (!k->defs.nr)
		return 0;
	wm_json_object(j, NULL);
	wm_json_bool(j, "kernel", true);
	wm_json_array(j, "events");
	for (size_t i = 0; i < k->defs.nr; i++) {
		if (k->defs.defs[i].more || k->defs.defs[i].implied)
			continue;
		json_event(k, i, j);
		nr++;
	}
	wm_json_end(j);
	wm_json_end(j);
	return nr;
}

/* ---- families ---------------------------------------------------------------------------- */

static int count_item(const struct wm_event_item *item, void *data)
{
	uint32_t *counts = data;

	counts[item->family]++;
	return 0;
}

struct family {
	const char *name, *what, *example;
	enum wm_event_family family; /* NR: they are put where one wants them, not counted */
};

static const struct family families[] = {
    {"tracepoint", "places the kernel's makers marked", "waymark list 'sched:*'",
     WM_FAMILY_TRACEPOINT},
    {"syscall", "what programs ask of the kernel", "waymark list 'syscall:open*'",
     WM_FAMILY_SYSCALL},
    {"sw", "what the kernel counts itself", "waymark list 'sw:*'", WM_FAMILY_SOFTWARE},
    {"cpu", "what the CPU counts", "waymark list 'cpu:*'", WM_FAMILY_HARDWARE},
    {"pmu", "other counters of the machine", "ls /sys/bus/event_source/devices", WM_FAMILY_PMU},
    {"usdt", "probes a program was built with", "waymark list 'usdt:BIN:*:*'", WM_FAMILY_NR},
    {"uprobe", "any function of a program", "waymark list 'func:BIN:*'", WM_FAMILY_NR},
    {"kprobe", "any function of the kernel", "waymark list 'func:kernel:vfs_*'", WM_FAMILY_NR},
    {"mem", "accesses to an address", "waymark stat -e mem:0x601040/8:w -- CMD", WM_FAMILY_NR},
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

/* Why a family cannot be used here; NULL: it can. */
static const char *missing(const struct wm_list_kernel *k, const struct family *f)
{
	bool tracefs = f->family == WM_FAMILY_TRACEPOINT || f->family == WM_FAMILY_SYSCALL;

	if (tracefs && !k->space.tracefs)
		return k->space.tracefs_diag.sentence;
	if (f->family == WM_FAMILY_HARDWARE && !k->space.hardware)
		return "this machine has no such counters, or does not give them to us";
	if (!strcmp(f->name, "kprobe") && !wm_pmu_named(&k->space.pmus, "kprobe"))
		return "this kernel was built without kprobes";
	if ((!strcmp(f->name, "uprobe") || !strcmp(f->name, "usdt")) &&
	    !wm_pmu_named(&k->space.pmus, "uprobe"))
		return "this kernel was built without uprobes";
	return NULL;
}

void wm_list_families_text(const struct wm_list_kernel *k)
{
	uint32_t counts[WM_FAMILY_NR] = {0};

	(void)wm_event_space_each(&k->space, count_item, counts);
	(void)printf("%-10s  %6s  %-33s  %s\n", "FAMILY", "EVENTS", "WHAT", "FOR EXAMPLE");
	(void)printf("%-10s  %6s  %-33s  %s\n", "program", "", "what programs were marked with",
		     "waymark list ./app");
	for (size_t i = 0; i < NR_FAMILIES; i++) {
		const struct family *f = &families[i];
		const char *why = missing(k, f);
		char count[16] = "any";

		if (f->family != WM_FAMILY_NR)
			(void)snprintf(count, sizeof(count), "%" PRIu32, counts[f->family]);
		(void)printf("%-10s  %6s  %-33s  ", f->name, why ? "-" : count, f->what);
		if (why)
			(void)printf("(%s)\n", why);
		else
			(void)printf("%s\n", f->example);
	}
	(void)printf(
	    "\nwaymark-events(7) explains the names; --fields shows what an event carries.\n");
}

void wm_list_families_json(const struct wm_list_kernel *k, struct wm_json *j)
{
	uint32_t counts[WM_FAMILY_NR] = {0};

	(void)wm_event_space_each(&k->space, count_item, counts);
	wm_json_object(j, NULL);
	wm_json_array(j, "families");
	for (size_t i = 0; i < NR_FAMILIES; i++) {
		const struct family *f = &families[i];
		const char *why = missing(k, f);

		wm_json_object(j, NULL);
		wm_json_string(j, "family", f->name);
		wm_json_string(j, "what", f->what);
		wm_json_string(j, "example", f->example);
		if (f->family != WM_FAMILY_NR && !why)
			wm_json_u64(j, "nr_events", counts[f->family]);
		wm_json_string(j, "missing", why);
		wm_json_end(j);
	}
	wm_json_end(j);
	wm_json_end(j);
}
