/* SPDX-License-Identifier: MIT */
/*
 * record.c - `waymark record`: its options, turned into a plan that
 * record_run.c carries out. --filter and --context belong to the -e before
 * them; before any -e they belong to all.
 */
#include "cmd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "cmd/ids.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "control/tool.h"
#include "event/context.h"
#include "event/filter.h"
#include "kernel/counters.h"

#define CHUNKS_MIN 64u   /* in a buffer, as long as a chunk is at least a page */
#define BLOCK_MS   1000u /* block mode: a thread waits at most so long for room */

struct wanted {
	const char *glob; /* NULL: what was said before any -e */
	const char *filter;
	uint32_t contexts;
	bool exclude; /* of -x */
	struct wm_sampling_how how;
};

struct record {
	struct wanted *wanted; /* [0] is before any -e */
	uint32_t nr_wanted;
	const char *dir, *preload, *snapshot, *change;
	struct wm_ids pids;
	uint64_t buffer_bytes;
	int mode, format;
	bool all, quiet, fail_on_loss;
	struct wm_kernel_events *kernel; /* NULL: none was asked for */
	struct wm_record_more more;
	struct wm_sampling *sampling; /* NULL: nothing is sampled */
	int *cpus;                    /* to sample; NULL: all */
	size_t nr_cpus;
	bool in_kernel[WM_RULES_NR_MAX]; /* by rule: some of the kernel, too */
	int status;                      /* why there are no rules, when words were said */
};

/* ------------------------------------------------------------------ *
 * Options
 * ------------------------------------------------------------------ */

static int add_wanted(struct record *r, const char *glob)
{
	struct wanted *grown = realloc(r->wanted, (r->nr_wanted + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	r->wanted = grown;
	r->wanted[r->nr_wanted++] = (struct wanted){.glob = glob};
	return 0;
}

/* What the next --filter or --context belongs to. */
static struct wanted *current(struct record *r)
{
	if (r->nr_wanted == 0 && add_wanted(r, NULL) < 0)
		return NULL;
	return &r->wanted[r->nr_wanted - 1];
}

static int on_event(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct record *r = values;

	(void)o;
	if (r->nr_wanted >= WM_RULES_NR_MAX)
		return wm_diag_set(diag, -E2BIG, NULL, -1, "at most %u times", WM_RULES_NR_MAX);
	return current(r) ? add_wanted(r, argument) : -ENOMEM;
}

static int on_exclude(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	struct record *r = values;
	int err = on_event(o, argument, values, diag);

	if (err == 0)
		r->wanted[r->nr_wanted - 1].exclude = true;
	return err;
}

static int refuse_exclude(const struct wanted *w, struct wm_diag *diag)
{
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "nothing of '%s' is recorded: it goes behind an -e, not behind -x",
			   w->glob);
}

static int on_filter(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag)
{
	struct wanted *w = current(values);

	(void)o;
	if (!w)
		return -ENOMEM;
	if (w->exclude)
		return refuse_exclude(w, diag);
	if (w->filter)
		return wm_diag_set(diag, -EINVAL, NULL, -1,
				   "there is a filter already for %s: join them with &&",
				   w->glob ? w->glob : "all events");
	w->filter = argument;
	return 0;
}

static int on_context(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} names[] = {{"cpu", WM_CONTEXT_CPU}, {"ustack", WM_CONTEXT_USTACK}};
	struct wanted *w = current(values);

	(void)o;
	if (!w)
		return -ENOMEM;
	if (w->exclude)
		return refuse_exclude(w, diag);
	for (const char *p = argument; *p;) {
		size_t n = strcspn(p, ","), i;

		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (n == strlen(names[i].name) && !strncmp(p, names[i].name, n))
				break;
		if (i == sizeof(names) / sizeof(names[0]))
			return wm_diag_set(diag, -EINVAL, NULL, -1,
					   "'%.*s' is no context; there are cpu and ustack", (int)n,
					   p);
		w->contexts |= names[i].bit;
		p += n + (p[n] == ',');
	}
	return 0;
}

static int on_trigger(const struct wm_option *o, const char *argument, void *values,
		      struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_trigger(&((struct record *)values)->more, argument, diag);
}

static int on_synthetic(const struct wm_option *o, const char *argument, void *values,
			struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_synthetic(&((struct record *)values)->more, argument, diag);
}

static int on_stacks(const struct wm_option *o, const char *argument, void *values,
		     struct wm_diag *diag)
{
	(void)o;
	return wm_record_more_stacks(&((struct record *)values)->more, argument, diag);
}

