/* SPDX-License-Identifier: MIT */
/*
 * list.c - waymark list: lists the events of files, running processes and the kernel.
 * It starts, stops and changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plural.h"
#include "cmd/exit.h"
#include "cmd/list/kernel.h"
#include "cmd/list/lines.h"
#include "cmd/list/list.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "control/rules.h"
#include "view/document.h"

struct values {
	int64_t pid;
	bool fields, json, names, lines;
};

/* arguments */

/* Returns whether the first argument is a glob rather than a file name. */
static bool is_glob(const char *word)
{
	if (wm_inventory_kernel_names(word))
		return true;
	return !strchr(word, '/') && access(word, F_OK) < 0;
}

static int cmd_list_make_rules(const char *glob, struct wm_rules **ret)
{
	const struct wm_rules_options options = {0};
	struct wm_diag diag = {.offset = -1};
	int err = wm_rules_create(&options, ret);

	if (!err)
		err = wm_rules_add(*ret, glob, NULL, 0, WM_RULES_ALL_LEVELS, &diag);
	if (err < 0)
		wm_say("list: %s", wm_words_of(err, &diag));
	return err;
}

static int add_named_file(struct wm_inventory *l, const char *path)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_inventory_file *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0) {
		err = -errno;
		wm_say_cannot("open", path, err);
		return err;
	}
	err = wm_inventory_file_load(fd, path, l->fields, &file, &diag);
	if (err < 0) {
		wm_say_diag("read", path, err, &diag);
		return err;
	}
	return wm_inventory_add_file(l, file, path);
}

static int add_named_process(struct wm_inventory *l, int64_t pid)
{
	char what[48];
	int err = wm_inventory_add_process(l, (pid_t)pid, true);

	if (err == -ENOENT || err == -ESRCH) {
		wm_say("no process %" PRId64, pid);
	} else if (err == -EACCES || err == -EPERM) {
		wm_say("cannot read process %" PRId64
		       ": it belongs to another user or is protected; try again as root",
		       pid);
	} else if (err < 0) {
		(void)snprintf(what, sizeof(what), "process %" PRId64, pid);
		wm_say_cannot("read", what, err);
	}
	return err;
}

/* Fills the list, and reports failures. Returns the exit status so far. */
static int collect(struct wm_inventory *l, const struct values *v, int nr_files, char **files)
{
	int status = WM_EXIT_DONE, err;

	if (v->pid) {
		err = add_named_process(l, v->pid);
		return err < 0 ? (int)wm_exit_of(err) : status;
	}
	if (!nr_files) {
		err = wm_inventory_add_all_processes(l);
		if (err < 0)
			wm_say_cannot("read", "/proc", err);
		return err < 0 ? (int)wm_exit_of(err) : status;
	}
	for (int i = 0; i < nr_files; i++) {
		err = add_named_file(l, files[i]);
		if (err < 0)
			status = (int)wm_exit_of(err);
	}
	return status;
}

/* messages */

static void say_bad_sites(const struct wm_inventory *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		const struct wm_inventory_file *f = l->files[i];

		if (f->nr_bad)
			wm_say("'%s': %" PRIu32 " %s cannot be read: %s", f->path, f->nr_bad,
			       wm_plural(f->nr_bad, "site", "sites"), f->first_bad.sentence);
	}
}

static bool has_bad_sites(const struct wm_inventory *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		if (l->files[i]->nr_bad)
			return true;
	}
	return false;
}

static void say_no_match(const struct wm_inventory *l, const char *glob)
{
	char hint[WM_DIAG_SENTENCE];

	if (glob)
		wm_say("no event matches '%s'; %s", glob,
		       wm_inventory_near(l, glob, hint, sizeof(hint))
			   ? hint
			   : "'waymark list' without a GLOB lists all events");
}

