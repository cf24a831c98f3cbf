/* SPDX-License-Identifier: MIT */
/* columns.c - waymark print -F: the columns of perf's format, in perf script's syntax. */
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/print/print.h"
#include "cmd/say.h"

#define USUAL                                                                                      \
	(WM_VIEW_COMM | WM_VIEW_TID | WM_VIEW_CPU | WM_VIEW_TIME | WM_VIEW_PERIOD |                \
	 WM_VIEW_EVENT | WM_VIEW_TRACE | WM_VIEW_IP | WM_VIEW_SYM | WM_VIEW_SYMOFF | WM_VIEW_DSO)

static const struct {
	const char *name;
	uint32_t column;
} columns[] = {
    {"comm", WM_VIEW_COMM},       {"tid", WM_VIEW_TID},
    {"pid", WM_VIEW_PID},         {"cpu", WM_VIEW_CPU},
    {"time", WM_VIEW_TIME},       {"period", WM_VIEW_PERIOD},
    {"event", WM_VIEW_EVENT},     {"trace", WM_VIEW_TRACE},
    {"ip", WM_VIEW_IP},           {"sym", WM_VIEW_SYM},
    {"symoff", WM_VIEW_SYMOFF},   {"dso", WM_VIEW_DSO},
    {"brstack", WM_VIEW_BRSTACK}, {"brstacksym", WM_VIEW_BRSTACKSYM},
};

static uint32_t column_of(const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!strcmp(columns[i].name, name))
			return columns[i].column;
	return 0;
}

/* Adds a column or, after a minus sign, removes it. False: there is no column with that name. */
static bool columns_apply(const char *word, bool first, uint32_t *mask)
{
	bool less = *word == '-', more = *word == '+';
	uint32_t column = column_of(word + (less || more));

	if (first)
		*mask = less || more ? USUAL : 0;
	*mask = less ? *mask & ~column : *mask | column;
	return column;
}

/* Whether the columns describe an address that no column shows. */
static bool needs_address(uint32_t mask)
{
	if (mask & WM_VIEW_DSO && mask & (WM_VIEW_BRSTACK | WM_VIEW_BRSTACKSYM))
		mask &= ~(uint32_t)WM_VIEW_DSO;
	return mask & (WM_VIEW_SYM | WM_VIEW_SYMOFF | WM_VIEW_DSO) && !(mask & WM_VIEW_IP);
}

int wm_print_columns(const char *list, uint32_t *ret)
{
	char *copy = strdup(list), *at, *save = NULL;
	const char *colon = strchr(list, ':');
	uint32_t mask = 0;
	bool first = true, ok = copy && !colon;

	for (at = ok ? strtok_r(copy, ",", &save) : NULL; at && ok;
	     at = strtok_r(NULL, ",", &save)) {
		ok = columns_apply(at, first, &mask);
		if (!ok)
			wm_say("print: -F: '%s' is not one of comm, tid, pid, cpu, time, period, "
			       "event, trace, ip, sym, symoff, dso, brstack, brstacksym",
			       at);
		first = false;
	}
	free(copy);
	if (colon)
		wm_say("print: -F: columns are the same for all kinds of events; omit '%.*s:'",
		       (int)(colon - list), list);
	else if (ok && !mask)
		wm_say("print: -F needs the name of a column");
	else if (ok && needs_address(mask))
		wm_say("print: -F: sym, symoff and dso need ip, which is not selected");
	else if (ok) {
		*ret = mask;
		return WM_EXIT_DONE;
	}
	return WM_EXIT_USAGE;
}
