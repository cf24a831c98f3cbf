/* SPDX-License-Identifier: MIT */
/*
 * header.c - writes the parts of perf.data around its records, in file form.
 * The features of a perf.data input are copied, except those that describe its
 * layout on disk or do not apply to the output.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/perfdata/perfdata_int.h"

#define HEADER_BYTES  104u
#define SECTION_BYTES 16u
#define STRING_ALIGN  64u
/* page size in the header of the formats; perf's records are not in pages */
#define TRACE_PAGE_BYTES 4096u
#define CLOCK_VERSION    1u
#define CLOCK_MONO       1u /* value of CLOCK_MONOTONIC, the clock id in the file */

static void export_header_write_text(struct wm_pdx *d)
{
	if (d->text.failed && !d->out.err)
		d->out.err = -ENOMEM;
	if (d->text.bytes)
		wm_export_file_write(&d->out, d->text.data, d->text.bytes);
	wm_text_cut(&d->text, 0);
}

static void export_header_put(struct wm_pdx *d, uint64_t value, uint32_t bytes)
{
	wm_pdx_u(d, &d->text, value, bytes);
}

/* --- ids and attrs --------------------------------------------------------------------------- */

/* Appends the ids of one of the input's attrs to the text. */
static uint32_t export_header_put_ids(struct wm_pdx *d, uint32_t attr)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < d->pd->id_table.nr; i++) {
		if (d->pd->ids[i].attr != attr)
			continue;
		export_header_put(d, d->pd->ids[i].id, 8);
		nr++;
	}
	return nr;
}

/*
 * Returns the size of an attr without trailing zeros, because an older perf refuses an attr with
 * fields that it does not know.
 */
static uint32_t bytes_of(const struct wm_pd_attr *a)
{
	uint32_t bytes = a->attr.size ? a->attr.size : WM_PERF_ATTR_BYTES_MIN;

	while (bytes > WM_PDX_ATTR_BYTES && bytes % 8 == 0 &&
	       wm_get_u64(a->bytes + bytes - 8, false) == 0)
		bytes -= 8;
	return bytes;
}

/*
 * Writes an attr, padded to the size of the largest one, because perf requires all attrs in a file
 * to have the same size.
 */
static void put_attr(struct wm_pdx *d, const unsigned char *bytes, uint32_t nr)
{
	size_t at = d->text.bytes;

	wm_text_add(&d->text, bytes, 4);
	export_header_put(d, d->attr_bytes, 4);
	wm_text_add(&d->text, bytes + 8, nr - 8);
	while (d->text.bytes < at + d->attr_bytes && !d->text.failed)
		wm_text_char(&d->text, 0);
}

