/* SPDX-License-Identifier: MIT */
/*
 * kernel_int.h - what an output says of the kernel whose events it holds, from
 * what the input knows of it: trace.dat, perf.data with tracing data, our own
 * recordings. In the words of trace.dat; perf.data has the same ones.
 */
#ifndef WM_EXPORT_KERNEL_INT_H
#define WM_EXPORT_KERNEL_INT_H

#include "export/kernel_record_int.h"
#include "read/tracedat.h"

/* --- format.c ------------------------------------------------- */

/* Formats made here, by system. */
struct wm_tdx_made {
	struct wm_tdx_system {
		char *name;
		struct wm_text formats; /* u64 bytes, text; of each event */
		uint32_t nr_formats;
		struct wm_tdx_system *next;
	} * systems;
	uint32_t nr_systems;
};
/* Adds a format's text. 0 or -ENOMEM. */
int wm_tdx_made_add(struct wm_tdx_made *m, const char *system, const char *text, size_t bytes,
		    bool big_endian);
/* A format of that id for the type; `ret` lives in the arena. 0 or -errno. */
int wm_tdx_make_format(struct wm_tdx_made *m, struct wm_arena *arena, const struct wm_kmachine *k,
		       const struct wm_event_type *type, uint32_t id,
		       const struct wm_kformat **ret);
/* The systems made here, behind those of `formats`, a part as WM_TD_FORMATS is. */
void wm_tdx_made_join(const struct wm_tdx_made *m, struct wm_text *formats, bool big_endian);
void wm_tdx_made_done(struct wm_tdx_made *m);

static inline void wm_tdx_u(struct wm_text *t, uint64_t value, uint32_t bytes, bool big_endian)
{
	for (uint32_t i = 0; i < bytes; i++)
		wm_text_char(t, (char)(value >> 8 * (big_endian ? bytes - 1 - i : i)));
}

/* --- source.c ------------------------------------------------- */

/* What the output says of the kernel. All texts are as the file has them: counts, sizes. */
struct wm_tdx_source {
	struct wm_kmachine machine;
	struct wm_page_layout layout;
	const struct wm_kformats *formats; /* of the input; NULL: none */
	struct wm_kformats *own_formats;   /* the same, to be freed */
	struct wm_text parts[WM_TD_NR_PARTS];
	const struct wm_td *td; /* the input is trace.dat: records are taken as they are */
	bool raw;               /* events bring their record, if the kernel has a format for them */
	uint32_t nr_ids;        /* ids that are taken: formats made here come behind */
};

/* `made` gets the formats of our own recordings. 0 or -errno with `diag`. */
int wm_tdx_source_init(struct wm_tdx_source *s, struct wm_tdx_made *made, struct wm_trace *t,
		       struct wm_diag *diag);
/*
 * The kernel's own format of an event "system:name" of ours with these fields; NULL: there is
 * none, or it is another's.
 */
const struct wm_kformat *wm_tdx_source_format(const struct wm_tdx_source *s, const char *name,
					      const struct wm_type *fields);
void wm_tdx_source_done(struct wm_tdx_source *s);

#endif
