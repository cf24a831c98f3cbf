/* SPDX-License-Identifier: MIT */
/*
 * kernel_print.c - prints the kernel's events and families as text and JSON; see
 * kernel.h. Fields come from tracefs, as the kernel declares them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/list/kernel.h"
#include "cmd/list/variables.h"
#include "cmd/say.h"
#include "control/kernel_events.h"
#include "elf/usdt.h"
#include "kernel/event_fields.h"
#include "kernel/proc_files.h"

/* Converts a schema's type letters to a type name. */
static const char *counter_type(const struct wm_proc_field *f)
{
	return f->type[0] == 's'   ? "string"
	       : f->type[0] == 'f' ? "f64"
	       : f->type[0] == 'i' ? "i64"
	       : f->type[1] == '4' ? "u32"
				   : "u64";
}

/* Prints the fields of /proc counters, as in this kernel's files. */
static void print_counters(const struct wm_event_def *d)
{
	struct wm_kproc_plan *plan;

	if (!d->proc || wm_proc_learn(d->proc, &plan, NULL) < 0)
		return;
	for (size_t i = 0; i < wm_kproc_plan_nr_fields(plan); i++) {
		const struct wm_proc_field *f = wm_kproc_plan_field(plan, i);

		(void)printf("      %-6s %s%s%s\n", counter_type(f), f->name, *f->unit ? "  " : "",
			     f->unit);
	}
	wm_kproc_plan_destroy(plan);
}

static void print_format(const struct wm_inventory_kernel *k, const struct wm_event_def *d)
{
	struct wm_event_fields f;
	char type[128];

	if (!wm_event_fields_read(&k->space, d, &f))
		return;
	for (uint16_t i = f.format->nr_common; i < f.format->nr_fields; i++) {
		(void)printf("      %-16s ",
			     wm_event_fields_type(&f.format->fields[i], type, sizeof(type)));
		wm_say_clean(stdout, f.format->fields[i].name);
		(void)printf("\n");
	}
	if (*f.format->print) {
		(void)printf("      print ");
		wm_say_clean(stdout, f.format->print);
		(void)printf("\n");
	}
	wm_event_fields_done(&f);
}

static void kernel_print_details(const struct wm_inventory_kernel *k, size_t at)
{
	const struct wm_event_def *d = &k->defs.defs[at];
	uint32_t nr = (uint32_t)wm_recorder_kernel_places(&k->defs, at);

	print_format(k, d);
	print_counters(d);
	for (uint32_t i = 0; d->path && i < nr; i++) {
		const struct wm_event_def *place = &d[i];

		(void)printf("      at file offset 0x%" PRIx64, place->offset);
		if (place->operands && *place->operands) {
			(void)printf(", operands ");
			wm_say_clean(stdout, place->operands);
		}
		if (place->semaphore_offset)
			(void)printf(", semaphore at 0x%" PRIx64, place->semaphore_offset);
		(void)printf("\n");
		wm_list_variables_text(k, place);
	}
	if (!d->path)
		wm_list_variables_text(k, d);
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
	const char *help = wm_inventory_kernel_help(d);
	const struct wm_elf_usdt usdt = {.operands = d->operands ? d->operands : ""};
	unsigned operands = wm_elf_usdt_nr_operands(&usdt);

	if (*help)
		(void)printf("  %s", help);
	if (d->family == WM_FAMILY_USDT)
		(void)printf("  %u %s, %" PRIu32 " %s%s", operands,
			     wm_plural(operands, "operand", "operands"), places,
			     wm_plural(places, "place", "places"),
			     d->semaphore_offset ? ", semaphore" : "");
}

uint32_t wm_list_kernel_text(const struct wm_inventory_kernel *k, bool blank)
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
		(void)printf("%*s  %s", pad > 0 ? pad : 0, "", wm_inventory_kernel_kind(d));
		print_note(d, (uint32_t)wm_recorder_kernel_places(&k->defs, i));
		(void)printf("\n");
		if (k->fields)
			kernel_print_details(k, i);
		if (k->fields && i + 1 < k->defs.nr && k->defs.defs[i + 1].implied) {
			(void)printf("    at its return:\n");
			kernel_print_details(k, i + 1);
		}
	}
	return nr;
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void json_format(const struct wm_inventory_kernel *k, const struct wm_event_def *d,
			const char *key, struct wm_json *j)
{
	struct wm_event_fields f;
	char type[128];

	if (!wm_event_fields_read(&k->space, d, &f))
		return;
	wm_json_array(j, key);
	for (uint16_t i = f.format->nr_common; i < f.format->nr_fields; i++) {
		const struct wm_kfield *field = &f.format->fields[i];

		wm_json_object(j, NULL);
		wm_json_string(j, "name", field->name);
		wm_json_string(j, "type", wm_event_fields_type(field, type, sizeof(type)));
		wm_json_u64(j, "offset", field->offset);
		wm_json_u64(j, "bytes", field->bytes);
		wm_json_bool(j, "signed", field->flags & WM_KFIELD_SIGNED);
		wm_json_end(j);
	}
	wm_json_end(j);
	if (!d->implied)
		wm_json_string(j, "print", *f.format->print ? f.format->print : NULL);
	wm_event_fields_done(&f);
}