static int on_pid(const struct wm_option *o, const char *argument, void *values,
		  struct wm_diag *diag)
{
	struct record *r = values;

	(void)o;
	return wm_ids_add(&r->pids, argument, "process", WM_RECORD_TARGETS_MAX, diag);
}

static int on_rate(const struct wm_option *o, const char *argument, void *values,
		   struct wm_diag *diag)
{
	struct wanted *w = current(values);

	if (!w)
		return -ENOMEM;
	if (w->exclude)
		return refuse_exclude(w, diag);
	return wm_record_sample_rate(&w->how, argument, o->letter == 'F', diag);
}

static int on_chain(const struct wm_option *o, const char *argument, void *values,
		    struct wm_diag *diag)
{
	struct wanted *w = current(values);

	(void)o;
	if (!w)
		return -ENOMEM;
	return w->exclude ? refuse_exclude(w, diag)
			  : wm_record_sample_chain(&w->how, argument, diag);
}

static int on_cpus(const struct wm_option *o, const char *argument, void *values,
		   struct wm_diag *diag)
{
	struct record *r = values;
	int err;

	(void)o;
	free(r->cpus);
	r->cpus = NULL;
	err = wm_cpus_parse(argument, &r->cpus, &r->nr_cpus);
	return err ? wm_diag_set(diag, err, NULL, -1, "'%s' is no list of CPUs: '0-3,8'", argument)
		   : 0;
}

