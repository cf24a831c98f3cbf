/* SPDX-License-Identifier: MIT */
/*
 * info.c - waymark info: format, contents and losses of a trace; --repair makes a
 * damaged trace readable for other readers.
 */
#include "cmd/info/info.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cmd/exit.h"
#include "cmd/input_options.h"
#include "cmd/list/name_list.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"
#include "cmd/trace_open.h"
#include "cmd/verb.h"
#include "read/ctf.h"
#include "read/repair.h"
#include "view/document.h"

static void repaired(const struct wm_fault *f, void *data)
{
	struct wm_text *t = data;

	wm_input_fault_text(t, f);
	wm_text_char(t, '\n');
}

static int repair(const char *dir)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_text t;
	int err;

	wm_text_init(&t);
	err = wm_own_repair(dir, repaired, &t, &diag);
	if (!err && !t.bytes)
		wm_text_str(&t, "nothing to repair\n");
	(void)wm_verb_flush(&t); /* main() reports errors on standard output */
	wm_text_done(&t);
	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("repair", dir, err, &diag);
	return wm_exit_of(err);
}

static void info_fault_lines(struct wm_info *i, const char *title, const struct wm_fault *list,
			     uint32_t nr)
{
	if (nr)
		wm_text_f(&i->out, "\n%s\n", title);
	for (uint32_t k = 0; k < nr; k++) {
		wm_text_str(&i->out, "          ");
		wm_input_fault_text(&i->out, &list[k]);
		wm_text_char(&i->out, '\n');
	}
}

void wm_info_faults(struct wm_info *i)
{
	info_fault_lines(i, "faults", i->t->faults, i->t->nr_faults);
	info_fault_lines(i, "warnings", i->t->warnings, i->t->nr_warnings);
}

static int show_text(struct wm_info *i)
{
	if (i->t->is_own)
		wm_info_own_text(i);
	else
		wm_info_any_text(i);
	return wm_verb_flush(&i->out);
}

static void json_faults(struct wm_json *j, const char *key, const struct wm_fault *list,
			uint32_t nr)
{
	wm_json_array(j, key);
	for (uint32_t k = 0; k < nr; k++) {
		const struct wm_fault *f = &list[k];

		wm_json_object(j, NULL);
		wm_json_string(j, "file", f->file);
		wm_json_u64(j, "offset", f->offset);
		wm_json_string(j, "reason", f->reason);
		wm_json_end(j);
	}
	wm_json_end(j);
}

/* Prints the trace as JSON; main() reports errors on standard output. */
static void show_json(const struct wm_info *i)
{
	struct wm_json j;

	wm_view_document(&j, stdout, 0, "info");
	if (i->t->is_own)
		wm_info_own_json(i, &j);
	else
		wm_info_any_json(i, &j);
	json_faults(&j, "faults", i->t->faults, i->t->nr_faults);
	json_faults(&j, "warnings", i->t->warnings, i->t->nr_warnings);
	wm_json_end(&j);
}

static int cmd_info_show(const struct wm_info_values *v, const char *path)
{
	struct wm_info i = {.path = path};
	int status = wm_input_open(path, &i.t), err;

	if (status)
		return status;
	wm_text_init(&i.out);
	err = wm_info_count(&i, (uint32_t)v->threads);
	if (!err && !i.t->is_own && !i.nr_events && !i.t->nr_faults)
		wm_say("the trace has no events");
	wm_input_say_repeated(i.t);
	if (!err && v->json)
		show_json(&i);
	else if (!err)
		err = show_text(&i);
	if (err && err != -EPIPE) {
		wm_say_cannot("read the trace", path, err);
		status = wm_exit_of(err);
	} else if (wm_input_is_damaged(i.t)) {
		status = WM_EXIT_INCOMPLETE;
	}
	wm_info_done(&i);
	return status;
}

/* Lists the names of event types without decoding events. */
static int names(const char *path)
{
	struct wm_name_list l;
	struct wm_trace *t;
	int status = wm_input_open(path, &t), err = 0;

	if (status)
		return status;
	wm_name_list_init(&l);
	for (uint32_t i = 0; i < t->nr_types && !err; i++)
		if (!t->types[i]->meta)
			err = wm_name_list_add(&l, t->types[i]->name);
	if (!err)
		wm_name_list_print(&l);
	wm_name_list_done(&l);
	wm_trace_close(t);
	return err ? (int)wm_exit_of(err) : WM_EXIT_DONE;
}

