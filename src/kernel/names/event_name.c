/* SPDX-License-Identifier: MIT */
/* event_name.c - turns names into events; see event_name.h. */
#include "kernel/event_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/nearest.h"
#include "kernel/probes/event_place.h"

/* ---- listed events -------------------------------------------------------------------- */

struct match {
	const struct wm_event_space *space;
	const char *pattern;
	size_t bytes;
	bool whole; /* the pattern contains a ':', so full names are compared */
	enum wm_event_phase phase;
	const struct wm_event_def *modifiers;
	const char *suffix;
	struct wm_event_defs *defs;
	struct wm_diag *diag;
};

static bool event_name_matches(const struct match *m, const char *name)
{
	return name && wm_glob_match(m->pattern, m->bytes, name, strlen(name));
}

/*
 * Whether the pattern may select the item. A system call is also two tracepoints, but only its own
 * family selects it. /proc counters have names that mean something else elsewhere ("stat") and cost
 * more than events, so a wildcard for all events does not include them.
 */
static bool event_name_is_meant(const struct match *m, const struct wm_event_item *item)
{
	char alias[64];

	if (item->family == WM_FAMILY_SYSCALL && (!m->whole || strncmp(m->pattern, "syscall:", 8)))
		return false;
	if (item->family == WM_FAMILY_PROC)
		return m->whole && !strncmp(m->pattern, "proc:", 5) &&
		       event_name_matches(m, item->name);
	if (!m->whole)
		return event_name_matches(m, item->family == WM_FAMILY_TRACEPOINT ? item->event
										  : item->last) ||
		       event_name_matches(m, item->alias);
	if (event_name_matches(m, item->name))
		return true;
	if (!item->alias)
		return false;
	(void)snprintf(alias, sizeof(alias), "%s:%s", wm_event_family_name(item->family),
		       item->alias);
	return event_name_matches(m, alias);
}

static int on_item(const struct wm_event_item *item, void *data)
{
	struct match *m = data;

	if (!event_name_is_meant(m, item))
		return 0;
	/*
	 * A wildcard matches only available events; an exact name is tried, and refused with the
	 * reason.
	 */
	if (item->family == WM_FAMILY_HARDWARE && !m->space->hardware &&
	    wm_glob_is_pattern(m->pattern, m->bytes))
		return 0;
	return wm_event_space_add(m->space, item, m->phase, m->modifiers, m->suffix, m->defs,
				  m->diag);
}

/* Adds the listed events that match. Returns the number added or -errno. */
static int match_list(struct match *m, const char *pattern, size_t bytes)
{
	size_t before = m->defs->nr;
	int err;

	m->pattern = pattern;
	m->bytes = bytes;
	m->whole = memchr(pattern, ':', bytes) != NULL;
	err = wm_event_space_each(m->space, on_item, m);
	return err < 0 ? err : (int)(m->defs->nr - before);
}

/* Splits "syscall:NAME:enter" into its phase and the length of the rest. */
static enum wm_event_phase phase_of(const char *pattern, size_t *bytes)
{
	static const struct {
		const char *text;
		enum wm_event_phase phase;
	} phases[] = {{":enter", WM_PHASE_ENTER}, {":exit", WM_PHASE_EXIT}};

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(phases[i].text);

		if (*bytes > n + strlen("syscall:") && !strncmp(pattern, "syscall:", 8) &&
		    !strcmp(pattern + *bytes - n, phases[i].text)) {
			*bytes -= n;
			return phases[i].phase;
		}
	}
	return WM_PHASE_NONE;
}

static int resolve_listed(struct match *m, const char *pattern)
{
	struct wm_event_def modifiers = {0};
	size_t bytes = strlen(pattern);
	const char *colon = strrchr(pattern, ':');
	int nr;

	m->phase = phase_of(pattern, &bytes);
	m->modifiers = &modifiers;
	m->suffix = "";
	nr = match_list(m, pattern, bytes);
	if (nr || !colon || !wm_event_def_modify(&modifiers, colon + 1))
		return nr;
	m->suffix = colon;
	return match_list(m, pattern, (size_t)(colon - pattern));
}

/* ---- PMU terms and raw numbers ------------------------------------------------------- */