static const struct wm_option options[] = {
    WM_OPTION_HEADING("What to record"),
    {.name = "event",
     .letter = 'e',
     .argument = "GLOB",
     .help = "events by provider:name, wildcards allowed, of programs and of the kernel "
	     "(sched:sched_switch, syscall:openat, ftrace:print); user: or kernel: before it says "
	     "whose; may be repeated; without it, all events of programs",
     .kind = WM_OPTION_CALL,
     .call = on_event},
    {.name = "exclude",
     .letter = 'x',
     .argument = "GLOB",
     .help = "not these, whatever -e says; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = on_exclude},
    {.name = "filter",
     .argument = "EXPR",
     .help = "record the events of the -e before it only when this is true, 'rows > 100 && sql == "
	     "\"SELECT*\"'; before any -e it is for all",
     .kind = WM_OPTION_CALL,
     .call = on_filter},
    {.name = "context",
     .argument = "LIST",
     .help = "record with them: cpu, ustack (the user call stack); belongs to the -e before it, as "
	     "--filter",
     .kind = WM_OPTION_CALL,
     .call = on_context},
    {.name = "preload",
     .argument = "LIST",
     .help = "load helpers into CMD: malloc, pthread, func; 'none' loads not even the runtime",
     WM_OPTION_TO_TEXT(struct record, preload)},
    WM_OPTION_HEADING("Sampling"),
    {.name = "freq",
     .letter = 'F',
     .argument = "HZ",
     .help = "sample the kernel's events of the -e before it so often a second; before any -e all "
	     "of them, or cpu:cycles (sw:cpu-clock where there is none) when none is named",
     .kind = WM_OPTION_CALL,
     .call = on_rate},
    {.name = "count",
     .letter = 'c',
     .argument = "N",
     .help = "the same, at every Nth event",
     .kind = WM_OPTION_CALL,
     .call = on_rate},
    {.name = "call-graph",
     .letter = 'g',
     .argument = "MODE",
     .optional = true,
     .choices = "fp|dwarf",
     .help = "sample with call chains: fp by frame pointers, of kernel and program; dwarf[,BYTES] "
	     "with a copy of the program's stack (8192 bytes) to be unwound later; belongs to the "
	     "-e before it, as -F",
     .kind = WM_OPTION_CALL,
     .call = on_chain},
    {.name = "cpu",
     .letter = 'C',
     .argument = "LIST",
     .help = "sample on these CPUs only, '0-3,8'",
     .kind = WM_OPTION_CALL,
     .call = on_cpus},
    {.name = "stacks",
     .argument = "LIST",
     .help = "after each event of the kernel a stack, as an event (ftrace:kernel_stack, "
	     "ftrace:user_stack): kernel, user",
     .kind = WM_OPTION_CALL,
     .call = on_stacks},
    {.name = "trigger",
     .argument = "TEXT",
     .help = "let an event of the kernel do something, in tracefs' words: "
	     "'sched:sched_switch:stacktrace if prev_pid == 0', "
	     "'kmem:kmalloc:hist:keys=call_site'; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = on_trigger},
    {.name = "synthetic",
     .argument = "TEXT",
     .help = "make an event that triggers write, 'NAME TYPE FIELD; ...'; it is recorded as "
	     "synthetic:NAME; may be repeated",
     .kind = WM_OPTION_CALL,
     .call = on_synthetic},
    WM_OPTION_HEADING("Which processes"),
    {.name = "pid",
     .letter = 'p',
     .argument = "PID,...",
     .help = "processes that run already",
     .kind = WM_OPTION_CALL,
     .call = on_pid},
    {.name = "all",
     .letter = 'a',
     .help = "every process that has the runtime in it, now or later",
     WM_OPTION_TO_FLAG(struct record, all)},
    WM_OPTION_HEADING("Where and how"),
    {.name = "output",
     .letter = 'o',
     .argument = "DIR",
     .help = "the trace directory, made by this; default ./waymark-NAME-DATE-TIME",
     WM_OPTION_TO_TEXT(struct record, dir)},
    {.name = "buffer-size",
     .letter = 'b',
     .argument = "SIZE",
     .initial = "64M",
     .min = 65536,
     .max = (int64_t)WM_POOL_BYTES_MAX / 2,
     .help = "memory for events per process, used only as far as it is needed",
     WM_OPTION_TO_SIZE(struct record, buffer_bytes)},
    {.name = "mode",
     .argument = "MODE",
     .choices = "discard|overwrite|block",
     .initial = "discard",
     .help = "when the memory is full: discard new events, overwrite the oldest (flight recorder: "
	     "written at the end, at SIGUSR2, at --snapshot), or block the program",
     WM_OPTION_TO_CHOICE(struct record, mode)},
    {.name = "snapshot",
     .argument = "DIR",
     .help = "record nothing: have the recorder that writes to DIR write what it holds, now",
     WM_OPTION_TO_TEXT(struct record, snapshot)},
    {.name = "change",
     .argument = "DIR",
     .help = "record nothing: have the recorder that writes to DIR record what -e says (with its "
	     "--filter and --context), and no longer what -x says, from now on; other events stay "
	     "as they are",
     WM_OPTION_TO_TEXT(struct record, change)},
    {.name = "trace-format",
     .argument = "FORMAT",
     .choices = "ctf-1.8|ctf-2",
     .initial = "ctf-1.8",
     .help = "the trace's format",
     WM_OPTION_TO_CHOICE(struct record, format)},
    {.name = "fail-on-loss",
     .help = "exit with 5 when an event was lost",
     WM_OPTION_TO_FLAG(struct record, fail_on_loss)},
    {.name = "quiet",
     .letter = 'q',
     .help = "say nothing unless something is wrong",
     WM_OPTION_TO_FLAG(struct record, quiet)},
    WM_OPTION_END,
};

static void release(void *values)
{
	struct record *r = values;

	wm_kernel_events_destroy(r->kernel);
	wm_sampling_destroy(r->sampling);
	free(r->cpus);
	free(r->wanted);
	free(r->pids.ids);
}

/* ------------------------------------------------------------------ *
 * The plan
 * ------------------------------------------------------------------ */

/* A wrong filter is shown with a caret below the place, so each is parsed alone first. */
static int check_filter(const char *text)
{
	struct wm_diag diag = {.offset = -1};
	unsigned char *code = NULL;
	size_t bytes;
	int err = wm_filter_parse(text, &code, &bytes, &diag);

	free(code);
	if (err < 0)
		wm_say_caret(text, &diag);
	return err;
}

/* "A", "B" or "(A) && (B)". NULL without either or without memory (-> *ret_err). */
static char *join_filters(const char *a, const char *b, int *ret_err)
{
	struct wm_text t;

	*ret_err = 0;
	if (!a && !b)
		return NULL;
	wm_text_init(&t);
	if (a && b)
		wm_text_f(&t, "(%s) && (%s)", a, b);
	else
		wm_text_str(&t, a ? a : b);
	if (t.failed) {
		wm_text_done(&t);
		*ret_err = -ENOMEM;
		return NULL;
	}
	return t.data;
}

static int add_rule(struct wm_rules *rules, const struct wanted *general, const struct wanted *w)
{
	struct wm_diag diag = {.offset = -1};
	char *filter;
	int err;

	filter = join_filters(general->filter, w->filter, &err);
	if (err == 0 && w->exclude)
		err = wm_rules_exclude(rules, w->glob, &diag);
	else if (err == 0)
		err = wm_rules_add(rules, w->glob, filter, general->contexts | w->contexts,
				   WM_RULES_ALL_LEVELS, &diag);
	free(filter);
	if (err < 0)
		wm_say("record: %s", diag.sentence[0] ? diag.sentence : strerror(-err));
	return err < 0 ? err : 0;
}

/* A small buffer is cut into small chunks, so that several threads have some each. */
static uint32_t chunk_bytes(uint64_t buffer_bytes)
{
	uint32_t bytes = WM_POOL_BIG_BYTES_DEFAULT;

	while (bytes > WM_POOL_PAGE && buffer_bytes / bytes < CHUNKS_MIN)
		bytes /= 2;
	return bytes;
}

/* How that -e is sampled; false: not at all. */
static bool sampled(struct record *r, const struct wanted *w, struct wm_record_sampled *ret)
{
	*ret = (struct wm_record_sampled){
	    .outright = w->how.frequency || w->how.period || w->how.chain,
	    .everywhere = r->all,
	    .cpus = r->cpus,
	    .nr_cpus = r->nr_cpus,
	    .sampling = &r->sampling,
	};
	return wm_record_sample_join(&r->wanted[0].how, &w->how, &ret->how);
}

/* An -e: of programs, of the kernel, or of both. 0 or -errno; r->status after words. */
static int add_wanted_rule(struct record *r, struct wm_rules *rules, const struct wanted *w)
{
	const char *user;
	struct wanted of_user = *w;
	struct wm_record_sampled how;
	char *filter;
	int got = 0, err;

	if (wm_record_kernel_pattern(w->glob, &user) && !r->change) {
		const struct wm_record_kernel_to to = {
		    .kernel = &r->kernel,
		    .sampled = sampled(r, w, &how) ? &how : NULL,
		    .of = r->pids.nr ? r->pids.ids[0] : 0,
		};

		filter = join_filters(r->wanted[0].filter, w->filter, &err);
		got = err ? err : wm_record_kernel_add(w->glob, filter, &to);
		free(filter);
		if (got < 0) {
			r->status = err ? 0 : -got;
			return err ? err : -ECANCELED;
		}
	}
	if (!user && !r->change)
		return 0;
	if (user)
		of_user.glob = user; /* else it is refused, with words */
	r->in_kernel[wm_rules_count(rules)] = got > 0;
	return add_rule(rules, &r->wanted[0], &of_user);
}

/* A rate or -g before any -e, and no event it was for: the usual one. */
static int sample_default(struct record *r)
{
	struct wm_record_sampled how;
	int err;

	if (r->sampling || r->change || !sampled(r, &r->wanted[0], &how))
		return 0;
	err = wm_record_sample_default(&how, r->quiet);
	r->status = -err;
	return err ? -ECANCELED : 0;
}

/* Those of -e, or else everything; then those of -x. */
static int add_rules(struct record *r, struct wm_rules *rules, uint32_t *ret_nr_asked)
{
	const struct wanted everything = {.glob = "*:*"};
	int err = 0, got = wm_record_more_begin(&r->more, &r->kernel);

	if (got < 0) {
		r->status = -got;
		return -ECANCELED;
	}

	for (uint32_t i = 1; err == 0 && i < r->nr_wanted; i++)
		if (!r->wanted[i].exclude)
			err = add_wanted_rule(r, rules, &r->wanted[i]);
	if (err == 0)
		err = sample_default(r);
	*ret_nr_asked = wm_rules_count(rules);
	if (err == 0 && !*ret_nr_asked && !r->change && !r->kernel && !r->sampling)
		err = add_rule(rules, &r->wanted[0], &everything);
	for (uint32_t i = 1; err == 0 && i < r->nr_wanted; i++)
		if (r->wanted[i].exclude)
			err = add_rule(rules, &r->wanted[0], &r->wanted[i]);
	return err;
}

static int build_rules(struct record *r, struct wm_rules **ret, uint32_t *ret_nr_asked)
{
	const struct wm_rules_options o = {
	    .pool_mode = (uint32_t)r->mode,
	    .buffer_bytes = r->buffer_bytes,
	    .chunk_bytes = chunk_bytes(r->buffer_bytes),
	    .block_ms = BLOCK_MS,
	    .clock_kind = wm_clock_best(),
	};
	struct wm_rules *rules;
	int err = 0;

	if (!current(r) || wm_rules_create(&o, &rules) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; err == 0 && i < r->nr_wanted; i++)
		if (r->wanted[i].filter)
			err = check_filter(r->wanted[i].filter);
	if (err == 0)
		err = add_rules(r, rules, ret_nr_asked);
	if (err < 0) {
		wm_rules_destroy(rules);
		return err;
	}
	*ret = rules;
	return 0;
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
static int default_dir(const struct record *r, char **command, char *buf, size_t size)
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

static int snapshot(const struct record *r)
{
	struct wm_msg_snapshot answer;
	struct wm_diag diag = {.offset = -1};
	char size[32];
	int err = wm_tool_snapshot(r->snapshot, &answer, &diag);

	if (err < 0) {
		wm_say("%s", diag.sentence);
		return err == -ENOENT ? WM_EXIT_FAILED : wm_exit_of(err);
	}
	if (!r->quiet)
		wm_say("snapshot: %" PRIu64 " events, %s: %s", answer.events,
		       wm_record_size_text(answer.bytes, size), r->snapshot);
	return WM_EXIT_DONE;
}

static int usage(const char *sentence)
{
	wm_say("record: %s", sentence);
	wm_say("'waymark record --help' shows its options");
	return WM_EXIT_USAGE;
}

static int check(const struct record *r, int nr_args)
{
	const struct wm_pool_options pool = {.buffer_bytes = r->buffer_bytes,
					     .mode = (uint32_t)r->mode};

	if (r->snapshot && (nr_args || r->pids.nr || r->all || r->change))
		return usage("--snapshot goes to a recorder that runs already; it takes no CMD");
	if (r->change && (nr_args || r->pids.nr || r->all || r->dir || r->preload))
		return usage("--change goes to a recorder that runs already; it takes -e and -x");
	if (r->change && r->nr_wanted < 2)
		return usage("--change: what to switch on (-e GLOB) or off (-x GLOB) is missing");
	if (!r->snapshot && !r->change && !nr_args && !r->pids.nr && !r->all)
		return usage("what to record is missing: a command after --, or -p PID, or -a");
	if (r->pids.nr && r->all)
		return usage("-a is every process: -p has no place beside it");
	if (wm_pool_size(&pool) == 0)
		return usage("--buffer-size: no such size can be had");
	if (r->preload && (r->pids.nr || r->all))
		return usage("--preload is for a CMD; nothing is loaded into running processes");
	return WM_EXIT_DONE;
}

static int run(void *values, int nr_args, char **args)
{
	struct record *r = values;
	struct wm_record_plan plan = {
	    .preload = r->preload,
	    .all = r->all,
	    .quiet = r->quiet,
	    .fail_on_loss = r->fail_on_loss,
	    .format = (enum wm_trace_format)r->format,
	    .pids = r->pids.ids,
	    .nr_pids = r->pids.nr,
	    .command = nr_args ? args : NULL,
	};
	char dir[128];
	int status = check(r, nr_args);

	if (status)
		return status;
	if (r->snapshot)
		return snapshot(r);
	if (build_rules(r, &plan.rules, &plan.nr_asked) < 0)
		return r->status == WM_EXIT_FAILED && nr_args ? WM_EXIT_BEFORE_COMMAND
		       : r->status                            ? r->status
							      : WM_EXIT_USAGE;
	if (r->kernel && !r->sampling)
		(void)wm_sampling_create(wm_clock_best(), NULL, 0, &r->sampling); /* or without */
	plan.kernel = r->kernel;
	plan.sampling = r->sampling;
	plan.in_kernel = r->in_kernel;
	plan.dir = r->change ? r->change : r->dir;
	if (!plan.dir && default_dir(r, args, dir, sizeof(dir)) == 0)
		plan.dir = dir;
	if (r->change)
		status = wm_record_change(&plan);
	else
		status = plan.dir ? wm_record_run(&plan) : WM_EXIT_FAILED;
	wm_rules_destroy(plan.rules);
	return status;
}

const struct wm_verb wm_cmd_record = {
    .name = "record",
    .summary = "record events of a command or of running processes",
    .synopsis = "[-e GLOB [--filter EXPR] [--context LIST]]... [-x GLOB]... [-o DIR] "
		"[-- CMD...|-p PID|-a|--change DIR]",
    .details = "With a CMD the exit status is CMD's, 128 + signal when a signal ended it; 125\n"
	       "when waymark failed before CMD ran, 126 or 127 when CMD could not be run. The\n"
	       "recording ends with CMD; children it leaves behind run on unrecorded. Ctrl-C ends\n"
	       "the recording and leaves a whole trace; a second one does not wait for CMD.\n"
	       "\n"
	       "With -p or -a a CMD is not recorded but says how long: -a -- sleep 5.",
    .options = options,
    .values_bytes = sizeof(struct record),
    .min_args = 0,
    .max_args = WM_VERB_ANY,
    .command = true,
    .run = run,
    .release = release,
};