/* Prints one file's text, and its name when there are several. */
static int metadata_file(void *data, const char *name, uint32_t nr, const char *text, size_t bytes)
{
	bool is_plain = !isatty(STDOUT_FILENO); /* a terminal would obey control bytes */
	struct wm_text out;
	int err;

	wm_text_init(&out);
	if (nr > 1)
		wm_text_f(&out, "==> %s <==\n", name);
	for (size_t i = 0; i < bytes; i++)
		if (is_plain || !iscntrl((unsigned char)text[i]) || text[i] == '\n' ||
		    text[i] == '\t')
			wm_text_char(&out, text[i]);
		else
			wm_text_f(&out, "\\x%02x", (unsigned char)text[i]);
	if (bytes && text[bytes - 1] != '\n')
		wm_text_char(&out, '\n');
	err = wm_verb_flush(&out);
	wm_text_done(&out);
	return err;
}

static int metadata(const char *path)
{
	struct wm_diag diag = {.offset = -1};
	int err = wm_ctf_each_metadata(path, metadata_file, NULL, &diag);

	if (!err || err == -EPIPE)
		return WM_EXIT_DONE;
	if (err == -ENOENT || err == -ENOTDIR)
		wm_say("info: '%s' has no CTF metadata", path);
	else
		wm_say_diag("read the metadata of", path, err, &diag);
	return wm_exit_of(err);
}

static int cmd_info_run(void *values, int nr_args, char **args)
{
	const struct wm_info_values *v = values;
	char dir[PATH_MAX];
	int status;

	if (v->repair + v->json + v->verify + v->hash + v->names + v->metadata > 1) {
		wm_say("info: --repair, --json, --verify, --hash, --names and --metadata cannot be "
		       "combined");
		return WM_EXIT_USAGE;
	}
	status = wm_input_find_dir(nr_args, args, dir);
	if (status)
		return status;
	if (v->verify)
		return wm_info_verify(v, dir);
	if (v->hash)
		return wm_info_hash(v, dir);
	if (v->repair)
		return repair(dir);
	if (v->names)
		return names(dir);
	if (v->metadata)
		return metadata(dir);
	return cmd_info_show(v, dir);
}

static const struct wm_option options[] = {
    {.name = "repair",
     .help = "repair a damaged trace: cut partial packets, correct index files",
     WM_OPTION_TO_FLAG(struct wm_info_values, repair)},
    {.name = "verify",
     .help = "decode everything, and list each violation of the format with file and offset",
     WM_OPTION_TO_FLAG(struct wm_info_values, verify)},
    {.name = "hash",
     .help = "decode everything, and print the number of events and a hash over all values",
     WM_OPTION_TO_FLAG(struct wm_info_values, hash)},
    WM_ASKED_THREADS(struct wm_info_values, threads, "use N processors; default: all"),
    {.name = "json",
     .help = "print one JSON object",
     WM_OPTION_TO_FLAG(struct wm_info_values, json)},
    {.name = "names",
     .help = "print only the names of the trace's events, one per line, for shell completion",
     WM_OPTION_TO_FLAG(struct wm_info_values, names)},
    {.name = "metadata",
     .help = "print the metadata of a CTF trace as text, without its packets",
     WM_OPTION_TO_FLAG(struct wm_info_values, metadata)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_info = {
    .name = "info",
    .summary = "show the format, contents and losses of a trace",
    .synopsis = "[TRACE] [--repair|--verify|--hash|--json|--names]",
    .details =
	"TRACE: a trace folder or file from waymark, LTTng, another CTF tracer, perf, trace-cmd\n"
	"or ftrace; -: standard input; default: the newest waymark-* trace in this folder.\n"
	"--repair keeps every complete packet that can be read and prints what it changed; do\n"
	"not run it while the trace is being recorded. Exit status 5: events are missing.",
    .options = options,
    .values_bytes = sizeof(struct wm_info_values),
    .max_args = 1,
    .run = cmd_info_run,
};
