/* SPDX-License-Identifier: MIT */
/*
 * ctf2_metadata.c - metadata as a JSON text sequence, the language of CTF 2 (CTF2-SPEC-2.0).
 * Describes the same trace as ctf1_metadata.c. See metadata.h.
 */
#include <stdlib.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/context.h"
#include "write/metadata.h"

#define RECORD_SEPARATOR "\x1e"

/* A JSON string; bytes that are not UTF-8 become U+FFFD. */
void wm_meta_json_string(struct wm_text *t, const char *s)
{
	uint32_t n;

	wm_text_char(t, '"');
	while (*s) {
		unsigned char c = (unsigned char)*s;

		n = wm_meta_utf8(s);
		if (!n)
			wm_text_str(t, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			wm_text_f(t, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			wm_text_f(t, "\\u%04x", c);
		else
			wm_text_add(t, s, n);
		s += n ? n : 1;
	}
	wm_text_char(t, '"');
}

static void key_string(struct wm_text *t, const char *key, const char *value)
{
	wm_text_f(t, "\"%s\":", key);
	wm_meta_json_string(t, value);
}

/* A complete integer class, written where no alias fits: because of its roles or its width. */
static void integer(struct wm_text *t, const char *name, uint32_t bits, const char *roles)
{
	wm_text_f(t,
		  "{\"name\":\"%s\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\","
		  "\"length\":%u,\"byte-order\":\"little-endian\",\"alignment\":8",
		  name, bits);
	if (roles)
		wm_text_f(t, ",\"roles\":[\"%s\"]", roles);
	wm_text_str(t, "}}");
}

static void aliases(struct wm_text *t)
{
	static const struct {
		const char *letter, *type, *rest;
		uint32_t first, last; /* sizes in bytes, doubling */
	} scalars[] = {
	    {"i", "fixed-length-signed-integer", "", 1, 8},
	    {"u", "fixed-length-unsigned-integer", "", 1, 8},
	    {"x", "fixed-length-unsigned-integer", ",\"preferred-display-base\":16", 1, 8},
	    {"b", "fixed-length-boolean", "", 1, 1},
	    {"p", "fixed-length-unsigned-integer", ",\"preferred-display-base\":16", 8, 8},
	    {"f", "fixed-length-floating-point-number", "", 4, 8},
	};
	uint32_t i, bytes;

	for (i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		for (bytes = scalars[i].first; bytes <= scalars[i].last; bytes *= 2)
			wm_text_f(t,
				  RECORD_SEPARATOR
				  "{\"type\":\"field-class-alias\",\"name\":\"wm_%s%u\","
				  "\"field-class\":{\"type\":\"%s\",\"length\":%u,"
				  "\"byte-order\":\"little-endian\",\"alignment\":8%s}}\n",
				  scalars[i].letter, bytes, scalars[i].type, bytes * 8,
				  scalars[i].rest);
}

static void env(struct wm_text *t, const struct wm_meta_trace *trace)
{
	uint32_t version[3];

	wm_meta_version(version);
	wm_text_f(t,
		  "\"environment\":{\"tracer_name\":\"waymark\",\"tracer_major\":%u,"
		  "\"tracer_minor\":%u,\"tracer_patch\":%u,",
		  version[0], version[1], version[2]);
	key_string(t, "hostname", trace->hostname);
	wm_text_f(t, ",\"domain\":\"user\",\"trace_format\":%d,", WM_TRACE_FORMAT_VERSION);
	key_string(t, "trace_creation_datetime", trace->created);
	wm_text_f(t, ",\"clock_kind\":\"%s\",\"clock_error_ns\":%llu",
		  wm_meta_clock_name(trace->clock_kind), (unsigned long long)trace->clock_error_ns);
	if (trace->sample_regs)
		wm_text_f(t, ",\"sample_regs\":%llu,\"sample_clock_error_ns\":%llu",
			  (unsigned long long)trace->sample_regs,
			  (unsigned long long)trace->sample_error_ns);
	if (trace->command) {
		wm_text_char(t, ',');
		key_string(t, "command", trace->command);
	}
	wm_text_char(t, '}');
}

static void trace_class(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"trace-class\",\"uid\":\"");
	wm_meta_uuid(t, trace->uuid);
	wm_text_str(t, "\",");
	env(t, trace);
	wm_text_str(t,
		    ",\"packet-header-field-class\":{\"type\":\"structure\",\"member-classes\":[");
	integer(t, "magic", 32, "packet-magic-number");
	wm_text_str(t, ",{\"name\":\"uuid\",\"field-class\":{\"type\":\"static-length-blob\","
		       "\"length\":16,\"roles\":[\"metadata-stream-uuid\"]}},");
	integer(t, "stream_id", 32, "data-stream-class-id");
	wm_text_char(t, ',');
	integer(t, "stream_instance_id", 64, "data-stream-id");
	wm_text_str(t, "]}}\n");
}

static void preamble(struct wm_text *t, const struct wm_meta_trace *trace)
{
	uint64_t cycles;
	int64_t seconds;
	uint32_t i;

	wm_text_str(t, RECORD_SEPARATOR "{\"type\":\"preamble\",\"version\":2,\"uuid\":[");
	for (i = 0; i < WM_TRACE_UUID_BYTES; i++)
		wm_text_f(t, i ? ",%u" : "%u", trace->uuid[i]);
	wm_text_str(t, "]}\n");
	aliases(t);
	trace_class(t, trace);

	wm_meta_clock_offset(trace, &seconds, &cycles);
	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"clock-class\",\"id\":\"default\",\"name\":\"%s\","
				   "\"uid\":\"",
		  wm_meta_clock_name(trace->clock_kind));
	wm_meta_uuid(t, trace->uuid);
	wm_text_f(t,
		  "\",\"frequency\":%llu,\"origin\":\"unix-epoch\","
		  "\"offset-from-origin\":{\"seconds\":%lld,\"cycles\":%llu}}\n",
		  (unsigned long long)trace->clock_hz, (long long)seconds,
		  (unsigned long long)cycles);
}

/* pid, vpid, tid, level */
static void owner(struct wm_text *t)
{
	wm_text_str(t, "{\"name\":\"pid\",\"field-class\":\"wm_u4\"},"
		       "{\"name\":\"vpid\",\"field-class\":\"wm_u4\"},"
		       "{\"name\":\"tid\",\"field-class\":\"wm_u4\"},"
		       "{\"name\":\"level\",\"field-class\":\"wm_u4\"}");
}

static void task(struct wm_text *t)
{
	wm_text_str(t, "{\"name\":\"tid\",\"field-class\":\"wm_u4\"},"
		       "{\"name\":\"flags\",\"field-class\":\"wm_x1\"},"
		       "{\"name\":\"preempt_count\",\"field-class\":\"wm_u1\"}");
}

static void counted(struct wm_text *t)
{
	wm_text_str(t, "{\"name\":\"pid\",\"field-class\":\"wm_i4\"},"
		       "{\"name\":\"tid\",\"field-class\":\"wm_i4\"}");
}

static void sampled(struct wm_text *t)
{
	counted(t);
	wm_text_str(t, ",{\"name\":\"ip\",\"field-class\":\"wm_p8\"},"
		       "{\"name\":\"period\",\"field-class\":\"wm_u8\"}");
}

static void stream(struct wm_text *t, uint32_t id, enum wm_stream_kind kind)
{
	static const struct {
		const char *name, *role;
	} context[] = {
	    {"timestamp_begin", "default-clock-timestamp"},
	    {"timestamp_end", "packet-end-default-clock-timestamp"},
	    {"content_size", "packet-content-length"},
	    {"packet_size", "packet-total-length"},
	    {"packet_seq_num", "packet-sequence-number"},
	    {"events_discarded", "discarded-event-record-counter-snapshot"},
	    {"event_count", NULL},
	};
	static void (*const contexts[WM_NR_STREAM_KINDS])(struct wm_text *) = {
	    [WM_STREAM_KIND_MIXED] = owner,
	    [WM_STREAM_KIND_TASK_COUNTERS] = counted,
	    [WM_STREAM_KIND_KERNEL] = task,
	    [WM_STREAM_KIND_SAMPLES] = sampled,
	};
	uint32_t i;

	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"data-stream-class\",\"id\":%u,"
				   "\"default-clock-class-id\":\"default\","
				   "\"packet-context-field-class\":{\"type\":\"structure\","
				   "\"member-classes\":[",
		  id);
	for (i = 0; i < sizeof(context) / sizeof(context[0]); i++) {
		if (i)
			wm_text_char(t, ',');
		integer(t, context[i].name, 64, context[i].role);
	}
	if (kind == WM_STREAM_KIND_USER) {
		wm_text_char(t, ',');
		owner(t);
	}
	if (wm_stream_class_kind_has_cpu(kind))
		wm_text_str(t, ",{\"name\":\"cpu_id\",\"field-class\":\"wm_u8\"}");
	wm_text_str(t, "]},\"event-record-header-field-class\":{\"type\":\"structure\","
		       "\"minimum-alignment\":64,\"member-classes\":[");
	integer(t, "id", 16, "event-record-class-id");
	wm_text_char(t, ',');
	integer(t, "timestamp", 48, "default-clock-timestamp");
	wm_text_str(t, "]}");
	if (contexts[kind]) {
		wm_text_str(t, ",\"event-record-common-context-field-class\":"
			       "{\"type\":\"structure\",\"member-classes\":[");
		contexts[kind](t);
		wm_text_str(t, "]}");
	}
	wm_text_str(t, "}\n");
}

