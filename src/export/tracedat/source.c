/* SPDX-License-Identifier: MIT */
/*
 * source.c - reads the description of the traced kernel in trace.dat's form: unchanged from
 * trace.dat, from a feature of perf.data, or from the kernel/ folder of a waymark recording. For
 * other traces the output describes a kernel whose only events are those created here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/kernel_int.h"
#include "read/ctf.h"
#include "read/perfdata.h"
#include "read/tracedat.h"

#define PERF_HEAD 10u /* size of the magic number at the beginning of tracing data in perf.data */

/* The largest record size: strings and lists in user-space events are larger than the kernel's. */
#define PLAIN_PAGE_BYTES 65536u

/* --- a kernel of this machine --------------------------------------------------------------- */

/* The descriptions of pages and records from a 64-bit kernel. */
static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:65520;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

static void tracedat_source_add_word(struct wm_text *t, const char *name, const char *text,
				     bool big_endian)
{
	wm_text_add(t, name, strlen(name) + 1);
	wm_tdx_u(t, strlen(text), 8, big_endian);
	wm_text_str(t, text);
}

static void tracedat_source_plain(struct wm_tdx_source *s)
{
	bool big = wm_order_swap(false);

	wm_kmachine_init(&s->machine, 8, big);
	wm_page_layout_init(&s->layout, 8, big);
	s->layout.page_bytes = PLAIN_PAGE_BYTES;
	tracedat_source_add_word(&s->parts[WM_TD_HEADER_INFO], "header_page", header_page, big);
	tracedat_source_add_word(&s->parts[WM_TD_HEADER_INFO], "header_event", header_event, big);
	wm_tdx_u(&s->parts[WM_TD_FTRACE], 0, 4, big);
	wm_tdx_u(&s->parts[WM_TD_FORMATS], 0, 4, big);
	wm_tdx_u(&s->parts[WM_TD_PRINTK], 0, 4, big);
}

/* --- trace.dat ------------------------------------------------------------------------ */

static int of_tracedat(struct wm_tdx_source *s, struct wm_trace *t, struct wm_diag *diag)
{
	const struct wm_td *td = t->own;
	int err = 0;

	s->td = td;
	s->machine = td->machine;
	s->layout = td->layout;
	s->formats = td->formats;
	s->nr_ids = td->nr_types;
	s->raw = true;
	for (uint32_t i = 0; i < td->nr_cpus; i++)
		if (td->cpus[i].page_bytes > s->layout.page_bytes)
			s->layout.page_bytes = td->cpus[i].page_bytes;
	for (int i = 0; !err && i < WM_TD_NR_PARTS; i++)
		err = wm_td_part_load(td, (enum wm_td_part_kind)i, &s->parts[i], diag);
	return err;
}

/* --- perf.data ------------------------------------------------------------------------ */

/* Stores the bytes read since `from` as a part. */
static void tracedat_source_take_part(struct wm_tdx_source *s, enum wm_td_part_kind part,
				      const unsigned char *from, const struct wm_pd_bytes *b)
{
	if (!b->failed)
		wm_text_add(&s->parts[part], from, (size_t)(b->at - from));
}

static void skip_name(struct wm_pd_bytes *b)
{
	const unsigned char *nul = b->failed ? NULL : memchr(b->at, '\0', (size_t)(b->end - b->at));

	b->failed |= !nul;
	if (nul)
		b->at = nul + 1;
}

static void skip_formats(struct wm_pd_bytes *b)
{
	for (uint32_t nr = wm_pd_u32(b); nr && !b->failed; nr--)
		(void)wm_pd_take(b, wm_pd_u64(b));
}

/* Reads the description of pages in HEADER_INFO. */
static int take_layout(struct wm_tdx_source *s, const unsigned char *at, uint64_t bytes,
		       struct wm_diag *diag)
{
	int err =
	    wm_page_layout_parse((const char *)at, bytes, s->machine.big_endian, &s->layout, diag);

	if (!err)
		s->machine.long_bytes = s->layout.long_bytes;
	return err;
}

static int of_perfdata(struct wm_tdx_source *s, struct wm_trace *t, struct wm_diag *diag)
{
	const struct wm_pd *pd = t->own;
	struct wm_pd_bytes b = pd->tracing;
	const unsigned char *from, *text;
	uint64_t bytes;
	int err;

	if (!b.at) {
		tracedat_source_plain(s);
		return 0;
	}
	s->machine = pd->machine;
	s->formats = pd->formats;
	s->nr_ids = wm_kformats_nr_ids(pd->formats);
	s->raw = true;
	(void)wm_pd_take(&b, PERF_HEAD);
	skip_name(&b);
	(void)wm_pd_take(&b, 6);
	from = b.at;
	skip_name(&b);
	bytes = wm_pd_u64(&b);
	text = wm_pd_take(&b, bytes);
	err = text ? take_layout(s, text, bytes, diag) : -EBADMSG;
	skip_name(&b);
	(void)wm_pd_take(&b, wm_pd_u64(&b));
	tracedat_source_take_part(s, WM_TD_HEADER_INFO, from, &b);
	from = b.at;
	skip_formats(&b);
	tracedat_source_take_part(s, WM_TD_FTRACE, from, &b);
	from = b.at;
	for (uint32_t nr = wm_pd_u32(&b); nr && !b.failed; nr--) {
		skip_name(&b);
		skip_formats(&b);
	}
	tracedat_source_take_part(s, WM_TD_FORMATS, from, &b);
	for (int i = WM_TD_KALLSYMS; i <= WM_TD_PRINTK; i++) {
		from = b.at;
		(void)wm_pd_take(&b, wm_pd_u32(&b));
		tracedat_source_take_part(s, (enum wm_td_part_kind)i, from, &b);
	}
	if (!err && b.failed)
		err = wm_diag_set(diag, -EBADMSG, t->path, -1,
				  "its description of the kernel's events is damaged");
	return err;
}

