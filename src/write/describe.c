/* SPDX-License-Identifier: MIT */
/* describe.c - describes a recording's trace, streams and events; see describe_int.h. */
#include <stdio.h>
#include <string.h>

#include <waymark/abi.h>

#include "event/context.h"
#include "write/describe_int.h"

#ifndef WM_VERSION
#define WM_VERSION "0.0.0"
#endif

#define NR(a)           (sizeof(a) / sizeof((a)[0]))
#define ALIASES_MAX     32u
#define EVENT_BYTES_MAX (64u << 20) /* bytes of one event's description */
#define LEVEL_DEBUG     14          /* in LTTng's numbering, which readers use */

/* --- the trace --------------------------------------------------------------------------- */

void wm_describe_clock_offset(const struct wm_described_trace *trace, int64_t *ret_seconds,
			      int64_t *ret_cycles)
{
	__int128 hz = trace->clock_hz, seconds;
	/*
	 * The factors have 64 and 63 bits (hz is below 2^63, as checked at creation), so the
	 * product fits in 127.
	 */
	__int128 cycles =
	    (__int128)trace->start_realtime_ns * hz / WM_NS_PER_SECOND - trace->clock_start;

	seconds = cycles / hz;
	if (cycles % hz < 0)
		seconds--;
	*ret_seconds = (int64_t)seconds;
	*ret_cycles = (int64_t)(cycles - seconds * hz);
}

static const char *clock_name(enum wm_clock_kind kind)
{
	return kind == WM_CLOCK_CYCLES ? "cycles" : "monotonic";
}

/* Names contain the type letters of <waymark/abi.h>, so that a reader recovers the exact types. */
struct alias {
	char name[8];
	struct wm_type type;
};

struct aliases {
	struct alias at[ALIASES_MAX];
	struct wm_meta_field fields[ALIASES_MAX];
	uint32_t nr;
};

static void fill_aliases(struct aliases *a, const char *clock)
{
	static const struct {
		char letter;
		uint8_t kind, look;
		uint8_t first, last; /* sizes in bytes, doubling */
	} scalars[] = {
	    {'i', WM_TYPE_SIGNED, WM_LOOK_DECIMAL, 1, 8},
	    {'u', WM_TYPE_UNSIGNED, WM_LOOK_DECIMAL, 1, 8},
	    {'x', WM_TYPE_UNSIGNED, WM_LOOK_HEX, 1, 8},
	    {'b', WM_TYPE_BOOL, WM_LOOK_DECIMAL, 1, 1},
	    {'p', WM_TYPE_UNSIGNED, WM_LOOK_POINTER, 8, 8},
	    {'c', WM_TYPE_STRING, WM_LOOK_DECIMAL, 1, 1}, /* a character */
	    {'z', WM_TYPE_BYTES, WM_LOOK_DECIMAL, 1, 1},  /* a byte */
	    {'f', WM_TYPE_FLOAT, WM_LOOK_DECIMAL, 4, 8},
	};

	a->nr = 0;
	for (uint32_t i = 0; i < NR(scalars); i++) {
		for (uint32_t bytes = scalars[i].first; bytes <= scalars[i].last; bytes *= 2) {
			struct alias *alias = &a->at[a->nr];

			(void)snprintf(alias->name, sizeof(alias->name), "wm_%c%u",
				       scalars[i].letter, bytes); /* fits */
			alias->type = (struct wm_type){.kind = scalars[i].kind,
						       .look = scalars[i].look,
						       .bits = (uint8_t)(8 * bytes)};
			a->fields[a->nr++] =
			    (struct wm_meta_field){.name = alias->name, .type = &alias->type};
		}
	}
	/*
	 * Both kinds of clock define the same alias, so that stream blocks are the same for both.
	 */
	a->fields[a->nr++] = wm_meta_frame_field("wm_clock", 64, NULL, clock);
	a->fields[a->nr++] = wm_meta_frame_field("wm_clock_low", WM_RECORD_TIME_BITS, NULL, clock);
}

struct words {
	struct wm_meta_word at[16];
	uint32_t nr;
};

