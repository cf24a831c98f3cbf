/* SPDX-License-Identifier: MIT */
/*
 * v7.c - reads version 7 files: a chain of option sections holds the offset of every section.
 */
#include <errno.h>
#include <string.h>

#include "read/tracedat/tracedat_int.h"

#define SECTION_BUFFER  3u
#define SECTION_STRINGS 15u

#define CHAIN_MAX   4096u /* maximum number of option sections */
#define OPTIONS_MAX 65536u

struct chain {
	uint64_t next; /* offset of the next option section; 0: end */
	uint32_t nr_options, nr_texts;
};

typedef int read_fn(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag);

static read_fn *const readers[WM_TD_NR_PARTS] = {
    wm_td_read_header_info, wm_td_read_ftrace, wm_td_read_formats,
    wm_td_read_kallsyms,    wm_td_read_printk, wm_td_read_comms,
};

uint64_t wm_td_v7_strings(const void *data, uint64_t offset, uint64_t left)
{
	uint64_t bytes;
	uint16_t id;

	if (wm_td_section_head(data, offset, &id, &bytes) || id != SECTION_STRINGS || bytes > left)
		return 0;
	return bytes;
}

/*
 * Claims the bytes of a section that is referred to. For a buffer's section only the header is
 * claimed, because its size is not reliable.
 */
static int claim_section(struct wm_td *td, uint64_t offset)
{
	uint64_t bytes;
	uint16_t id;

	return wm_td_section_head(td, offset, &id, &bytes)
		   ? 0
		   : wm_claims_add(&td->claims, offset,
				   id == SECTION_BUFFER ? WM_TD_SECTION_HEAD : bytes);
}

static int tracedat_v7_add_buffer(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	char name[WM_TD_STRING_MAX], clock[WM_TD_STRING_MAX];
	uint64_t offset = wm_td_u64(in);
	uint32_t page_bytes, nr;
	int err;

	(void)wm_td_text(in, name);
	(void)wm_td_text(in, clock);
	page_bytes = wm_td_u32(in);
	nr = wm_td_u32(in);
	if (in->failed)
		return wm_td_verdict(in, "list of buffers", diag);
	err = wm_td_add_buffer(td, name, offset);
	for (uint32_t i = 0; !err && i < nr; i++) {
		struct wm_td_cpu c = {.page_bytes = page_bytes, .buffer = td->nr_buffers - 1};

		c.cpu = wm_td_u32(in);
		c.offset = wm_td_u64(in);
		c.bytes = wm_td_u64(in);
		if (in->failed)
			return wm_td_verdict(in, "list of CPUs", diag);
		err = wm_td_add_cpu(td, &c);
	}
	if (err == -E2BIG)
		return wm_diag_set(diag, err, td->trace->path, (int64_t)wm_td_offset(in),
				   "it claims more than %u buffers, or more than %u CPUs in all "
				   "buffers together",
				   WM_TD_BUFFERS_MAX, WM_TD_CPUS_MAX);
	return err;
}

static int read_option(struct wm_td *td, struct chain *c, uint16_t id, struct wm_td_in *option,
		       struct wm_diag *diag)
{
	if (id == WM_TD_OPTION_BUFFER)
		return tracedat_v7_add_buffer(td, option, diag);
	if (id >= WM_TD_OPTION_PARTS && id < WM_TD_OPTION_PARTS + WM_TD_NR_PARTS) {
		td->part_at[id - WM_TD_OPTION_PARTS] = wm_td_u64(option);
		return wm_td_verdict(option, "options", diag);
	}
	c->nr_texts += id == WM_TD_OPTION_BUFFER_TEXT;
	return wm_td_read_option(td, id, option, diag);
}

