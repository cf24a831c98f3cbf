/* SPDX-License-Identifier: MIT */
/* v6.c - reads version 6 files: parts in a fixed order, then the offsets of the pages. */
#include <errno.h>
#include <string.h>

#include "read/tracedat/tracedat_int.h"

#define KIND_BYTES  10u /* "flyrecord\0" */
#define OPTIONS_MAX 65536u

typedef int read_fn(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);

static read_fn *const parts[] = {wm_td_read_header_info, wm_td_read_ftrace, wm_td_read_formats,
				 wm_td_read_kallsyms,    wm_td_read_printk, wm_td_read_comms};

static int tracedat_v6_add_buffer(struct wm_td *td, struct wm_td_in *in)
{
	char name[WM_TD_STRING_MAX];
	uint64_t offset = wm_td_u64(in);

	(void)wm_td_text(in, name);
	return in->failed ? 0 : wm_td_add_buffer(td, name, offset);
}

static int tracedat_v6_read_options(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	for (uint32_t i = 0; i < OPTIONS_MAX; i++) {
		uint16_t id = wm_td_u16(in);
		const unsigned char *data;
		struct wm_td_in option;
		uint64_t at = in->at;
		uint32_t bytes;
		int err;

		if (in->failed || !id)
			return wm_td_verdict(in, "options", diag);
		bytes = wm_td_u32(in);
		data = wm_td_take(in, bytes);
		if (!data)
			return wm_td_verdict(in, "options", diag);
		wm_td_in_memory(&option, td, data, bytes, at);
		err = id == WM_TD_OPTION_BUFFER ? tracedat_v6_add_buffer(td, &option)
						: wm_td_read_option(td, id, &option, diag);
		if (err)
			return err;
	}
	return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)in->at, "more than %u options",
			   OPTIONS_MAX);
}

/* Reads the offsets of the pages of each CPU in a buffer, which follow "flyrecord". */
static int read_places(struct wm_td *td, struct wm_td_in *in, uint32_t buffer, struct wm_diag *diag)
{
	for (uint32_t cpu = 0; cpu < td->cpu_count; cpu++) {
		struct wm_td_cpu c = {.cpu = cpu, .page_bytes = td->page_bytes, .buffer = buffer};
		int err;

		c.offset = wm_td_u64(in);
		c.bytes = wm_td_u64(in);
		if (in->failed)
			return wm_td_verdict(in, "per-CPU page offsets", diag);
		err = wm_td_add_cpu(td, &c);
		if (err == -E2BIG)
			return wm_diag_set(diag, err, td->trace->path, (int64_t)in->at,
					   "it claims more than %u CPUs", WM_TD_CPUS_MAX);
		if (err)
			return err;
	}
	return 0;
}

/* Reads "options  ", "latency  " or "flyrecord". */
static int read_kind(struct wm_td *td, struct wm_td_in *in, char *kind, struct wm_diag *diag)
{
	const unsigned char *p = wm_td_take(in, KIND_BYTES);

	if (!p)
		return wm_td_verdict(in, "data type", diag);
	memcpy(kind, p, KIND_BYTES);
	return 0;
}

static int expect_pages(struct wm_td *td, struct wm_td_in *in, const char *kind,
			struct wm_diag *diag)
{
	int64_t at = (int64_t)(in->at - KIND_BYTES);

	if (memcmp(kind, "flyrecord", KIND_BYTES) == 0)
		return 0;
	if (memcmp(kind, "latency  ", KIND_BYTES) == 0)
		return wm_diag_set(diag, -ENOTSUP, td->trace->path, at,
				   "it has the text of a latency tracer and no events; 'trace-cmd "
				   "report' shows it");
	return wm_diag_set(diag, -EBADMSG, td->trace->path, at, "the kind of its data is unknown");
}

/* Reads the buffers of instances, whose offsets are in options. */
static int read_instances(struct wm_td *td, struct wm_diag *diag)
{
	for (uint32_t i = 1; i < td->nr_buffers; i++) {
		char kind[KIND_BYTES];
		struct wm_td_in in;
		int err;

		wm_td_in_file(&in, td, td->buffers[i].offset);
		err = read_kind(td, &in, kind, diag);
		if (!err)
			err = expect_pages(td, &in, kind, diag);
		if (!err)
			err = read_places(td, &in, i, diag);
		if (!err)
			err = wm_claims_add(&td->claims, td->buffers[i].offset,
					    in.at - td->buffers[i].offset);
		wm_td_in_done(&in);
		if (err)
			return err;
	}
	return 0;
}

int wm_td_read_v6(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	char kind[KIND_BYTES];
	int err = wm_td_add_buffer(td, "", 0);

	for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++) {
		td->part_at[i] = in->at;
		err = parts[i](td, in, diag);
		td->part_end[i] = in->at;
	}
	if (err)
		return err;
	td->cpu_count = wm_td_u32(in);
	err = read_kind(td, in, kind, diag);
	if (!err && memcmp(kind, "options  ", KIND_BYTES) == 0) {
		err = tracedat_v6_read_options(td, in, diag);
		if (!err)
			err = read_kind(td, in, kind, diag);
	}
	if (!err)
		err = expect_pages(td, in, kind, diag);
	if (!err)
		err = read_places(td, in, 0, diag);
	if (!err)
		err = wm_claims_add(&td->claims, 0, in->at);
	return err ? err : read_instances(td, diag);
}
