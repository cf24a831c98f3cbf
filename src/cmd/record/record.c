/* SPDX-License-Identifier: MIT */
/* record.c - `waymark record`: its option table, and --snapshot. */
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
#include "base/plural.h"
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
    WM_RECORD_EVENT(
	"record program and kernel events whose provider:name matches GLOB (sched:sched_switch, "
	"syscall:openat, ftrace:print); the prefix user: or kernel: selects one of the two; "
	"repeatable; default: all program events"),
    WM_RECORD_EXCLUDE("do not record these events, even if an -e matches them; repeatable"),
    WM_RECORD_FILTER(
	"record the events of the preceding -e only when EXPR is true, 'rows > 100 && sql == "
	"\"SELECT*\"'; before the first -e: for all events"),
    {.name = "context",
     .argument = "LIST",
     .help = "record these values with each event: cpu, ustack (the user call stack); applies to "
	     "the preceding -e, like --filter",
     WM_RECORD_LISTED(wm_record_on_context)},
    {.name = "every",
     .argument = "DURATION",
     .help = "interval between readings of the /proc counters of the preceding -e (proc:vmstat), "
	     "1ms to 1h; default 1s; before the first -e: for all counters",
     WM_RECORD_LISTED(wm_record_on_every)},
    {.name = "preload",
     .argument = "LIST",
     .help = "load helper libraries into CMD: malloc, pthread, func; 'none' does not even load the "
	     "runtime",
     WM_OPTION_TO_TEXT(struct wm_record_asked, preload)},
    WM_OPTION_HEADING("Sampling"),
    WM_RECORD_RATES(
	"take HZ samples per second of the kernel events of the preceding -e; before the "
	"first -e: of all of them, or of cpu:cycles when no event is named (sw:cpu-clock on "
	"machines without cpu:cycles)"),
    WM_RECORD_CALL_GRAPH(
	"record call chains with samples: fp uses frame pointers, for kernel and program; "
	"dwarf[,BYTES] copies the top of the program's stack (8192 bytes) for later "
	"unwinding; applies to the preceding -e, like -F"),
    {.name = "stacks",
     .argument = "LIST",
     .help = "record a stack after each kernel event, as an event of its own (ftrace:kernel_stack, "
	     "ftrace:user_stack): kernel, user",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_stacks},
    {.name = "trigger",
     .argument = "TEXT",
     .help = "attach a trigger to a kernel event, in the syntax of tracefs: "
	     "'sched:sched_switch:stacktrace if prev_pid == 0', "
	     "'kmem:kmalloc:hist:keys=call_site'; repeatable",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_trigger},
    {.name = "synthetic",
     .argument = "TEXT",
     .help = "create a synthetic event that triggers can write, 'NAME TYPE FIELD; ...', and record "
	     "it as synthetic:NAME; repeatable",
     .kind = WM_OPTION_CALL,
     .call = wm_record_on_synthetic},
    WM_OPTION_HEADING("Which processes"),
    WM_RECORD_PROCESSES("record running processes"),
    WM_RECORD_THREADS("record running threads, without the threads and processes they start"),
    WM_RECORD_CPUS("record only events on these CPUs, '0-3,8'"),
    WM_RECORD_ALL("record all processes, including those that start later: their kernel events "
		  "and samples, and the events of programs with the runtime"),
    WM_OPTION_HEADING("Output and buffers"),
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "trace directory to create; default ./waymark-NAME-DATE-TIME",
     WM_OPTION_TO_TEXT(struct wm_record_asked, dir)},
    {.name = "buffer-size",
     .letter = 'b',
     .argument = "SIZE",
     .min = WM_RULES_BUFFER_MIN,
     .max = (int64_t)WM_POOL_BYTES_MAX / 2,
     .help = "upper limit of event memory per process, allocated on demand [64M]; and the total "
	     "size of the kernel's rings, allocated at the start [1/32 of memory, at most 64M per "
	     "CPU]",
     WM_OPTION_TO_SIZE(struct wm_record_asked, buffer_bytes)},
    {.name = "mode",
     .argument = "MODE",
     .choices = "discard|overwrite|block",
     .initial = "discard",
     .help = "when the buffer is full: discard new events, overwrite the oldest (flight recorder: "
	     "written at the end, on SIGUSR2 and on --snapshot), or block the program",
     WM_OPTION_TO_CHOICE(struct wm_record_asked, mode)},
    {.name = "snapshot",
     .argument = "DIR",
     .help = "record nothing; make the running recorder of DIR write its buffer now",
     WM_OPTION_TO_TEXT(struct wm_record_asked, snapshot)},
    {.name = "change",
     .argument = "DIR",
     .help = "record nothing; make the running recorder of DIR start recording the events of -e "
	     "(with --filter and --context) and stop recording those of -x, of programs and of the "
	     "kernel; other events do not change",
     WM_OPTION_TO_TEXT(struct wm_record_asked, change)},
    {.name = "trace-format",
     .argument = "FORMAT",
     .choices = "ctf-1.8|ctf-2",
     .initial = "ctf-1.8",
     .help = "format of the trace",
     WM_OPTION_TO_CHOICE(struct wm_record_asked, format)},
    {.name = "fail-on-loss",
     .help = "exit with status 5 when an event was lost",
     WM_OPTION_TO_FLAG(struct wm_record_asked, fail_on_loss)},
    {.name = "quiet",
     .letter = 'q',
     .help = "print only warnings and errors",
     WM_OPTION_TO_FLAG(struct wm_record_asked, quiet)},
    WM_OPTION_END,
};