static void describe_text(struct words *w, const char *key, const char *value)
{
	w->at[w->nr++] = (struct wm_meta_word){.key = key, .text = value};
}

static void describe_number(struct words *w, const char *key, uint64_t value)
{
	w->at[w->nr++] = (struct wm_meta_word){key, NULL, (int64_t)value, true};
}

static void fill_words(struct words *w, const struct wm_described_trace *trace)
{
	uint32_t version[3] = {0};

	(void)sscanf(WM_VERSION, "%u.%u.%u", &version[0], &version[1],
		     &version[2]); /* missing parts are 0 */
	w->nr = 0;
	describe_text(w, "tracer_name", "waymark");
	describe_number(w, "tracer_major", version[0]);
	describe_number(w, "tracer_minor", version[1]);
	describe_number(w, "tracer_patch", version[2]);
	describe_text(w, "hostname", trace->hostname);
	describe_text(w, "domain", "user");
	describe_number(w, "trace_format", WM_TRACE_FORMAT_VERSION);
	describe_text(w, "trace_creation_datetime", trace->created);
	describe_text(w, "clock_kind", clock_name(trace->clock_kind));
	describe_number(w, "clock_error_ns", trace->clock_error_ns);
	if (trace->sample_regs) {
		describe_number(w, "sample_regs", trace->sample_regs);
		describe_number(w, "sample_clock_error_ns", trace->sample_error_ns);
	}
	if (trace->command)
		describe_text(w, "command", trace->command);
}

/* --- members of the frames --------------------------------------------------------------- */

/* Aliases do not have roles, so CTF 2 does not use them. */
static void describe_add(struct wm_meta_frame *f, enum wm_meta_language language, const char *name,
			 uint32_t bits, const char *alias)
{
	wm_meta_frame_add(
	    f, wm_meta_frame_field(name, bits, language == WM_META_TSDL ? alias : NULL, NULL));
}

/* A number with a declared alias. The last entry of a list has no name. */
struct member {
	const char *alias, *name;
};

static void describe_add_all(struct wm_meta_frame *f, const struct member *list)
{
	static const struct wm_type type = {.kind = WM_TYPE_UNSIGNED};

	for (; list->name; list++)
		wm_meta_frame_add(f, (struct wm_meta_field){
					 .type = &type, .alias = list->alias, .name = list->name});
}

static const struct member owner[] = {
    {"wm_u4", "pid"}, {"wm_u4", "vpid"}, {"wm_u4", "tid"}, {"wm_u4", "level"}, {NULL, NULL}};

void wm_describe_trace(struct wm_text *t, enum wm_meta_language language,
		       const struct wm_described_trace *trace)
{
	const char *name = clock_name(trace->clock_kind);
	struct words words;
	struct wm_meta_clock clock = {.id = language == WM_META_TSDL ? name : "default",
				      .name = name,
				      .uuid = trace->uuid,
				      .hz = trace->clock_hz,
				      .is_epoch = true,
				      .rate_first = true};
	struct wm_meta_frame header = {.structure = {.nr_parts = 0}};
	struct aliases aliases;

	fill_aliases(&aliases, name);
	fill_words(&words, trace);
	wm_describe_clock_offset(trace, &clock.seconds, &clock.cycles);
	describe_add(&header, language, "magic", 32, "wm_u4");
	describe_add(&header, language, "uuid", 8, "wm_u1");
	describe_add(&header, language, "stream_id", 32, "wm_u4");
	describe_add(&header, language, "stream_instance_id", 64, "wm_u8");
	wm_meta_formats[language].trace(t, &(struct wm_meta_trace){
					       .uuid = trace->uuid,
					       .nr_aliases = aliases.nr,
					       .aliases = aliases.fields,
					       .nr_words = words.nr,
					       .words = words.at,
					       .nr_clocks = 1,
					       .clocks = &clock,
					       .packet_header = {&header.structure, NULL},
					   });
}

/* --- streams ----------------------------------------------------------------------------- */

