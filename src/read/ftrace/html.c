/* SPDX-License-Identifier: MIT */
/*
 * html.c - finds ftrace's text in a page of Android's systrace: a viewer, then
 * scripts of class "trace-data", one of which has the text that atrace read
 * from the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/ftrace/ftrace_int.h"

#define CHUNK_BYTES ((size_t)1 << 20)

/* The file and a buffer for a part of it. */
struct page {
	const struct wm_ft *ft;
	char *buffer;
};

bool wm_ft_html_is(const unsigned char *head, size_t bytes)
{
	static const char *const begins[] = {"<!doctype html", "<html"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (bytes > strlen(begins[i]) &&
		    !strncasecmp((const char *)head, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * Finds the text in [from, end) of the file: returns 1 with the offset after it, 0: it is not
 * there, or -errno. Parts of the file overlap by the length of the text.
 */
static int html_find_after(const struct page *p, const char *text, uint64_t from, uint64_t end,
			   uint64_t *ret_at)
{
	size_t length = strlen(text);

	while (from + length <= end) {
		size_t want = end - from < CHUNK_BYTES ? (size_t)(end - from) : CHUNK_BYTES, got;
		int err = wm_ft_pread(p->ft->fd, p->buffer, want, from, &got);
		const char *found = err ? NULL : memmem(p->buffer, got, text, length);

		if (found) {
			*ret_at = from + (size_t)(found - p->buffer) + length;
			return 1;
		}
		if (err || got < want)
			return err;
		from += want - length + 1;
	}
	return 0;
}

/* Moves the end of the text before the blanks that indent the tag after it. */
static int trim_blanks(const struct page *p, uint64_t begin, uint64_t *end)
{
	char c = ' ';
	size_t got;
	int err = 0;

	while (!err && *end > begin) {
		err = wm_ft_pread(p->ft->fd, &c, 1, *end - 1, &got);
		if (c != ' ' && c != '\t')
			break;
		--*end;
	}
	return err;
}

/* Sets the range of the text; 1: found, 0: not there, or -errno. */
static int html_find_text(const struct page *p, uint64_t *ret_begin, uint64_t *ret_end)
{
	static const char class[] = "class=\"trace-data\"",
			  tracer[] = "# tracer: ", tag[] = "</script";
	uint64_t at = 0, begin, end, text;
	bool is_cut;
	int found;

	for (;;) {
		found = html_find_after(p, class, at, p->ft->bytes, &begin);
		if (found == 1)
			found = html_find_after(p, ">", begin, p->ft->bytes, &begin);
		if (found != 1)
			return found;
		found = html_find_after(p, tag, begin, p->ft->bytes, &end);
		if (found < 0)
			return found;
		is_cut = !found;
		at = is_cut ? p->ft->bytes : end;
		end = is_cut ? p->ft->bytes : end - (sizeof(tag) - 1);
		found = html_find_after(p, tracer, begin, end, &text);
		if (found < 0)
			return found;
		if (found) {
			*ret_begin = text - (sizeof(tracer) - 1);
			*ret_end = end;
			if (is_cut)
				wm_trace_fault(p->ft->trace, "", end,
					       "the page ends within the trace: the file was "
					       "truncated");
			found = trim_blanks(p, begin, ret_end);
			return found ? found : 1;
		}
	}
}

int wm_ft_html_find(struct wm_ft *ft, struct wm_diag *diag)
{
	struct page p = {ft, malloc(CHUNK_BYTES)};
	uint64_t begin = 0, end = 0;
	int found = p.buffer ? html_find_text(&p, &begin, &end) : -ENOMEM;

	free(p.buffer);
	if (found == 0)
		return wm_diag_set(diag, -EBADMSG, ft->trace->path, -1,
				   "a page without a trace: pages written by systrace have a "
				   "script of class \"trace-data\" with ftrace's text");
	if (found < 0)
		return found;
	ft->begin = begin;
	ft->bytes = end;
	return 0;
}
