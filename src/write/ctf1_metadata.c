/* SPDX-License-Identifier: MIT */
/*
 * ctf1_metadata.c - metadata in TSDL, the language of CTF 1.8. The names of its type aliases
 * contain the type letters of <waymark/abi.h>, so that a reader recovers the exact types. See
 * metadata.h.
 */
#include <string.h>

#include <waymark/abi.h>

#include "event/context.h"
#include "write/metadata.h"

/* The context of a quoted text: it determines the characters to escape. */
enum quoting { QUOTE_STRING, QUOTE_COMMENT };

static void quoted(struct wm_text *t, const char *s, enum quoting how)
{
	const char *run = s;
	uint32_t n;

	wm_text_char(t, '"');
	while (*s) {
		unsigned char c = (unsigned char)*s;

		n = wm_meta_utf8(s);
		if (n > 1 || (n == 1 && c >= ' ' && c != 0x7f && c != '"' && c != '\\' &&
			      !(c == '*' && how == QUOTE_COMMENT))) {
			s += n;
			continue;
		}
		wm_text_add(t, run, (size_t)(s - run));
		if (c == '"' || c == '\\')
			wm_text_f(t, "\\%c", c);
		else
			wm_text_f(t, "\\%03o", c);
		run = ++s;
	}
	wm_text_add(t, run, (size_t)(s - run));
	wm_text_char(t, '"');
}

