/* SPDX-License-Identifier: MIT */
/*
 * perfdata_int.h - what the files that write perf.data share:
 *
 *   perfdata.c          the door: which events, which records
 *   header.c   the file around them: header, attrs, features
 *   sample.c   events of ours as records of the kernel
 *
 * Records come in order of time, so a round ends anywhere: perf need not hold
 * more than one in memory.
 */
#ifndef WM_EXPORT_PERFDATA_PERFDATA_INT_H
#define WM_EXPORT_PERFDATA_PERFDATA_INT_H

#include "export/export.h"
#include "export/file.h"
#include "export/kernel_int.h"
#include "read/perfdata.h"

#define WM_PDX_RECORD_MAX    65535u
#define WM_PDX_ROUND_RECORDS 10000u
#define WM_PDX_ATTR_BYTES    128u /* of attrs made here: as old as perf can be */

/* A kind of sample of ours. */
struct wm_pdx_attr {
	const struct wm_event_type *type;
	uint64_t id, sample_type;
	const struct wm_kformat *format; /* of a tracepoint, whose records are samples' RAW */
	uint32_t first_field;            /* of it, among the members: behind parts of samples */
	bool loses_fields;               /* there are some, and no format of the kernel's */
	unsigned char bytes[WM_PDX_ATTR_BYTES];
};

struct wm_pdx {
	struct wm_export *x;
	struct wm_trace *trace;
	const struct wm_pd *pd; /* the input is perf.data; NULL: it is not */
	bool swap;              /* numbers are of the other byte order */
	struct wm_arena arena;
	struct wm_export_file out;
	struct wm_text text;       /* a record, a feature: one at a time */
	struct wm_pdx_attr *attrs; /* made here */
	uint32_t nr_attrs;
	struct wm_pdx_attr **by_type; /* by index of the type */
	uint64_t regs_user;           /* mask of our recordings' registers */
	int64_t base_ns;              /* what times count from */
	struct wm_tdx_source source;  /* the kernel of our recording */
	struct wm_tdx_made formats;   /* of its events */
	struct wm_text record, scratch;
	uint64_t attrs_at, attrs_bytes, attr_bytes, data_at;
	uint32_t nr_in_round;
};

/* --- header.c -------------------------------------------------- */

/* Header, ids and attrs; records follow. 0 or -errno. */
int wm_pdx_begin(struct wm_pdx *d);
/* Behind the records: features; then the header is true. 0 or -errno. */
int wm_pdx_end(struct wm_pdx *d);

/* --- sample.c -------------------------------------------------- */

/* The attrs of all types that are samples. 0 or -errno with `diag`. */
int wm_pdx_make_attrs(struct wm_pdx *d, struct wm_diag *diag);

/*
 * The record of an event in d->text. 1; 0: it is no sample and nothing a task
 * did; -E2BIG: longer than a record can be; -ENOMEM.
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
