/* SPDX-License-Identifier: MIT */
/*
 * writer_head.c - what precedes an event's name in the babeltrace format, and the parts of it that
 * JSON has as members; see enum wm_view_head.
 */
#include "view/text/writer_int.h"

/* --- for a stream --------------------------------------------------------------------------- */

static const struct {
	uint32_t bit;
	const char *key, *name;
} head_words[] = {
    {WM_VIEW_HEAD_TRACE, "hostname", "trace"},
    {WM_VIEW_HEAD_HOSTNAME, "hostname", "trace:hostname"},
    {WM_VIEW_HEAD_DOMAIN, "domain", "trace:domain"},
    {WM_VIEW_HEAD_PROCNAME, "procname", "trace:procname"},
    {WM_VIEW_HEAD_VPID, "vpid", "trace:vpid"},
};

/* Writes "HOST:PROCNAME:(VPID) ", as far as selected and known from the environment. */
static void babeltrace_head(const struct wm_view *v, const struct wm_trace *trace,
			    const struct wm_stream *s, struct wm_text *t)
{
	bool named = v->options.names & WM_VIEW_NAMES_HEADER;

	for (size_t i = 0; i < sizeof(head_words) / sizeof(*head_words); i++) {
		const char *word = wm_trace_stream_word(trace, s, head_words[i].key);

		if (!word || !(v->options.head & head_words[i].bit))
			continue;
		if (named)
			wm_text_f(t, "%s = %s, ", head_words[i].name, word);
		else
			wm_text_f(t, head_words[i].bit == WM_VIEW_HEAD_VPID ? "%s(%s)" : "%s%s",
				  t->bytes ? ":" : "", word);
	}
	if (v->options.head & WM_VIEW_HEAD_STREAM)
		wm_text_f(t, named ? "%sstream = %llu/%llu, " : "%s%llu/%llu",
			  t->bytes && !named ? ":" : "", (unsigned long long)s->class_id,
			  (unsigned long long)s->instance);
	if (t->bytes && !named)
		wm_text_char(t, ' ');
}

/* Writes ,"hostname":"h","stream":{...} */
static void head_members(const struct wm_view *v, const struct wm_trace *trace,
			 const struct wm_stream *s, struct wm_text *t)
{
	const char *uuid = s->origin ? s->origin->shown_uuid : NULL;

	if (uuid && v->options.head & WM_VIEW_HEAD_TRACE) {
		wm_text_str(t, ",\"uuid\":");
		wm_view_json_string(t, uuid, strlen(uuid));
	}
	for (size_t i = 1; i < sizeof(head_words) / sizeof(*head_words); i++) {
		const char *word = wm_trace_stream_word(trace, s, head_words[i].key);

		if (!word || !(v->options.head & head_words[i].bit))
			continue;
		wm_text_f(t, ",\"%s\":", head_words[i].key);
		wm_view_json_string(t, word, strlen(word));
	}
	if (!(v->options.head & WM_VIEW_HEAD_STREAM))
		return;
	wm_text_f(t, ",\"stream\":{\"class\":%llu,\"instance\":%llu,\"file\":",
		  (unsigned long long)s->class_id, (unsigned long long)s->instance);
	wm_view_json_string(t, s->file, strlen(s->file));
	wm_text_char(t, '}');
}

/* Writes "NAME: ", as trace-cmd report does. */
static void put_buffer(const char *name, struct wm_text *t)
{
	wm_view_safe(t, name, strlen(name), false);
	wm_text_str(t, ": ");
}

void wm_view_head_of(const struct wm_view *v, const struct wm_trace *trace,
		     const struct wm_stream *s, struct wm_text *t)
{
	bool is_json = v->options.format == WM_VIEW_JSON || v->options.format == WM_VIEW_JSONL;

	if (v->options.format == WM_VIEW_BABELTRACE)
		babeltrace_head(v, trace, s, t);
	else if (v->options.format == WM_VIEW_WAYMARK && s->buffer)
		put_buffer(s->buffer, t);
	if (is_json && s->buffer) {
		wm_text_str(t, ",\"buffer\":");
		wm_view_json_string(t, s->buffer, strlen(s->buffer));
	}
	if (is_json && v->options.has_head)
		head_members(v, trace, s, t);
}

/* --- for an event type ----------------------------------------------------------------------- */

/* Appends the log level, as babeltrace2 names LTTng's levels. */
static void babeltrace_level(const struct wm_view *v, struct wm_text *t, int level)
{
	static const char *const names[] = {
	    "TRACE_EMERG",          "TRACE_ALERT",
	    "TRACE_CRIT",           "TRACE_ERR",
	    "TRACE_WARNING",        "TRACE_NOTICE",
	    "TRACE_INFO",           "TRACE_DEBUG_SYSTEM",
	    "TRACE_DEBUG_PROGRAM",  "TRACE_DEBUG_PROCESS",
	    "TRACE_DEBUG_MODULE",   "TRACE_DEBUG_UNIT",
	    "TRACE_DEBUG_FUNCTION", "TRACE_DEBUG_LINE",
	    "TRACE_DEBUG",
	};
	bool named = v->options.names & WM_VIEW_NAMES_HEADER;

	if (!(v->options.head & WM_VIEW_HEAD_LEVEL) || level < 0 ||
	    level >= (int)(sizeof(names) / sizeof(*names)))
		return;
	wm_text_f(t, named ? "loglevel = %s (%d), " : "%s (%d) ", names[level], level);
}

void wm_view_babeltrace_name(const struct wm_view *v, struct wm_text *t,
			     const struct wm_event_type *type)
{
	bool named = v->options.names & WM_VIEW_NAMES_HEADER;

	babeltrace_level(v, t, type->level);
	wm_text_str(t, named ? "name = " : "");
	wm_text_str(t, type->name[0] ? type->name : "<unknown>");
	wm_text_str(t, named ? ", " : ": ");
}
