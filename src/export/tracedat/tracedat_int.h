/* SPDX-License-Identifier: MIT */
/*
 * tracedat_int.h - declarations shared by the files that write trace.dat:
 *
 *   tracedat.c  entry points: which events, which records
 *   format.c    formats for events that the kernel does not describe
 *   source.c    the input's description of its kernel (kernel_int.h)
 *   ring.c      pages of ftrace's ring, and the spool they wait in
 *   file.c      sections and options: the file
 *
 * The pages of a CPU must be contiguous in the file, but events arrive in time order. Therefore
 * full pages are first written to a temporary file (the spool), several at a time and compressed,
 * and copied to the output when all are complete.
 */
#ifndef WM_EXPORT_TRACEDAT_TRACEDAT_INT_H
#define WM_EXPORT_TRACEDAT_TRACEDAT_INT_H

#include "base/table.h"
#include "export/export.h"
#include "export/file.h"
#include "export/kernel_int.h"
#include "export/loss_int.h"
#include "read/tracedat.h"

#define WM_TDX_CPUS_MAX    4096u  /* limit on CPUs of all buffers: each has pages in memory */
#define WM_TDX_CHUNK_PAGES 10u    /* pages compressed together, the same as in trace-cmd */
#define WM_TDX_NAMES_MAX   65536u /* maximum number of thread names */

/* --- ring.c --------------------------------------------------- */

/* Several pages in the spool. */
struct wm_tdx_chunk {
	uint64_t offset;
	uint32_t packed, bytes;
	uint32_t ring;
};

struct wm_tdx_spool {
	int fd;
	uint64_t bytes;
	bool packed;
	struct wm_tdx_chunk *chunks; /* malloc'ed */
	uint32_t nr_chunks, room_chunks;
	void *zstd;
	unsigned char *buffer; /* buffer for a compressed chunk */
	size_t room;
};

/* The pages of one CPU in one buffer. */
struct wm_tdx_ring {
	uint32_t index, buffer, cpu;
	unsigned char *pages; /* WM_TDX_CHUNK_PAGES; NULL before the first event */
	uint32_t nr_pages;    /* full pages */
	uint32_t at;          /* bytes of data in the page being filled */
	uint64_t time;        /* time of the page's last record */
	/* records lost before the page; WM_PAGE_LOST_UNKNOWN: number unknown */
	uint64_t lost;
	bool open;              /* a page has been started and has a time */
	uint64_t offset, bytes; /* range in the output, once written there */
};

int wm_tdx_spool_open(struct wm_tdx_spool *s, bool packed);
void wm_tdx_spool_done(struct wm_tdx_spool *s);

/* Adds a record. Returns 0, -E2BIG when it is larger than a page, or -errno. */
int wm_tdx_ring_add(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l,
		    uint64_t time, const void *record, uint32_t bytes);
/* Adds a loss at this point: the next record starts a new page. */
int wm_tdx_ring_lose(struct wm_tdx_spool *s, struct wm_tdx_ring *r, const struct wm_page_layout *l,
		     uint64_t count);
int wm_tdx_ring_finish(struct wm_tdx_spool *s, struct wm_tdx_ring *r,
		       const struct wm_page_layout *l);
/* Appends a ring's pages to the output. */
int wm_tdx_ring_copy(struct wm_tdx_spool *s, struct wm_tdx_ring *r, bool swap,
		     struct wm_export_file *out);

/* --- tracedat.c -------------------------------------------------------- */

/* How events of a type are written. */
struct wm_tdx_event {
	enum { WM_TDX_NEW, WM_TDX_RECORD, WM_TDX_KERNELS, WM_TDX_MADE, WM_TDX_LEFT_OUT } how;
	const struct wm_kformat *format; /* set for KERNELS and MADE */
	const char *why;                 /* set for LEFT_OUT */
};

struct wm_tdx {
	struct wm_export *x;
	struct wm_trace *trace;
	struct wm_arena arena;
	struct wm_export_file out;
	struct wm_tdx_source source;
	struct wm_tdx_made made;
	struct wm_tdx_spool spool;
	struct wm_tdx_event *events;     /* indexed by type */
	struct wm_export_losses *losses; /* indexed by stream */
	struct wm_tdx_ring **rings;
	uint32_t nr_rings, nr_held;  /* nr_held: estimated number with pages in memory */
	struct wm_tdx_ring **by_cpu; /* table of WM_TDX_CPUS_MAX entries per buffer */
	uint32_t nr_buffers, nr_cpus, nr_made;
	uint64_t options_at, parts_at[WM_TD_NR_PARTS], *buffers_at; /* offsets in the output */
	int64_t base_ns; /* subtracted from times in pages; not used for trace.dat input */
	struct wm_text record, scratch;
	struct wm_tdx_name {
		int32_t tid;
		const char *name;
	} * names;                  /* WM_TDX_NAMES_MAX, in order of appearance */
	struct wm_table name_table; /* of names, by tid */
};

/* --- file.c --------------------------------------------------- */

void wm_tdx_write_head(struct wm_tdx *d);
/* Writes the whole file, but does not publish it. 0 or -errno. */
int wm_tdx_write(struct wm_tdx *d);

#endif