static void say_no_events(const struct wm_inventory *l, const struct values *v, int nr_files)
{
	if (v->pid)
		wm_say("process %" PRId64
		       " has no events: neither the program nor its libraries were built with "
		       "<waymark/tracepoint.h>, and no helper was preloaded",
		       v->pid);
	else if (!nr_files)
		wm_say("none of %s running processes has tracepoints; name a program or library to "
		       "list its events",
		       geteuid() ? "your" : "the");
	for (uint32_t i = 0; i < l->nr_groups && !v->pid && nr_files; i++)
		wm_say("'%s' has no events: it was not built with <waymark/tracepoint.h>",
		       l->groups[i].title);
}

static bool has_events(const struct wm_inventory *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		if (l->files[i]->nr_events)
			return true;
	}
	return false;
}

/* The arguments, and the events found. */
struct found {
	const struct values *values;
	const char *glob;
	int nr_files;
	struct wm_rules *rules;
	struct wm_inventory list;
	struct wm_inventory_kernel kernel;
	int kernel_err; /* < 0: no kernel event matches the glob; `diag` has the reason */
	struct wm_diag diag;
};

/* Returns whether to list the families: only if there are no arguments. */
static bool wants_families(const struct found *f)
{
	return !f->glob && !f->nr_files && !f->values->pid;
}

/* Finds the kernel events that match the name, or the USDT probes of the given files or process. */
static void cmd_list_find_kernel(struct found *f, char **files)
{
	for (int i = 0; i < f->nr_files; i++)
		wm_inventory_kernel_add_file(&f->kernel, files[i], f->glob);
	if (f->values->pid)
		wm_inventory_kernel_add_process(&f->kernel, (pid_t)f->values->pid, f->glob);
	else if (f->glob && !f->nr_files)
		f->kernel_err = wm_inventory_kernel_find(&f->kernel, f->glob, &f->diag);
}

static uint32_t print_all(const struct found *f)
{
	struct wm_json j;
	uint32_t nr;

	if (!f->values->json) {
		if (wants_families(f))
			wm_list_families_text(&f->kernel);
		if (wants_families(f) && f->list.nr_groups)
			(void)printf("\n");
		nr = wm_list_print_text(&f->list, f->rules);
		return nr + wm_list_kernel_text(&f->kernel, nr != 0);
	}
	wm_view_document(&j, stdout, 4, "list");
	wm_json_array(&j, "groups");
	if (wants_families(f))
		wm_list_families_json(&f->kernel, &j);
	nr = wm_list_print_json(&f->list, f->rules, &j);
	nr += wm_list_kernel_json(&f->kernel, &j);
	wm_json_end(&j);
	wm_json_end(&j);
	return nr;
}

/* Returns whether the error from looking up kernel events makes the better message. */
static bool kernel_says_why(const struct found *f)
{
	char hint[WM_DIAG_SENTENCE];

	return f->kernel_err < 0 && (f->kernel_err != -ENOENT || !has_events(&f->list) ||
				     !wm_inventory_near(&f->list, f->glob, hint, sizeof(hint)));
}

static int say_nothing_found(const struct found *f)
{
	if (kernel_says_why(f)) {
		wm_say("list: %s", f->diag.sentence);
		return f->kernel_err == -ENOENT   ? WM_EXIT_NO_MATCH
		       : f->kernel_err == -EINVAL ? WM_EXIT_USAGE
						  : (int)wm_exit_of(f->kernel_err);
	}
	if (has_events(&f->list))
		say_no_match(&f->list, f->glob);
	else
		say_no_events(&f->list, f->values, f->nr_files);
	return WM_EXIT_NO_MATCH;
}

static int cmd_list_show(const struct found *f)
{
	uint32_t nr = print_all(f);

	say_bad_sites(&f->list);
	if (has_bad_sites(&f->list))
		return WM_EXIT_INCOMPLETE;
	return nr || wants_families(f) ? WM_EXIT_DONE : say_nothing_found(f);
}

