/* SPDX-License-Identifier: MIT */
/* perfdata.c - entry points of the perf.data exporter; see perfdata_int.h. */
#include "export/perfdata/perfdata.h"

#include <errno.h>
#include <stdlib.h>

#include "export/perfdata/perfdata_int.h"
#include "export/single_int.h"
#include "read/perfdata.h"

#define MEMORY_MAX (64u << 20)

static int64_t perfdata_export_base_of(const struct wm_trace *t)
{
	for (uint32_t i = 0; i < t->nr_clocks; i++)
		if (t->clocks[i]->is_epoch)
			return t->clocks[i]->offset_ns;
	return 0;
}

static int perfdata_export_begin(struct wm_export *x, struct wm_diag *diag)
{
	struct wm_pdx *d = x->own;
	struct wm_trace *t = d->trace;
	int err;

	if (t->ops == &wm_perfdata_ops) {
		d->pd = t->own;
		d->swap = d->pd->swap;
		return d->pd->nr_attrs
			   ? wm_pdx_begin(d)
			   : wm_diag_set(
				 diag, -EINVAL, t->path, -1,
				 "it has no event attributes (attrs), which describe its records");
	}
	d->base_ns = perfdata_export_base_of(t);
	err = wm_pdx_make_attrs(d, diag);
	if (!err && !d->nr_attrs)
		return wm_diag_set(diag, -EINVAL, t->path, -1,
				   "it has no samples, and perf.data holds nothing else; record "
				   "some with 'waymark record -F'");
	return err ? err : wm_pdx_begin(d);
}

static int perfdata_export_open_any(struct wm_export *x, struct wm_diag *diag)
{
	struct wm_pdx *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	x->own = d;
	d->x = x;
	d->trace = x->traces[0];
	d->out.fd = -1;
	wm_arena_init(&d->arena, MEMORY_MAX);
	wm_text_init(&d->text);
	wm_text_init(&d->record);
	wm_text_init(&d->scratch);
	return wm_export_single_open(x, &d->out, "a perf.data file can hold only one recording",
				     perfdata_export_begin, diag);
}

static int write_record(struct wm_pdx *d, const void *record, size_t bytes)
{
	wm_export_file_write(&d->out, record, bytes);
	if (++d->nr_in_round < WM_PDX_ROUND_RECORDS)
		return d->out.err;
	d->nr_in_round = 0;
	wm_text_cut(&d->text, 0);
	wm_pdx_u(d, &d->text, WM_PD_FINISHED_ROUND, 4);
	wm_pdx_u(d, &d->text, 0, 2);
	wm_pdx_u(d, &d->text, WM_PERF_HEADER_BYTES, 2);
	if (d->text.failed)
		return -ENOMEM;
	wm_export_file_write(&d->out, d->text.data, d->text.bytes);
	return d->out.err;
}

/*
 * Writes a record from the input. perf 6.1 aborts at a mapping whose header promises a build-id
 * that the record lacks, so the promise is removed; see perf_record_has_build_id().
 */
static int copy_record(struct wm_pdx *d, const unsigned char *record)
{
	struct wm_perf_header h = wm_kperf_header_get(record, d->swap);
	struct wm_perf_record r;

	if (h.type != WM_PERF_MMAP2 || !(h.misc & WM_PERF_MISC_MMAP_BUILD_ID) ||
	    wm_kperf_record_parse(&d->pd->attrs[0].shape, record, h.size, &r, NULL) != 1 ||
	    r.mmap.build_id)
		return write_record(d, record, h.size);
	wm_text_cut(&d->record, 0);
	wm_pdx_u(d, &d->record, h.type, 4);
	wm_pdx_u(d, &d->record, h.misc & ~WM_PERF_MISC_MMAP_BUILD_ID, 2);
	wm_text_add(&d->record, record + 6, h.size - 6u);
	return d->record.failed ? -ENOMEM : write_record(d, d->record.data, d->record.bytes);
}

static int perfdata_export_event(struct wm_export *x, uint32_t trace, const struct wm_event *e)
{
	struct wm_pdx *d = x->own;
	int got;

	if (d->pd && !e->record) {
		/* When a record yields several events, only the first of them has it. */
		if (e->type == ((const struct wm_pd_attr *)e->type->own)->counts)
			wm_export_skip(x, "perf stat counts", 1);
		return 0;
	}
	if (d->pd)
		return copy_record(d, e->record);
	got = wm_pdx_record(d, e);
	if (got == 1)
		return write_record(d, d->text.data, d->text.bytes);
	if (got == -ENOMEM)
		return got;
	if (got == -E2BIG)
		wm_export_skip(x, "longer than perf's limit for a record", 1);
	else if (!e->type->meta)
		wm_export_skip(x, "they are not samples, and have no place in a perf.data file", 1);
	return 0;
}

static int perfdata_export_close_any(struct wm_export *x, bool whole, struct wm_diag *diag)
{
	struct wm_pdx *d = x->own;
	int err = 0;

	if (!d)
		return 0;
	if (whole)
		err = wm_export_single_finish(x, &d->out, wm_pdx_end(d), diag);
	x->nr_files = 1;
	wm_export_file_done(&d->out);
	wm_text_done(&d->text);
	wm_text_done(&d->record);
	wm_text_done(&d->scratch);
	wm_tdx_made_done(&d->formats);
	wm_tdx_source_done(&d->source);
	wm_arena_done(&d->arena);
	free(d);
	x->own = NULL;
	return err;
}

const struct wm_exporter_ops wm_export_perfdata = {
    .suffixes = ".data",
    .summary = "perf.data, samples only: for perf report, perf script, hotspot",
    .needs_meta = true,
    .no_parts = 1u << WM_PART_PACKET_HEADER | 1u << WM_PART_PACKET_CONTEXT | 1u << WM_PART_HEADER,
    .open = perfdata_export_open_any,
    .event = perfdata_export_event,
    .close = perfdata_export_close_any,
};
