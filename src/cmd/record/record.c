/* SPDX-License-Identifier: MIT */
/* record.c - `waymark record`: its options, and what goes to another recorder. */
#include "cmd/record/events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/id_list.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "control/tool.h"
#include "event/context.h"
#include "event/filter.h"
#include "kernel/counters.h"

/* ------------------------------------------------------------------ *
 * Options
 * ------------------------------------------------------------------ */

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to record"),
    {.name = "event",
     .letter = 'e',
     .argument = "GLOB",
     .help = "events by provider:name, wildcards allowed, of programs and of the kernel "
	     "(sched:sched_switch, syscall:openat, ftrace:print); user: or kernel: before it says "
	     "whose; may be repeated; without it, all events of programs",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_event},
    {.name = "exclude",
     .letter = 'x',
     .argument = "GLOB",
     .help = "not these, whatever -e says; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_exclude},
    {.name = "filter",
     .argument = "EXPR",
     .help = "record the events of the -e before it only when this is true, 'rows > 100 && sql == "
	     "\"SELECT*\"'; before any -e it is for all",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_filter},
    {.name = "context",
     .argument = "LIST",
     .help = "record with them: cpu, ustack (the user call stack); belongs to the -e before it, as "
	     "--filter",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_context},
    {.name = "every",
     .argument = "DURATION",
     .help = "how often the counters of /proc of the -e before it are read (proc:vmstat), 1ms to "
	     "1h; default 1s; before any -e it is for all",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_every},
    {.name = "preload",
     .argument = "LIST",
     .help = "load helpers into CMD: malloc, pthread, func; 'none' loads not even the runtime",
     WM_OPTION_TO_TEXT(struct wm_record_asked, preload)},
    WM_OPTION_HEADING("Sampling"),
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "sample the kernel's events of the -e before it so often a second; before any -e all "
	     "of them, or cpu:cycles (sw:cpu-clock where there is none) when none is named",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_rate},
    {.name = "count",
     .letter = 'c',
     .argument = "N",
     .help = "the same, at every Nth event",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_rate},
    {.name = "call-graph",
     .letter = 'g',
     .argument = "MODE",
     .optional = true,
     .choices = "fp|dwarf",
     .help = "sample with call chains: fp by frame pointers, of kernel and program; dwarf[,BYTES] "
	     "with a copy of the program's stack (8192 bytes) to be unwound later; belongs to the "
	     "-e before it, as -F",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_chain},
    {.name = "stacks",
     .argument = "LIST",
     .help = "after each event of the kernel a stack, as an event (ftrace:kernel_stack, "
	     "ftrace:user_stack): kernel, user",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_stacks},
    {.name = "trigger",
     .argument = "TEXT",
     .help = "let an event of the kernel do something, in tracefs' words: "
	     "'sched:sched_switch:stacktrace if prev_pid == 0', "
	     "'kmem:kmalloc:hist:keys=call_site'; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_trigger},
    {.name = "synthetic",
     .argument = "TEXT",
     .help = "make an event that triggers write, 'NAME TYPE FIELD; ...'; it is recorded as "
	     "synthetic:NAME; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_synthetic},
    WM_OPTION_HEADING("Which processes"),
    {.name = "pid",
     .letter = 'p',
     .argument = "PID,...",
     .help = "processes that run already",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_pid},
    {.name = "tid",
     .letter = 't',
     .argument = "TID,...",
     .help = "threads that run already: they alone, and nothing they fork",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_tid},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "only what happens on these CPUs, '0-3,8'",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_cpus},
    {.name = "all",
     .letter = 'a',
     .help = "every process that has the runtime in it, now or later",
     WM_OPTION_TO_FLAG(struct wm_record_asked, all)},
    WM_OPTION_HEADING("Where and how"),
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "the trace directory, made by this; default ./waymark-NAME-DATE-TIME",
     WM_OPTION_TO_TEXT(struct wm_record_asked, dir)},
    {.name = "buffer-size",
     .letter = 'b',
     .argument = "SIZE",
     .initial = "64M",
     .min = WM_RULES_BUFFER_MIN,
     .max = (int64_t)WM_POOL_BYTES_MAX / 2,
     .help = "memory for events per process, used only as far as it is needed",
     WM_OPTION_TO_SIZE(struct wm_record_asked, buffer_bytes)},
    {.name = "mode",
     .argument = "MODE",
     .choices = "discard|overwrite|block",
     .initial = "discard",
     .help = "when the memory is full: discard new events, overwrite the oldest (flight recorder: "
	     "written at the end, at SIGUSR2, at --snapshot), or block the program",
     WM_OPTION_TO_CHOICE(struct wm_record_asked, mode)},
    {.name = "snapshot",
     .argument = "DIR",
     .help = "record nothing: have the recorder that writes to DIR write what it holds, now",
     WM_OPTION_TO_TEXT(struct wm_record_asked, snapshot)},
    {.name = "change",
     .argument = "DIR",
     .help = "record nothing: have the recorder that writes to DIR record what -e says (with its "
	     "--filter and --context), and no longer what -x says, from now on, of programs and of "
	     "the kernel; other events stay as they are",
     WM_OPTION_TO_TEXT(struct wm_record_asked, change)},
    {.name = "trace-format",
     .argument = "FORMAT",
     .choices = "ctf-1.8|ctf-2",
     .initial = "ctf-1.8",
     .help = "the trace's format",
     WM_OPTION_TO_CHOICE(struct wm_record_asked, format)},
    {.name = "fail-on-loss",
     .help = "exit with 5 when an event was lost",
     WM_OPTION_TO_FLAG(struct wm_record_asked, fail_on_loss)},
    {.name = "quiet",
     .letter = 'q',
     .help = "say nothing unless something is wrong",
     WM_OPTION_TO_FLAG(struct wm_record_asked, quiet)},
    WM_OPTION_END,
};

