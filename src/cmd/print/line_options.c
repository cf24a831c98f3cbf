/* SPDX-License-Identifier: MIT */
/* line_options.c - the options for line layout: times, names, what precedes an event's name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/exit.h"
#include "cmd/print/print.h"
#include "cmd/say.h"

struct word_bit {
	const char *word;
	uint32_t bits;
};

static const struct word_bit name_words[] = {
    {"payload", WM_VIEW_NAMES_PAYLOAD},
    {"context", WM_VIEW_NAMES_CONTEXT},
    {"scope", WM_VIEW_NAMES_SCOPE},
    {"header", WM_VIEW_NAMES_HEADER},
    {"all",
     WM_VIEW_NAMES_PAYLOAD | WM_VIEW_NAMES_CONTEXT | WM_VIEW_NAMES_SCOPE | WM_VIEW_NAMES_HEADER},
    {"none", 0},
    {NULL, 0},
};

static const struct word_bit head_words[] = {
    {"trace", WM_VIEW_HEAD_TRACE},
    {"trace:hostname", WM_VIEW_HEAD_HOSTNAME},
    {"trace:domain", WM_VIEW_HEAD_DOMAIN},
    {"trace:procname", WM_VIEW_HEAD_PROCNAME},
    {"trace:vpid", WM_VIEW_HEAD_VPID},
    {"stream", WM_VIEW_HEAD_STREAM},
    {"loglevel", WM_VIEW_HEAD_LEVEL},
    {"all", WM_VIEW_HEAD_TRACE | WM_VIEW_HEAD_HOSTNAME | WM_VIEW_HEAD_DOMAIN |
		WM_VIEW_HEAD_PROCNAME | WM_VIEW_HEAD_VPID | WM_VIEW_HEAD_STREAM |
		WM_VIEW_HEAD_LEVEL},
    {"none", 0},
    {NULL, 0},
};

/* Reads comma-separated words. Returns an exit status, after a message if a word is unknown. */
static int read_words(const char *option, const struct word_bit *words, const char *list,
		      uint32_t *ret)
{
	*ret = 0;
	for (const char *at = list; *at; at += *at == ',') {
		size_t n = strcspn(at, ","), i = 0;

		while (words[i].word &&
		       (strlen(words[i].word) != n || strncmp(words[i].word, at, n) != 0))
			i++;
		if (!words[i].word) {
			wm_say("print: --%s: '%.*s' is not a valid value; 'waymark help print' "
			       "lists them",
			       option, (int)n, at);
			return WM_EXIT_USAGE;
		}
		*ret |= words[i].bits;
		at += n;
	}
	return WM_EXIT_DONE;
}

/* Reads seconds, with a sign and up to nine decimals. */
static int read_offset(const char *text, int64_t *ret)
{
	const char *at = text + (*text == '-' || *text == '+');
	uint64_t ns = 0, digits = 0;
	bool bad = *at < '0' || *at > '9';

	for (; *at >= '0' && *at <= '9' && !bad; at++)
		bad = ++digits > 10;
	ns = bad ? 0 : strtoull(text + (*text == '-' || *text == '+'), NULL, 10) * WM_NS_PER_SECOND;
	if (*at == '.') {
		uint64_t unit = WM_NS_PER_SECOND / 10;

		for (at++; *at >= '0' && *at <= '9' && unit; at++, unit /= 10)
			ns += (uint64_t)(*at - '0') * unit;
	}
	if (bad || *at || ns > INT64_MAX / 2) {
		wm_say("print: --clock-offset: '%s' is not a number of seconds", text);
		return WM_EXIT_USAGE;
	}
	*ret = *text == '-' ? -(int64_t)ns : (int64_t)ns;
	return WM_EXIT_DONE;
}

/* Refuses an option that the format ignores. */
static int needs_format(const struct wm_print_values *v, bool given, const char *option,
			bool only_babeltrace)
{
	if (v->format == WM_VIEW_DETAILS && !only_babeltrace && !strcmp(option, "clock-gmt"))
		return WM_EXIT_DONE;
	if (!given || v->format == WM_VIEW_BABELTRACE ||
	    (v->format == WM_VIEW_WAYMARK && !only_babeltrace && !v->json && !v->jsonl))
		return WM_EXIT_DONE;
	wm_say("print: --%s needs --format=babeltrace%s", option,
	       only_babeltrace ? "" : " or --format=waymark");
	return WM_EXIT_USAGE;
}

static int set_time(const struct wm_print_values *v, struct wm_view_options *ret)
{
	if (v->clock_seconds + v->clock_cycles + v->clock_date > 1) {
		wm_say("print: give only one of --clock-seconds, --clock-cycles and --clock-date");
		return WM_EXIT_USAGE;
	}
	ret->time = v->clock_seconds  ? WM_VIEW_TIME_SECONDS
		    : v->clock_cycles ? WM_VIEW_TIME_CYCLES
		    : v->clock_date   ? WM_VIEW_TIME_DATE
				      : WM_VIEW_TIME_OF_DAY;
	ret->gmt = v->clock_gmt;
	ret->no_delta = v->no_delta;
	return v->clock_offset ? read_offset(v->clock_offset, &ret->offset_ns) : WM_EXIT_DONE;
}

int wm_print_line_options(const struct wm_print_values *v, struct wm_view_options *ret)
{
	const struct {
		bool given;
		const char *option;
		bool only_babeltrace;
	} limited[] = {
	    {v->clock_seconds, "clock-seconds", false}, {v->clock_cycles, "clock-cycles", false},
	    {v->clock_date, "clock-date", false},       {v->clock_gmt, "clock-gmt", false},
	    {v->no_delta, "no-delta", false},           {v->names, "names", true},
	};
	bool is_json =
	    v->json || v->jsonl || v->format == WM_VIEW_JSON || v->format == WM_VIEW_JSONL;
	int status = WM_EXIT_DONE;

	for (size_t i = 0; !status && i < sizeof(limited) / sizeof(*limited); i++)
		status = needs_format(v, limited[i].given, limited[i].option,
				      limited[i].only_babeltrace);
	if (!status)
		status = set_time(v, ret);
	if (!status && !is_json)
		status = needs_format(v, v->head, "head", true);
	ret->has_names = v->names;
	ret->has_head = v->head;
	if (!status && v->names)
		status = read_words("names", name_words, v->names, &ret->names);
	if (!status && v->head)
		status = read_words("head", head_words, v->head, &ret->head);
	if (!status && v->columns)
		status = wm_print_columns(v->columns, &ret->columns);
	return status;
}
