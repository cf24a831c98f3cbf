/* SPDX-License-Identifier: MIT */
/*
 * record.h - records and counts events, for programs of your own: of a command
 * that is started, of processes that run, or of all there are; what programs were
 * marked with, and the kernel's tracepoints, system calls, probes and samples.
 * Link libwaymark: cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   const char *command[] = {"ls", NULL};
 *   struct waymark_record_options options = {.folder = "trace", .command = command};
 *   struct waymark_recording *recording;
 *   struct waymark_error error;
 *
 *   if (waymark_record(&options, &recording, &error) ||
 *       waymark_record_event(recording, "syscall:openat", NULL, &error) ||
 *       waymark_record_start(recording, &error) ||
 *       waymark_record_wait(recording, -1, &error) < 0)
 *           errx(1, "%s", error.text);
 *   waymark_record_close(recording);
 *
 * Then <waymark/read.h> reads the folder. Without a folder events are given to this
 * process while they happen: see waymark_record_next().
 *
 * Errors are those of <waymark/read.h>: a negative errno number, and a sentence
 * with what, why and the cure in struct waymark_error; `column` counts in a name or
 * filter that is wrong. What is no failure but should be known ("sampled outside
 * the kernel only") goes to `say` of the options. Nothing is printed.
 *
 * Ownership. Recordings and counters are the caller's, to be closed; options, names
 * and filters are copied. Closing ends what still runs, but the command.
 *
 * Threads. A recording or set of counters belongs to one thread at a time;
 * different ones have nothing in common. No signal's action or mask is changed, no
 * variable set, no SIGPIPE caused.
 *
 * Processes. waymark_record_start() forks, twice with a command: the trace is
 * written by a process of its own, which closes all it inherits and finishes the
 * trace whatever becomes of the caller, kill -9 included. This needs an allocator
 * that works behind fork(2) in programs of many threads, as the C library's. Both
 * are children: SIGCHLD comes when they end, and who waits for any child takes the
 * command's status, which is not known then (-1). Counting forks only to start a
 * command. $PATH and $XDG_RUNTIME_DIR are read.
 */
#ifndef WAYMARK_RECORD_H
#define WAYMARK_RECORD_H

#include <waymark/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct waymark_recording; /* from what is wanted to the end of its trace */
struct waymark_counters;  /* events that are counted */

/* --- a recording --------------------------------------------------------------------------- */

/* When the memory for events is full: */
enum waymark_mode {
	WAYMARK_DISCARD,   /* new ones are lost */
	WAYMARK_OVERWRITE, /* the oldest are: they are written at the end, and by snapshots */
	WAYMARK_BLOCK      /* programs wait for room, for a second at most */
};

/*
 * Whose events: of the command and what it starts; or of processes or single threads
 * that run already, or of every process, now or later, and then a command is not
 * recorded but says how long. Begin with = {0} or WAYMARK_OPTIONS_INIT.
 */
struct waymark_record_options {
	const char *folder;         /* of the trace, made by this; NULL: events are given */
	const char *const *command; /* NULL-terminated, looked for in $PATH; NULL: none */
	const int32_t *pids;        /* of processes */
	uint32_t nr_pids;
	const int32_t *tids; /* of threads, which no pids go with */
	uint32_t nr_tids;
	int everything;      /* every process */
	const int32_t *cpus; /* only what happens there; none: everywhere */
	uint32_t nr_cpus;
	enum waymark_mode mode;
	uint64_t buffer_bytes; /* memory for events per process, 64 KiB or more; 0: 64 MiB */
	const char *preload;   /* helpers for the command, "malloc,pthread,func"; "none": nothing */
	uint32_t ctf;          /* format of the folder: 1 is CTF 1.8, 2 is CTF 2; 0: 1 */
	void (*say)(const char *sentence, void *data); /* called within calls only; NULL: nobody */
	void *data;
};

/* Nothing is started or made by it. 0 or -errno. */
int waymark_record(const struct waymark_record_options *options, struct waymark_recording **ret,
		   struct waymark_error *error);

/* NULL is allowed. A recording that runs is ended, and waited for. */
void waymark_record_close(struct waymark_recording *recording);

#define WAYMARK_WITH_CPU   1u /* of programs' events: where it was, */
#define WAYMARK_WITH_STACK 2u /* and the stack of calls */

