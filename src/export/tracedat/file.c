/* SPDX-License-Identifier: MIT */
/*
 * file.c - writes the file around the pages: the sections and options of version 7. The pages come
 * first, then the sections that describe them, then the options with the offsets of both; the head
 * is written last. See tracedat_int.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "export/tracedat/tracedat_int.h"

#define SECTION_PACKED 1u
#define ZSTD_LEVEL     3

static const unsigned char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g', '7', 0};

static bool tracedat_file_big(const struct wm_tdx *d)
{
	return d->source.machine.big_endian;
}

static void tracedat_file_write_text(struct wm_tdx *d, struct wm_text *t)
{
	if (t->failed && !d->out.err)
		d->out.err = -ENOMEM;
	if (t->bytes)
		wm_export_file_write(&d->out, t->data, t->bytes);
	wm_text_cut(t, 0);
}

static void write_u(struct wm_tdx *d, uint64_t value, uint32_t bytes)
{
	struct wm_text *t = &d->scratch;

	wm_text_cut(t, 0);
	wm_tdx_u(t, value, bytes, tracedat_file_big(d));
	tracedat_file_write_text(d, t);
}

static void patch_u64(struct wm_tdx *d, uint64_t at, uint64_t value)
{
	struct wm_text *t = &d->scratch;

	wm_text_cut(t, 0);
	wm_tdx_u(t, value, 8, tracedat_file_big(d));
	if (!t->failed)
		wm_export_file_patch(&d->out, at, t->data, t->bytes);
	wm_text_cut(t, 0);
}

/* --- the first bytes ------------------------------------------------------------------ */

void wm_tdx_write_head(struct wm_tdx *d)
{
	const unsigned char machine[] = {tracedat_file_big(d), d->source.machine.long_bytes};
	const char *version = ZSTD_versionString();

	wm_export_file_write(&d->out, magic, sizeof(magic));
	wm_export_file_write(&d->out, machine, sizeof(machine));
	write_u(d, d->source.layout.page_bytes, 4);
	if (d->spool.packed) {
		wm_export_file_write(&d->out, "zstd", 5);
		wm_export_file_write(&d->out, version, strlen(version) + 1);
	} else {
		wm_export_file_write(&d->out, "none\0", 6);
	}
	d->options_at = d->out.bytes;
	write_u(d, 0, 8); /* offset of the options, written later */
}

/* --- sections ------------------------------------------------------------------------- */

/* Begins a section. Returns the offset of its size, which is written when the section ends. */
static uint64_t begin_section(struct wm_tdx *d, uint16_t id, bool packed)
{
	write_u(d, id, 2);
	write_u(d, packed ? SECTION_PACKED : 0, 2);
	write_u(d, 0, 4); /* offset of its name: there is no strings section */
	write_u(d, 0, 8);
	return d->out.bytes - 8;
}

static void end_section(struct wm_tdx *d, uint64_t size_at)
{
	patch_u64(d, size_at, d->out.bytes - size_at - 8);
}

static int write_packed(struct wm_tdx *d, const struct wm_text *t)
{
	size_t bound = ZSTD_compressBound(t->bytes), got;
	char *data = malloc(bound);

	if (!data)
		return -ENOMEM;
	got = ZSTD_compress(data, bound, t->data, t->bytes, ZSTD_LEVEL);
	if (ZSTD_isError(got)) {
		free(data);
		return -EIO;
	}
	write_u(d, got, 4);
	write_u(d, t->bytes, 4);
	wm_export_file_write(&d->out, data, got);
	free(data);
	return 0;
}

static int tracedat_file_write_part(struct wm_tdx *d, enum wm_td_part_kind part)
{
	const struct wm_text *t = &d->source.parts[part];
	bool packed = d->spool.packed && t->bytes > 0 && t->bytes <= UINT32_MAX;
	uint64_t size_at;
	int err = 0;

	d->parts_at[part] = d->out.bytes;
	size_at = begin_section(d, (uint16_t)(WM_TD_OPTION_PARTS + part), packed);
	if (packed)
		err = write_packed(d, t);
	else if (t->bytes)
		wm_export_file_write(&d->out, t->data, t->bytes);
	end_section(d, size_at);
	return err ? err : d->out.err;
}