/* Reads one option section, and stores the offset of the next one in `chain`. */
static int tracedat_v7_read_options(struct wm_td *td, struct chain *c, struct wm_diag *diag)
{
	uint64_t at = c->next;
	struct wm_td_in in;
	int err = wm_td_in_unpack(&in, td, at, diag);

	if (!err)
		err = claim_section(td, at);
	c->next = 0;
	while (!err) {
		uint16_t id = wm_td_u16(&in);
		uint32_t bytes = wm_td_u32(&in);
		const unsigned char *data = wm_td_take(&in, bytes);
		struct wm_td_in option;

		if (!data) {
			err = wm_td_verdict(&in, "options", diag);
			break;
		}
		wm_td_in_memory(&option, td, data, bytes, at);
		if (id == WM_TD_OPTION_DONE) {
			c->next = bytes >= 8 ? wm_td_u64(&option) : 0;
			break;
		}
		if (++c->nr_options > OPTIONS_MAX)
			err = wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)at,
					  "more than %u options", OPTIONS_MAX);
		else
			err = read_option(td, c, id, &option, diag);
	}
	wm_td_in_done(&in);
	return err;
}

static int tracedat_v7_read_sections(struct wm_td *td, struct wm_diag *diag)
{
	for (size_t i = 0; i < WM_TD_NR_PARTS; i++) {
		struct wm_td_in in;
		int err;

		if (!td->part_at[i] && i > 0)
			continue;
		if (!td->part_at[i])
			return wm_diag_set(diag, -EBADMSG, td->trace->path, 0,
					   "it does not describe its ring pages");
		err = wm_td_in_unpack(&in, td, td->part_at[i], diag);
		if (!err)
			err = claim_section(td, td->part_at[i]);
		if (!err)
			err = readers[i](td, &in, diag);
		wm_td_in_done(&in);
		if (err)
			return err;
	}
	return 0;
}

/* Determines from the section's header whether a buffer's pages are compressed. */
static int find_packed(struct wm_td *td, struct wm_diag *diag)
{
	for (uint32_t i = 0; i < td->nr_cpus; i++) {
		struct wm_td_cpu *c = &td->cpus[i];
		struct wm_td_in in;
		int err;

		if (c->bytes == 0)
			continue;
		wm_td_in_file(&in, td, td->buffers[c->buffer].offset);
		(void)wm_td_u16(&in);
		c->packed = wm_td_u16(&in) & 1;
		err = wm_td_verdict(&in, "buffers", diag);
		wm_td_in_done(&in);
		if (err)
			return err;
		if (c->packed && td->codec == WM_TD_PLAIN)
			return wm_diag_set(
			    diag, -EBADMSG, td->trace->path, (int64_t)td->buffers[c->buffer].offset,
			    "pages are compressed, but the file does not name the compression");
	}
	return 0;
}

static int read_codec(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	char name[WM_TD_STRING_MAX], version[WM_TD_STRING_MAX];
	int64_t at = (int64_t)in->at;
	int err;

	(void)wm_td_text(in, name);
	(void)wm_td_text(in, version);
	err = wm_td_verdict(in, "compression name", diag);
	if (err)
		return err;
	if (strcmp(name, "zstd") == 0)
		td->codec = WM_TD_ZSTD;
	else if (strcmp(name, "zlib") == 0)
		td->codec = WM_TD_ZLIB;
	else if (strcmp(name, "none") != 0)
		return wm_diag_set(diag, -ENOTSUP, td->trace->path, at,
				   "it is compressed by '%.40s'; waymark reads zlib and zstd",
				   name);
	return 0;
}

int wm_td_read_v7(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	struct chain c = {.nr_options = 0};
	int err = read_codec(td, in, diag);

	if (err)
		return err;
	c.next = wm_td_u64(in);
	err = wm_td_verdict(in, "first bytes", diag);
	if (!err)
		err = wm_claims_add(&td->claims, 0, in->at);
	for (uint32_t i = 0; !err && c.next; i++) {
		if (i >= CHAIN_MAX)
			return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)c.next,
					   "more than %u sections of options", CHAIN_MAX);
		err = tracedat_v7_read_options(td, &c, diag);
	}
	if (!err)
		err = tracedat_v7_read_sections(td, diag);
	if (!err && !td->nr_buffers && c.nr_texts)
		return wm_diag_set(diag, -ENOTSUP, td->trace->path, 0,
				   "it has the text of a latency tracer and no events; 'trace-cmd "
				   "report' shows it");
	for (uint32_t i = 0; !err && i < td->nr_buffers; i++)
		err = claim_section(td, td->buffers[i].offset);
	return err ? err : find_packed(td, diag);
}