static int begin_attrs(struct wm_pdx *d)
{
	uint32_t nr = d->pd ? d->pd->nr_attrs : d->nr_attrs;
	uint64_t *at = wm_arena_array(&d->arena, 2 * (size_t)nr + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	d->attr_bytes = d->pd ? 0 : WM_PDX_ATTR_BYTES;
	for (uint32_t i = 0; d->pd && i < nr; i++)
		if (bytes_of(&d->pd->attrs[i]) > d->attr_bytes)
			d->attr_bytes = bytes_of(&d->pd->attrs[i]);
	for (uint32_t i = 0; i < nr; i++) {
		at[2 * i] = d->out.bytes;
		if (d->pd)
			(void)export_header_put_ids(d, i);
		else
			export_header_put(d, d->attrs[i].id, 8);
		at[2 * i + 1] = d->text.bytes;
		export_header_write_text(d);
	}
	d->attrs_at = d->out.bytes;
	for (uint32_t i = 0; i < nr; i++) {
		if (d->pd)
			put_attr(d, d->pd->attrs[i].bytes, bytes_of(&d->pd->attrs[i]));
		else
			put_attr(d, d->attrs[i].bytes, WM_PDX_ATTR_BYTES);
		export_header_put(d, at[2 * i], 8);
		export_header_put(d, at[2 * i + 1], 8);
	}
	d->attrs_bytes = d->text.bytes;
	export_header_write_text(d);
	d->data_at = d->out.bytes;
	return d->out.err;
}

int wm_pdx_begin(struct wm_pdx *d)
{
	static const char nothing[HEADER_BYTES];

	wm_export_file_write(&d->out, nothing, sizeof(nothing));
	return begin_attrs(d);
}

/* --- features made here --------------------------------------------------------------- */

static void export_header_put_string(struct wm_pdx *d, const char *text)
{
	size_t bytes = strlen(text) + 1, room = (bytes + STRING_ALIGN - 1) & ~(STRING_ALIGN - 1ul);

	export_header_put(d, room, 4);
	wm_text_add(&d->text, text, bytes);
	for (; bytes < room; bytes++)
		wm_text_char(&d->text, 0);
}

static bool export_header_put_word(struct wm_pdx *d, const char *key)
{
	const char *text = wm_trace_word(d->trace, key);

	if (text)
		export_header_put_string(d, text);
	return text;
}

static bool host(struct wm_pdx *d)
{
	return export_header_put_word(d, "hostname");
}

static bool export_header_release(struct wm_pdx *d)
{
	return export_header_put_word(d, "kernel");
}

static bool version(struct wm_pdx *d)
{
	export_header_put_string(d, d->x->options.tracer);
	return true;
}

/*
 * Writes this machine's architecture, which is also that of a waymark recording, whose payloads can
 * be read only there.
 */
static bool arch(struct wm_pdx *d)
{
	struct utsname u;

	if (uname(&u))
		return false;
	export_header_put_string(d, u.machine);
	return true;
}

static bool command(struct wm_pdx *d)
{
	const char *text = wm_trace_word(d->trace, "command");

	if (!text)
		return false;
	export_header_put(d, 1, 4);
	export_header_put_string(d, text);
	return true;
}

static bool descriptions(struct wm_pdx *d)
{
	export_header_put(d, d->nr_attrs, 4);
	export_header_put(d, WM_PDX_ATTR_BYTES, 4);
	for (uint32_t i = 0; i < d->nr_attrs; i++) {
		put_attr(d, d->attrs[i].bytes, WM_PDX_ATTR_BYTES);
		export_header_put(d, 1, 4);
		export_header_put_string(d, d->attrs[i].type->name);
		export_header_put(d, d->attrs[i].id, 8);
	}
	return true;
}

static bool clock_data(struct wm_pdx *d)
{
	if (!d->base_ns)
		return false;
	export_header_put(d, CLOCK_VERSION, 4);
	export_header_put(d, CLOCK_MONO, 4);
	export_header_put(d, (uint64_t)d->base_ns, 8);
	export_header_put(d, 0, 8);
	return true;
}

/* Writes the formats of tracepoints in the form that tracing.c reads. */
static bool tracing(struct wm_pdx *d)
{
	static const char head[] = "\x17\x08\x44tracing0.5";
	static const enum wm_td_part_kind parts[] = {WM_TD_HEADER_INFO, WM_TD_FTRACE, WM_TD_FORMATS,
						     WM_TD_KALLSYMS, WM_TD_PRINTK};
	const struct wm_tdx_source *s = &d->source;
	bool any = false;

	for (uint32_t i = 0; i < d->nr_attrs; i++)
		any |= d->attrs[i].format != NULL;
	if (!any)
		return false;
	wm_text_add(&d->text, head, sizeof(head));
	export_header_put(d, s->machine.big_endian, 1);
	export_header_put(d, s->machine.long_bytes, 1);
	export_header_put(d, TRACE_PAGE_BYTES, 4);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		wm_text_add(&d->text, s->parts[parts[i]].data, s->parts[parts[i]].bytes);
	return true;
}

static const struct {
	uint32_t feature;
	bool (*put)(struct wm_pdx *d);
} made[] = {
    {WM_PD_HAS_TRACING_DATA, tracing},
    {WM_PD_HAS_HOSTNAME, host},
    {WM_PD_HAS_OSRELEASE, export_header_release},
    {WM_PD_HAS_VERSION, version},
    {WM_PD_HAS_ARCH, arch},
    {WM_PD_HAS_CMDLINE, command},
    {WM_PD_HAS_EVENT_DESC, descriptions},
    {WM_PD_HAS_CLOCK_DATA, clock_data},
};

/* --- features of the input -------------------------------------------------------------------- */

static bool is_passed_on(uint32_t feature)
{
	static const uint32_t not [] = {WM_PD_HAS_AUXTRACE, WM_PD_HAS_STAT, WM_PD_HAS_SAMPLE_TIME,
					WM_PD_HAS_DIR_FORMAT, WM_PD_HAS_COMPRESSED};

	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++)
		if (feature == not [i])
			return false;
	return true;
}

