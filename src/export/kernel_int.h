/* SPDX-License-Identifier: MIT */
/*
 * kernel_int.h - the description of the traced kernel, which trace.dat and perf.data contain in the
 * same form. It is taken from the input: a trace.dat, a perf.data with tracing data, or a waymark
 * recording.
 */
#ifndef WM_EXPORT_KERNEL_INT_H
#define WM_EXPORT_KERNEL_INT_H

#include "export/kernel_record_int.h"
#include "read/tracedat.h"

/* --- format.c ------------------------------------------------- */

/* Formats created by the exporter, grouped by system. */
struct wm_tdx_made {
	struct wm_tdx_system {
		char *name;
		struct wm_text formats; /* for each event: u64 size, text */
		uint32_t nr_formats;
		struct wm_tdx_system *next;
	} * systems;
	uint32_t nr_systems;
};
/* Appends the text of a format. 0 or -ENOMEM. */
int wm_tdx_made_add(struct wm_tdx_made *m, const char *system, const char *text, size_t bytes,
		    bool big_endian);
/* Creates a format with that id for an event type; *ret is in the arena. 0 or -errno. */
int wm_tdx_make_format(struct wm_tdx_made *m, struct wm_arena *arena, const struct wm_kmachine *k,
		       const struct wm_event_type *type, uint32_t id,
		       const struct wm_kformat **ret);
/* Appends these formats to `formats`, which has the layout of part WM_TD_FORMATS. */
void wm_tdx_made_join(const struct wm_tdx_made *m, struct wm_text *formats, bool big_endian);
void wm_tdx_made_done(struct wm_tdx_made *m);

static inline void wm_tdx_u(struct wm_text *t, uint64_t value, uint32_t bytes, bool big_endian)
{
	for (uint32_t i = 0; i < bytes; i++)
		wm_text_char(t, (char)(value >> 8 * (big_endian ? bytes - 1 - i : i)));
}

/* --- source.c ------------------------------------------------- */

/*
 * The output's description of the kernel. Each text is a part of the file, with its counts and
 * sizes.
 */
struct wm_tdx_source {
	struct wm_kmachine machine;
	struct wm_page_layout layout;
	const struct wm_kformats *formats; /* formats in the input; may be NULL */
	struct wm_kformats *own_formats;   /* the same formats, when this struct owns them */
	struct wm_text parts[WM_TD_NR_PARTS];
	const struct wm_td *td; /* set if the input is a trace.dat: records are copied unchanged */
	bool raw;        /* events for which the kernel has a format carry their raw record */
	uint32_t nr_ids; /* formats created by the exporter get ids from here on */
};

/* For waymark's own recordings, the formats are stored in `made`. 0 or -errno with `diag`. */
int wm_tdx_source_init(struct wm_tdx_source *s, struct wm_tdx_made *made, struct wm_trace *t,
		       struct wm_diag *diag);
/*
 * Returns the kernel's own format of a recorded event "system:name" with these
 * fields; NULL: the kernel has none, or its fields differ.
 */
const struct wm_kformat *wm_tdx_source_format(const struct wm_tdx_source *s, const char *name,
					      const struct wm_type *fields);
void wm_tdx_source_done(struct wm_tdx_source *s);

#endif
