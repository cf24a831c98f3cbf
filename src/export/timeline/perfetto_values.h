/* SPDX-License-Identifier: MIT */
/*
 * perfetto_values.h - writes the values of an event as Perfetto's DebugAnnotations, typed and
 * nested, and interns names: each name is written once per output file, and referred to by number
 * afterwards.
 *
 * Integers and reals keep their types, hexadecimal integers become pointers; the value of an
 * enumeration is "label (3)"; bytes become hexadecimal text; an absent optional has a name and no
 * value.
 */
#ifndef WM_EXPORT_TIMELINE_PERFETTO_VALUES_H
#define WM_EXPORT_TIMELINE_PERFETTO_VALUES_H

#include "base/pb.h"
#include "base/table.h"
#include "trace/name_table.h"
#include "trace/reader.h"
#include "view/writer.h"

/* maximum number of names with numbers; any more are written in full */
#define WM_PERFETTO_NAMES_MAX (1u << 16)
#define WM_PERFETTO_RECENT    256u

/* The kind of name: each kind has its own numbers. */
enum wm_perfetto_name {
	WM_PERFETTO_CATEGORY = 1, /* values are field numbers of InternedData */
	WM_PERFETTO_EVENT = 2,
	WM_PERFETTO_ANNOTATION = 3,
};

struct wm_perfetto_names {
	struct wm_names names;
	struct {
		const char *text; /* address of the name; the text there may have changed */
		uint32_t id;
	} recent[WM_PERFETTO_RECENT];
	unsigned char *sent; /* by id: bits 1 << enum wm_perfetto_name, set once written */
	uint32_t room;
	struct wm_text pending; /* InternedData for the next packet */
};

/* 0 or -ENOMEM. */
int wm_perfetto_names_init(struct wm_perfetto_names *n);
void wm_perfetto_names_done(struct wm_perfetto_names *n);

/* Returns the number of a name; 0: there are too many names, so it must be written in full. */
uint64_t wm_perfetto_name(struct wm_perfetto_names *n, enum wm_perfetto_name kind,
			  const char *text);

/* Called when a new file begins: all names used so far will be written again. */
void wm_perfetto_names_again(struct wm_perfetto_names *n);

struct wm_perfetto_shape;

struct wm_perfetto_values {
	struct wm_perfetto_names *names;
	struct wm_arena arena;
	struct wm_perfetto_shape **shapes; /* in the arena */
	struct wm_table table;             /* of shapes, by type */
};

void wm_perfetto_values_init(struct wm_perfetto_values *v, struct wm_perfetto_names *names);
void wm_perfetto_values_done(struct wm_perfetto_values *v);

/* Begins an annotation with that name; the caller ends it with wm_pb_end(). */
size_t wm_perfetto_values_begin(struct wm_perfetto_values *v, uint32_t field, const char *name,
				struct wm_text *t);

/*
 * Appends the event's values as repeated DebugAnnotations. `field` is their field number: 4 in a
 * TrackEvent, 11 in another annotation. 0 or -ENOMEM.
 */
int wm_perfetto_values_put(struct wm_perfetto_values *v, const struct wm_view *view, uint32_t trace,
			   const struct wm_event *e, uint32_t field, struct wm_text *t);

#endif
