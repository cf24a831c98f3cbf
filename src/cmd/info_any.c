/* SPDX-License-Identifier: MIT */
/* info_any.c - waymark info of traces that other tracers wrote; see info.h. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cmd/info.h"
#include "cmd/trace_open.h"
#include "view/value_text.h"

#define NS_PER_SECOND 1000000000u
#define LOSSES_SHOWN  20u

/* --- text -------------------------------------------------------------------------------- */

static void safe(struct wm_text *t, const char *s)
{
	wm_view_safe(t, s, strlen(s), false);
}

static void line(struct wm_text *t, const char *key, const char *value)
{
	wm_text_f(t, "%-10s ", key);
	safe(t, value);
	wm_text_char(t, '\n');
}

static void seconds(struct wm_text *t, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	wm_text_f(t, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", n / NS_PER_SECOND,
		  n % NS_PER_SECOND);
}

static void moment(struct wm_text *t, bool is_epoch, int64_t ns)
{
	time_t when = (time_t)(ns / NS_PER_SECOND);
	struct tm tm;
	char buf[40];

	if (is_epoch && ns >= 0 && localtime_r(&when, &tm) &&
	    strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		wm_text_f(t, "%s.%09" PRIu64, buf, (uint64_t)ns % NS_PER_SECOND);
	else
		seconds(t, ns);
}

static bool is_epoch(const struct wm_trace *t)
{
	return t->nr_clocks && t->clocks[0]->is_epoch;
}

static void clock_lines(struct wm_info *i)
{
	for (uint32_t k = 0; k < i->t->nr_clocks; k++) {
		const struct wm_trace_clock *c = i->t->clocks[k];

		wm_text_f(&i->out, "%-10s ", k ? "" : "clock");
		safe(&i->out, c->name[0] ? c->name : "(no name)");
		wm_text_f(&i->out, ", %" PRIu64 " Hz, counts from ", c->hz);
		wm_text_str(&i->out, c->is_epoch ? "1970" : "its own origin");
		if (c->error_ns != UINT64_MAX)
			wm_text_f(&i->out, ", known to +-%" PRIu64 " ns", c->error_ns);
		wm_text_char(&i->out, '\n');
	}
}

static void time_line(struct wm_info *i)
{
	if (i->t->begin_ns > i->t->end_ns)
		return;
	wm_text_f(&i->out, "%-10s ", "time");
	moment(&i->out, is_epoch(i->t), i->t->begin_ns);
	wm_text_str(&i->out, " to ");
	moment(&i->out, is_epoch(i->t), i->t->end_ns);
	wm_text_str(&i->out, ", ");
	seconds(&i->out, (int64_t)((uint64_t)i->t->end_ns - (uint64_t)i->t->begin_ns));
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
		safe(t, l->cause);
	}
	if (l->begin_ns > INT64_MIN && l->end_ns < INT64_MAX) {
		wm_text_str(t, ", ");
		moment(t, is_epoch(i->t), l->begin_ns);
		wm_text_str(t, " to ");
		moment(t, is_epoch(i->t), l->end_ns);
	}
	if (l->stream < i->t->nr_streams && i->t->streams[l->stream]->file[0]) {
		wm_text_str(t, ", ");
		safe(t, i->t->streams[l->stream]->file);
	}
	wm_text_char(t, '\n');
}

static void losses(struct wm_info *i)
{
	uint32_t n = i->t->nr_losses;

	if (n)
		wm_text_str(&i->out, "\nlost            count  what, why, when, where\n");
	for (uint32_t k = 0; k < n && k < LOSSES_SHOWN; k++)
		loss_line(i, &i->t->losses[k]);
	if (n > LOSSES_SHOWN)
		wm_text_f(&i->out, "          ... and %u more; --json has all\n", n - LOSSES_SHOWN);
}

static void head(struct wm_info *i)
{
	struct wm_trace *t = i->t;

	line(&i->out, "trace", i->path);
	wm_text_f(&i->out, "%-10s %s %s\n", "format", t->ops->name, t->version);
	for (uint32_t k = 0; k < t->nr_words; k++)
		line(&i->out, t->words[k].key, t->words[k].text);
	clock_lines(i);
	time_line(i);
	wm_text_f(&i->out, "%-10s %u, %" PRIu64 " packets, %" PRIu64 " bytes\n", "streams",
		  t->nr_streams, t->nr_packets, i->bytes);
	wm_text_f(&i->out, "%-10s %" PRIu64 "\n", "events", i->nr_events);
	if (t->incomplete)
		line(&i->out, "state", "not finished: the tracer is still writing, or was killed");
}