static bool put_kept(struct wm_pdx *d, uint32_t feature)
{
	bool any = false;

	if (feature == WM_PD_HAS_TRACING_DATA && d->pd->tracing.at) {
		wm_text_add(&d->text, d->pd->tracing.at,
			    (size_t)(d->pd->tracing.end - d->pd->tracing.at));
		return true;
	}
	for (uint32_t i = 0; is_passed_on(feature) && i < d->pd->nr_kept; i++) {
		const struct wm_pd_kept *k = &d->pd->kept[i];

		if (k->feature != feature)
			continue;
		wm_text_add(&d->text, k->data, k->bytes);
		any = true;
	}
	return any;
}

static bool put_feature(struct wm_pdx *d, uint32_t feature)
{
	if (d->pd)
		return put_kept(d, feature);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (made[i].feature == feature)
			return made[i].put(d);
	return false;
}

/* --- the end -------------------------------------------------------------------------- */

struct features {
	uint64_t bits[WM_PD_NR_FEATURES / 64];
	uint64_t at[WM_PD_NR_FEATURES], bytes[WM_PD_NR_FEATURES];
};

/*
 * Writes the features. Their table is at the start, so it is written again once the offsets are
 * known.
 */
static void write_features(struct wm_pdx *d, struct features *f)
{
	uint64_t table = d->out.bytes, nr = 0;

	for (uint32_t i = 0; i < WM_PD_NR_FEATURES; i++) {
		wm_text_cut(&d->text, 0);
		if (put_feature(d, i)) {
			f->bits[i / 64] |= UINT64_C(1) << i % 64;
			nr++;
		}
	}
	wm_text_cut(&d->text, 0);
	for (uint64_t i = 0; i < nr * SECTION_BYTES; i++)
		wm_text_char(&d->text, 0);
	export_header_write_text(d);
	for (uint32_t i = 0; i < WM_PD_NR_FEATURES; i++) {
		if (!(f->bits[i / 64] >> i % 64 & 1))
			continue;
		(void)put_feature(d, i);
		f->at[i] = d->out.bytes;
		f->bytes[i] = d->text.bytes;
		export_header_write_text(d);
	}
	for (uint32_t i = 0; i < WM_PD_NR_FEATURES; i++) {
		if (!(f->bits[i / 64] >> i % 64 & 1))
			continue;
		export_header_put(d, f->at[i], 8);
		export_header_put(d, f->bytes[i], 8);
	}
	if (!d->text.failed && d->text.bytes)
		wm_export_file_patch(&d->out, table, d->text.data, d->text.bytes);
	wm_text_cut(&d->text, 0);
}

static void patch_header(struct wm_pdx *d, uint64_t data_bytes, const struct features *f)
{
	const uint64_t words[] = {HEADER_BYTES,
				  d->attr_bytes + SECTION_BYTES,
				  d->attrs_at,
				  d->attrs_bytes,
				  d->data_at,
				  data_bytes,
				  0,
				  0};

	wm_text_str(&d->text, d->swap ? "2ELIFREP" : "PERFILE2");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		export_header_put(d, words[i], 8);
	for (size_t i = 0; i < WM_PD_NR_FEATURES / 64; i++)
		export_header_put(d, f->bits[i], 8);
	if (!d->text.failed)
		wm_export_file_patch(&d->out, 0, d->text.data, d->text.bytes);
	wm_text_cut(&d->text, 0);
}

int wm_pdx_end(struct wm_pdx *d)
{
	uint64_t data_bytes = d->out.bytes - d->data_at;
	struct features *f = wm_arena_get(&d->arena, sizeof(*f));

	if (!f)
		return -ENOMEM;
	if (!d->pd)
		wm_tdx_made_join(&d->formats, &d->source.parts[WM_TD_FORMATS],
				 d->source.machine.big_endian);
	write_features(d, f);
	patch_header(d, data_bytes, f);
	return d->text.failed ? -ENOMEM : wm_export_file_flush(&d->out);
}
