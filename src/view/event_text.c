/* SPDX-License-Identifier: MIT */
/* event_text.c - see event_text.h. */
#include "view/event_text.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/digits.h"
#include "view/print_form.h"
#include "view/value_text.h"

#define NS_PER_SECOND 1000000000u

void wm_view_clock_init(struct wm_view_clock *c)
{
	*c = (struct wm_view_clock){.second = UINT64_MAX};
}

static void nine_digits(struct wm_text *t, uint32_t n)
{
	char buf[9];

	(void)wm_digits_9(buf, n);
	wm_text_add(t, buf, sizeof(buf));
}

void wm_view_time(struct wm_text *t, struct wm_view_clock *c, uint64_t time_ns)
{
	uint64_t second = time_ns / NS_PER_SECOND;

	if (second != c->second) {
		time_t when = (time_t)second;
		struct tm tm;

		c->second = second;
		if (!localtime_r(&when, &tm) ||
		    !strftime(c->text, sizeof(c->text), "%H:%M:%S", &tm))
			(void)snprintf(c->text, sizeof(c->text), "??:??:??");
	}
	wm_text_str(t, c->text);
	wm_text_char(t, '.');
	nine_digits(t, (uint32_t)(time_ns % NS_PER_SECOND));
}

static void delta(struct wm_text *t, struct wm_view_clock *c, uint64_t time_ns)
{
	uint64_t ns = time_ns >= c->previous_ns ? time_ns - c->previous_ns : 0;

	if (!c->previous_ns) {
		wm_text_str(t, "+?.?????????");
	} else {
		wm_text_char(t, '+');
		wm_text_u64(t, ns / NS_PER_SECOND);
		wm_text_char(t, '.');
		nine_digits(t, (uint32_t)(ns % NS_PER_SECOND));
	}
	c->previous_ns = time_ns;
}

static void name(struct wm_text *t, const struct wm_class *class)
{
	wm_view_safe(t, class->provider, strlen(class->provider), false);
	wm_text_char(t, ':');
	wm_view_safe(t, class->name, strlen(class->name), false);
}

static uint64_t frame(const struct wm_trace_event *e, uint32_t i)
{
	uint64_t address;

	memcpy(&address, e->ustack + (size_t)i * sizeof(address), sizeof(address));
	return le64toh(address);
}

static void contexts(struct wm_text *t, const struct wm_trace_event *e)
{
	const char *between = "{ ";

	if (e->has_cpu) {
		wm_text_str(t, "{ cpu = ");
		wm_text_u64(t, e->cpu);
		between = ", ";
	}
	if (e->level) {
		wm_text_f(t, "%slevel = %u", between, e->level);
		between = ", ";
	}
	if (e->ustack) {
		wm_text_f(t, "%sustack = [ ", between);
		for (uint32_t i = 0; i < e->nr_ustack; i++) {
			if (i)
				wm_text_str(t, ", ");
			wm_view_hex(t, frame(e, i));
		}
		wm_text_str(t, e->nr_ustack ? " ]" : "]");
		between = ", ";
	}
	if (between[0] == ',')
		wm_text_str(t, " } ");
}

static void fields(struct wm_text *t, const struct wm_trace_event *e)
{
	struct wm_payload_cursor c = {
	    .class = e->class, .data = e->payload, .bytes = e->payload_bytes};
	struct wm_value v;

	wm_text_char(t, '{');
	while (wm_payload_next(&c, &v) == 1) {
		wm_text_str(t, c.index > 1 ? ", " : " ");
		wm_view_safe(t, v.field->name, strlen(v.field->name), false);
		wm_text_str(t, " = ");
		wm_view_value(t, &v);
	}
	wm_text_str(t, " }");
}

void wm_view_event(struct wm_text *t, struct wm_view_clock *c, const struct wm_trace_event *e)
{
	wm_text_char(t, '[');
	wm_view_time(t, c, e->time_ns);
	wm_text_str(t, "] (");
	delta(t, c, e->time_ns);
	wm_text_str(t, ") ");
	if (e->comm[0])
		wm_view_safe(t, e->comm, strlen(e->comm), false);
	else
		wm_text_char(t, '?');
	wm_text_char(t, ':');
	wm_text_u64(t, e->pid);
	if (!e->recorder) {
		wm_text_char(t, '/');
		wm_text_u64(t, e->tid);
	}
	wm_text_char(t, ' ');
	name(t, e->class);
	wm_text_str(t, ": ");
	contexts(t, e);
	if (e->class->print)
		wm_view_print_form(t, e->class, e->payload, e->payload_bytes);
	else
		fields(t, e);
	wm_text_char(t, '\n');
}

/* --- JSON ------------------------------------------------------------------------------ */

static void json_name(struct wm_text *t, const struct wm_class *class)
{
	char full[2 * WM_CLASS_NAME_MAX + 4];

	(void)snprintf(full, sizeof(full), "%s:%s", class->provider, class->name);
	wm_view_json_string(t, full, strlen(full));
}

static void json_contexts(struct wm_text *t, const struct wm_trace_event *e)
{
	if (e->has_cpu)
		wm_text_f(t, ",\"cpu\":%u", e->cpu);
	if (e->level)
		wm_text_f(t, ",\"level\":%u", e->level);
	if (!e->ustack)
		return;
	wm_text_str(t, ",\"ustack\":[");
	for (uint32_t i = 0; i < e->nr_ustack; i++) {
		if (i)
			wm_text_char(t, ',');
		wm_text_u64(t, frame(e, i));
	}
	wm_text_char(t, ']');
}

static void json_fields(struct wm_text *t, const struct wm_trace_event *e)
{
	struct wm_payload_cursor c = {
	    .class = e->class, .data = e->payload, .bytes = e->payload_bytes};
	struct wm_value v;

	wm_text_str(t, ",\"fields\":{");
	while (wm_payload_next(&c, &v) == 1) {
		if (c.index > 1)
			wm_text_char(t, ',');
		wm_view_json_string(t, v.field->name, strlen(v.field->name));
		wm_text_char(t, ':');
		wm_view_value_json(t, &v);
	}
	wm_text_char(t, '}');
}

static void json_message(struct wm_text *t, const struct wm_trace_event *e)
{
	struct wm_text message;

	if (!e->class->print)
		return;
	wm_text_init(&message);
	wm_view_print_form(&message, e->class, e->payload, e->payload_bytes);
	wm_text_str(t, ",\"message\":");
	wm_view_json_string(t, message.data ? message.data : "", message.bytes);
	t->failed |= message.failed;
	wm_text_done(&message);
}

void wm_view_event_json(struct wm_text *t, const struct wm_trace_event *e)
{
	wm_text_str(t, "{\"time_ns\":");
	wm_text_u64(t, e->time_ns);
	wm_text_str(t, ",\"pid\":");
	wm_text_u64(t, e->pid);
	if (!e->recorder) {
		wm_text_str(t, ",\"tid\":");
		wm_text_u64(t, e->tid);
	}
	wm_text_str(t, ",\"comm\":");
	wm_view_json_string(t, e->comm, strlen(e->comm));
	wm_text_str(t, ",\"name\":");
	json_name(t, e->class);
	json_contexts(t, e);
	json_fields(t, e);
	json_message(t, e);
	wm_text_char(t, '}');
}
