/* SPDX-License-Identifier: MIT */
/*
 * help.c - waymark help, waymark VERB --help and waymark version, all printed
 * from the tables of verbs and options.
 */
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

#ifndef WM_VERSION
#define WM_VERSION "unknown"
#endif

static unsigned help_columns(FILE *out)
{
	unsigned columns = wm_say_columns(out);

	return columns < 100 ? columns : 100;
}

void wm_verb_print_overview(FILE *out)
{
	(void)fprintf(out, "usage: waymark VERB [OPTION...] [ARGUMENT...]\n\n"
			   "Sees what programs and the kernel do, while they do it.\n\n");
	for (const struct wm_verb *const *v = wm_verbs; *v; v++)
		(void)fprintf(out, "  %-12s%s\n", (*v)->name, (*v)->summary);
	(void)fprintf(out, "\n'waymark VERB --help' shows the options of a verb.\n");
}

void wm_verb_print_help(const struct wm_verb *verb, FILE *out)
{
	(void)fprintf(out, "usage: waymark %s%s%s\n\n%s\n\n", verb->name,
		      *verb->synopsis ? " " : "", verb->synopsis, verb->summary);
	wm_option_help(verb->options, help_columns(out), out);
	if (verb->alias)
		(void)fprintf(out, "\n'%s' is another name of this verb.\n", verb->alias);
	if (verb->details)
		(void)fprintf(out, "\n%s\n", verb->details);
}

static int run_help(void *values, int nr_args, char **args)
{
	const struct wm_verb *verb;

	if (!nr_args) {
		wm_verb_print_overview(stdout);
		return WM_EXIT_DONE;
	}
	verb = wm_verb_find(args[0]);
	if (!verb)
		return wm_verb_unknown(args[0]);
	wm_verb_print_help(verb, stdout);
	return WM_EXIT_DONE;
}

static int run_version(void *values, int nr_args, char **args)
{
	(void)printf("waymark %s\n", WM_VERSION);
	return WM_EXIT_DONE;
}

static const struct wm_option no_options[] = {WM_OPTION_END};

const struct wm_verb wm_cmd_help = {
    .name = "help",
    .summary = "show the verbs, or one verb's options",
    .synopsis = "[VERB]",
    .options = no_options,
    .max_args = 1,
    .run = run_help,
};

const struct wm_verb wm_cmd_version = {
    .name = "version",
    .summary = "show the version",
    .synopsis = "",
    .options = no_options,
    .run = run_version,
};
