/* SPDX-License-Identifier: MIT */
/* meta.c - reads the parts that both versions have: formats, symbols, names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/tracedat/tracedat_int.h"

#define EVENTS_MAX  65536u /* maximum number of formats in a file */
#define SYSTEMS_MAX 4096u

static int expect_word(struct wm_td *td, struct wm_td_in *in, const char *word,
		       struct wm_diag *diag)
{
	uint64_t at = wm_td_offset(in);
	const unsigned char *p = wm_td_take(in, strlen(word) + 1);

	if (p && memcmp(p, word, strlen(word) + 1) == 0)
		return 0;
	if (in->failed)
		return wm_td_verdict(in, word, diag);
	return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)at, "expected '%s' here",
			   word);
}

int wm_td_read_header_info(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	const unsigned char *text;
	uint64_t bytes, at;
	int err = expect_word(td, in, "header_page", diag);

	if (err)
		return err;
	bytes = wm_td_u64(in);
	at = wm_td_offset(in);
	text = wm_td_take(in, bytes);
	if (!text)
		return wm_td_verdict(in, "ring page description", diag);
	if (bytes == 0)
		return wm_diag_set(
		    diag, -ENOTSUP, td->trace->path, (int64_t)at,
		    "it does not describe its ring pages: its kernel is older than 2.6.31");
	err = wm_page_layout_parse((const char *)text, bytes, td->machine.big_endian, &td->layout,
				   diag);
	if (err) {
		if (diag) {
			diag->where = td->trace->path;
			diag->offset += (int64_t)at;
		}
		return err;
	}
	/*
	 * The size of a long in the head of the file is the recording program's, not the kernel's.
	 */
	td->machine.long_bytes = td->layout.long_bytes;
	err = expect_word(td, in, "header_event", diag);
	if (err)
		return err;
	(void)wm_td_take(in, wm_td_u64(in));
	err = wm_td_verdict(in, "record description", diag);
	if (err)
		return err;
	td->formats = wm_kformats_create(&td->machine);
	return td->formats ? 0 : -ENOMEM;
}

/* Adds the format of an event. When it cannot be parsed, only the events of this type are lost. */
static int tracedat_meta_add_format(struct wm_td *td, struct wm_td_in *in, const char *system,
				    struct wm_diag *diag)
{
	struct wm_diag why = {.offset = 0};
	uint64_t bytes = wm_td_u64(in), at = wm_td_offset(in);
	const unsigned char *text = wm_td_take(in, bytes);
	int err;

	if (!text)
		return wm_td_verdict(in, "event formats", diag);
	err = wm_kformats_add(td->formats, system, (const char *)text, bytes, NULL, &why);
	if (err == -ENOMEM)
		return err;
	if (err)
		wm_trace_fault(td->trace, "", at, "%s", why.sentence);
	return 0;
}

static int tracedat_meta_add_formats(struct wm_td *td, struct wm_td_in *in, const char *system,
				     struct wm_diag *diag)
{
	uint64_t at = wm_td_offset(in);
	uint32_t nr = wm_td_u32(in);
	int err = 0;

	if (nr > EVENTS_MAX)
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)at,
				   "it claims %u events of '%s', the limit is %u", nr, system,
				   EVENTS_MAX);
	for (uint32_t i = 0; !err && i < nr; i++)
		err = tracedat_meta_add_format(td, in, system, diag);
	return err ? err : wm_td_verdict(in, "event formats", diag);
}

int wm_td_read_ftrace(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	return tracedat_meta_add_formats(td, in, "ftrace", diag);
}

int wm_td_read_formats(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	uint64_t at = wm_td_offset(in);
	uint32_t nr = wm_td_u32(in);
	char system[WM_TD_STRING_MAX];
	int err = 0;

	if (nr > SYSTEMS_MAX)
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)at,
				   "it claims %u systems of events, the limit is %u", nr,
				   SYSTEMS_MAX);
	for (uint32_t i = 0; !err && i < nr; i++) {
		(void)wm_td_text(in, system);
		err = tracedat_meta_add_formats(td, in, system, diag);
	}
	return err ? err : wm_td_verdict(in, "event formats", diag);
}

/* Reads a size of `width` bytes and the text, and passes it to `add`. */
static int
tracedat_meta_read_text(struct wm_td *td, struct wm_td_in *in, unsigned width, const char *what,
			int (*add)(struct wm_kformats *k, const char *text, size_t bytes),
			struct wm_diag *diag)
{
	uint64_t bytes = width == 4 ? wm_td_u32(in) : wm_td_u64(in);
	const unsigned char *text = wm_td_take(in, bytes);
	int got;

	if (!text)
		return wm_td_verdict(in, what, diag);
	got = add(td->formats, (const char *)text, bytes);
	return got < 0 ? got : 0;
}

static int tracedat_meta_ask_symbols(void *data, char **ret_text, size_t *ret_bytes)
{
	return wm_td_kallsyms(data, ret_text, ret_bytes);
}

/* Skips the symbols: they are read when an address is first looked up. */
int wm_td_read_kallsyms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	td->kallsyms_at = wm_td_offset(in);
	td->kallsyms_in_section = in->mem != NULL;
	wm_td_skip(in, wm_td_u32(in));
	wm_kformats_set_symbols(td->formats, tracedat_meta_ask_symbols, td->trace);
	return wm_td_verdict(in, "symbols", diag);
}

int wm_td_kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes)
{
	const struct wm_td *td = t->own;
	struct wm_diag diag = {.offset = -1};
	struct wm_td_in in = {0};
	char *text = NULL;
	int err = 0;

	if (!td->kallsyms_at)
		return -ENOENT;
	if (td->kallsyms_in_section)
		err = wm_td_in_unpack(&in, td, td->kallsyms_at, &diag);
	else
		wm_td_in_file(&in, td, td->kallsyms_at);
	if (!err)
		text = wm_td_copy(&in, wm_td_u32(&in));
	if (!err)
		err = wm_td_verdict(&in, "symbols", &diag);
	wm_td_in_done(&in);
	if (!err && !text[0])
		err = -ENOENT;
	if (err) {
		free(text);
		return err;
	}
	*ret_text = text;
	*ret_bytes = strlen(text);
	return 0;
}

int wm_td_read_printk(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	return tracedat_meta_read_text(td, in, 4, "trace_printk() strings", wm_kformats_add_printk,
				       diag);
}

int wm_td_read_comms(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	return tracedat_meta_read_text(td, in, 8, "process names", wm_kformats_add_comms, diag);
}

int wm_td_part_load(const struct wm_td *td, enum wm_td_part_kind part, struct wm_text *out,
		    struct wm_diag *diag)
{
	uint64_t at = td->part_at[part];
	const unsigned char *p;
	struct wm_td_in in;
	uint64_t bytes;
	int err = 0;

	if (!at)
		return 0;
	if (td->version == 7) {
		err = wm_td_in_unpack(&in, td, at, diag);
	} else {
		wm_td_in_file(&in, td, at);
		in.end = td->part_end[part];
	}
	bytes = in.end - in.at; /* after the section's header, if any */
	p = err ? NULL : wm_td_take(&in, bytes);
	if (p)
		wm_text_add(out, p, bytes);
	if (!err && !p)
		err = wm_td_verdict(&in, "event description", diag);
	wm_td_in_done(&in);
	return err ? err : out->failed ? -ENOMEM : 0;
}
