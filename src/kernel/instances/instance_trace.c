/* SPDX-License-Identifier: MIT */
/*
 * instance_trace.c - an instance's facilities besides events: triggers, stacks after events,
 * function tracers. See instance.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "kdata/event_format.h"
#include "kernel/instances/instance_int.h"

#define TRIGGERS_BYTES_MAX (1u << 20)
#define FORMAT_BYTES_MAX   (4u << 20)
#define ROUNDS_MAX         8u
#define WORD_LETTERS       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* A trigger's command, and the file that exists where the kernel supports the command. */
static const struct {
	const char *command, *file, *option;
} needs[] = {
    {"hist", "events/%s/%s/hist", "CONFIG_HIST_TRIGGERS"},
    {"enable_hist", "events/%s/%s/hist", "CONFIG_HIST_TRIGGERS"},
    {"disable_hist", "events/%s/%s/hist", "CONFIG_HIST_TRIGGERS"},
    {"snapshot", "snapshot", "CONFIG_TRACER_SNAPSHOT"},
};

/*
 * Returns the kernel configuration option that the trigger needs and the kernel lacks, or NULL.
 */
static const char *missing_option(const struct wm_instance *i, const struct wm_instance_event *e,
				  const char *trigger)
{
	size_t n = strcspn(trigger, ": ");

	for (size_t k = 0; k < sizeof(needs) / sizeof(needs[0]); k++) {
		char file[2 * WM_TRACEFS_NAME_MAX + 32];

		if (strlen(needs[k].command) != n || strncmp(needs[k].command, trigger, n) != 0)
			continue;
		if (strchr(needs[k].file, '%'))
			(void)snprintf(file, sizeof(file), "events/%s/%s/hist", e->system, e->name);
		else
			(void)snprintf(file, sizeof(file), "%s", needs[k].file);
		return wm_instance_has(i, file) ? NULL : needs[k].option;
	}
	return NULL;
}

/* Converts the kernel's column, which counts from the start of the filter after " if ". */
static uint32_t instance_trace_column_of(const char *trigger, uint32_t in_filter)
{
	const char *filter = strstr(trigger, " if ");

	if (!in_filter || !filter)
		return 0;
	filter += strlen(" if ");
	filter += strspn(filter, " ");
	return in_filter <= strlen(filter) ? (uint32_t)(filter - trigger) + in_filter : 0;
}

/* Suggests a command for a word that is none. */
static void instance_hint_command(const char *trigger, char *hint, size_t bytes)
{
	static const char *const known[] = {
	    "traceon",       "traceoff",    "snapshot",     "stacktrace", "enable_event",
	    "disable_event", "enable_hist", "disable_hist", "hist",
	};
	struct wm_nearest near;
	char word[32];

	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(trigger, ": "), trigger);
	wm_nearest_init(&near, word);
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		if (!strcmp(known[k], word))
			return;
		wm_nearest_offer(&near, known[k]);
	}
	wm_nearest_sentence(&near, "", hint, bytes);
}

/*
 * Whether the word at `at` is where a field is named: in a list such as keys=a,b, or before an
 * operator of the filter.
 */
static bool is_place_of_field(const char *trigger, const char *at, size_t bytes)
{
	const char *filter = strstr(trigger, " if "), *next = at + bytes + strspn(at + bytes, " ");

	if (at == trigger || (at[-1] >= '0' && at[-1] <= '9'))
		return false;
	return filter && at > filter + 3 ? *next && strchr("=!<>&~", *next)
					 : at[-1] == '=' || at[-1] == ',';
}

/* Suggests a field for the first word that stands for one and is none. */
static void instance_hint_field(const struct wm_kformat *format, const char *trigger, char *hint,
				size_t bytes)
{
	for (const char *at = trigger; *at && !*hint;) {
		size_t n = strspn(at, WORD_LETTERS);
		struct wm_nearest near;
		char word[64];

		(void)snprintf(word, sizeof(word), "%.*s", (int)(n < 63 ? n : 63), at);
		if (n && is_place_of_field(trigger, at, n) && !wm_kformat_field(format, word)) {
			wm_nearest_init(&near, word);
			for (unsigned k = format->nr_common; k < format->nr_fields; k++)
				wm_nearest_offer(&near, format->fields[k].name);
			wm_nearest_sentence(&near, "", hint, bytes);
		}
		at += n ? n : 1;
	}
}

