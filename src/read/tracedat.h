/* SPDX-License-Identifier: MIT */
/*
 * tracedat.h - reads trace.dat, the format of trace-cmd and KernelShark:
 * versions 6 and 7, compressed by zlib or zstd or uncompressed, with any number
 * of buffers, from 32-bit and 64-bit machines of either byte order.
 *
 * Events are named "system:name". Their common fields are items of
 * WM_PART_STREAM_CONTEXT, their own fields of WM_PART_FIELDS.
 */
#ifndef WM_READ_TRACEDAT_H
#define WM_READ_TRACEDAT_H

#include "kdata/formats.h"
#include "kdata/page.h"
#include "kdata/print.h"
#include "read/claim_int.h"
#include "trace/reader.h"

extern const struct wm_reader_ops wm_tracedat_ops;

/*
 * --- for exporters: what an open trace.dat file holds besides its events ------
 *
 * A trace whose ops are wm_tracedat_ops has a struct wm_td as its `own`. It
 * belongs to the reader and lives as long as the trace; exporters only read it.
 */

/* The parts of a file of either version, in the order of version 6. */
enum wm_td_part_kind {
	WM_TD_HEADER_INFO,
	WM_TD_FTRACE,
	WM_TD_FORMATS,
	WM_TD_KALLSYMS,
	WM_TD_PRINTK,
	WM_TD_COMMS,
	WM_TD_NR_PARTS
};

/* Options that the reader uses, and options that are only copied. */
enum wm_td_option {
	WM_TD_OPTION_DONE = 0,
	WM_TD_OPTION_DATE = 1,
	WM_TD_OPTION_CPUSTAT = 2,
	WM_TD_OPTION_BUFFER = 3,
	WM_TD_OPTION_TRACECLOCK = 4,
	WM_TD_OPTION_UNAME = 5,
	WM_TD_OPTION_HOOK = 6,
	WM_TD_OPTION_OFFSET = 7,
	WM_TD_OPTION_CPUCOUNT = 8,
	WM_TD_OPTION_VERSION = 9,
	WM_TD_OPTION_TRACEID = 11,
	WM_TD_OPTION_TIME_SHIFT = 12,
	WM_TD_OPTION_TSC2NSEC = 14,
	/* options below this number are independent of the file and can be copied */
	WM_TD_OPTION_LAST_KEPT,
	WM_TD_OPTION_PARTS = 16, /* from here on, version 7: the offset of each part */
	WM_TD_OPTION_BUFFER_TEXT = 22,
};

/* An option's bytes from the file, for exporters that write them again. */
struct wm_td_kept {
	uint16_t id;
	uint32_t bytes;
	const unsigned char *data;
};

enum wm_td_codec { WM_TD_PLAIN, WM_TD_ZLIB, WM_TD_ZSTD };

/* Corrections of a CPU's clock; each is valid from a given time on. */
struct wm_td_sync {
	bool interpolate;
	uint32_t nr;
	uint64_t *times, *offsets, *scales, *fractions; /* fractions NULL: all 0 */
};

/* The pages of one CPU in one buffer. */
struct wm_td_cpu {
	uint32_t cpu, page_bytes;
	uint64_t offset, bytes; /* range in the file */
	bool packed;
	uint32_t buffer; /* index */
	const struct wm_stream *stream;
	const struct wm_td_sync *sync; /* NULL: no correction */
};

struct wm_td_buffer {
	const char *name; /* "": the top-level buffer */
	/* offset of its list of pages (version 6) or of its section (version 7) */
	uint64_t offset;
};

/* The `own` data of an event type. */
struct wm_td_event {
	const struct wm_kformat *format;
	const struct wm_kform *form;
	const struct wm_kfield *pid; /* the field with the thread's id; NULL: records have none */
	uint32_t nr_items;           /* number of items of an event whose arrays are all empty */
};

struct wm_td {
	struct wm_trace *trace;
	int fd;
	uint64_t file_bytes;
	int version;
	struct wm_kmachine machine;
	struct wm_page_layout layout;
	uint32_t page_bytes; /* page size from the head of the file */
	enum wm_td_codec codec;
	struct wm_kformats *formats;
	uint64_t
	    /*
	     * Offset of the symbols' size and text, or of the section that contains them; 0: none.
	     */
	    kallsyms_at;
	bool kallsyms_in_section;     /* the section may be compressed */
	struct wm_event_type **types; /* indexed by id; NULL: no such event */
	uint32_t nr_types;
	struct wm_trace_clock *clock;

	uint32_t nr_buffers, nr_cpus;
	struct wm_td_buffer *buffers;
	struct wm_td_cpu *cpus;
	uint32_t cpu_count; /* version 6: number of offset and size pairs */
	/* Version 6: start and end of each part; version 7: offset of its section. 0: none. */
	uint64_t part_at[WM_TD_NR_PARTS], part_end[WM_TD_NR_PARTS];
	uint32_t nr_kept;
	struct wm_td_kept *kept;

	uint32_t nr_syncs;
	struct wm_td_sync *syncs; /* indexed by CPU */
	struct wm_claims claims;  /* used only while the file is opened */

	/* Conversion of ticks to nanoseconds. */
	int64_t offset_ns;
	uint32_t mult, shift; /* mult 0: ticks are nanoseconds */
};

/* Appends a part's bytes, decompressed. 0 or -errno with `diag`. */
int wm_td_part_load(const struct wm_td *td, enum wm_td_part_kind part, struct wm_text *out,
		    struct wm_diag *diag);

#endif
