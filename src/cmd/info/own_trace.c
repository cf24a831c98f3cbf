/* SPDX-License-Identifier: MIT */
/*
 * own_trace.c - waymark info for a trace that waymark recorded: its processes, and the
 * losses by cause. See info.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cmd/info/info.h"
#include "cmd/trace_open.h"
#include "view/value_text.h"

/* Time range and number of events; empty packets and the recorder's own are ignored. */
struct range {
	int64_t begin_ns, end_ns; /* begin > end: no events */
	uint64_t nr_events;       /* according to the packets */
};

static struct range range_of(const struct wm_trace *t)
{
	struct range r = {INT64_MAX, INT64_MIN, 0};

	for (uint64_t i = 0; i < t->nr_packets; i++) {
		const struct wm_packet *p = &t->packets[i];

		if (t->streams[p->stream]->meta || !p->nr_events)
			continue;
		if (p->nr_events != UINT64_MAX)
			r.nr_events += p->nr_events;
		r.begin_ns = p->begin_ns < r.begin_ns ? p->begin_ns : r.begin_ns;
		r.end_ns = p->end_ns > r.end_ns ? p->end_ns : r.end_ns;
	}
	return r;
}

static const char *info_own_word(const struct wm_info *i, const char *key)
{
	const char *text = wm_trace_word(i->t, key);

	return text ? text : "";
}

/* Writes "waymark 1.2.3". */
static void tracer(const struct wm_info *i, char *buf, size_t bytes)
{
	(void)snprintf(buf, bytes, "%.40s %.8s.%.8s.%.8s", info_own_word(i, "tracer_name"),
		       info_own_word(i, "tracer_major"), info_own_word(i, "tracer_minor"),
		       info_own_word(i, "tracer_patch"));
}

static uint64_t clock_error(const struct wm_trace *t)
{
	return t->clocks[0]->error_ns == UINT64_MAX ? 0 : t->clocks[0]->error_ns;
}

/* Returns the part of the name after the provider. */
static const char *short_name(const struct wm_event_type *t)
{
	const char *colon = strchr(t->name, ':');

	return colon ? colon + 1 : t->name;
}

/* Returns the next name that has events, except the recorder's own; NULL: none left. */
static const struct wm_event_type *next_class(const struct wm_info *i, uint32_t *at,
					      uint64_t *ret_events)
{
	while (*at < i->t->nr_types) {
		const struct wm_event_type *t = i->t->types[i->order[*at]];

		*ret_events = wm_info_take_name(i, at);
		if (!t->meta && *ret_events)
			return t;
	}
	return NULL;
}

static uint32_t nr_classes(const struct wm_info *i)
{
	uint32_t at = 0, n = 0;
	uint64_t events;

	while (next_class(i, &at, &events))
		n++;
	return n;
}

/* --- text --------------------------------------------------------------------------- */

static void info_own_label(struct wm_text *t, const char *name)
{
	wm_text_f(t, "%-10s ", name);
}

static void info_own_safe(struct wm_text *t, const char *s)
{
	wm_view_safe(t, s, strlen(s), false);
}

static void info_own_line(struct wm_text *t, const char *name, const char *value)
{
	if (!*value)
		return;
	info_own_label(t, name);
	info_own_safe(t, value);
	wm_text_char(t, '\n');
}

