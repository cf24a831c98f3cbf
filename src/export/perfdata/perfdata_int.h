/* SPDX-License-Identifier: MIT */
/*
 * perfdata_int.h - declarations shared by the files that write perf.data:
 *
 *   perfdata.c  entry points: which events, which records
 *   header.c    the file around the records: header, attrs, features
 *   sample.c    waymark's events as kernel records
 *
 * Records are in time order, so a round can end anywhere: perf need not hold more than one round in
 * memory.
 */
#ifndef WM_EXPORT_PERFDATA_PERFDATA_INT_H
#define WM_EXPORT_PERFDATA_PERFDATA_INT_H

#include "export/export.h"
#include "export/file.h"
#include "export/kernel_int.h"
#include "read/perfdata.h"

#define WM_PDX_RECORD_MAX    65535u
#define WM_PDX_ROUND_RECORDS 10000u
/* size of the attrs created here, which old versions of perf accept */
#define WM_PDX_ATTR_BYTES 128u

/* An event type of a waymark recording that is written as samples. */
struct wm_pdx_attr {
	const struct wm_event_type *type;
	uint64_t id, sample_type;
	/* format of a tracepoint, whose record is in the sample's RAW */
	const struct wm_kformat *format;
	/*
	 * index of the member that is the tracepoint's first field; the parts of the sample precede
	 * it
	 */
	uint32_t first_field;
	bool loses_fields; /* the fields cannot be written: the kernel has no format for them */
	unsigned char bytes[WM_PDX_ATTR_BYTES];
};

struct wm_pdx {
	struct wm_export *x;
	struct wm_trace *trace;
	const struct wm_pd *pd; /* set if the input is perf.data */
	bool swap;              /* numbers have the other byte order */
	struct wm_arena arena;
	struct wm_export_file out;
	struct wm_text text;       /* buffer for one record or feature */
	struct wm_pdx_attr *attrs; /* attrs created here */
	uint32_t nr_attrs;
	struct wm_pdx_attr **by_type; /* indexed by type */
	uint64_t regs_user;           /* mask of the registers in the recording */
	int64_t base_ns;              /* subtracted from times */
	struct wm_tdx_source source;  /* description of the recording's kernel */
	struct wm_tdx_made formats;   /* formats of the kernel's events */
	struct wm_text record, scratch;
	uint64_t attrs_at, attrs_bytes, attr_bytes, data_at;
	uint32_t nr_in_round;
};

/* --- header.c -------------------------------------------------- */

/* Writes header, ids and attrs; records follow. 0 or -errno. */
int wm_pdx_begin(struct wm_pdx *d);
/* Writes the features after the records, then the final header. 0 or -errno. */
int wm_pdx_end(struct wm_pdx *d);

/* --- sample.c -------------------------------------------------- */

/* Creates the attrs of all types that are samples. 0 or -errno with `diag`. */
int wm_pdx_make_attrs(struct wm_pdx *d, struct wm_diag *diag);

/*
 * Writes the record of an event to d->text. Returns 1, 0 when it is neither a sample nor a task
 * event, -E2BIG when it is longer than a record can be, or -ENOMEM.
 */
int wm_pdx_record(struct wm_pdx *d, const struct wm_event *e);

static inline void wm_pdx_u(const struct wm_pdx *d, struct wm_text *t, uint64_t value,
			    uint32_t bytes)
{
	bool big = wm_order_swap(false) != d->swap;

	for (uint32_t i = 0; i < bytes; i++)
		wm_text_char(t, (char)(value >> 8 * (big ? bytes - 1 - i : i)));
}

#endif
