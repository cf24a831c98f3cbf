/* SPDX-License-Identifier: MIT */
/*
 * help.c - waymark help, waymark VERB --help and waymark version, all printed from the tables of
 * verbs and options. The hidden `waymark help --tables` prints the tables themselves as JSON, from
 * which tools/gen generates manual pages and completions.
 */
#include <string.h>

#include "base/json.h"
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
	(void)fprintf(out, "usage: waymark COMMAND [OPTION...] [ARGUMENT...]\n\n"
			   "Traces programs and the Linux kernel while they run.\n\n");
	for (const struct wm_verb *const *v = wm_verbs; *v; v++)
		(void)fprintf(out, "  %-12s%s\n", (*v)->name, (*v)->summary);
	(void)fprintf(out, "\n'waymark COMMAND --help' lists the options of a command.\n");
}

void wm_verb_print_help(const struct wm_verb *verb, FILE *out)
{
	(void)fprintf(out, "usage: waymark %s%s%s\n\n%s\n\n", verb->name,
		      *verb->synopsis ? " " : "", verb->synopsis, verb->summary);
	wm_option_help(verb->options, help_columns(out), out);
	if (verb->alias)
		(void)fprintf(out, "\n'%s' is another name for this command.\n", verb->alias);
	if (verb->details)
		(void)fprintf(out, "\n%s\n", verb->details);
}

static void option_table(struct wm_json *j, const struct wm_option *o)
{
	char letter[2] = {o->letter, '\0'};

	wm_json_object(j, NULL);
	if (o->kind == WM_OPTION_TITLE) {
		wm_json_string(j, "title", o->help);
	} else {
		wm_json_string(j, "name", o->name);
		wm_json_string(j, "letter", o->letter ? letter : NULL);
		wm_json_string(j, "argument", o->argument);
		wm_json_bool(j, "optional", o->optional);
		wm_json_string(j, "choices", o->choices);
		wm_json_string(j, "initial", o->initial);
		wm_json_string(j, "help", o->help);
	}
	wm_json_end(j);
}

static void verb_tables(struct wm_json *j, const struct wm_verb *verb)
{
	wm_json_object(j, NULL);
	wm_json_string(j, "name", verb->name);
	wm_json_string(j, "alias", verb->alias);
	wm_json_string(j, "summary", verb->summary);
	wm_json_string(j, "synopsis", verb->synopsis);
	wm_json_bool(j, "command", verb->command);
	wm_json_array(j, "options");
	for (const struct wm_option *o = verb->options; !wm_option_is_end(o); o++) {
		if (!o->hidden)
			option_table(j, o);
	}
	wm_json_end(j);
	wm_json_end(j);
}

static int print_tables(void)
{
	struct wm_json j;

	wm_json_init(&j, stdout, 1);
	wm_json_array(&j, NULL);
	for (const struct wm_verb *const *v = wm_verbs; *v; v++)
		verb_tables(&j, *v);
	wm_json_end(&j);
	return WM_EXIT_DONE;
}

struct help_values {
	bool tables;
};

static int run_help(void *values, int nr_args, char **args)
{
	const struct help_values *v = values;
	const struct wm_verb *verb;

	if (v->tables)
		return print_tables();
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

static const struct wm_option help_options[] = {
    {.name = "tables",
     .hidden = true,
     .help = "print the tables of commands and options as JSON",
     WM_OPTION_TO_FLAG(struct help_values, tables)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_help = {
    .name = "help",
    .summary = "list the commands, or the options of one command",
    .synopsis = "[COMMAND]",
    .options = help_options,
    .values_bytes = sizeof(struct help_values),
    .max_args = 1,
    .run = run_help,
};

const struct wm_verb wm_cmd_version = {
    .name = "version",
    .summary = "print the version",
    .synopsis = "",
    .options = no_options,
    .run = run_version,
};