static void info_own_moment(struct wm_text *t, int64_t ns)
{
	time_t when = (time_t)(ns / WM_NS_PER_SECOND);
	struct tm tm;
	char buf[32];

	if (!localtime_r(&when, &tm) || !strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		(void)snprintf(buf, sizeof(buf), "?");
	wm_text_f(t, "%s.%09" PRIu64, buf, (uint64_t)ns % WM_NS_PER_SECOND);
}

static void clock_line(struct wm_info *i)
{
	info_own_label(&i->out, "clock");
	info_own_safe(&i->out, i->t->clocks[0]->name);
	wm_text_f(&i->out, ", %" PRIu64 " Hz, wall clock accurate to +-%" PRIu64 " ns\n",
		  i->t->clocks[0]->hz, clock_error(i->t));
}

/* Prints the error in the samples' times, which come from a different kernel clock. */
static void sample_line(struct wm_info *i)
{
	const char *error = wm_trace_word(i->t, "sample_clock_error_ns");

	if (!error)
		return;
	info_own_label(&i->out, "samples");
	wm_text_str(&i->out, "at most ");
	info_own_safe(&i->out, error);
	wm_text_str(&i->out, " ns between their clock and that of the other events\n");
}

static void info_own_time_line(struct wm_info *i, const struct range *r)
{
	uint64_t ns = (uint64_t)r->end_ns - (uint64_t)r->begin_ns;

	if (r->begin_ns > r->end_ns)
		return;
	info_own_label(&i->out, "time");
	info_own_moment(&i->out, r->begin_ns);
	wm_text_str(&i->out, " to ");
	info_own_moment(&i->out, r->end_ns);
	wm_text_f(&i->out, ", %" PRIu64 ".%09" PRIu64 " s\n", ns / WM_NS_PER_SECOND,
		  ns % WM_NS_PER_SECOND);
}

static void info_own_head(struct wm_info *i)
{
	struct range r = range_of(i->t);
	struct wm_text *t = &i->out;
	uint32_t classes = nr_classes(i);
	char name[80];

	tracer(i, name, sizeof(name));
	info_own_line(t, "trace", i->path);
	info_own_label(t, "format");
	wm_text_f(t, "CTF %s\n", i->t->version);
	info_own_line(t, "tracer", name);
	info_own_line(t, "host", info_own_word(i, "hostname"));
	info_own_line(t, "command", info_own_word(i, "command"));
	if (i->t->nr_clocks)
		clock_line(i);
	sample_line(i);
	info_own_time_line(i, &r);
	info_own_label(t, "streams");
	wm_text_f(t, "%u %s, %" PRIu64 " %s, %" PRIu64 " %s\n", i->t->nr_streams,
		  wm_plural(i->t->nr_streams, "file", "files"), i->t->nr_packets,
		  wm_plural(i->t->nr_packets, "packet", "packets"), i->bytes,
		  wm_plural(i->bytes, "byte", "bytes"));
	info_own_label(t, "events");
	wm_text_f(t, "%" PRIu64 " of %u %s", i->nr_events, classes,
		  wm_plural(classes, "class", "classes"));
	if (i->nr_events != r.nr_events)
		wm_text_f(t, "; according to the packets, there should be %" PRIu64, r.nr_events);
	wm_text_str(t, "\n");
	info_own_label(t, "lost");
	wm_input_lost_text(t, i->t);
	wm_text_char(t, '\n');
	if (i->t->incomplete)
		info_own_line(t, "state",
			      "not finished: it is still being recorded, or its end is missing");
}

static void processes(struct wm_info *i)
{
	struct wm_text *t = &i->out;

	if (i->t->nr_processes)
		wm_text_str(t, "\nprocesses      pid     ppid      uid  command\n");
	for (uint32_t k = 0; k < i->t->nr_processes; k++) {
		const struct wm_trace_process *p = &i->t->processes[k];

		wm_text_f(t, "          %8u %8u %8u  ", p->pid, p->ppid, p->uid);
		info_own_safe(t, p->comm);
		wm_text_str(t, p->path[0] ? "  " : "");
		info_own_safe(t, p->path);
		wm_text_char(t, '\n');
	}
}

static void info_own_lists(struct wm_info *i)
{
	const struct wm_event_type *type;
	struct wm_text *t = &i->out;
	uint64_t events;

	processes(i);
	if (i->nr_events)
		wm_text_str(t, "\nclasses         events  name\n");
	for (uint32_t at = 0; (type = next_class(i, &at, &events));) {
		wm_text_f(t, "          %12" PRIu64 "  ", events);
		info_own_safe(t, type->name);
		wm_text_char(t, '\n');
	}
	wm_info_faults(i);
}

void wm_info_own_text(struct wm_info *i)
{
	info_own_head(i);
	info_own_lists(i);
}

/* --- JSON ------------------------------------------------------------------------------ */

static void json_lost(const struct wm_info *i, struct wm_json *j)
{
	wm_json_object(j, "lost");
	for (uint32_t k = 0; k < i->t->nr_causes; k++)
		wm_json_u64(j, i->t->causes[k].name, i->t->causes[k].count);
	wm_json_end(j);
}

static void json_processes(const struct wm_info *i, struct wm_json *j)
{
	wm_json_array(j, "processes");
	for (uint32_t k = 0; k < i->t->nr_processes; k++) {
		const struct wm_trace_process *p = &i->t->processes[k];

		wm_json_object(j, NULL);
		wm_json_u64(j, "pid", p->pid);
		wm_json_u64(j, "ppid", p->ppid);
		wm_json_u64(j, "vpid", p->vpid);
		wm_json_u64(j, "uid", p->uid);
		wm_json_i64(j, "begin_ns", p->begin_ns);
		wm_json_string(j, "comm", p->comm);
		wm_json_string(j, "path", p->path);
		wm_json_end(j);
	}
	wm_json_end(j);
}

static void json_classes(const struct wm_info *i, struct wm_json *j)
{
	const struct wm_event_type *type;
	uint64_t events;

	wm_json_array(j, "classes");
	for (uint32_t at = 0; (type = next_class(i, &at, &events));) {
		wm_json_object(j, NULL);
		wm_json_string(j, "provider", type->provider);
		wm_json_string(j, "name", short_name(type));
		wm_json_u64(j, "events", events);
		wm_json_end(j);
	}
	wm_json_end(j);
}

/* Adds the JSON members that precede the lists. */
static void json_head(const struct wm_info *i, struct wm_json *j)
{
	struct range r = range_of(i->t);
	char name[80], format[32];

	tracer(i, name, sizeof(name));
	(void)snprintf(format, sizeof(format), "CTF %s", i->t->version);
	wm_json_string(j, "trace", i->path);
	wm_json_string(j, "format", format);
	wm_json_string(j, "tracer", name);
	wm_json_string(j, "host", info_own_word(i, "hostname"));
	wm_json_string(j, "command", info_own_word(i, "command"));
	if (i->t->nr_clocks) {
		wm_json_string(j, "clock", i->t->clocks[0]->name);
		wm_json_u64(j, "clock_hz", i->t->clocks[0]->hz);
		wm_json_u64(j, "clock_error_ns", clock_error(i->t));
	}
	wm_json_i64(j, "begin_ns", r.begin_ns > r.end_ns ? 0 : r.begin_ns);
	wm_json_i64(j, "end_ns", r.begin_ns > r.end_ns ? 0 : r.end_ns);
	wm_json_u64(j, "streams", i->t->nr_streams);
	wm_json_u64(j, "packets", i->t->nr_packets);
	wm_json_u64(j, "bytes", i->bytes);
	wm_json_u64(j, "events", i->nr_events);
	wm_json_u64(j, "events_in_packets", r.nr_events);
}

void wm_info_own_json(const struct wm_info *i, struct wm_json *j)
{
	json_head(i, j);
	json_lost(i, j);
	json_processes(i, j);
	json_classes(i, j);
}