/* --- waymark -------------------------------------------------------------------------- */

/*
 * Reads a line "# SYSTEM/NAME BYTES" and the format after it. Returns the start of the next such
 * line; NULL: end.
 */
static const char *add_own(struct wm_tdx_source *s, struct wm_tdx_made *made, const char *at,
			   const char *end)
{
	const char *slash = memchr(at, '/', (size_t)(end - at));
	const char *line = memchr(at, '\n', (size_t)(end - at)), *space;
	char system[256];
	uint64_t bytes;

	if (end - at < 3 || memcmp(at, "# ", 2) != 0 || !slash || !line || slash > line)
		return NULL;
	space = memchr(slash, ' ', (size_t)(line - slash));
	bytes = space ? strtoull(space, NULL, 10) : 0;
	if (!space || slash - at - 2 >= (int)sizeof(system) || bytes > (uint64_t)(end - line - 1))
		return NULL;
	memcpy(system, at + 2, (size_t)(slash - at - 2));
	system[slash - at - 2] = '\0';
	if (wm_kformats_add(s->own_formats, system, line + 1, bytes, NULL, NULL) == 0 &&
	    wm_tdx_made_add(made, system, line + 1, bytes, s->machine.big_endian))
		return NULL;
	return line + 1 + bytes;
}

static int of_own(struct wm_tdx_source *s, struct wm_tdx_made *made, struct wm_trace *t)
{
	const char *at, *symbols;
	size_t bytes = 0;
	char *text = NULL;
	int err = wm_ctf_own_formats(t, &text, &bytes);

	if (err)
		return err == -ENOENT ? 0 : err;
	s->own_formats = wm_kformats_create(&s->machine);
	for (at = text; s->own_formats && at;)
		at = add_own(s, made, at, text + bytes);
	free(text);
	err = s->own_formats ? wm_kformats_seal(s->own_formats) : -ENOMEM;
	if (err)
		return err;
	s->formats = s->own_formats;
	s->nr_ids = wm_kformats_nr_ids(s->formats);
	if (wm_trace_kallsyms(t, &symbols, &bytes) == 0 && bytes <= UINT32_MAX) {
		wm_tdx_u(&s->parts[WM_TD_KALLSYMS], bytes, 4, s->machine.big_endian);
		wm_text_add(&s->parts[WM_TD_KALLSYMS], symbols, bytes);
	}
	return 0;
}

int wm_tdx_source_init(struct wm_tdx_source *s, struct wm_tdx_made *made, struct wm_trace *t,
		       struct wm_diag *diag)
{
	int err = 0;

	for (int i = 0; i < WM_TD_NR_PARTS; i++)
		wm_text_init(&s->parts[i]);
	if (t->ops == &wm_tracedat_ops) {
		err = of_tracedat(s, t, diag);
	} else if (t->ops == &wm_perfdata_ops) {
		err = of_perfdata(s, t, diag);
	} else {
		tracedat_source_plain(s);
		if (t->ops == &wm_ctf_ops)
			err = of_own(s, made, t);
	}
	if (!err && !s->parts[WM_TD_KALLSYMS].bytes)
		wm_tdx_u(&s->parts[WM_TD_KALLSYMS], 0, 4, s->machine.big_endian);
	for (int i = 0; !err && i < WM_TD_NR_PARTS; i++)
		err = s->parts[i].failed ? -ENOMEM : 0;
	return err;
}

const struct wm_kformat *wm_tdx_source_format(const struct wm_tdx_source *s, const char *name,
					      const struct wm_type *fields)
{
	const char *colon = strchr(name, ':');

	if (!s->own_formats || !colon)
		return NULL;
	for (uint32_t id = 0; id < s->nr_ids; id++) {
		const struct wm_kformat *f = wm_kformats_event(s->own_formats, id);

		if (f && !strcmp(f->name, colon + 1) &&
		    !strncmp(f->system, name, (size_t)(colon - name)) && !f->system[colon - name])
			return wm_export_kernel_fits(f, fields) ? f : NULL;
	}
	return NULL;
}

void wm_tdx_source_done(struct wm_tdx_source *s)
{
	for (int i = 0; i < WM_TD_NR_PARTS; i++)
		wm_text_done(&s->parts[i]);
	wm_kformats_destroy(s->own_formats);
}
