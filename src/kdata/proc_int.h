/* SPDX-License-Identifier: MIT */
/*
 * proc_int.h - the internals of a plan, shared by proc_table.c (descriptions of the files),
 * proc_text.c (creates a plan) and proc_put.c (runs it).
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
	WM_PROC_WORD,    /* a word, up to the next blank (type s) */
	WM_PROC_COMM,    /* a name in parentheses, which may contain parentheses (type s) */
	WM_PROC_CPU,     /* the number after "cpu" (type u4) */
};

/* The unit of a number in the file, and the unit that is recorded. */
enum wm_proc_unit {
	WM_PROC_PLAIN,
	WM_PROC_PERCENT,
	WM_PROC_BYTES,
	WM_PROC_KIB,     /* -> bytes */
	WM_PROC_SECTORS, /* sectors of 512 bytes -> bytes */
	WM_PROC_PAGES,   /* -> bytes */
	WM_PROC_NS,
	WM_PROC_US,    /* -> ns */
	WM_PROC_MS,    /* -> ns */
	WM_PROC_TICKS, /* -> ns */
};

struct wm_proc_column {
	const char *name; /* field name without its unit; NULL with SKIP */
	enum wm_proc_value value;
	enum wm_proc_unit unit;
};

/* A line of a file that is a single record, and the names of its values. */
struct wm_proc_line {
	const char *key;
	/* Ended by name NULL; NULL: the only value has the same name as the line. */
	const struct wm_proc_column *columns;
};

struct wm_proc_shape {
	struct wm_proc_event event;
	/*
	 * If set, each line of the file is a record with these columns; if NULL, the whole file is
	 * one record, and each line has a key and values.
	 */
	const struct wm_proc_column *rows;
	const char *between; /* rows: the characters that separate columns */
	/*
	 * rows: only lines that begin with this and a digit are rows; NULL: all lines are. Not used
	 * for a file that is a single record.
	 */
	const char *begins;
	const char *not_with; /* rows: lines that contain any of these are skipped; NULL: none */
	/*
	 * for a file that is a single record: lines that are not a simple key and value; ended by
	 * key NULL
	 */
	const struct wm_proc_line *lines;
	/* Lines that are not in `lines` are recorded only if their unit is "kB". */
	bool sizes_only;
	bool may_lack; /* later contents may lack lines; their values are then 0 */
};

const struct wm_proc_shape *wm_kproc_shape_of(const struct wm_proc_event *e);

struct wm_proc_step {
	enum wm_proc_value value;
	uint64_t scale;
};

struct wm_proc_key {
	const char *key;
	uint32_t bytes, nr; /* nr: number of values that are recorded, from the first on */
};

struct wm_kproc_plan {
	struct wm_arena arena;
	const struct wm_proc_shape *shape;
	struct wm_proc_machine machine;
	struct wm_proc_field *fields; /* the recorded fields */
	/* One per column of a row, or one per value of a file that is a single record. */
	struct wm_proc_step *steps;
	struct wm_proc_key *keys; /* for a file that is a single record, in file order */
	size_t nr_fields, nr_steps, nr_keys;
	uint32_t left_out;
	struct wm_text schema;
};

static inline bool wm_kproc_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the end of the line: its '\n', or the end of the text. */
static inline const char *wm_kproc_line_end(const char *at, const char *end)
{
	const char *n = __builtin_memchr(at, '\n', (size_t)(end - at));

	return n ? n : end;
}

/* Returns the end of the key at the start of a line: its first blank, its ':' or its end. */
static inline const char *wm_kproc_key_end(const char *at, const char *end)
{
	while (at < end && !wm_kproc_is_blank(*at) && *at != ':')
		at++;
	return at;
}

/* Returns whether a line of a file of rows is a record. */
bool wm_kproc_is_row(const struct wm_proc_shape *s, const char *line, const char *end);

#endif
