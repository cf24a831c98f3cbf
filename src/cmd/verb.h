/* SPDX-License-Identifier: MIT */
/*
 * verb.h - a command-line verb: one const struct per verb, in a file named after the verb
 * (src/cmd/list/list.c has wm_cmd_list).
 *
 * To add a verb: write src/cmd/NAME.c with `const struct wm_verb wm_cmd_NAME`, declare it below,
 * and add its line to the table in src/cmd/main.c. The parser, --help, the manual page's options
 * and the completions come from the option table. main() parses the options before it calls run().
 */
#ifndef WM_CMD_VERB_H
#define WM_CMD_VERB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"

#define WM_VERB_ANY 0xffffffffu

struct wm_verb {
	const char *name;
	const char *alias;    /* NULL: none */
	const char *summary;  /* one line for `waymark help`, lower case, no full stop */
	const char *synopsis; /* arguments, e.g. "[GLOB] [ELF...|-p PID]" */
	const char *details;  /* paragraphs after the options in --help; NULL: none */
	const struct wm_option *options;
	/* size of the struct that the options fill; it is zeroed, then the defaults are set */
	size_t values_bytes;
	unsigned min_args, max_args; /* positional arguments; max WM_VERB_ANY: no limit */
	bool command;                /* the first positional argument begins a command to run */

	/*
	 * Runs the verb. args is NULL-terminated. Returns an exit status (cmd/exit.h); on failure,
	 * it has printed a message (cmd/say.h).
	 */
	int (*run)(void *values, int nr_args, char **args);

	/*
	 * Frees what CALL options allocated, also after a usage error; NULL: nothing to free. It is
	 * passed the member of the values at offset `released`.
	 */
	void (*release)(void *member);
	size_t released;
};

extern const struct wm_verb *const wm_verbs[]; /* ends with NULL; in the order of `waymark help` */

const struct wm_verb *wm_verb_find(const char *name);           /* NULL: none */
void wm_verb_print_help(const struct wm_verb *verb, FILE *out); /* `waymark VERB --help` */
void wm_verb_print_overview(FILE *out);                         /* `waymark help` */
int wm_verb_unknown(const char *name); /* prints the closest name; returns WM_EXIT_USAGE */

extern const struct wm_verb wm_cmd_annotate;
extern const struct wm_verb wm_cmd_convert;
extern const struct wm_verb wm_cmd_diff;
extern const struct wm_verb wm_cmd_doctor;
extern const struct wm_verb wm_cmd_flame;
extern const struct wm_verb wm_cmd_help;
extern const struct wm_verb wm_cmd_info;
extern const struct wm_verb wm_cmd_list;
extern const struct wm_verb wm_cmd_print;
extern const struct wm_verb wm_cmd_record;
extern const struct wm_verb wm_cmd_report;
extern const struct wm_verb wm_cmd_stat;
extern const struct wm_verb wm_cmd_top;
extern const struct wm_verb wm_cmd_version;

#endif
