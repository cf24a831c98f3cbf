/* SPDX-License-Identifier: MIT */
/* any_trace.c - waymark info for traces from other tracers; see info.h. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cmd/info/info.h"
#include "cmd/trace_open.h"
#include "view/value_text.h"

#define LOSSES_SHOWN 20u

/* --- text -------------------------------------------------------------------------------- */

static void info_any_safe(struct wm_text *t, const char *s)
{
	wm_view_safe(t, s, strlen(s), false);
}

static void info_any_line(struct wm_text *t, const char *key, const char *value)
{
	wm_text_f(t, "%-10s ", key);
	info_any_safe(t, value);
	wm_text_char(t, '\n');
}

static void info_any_seconds(struct wm_text *t, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	wm_text_f(t, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", n / WM_NS_PER_SECOND,
		  n % WM_NS_PER_SECOND);
}

static void info_any_moment(struct wm_text *t, bool is_epoch, int64_t ns)
{
	time_t when = (time_t)(ns / WM_NS_PER_SECOND);
	struct tm tm;
	char buf[40];

	if (is_epoch && ns >= 0 && localtime_r(&when, &tm) &&
	    strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		wm_text_f(t, "%s.%09" PRIu64, buf, (uint64_t)ns % WM_NS_PER_SECOND);
	else
		info_any_seconds(t, ns);
}

static bool info_any_is_epoch(const struct wm_trace *t)
{
	return t->nr_clocks && t->clocks[0]->is_epoch;
}

static void clock_lines(struct wm_info *i)
{
	for (uint32_t k = 0; k < i->t->nr_clocks; k++) {
		const struct wm_trace_clock *c = i->t->clocks[k];

		wm_text_f(&i->out, "%-10s ", k ? "" : "clock");
		info_any_safe(&i->out, c->name[0] ? c->name : "(no name)");
		wm_text_f(&i->out, ", %" PRIu64 " Hz, counts from ", c->hz);
		wm_text_str(&i->out, c->is_epoch ? "1970" : "its own origin");
		if (c->error_ns != UINT64_MAX)
			wm_text_f(&i->out, ", accurate to +-%" PRIu64 " ns", c->error_ns);
		wm_text_char(&i->out, '\n');
	}
}

static void info_any_time_line(struct wm_info *i)
{
	if (i->t->begin_ns > i->t->end_ns)
		return;
	wm_text_f(&i->out, "%-10s ", "time");
	info_any_moment(&i->out, info_any_is_epoch(i->t), i->t->begin_ns);
	wm_text_str(&i->out, " to ");
	info_any_moment(&i->out, info_any_is_epoch(i->t), i->t->end_ns);
	wm_text_str(&i->out, ", ");
	info_any_seconds(&i->out, (int64_t)((uint64_t)i->t->end_ns - (uint64_t)i->t->begin_ns));
	wm_text_str(&i->out, " s\n");
}

static void loss_line(struct wm_info *i, const struct wm_trace_loss *l)
{
	struct wm_text *t = &i->out;

	wm_text_str(t, "          ");
	if (l->count == UINT64_MAX)
		wm_text_f(t, "%12s", "?");
	else
		wm_text_f(t, "%12" PRIu64, l->count);
	wm_text_f(t, "  %s", l->packets ? "packets" : "events");
	if (l->cause && l->cause[0]) {
		wm_text_str(t, ", ");
		info_any_safe(t, l->cause);
	}
	if (l->begin_ns > INT64_MIN && l->end_ns < INT64_MAX) {
		wm_text_str(t, ", ");
		info_any_moment(t, info_any_is_epoch(i->t), l->begin_ns);
		wm_text_str(t, " to ");
		info_any_moment(t, info_any_is_epoch(i->t), l->end_ns);
	}
	if (l->stream < i->t->nr_streams && i->t->streams[l->stream]->file[0]) {
		wm_text_str(t, ", ");
		info_any_safe(t, i->t->streams[l->stream]->file);
	}
	wm_text_char(t, '\n');
}

static void info_any_losses(struct wm_info *i)
{
	uint32_t n = i->t->nr_losses;

	if (n)
		wm_text_str(&i->out, "\nlost            count  what, why, when, where\n");
	for (uint32_t k = 0; k < n && k < LOSSES_SHOWN; k++)
		loss_line(i, &i->t->losses[k]);
	if (n > LOSSES_SHOWN)
		wm_text_f(&i->out, "          ... and %u more; --json lists all\n",
			  n - LOSSES_SHOWN);
}

static void info_any_head(struct wm_info *i)
{
	struct wm_trace *t = i->t;

	info_any_line(&i->out, "trace", i->path);
	wm_text_f(&i->out, "%-10s %s %s\n", "format", t->ops->name, t->version);
	for (uint32_t k = 0; k < t->nr_words; k++)
		info_any_line(&i->out, t->words[k].key, t->words[k].text);
	clock_lines(i);
	info_any_time_line(i);
	wm_text_f(&i->out, "%-10s %u, %" PRIu64 " %s, %" PRIu64 " %s\n", "streams", t->nr_streams,
		  t->nr_packets, wm_plural(t->nr_packets, "packet", "packets"), i->bytes,
		  wm_plural(i->bytes, "byte", "bytes"));
	wm_text_f(&i->out, "%-10s %" PRIu64 "\n", "events", i->nr_events);
	if (t->incomplete)
		info_any_line(&i->out, "state",
			      "not finished: the tracer is still writing it, or was killed");
}

static void info_any_lists(struct wm_info *i)
{
	struct wm_text *t = &i->out;

	info_any_losses(i);
	if (i->nr_events)
		wm_text_str(t, "\nkinds          events  name\n");
	for (uint32_t at = 0; at < i->t->nr_types;) {
		const struct wm_event_type *type = i->t->types[i->order[at]];
		uint64_t n = wm_info_take_name(i, &at);

		if (!n)
			continue;
		wm_text_f(t, "          %12" PRIu64 "  ", n);
		info_any_safe(t, type->name[0] ? type->name : "(no name)");
		wm_text_char(t, '\n');
	}
	wm_info_faults(i);
}

void wm_info_any_text(struct wm_info *i)
{
	info_any_head(i);
	info_any_lists(i);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void json_clocks(const struct wm_info *i, struct wm_json *j)
{
	wm_json_array(j, "clocks");
	for (uint32_t k = 0; k < i->t->nr_clocks; k++) {
		const struct wm_trace_clock *c = i->t->clocks[k];

		wm_json_object(j, NULL);
		wm_json_string(j, "name", c->name);
		wm_json_u64(j, "hz", c->hz);
		wm_json_i64(j, "offset_ns", c->offset_ns);
		wm_json_bool(j, "epoch", c->is_epoch);
		wm_json_end(j);
	}
	wm_json_end(j);
}

static void json_loss(const struct wm_info *i, const struct wm_trace_loss *l, struct wm_json *j)
{
	wm_json_object(j, NULL);
	if (l->count != UINT64_MAX)
		wm_json_u64(j, "count", l->count);
	wm_json_string(j, "what", l->packets ? "packets" : "events");
	wm_json_string(j, "cause", l->cause ? l->cause : "");
	if (l->begin_ns > INT64_MIN)
		wm_json_i64(j, "begin_ns", l->begin_ns);
	if (l->end_ns < INT64_MAX)
		wm_json_i64(j, "end_ns", l->end_ns);
	if (l->stream < i->t->nr_streams)
		wm_json_string(j, "file", i->t->streams[l->stream]->file);
	wm_json_end(j);
}

static void json_lists(const struct wm_info *i, struct wm_json *j)
{
	wm_json_array(j, "losses");
	for (uint32_t k = 0; k < i->t->nr_losses; k++)
		json_loss(i, &i->t->losses[k], j);
	wm_json_end(j);
	wm_json_array(j, "kinds");
	for (uint32_t at = 0; at < i->t->nr_types;) {
		wm_json_object(j, NULL);
		wm_json_string(j, "name", i->t->types[i->order[at]]->name);
		wm_json_u64(j, "events", wm_info_take_name(i, &at));
		wm_json_end(j);
	}
	wm_json_end(j);
}

void wm_info_any_json(const struct wm_info *i, struct wm_json *j)
{
	const struct wm_trace *t = i->t;

	wm_json_string(j, "trace", i->path);
	wm_json_string(j, "format", t->ops->name);
	wm_json_string(j, "version", t->version);
	wm_json_object(j, "words");
	for (uint32_t k = 0; k < t->nr_words; k++)
		wm_json_string(j, t->words[k].key, t->words[k].text);
	wm_json_end(j);
	json_clocks(i, j);
	if (t->begin_ns <= t->end_ns) {
		wm_json_i64(j, "begin_ns", t->begin_ns);
		wm_json_i64(j, "end_ns", t->end_ns);
	}
	wm_json_u64(j, "streams", t->nr_streams);
	wm_json_u64(j, "packets", t->nr_packets);
	wm_json_u64(j, "bytes", i->bytes);
	wm_json_u64(j, "events", i->nr_events);
	json_lists(i, j);
}