/* Resolves a raw number such as "r01c2" or "r1c:u". Returns 0 if the pattern is not one. */
static int resolve_raw(const char *pattern, struct wm_event_defs *defs)
{
	struct wm_event_def def = {0};
	size_t digits = *pattern == 'r' ? strspn(pattern + 1, "0123456789abcdefABCDEF") : 0;
	const char *rest = pattern + 1 + digits;
	int err;

	if (!digits || digits > 16 || (*rest && *rest != ':') ||
	    (*rest == ':' && !wm_event_def_modify(&def, rest + 1)))
		return 0;
	def.family = WM_FAMILY_HARDWARE;
	def.name = pattern;
	def.type = PERF_TYPE_RAW;
	def.config = strtoull(pattern + 1, NULL, 16);
	err = wm_event_defs_add(defs, &def);
	return err < 0 ? err : 1;
}

/* Resolves "PMU/TERMS/" or "PMU/TERMS/u". Returns 0 if the pattern does not have this form. */
static int resolve_terms(const struct wm_event_space *s, const char *pattern,
			 struct wm_event_defs *defs, struct wm_diag *diag)
{
	struct wm_event_def def = {0};
	const char *first = strchr(pattern, '/'), *last = strrchr(pattern, '/');
	char *name, *terms;
	const struct wm_pmu *pmu;
	int err;

	if (!first || first == last || first == pattern || strchr(pattern, ':') ||
	    (last[1] && !wm_event_def_modify(&def, last + 1)))
		return 0;
	name = strndup(pattern, (size_t)(first - pattern));
	terms = strndup(first + 1, (size_t)(last - first - 1));
	pmu = name ? wm_pmu_named(&s->pmus, name) : NULL;
	if (!name || !terms)
		err = -ENOMEM;
	else if (!pmu)
		err = wm_diag_set(diag, -ENOENT, NULL, -1,
				  "this machine has no event source '%.60s'; %s lists them", name,
				  WM_PMU_FOLDER);
	else
		err = wm_pmu_terms(&s->pmus, pmu, terms, &def, diag);
	free(name);
	free(terms);
	if (err < 0)
		return err;
	def.family = WM_FAMILY_PMU;
	def.name = pattern;
	err = wm_event_defs_add(defs, &def);
	return err < 0 ? err : 1;
}

/* ---- no match --------------------------------------------------------------------------- */

struct offer {
	struct wm_nearest near;
	bool whole, wild;
	char system[WM_TRACEFS_NAME_MAX]; /* the system last offered with a wildcard */
};

/* Offers "sched:*" for "shced:*". */
static void offer_system(struct offer *o, const struct wm_event_item *item)
{
	char all[WM_TRACEFS_NAME_MAX + 4];

	if (!strcmp(o->system, item->system))
		return;
	(void)snprintf(o->system, sizeof(o->system), "%s", item->system);
	(void)snprintf(all, sizeof(all), "%s:*", item->system);
	wm_nearest_offer(&o->near, all);
}

static int on_offer(const struct wm_event_item *item, void *data)
{
	struct offer *o = data;
	bool full = o->whole || item->family == WM_FAMILY_SYSCALL || item->family == WM_FAMILY_PROC;

	if (o->wild && item->family == WM_FAMILY_TRACEPOINT)
		offer_system(o, item);
	wm_nearest_offer(&o->near, full                                   ? item->name
				   : item->family == WM_FAMILY_TRACEPOINT ? item->event
									  : item->last);
	return 0;
}

static int no_match(const struct wm_event_space *s, const char *pattern, struct wm_diag *diag)
{
	struct offer o = {.whole = strchr(pattern, ':') != NULL,
			  .wild = wm_glob_is_pattern(pattern, strlen(pattern))};
	char hint[160];

	wm_nearest_init(&o.near, pattern);
	(void)wm_event_space_each(s, on_offer, &o);
	wm_nearest_sentence(&o.near, "", hint, sizeof(hint));
	if (!s->tracefs && !*hint)
		return wm_diag_set(diag, s->tracefs_err, NULL, -1,
				   "cannot search the kernel's tracepoints for '%.60s': %s",
				   pattern, s->tracefs_diag.sentence);
	return wm_diag_set(diag, -ENOENT, NULL, -1, "no kernel event matches '%.60s'; %s", pattern,
			   *hint ? hint : "run 'waymark list' to see all events");
}

/* ---- the families ------------------------------------------------------------------------- */