/* --- formats and names ---------------------------------------------------------------- */

static void tracedat_file_add_names(struct wm_tdx *d)
{
	struct wm_text *t = &d->source.parts[WM_TD_COMMS], *lines = &d->scratch;

	if (t->bytes)
		return; /* already copied from the input */
	wm_text_cut(lines, 0);
	for (uint32_t i = 0; i < d->name_table.nr; i++) {
		const char *c = d->names[i].name;

		wm_text_f(lines, "%d ", d->names[i].tid);
		for (; *c; c++)
			wm_text_char(lines, (unsigned char)*c < ' ' ? '?' : *c);
		wm_text_char(lines, '\n');
	}
	wm_tdx_u(t, lines->bytes, 8, tracedat_file_big(d));
	wm_text_add(t, lines->data ? lines->data : "", lines->bytes);
	t->failed |= lines->failed;
	wm_text_cut(lines, 0);
}

/* --- buffers -------------------------------------------------------------------------- */

static void pad_to_page(struct wm_tdx *d)
{
	static const char zeros[256];
	uint64_t page = d->source.layout.page_bytes, left = (page - d->out.bytes % page) % page;

	for (; left && !d->out.err; left -= left < sizeof(zeros) ? left : sizeof(zeros))
		wm_export_file_write(&d->out, zeros, left < sizeof(zeros) ? left : sizeof(zeros));
}

static int tracedat_file_write_buffer(struct wm_tdx *d, uint32_t buffer)
{
	uint64_t size_at;
	int err = 0;

	pad_to_page(d);
	d->buffers_at[buffer] = d->out.bytes;
	size_at = begin_section(d, WM_TD_OPTION_BUFFER, d->spool.packed);
	for (uint32_t i = 0; !err && i < d->nr_rings; i++) {
		struct wm_tdx_ring *r = d->rings[i];

		if (r->buffer != buffer)
			continue;
		pad_to_page(d);
		err = wm_tdx_ring_copy(&d->spool, r, d->source.machine.swap, &d->out);
	}
	end_section(d, size_at);
	return err ? err : d->out.err;
}

/* --- options -------------------------------------------------------------------------- */

static void tracedat_file_option(struct wm_text *t, const struct wm_tdx *d, uint16_t id,
				 const void *data, size_t bytes)
{
	wm_tdx_u(t, id, 2, tracedat_file_big(d));
	wm_tdx_u(t, bytes, 4, tracedat_file_big(d));
	wm_text_add(t, data, bytes);
}

static void option_u(struct wm_text *t, const struct wm_tdx *d, uint16_t id, uint64_t value,
		     uint32_t bytes)
{
	wm_tdx_u(t, id, 2, tracedat_file_big(d));
	wm_tdx_u(t, bytes, 4, tracedat_file_big(d));
	wm_tdx_u(t, value, bytes, tracedat_file_big(d));
}

static void tracedat_file_option_text(struct wm_text *t, const struct wm_tdx *d, uint16_t id,
				      const char *text)
{
	if (text)
		tracedat_file_option(t, d, id, text, strlen(text) + 1);
}

