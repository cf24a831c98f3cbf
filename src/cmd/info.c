/* SPDX-License-Identifier: MIT */
/*
 * info.c - waymark info: what a trace is and holds, and what is missing from
 * it; --repair makes a damaged one whole for other readers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/exit.h"
#include "cmd/info.h"
#include "cmd/say.h"
#include "cmd/trace_dir.h"
#include "cmd/trace_open.h"
#include "cmd/verb.h"
#include "ring/pool.h"
#include "view/value_text.h"

#define NS_PER_SECOND 1000000000u

/* --- events by class ------------------------------------------------------------- */

struct tally {
	const struct wm_class *class;
	uint64_t count;
};

struct info {
	const char *dir;
	struct wm_trace_reader *r;
	struct wm_trace_summary s;
	struct tally *tallies; /* by name, once counted */
	uint32_t nr_tallies;
	uint64_t read; /* events that could be read */
	struct wm_text out;
};

/* Where a class is, or belongs; an open hash table by address. */
static struct tally *slot_of(struct tally *table, uint32_t room, const struct wm_class *class)
{
	uint32_t i = (uint32_t)(((uintptr_t) class >> 4) * 2654435761u) & (room - 1);

	while (table[i].class && table[i].class != class)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static int by_name(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	int order = strcmp(x->class->provider, y->class->provider);

	return order ? order : strcmp(x->class->name, y->class->name);
}

/* One line per name: the same event can have an id in several streams. */
static void merge_names(struct info *i, struct tally *table, uint32_t room)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t at = 0; at < room; at++) {
		if (table[at].class)
			table[n++] = table[at];
	}
	qsort(table, n, sizeof(*table), by_name);
	for (uint32_t at = 0; at < n; at++) {
		if (kept && !by_name(&table[kept - 1], &table[at]))
			table[kept - 1].count += table[at].count;
		else
			table[kept++] = table[at];
	}
	i->tallies = table;
	i->nr_tallies = kept;
}

static int count_events(struct info *i)
{
	uint32_t room = 64;
	struct wm_trace_event e;
	struct tally *table;
	int got;

	while (room < 2 * (uint64_t)i->s.nr_classes + 64)
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		return -ENOMEM;
	while ((got = wm_trace_reader_next(i->r, &e)) == 1) {
		struct tally *t = e.recorder ? NULL : slot_of(table, room, e.class);

		if (!t)
			continue;
		t->class = e.class;
		t->count++;
		i->read++;
	}
	merge_names(i, table, room);
	return got;
}

/* --- text --------------------------------------------------------------------------- */

static void label(struct wm_text *t, const char *name)
{
	wm_text_f(t, "%-10s ", name);
}

static void safe(struct wm_text *t, const char *s)
{
	wm_view_safe(t, s, strlen(s), false);
}

static void line(struct wm_text *t, const char *name, const char *value)
{
	if (!*value)
		return;
	label(t, name);
	safe(t, value);
	wm_text_char(t, '\n');
}

