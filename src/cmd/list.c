/* SPDX-License-Identifier: MIT */
/*
 * list.c - waymark list: which events there are, in files and in running
 * processes. Nothing is started, stopped or changed by it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cmd/exit.h"
#include "cmd/list.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "control/rules.h"

struct values {
	int64_t pid;
	bool fields, json;
};

int wm_list_add_file(struct wm_list *l, struct wm_list_file *file, const char *title)
{
	struct wm_list_file **files = reallocarray(l->files, l->nr_files + 1, sizeof(*files));
	struct wm_list_group *groups, *g;

	if (!files) {
		wm_list_file_destroy(file);
		return -ENOMEM;
	}
	l->files = files;
	l->files[l->nr_files++] = file;
	if (!title)
		return 0;
	groups = reallocarray(l->groups, l->nr_groups + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	l->groups = groups;
	g = &l->groups[l->nr_groups++];
	*g = (struct wm_list_group){.title = strdup(title),
				    .members = calloc(1, sizeof(*g->members))};
	if (!g->title || !g->members)
		return -ENOMEM;
	g->members[g->nr_members++].file = file;
	return 0;
}

void wm_list_done(struct wm_list *l)
{
	for (uint32_t i = 0; i < l->nr_groups; i++) {
		struct wm_list_group *g = &l->groups[i];

		for (uint32_t m = 0; m < g->nr_members; m++) {
			free(g->members[m].on);
			free(g->members[m].unknown);
		}
		free(g->members);
		free(g->pids);
		free(g->title);
	}
	for (uint32_t i = 0; i < l->nr_files; i++)
		wm_list_file_destroy(l->files[i]);
	free(l->files);
	free(l->groups);
	free(l->seen);
	*l = (struct wm_list){0};
}

bool wm_list_wants(const struct wm_rules *rules, const struct wm_class *c)
{
	return !rules || wm_rules_wants(rules, 0, c->provider, c->name, c->level);
}

/* ---- what was asked for ------------------------------------------------- */

/* The first argument is a glob unless it can only be a file. */
static bool is_glob(const char *word)
{
	return !strchr(word, '/') && access(word, F_OK) < 0;
}

static int make_rules(const char *glob, struct wm_rules **ret)
{
	const struct wm_rules_options options = {0};
	struct wm_diag diag = {.offset = -1};
	int err = wm_rules_create(&options, ret);

	if (!err)
		err = wm_rules_add(*ret, glob, NULL, 0, WM_RULES_ALL_LEVELS, &diag);
	if (err < 0)
		wm_say("list: %s", diag.sentence[0] ? diag.sentence : strerror(-err));
	return err;
}

static int add_named_file(struct wm_list *l, const char *path)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_list_file *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0) {
		err = -errno;
		wm_say_cannot("open", path, err);
		return err;
	}
	err = wm_list_file_load(fd, path, l->fields, &file, &diag);
	if (err < 0) {
		wm_say_diag("read", path, err, &diag);
		return err;
	}
	return wm_list_add_file(l, file, path);
}

static int add_named_process(struct wm_list *l, int64_t pid)
{
	char what[48];
	int err = wm_list_add_process(l, (pid_t)pid, true);

	if (err == -ENOENT || err == -ESRCH) {
		wm_say("no process %" PRId64, pid);
	} else if (err == -EACCES || err == -EPERM) {
		wm_say("cannot look into process %" PRId64
		       ": it is another user's or protected; try again as root",
		       pid);
	} else if (err < 0) {
		(void)snprintf(what, sizeof(what), "process %" PRId64, pid);
		wm_say_cannot("read", what, err);
	}
	return err;
}

/* Fills the list; the exit status so far. What failed was said. */
static int collect(struct wm_list *l, const struct values *v, int nr_files, char **files)
{
	int status = WM_EXIT_DONE, err;

	if (v->pid) {
		err = add_named_process(l, v->pid);
		return err < 0 ? (int)wm_exit_of(err) : status;
	}
	if (!nr_files) {
		err = wm_list_add_all_processes(l);
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

/* ---- what there was to say ------------------------------------------------ */

static void say_bad_sites(const struct wm_list *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		const struct wm_list_file *f = l->files[i];

		if (f->nr_bad)
			wm_say("'%s': %" PRIu32 " of its sites cannot be read: %s", f->path,
			       f->nr_bad, f->first_bad.sentence);
	}
}

static bool has_bad_sites(const struct wm_list *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		if (l->files[i]->nr_bad)
			return true;
	}
	return false;
}

