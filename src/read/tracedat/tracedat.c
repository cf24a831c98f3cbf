/* SPDX-License-Identifier: MIT */
/* tracedat.c - entry points of the trace.dat reader; see tracedat_int.h. */
#include "read/tracedat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "read/tracedat/tracedat_int.h"

static const unsigned char magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static bool tracedat_probe(const char *path, bool is_folder, const unsigned char *head,
			   size_t bytes)
{
	return !is_folder && bytes > sizeof(magic) && memcmp(head, magic, sizeof(magic)) == 0;
}

static int tracedat_open_file(struct wm_td *td, struct wm_diag *diag)
{
	struct stat st;

	td->fd = open(td->trace->path, O_RDONLY | O_CLOEXEC);
	if (td->fd < 0 || fstat(td->fd, &st))
		return wm_diag_set(diag, -errno, td->trace->path, -1, "cannot be opened: %s",
				   strerror(errno));
	td->file_bytes = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return 0;
}

static int make_clock(struct wm_td *td)
{
	td->clock = wm_arena_get(&td->trace->arena, sizeof(*td->clock));
	if (!td->clock)
		return -ENOMEM;
	*td->clock = (struct wm_trace_clock){
	    .name = "ftrace", .hz = WM_NS_PER_SECOND, .error_ns = UINT64_MAX};
	return wm_trace_add_clock(td->trace, td->clock);
}

/* Reads the fields after the magic: version, byte order, widths. */
static int tracedat_read_head(struct wm_td *td, struct wm_td_in *in, struct wm_diag *diag)
{
	char version[WM_TD_STRING_MAX];
	const unsigned char *p;

	(void)wm_td_take(in, sizeof(magic));
	(void)wm_td_text(in, version);
	p = wm_td_take(in, 2);
	if (!p)
		return wm_td_verdict(in, "first bytes", diag);
	if (p[0] > 1 || (p[1] != 4 && p[1] != 8))
		return wm_diag_set(diag, -EBADMSG, td->trace->path, (int64_t)in->at - 2,
				   "byte order %u and longs of %u bytes match no machine", p[0],
				   p[1]);
	wm_kmachine_init(&td->machine, p[1], p[0] == 1);
	wm_page_layout_init(&td->layout, p[1], p[0] == 1);
	td->page_bytes = wm_td_u32(in);
	td->version = strcmp(version, "6") == 0 ? 6 : strcmp(version, "7") == 0 ? 7 : 0;
	if (!in->failed && !td->version)
		return wm_diag_set(diag, -ENOTSUP, td->trace->path, sizeof(magic),
				   "trace.dat of version '%.16s'; waymark reads 6 and 7", version);
	(void)snprintf(td->trace->version, sizeof(td->trace->version), "%d", td->version);
	return wm_td_verdict(in, "first bytes", diag);
}

static int tell_unclaimed(struct wm_td *td)
{
	const struct wm_claims_of of = {.trace = td->trace,
					.file = "",
					.fd = td->fd,
					.bytes = td->file_bytes,
					.least =
					    td->codec == WM_TD_PLAIN ? td->layout.page_bytes : 1,
					.known = td->version == 7 ? wm_td_v7_strings : NULL,
					.data = td};

	return wm_claims_tell(&td->claims, &of);
}

static int tracedat_read_all(struct wm_td *td, struct wm_diag *diag)
{
	struct wm_td_in in;
	int err;

	wm_td_in_file(&in, td, 0);
	err = tracedat_read_head(td, &in, diag);
	if (!err)
		err =
		    td->version == 6 ? wm_td_read_v6(td, &in, diag) : wm_td_read_v7(td, &in, diag);
	wm_td_in_done(&in);
	if (!err)
		err = wm_kformats_seal(td->formats);
	if (!err)
		err = wm_td_make_types(td);
	if (!err)
		err = wm_td_index(td);
	if (!err)
		err = tell_unclaimed(td);
	wm_claims_done(&td->claims);
	return err;
}

/* Warns of a clock that does not count nanoseconds, in a file without the length of its ticks. */
static void warn_of_ticks(struct wm_td *td)
{
	static const char *const ticking[] = {"counter", "ppc-tb", "x86-tsc"};

	for (size_t i = 0; i < sizeof(ticking) / sizeof(*ticking) && !td->mult; i++)
		if (!strcmp(td->clock->name, ticking[i]))
			wm_trace_warn(
			    td->trace, "", 0,
			    "the clock '%s' counts ticks of unknown length: times are ticks, "
			    "not nanoseconds",
			    ticking[i]);
}

static int open_tracedat(struct wm_trace *t, const char *path, struct wm_diag *diag)
{
	struct wm_td *td = wm_arena_get(&t->arena, sizeof(*td));
	int err;

	if (!td)
		return wm_diag_set(diag, -ENOMEM, path, -1, "out of memory");
	t->own = td;
	td->trace = t;
	td->fd = -1;
	if (diag)
		diag->sentence[0] = 0;
	err = tracedat_open_file(td, diag);
	if (!err)
		err = make_clock(td);
	if (!err)
		err = tracedat_read_all(td, diag);
	if (!err)
		warn_of_ticks(td);
	if (err && diag && !diag->sentence[0])
		wm_diag_set(diag, err, path, 0, "cannot be read: %s", strerror(-err));
	return err;
}

static void close_tracedat(struct wm_trace *t)
{
	struct wm_td *td = t->own;

	if (!td)
		return;
	if (td->fd >= 0)
		close(td->fd);
	wm_kformats_destroy(td->formats);
}

static const char *tracedat_comm(const struct wm_trace *t, const struct wm_event *e)
{
	const struct wm_td *td = t->own;
	const char *name;

	if (e->tid == 0)
		return "<idle>";
	name = e->tid > 0 ? wm_kformats_comm(td->formats, (uint32_t)e->tid) : NULL;
	return name ? name : "";
}

static bool tracedat_print(const struct wm_trace *t, const struct wm_event *e,
			   const struct wm_kernel_names *names, struct wm_text *out)
{
	const struct wm_td *td = t->own;
	const struct wm_td_event *own = e->type->own;
	const struct wm_kprint *print = wm_kformats_print(td->formats, own->form);
	size_t start = out->bytes, end;

	if (!e->raw || !print)
		return false;
	wm_kprint_run_named(print, td->formats, names, e->raw, e->raw_bytes, out);
	for (end = out->bytes; end > start && out->data[end - 1] == '\n';)
		end--;
	if (end < out->bytes && !out->failed)
		wm_text_cut(out, end);
	return true;
}

const struct wm_reader_ops wm_tracedat_ops = {
    .name = "trace.dat",
    .probe = tracedat_probe,
    .open = open_tracedat,
    .close = close_tracedat,
    .reader_create = wm_td_reader_create,
    .reader_begin = wm_td_reader_begin,
    .reader_read = wm_td_reader_read,
    .reader_destroy = wm_td_reader_destroy,
    .comm = tracedat_comm,
    .print = tracedat_print,
    .kallsyms = wm_td_kallsyms,
};