static void json_counters(const struct wm_proc_event *e, struct wm_json *j)
{
	struct wm_kproc_plan *plan;

	if (wm_proc_learn(e, &plan, NULL) < 0)
		return;
	wm_json_array(j, "fields");
	for (size_t i = 0; i < wm_kproc_plan_nr_fields(plan); i++) {
		const struct wm_proc_field *f = wm_kproc_plan_field(plan, i);

		wm_json_object(j, NULL);
		wm_json_string(j, "name", f->name);
		wm_json_string(j, "type", counter_type(f));
		wm_json_string(j, "unit", *f->unit ? f->unit : NULL);
		wm_json_end(j);
	}
	wm_json_end(j);
	wm_kproc_plan_destroy(plan);
}

static void json_places(const struct wm_inventory_kernel *k, const struct wm_event_def *d,
			uint32_t nr, struct wm_json *j)
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
		wm_list_variables_json(k, &d[i], j);
		wm_json_end(j);
	}
	wm_json_end(j);
}

static void kernel_print_json_event(const struct wm_inventory_kernel *k, size_t at,
				    struct wm_json *j)
{
	const struct wm_event_def *d = &k->defs.defs[at];
	const char *help = wm_inventory_kernel_help(d);

	wm_json_object(j, NULL);
	wm_json_string(j, "name", d->name);
	wm_json_string(j, "kind", wm_inventory_kernel_kind(d));
	if (*help)
		wm_json_string(j, "help", help);
	if (d->path)
		json_places(k, d, (uint32_t)wm_recorder_kernel_places(&k->defs, at), j);
	else
		wm_list_variables_json(k, d, j);
	if (k->fields && d->system)
		json_format(k, d, "fields", j);
	if (k->fields && d->proc)
		json_counters(d->proc, j);
	if (k->fields && at + 1 < k->defs.nr && d[1].implied)
		json_format(k, &d[1], "exit_fields", j);
	wm_json_end(j);
}

uint32_t wm_list_kernel_json(const struct wm_inventory_kernel *k, struct wm_json *j)
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
		kernel_print_json_event(k, i, j);
		nr++;
	}
	wm_json_end(j);
	wm_json_end(j);
	return nr;
}

/* ---- families ---------------------------------------------------------------------------- */

void wm_list_families_text(const struct wm_inventory_kernel *k)
{
	struct wm_inventory_family families[WM_INVENTORY_FAMILIES];

	wm_inventory_kernel_families(k, families);
	(void)printf("%-10s  %6s  %-33s  %s\n", "FAMILY", "EVENTS", "WHAT", "FOR EXAMPLE");
	(void)printf("%-10s  %6s  %-33s  %s\n", "program", "", "tracepoints in programs",
		     "waymark list ./app");
	for (size_t i = 0; i < WM_INVENTORY_FAMILIES; i++) {
		const struct wm_inventory_family *f = &families[i];
		char count[16] = "any";

		if (f->is_counted)
			(void)snprintf(count, sizeof(count), "%" PRIu32, f->nr_events);
		(void)printf("%-10s  %6s  %-33s  ", f->name, f->missing ? "-" : count, f->what);
		if (f->missing)
			(void)printf("(%s)\n", f->missing);
		else
			(void)printf("%s\n", f->example);
	}
	(void)printf(
	    "\nwaymark-events(7) explains the names; --fields lists the fields of events.\n");
}

void wm_list_families_json(const struct wm_inventory_kernel *k, struct wm_json *j)
{
	struct wm_inventory_family families[WM_INVENTORY_FAMILIES];

	wm_inventory_kernel_families(k, families);
	wm_json_object(j, NULL);
	wm_json_array(j, "families");
	for (size_t i = 0; i < WM_INVENTORY_FAMILIES; i++) {
		const struct wm_inventory_family *f = &families[i];

		wm_json_object(j, NULL);
		wm_json_string(j, "family", f->name);
		wm_json_string(j, "what", f->what);
		wm_json_string(j, "example", f->example);
		if (f->is_counted && !f->missing)
			wm_json_u64(j, "nr_events", f->nr_events);
		wm_json_string(j, "missing", f->missing);
		wm_json_end(j);
	}
	wm_json_end(j);
	wm_json_end(j);
}