enum waymark_chain {
	WAYMARK_NO_CHAIN,
	WAYMARK_CHAIN_FRAMES, /* by frame pointers, of kernel and program */
	WAYMARK_CHAIN_STACK   /* a copy of the program's stack, to be unwound later */
};

/* How events are taken; all 0: each of them, with what it carries. */
struct waymark_record_how {
	const char *filter;       /* waymark-filter(7); NULL: none */
	uint32_t with;            /* WAYMARK_WITH_... */
	uint64_t frequency;       /* sampled so often a second, of the kernel's, */
	uint64_t period;          /* or at each so-many-th; 0, 0: of counters 4000; */
	enum waymark_chain chain; /* with the chain of calls */
	uint32_t stack_bytes;     /* of CHAIN_STACK, a multiple of 8; 0: 8192 */
	uint64_t every_ns;        /* counters of /proc are read so often; 0: each second */
};

/*
 * One more name of waymark-events(7), with *, ? and [...]; without any, all events
 * of programs. `how` may be NULL. 0; -ENOENT: nothing is called so, and the
 * sentence has the nearest names; -EINVAL; -EACCES: the sentence has the cure;
 * -EOPNOTSUPP: not with this kernel.
 *
 * Once it runs: of the events that match, what is said last counts; others stay as
 * they are. Events of programs, tracepoints, system calls and probes can be changed then, not
 * what is sampled, nor counters of /proc: -EOPNOTSUPP.
 */
int waymark_record_event(struct waymark_recording *recording, const char *name,
			 const struct waymark_record_how *how, struct waymark_error *error);

/* Not these, whatever else is wanted; "kernel:*" is all that can be switched of the kernel. */
int waymark_record_exclude(struct waymark_recording *recording, const char *name,
			   struct waymark_error *error);

/*
 * What else the kernel's tracing can do, before it starts. A trigger lets an event
 * do something, "SYSTEM:EVENT:COMMAND [if FILTER]" in tracefs' words (hist,
 * snapshot, stacktrace...): histograms and snapshots are in the folder `kernel` of
 * the trace. A synthetic event is one that triggers write, "NAME TYPE FIELD; ...".
 * Stacks come behind each event of the kernel: its own, or the program's.
 */
int waymark_record_trigger(struct waymark_recording *recording, const char *text,
			   struct waymark_error *error);
int waymark_record_synthetic(struct waymark_recording *recording, const char *text,
			     struct waymark_error *error);
int waymark_record_stacks(struct waymark_recording *recording, int of_kernel,
			  struct waymark_error *error);

/*
 * Processes are reached, the command is let go. 0, or -errno: the recording is
 * over then. -ENOENT, -EACCES... also of a command that cannot be run.
 */
int waymark_record_start(struct waymark_recording *recording, struct waymark_error *error);

/*
 * Until the command has ended, or all `pids` have, and the trace is whole: 1; 0 when
 * so many milliseconds are over (-1: never). A recording goes on by itself; this
 * need only be called now and then, for processes that come later to be reached
 * (everything, changes) and for `say`.
 */
int waymark_record_wait(struct waymark_recording *recording, int timeout_ms,
			struct waymark_error *error);

/* Ends it, and waits until the trace is whole; the command may run on. 0 or -errno. */
int waymark_record_stop(struct waymark_recording *recording, struct waymark_error *error);

/* Writes what the memory holds, now; for WAYMARK_OVERWRITE. */
int waymark_record_snapshot(struct waymark_recording *recording, struct waymark_error *error);

struct waymark_totals {
	uint64_t events;        /* in the trace; */
	uint64_t kernel_events; /* of these, the kernel's, */
	uint64_t samples;       /* and samples */
	uint64_t lost;          /* by all causes; waymark_record_loss() has each */
	uint64_t bytes, duration_ns;
	uint32_t nr_processes; /* that were marked, and joined */
	int32_t command;       /* its process, while it runs; 0 */
	int status;            /* of the command, as of waitpid(2); -1: it runs, or is not known */
	int is_over;           /* before, the numbers are 0 */
	int err;               /* < 0: the last thing that went wrong with the trace */
};

void waymark_record_totals(const struct waymark_recording *recording, struct waymark_totals *ret);

