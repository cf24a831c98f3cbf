/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - reads CTF 1.8 and CTF 2: one trace, or a folder with a tree of them.
 *
 * Exporters may also ask what an open CTF trace consists of: its folders, each one CTF trace, with
 * their metadata trees (ctf_tree.h) and stream classes. The answers belong to the reader and live
 * as long as the trace.
 */
#ifndef WM_READ_CTF_H
#define WM_READ_CTF_H

#include "trace/reader.h"

struct wm_ctf_folder;
struct wm_ctf_metadata;
struct wm_ctf_stream_plan;

extern const struct wm_reader_ops wm_ctf_ops;

/*
 * Converts ticks to ns since the clock's origin: the time of tick 0 plus the ticks, each rounded
 * down.
 */
int64_t wm_ctf_ns(const struct wm_trace_clock *c, uint64_t ticks);

/*
 * Reads the formats of the kernel's events; each follows a line "# SYSTEM/NAME BYTES". -ENOENT: the
 * trace has none.
 */
int wm_ctf_own_formats(struct wm_trace *t, char **ret_text, size_t *ret_bytes);

/* --- the metadata of a folder, whether or not it can be read (open.c) ------------- */

/*
 * Calls `each` with the text of every metadata file at or below a folder; `name` is the file's path
 * relative to it. `each` returns 0, or -errno to stop. -ENOENT: there is none; other errors with
 * `diag`.
 */
int wm_ctf_each_metadata(const char *path,
			 int (*each)(void *data, const char *name, uint32_t nr, const char *text,
				     size_t bytes),
			 void *data, struct wm_diag *diag);

/* --- the parts of a trace whose ops are wm_ctf_ops (outline.c) ------------------ */

/* Returns the i-th folder; NULL past the last. */
const struct wm_ctf_folder *wm_ctf_folder_at(const struct wm_trace *t, uint32_t i);
const struct wm_ctf_folder *wm_ctf_folder_of(const struct wm_stream *s);

const char *wm_ctf_folder_name(const struct wm_ctf_folder *f); /* "": the trace's path itself */
const struct wm_ctf_metadata *wm_ctf_folder_metadata(const struct wm_ctf_folder *f); /* or NULL */

/* Returns the i-th stream class of a folder; NULL past the last. */
const struct wm_ctf_stream_plan *wm_ctf_class_at(const struct wm_ctf_folder *f, uint32_t i);
const struct wm_ctf_stream_plan *wm_ctf_class_of(const struct wm_stream *s);

/* Returns the packet's times in ticks of its clock; false: not known. */
bool wm_ctf_packet_ticks(const struct wm_trace *t, const struct wm_packet *p, uint64_t *ret_begin,
			 uint64_t *ret_end);

uint64_t wm_ctf_class_id(const struct wm_ctf_stream_plan *c);
const struct wm_trace_clock *wm_ctf_class_clock(const struct wm_ctf_stream_plan *c); /* or NULL */
/* The clock's id in the metadata; NULL: it is not described there. */
const char *wm_ctf_class_clock_id(const struct wm_ctf_stream_plan *c);
/* The types of PACKET_CONTEXT and STREAM_CONTEXT; NULL: none. */
const struct wm_type *wm_ctf_class_part(const struct wm_ctf_stream_plan *c, enum wm_part part);
/* Returns the i-th event by id, and the id; NULL past the last. */
const struct wm_event_type *wm_ctf_class_event(const struct wm_ctf_stream_plan *c, uint32_t i,
					       uint64_t *ret_id);

#endif