static void release(void *values)
{
	wm_record_asked_done(values);
}

static void comm_of(pid_t pid, char *buf, size_t size)
{
	char name[32], *text = NULL;
	size_t bytes;

	(void)snprintf(name, sizeof(name), "/proc/%d/comm", (int)pid);
	(void)snprintf(buf, size, "%d", (int)pid);
	if (wm_file_read(AT_FDCWD, name, 64, &text, &bytes) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(buf, size, "%s", text);
	free(text);
}

/* ./waymark-NAME-YYYYmmdd-HHMMSS, with -2, -3 ... when that exists. */
static int default_dir(const struct wm_record_asked *r, char **command, char *buf, size_t size)
{
	char what[40] = "system", when[32];
	const char *base;
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (command[0]) {
		base = strrchr(command[0], '/');
		(void)snprintf(what, sizeof(what), "%.32s", base ? base + 1 : command[0]);
	} else if (r->pids.nr) {
		comm_of(r->pids.ids[0], what, sizeof(what));
	}
	for (char *p = what; *p; p++)
		if (*p == '/' || *p == '\n')
			*p = '_';
	if (!localtime_r(&now, &tm) || !strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm))
		return -EOVERFLOW;
	n = snprintf(buf, size, "./waymark-%s-%s", what, when);
	for (int i = 2; i < 1000 && access(buf, F_OK) == 0; i++)
		(void)snprintf(buf + n, size - (size_t)n, "-%d", i);
	return 0;
}

static int snapshot(const struct wm_record_asked *r)
{
	struct wm_msg_snapshot answer;
	struct wm_diag diag = {.offset = -1};
	char size[WM_NUMBER_TEXT];
	int err = wm_tool_snapshot(r->snapshot, &answer, &diag);

	if (err < 0) {
		wm_say("%s", diag.sentence);
		return err == -ENOENT ? WM_EXIT_FAILED : wm_exit_of(err);
	}
	if (!r->quiet)
		wm_say("snapshot: %" PRIu64 " events, %s: %s", answer.events,
		       wm_number_print_about(answer.bytes, size), r->snapshot);
	return WM_EXIT_DONE;
}

static int usage(const char *sentence)
{
	wm_say("record: %s", sentence);
	wm_say("'waymark record --help' shows its options");
	return WM_EXIT_USAGE;
}

static int check(const struct wm_record_asked *r, int nr_args)
{
	const bool running = r->pids.nr || r->tids.nr || r->all;

	if (r->snapshot && (nr_args || running || r->change))
		return usage("--snapshot goes to a recorder that runs already; it takes no CMD");
	if (r->change && (nr_args || running || r->nr_cpus || r->dir || r->preload))
		return usage("--change goes to a recorder that runs already; it takes -e and -x");
	if (r->change && (r->more.nr_triggers || r->more.nr_synthetics || r->more.kernel_stacks ||
			  r->more.user_stacks))
		return usage("--trigger, --synthetic and --stacks begin with a recording, not "
			     "while one runs");
	if (r->change && r->nr_wanted < 2)
		return usage("--change: what to switch on (-e GLOB) or off (-x GLOB) is missing");
	if (!r->snapshot && !r->change && !nr_args && !running)
		return usage("what to record is missing: a command after --, or -p PID, -t TID, or "
			     "-a");
	if ((r->pids.nr || r->tids.nr) && r->all)
		return usage("-a is every process: -p and -t have no place beside it");
	if (r->pids.nr && r->tids.nr)
		return usage("-t is single threads, -p all of a process: one of both");
	if (!wm_rules_has_pool(r->buffer_bytes, (uint32_t)r->mode))
		return usage("--buffer-size: no such size can be had");
	if (r->preload && running)
		return usage("--preload is for a CMD; nothing is loaded into running processes");
	return WM_EXIT_DONE;
}

static int run(void *values, int nr_args, char **args)
{
	struct wm_record_asked *r = values;
	struct wm_record_plan plan = {.fail_on_loss = r->fail_on_loss};
	char dir[128];
	int status = check(r, nr_args);

	if (status)
		return status;
	if (r->snapshot)
		return snapshot(r);
	status = wm_record_asked_plan(r, nr_args ? args : NULL, &plan.recorder);
	if (status)
		return status;
	if (r->change)
		return wm_record_change(&plan.recorder);
	if (!plan.recorder.dir && default_dir(r, args, dir, sizeof(dir)) == 0)
		plan.recorder.dir = dir;
	return plan.recorder.dir ? wm_record_run(&plan) : WM_EXIT_FAILED;
}

const struct wm_verb wm_cmd_record = {
    .name = "record",
    .summary = "record events of a command or of running processes",
    .synopsis = "[-e GLOB [--filter EXPR] [--context LIST]]... [-x GLOB]... [-o DIR] "
		"[-- CMD...|-p PID|-t TID|-a|--change DIR]",
    .details = "With a CMD the exit status is CMD's, 128 + signal when a signal ended it; 125\n"
	       "when waymark failed before CMD ran, 126 or 127 when CMD could not be run. The\n"
	       "recording ends with CMD; children it leaves behind run on unrecorded. Ctrl-C ends\n"
	       "the recording and leaves a whole trace; a second one does not wait for CMD.\n"
	       "\n"
	       "With -p or -a a CMD is not recorded but says how long: -a -- sleep 5.",
    .options = options,
    .values_bytes = sizeof(struct wm_record_asked),
    .min_args = 0,
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = run,
    .release = release,
};