/* Writes a question with the nearest command or field; "" if there is none. */
static void instance_trace_hint(const struct wm_instance *i, const struct wm_instance_event *e,
				const char *trigger, char *hint, size_t bytes)
{
	char file[2 * WM_TRACEFS_NAME_MAX + 32], *text;
	const struct wm_kformat *format;
	struct wm_kmachine machine;
	struct wm_arena arena;
	size_t size;

	instance_hint_command(trigger, hint, bytes);
	(void)snprintf(file, sizeof(file), "events/%s/%s/format", e->system, e->name);
	if (*hint || wm_file_read(i->dirfd, file, FORMAT_BYTES_MAX, &text, &size) < 0)
		return;
	wm_arena_init(&arena, FORMAT_BYTES_MAX);
	wm_kmachine_init(&machine, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (wm_kformat_parse(&arena, &machine, e->system, text, size, &format, NULL) == 0)
		instance_hint_field(format, trigger, hint, bytes);
	wm_arena_done(&arena);
	free(text);
}

int wm_instance_trigger(struct wm_instance *i, const struct wm_instance_event *e,
			const char *trigger, struct wm_diag *diag)
{
	const char *missing = missing_option(i, e, trigger);
	char file[2 * WM_TRACEFS_NAME_MAX + 32], why[160] = "", hint[160] = "";
	uint32_t column = 0;
	int err;

	if (missing)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel has no '%.*s' triggers (it was built without %s)",
				   (int)strcspn(trigger, ": "), trigger, missing);
	(void)snprintf(file, sizeof(file), "events/%s/%s/trigger", e->system, e->name);
	wm_instance_forget_errors(i);
	err = wm_instance_append(i, file, trigger);
	if (!err)
		return 0;
	if (err == -EINVAL || err == -ENOENT)
		column =
		    instance_trace_column_of(trigger, wm_instance_last_error(i, why, sizeof(why)));
	instance_trace_hint(i, e, trigger, hint, sizeof(hint));
	wm_diag_set(diag, err == -ENOENT ? -EINVAL : err, NULL, -1,
		    "the kernel refuses the trigger '%.160s' of %s:%s: %s%s%s", trigger, e->system,
		    e->name, *why ? why : strerror(-err), *hint ? "; " : "", hint);
	if (diag)
		diag->column = column;
	return err == -ENOENT ? -EINVAL : err;
}

/* Removes each trigger that a file lists. Returns the number removed. */
static unsigned clear_file(const struct wm_instance *i, const char *file)
{
	char *text, *save = NULL;
	unsigned nr = 0;
	size_t bytes;

	if (wm_file_read(i->dirfd, file, TRIGGERS_BYTES_MAX, &text, &bytes) < 0)
		return 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *state = strstr(line, " [");
		struct wm_text remove;

		if (*line == '#')
			continue;
		if (state)
			*state = '\0'; /* "[active]" */
		wm_text_init(&remove);
		wm_text_f(&remove, "!%s", line);
		nr += !remove.failed && wm_instance_append(i, file, remove.data) == 0;
		wm_text_done(&remove);
	}
	free(text);
	return nr;
}

/* Calls fn for each folder in `folder`; returns the sum of its results. */
static unsigned each_folder(const struct wm_instance *i, const char *folder,
			    unsigned (*fn)(const struct wm_instance *i, const char *path))
{
	int fd = openat(i->dirfd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	unsigned nr = 0;

	while (dir && (d = readdir(dir))) {
		char path[2 * WM_TRACEFS_NAME_MAX + 32];

		if (*d->d_name != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", folder, d->d_name) < (int)sizeof(path))
			nr += fn(i, path);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static unsigned clear_event(const struct wm_instance *i, const char *path)
{
	char file[2 * WM_TRACEFS_NAME_MAX + 48];

	(void)snprintf(file, sizeof(file), "%s/trigger", path);
	return clear_file(i, file);
}

static unsigned clear_system(const struct wm_instance *i, const char *path)
{
	return each_folder(i, path, clear_event);
}

void wm_instance_clear_triggers(const struct wm_instance *i)
{
	/*
	 * A trigger that others refer to can be removed only after them, so several rounds may be
	 * needed.
	 */
	for (unsigned n = 0; n < ROUNDS_MAX && each_folder(i, "events", clear_system); n++)
		;
}

int wm_instance_stacks(struct wm_instance *i, bool of_kernel, struct wm_diag *diag)
{
	const char *file = of_kernel ? "options/stacktrace" : "options/userstacktrace";
	int err = wm_instance_put(i, file, "1");

	return err ? wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				 "this kernel cannot record call stacks with events (%s: %s)", file,
				 strerror(-err))
		   : 0;
}

int wm_instance_functions(struct wm_instance *i, const char *glob, bool graph, struct wm_diag *diag)
{
	const char *tracer = graph ? "function_graph" : "function";
	int opened = 0, err;

	if (i->functions && i->graph != graph)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "one recording cannot use both the function and the "
				   "function_graph tracer; make two recordings");
	err = i->functions ? wm_instance_append(i, "set_ftrace_filter", glob)
			   : wm_instance_put(i, "set_ftrace_filter", glob);
	if (err == -EINVAL)
		return wm_diag_set(diag, -ENOENT, NULL, -1,
				   "no traceable kernel function matches '%.80s'; "
				   "available_filter_functions of tracefs lists all names",
				   glob);
	if (!err && !i->functions) {
		/* The tracer cannot be changed while a ring is open. */
		wm_instance_close_rings(i);
		err = wm_instance_put(i, "current_tracer", tracer);
		opened = wm_instance_open_rings(i, diag);
	}
	if (opened)
		return opened;
	if (err == -EPERM || err == -EACCES)
		return wm_diag_set(
		    diag, -EOPNOTSUPP, NULL, -1,
		    "the kernel does not permit its %s tracer: it is locked down (see "
		    "/sys/kernel/security/lockdown), or was built with this tracer disabled",
		    tracer);
	if (err)
		return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
				   "this kernel cannot trace functions (its %s tracer: %s); run "
				   "'waymark doctor' to see what it supports",
				   tracer, strerror(-err));
	i->functions = true;
	i->graph = graph;
	return 0;
}

/* --- markers ---------------------------------------------------------------------------- */

int wm_instance_mark(const struct wm_instance *i, const char *text, size_t bytes)
{
	int fd = openat(i->dirfd, "trace_marker", O_WRONLY | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	/* One write, because each is an event. An open file would keep the instance from removal.
	 */
	n = write(fd, text, bytes);
	if (n < 0)
		err = -errno;
	else if ((size_t)n < bytes)
		err = -E2BIG;
	(void)close(fd);
	return err;
}