static const struct {
	const char *family;
	int (*resolve)(const struct wm_event_place *p);
} places[] = {
    {"uprobe", wm_event_place_uprobe}, {"uretprobe", wm_event_place_uprobe},
    {"usdt", wm_event_place_usdt},     {"func", wm_event_place_function},
    {"kprobe", wm_event_place_kprobe}, {"kretprobe", wm_event_place_kprobe},
    {"mem", wm_event_place_memory},    {"eprobe", wm_event_place_event},
};

/* Cuts "(arguments)" off the end of a name and returns the arguments; NULL if there are none. */
static const char *split_arguments(char *name)
{
	char *end = name + strlen(name) - 1, *at = end;
	int depth = 0;

	if (*end != ')')
		return NULL;
	for (; at > name; at--) {
		depth += (*at == ')') - (*at == '(');
		if (!depth)
			break;
	}
	if (at == name)
		return NULL;
	*at = *end = '\0';
	return at + 1;
}

/* Resolves a pattern that names a place. Returns 0 if it does not. */
static int resolve_place(const struct wm_event_space *s, const char *pattern,
			 struct wm_event_defs *defs, struct wm_diag *diag)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t n = strlen(places[i].family);
		struct wm_event_place p = {
		    .space = s, .family = places[i].family, .defs = defs, .diag = diag};
		char *copy;
		int err;

		if (strncmp(pattern, places[i].family, n) || pattern[n] != ':')
			continue;
		copy = strdup(pattern);
		if (!copy)
			return -ENOMEM;
		p.arguments = split_arguments(copy);
		p.text = copy + n + 1;
		err = places[i].resolve(&p);
		/*
		 * diag->column counts from the start of the arguments, but the user typed the whole
		 * name.
		 */
		if (err < 0 && diag && diag->column && p.arguments)
			diag->column += (uint32_t)(p.arguments - copy);
		free(copy);
		return err;
	}
	return 0;
}

/*
 * Marks the events from index `before` on as one of many if one pattern's wildcard found several.
 */
static void note_many(struct wm_event_defs *defs, size_t before, const char *pattern)
{
	const char *first = before < defs->nr ? defs->defs[before].name : NULL;
	bool many = false;

	for (size_t i = before; i < defs->nr && !many; i++)
		many = strcmp(defs->defs[i].name, first) != 0;
	for (size_t i = before; i < defs->nr; i++)
		defs->defs[i].one_of_many = many && wm_glob_is_pattern(pattern, strlen(pattern));
}

int wm_event_name_resolve(const struct wm_event_space *s, const char *pattern,
			  struct wm_event_defs *defs, struct wm_diag *diag)
{
	struct match m = {.space = s, .defs = defs, .diag = diag};
	size_t before = defs->nr;
	int nr;

	if (!*pattern || strlen(pattern) >= WM_EVENT_PATTERN_MAX)
		return wm_diag_set(diag, -EINVAL, NULL, -1, "%s",
				   *pattern ? "the name of the event is too long"
					    : "the name of an event is empty");
	if (!strncmp(pattern, "user:", 5))
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "'%.80s' is a program's event, not a kernel event", pattern);
	if (!strncmp(pattern, "kernel:", 7))
		pattern += 7;
	nr = resolve_place(s, pattern, defs, diag);
	if (!nr)
		nr = resolve_terms(s, pattern, defs, diag);
	if (!nr)
		nr = resolve_listed(&m, pattern);
	if (!nr)
		nr = resolve_raw(pattern, defs);
	note_many(defs, before, pattern);
	return nr ? nr : no_match(s, pattern, diag);
}

/* Whether this '/' follows a PMU's name at the start of a pattern. */
static bool begins_terms(const char *start, const char *slash)
{
	if (slash == start)
		return false;
	for (const char *p = start; p < slash; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	}
	return true;
}

size_t wm_event_name_next(const char **list, const char **ret_start)
{
	const char *p = *list, *start;
	int depth = 0;

	p += strspn(p, ",");
	start = p;
	while (*p && (*p != ',' || depth > 0)) {
		const char *end = *p == '/' && begins_terms(start, p) ? strchr(p + 1, '/') : NULL;

		depth += (*p == '(') - (*p == ')');
		p = end ? end + 1 : p + 1;
	}
	*ret_start = start;
	*list = p;
	return (size_t)(p - start);
}
