/* SPDX-License-Identifier: MIT */
/*
 * print.c - prints the list as text and as JSON. Names, print formats and paths come from other
 * users' files: control bytes are escaped before they reach the terminal. See list.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <waymark/abi.h>

#include "base/json.h"
#include "base/plural.h"
#include "cmd/list/list.h"
#include "cmd/say.h"

#define LABELS_SHOWN 16u /* maximum labels of an enumeration in text output */
#define PIDS_SHOWN   16u

/* ---- text ------------------------------------------------------------------ */

static void print_field(const struct wm_field *f)
{
	char type[64];

	(void)printf("      %-10s %s", wm_inventory_type(f, type, sizeof(type)), f->name);
	for (uint32_t i = 0; i < f->nr_labels && i < LABELS_SHOWN; i++) {
		(void)printf("%s", i ? ", " : " {");
		wm_say_clean(stdout, f->labels[i].name);
		(void)printf("=%" PRId64, f->labels[i].value);
	}
	if (f->nr_labels)
		(void)printf("%s}", f->nr_labels > LABELS_SHOWN ? ", ..." : "");
	(void)printf("\n");
}

static void print_place(const struct wm_inventory_place *p)
{
	(void)printf("      site");
	if (p->function) {
		(void)printf(" in ");
		wm_say_clean(stdout, p->function->name);
		(void)printf("+0x%" PRIx64, p->address - p->function->address);
	} else if (p->address) {
		(void)printf(" at 0x%" PRIx64, p->address);
	}
	if (p->source) {
		(void)printf(" (");
		wm_say_clean(stdout, p->source);
		(void)printf(":%" PRIu32 ")", p->line);
	} else if (!p->address) {
		(void)printf(" without an address (built with WAYMARK_LOADTEST)");
	}
	(void)printf("\n");
}

static void list_print_details(const struct wm_inventory_event *e)
{
	const struct wm_class *c = e->class;

	for (uint32_t i = 0; i < c->nr_fields; i++)
		print_field(&c->fields[i]);
	if (c->print) {
		(void)printf("      print \"");
		wm_say_clean(stdout, c->print);
		(void)printf("\"\n");
	}
	if (*c->file && c->kind != WAYMARK_KIND_MARKER && c->kind != WAYMARK_KIND_PRINTF) {
		(void)printf("      declared in ");
		wm_say_clean(stdout, c->file);
		(void)printf(":%" PRIu32 "\n", c->line);
	}
	if (c->carrier) {
		(void)printf("      attached to ");
		wm_say_clean(stdout, c->carrier);
		(void)printf(" (");
		wm_say_clean(stdout, *c->file ? c->file : "?");
		(void)printf(":%" PRIu32 ")\n", c->line);
	}
	for (uint32_t i = 0; e->places && !c->carrier && i < e->nr_sites; i++)
		print_place(&e->places[i]);
}

static const char *state_text(const struct wm_inventory_group *g,
			      const struct wm_inventory_member *m, uint32_t event, char *buf,
			      size_t size)
{
	if (m->unknown[event])
		return "?";
	if (m->on[event] && m->on[event] < g->nr_pids) {
		(void)snprintf(buf, size, "on in %" PRIu32, m->on[event]);
		return buf;
	}
	return m->on[event] ? "on" : "off";
}

static void print_event(const struct wm_inventory *l, const struct wm_inventory_group *g,
			const struct wm_inventory_member *m, uint32_t index, int width)
{
	const struct wm_inventory_event *e = &m->file->events[index];
	int length = (int)(strlen(e->class->provider) + 1 + strlen(e->class->name));
	char state[24];

	(void)printf("  ");
	wm_say_clean(stdout, e->class->provider);
	(void)printf(":");
	wm_say_clean(stdout, e->class->name);
	(void)printf("%*s  %-10s  %-7s  %5" PRIu32, width > length ? width - length : 0, "",
		     wm_inventory_kind(e->class), wm_inventory_level(e->class), e->nr_sites);
	if (g->nr_pids)
		(void)printf("  %s", state_text(g, m, index, state, sizeof(state)));
	(void)printf("\n");
	if (l->fields)
		list_print_details(e);
}

static void print_title(const struct wm_inventory_group *g)
{
	wm_say_clean(stdout, g->title);
	if (g->nr_pids)
		(void)printf(" (%s", wm_plural(g->nr_pids, "pid", "pids"));
	for (uint32_t i = 0; i < g->nr_pids && i < PIDS_SHOWN; i++)
		(void)printf(" %" PRId64, (int64_t)g->pids[i]);
	if (g->nr_pids > PIDS_SHOWN)
		(void)printf(" and %" PRIu32 " more", g->nr_pids - PIDS_SHOWN);
	(void)printf("%s\n", g->nr_pids ? "):" : ":");
	if (g->nr_pids && !g->runtime)
		(void)printf("  (no event can be recorded: libwaymark-rt is not loaded; preload "
			     "it, or link it with the flags of pkg-config)\n");
}

/* Counts the selected events in a group and measures the longest name. */
static uint32_t list_print_measure(const struct wm_inventory_group *g, const struct wm_rules *rules,
				   int *ret_width)
{
	uint32_t nr = 0;
	int width = (int)strlen("EVENT");

	for (uint32_t i = 0; i < g->nr_members; i++) {
		for (uint32_t e = 0; e < g->members[i].file->nr_events; e++) {
			const struct wm_class *c = g->members[i].file->events[e].class;
			int length = (int)(strlen(c->provider) + 1 + strlen(c->name));

			if (!wm_inventory_wants(rules, c))
				continue;
			nr++;
			width = length > width ? length : width;
		}
	}
	*ret_width = width < 60 ? width : 60;
	return nr;
}