static void aliases(struct wm_text *t)
{
	static const struct {
		const char *letters, *attributes;
		uint32_t first, last; /* sizes in bytes, doubling */
	} integers[] = {
	    {"i", "signed = true; base = 10;", 1, 8},
	    {"u", "signed = false; base = 10;", 1, 8},
	    {"x", "signed = false; base = 16;", 1, 8},
	    {"b", "signed = false; base = 10;", 1, 1},
	    {"p", "signed = false; base = 16;", 8, 8},
	    {"c", "signed = false; base = 10; encoding = UTF8;", 1, 1},
	    {"z", "signed = false; base = 16;", 1, 1},
	};
	uint32_t i, bytes;

	for (i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
		for (bytes = integers[i].first; bytes <= integers[i].last; bytes *= 2)
			wm_text_f(t,
				  "typealias integer { size = %u; align = 8; %s "
				  "byte_order = le; } := wm_%s%u;\n",
				  bytes * 8, integers[i].attributes, integers[i].letters, bytes);
	wm_text_str(t, "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; "
		       "byte_order = le; } := wm_f4;\n"
		       "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; "
		       "byte_order = le; } := wm_f8;\n\n");
}

static void env_string(struct wm_text *t, const char *key, const char *value)
{
	wm_text_f(t, "\t%s = ", key);
	quoted(t, value, QUOTE_STRING);
	wm_text_str(t, ";\n");
}

static void env(struct wm_text *t, const struct wm_meta_trace *trace)
{
	uint32_t version[3];

	wm_meta_version(version);
	wm_text_str(t, "env {\n");
	env_string(t, "tracer_name", "waymark");
	wm_text_f(t, "\ttracer_major = %u;\n\ttracer_minor = %u;\n\ttracer_patch = %u;\n",
		  version[0], version[1], version[2]);
	env_string(t, "hostname", trace->hostname);
	env_string(t, "domain", "user");
	wm_text_f(t, "\ttrace_format = %d;\n", WM_TRACE_FORMAT_VERSION);
	env_string(t, "trace_creation_datetime", trace->created);
	env_string(t, "clock_kind", wm_meta_clock_name(trace->clock_kind));
	wm_text_f(t, "\tclock_error_ns = %llu;\n", (unsigned long long)trace->clock_error_ns);
	if (trace->sample_regs)
		wm_text_f(t, "\tsample_regs = %llu;\n\tsample_clock_error_ns = %llu;\n",
			  (unsigned long long)trace->sample_regs,
			  (unsigned long long)trace->sample_error_ns);
	if (trace->command)
		env_string(t, "command", trace->command);
	wm_text_str(t, "};\n\n");
}

static void clock_block(struct wm_text *t, const struct wm_meta_trace *trace)
{
	uint64_t cycles;
	int64_t seconds;

	wm_meta_clock_offset(trace, &seconds, &cycles);
	wm_text_f(t, "clock {\n\tname = %s;\n\tuuid = \"", wm_meta_clock_name(trace->clock_kind));
	wm_meta_uuid(t, trace->uuid);
	wm_text_f(t,
		  "\";\n\tfreq = %llu;\n\toffset_s = %lld;\n\toffset = %llu;\n"
		  "\tprecision = 0;\n\tabsolute = TRUE;\n};\n\n",
		  (unsigned long long)trace->clock_hz, (long long)seconds,
		  (unsigned long long)cycles);
	/*
	 * Both kinds of clock define the same alias, so that stream blocks are the same for both.
	 */
	wm_text_f(t,
		  "typealias integer { size = 64; align = 8; signed = false; base = 10; "
		  "byte_order = le; map = clock.%s.value; } := wm_clock;\n"
		  "typealias integer { size = 48; align = 8; signed = false; base = 10; "
		  "byte_order = le; map = clock.%s.value; } := wm_clock_low;\n\n",
		  wm_meta_clock_name(trace->clock_kind), wm_meta_clock_name(trace->clock_kind));
}

static void preamble(struct wm_text *t, const struct wm_meta_trace *trace)
{
	wm_text_str(t, "/* CTF 1.8 */\n\n");
	aliases(t);
	wm_text_str(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	wm_meta_uuid(t, trace->uuid);
	wm_text_str(t, "\";\n\tbyte_order = le;\n"
		       "\tpacket.header := struct {\n"
		       "\t\twm_u4 magic;\n"
		       "\t\twm_u1 uuid[16];\n"
		       "\t\twm_u4 stream_id;\n"
		       "\t\twm_u8 stream_instance_id;\n"
		       "\t};\n};\n\n");
	env(t, trace);
	clock_block(t, trace);
}

static void stream(struct wm_text *t, uint32_t id, enum wm_stream_kind kind)
{
	static const char owner[] = "\t\twm_u4 pid;\n\t\twm_u4 vpid;\n"
				    "\t\twm_u4 tid;\n\t\twm_u4 level;\n";

	wm_text_f(t, "stream {\n\tid = %u;\n", id);
	wm_text_str(t, "\tevent.header := struct {\n"
		       "\t\twm_u2 id;\n"
		       "\t\twm_clock_low timestamp;\n"
		       "\t} align(64);\n"
		       "\tpacket.context := struct {\n"
		       "\t\twm_clock timestamp_begin;\n"
		       "\t\twm_clock timestamp_end;\n"
		       "\t\twm_u8 content_size;\n"
		       "\t\twm_u8 packet_size;\n"
		       "\t\twm_u8 packet_seq_num;\n"
		       "\t\twm_u8 events_discarded;\n"
		       "\t\twm_u8 event_count;\n");
	if (kind == WM_STREAM_KIND_USER)
		wm_text_str(t, owner);
	if (wm_stream_class_kind_has_cpu(kind))
		wm_text_str(t, "\t\twm_u8 cpu_id;\n");
	wm_text_str(t, "\t};\n");
	if (kind == WM_STREAM_KIND_MIXED) {
		wm_text_str(t, "\tevent.context := struct {\n");
		wm_text_str(t, owner);
		wm_text_str(t, "\t};\n");
	}
	if (kind == WM_STREAM_KIND_TASK_COUNTERS)
		wm_text_str(t,
			    "\tevent.context := struct {\n\t\twm_i4 pid;\n\t\twm_i4 tid;\n\t};\n");
	if (kind == WM_STREAM_KIND_KERNEL)
		wm_text_str(t, "\tevent.context := struct {\n\t\twm_u4 tid;\n"
			       "\t\twm_x1 flags;\n\t\twm_u1 preempt_count;\n\t};\n");
	if (kind == WM_STREAM_KIND_SAMPLES)
		wm_text_str(t, "\tevent.context := struct {\n\t\twm_i4 pid;\n\t\twm_i4 tid;\n"
			       "\t\twm_p8 ip;\n\t\twm_u8 period;\n\t};\n");
	wm_text_str(t, "};\n\n");
}

static void enumeration(struct wm_text *t, const struct wm_field *f, const char *alias)
{
	uint32_t i;

	wm_text_f(t, "\t\tenum : wm_%s { ", alias);
	for (i = 0; i < f->nr_labels; i++) {
		struct wm_label_value v = wm_meta_label(f, f->labels[i].value);

		if (i)
			wm_text_str(t, ", ");
		quoted(t, f->labels[i].name, QUOTE_STRING);
		wm_text_str(t, " = ");
		if (v.is_signed)
			wm_text_i64(t, v.value);
		else
			wm_text_u64(t, (uint64_t)v.value);
	}
	wm_text_str(t, " } _");
}

static void field(struct wm_text *t, const struct wm_field *f, const struct wm_meta_member *m)
{
	struct wm_scalar_name alias = wm_meta_scalar(f);

	if (f->shape == WM_SHAPE_STRING) {
		wm_text_f(t, "\t\tstring _%s;\n", m->name);
		return;
	}
	if (m->length[0])
		wm_text_f(t, "\t\twm_u4 _%s;\n", m->length);
	if (f->nr_labels)
		enumeration(t, f, alias.letters);
	else
		wm_text_f(t, "\t\twm_%s _", alias.letters);
	wm_text_str(t, m->name);
	if (m->length[0])
		wm_text_f(t, "[_%s]", m->length);
	else if (f->shape != WM_SHAPE_SCALAR)
		wm_text_f(t, "[%u]", f->length);
	wm_text_str(t, ";\n");
}

static void fields(struct wm_text *t, uint32_t contexts, const struct wm_class *class)
{
	static const char *const stack[] = {"ustack", "_ustack_length", NULL};
	bool has_stack = contexts & WM_CONTEXT_USTACK;
	struct wm_meta_members m = wm_meta_members(class, true, has_stack ? stack : NULL);
	uint32_t i;

	if (!m.at)
		t->failed = true;
	wm_text_str(t, "\tfields := struct {\n");
	/*
	 * The stack is a field, not a context: babeltrace2 2.0.4 aborts on a sequence in the event
	 * context.
	 */
	if (has_stack)
		wm_text_str(t, "\t\twm_u4 __ustack_length;\n"
			       "\t\twm_x8 _ustack[__ustack_length];\n");
	for (i = 0; m.at && i < m.count; i++)
		field(t, &class->fields[i], &m.at[i]);
	wm_text_str(t, "\t};\n");
	wm_meta_members_done(&m);
}

void wm_meta_tsdl_string(struct wm_text *t, const char *s)
{
	quoted(t, s, QUOTE_STRING);
}

static void event(struct wm_text *t, uint32_t stream_id, uint32_t id, uint32_t contexts,
		  const struct wm_class *class)
{
	/* Readers interpret levels in LTTng's numbering, in which TRACE_DEBUG is 14. */
	uint32_t level = class->level < WAYMARK_DEBUG ? class->level : 14;

	wm_text_f(t, "event {\n\t/* waymark kind=%u line=%u flags=%u contexts=%u", class->kind,
		  class->line, class->flags, contexts);
	if (class->file && class->file[0]) {
		wm_text_str(t, " file=");
		quoted(t, class->file, QUOTE_COMMENT);
	}
	if (class->print && class->print[0]) {
		wm_text_str(t, " print=");
		quoted(t, class->print, QUOTE_COMMENT);
	}
	wm_text_str(t, " */\n\tname = ");
	wm_meta_event_name(t, class, wm_meta_tsdl_string);
	wm_text_f(t, ";\n\tid = %u;\n\tstream_id = %u;\n\tloglevel = %u;\n", id, stream_id, level);
	if (contexts & WM_CONTEXT_CPU)
		wm_text_str(t, "\tcontext := struct {\n\t\twm_u4 _cpu;\n\t};\n");
	fields(t, contexts, class);
	wm_text_str(t, "};\n\n");
}

const struct wm_meta_format wm_meta_ctf1 = {preamble, stream, event};