static const struct member task_counters[] = {{"wm_i4", "pid"}, {"wm_i4", "tid"}, {NULL, NULL}};
static const struct member kernel[] = {
    {"wm_u4", "tid"}, {"wm_x1", "flags"}, {"wm_u1", "preempt_count"}, {NULL, NULL}};
static const struct member samples[] = {
    {"wm_i4", "pid"}, {"wm_i4", "tid"}, {"wm_p8", "ip"}, {"wm_u8", "period"}, {NULL, NULL}};

/* The event contexts of each kind of stream. */
static const struct member *const event_contexts[WM_NR_STREAM_KINDS] = {
    [WM_STREAM_KIND_MIXED] = owner,
    [WM_STREAM_KIND_TASK_COUNTERS] = task_counters,
    [WM_STREAM_KIND_KERNEL] = kernel,
    [WM_STREAM_KIND_SAMPLES] = samples,
};

void wm_describe_stream(struct wm_text *t, enum wm_meta_language language, uint32_t stream,
			enum wm_stream_kind kind)
{
	static const struct member cpu[] = {{"wm_u8", "cpu_id"}, {NULL, NULL}};
	struct wm_meta_frame packet = {.structure = {.nr_parts = 0}}, header = packet,
			     event = packet;

	describe_add(&packet, language, "timestamp_begin", 64, "wm_clock");
	describe_add(&packet, language, "timestamp_end", 64, "wm_clock");
	describe_add(&packet, language, "content_size", 64, "wm_u8");
	describe_add(&packet, language, "packet_size", 64, "wm_u8");
	describe_add(&packet, language, "packet_seq_num", 64, "wm_u8");
	describe_add(&packet, language, "events_discarded", 64, "wm_u8");
	describe_add(&packet, language, "event_count", 64, "wm_u8");
	if (kind == WM_STREAM_KIND_USER)
		describe_add_all(&packet, owner);
	if (wm_stream_class_kind_has_cpu(kind))
		describe_add_all(&packet, cpu);
	describe_add(&header, language, "id", 16, "wm_u2");
	describe_add(&header, language, "timestamp", WM_RECORD_TIME_BITS, "wm_clock_low");
	if (event_contexts[kind])
		describe_add_all(&event, event_contexts[kind]);
	wm_meta_formats[language].stream(
	    t, &(struct wm_meta_stream){
		   .id = stream,
		   .clock = "default",
		   .packet_context = {&packet.structure, NULL},
		   .header = {&header.structure, NULL},
		   .event_context = {event_contexts[kind] ? &event.structure : NULL, NULL},
		   .header_align = 8 * WM_RECORD_ALIGN,
		   .header_first = true,
	       });
}

/* --- events ------------------------------------------------------------------------------ */

/*
 * Writes "provider:name". The provider contains no colon, so that readers can split the name at the
 * first one.
 */
static void event_name(struct wm_text *t, const struct wm_class *class)
{
	wm_text_init(t);
	wm_text_str(t, class->provider);
	for (size_t i = 0; i < t->bytes; i++)
		if (t->data[i] == ':')
			t->data[i] = '_';
	wm_text_char(t, ':');
	wm_text_str(t, class->name);
}

void wm_describe_event(struct wm_text *t, enum wm_meta_language language, uint32_t stream,
		       uint32_t id, uint32_t contexts, const struct wm_class *class)
{
	const struct wm_meta_note note = {.kind = class->kind,
					  .line = class->line,
					  .flags = class->flags,
					  .contexts = contexts,
					  .level = class->level,
					  .file = class->file,
					  .print = class->print};
	struct wm_meta_event event = {.stream = stream,
				      .id = id,
				      .level =
					  class->level < WAYMARK_DEBUG ? class->level : LEVEL_DEBUG,
				      .note = &note};
	struct wm_arena arena;
	struct wm_text name;

	wm_arena_init(&arena, EVENT_BYTES_MAX);
	event_name(&name, class);
	if (name.failed ||
	    wm_describe_fields(&arena, language, contexts, class, &event.context, &event.fields)) {
		t->failed = true;
	} else {
		event.name = name.data;
		wm_meta_formats[language].event(t, &event);
	}
	wm_text_done(&name);
	wm_arena_done(&arena);
}