/* A name without ':' was looked for among the names alone. */
static void offer_all(const struct wm_list *l, const char *glob, struct wm_nearest *near)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		for (uint32_t e = 0; e < l->files[i]->nr_events; e++) {
			const struct wm_class *c = l->files[i]->events[e].class;
			char full[2 * WM_CLASS_NAME_MAX + 2];

			(void)snprintf(full, sizeof(full), "%s:%s", c->provider, c->name);
			wm_nearest_offer(near, strchr(glob, ':') ? full : c->name);
		}
	}
}

static void say_no_match(const struct wm_list *l, const char *glob)
{
	struct wm_nearest near;
	uint32_t nr = 0;
	char cure[WM_DIAG_SENTENCE];

	for (uint32_t i = 0; i < l->nr_files; i++)
		nr += l->files[i]->nr_events;
	if (!nr)
		return;
	wm_nearest_init(&near, strncmp(glob, "user:", 5) ? glob : glob + 5);
	offer_all(l, glob, &near);
	wm_nearest_sentence(&near, "", cure, sizeof(cure));
	wm_say("no event matches '%s'; %s", glob,
	       *cure ? cure : "'waymark list' without it shows all there are");
}

static void say_no_events(const struct wm_list *l, const struct values *v, int nr_files)
{
	if (v->pid)
		wm_say("process %" PRId64
		       " has no events: neither it nor its libraries were built with "
		       "<waymark/tracepoint.h>, or it was not started with a preloaded helper",
		       v->pid);
	else if (!nr_files)
		wm_say(
		    "no running process %shas events; name a program or library to see its events",
		    geteuid() ? "of yours " : "");
	for (uint32_t i = 0; i < l->nr_groups && !v->pid && nr_files; i++)
		wm_say("'%s' has no events: it was not built with <waymark/tracepoint.h>",
		       l->groups[i].title);
}

static bool has_events(const struct wm_list *l)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		if (l->files[i]->nr_events)
			return true;
	}
	return false;
}

static int show(const struct wm_list *l, const struct values *v, const char *glob,
		const struct wm_rules *rules, int nr_files)
{
	uint32_t nr = v->json ? wm_list_print_json(l, rules) : wm_list_print_text(l, rules);

	say_bad_sites(l);
	if (nr)
		return has_bad_sites(l) ? WM_EXIT_INCOMPLETE : WM_EXIT_DONE;
	if (has_bad_sites(l))
		return WM_EXIT_INCOMPLETE;
	if (has_events(l))
		say_no_match(l, glob);
	else
		say_no_events(l, v, nr_files);
	return WM_EXIT_NO_MATCH;
}

static int run(void *values, int nr_args, char **args)
{
	const struct values *v = values;
	struct wm_list list = {.fields = v->fields || v->json};
	struct wm_rules *rules = NULL;
	const char *glob = NULL;
	int status, shown;

	if (nr_args && is_glob(args[0])) {
		glob = *args++;
		nr_args--;
	}
	if (v->pid && nr_args) {
		wm_say("list: '%s' and -p cannot be listed at once", args[0]);
		return WM_EXIT_USAGE;
	}
	if (glob && make_rules(glob, &rules) < 0) {
		wm_rules_destroy(rules);
		return WM_EXIT_USAGE;
	}
	status = collect(&list, v, nr_args, args);
	if (status == WM_EXIT_DONE || list.nr_groups) {
		shown = show(&list, v, glob, rules, nr_args);
		status = status == WM_EXIT_DONE ? shown : status;
	}
	wm_rules_destroy(rules);
	wm_list_done(&list);
	return status;
}

static const struct wm_option options[] = {
    {.name = "pid",
     .letter = 'p',
     .argument = "PID",
     .min = 1,
     .max = INT32_MAX,
     .help = "the events of this running process, and which are on",
     WM_OPTION_TO_INTEGER(struct values, pid)},
    {.name = "fields",
     .letter = 'F',
     .help = "also types, print forms, and where the sites are",
     WM_OPTION_TO_FLAG(struct values, fields)},
    {.name = "json",
     .help = "print JSON: an array of files or commands, each with its events",
     WM_OPTION_TO_FLAG(struct values, json)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_list = {
    .name = "list",
    .summary = "show the events that programs, libraries and running processes have",
    .synopsis = "[GLOB] [ELF... | -p PID] [--fields] [--json]",
    .details =
	"GLOB is 'provider:name' with *, ? and [...]; without a ':' it is a name. The first\n"
	"argument is taken for a file when it has a '/' or is the name of one. Without files\n"
	"and -p, the running processes of this user are listed (for root, of everybody).",
    .options = options,
    .values_bytes = sizeof(struct values),
    .max_args = WM_VERB_ANY,
    .run = run,
};
