/* SPDX-License-Identifier: MIT */
/*
 * ftrace_int.h - declarations shared by the files of the ftrace text reader.
 *
 *   html.c    finds the text in a page of systrace
 *   line.c    parses a line
 *   index.c   one walk over all lines: packets, event types, losses
 *   ftrace.c  entry points, and the packet reader
 *
 * A packet is a sequence of whole lines in which time does not decrease.
 */
#ifndef WM_READ_FTRACE_FTRACE_INT_H
#define WM_READ_FTRACE_FTRACE_INT_H

#include "trace/reader.h"

#define WM_FT_LINE_MAX     (64u << 10) /* maximum size of an event with all its lines */
#define WM_FT_TYPES_MAX    4096u
#define WM_FT_FIELDS_MAX   64u
#define WM_FT_PACKET_BYTES (256u << 10)

/* Part of a line. */
struct wm_ft_text {
	const char *at;
	uint32_t bytes;
};

enum wm_ft_kind {
	WM_FT_EVENT,
	WM_FT_COMMENT,  /* a comment, or an empty line */
	WM_FT_LOST,     /* "CPU:1 [LOST 12 EVENTS]" */
	WM_FT_MORE,     /* belongs to the previous event: a frame of its stack */
	WM_FT_NO_EVENT, /* anything else */
};

struct wm_ft_line {
	enum wm_ft_kind kind;
	struct wm_ft_text comm, flags, name, text;
	int32_t tid, pid, cpu; /* pid is -1 when the line does not have it */
	int64_t ns;
	uint64_t lost; /* UINT64_MAX: unknown number */
};

/* Parses a line; `bytes` excludes the line ending. */
void wm_ft_line_parse(const char *line, size_t bytes, struct wm_ft_line *ret);

/* Finds the next KEY=VALUE at or after *at, and moves *at after it; false: no more. */
bool wm_ft_pair(const struct wm_ft_text *text, uint32_t *at, struct wm_ft_text *ret_key,
		struct wm_ft_text *ret_value);

/* Parses an integer, decimal or 0x..., optionally followed by a unit in brackets: "12 [ns]". */
bool wm_ft_number(const struct wm_ft_text *value, bool *ret_hex, int64_t *ret);

/* Returns whether the text of such an event may continue on the next lines. */
bool wm_ft_goes_on(const struct wm_ft_line *event);

struct wm_ft_comm {
	int32_t tid;
	const char *name;
};

struct wm_ft {
	struct wm_trace *trace;
	int fd;
	uint64_t begin, bytes; /* the text's first byte in the file, and the end of it */
	const struct wm_type *context;
	uint32_t nr_comms;
	struct wm_ft_comm *comms; /* sorted by tid */
};

/* Returns the type of that name, or NULL. */
const struct wm_event_type *wm_ft_type(const struct wm_trace *t, const struct wm_ft_text *name);

int wm_ft_pread(int fd, void *to, size_t bytes, uint64_t offset, size_t *ret_got);

/* Returns whether the file begins as a page does. */
bool wm_ft_html_is(const unsigned char *head, size_t bytes);

/* Restricts ft to the text in the page; -EBADMSG with `diag`: it has none. */
int wm_ft_html_find(struct wm_ft *ft, struct wm_diag *diag);

int wm_ft_index(struct wm_ft *ft, struct wm_diag *diag);

#endif
