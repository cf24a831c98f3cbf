/* SPDX-License-Identifier: MIT */
/*
 * option.h - command-line options as a const table: one entry per option feeds the parser, --help,
 * the manual page and the shell completions.
 *
 * Parsing is getopt_long's: -x ARG, -xARG, -xyz, --name ARG, --name=ARG, unambiguous abbreviations
 * of long names; "--" ends the options. Options are processed in the order typed; the last
 * occurrence of an option wins, except CALL entries, which see every occurrence (so --filter can
 * apply to the preceding -e). Every table accepts "--help" and "-h".
 *
 *   struct values { bool json; uint64_t buffer_bytes; int mode; };
 *
 *   static const struct wm_option options[] = {
 *           {.name = "json", .help = "print JSON", WM_OPTION_TO_FLAG(struct values, json)},
 *           {.name = "buffer-size", .letter = 'b', .argument = "SIZE", .initial = "64M",
 *            .min = 65536, .max = 1ll << 36, .help = "memory per process",
 *            WM_OPTION_TO_SIZE(struct values, buffer_bytes)},
 *           {.name = "mode", .argument = "MODE", .choices = "discard|overwrite|block",
 *            .initial = "discard", .help = "what to do when the buffer is full",
 *            WM_OPTION_TO_CHOICE(struct values, mode)},
 *           WM_OPTION_HEADING("Events"),
 *           {.name = "event", .letter = 'e', .argument = "GLOB", .help = "...",
 *            .kind = WM_OPTION_CALL, .call = on_event},
 *           WM_OPTION_END,
 *   };
 *
 * The WM_OPTION_TO_* macros check the member's type at compile time.
 */
#ifndef WM_BASE_OPTION_H
#define WM_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"

#define WM_OPTION_MAX 96u /* maximum number of entries in a table */

enum wm_option_kind {
	WM_OPTION_FLAG,     /* sets a bool to true */
	WM_OPTION_TEXT,     /* const char *, borrowed from argv or the table */
	WM_OPTION_INTEGER,  /* int64_t */
	WM_OPTION_SIZE,     /* uint64_t bytes */
	WM_OPTION_DURATION, /* uint64_t nanoseconds */
	WM_OPTION_CHOICE,   /* int, the index of the word in `choices` */
	WM_OPTION_CALL,     /* runs `call`, in the order typed */
	WM_OPTION_TITLE,    /* not an option: a heading in --help */
};

struct wm_option {
	const char *name; /* long name without "--"; NULL: has only a letter */
	char letter;      /* 0: has only a long name */
	uint8_t kind;     /* enum wm_option_kind */
	/*
	 * The argument may be omitted: TEXT is then "", CALL receives NULL. With `choices`, the
	 * next word is the argument if it equals one of them up to a comma: -g dwarf,4096.
	 */
	bool optional;
	bool hidden;          /* the option is not shown by --help */
	const char *argument; /* name of the argument in --help; NULL: takes no argument */
	/* default, parsed as if the user had typed it first; NULL: zero. Not for CALL */
	const char *initial;
	const char *choices; /* CHOICE: words separated by '|'; see also `optional` */
	int64_t min, max;    /* INTEGER, SIZE, DURATION (ns); both 0: unbounded */
	const char *help;    /* one sentence, lower case, no full stop */
	size_t offset;       /* offset of the member; set it by the WM_OPTION_TO_* macros */
	/*
	 * CALL: `argument` is NULL when the option takes none. Returns 0 or a negative errno with
	 * diag->sentence filled; the parser prepends the option's name.
	 */
	int (*call)(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag);
};

/* sizeof(_Generic) does not compile when the member is of another type. */
#define WM_OPTION_MEMBER(type, member, wanted)                                                     \
	.offset = offsetof(type, member) + 0 * sizeof(_Generic(&((type *)0)->member, wanted * : 0))
#define WM_OPTION_TO_FLAG(type, member) .kind = WM_OPTION_FLAG, WM_OPTION_MEMBER(type, member, bool)
#define WM_OPTION_TO_TEXT(type, member)                                                            \
	.kind = WM_OPTION_TEXT, WM_OPTION_MEMBER(type, member, const char *)
#define WM_OPTION_TO_INTEGER(type, member)                                                         \
	.kind = WM_OPTION_INTEGER, WM_OPTION_MEMBER(type, member, int64_t)
#define WM_OPTION_TO_SIZE(type, member)                                                            \
	.kind = WM_OPTION_SIZE, WM_OPTION_MEMBER(type, member, uint64_t)
#define WM_OPTION_TO_DURATION(type, member)                                                        \
	.kind = WM_OPTION_DURATION, WM_OPTION_MEMBER(type, member, uint64_t)
#define WM_OPTION_TO_CHOICE(type, member)                                                          \
	.kind = WM_OPTION_CHOICE, WM_OPTION_MEMBER(type, member, int)

#define WM_OPTION_HEADING(text)                                                                    \
	{                                                                                          \
		.kind = WM_OPTION_TITLE, .help = (text)                                            \
	}
#define WM_OPTION_END                                                                              \
	{                                                                                          \
		.kind = WM_OPTION_TITLE, .help = NULL                                              \
	}

/* Whether the entry marks the end of the table. */
static inline bool wm_option_is_end(const struct wm_option *o)
{
	return o->kind == WM_OPTION_TITLE && !o->help;
}

enum wm_option_order {
	WM_OPTION_ANYWHERE, /* options and positional arguments may be mixed */
	WM_OPTION_FIRST,    /* the first positional argument, a command, ends the options */
};

/*
 * Sets the defaults in `values`, then parses argv[1..argc-1] (argv is reordered: positional
 * arguments last). Returns 0 and the index of the first positional argument (argc: none), 1 for
 * --help, or -EINVAL with a sentence that names the option and gives a hint.
 */
int wm_option_parse(const struct wm_option *table, enum wm_option_order order, int argc,
		    char **argv, void *values, int *ret_first, struct wm_diag *diag);

/* Prints the table as the options part of --help, wrapped at `columns`. */
void wm_option_help(const struct wm_option *table, unsigned columns, FILE *out);

/* The CHOICE word with that index, copied to buf; "" when out of range. */
const char *wm_option_choice(const struct wm_option *o, int index, char *buf, size_t bytes);

#endif