static int by_name(const void *a, const void *b)
{
	const struct wm_label *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void range(struct wm_text *t, const struct wm_field *f, int64_t value)
{
	struct wm_label_value v = wm_meta_label(f, value);
	uint32_t i;

	wm_text_char(t, '[');
	for (i = 0; i < 2; i++) {
		if (i)
			wm_text_char(t, ',');
		if (v.is_signed)
			wm_text_i64(t, v.value);
		else
			wm_text_u64(t, (uint64_t)v.value);
	}
	wm_text_char(t, ']');
}

/* JSON keys must be unique: labels with the same name become one key with several ranges. */
static void mappings(struct wm_text *t, const struct wm_field *f)
{
	const struct wm_label **sorted = calloc(f->nr_labels, sizeof(*sorted));
	uint32_t i;

	if (!sorted) {
		t->failed = true;
		return;
	}
	for (i = 0; i < f->nr_labels; i++)
		sorted[i] = &f->labels[i];
	qsort(sorted, f->nr_labels, sizeof(*sorted), by_name);
	wm_text_str(t, ",\"mappings\":{");
	for (i = 0; i < f->nr_labels; i++) {
		bool same = i && !by_name(&sorted[i - 1], &sorted[i]);

		if (same) {
			wm_text_char(t, ',');
		} else {
			if (i)
				wm_text_str(t, "],");
			wm_meta_json_string(t, sorted[i]->name);
			wm_text_str(t, ":[");
		}
		range(t, f, sorted[i]->value);
	}
	wm_text_str(t, "]}");
	free(sorted);
}

static void element(struct wm_text *t, const struct wm_field *f)
{
	struct wm_scalar_name alias = wm_meta_scalar(f);

	if (!f->nr_labels) {
		wm_text_f(t, "\"wm_%s\"", alias.letters);
		return;
	}
	wm_text_f(t,
		  "{\"type\":\"fixed-length-%s-integer\",\"length\":%u,"
		  "\"byte-order\":\"little-endian\",\"alignment\":8",
		  f->scalar == WM_SCALAR_SIGNED ? "signed" : "unsigned", f->bytes * 8);
	if (f->scalar == WM_SCALAR_HEX || f->scalar == WM_SCALAR_POINTER)
		wm_text_str(t, ",\"preferred-display-base\":16");
	mappings(t, f);
	wm_text_f(t, ",\"attributes\":{\"waymark\":{\"type\":\"wm_%s\"}}}", alias.letters);
}

static void length_location(struct wm_text *t, const char *origin, const char *length)
{
	wm_text_f(t, ",\"length-field-location\":{\"origin\":\"%s\",\"path\":[", origin);
	wm_meta_json_string(t, length);
	wm_text_str(t, "]}");
}

static void field(struct wm_text *t, const struct wm_field *f, const struct wm_meta_member *m)
{
	static const char payload[] = "event-record-payload";

	if (m->length[0]) {
		wm_text_str(t, "{\"name\":");
		wm_meta_json_string(t, m->length);
		wm_text_str(t, ",\"field-class\":\"wm_u4\"},");
	}
	wm_text_str(t, "{\"name\":");
	wm_meta_json_string(t, m->name);
	wm_text_str(t, ",\"field-class\":");
	switch (f->shape) {
	case WM_SHAPE_SCALAR:
		element(t, f);
		break;
	case WM_SHAPE_STRING:
		wm_text_str(t, "{\"type\":\"null-terminated-string\"}");
		break;
	case WM_SHAPE_CHARS:
		wm_text_f(t, "{\"type\":\"static-length-string\",\"length\":%u}", f->length);
		break;
	case WM_SHAPE_ARRAY:
		wm_text_f(t,
			  "{\"type\":\"static-length-array\",\"length\":%u,"
			  "\"element-field-class\":",
			  f->length);
		element(t, f);
		wm_text_char(t, '}');
		break;
	case WM_SHAPE_SEQUENCE:
		wm_text_str(t, "{\"type\":\"dynamic-length-array\",\"element-field-class\":");
		element(t, f);
		length_location(t, payload, m->length);
		wm_text_char(t, '}');
		break;
	case WM_SHAPE_BLOB:
		wm_text_str(t, "{\"type\":\"dynamic-length-blob\"");
		length_location(t, payload, m->length);
		wm_text_char(t, '}');
		break;
	}
	wm_text_char(t, '}');
}

static void contexts_class(struct wm_text *t, uint32_t contexts)
{
	wm_text_str(t, ",\"specific-context-field-class\":{\"type\":\"structure\","
		       "\"member-classes\":[");
	if (contexts & WM_CONTEXT_CPU)
		wm_text_str(t, "{\"name\":\"cpu\",\"field-class\":\"wm_u4\"}");
	if (contexts & WM_CONTEXT_USTACK) {
		if (contexts & WM_CONTEXT_CPU)
			wm_text_char(t, ',');
		wm_text_str(t, "{\"name\":\"_ustack_length\",\"field-class\":\"wm_u4\"},"
			       "{\"name\":\"ustack\",\"field-class\":{"
			       "\"type\":\"dynamic-length-array\","
			       "\"element-field-class\":\"wm_x8\"");
		length_location(t, "event-record-specific-context", "_ustack_length");
		wm_text_str(t, "}}");
	}
	wm_text_str(t, "]}");
}

static void attributes(struct wm_text *t, uint32_t contexts, const struct wm_class *class)
{
	/* babeltrace 2.1's names of the levels. */
	static const char *const levels[] = {"emergency", "alert",  "critical", "error",
					     "warning",   "notice", "info",     "debug"};

	wm_text_f(t,
		  ",\"attributes\":{\"waymark\":{\"kind\":%u,\"line\":%u,\"flags\":%u,"
		  "\"contexts\":%u,",
		  class->kind, class->line, class->flags, contexts);
	if (class->file && class->file[0]) {
		key_string(t, "file", class->file);
		wm_text_char(t, ',');
	}
	if (class->print && class->print[0]) {
		key_string(t, "print", class->print);
		wm_text_char(t, ',');
	}
	wm_text_f(t, "\"log-level\":%u},\"babeltrace.org,2020\":{\"log-level\":\"%s\"}}",
		  class->level,
		  levels[class->level < WAYMARK_DEBUG ? class->level : WAYMARK_DEBUG]);
}

static void event(struct wm_text *t, uint32_t stream_id, uint32_t id, uint32_t contexts,
		  const struct wm_class *class)
{
	struct wm_meta_members m = wm_meta_members(class, false, NULL);
	uint32_t i;

	if (!m.at)
		t->failed = true;
	wm_text_f(t,
		  RECORD_SEPARATOR "{\"type\":\"event-record-class\",\"data-stream-class-id\":%u,"
				   "\"id\":%u,",
		  stream_id, id);
	wm_text_str(t, "\"name\":");
	wm_meta_event_name(t, class, wm_meta_json_string);
	attributes(t, contexts, class);
	if (contexts & WM_CONTEXT_ALL)
		contexts_class(t, contexts);
	wm_text_str(t, ",\"payload-field-class\":{\"type\":\"structure\",\"member-classes\":[");
	for (i = 0; m.at && i < m.count; i++) {
		if (i)
			wm_text_char(t, ',');
		field(t, &class->fields[i], &m.at[i]);
	}
	wm_text_str(t, "]}}\n");
	wm_meta_members_done(&m);
}

const struct wm_meta_format wm_meta_ctf2 = {preamble, stream, event};