static void cmd_record_release(void *values)
{
	wm_record_asked_done(values);
}

static void cmd_record_comm_of(pid_t pid, char *buf, size_t size)
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

/* Builds the name ./waymark-NAME-YYYYmmdd-HHMMSS, with -2, -3 ... appended if it already exists. */
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
		cmd_record_comm_of(r->pids.ids[0], what, sizeof(what));
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
		wm_say("snapshot: %" PRIu64 " %s, %s: %s", answer.events,
		       wm_plural(answer.events, "event", "events"),
		       wm_number_print_about(answer.bytes, size), r->snapshot);
	return WM_EXIT_DONE;
}

static int cmd_record_usage(const char *sentence)
{
	wm_say("record: %s", sentence);
	wm_say("'waymark record --help' lists the options");
	return WM_EXIT_USAGE;
}

static int cmd_record_check(const struct wm_record_asked *r, int nr_args)
{
	const bool running = r->pids.nr || r->tids.nr || r->all;

	if (r->snapshot && (nr_args || running || r->change))
		return cmd_record_usage(
		    "--snapshot addresses a running recorder and takes neither CMD nor "
		    "-p, -t, -a or --change");
	if (r->change && (nr_args || running || r->nr_cpus || r->dir || r->preload))
		return cmd_record_usage(
		    "--change addresses a running recorder and takes only -e and -x with "
		    "their options");
	if (r->change && (r->more.nr_triggers || r->more.nr_synthetics || r->more.kernel_stacks ||
			  r->more.user_stacks))
		return cmd_record_usage(
		    "--trigger, --synthetic and --stacks cannot be added to a running recording");
	if (r->change && r->list.nr < 2)
		return cmd_record_usage(
		    "--change needs events to switch on (-e GLOB) or off (-x GLOB)");
	if (!r->snapshot && !r->change && !nr_args && !running)
		return cmd_record_usage(
		    "nothing to record: give a command after --, or -p PID, -t TID, or -a");
	if ((r->pids.nr || r->tids.nr) && r->all)
		return cmd_record_usage(
		    "-a already covers every process: do not combine it with -p or -t");
	if (r->pids.nr && r->tids.nr)
		return cmd_record_usage(
		    "-t selects individual threads and -p whole processes: give only one of them");
	if (!wm_rules_has_pool(wm_record_asked_buffer(r), (uint32_t)r->mode))
		return cmd_record_usage("--buffer-size: cannot create a buffer of this size");
	if (r->preload && running)
		return cmd_record_usage(
		    "--preload needs a CMD: helpers cannot be loaded into running processes");
	return WM_EXIT_DONE;
}

static int cmd_record_run(void *values, int nr_args, char **args)
{
	struct wm_record_asked *r = values;
	struct wm_record_plan plan = {.fail_on_loss = r->fail_on_loss};
	char dir[128];
	int status = cmd_record_check(r, nr_args);

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
    .details =
	"The exit status is CMD's, or 128 + signal when a signal ended CMD; 125 when waymark\n"
	"failed before CMD ran, 126 or 127 when CMD could not be run. The recording ends when\n"
	"CMD exits; children that outlive CMD continue unrecorded. Ctrl-C ends the recording\n"
	"and leaves a complete trace; a second Ctrl-C does not wait for CMD.\n\n"
	"With -p or -a, CMD is not recorded; its run time is the length of the recording:\n"
	"waymark record -a -- sleep 5.",
    .options = options,
    .values_bytes = sizeof(struct wm_record_asked),
    .min_args = 0,
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = cmd_record_run,
    .release = cmd_record_release,
};