/* Writes the offset of each CPU's pages. */
static void option_buffer(struct wm_text *t, const struct wm_tdx *d, uint32_t buffer)
{
	const struct wm_td *td = d->source.td;
	const char *name = td ? td->buffers[buffer].name : "";
	const char *clock =
	    td && td->clock->name && strcmp(td->clock->name, "ftrace") ? td->clock->name : "local";
	struct wm_text data;

	wm_text_init(&data);
	wm_tdx_u(&data, d->buffers_at[buffer], 8, tracedat_file_big(d));
	wm_text_add(&data, name, strlen(name) + 1);
	wm_text_add(&data, clock, strlen(clock) + 1);
	wm_tdx_u(&data, d->source.layout.page_bytes, 4, tracedat_file_big(d));
	wm_tdx_u(&data, d->nr_cpus, 4, tracedat_file_big(d));
	for (uint32_t cpu = 0; cpu < d->nr_cpus; cpu++) {
		const struct wm_tdx_ring *r = d->by_cpu[buffer * WM_TDX_CPUS_MAX + cpu];

		wm_tdx_u(&data, cpu, 4, tracedat_file_big(d));
		wm_tdx_u(&data, r ? r->offset : 0, 8, tracedat_file_big(d));
		wm_tdx_u(&data, r ? r->bytes : 0, 8, tracedat_file_big(d));
	}
	t->failed |= data.failed;
	tracedat_file_option(t, d, WM_TD_OPTION_BUFFER, data.data, data.bytes);
	wm_text_done(&data);
}

/* Copies the options about clocks and the machine from trace.dat. */
static void options_kept(struct wm_text *t, const struct wm_tdx *d, const struct wm_td *td)
{
	for (uint32_t i = 0; i < td->nr_kept; i++)
		if (td->kept[i].id < WM_TD_OPTION_LAST_KEPT)
			tracedat_file_option(t, d, td->kept[i].id, td->kept[i].data,
					     td->kept[i].bytes);
}

static void options_made(struct wm_text *t, const struct wm_tdx *d)
{
	const char *kernel = wm_trace_word(d->trace, "kernel");
	const char *host = wm_trace_word(d->trace, "hostname");
	char text[512];

	if (d->base_ns) { /* in microseconds, added to all times */
		(void)snprintf(text, sizeof(text), "%lld", (long long)(d->base_ns / 1000));
		tracedat_file_option_text(t, d, WM_TD_OPTION_DATE, text);
	}
	tracedat_file_option_text(t, d, WM_TD_OPTION_TRACECLOCK, "[local]");
	host = host ? host : wm_trace_word(d->trace, "host");
	if (host || kernel) {
		(void)snprintf(text, sizeof(text), "Linux %s %s", host ? host : "?",
			       kernel ? kernel : "?");
		tracedat_file_option_text(t, d, WM_TD_OPTION_UNAME, text);
	}
	tracedat_file_option_text(t, d, WM_TD_OPTION_VERSION, d->x->options.tracer);
}

static void write_options(struct wm_tdx *d)
{
	uint64_t at = d->out.bytes, size_at;
	struct wm_text t;

	wm_text_init(&t);
	if (d->source.td)
		options_kept(&t, d, d->source.td);
	else
		options_made(&t, d);
	option_u(&t, d, WM_TD_OPTION_CPUCOUNT, d->nr_cpus, 4);
	for (int i = 0; i < WM_TD_NR_PARTS; i++)
		option_u(&t, d, (uint16_t)(WM_TD_OPTION_PARTS + i), d->parts_at[i], 8);
	for (uint32_t i = 0; i < d->nr_buffers; i++)
		option_buffer(&t, d, i);
	option_u(&t, d, WM_TD_OPTION_DONE, 0, 8);
	size_at = begin_section(d, WM_TD_OPTION_DONE, false);
	tracedat_file_write_text(d, &t);
	end_section(d, size_at);
	patch_u64(d, d->options_at, at);
	wm_text_done(&t);
}

int wm_tdx_write(struct wm_tdx *d)
{
	int err = 0;

	wm_tdx_made_join(&d->made, &d->source.parts[WM_TD_FORMATS], tracedat_file_big(d));
	tracedat_file_add_names(d);
	d->buffers_at = wm_arena_array(&d->arena, d->nr_buffers, sizeof(*d->buffers_at));
	if (!d->buffers_at)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < d->nr_buffers; i++)
		err = tracedat_file_write_buffer(d, i);
	for (int i = 0; !err && i < WM_TD_NR_PARTS; i++)
		err = d->source.parts[i].failed
			  ? -ENOMEM
			  : tracedat_file_write_part(d, (enum wm_td_part_kind)i);
	if (!err)
		write_options(d);
	return err ? err : wm_export_file_flush(&d->out);
}