static void moment(struct wm_text *t, uint64_t ns)
{
	time_t when = (time_t)(ns / NS_PER_SECOND);
	struct tm tm;
	char buf[32];

	if (!localtime_r(&when, &tm) || !strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		(void)snprintf(buf, sizeof(buf), "?");
	wm_text_f(t, "%s.%09" PRIu64, buf, ns % NS_PER_SECOND);
}

static void clock_line(struct info *i)
{
	label(&i->out, "clock");
	safe(&i->out, i->s.clock);
	wm_text_f(&i->out, ", %" PRIu64 " Hz, wall clock known to +-%" PRIu64 " ns\n",
		  i->s.clock_hz, i->s.clock_error_ns);
}

static void time_line(struct info *i)
{
	uint64_t ns = i->s.end_ns - i->s.begin_ns;

	if (!i->s.begin_ns)
		return;
	label(&i->out, "time");
	moment(&i->out, i->s.begin_ns);
	wm_text_str(&i->out, " to ");
	moment(&i->out, i->s.end_ns);
	wm_text_f(&i->out, ", %" PRIu64 ".%09" PRIu64 " s\n", ns / NS_PER_SECOND,
		  ns % NS_PER_SECOND);
}

static void head(struct info *i)
{
	struct wm_text *t = &i->out;

	line(t, "trace", i->dir);
	line(t, "format", i->s.format);
	line(t, "tracer", i->s.tracer);
	line(t, "host", i->s.host);
	line(t, "command", i->s.command);
	clock_line(i);
	time_line(i);
	label(t, "streams");
	wm_text_f(t, "%u files, %" PRIu64 " packets, %" PRIu64 " bytes\n", i->s.nr_streams,
		  i->s.packets, i->s.bytes);
	label(t, "events");
	wm_text_f(t, "%" PRIu64 " of %u classes", i->read, i->nr_tallies);
	if (i->read != i->s.events)
		wm_text_f(t, "; the packets say %" PRIu64, i->s.events);
	wm_text_str(t, "\n");
	label(t, "lost");
	wm_trace_dir_lost(t, &i->s);
	wm_text_char(t, '\n');
}

static void lists(struct info *i)
{
	struct wm_text *t = &i->out;
	uint32_t n = wm_trace_reader_nr_processes(i->r), k;

	if (n)
		wm_text_str(t, "\nprocesses      pid     ppid      uid  command\n");
	for (k = 0; k < n; k++) {
		const struct wm_trace_process *p = wm_trace_reader_process(i->r, k);

		wm_text_f(t, "          %8u %8u %8u  ", p->pid, p->ppid, p->uid);
		safe(t, p->comm);
		wm_text_str(t, p->path[0] ? "  " : "");
		safe(t, p->path);
		wm_text_char(t, '\n');
	}
	if (i->nr_tallies)
		wm_text_str(t, "\nclasses         events  name\n");
	for (k = 0; k < i->nr_tallies; k++) {
		wm_text_f(t, "          %12" PRIu64 "  ", i->tallies[k].count);
		safe(t, i->tallies[k].class->provider);
		wm_text_char(t, ':');
		safe(t, i->tallies[k].class->name);
		wm_text_char(t, '\n');
	}
	n = wm_trace_reader_nr_faults(i->r);
	if (n)
		wm_text_str(t, "\nfaults\n");
	for (k = 0; k < n; k++) {
		wm_text_str(t, "          ");
		wm_trace_dir_fault(t, wm_trace_reader_fault(i->r, k));
		wm_text_char(t, '\n');
	}
}

/* --- JSON ------------------------------------------------------------------------------ */

static void json_key(struct wm_text *t, const char *key)
{
	wm_text_f(t, "%s\"%s\":", t->bytes && t->data[t->bytes - 1] != '{' ? "," : "", key);
}

static void json_text(struct wm_text *t, const char *key, const char *value)
{
	json_key(t, key);
	wm_view_json_string(t, value, strlen(value));
}

static void json_number(struct wm_text *t, const char *key, uint64_t value)
{
	json_key(t, key);
	wm_text_u64(t, value);
}

static void json_lost(struct info *i)
{
	struct wm_text *t = &i->out;

	json_key(t, "lost");
	wm_text_char(t, '{');
	for (int k = 0; k < WM_LOST_NR; k++)
		json_number(t, wm_lost_name((enum wm_lost)k), i->s.lost[k]);
	json_number(t, "unknown", i->s.lost_unknown);
	wm_text_char(t, '}');
}

static void json_processes(struct info *i)
{
	struct wm_text *t = &i->out;

	json_key(t, "processes");
	wm_text_char(t, '[');
	for (uint32_t k = 0; k < wm_trace_reader_nr_processes(i->r); k++) {
		const struct wm_trace_process *p = wm_trace_reader_process(i->r, k);

		wm_text_str(t, k ? ",{" : "{");
		json_number(t, "pid", p->pid);
		json_number(t, "ppid", p->ppid);
		json_number(t, "vpid", p->vpid);
		json_number(t, "uid", p->uid);
		json_number(t, "begin_ns", p->begin_ns);
		json_text(t, "comm", p->comm);
		json_text(t, "path", p->path);
		wm_text_char(t, '}');
	}
	wm_text_char(t, ']');
}

static void json_classes(struct info *i)
{
	struct wm_text *t = &i->out;

	json_key(t, "classes");
	wm_text_char(t, '[');
	for (uint32_t k = 0; k < i->nr_tallies; k++) {
		wm_text_str(t, k ? ",{" : "{");
		json_text(t, "provider", i->tallies[k].class->provider);
		json_text(t, "name", i->tallies[k].class->name);
		json_number(t, "events", i->tallies[k].count);
		wm_text_char(t, '}');
	}
	wm_text_char(t, ']');
}

static void json_faults(struct info *i)
{
	struct wm_text *t = &i->out;

	json_key(t, "faults");
	wm_text_char(t, '[');
	for (uint32_t k = 0; k < wm_trace_reader_nr_faults(i->r); k++) {
		const struct wm_trace_fault *f = wm_trace_reader_fault(i->r, k);

		wm_text_str(t, k ? ",{" : "{");
		json_text(t, "file", f->file);
		json_number(t, "offset", f->offset);
		json_text(t, "reason", f->reason);
		wm_text_char(t, '}');
	}
	wm_text_char(t, ']');
}

static void json(struct info *i)
{
	struct wm_text *t = &i->out;

	wm_text_char(t, '{');
	json_text(t, "trace", i->dir);
	json_text(t, "format", i->s.format);
	json_text(t, "tracer", i->s.tracer);
	json_text(t, "host", i->s.host);
	json_text(t, "command", i->s.command);
	json_text(t, "clock", i->s.clock);
	json_number(t, "clock_hz", i->s.clock_hz);
	json_number(t, "clock_error_ns", i->s.clock_error_ns);
	json_number(t, "begin_ns", i->s.begin_ns);
	json_number(t, "end_ns", i->s.end_ns);
	json_number(t, "streams", i->s.nr_streams);
	json_number(t, "packets", i->s.packets);
	json_number(t, "bytes", i->s.bytes);
	json_number(t, "events", i->read);
	json_number(t, "events_in_packets", i->s.events);
	json_lost(i);
	json_processes(i);
	json_classes(i);
	json_faults(i);
	wm_text_str(t, "}\n");
}

/* --- the verb ---------------------------------------------------------------------------- */

static void repaired(const struct wm_trace_fault *f, void *data)
{
	struct wm_text *t = data;

	wm_trace_dir_fault(t, f);
	wm_text_char(t, '\n');
}

static int repair(const char *dir)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_text t;
	int err;

	wm_text_init(&t);
	err = wm_trace_repair(dir, repaired, &t, &diag);
	if (!err && !t.bytes)
		wm_text_str(&t, "nothing to repair\n");
	(void)wm_trace_dir_flush(&t); /* main says what is wrong with standard output */
	wm_text_done(&t);
	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("repair", dir, err, &diag);
	return wm_exit_of(err);
}