static int find_and_show(struct found *f, char **files)
{
	int status, shown,
	    err = wm_inventory_kernel_open(&f->kernel, f->list.fields, getenv("PATH"));

	if (err < 0) {
		wm_say("list: %s", wm_diag_errno(err));
		return WM_EXIT_FAILED;
	}
	status = collect(&f->list, f->values, f->nr_files, files);
	if (status == WM_EXIT_DONE || f->list.nr_groups) {
		cmd_list_find_kernel(f, files);
		shown = cmd_list_show(f);
		status = status == WM_EXIT_DONE ? shown : status;
	}
	wm_inventory_kernel_close(&f->kernel);
	return status;
}

static int cmd_list_run(void *values, int nr_args, char **args)
{
	struct found f = {.values = values, .diag = {.offset = -1}};
	int status;

	if (f.values->lines &&
	    (f.values->fields || f.values->names || f.values->pid || nr_args != 1)) {
		wm_say("list: --lines takes one place, such as uprobe:./app:main, and --json");
		return WM_EXIT_USAGE;
	}
	if (f.values->lines)
		return wm_list_lines(args[0], f.values->json);
	if (f.values->names &&
	    (f.values->fields || f.values->json || f.values->pid || nr_args > 1)) {
		wm_say("list: --names takes a prefix of one name and no other option");
		return WM_EXIT_USAGE;
	}
	if (f.values->names)
		return wm_list_names(nr_args ? args[0] : "");
	f.list.words = &wm_say_words;
	f.list.fields = f.values->fields || f.values->json;
	if (nr_args && is_glob(args[0])) {
		f.glob = *args++;
		nr_args--;
	}
	f.nr_files = nr_args;
	if (f.values->pid && nr_args) {
		wm_say("list: '%s' and -p cannot be combined", args[0]);
		return WM_EXIT_USAGE;
	}
	if (f.glob && cmd_list_make_rules(f.glob, &f.rules) < 0) {
		wm_rules_destroy(f.rules);
		return WM_EXIT_USAGE;
	}
	status = find_and_show(&f, args);
	wm_rules_destroy(f.rules);
	wm_inventory_done(&f.list);
	return status;
}

static const struct wm_option options[] = {
    {.name = "pid",
     .letter = 'p',
     .argument = "PID",
     .min = 1,
     .max = INT32_MAX,
     .help = "list the events of this running process, and which of them are on",
     WM_OPTION_TO_INTEGER(struct values, pid)},
    {.name = "fields",
     .letter = 'F',
     .help = "also list field types, print formats and the location of each site; for probes, the "
	     "parameters and variables available there",
     WM_OPTION_TO_FLAG(struct values, fields)},
    {.name = "lines",
     .letter = 'L',
     .help = "print the source of uprobe:PROGRAM:FUNCTION or uprobe:PROGRAM:FILE[:LINE[-LINE]], "
	     "with the numbers of the lines that can be probed",
     WM_OPTION_TO_FLAG(struct values, lines)},
    {.name = "json",
     .help = "print one JSON object: files, commands and the kernel, each with its events",
     WM_OPTION_TO_FLAG(struct values, json)},
    {.name = "names",
     .help =
	 "print only the names that start with GLOB, one per line, for shell completion; without "
	 "a ':' in GLOB, only the part of each name up to its ':'",
     WM_OPTION_TO_FLAG(struct values, names)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_list = {
    .name = "list",
    .summary = "list the events of programs, processes and the kernel",
    .synopsis = "[GLOB] [ELF... | -p PID] [--fields] [--lines] [--json] [--names]",
    .details =
	"GLOB is an event name as in waymark-events(7) and may contain the wildcards *, ? and\n"
	"[...]; without a ':' it matches names of any provider. The first argument is a file\n"
	"if it contains a '/' or names a file, unless it starts with a family such as 'usdt:'.\n"
	"Without arguments, the families of events are listed, and the running processes of\n"
	"this user (for root, of all users).",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .run = cmd_list_run,
};