static void lists(struct wm_info *i)
{
	struct wm_text *t = &i->out;

	losses(i);
	if (i->nr_events)
		wm_text_str(t, "\nkinds          events  name\n");
	for (uint32_t at = 0; at < i->t->nr_types;) {
		const struct wm_event_type *type = i->t->types[i->order[at]];
		uint64_t n = wm_info_take_name(i, &at);

		if (!n)
			continue;
		wm_text_f(t, "          %12" PRIu64 "  ", n);
		safe(t, type->name[0] ? type->name : "(no name)");
		wm_text_char(t, '\n');
	}
	if (i->t->nr_faults)
		wm_text_str(t, "\nfaults\n");
	for (uint32_t k = 0; k < i->t->nr_faults; k++) {
		wm_text_str(t, "          ");
		wm_trace_fault_text(t, &i->t->faults[k]);
		wm_text_char(t, '\n');
	}
}

void wm_info_any_text(struct wm_info *i)
{
	head(i);
	lists(i);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void key(struct wm_text *t, const char *name)
{
	char last = t->data[t->bytes - 1];

	wm_text_f(t, "%s\"%s\":", last == '{' ? "" : ",", name);
}

static void text(struct wm_text *t, const char *name, const char *value)
{
	key(t, name);
	wm_view_json_string(t, value, strlen(value));
}

static void number(struct wm_text *t, const char *name, uint64_t value)
{
	key(t, name);
	wm_text_u64(t, value);
}

static void signed_number(struct wm_text *t, const char *name, int64_t value)
{
	key(t, name);
	wm_text_i64(t, value);
}

/* One after the other, with `one` for each: [{...},{...}]. */
static void list(struct wm_info *i, const char *name, uint32_t nr,
		 void (*one)(struct wm_info *i, uint32_t k))
{
	key(&i->out, name);
	wm_text_char(&i->out, '[');
	for (uint32_t k = 0; k < nr; k++) {
		wm_text_str(&i->out, k ? ",{" : "{");
		one(i, k);
		wm_text_char(&i->out, '}');
	}
	wm_text_char(&i->out, ']');
}

static void json_clock(struct wm_info *i, uint32_t k)
{
	const struct wm_trace_clock *c = i->t->clocks[k];

	text(&i->out, "name", c->name);
	number(&i->out, "hz", c->hz);
	signed_number(&i->out, "offset_ns", c->offset_ns);
	key(&i->out, "epoch");
	wm_text_str(&i->out, c->is_epoch ? "true" : "false");
}

static void json_loss(struct wm_info *i, uint32_t k)
{
	const struct wm_trace_loss *l = &i->t->losses[k];

	if (l->count != UINT64_MAX)
		number(&i->out, "count", l->count);
	text(&i->out, "what", l->packets ? "packets" : "events");
	text(&i->out, "cause", l->cause ? l->cause : "");
	if (l->begin_ns > INT64_MIN)
		signed_number(&i->out, "begin_ns", l->begin_ns);
	if (l->end_ns < INT64_MAX)
		signed_number(&i->out, "end_ns", l->end_ns);
	if (l->stream < i->t->nr_streams)
		text(&i->out, "file", i->t->streams[l->stream]->file);
}

static void json_fault(struct wm_info *i, uint32_t k)
{
	const struct wm_fault *f = &i->t->faults[k];

	text(&i->out, "file", f->file);
	number(&i->out, "offset", f->offset);
	text(&i->out, "reason", f->reason);
}

static void json_kinds(struct wm_info *i)
{
	const char *between = "";

	key(&i->out, "kinds");
	wm_text_char(&i->out, '[');
	for (uint32_t at = 0; at < i->t->nr_types; between = ",") {
		const struct wm_event_type *type = i->t->types[i->order[at]];

		wm_text_f(&i->out, "%s{", between);
		text(&i->out, "name", type->name);
		number(&i->out, "events", wm_info_take_name(i, &at));
		wm_text_char(&i->out, '}');
	}
	wm_text_char(&i->out, ']');
}

void wm_info_any_json(struct wm_info *i)
{
	struct wm_text *t = &i->out;

	wm_text_char(t, '{');
	text(t, "trace", i->path);
	text(t, "format", i->t->ops->name);
	text(t, "version", i->t->version);
	key(t, "words");
	wm_text_char(t, '{');
	for (uint32_t k = 0; k < i->t->nr_words; k++) {
		wm_text_str(t, k ? "," : "");
		wm_view_json_string(t, i->t->words[k].key, strlen(i->t->words[k].key));
		wm_text_char(t, ':');
		wm_view_json_string(t, i->t->words[k].text, strlen(i->t->words[k].text));
	}
	wm_text_char(t, '}');
	list(i, "clocks", i->t->nr_clocks, json_clock);
	if (i->t->begin_ns <= i->t->end_ns) {
		signed_number(t, "begin_ns", i->t->begin_ns);
		signed_number(t, "end_ns", i->t->end_ns);
	}
	number(t, "streams", i->t->nr_streams);
	number(t, "packets", i->t->nr_packets);
	number(t, "bytes", i->bytes);
	number(t, "events", i->nr_events);
	list(i, "losses", i->t->nr_losses, json_loss);
	json_kinds(i);
	list(i, "faults", i->t->nr_faults, json_fault);
	wm_text_str(t, "}\n");
}
