/* SPDX-License-Identifier: MIT */
/*
 * main.c - waymark: finds the verb in the table below, parses its options, runs it. Signal
 * dispositions stay as inherited (SIGPIPE too), so that a traced command gets the shell's; SIGXFSZ
 * has a handler, which execve(2) resets.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"

/* One line per verb. */
/* clang-format off */
const struct wm_verb *const wm_verbs[] = {
	&wm_cmd_list,
	&wm_cmd_stat,
	&wm_cmd_record,
	&wm_cmd_print,
	&wm_cmd_info,
	&wm_cmd_report,
	&wm_cmd_top,
	&wm_cmd_annotate,
	&wm_cmd_flame,
	&wm_cmd_diff,
	&wm_cmd_convert,
	&wm_cmd_doctor,
	&wm_cmd_help,
	&wm_cmd_version,
	NULL,
};
/* clang-format on */

const struct wm_verb *wm_verb_find(const char *name)
{
	for (const struct wm_verb *const *v = wm_verbs; *v; v++) {
		if (!strcmp((*v)->name, name) || ((*v)->alias && !strcmp((*v)->alias, name)))
			return *v;
	}
	return NULL;
}

int wm_verb_unknown(const char *name)
{
	struct wm_nearest near;
	char hint[256];

	wm_nearest_init(&near, name);
	for (const struct wm_verb *const *v = wm_verbs; *v; v++) {
		wm_nearest_offer(&near, (*v)->name);
		if ((*v)->alias)
			wm_nearest_offer(&near, (*v)->alias);
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	wm_say("unknown command '%.100s'; %s", name, *hint ? hint : "'waymark help' lists them");
	return WM_EXIT_USAGE;
}

static int usage_error(const struct wm_verb *verb, const char *sentence)
{
	wm_say("%s: %s", verb->name, sentence);
	wm_say("'waymark %s --help' lists the options", verb->name);
	return WM_EXIT_USAGE;
}

static int main_check_count(const struct wm_verb *verb, unsigned nr_args, char **args)
{
	char sentence[WM_DIAG_SENTENCE];

	if (nr_args < verb->min_args) {
		(void)snprintf(sentence, sizeof(sentence), "missing argument; usage: waymark %s %s",
			       verb->name, verb->synopsis);
		return usage_error(verb, sentence);
	}
	if (nr_args > verb->max_args) {
		(void)snprintf(sentence, sizeof(sentence), "unexpected argument '%.100s'",
			       args[verb->max_args]);
		return usage_error(verb, sentence);
	}
	return WM_EXIT_DONE;
}

static int parse_and_run(const struct wm_verb *verb, void *values, int argc, char **argv)
{
	struct wm_diag diag = {.offset = -1};
	int first = argc, status, err;

	err = wm_option_parse(verb->options, verb->command ? WM_OPTION_FIRST : WM_OPTION_ANYWHERE,
			      argc, argv, values, &first, &diag);
	if (err == 1) {
		wm_verb_print_help(verb, stdout);
		return WM_EXIT_DONE;
	}
	if (err < 0)
		return usage_error(verb, diag.sentence);
	status = main_check_count(verb, (unsigned)(argc - first), argv + first);
	return status ? status : verb->run(values, argc - first, argv + first);
}

static int run_verb(const struct wm_verb *verb, int argc, char **argv)
{
	void *values = calloc(1, verb->values_bytes ? verb->values_bytes : 1);
	int status;

	if (!values) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	status = parse_and_run(verb, values, argc, argv);
	if (verb->release)
		verb->release((char *)values + verb->released);
	free(values);
	return status;
}

static void on_file_too_large(int signo)
{
	(void)signo; /* nothing to do: write(2) fails with EFBIG, and a message says so */
}

/*
 * Prevents `ulimit -f` from killing waymark without a message. A handler, not SIG_IGN:
 * execve(2) resets it.
 */
static void outlive_file_limit(void)
{
	struct sigaction was, ours = {.sa_handler = on_file_too_large, .sa_flags = SA_RESTART};

	if (sigaction(SIGXFSZ, NULL, &was) == 0 && was.sa_handler == SIG_DFL)
		(void)sigaction(SIGXFSZ, &ours, NULL);
}

int main(int argc, char **argv)
{
	const struct wm_verb *verb;
	const char *name;

	outlive_file_limit();
	(void)setlocale(LC_CTYPE, ""); /* for printing names in the terminal's encoding */
	if (argc < 2) {
		wm_verb_print_overview(stderr);
		return WM_EXIT_USAGE;
	}
	name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	verb = wm_verb_find(name);
	if (!verb)
		return wm_verb_unknown(name);
	return wm_say_finish(run_verb(verb, argc - 1, argv + 1));
}