static void print_group(const struct wm_inventory *l, const struct wm_inventory_group *g,
			const struct wm_rules *rules, int width)
{
	(void)printf("  %-*s  %-10s  %-7s  %5s%s\n", width, "EVENT", "KIND", "LEVEL", "SITES",
		     g->nr_pids ? "  STATE" : "");
	for (uint32_t i = 0; i < g->nr_members; i++) {
		const struct wm_inventory_member *m = &g->members[i];

		for (uint32_t e = 0; e < m->file->nr_events; e++) {
			if (wm_inventory_wants(rules, m->file->events[e].class))
				print_event(l, g, m, e, width);
		}
	}
}

uint32_t wm_list_print_text(const struct wm_inventory *l, const struct wm_rules *rules)
{
	uint32_t nr = 0, blank = 0;

	for (uint32_t i = 0; i < l->nr_groups; i++) {
		const struct wm_inventory_group *g = &l->groups[i];
		int width;
		uint32_t wanted = list_print_measure(g, rules, &width);

		if (!wanted && (rules || !g->nr_pids))
			continue;
		(void)printf("%s", blank++ ? "\n" : "");
		print_title(g);
		if (wanted)
			print_group(l, g, rules, width);
		nr += wanted;
	}
	return nr;
}

/* ---- JSON -------------------------------------------------------------------- */

static void json_field(struct wm_json *j, const struct wm_field *f)
{
	char type[64];

	wm_json_object(j, NULL);
	wm_json_string(j, "name", f->name);
	wm_json_string(j, "type", wm_inventory_type(f, type, sizeof(type)));
	if (f->nr_labels)
		wm_json_object(j, "labels");
	for (uint32_t i = 0; i < f->nr_labels; i++)
		wm_json_i64(j, f->labels[i].name, f->labels[i].value);
	if (f->nr_labels)
		wm_json_end(j);
	wm_json_end(j);
}

static void json_place(struct wm_json *j, const struct wm_inventory_place *p)
{
	wm_json_object(j, NULL);
	if (p->address)
		wm_json_u64(j, "address", p->address);
	if (p->function) {
		wm_json_string(j, "function", p->function->name);
		wm_json_u64(j, "offset", p->address - p->function->address);
	}
	if (p->source) {
		wm_json_string(j, "file", p->source);
		wm_json_u64(j, "line", p->line);
	}
	wm_json_end(j);
}

static void list_print_json_event(struct wm_json *j, const struct wm_inventory_group *g,
				  const struct wm_inventory_member *m, uint32_t index)
{
	const struct wm_inventory_event *e = &m->file->events[index];
	const struct wm_class *c = e->class;

	wm_json_object(j, NULL);
	wm_json_string(j, "provider", c->provider);
	wm_json_string(j, "name", c->name);
	wm_json_string(j, "kind", wm_inventory_kind(c));
	wm_json_string(j, "level", wm_inventory_level(c));
	wm_json_u64(j, "nr_sites", e->nr_sites);
	if (g->nr_pids) {
		wm_json_string(j, "module", m->file->path);
		if (m->unknown[index])
			wm_json_null(j, "on");
		else
			wm_json_u64(j, "on", m->on[index]);
	}
	wm_json_array(j, "fields");
	for (uint32_t i = 0; i < c->nr_fields; i++)
		json_field(j, &c->fields[i]);
	wm_json_end(j);
	wm_json_string(j, "print", c->print);
	wm_json_string(j, "file", *c->file ? c->file : NULL);
	wm_json_u64(j, "line", c->line);
	wm_json_string(j, "rides_on", c->carrier);
	wm_json_array(j, "sites");
	for (uint32_t i = 0; e->places && i < e->nr_sites; i++)
		json_place(j, &e->places[i]);
	wm_json_end(j);
	wm_json_end(j);
}

static void json_build_id(struct wm_json *j, const struct wm_elf *e)
{
	char hex[2 * WM_ELF_BUILD_ID_MAX + 1];

	if (!e || !e->build_id_bytes)
		return;
	for (uint32_t i = 0; i < e->build_id_bytes; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", e->build_id[i]);
	wm_json_string(j, "build_id", hex);
}

static uint32_t json_group(struct wm_json *j, const struct wm_inventory_group *g,
			   const struct wm_rules *rules)
{
	uint32_t nr = 0;

	wm_json_object(j, NULL);
	wm_json_string(j, g->nr_pids ? "command" : "file", g->title);
	if (g->nr_pids) {
		wm_json_array(j, "pids");
		for (uint32_t i = 0; i < g->nr_pids; i++)
			wm_json_i64(j, NULL, g->pids[i]);
		wm_json_end(j);
		wm_json_bool(j, "runtime", g->runtime);
	} else if (g->nr_members) {
		json_build_id(j, g->members[0].file->elf);
	}
	wm_json_array(j, "events");
	for (uint32_t i = 0; i < g->nr_members; i++) {
		for (uint32_t e = 0; e < g->members[i].file->nr_events; e++) {
			if (!wm_inventory_wants(rules, g->members[i].file->events[e].class))
				continue;
			list_print_json_event(j, g, &g->members[i], e);
			nr++;
		}
	}
	wm_json_end(j);
	wm_json_end(j);
	return nr;
}

uint32_t wm_list_print_json(const struct wm_inventory *l, const struct wm_rules *rules,
			    struct wm_json *j)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < l->nr_groups; i++)
		nr += json_group(j, &l->groups[i], rules);
	return nr;
}