/* What was lost by cause i, also when that is 0. 0, or -ERANGE behind the last cause. */
int waymark_record_loss(const struct waymark_recording *recording, uint32_t i,
			struct waymark_loss *ret);

/* --- while it happens --------------------------------------------------------------------------
 */

/*
 * Of a recording without a folder: 1 and the next event, in order of time; 0: it is
 * over, and all was given; -EAGAIN: none came in so many milliseconds (-1: waits);
 * -errno. The event, with its type and fields, lives until the next call.
 *
 * Events come in batches, some 20 a second, from memory that does not grow: who is
 * slower than they are finds some lost, and counted, as in any recording.
 */
int waymark_record_next(struct waymark_recording *recording, int timeout_ms,
			const struct waymark_event **ret, struct waymark_error *error);

/* The name of the thread or process then: bytes, "" when nobody knows. Until the next call. */
const char *waymark_record_comm(struct waymark_recording *recording,
				const struct waymark_event *event, uint32_t *ret_bytes);

/* --- counting ------------------------------------------------------------------------------------
 */

/* All 0, but for events, is: what this process does, all of its threads. */
struct waymark_count_options {
	const char *const *events; /* names of waymark-events(7), with *, ? and [...] */
	uint32_t nr_events;
	const char *const *command; /* NULL-terminated: it and its children, from its begin; NULL */
	const int32_t *pids;        /* or of these processes; with a command it says how long */
	uint32_t nr_pids;
	int everything; /* or of the whole machine; likewise */
	int alone;      /* threads and children that are made later are not counted in */
	/* Of each of the events, waymark-filter(7); NULL, also among them: none. */
	const char *const *filters;
	const int32_t *tids; /* or of these threads, which no pids go with */
	uint32_t nr_tids;
	void (*say)(const char *sentence, void *data); /* called within calls only; NULL: nobody */
	void *data;
	const char *preload; /* helpers for the command, "malloc,pthread,func"; "none": nothing */
};

/*
 * Begins to count; a command runs then. 0, or -errno: nothing is called so, or a
 * process is not there. An event that cannot be counted does not stop the others.
 *
 * Events of programs are counted by the programs themselves, which are served
 * within calls: who counts them waits or reads now and then, some times a second
 * where many processes come and go.
 */
int waymark_count(const struct waymark_count_options *options, struct waymark_counters **ret,
		  struct waymark_error *error);

/* NULL is allowed. A command runs on. */
void waymark_count_close(struct waymark_counters *counters);

/* Reads all; what waymark_counter() tells is as of the last reading. 0 or -errno. */
int waymark_count_read(struct waymark_counters *counters);

/*
 * Until the command has ended: 1, and its status as of waitpid(2), -1 when it is not
 * known; 0 when so many milliseconds are over (-1: never); -ECHILD: there is none.
 */
int waymark_count_wait(struct waymark_counters *counters, int timeout_ms, int *ret_status);

struct waymark_counter {
	const char *name;
	uint64_t value;      /* what it would be, had it counted all the time */
	uint64_t counted;    /* what it is: less when counters had to share the hardware */
	uint64_t enabled_ns; /* summed over threads and CPUs: how long it should have counted, */
	uint64_t running_ns; /* and did */
	const char *unit;    /* NULL: it is a number of times */
	double scale;        /* what one is worth in that unit */
	int is_user_only;    /* what happens in the kernel may not be counted by us */
	int err;             /* < 0: it is not counted, for `why`, which has the cure */
	const char *why;
};

/*
 * The counter of that number, from 0. 0, or -ERANGE behind the last. Those of
 * programs come last: each that was found by the last reading, and then those named
 * outright that were not, with 0. Their times are 0.
 */
int waymark_counter(const struct waymark_counters *counters, uint32_t i,
		    struct waymark_counter *ret);

/*
 * The same of thread k alone, from 0, of those that there were at the beginning;
 * unless `alone`, threads and children that it made since are counted with it, but
 * for events of programs, which are those of that thread.
 * -ERANGE behind the last counter or thread; of the whole machine there are none.
 */
int waymark_counter_thread(const struct waymark_counters *counters, uint32_t i, uint32_t k,
			   int32_t *ret_tid, struct waymark_counter *ret);

#ifdef __cplusplus
}
#endif

#endif
