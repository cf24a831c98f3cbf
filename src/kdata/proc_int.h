/* SPDX-License-Identifier: MIT */
/*
 * proc_int.h - the inside of a plan, shared by proc_table.c (descriptions of
 * the files), proc_text.c (creates a plan) and proc_put.c (runs it).
 */
#ifndef WM_KDATA_PROC_INT_H
#define WM_KDATA_PROC_INT_H

#include "base/arena.h"
#include "base/text.h"
#include "kdata/proc_text.h"

enum wm_proc_value {
	WM_PROC_SKIP,    /* a column that is not recorded */
	WM_PROC_COUNT,   /* u8 */
	WM_PROC_SIGNED,  /* i8 */
	WM_PROC_DECIMAL, /* f8: "0.42" */
	WM_PROC_WORD,    /* s: up to the next blank */
	WM_PROC_COMM,    /* s: in parentheses, and may itself contain parentheses */
	WM_PROC_CPU,     /* u4: the number after "cpu" */
};

/* The unit of the kernel's number, and the unit it is converted to. */
enum wm_proc_unit {
	WM_PROC_PLAIN,
	WM_PROC_PERCENT,
	WM_PROC_BYTES,
	WM_PROC_KIB,     /* -> bytes */
	WM_PROC_SECTORS, /* of 512 -> bytes */
	WM_PROC_PAGES,   /* -> bytes */
	WM_PROC_NS,
	WM_PROC_US,    /* -> ns */
	WM_PROC_MS,    /* -> ns */
	WM_PROC_TICKS, /* -> ns */
};

struct wm_proc_column {
	const char *name; /* without its unit; NULL with SKIP */
	enum wm_proc_value value;
	enum wm_proc_unit unit;
};

/* A line of a text that is one record, and the names of its values. */
struct wm_proc_line {
	const char *key;
	const struct wm_proc_column *columns; /* name NULL ends them; NULL: named like the line */
};

struct wm_proc_shape {
	struct wm_proc_event event;
	/*
	 * Each line of the text is a record with these columns; NULL: the whole text is
	 * one record, its lines are a key and values.
	 */
	const struct wm_proc_column *rows;
	const char *between;  /* rows: separator between columns */
	const char *begins;   /* line prefix, followed by a digit. Only such lines are rows; a text
				 that is one record ignores them. NULL: every line is used */
	const char *not_with; /* rows: lines with one of these are skipped; NULL: none */
	/* Texts of one record: lines that are not a simple key and value; key NULL ends them. */
	const struct wm_proc_line *lines;
	bool sizes_only; /* of the lines not in `lines` only those with "kB" */
	bool may_lack;   /* a later text may lack lines: their values are 0 */
};

const struct wm_proc_shape *wm_proc_shape_of(const struct wm_proc_event *e);

struct wm_proc_step {
	enum wm_proc_value value;
	uint64_t scale;
};

struct wm_proc_key {
	const char *key;
	uint32_t bytes, nr; /* nr: number of its values that are recorded, from the first */
};

struct wm_proc_plan {
	struct wm_arena arena;
	const struct wm_proc_shape *shape;
	struct wm_proc_machine machine;
	struct wm_proc_field *fields; /* the recorded fields */
	struct wm_proc_step *steps;   /* for rows: one per column; else one per value */
	struct wm_proc_key *keys;     /* for a text that is one record, in file order */
	size_t nr_fields, nr_steps, nr_keys;
	uint32_t left_out;
	struct wm_text schema;
};

static inline bool wm_proc_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The line's end: its '\n', or the end of the text. */
static inline const char *wm_proc_line_end(const char *at, const char *end)
{
	const char *n = __builtin_memchr(at, '\n', (size_t)(end - at));

	return n ? n : end;
}

/* The end of the key at the start of a line: its first blank, ':' or end. */
static inline const char *wm_proc_key_end(const char *at, const char *end)
{
	while (at < end && !wm_proc_is_blank(*at) && *at != ':')
		at++;
	return at;
}

/* Whether a line is a record in a text of rows. */
bool wm_proc_is_row(const struct wm_proc_shape *s, const char *line, const char *end);

#endif