static int show(const char *dir, bool as_json)
{
	struct info i = {.dir = dir};
	int status = wm_trace_dir_open(dir, &i.r), err;

	if (status)
		return status;
	wm_text_init(&i.out);
	err = wm_trace_reader_summary(i.r, &i.s);
	if (!err)
		err = count_events(&i);
	if (!err && as_json) {
		json(&i);
	} else if (!err) {
		head(&i);
		lists(&i);
	}
	if (!err)
		err = wm_trace_dir_flush(&i.out);
	if (err && err != -EPIPE) {
		wm_say_cannot("read the trace", dir, err);
		status = wm_exit_of(err);
	} else if (wm_trace_reader_nr_faults(i.r) || wm_trace_dir_nr_lost(&i.s)) {
		status = WM_EXIT_INCOMPLETE;
	}
	wm_text_done(&i.out);
	free(i.tallies);
	wm_trace_reader_close(i.r);
	return status;
}

static int run(void *values, int nr_args, char **args)
{
	const struct wm_info_values *v = values;
	char dir[PATH_MAX];
	int status;

	if (v->repair + v->json + v->verify + v->hash > 1) {
		wm_say("info: --repair, --json, --verify and --hash exclude one another");
		return WM_EXIT_USAGE;
	}
	status = wm_trace_dir_find(nr_args, args, dir);
	if (status)
		return status;
	if (v->verify)
		return wm_info_verify(v, dir);
	if (v->hash)
		return wm_info_hash(v, dir);
	if (v->repair)
		return repair(dir);
	return wm_trace_is_own(dir) ? show(dir, v->json) : wm_info_any(v, dir);
}

static const struct wm_option options[] = {
    {.name = "repair",
     .help = "make a damaged trace whole: cut partial packets, mend index files",
     WM_OPTION_TO_FLAG(struct wm_info_values, repair)},
    {.name = "verify",
     .help = "decode everything, and list each violation with its file and offset",
     WM_OPTION_TO_FLAG(struct wm_info_values, verify)},
    {.name = "hash",
     .help = "decode everything, and print the number of events and a hash over all values",
     WM_OPTION_TO_FLAG(struct wm_info_values, hash)},
    {.name = "threads",
     .argument = "N",
     .min = 1,
     .max = 256,
     .help = "on so many processors; without: on all",
     WM_OPTION_TO_INTEGER(struct wm_info_values, threads)},
    {.name = "json",
     .help = "print JSON: one object",
     WM_OPTION_TO_FLAG(struct wm_info_values, json)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_info = {
    .name = "info",
    .summary = "show what a trace is, what it holds and what is missing",
    .synopsis = "[TRACE] [--repair|--verify|--hash|--json]",
    .details =
	"TRACE: a folder or file of waymark, LTTng or another CTF tracer, perf or trace-cmd.\n"
	"Without: the newest waymark-* trace in the current folder.\n"
	"--repair keeps every whole packet that can be read and prints what it did; do not\n"
	"run it while the trace is being recorded. Exit status 5: events are missing.",
    .options = options,
    .values_bytes = sizeof(struct wm_info_values),
    .max_args = 1,
    .run = run,
};
