/* SPDX-License-Identifier: MIT */
/*
 * record.h - records and counts events of a new command, of running processes, or of the whole
 * machine: the events of marked programs, and the kernel's tracepoints, system calls, probes and
 * samples. Link libwaymark:
 * cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   const char *command[] = {"ls", NULL};
 *   struct waymark_record_options options = {
 *           .size = sizeof(options), .folder = "trace", .command = command};
 *   struct waymark_error error = WAYMARK_INIT(error);
 *   struct waymark_recording *recording;
 *
 *   if (waymark_record(&options, &recording, &error) ||
 *       waymark_record_event(recording, "syscall:openat", NULL, &error) ||
 *       waymark_record_start(recording, &error) ||
 *       waymark_record_wait(recording, -1, &error) < 0)
 *           errx(1, "%s", error.text);
 *   waymark_record_close(recording);
 *
 * Then <waymark/read.h> reads the folder. Without a folder, this process receives the events while
 * they are recorded: see waymark_record_next().
 *
 * Errors are as in <waymark/read.h>: a negative errno number, and in struct waymark_error a message
 * with the failure, the reason and a hint; `column` is the position in a wrong name or filter.
 * Sizes are as in that header, too: structures begin with their size. Facts that are not failures
 * but should be reported ("sampled outside the kernel only") go to `say` in the options. No
 * function prints.
 *
 * Ownership. The caller closes recordings and counters; options, names and filters are copied.
 * Closing ends everything that is still running, except the command.
 *
 * Threads. A recording or set of counters belongs to one thread at a time; different ones are
 * independent. The functions change no signal's action or mask, set no variable, and cause no
 * SIGPIPE.
 *
 * Processes. waymark_record_start() forks, twice with a command: a separate process writes the
 * trace; it closes all inherited descriptors and finishes the trace even if the caller is killed
 * with SIGKILL. This needs an allocator that works after fork(2) in multi-threaded programs, like
 * the C library's. Both processes are children: SIGCHLD arrives when they end, and a caller that
 * waits for any child reaps the command, whose status is then unknown (-1). Counting forks only to
 * start a command. $PATH and $XDG_RUNTIME_DIR are read.
 */
#ifndef WAYMARK_RECORD_H
#define WAYMARK_RECORD_H

#include <waymark/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct waymark_recording; /* a recording, from its options to the complete trace */
struct waymark_counters;  /* a set of events that are counted */

/* --- a recording --------------------------------------------------------------------------- */

/* What happens when the memory for events is full. */
enum waymark_mode {
	WAYMARK_DISCARD,   /* new events are lost */
	/* The oldest events are lost; the memory is written at the end and by snapshots. */
	WAYMARK_OVERWRITE,
	WAYMARK_BLOCK      /* programs wait for room, at most one second */
};

/*
 * The processes to record: the command and its children; or running processes or single threads; or
 * every process, now or later. In the last two cases a command is not recorded but determines the
 * duration. A member that is 0 selects the default.
 */
struct waymark_record_options {
	size_t size;
	const char *folder;         /* folder to create; NULL: see waymark_record_next() */
	const char *const *command; /* NULL-terminated, looked up in $PATH; NULL: no command */
	const int32_t *pids;        /* processes to record */
	uint32_t nr_pids;
	const int32_t *tids; /* threads to record; not together with pids */
	uint32_t nr_tids;
	int everything;      /* every process */
	const int32_t *cpus; /* record only events on these CPUs; nr_cpus 0: on all */
	uint32_t nr_cpus;
	enum waymark_mode mode;
	/*
	 * Memory for events per process, 64 KiB or more, and the size of all rings of the kernel
	 * together; 0: 64 MiB, and a size that depends on the machine.
	 */
	uint64_t buffer_bytes;
	/* Helpers to preload into the command, such as "malloc,pthread,func"; "none": none. */
	const char *preload;
	uint32_t ctf;          /* format of the trace: 1 is CTF 1.8, 2 is CTF 2; 0: the same as 1 */
	/* Called only from within these functions. */
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* Creates a recording, but starts nothing. Returns 0 or -errno. */
int waymark_record(const struct waymark_record_options *options, struct waymark_recording **ret,
		   struct waymark_error *error);

/* Accepts NULL. Ends a recording that is running, and waits for its end. */
void waymark_record_close(struct waymark_recording *recording);

#define WAYMARK_WITH_CPU   1u /* record the CPU with programs' events */
#define WAYMARK_WITH_STACK 2u /* record the call stack with programs' events */

enum waymark_chain {
	WAYMARK_NO_CHAIN,
	WAYMARK_CHAIN_FRAMES, /* call chains in kernel and program by frame pointers */
	WAYMARK_CHAIN_STACK   /* a copy of the program's stack, to be unwound later */
};

/* How to record events. If all members except the size are 0: each event, with its own fields. */
struct waymark_record_how {
	size_t size;
	const char *filter;       /* a filter as in waymark-filter(7); NULL: none */
	uint32_t with;            /* WAYMARK_WITH_... */
	/*
	 * For kernel events: take `frequency` samples per second, or sample every `period`-th
	 * event; both 0: 4000 per second for counters.
	 */
	uint64_t frequency;
	uint64_t period;
	enum waymark_chain chain; /* record the call chain with samples */
	uint32_t stack_bytes;     /* for CHAIN_STACK: a multiple of 8; 0: 8192 */
	uint64_t every_ns;        /* interval for reading /proc counters; 0: one second */
};

/*
 * Adds the events that a name (waymark-events(7)) selects; it may contain *, ? and [...]. Without
 * any such call, all program events are recorded. `how` may be NULL. Returns 0; -ENOENT: no event
 * has the name, and the message suggests the closest names; -EINVAL; -EACCES: the message has a
 * hint; -EOPNOTSUPP: not supported by this kernel.
 *
 * While the recording runs: the last call determines how the matching events are recorded; other
 * events stay unchanged. Program events, tracepoints, system calls and probes can then be changed;
 * sampled events and /proc counters cannot: -EOPNOTSUPP.
 */
int waymark_record_event(struct waymark_recording *recording, const char *name,
			 const struct waymark_record_how *how, struct waymark_error *error);

/*
 * Excludes events, even if other names select them. "kernel:*" excludes all kernel events that can
 * be disabled. Before and while the recording runs. Returns 0 or -errno.
 */
int waymark_record_exclude(struct waymark_recording *recording, const char *name,
			   struct waymark_error *error);

/*
 * Other kernel tracing features, to be used before the recording starts. (The function tracers are
 * events, "func:kernel:GLOB" and "func:kernel:GLOB:graph", and so are probes; see
 * waymark-events(7). Tracers of latencies, such as wakeup, work only in the system's own buffer,
 * which a recording does not take.) A trigger attaches an
 * action to an event, "SYSTEM:EVENT:COMMAND [if FILTER]" in tracefs' syntax (hist, snapshot,
 * stacktrace...): histograms and snapshots are stored in the folder `kernel` of the trace. A
 * synthetic event is one that triggers generate, "NAME TYPE FIELD; ...". Stacks are recorded after
 * each kernel event: the kernel's own, or the program's. All return 0 or -errno; -EBUSY when the
 * recording has started.
 */
int waymark_record_trigger(struct waymark_recording *recording, const char *text,
			   struct waymark_error *error);
int waymark_record_synthetic(struct waymark_recording *recording, const char *text,
			     struct waymark_error *error);
int waymark_record_stacks(struct waymark_recording *recording, int of_kernel,
			  struct waymark_error *error);

/* The clock whose values are in the trace. */
enum waymark_clock {
	/* The CPU's cycle counter where the kernel trusts it, else CLOCK_MONOTONIC: the cheapest. */
	WAYMARK_CLOCK_USUAL,
	/* CLOCK_MONOTONIC in ns: for comparison with times that other programs take from it. */
	WAYMARK_CLOCK_MONOTONIC
};

/*
 * Chooses the clock of all events, before the recording starts. Times that <waymark/read.h> returns
 * are those of the wall clock with either. Returns 0 or -errno; -EBUSY when the recording has
 * started, or when a histogram of times needs the other clock; -EOPNOTSUPP when the kernel's tracing
 * does not have the clock.
 */
int waymark_record_clock(struct waymark_recording *recording, enum waymark_clock clock,
			 struct waymark_error *error);

/*
 * Attaches to the processes and lets the command run. Returns 0, or -errno (-ENOENT, -EACCES and
 * others also when the command cannot be run); after an error the recording is over.
 */
int waymark_record_start(struct waymark_recording *recording, struct waymark_error *error);

/*
 * Waits until the command has ended, or all `pids` have, and the trace is complete. Returns 1, or 0
 * after that many milliseconds (-1: no limit). A recording continues without it; call it now and
 * then to attach to processes that start later (everything, changes) and to have `say` called.
 */
int waymark_record_wait(struct waymark_recording *recording, int timeout_ms,
			struct waymark_error *error);

/*
 * Ends the recording and waits until the trace is complete; the command may continue. Returns 0 or
 * -errno.
 */
int waymark_record_stop(struct waymark_recording *recording, struct waymark_error *error);

/*
 * For WAYMARK_OVERWRITE: writes the events that are in memory now. Returns 0 or -errno; -EINVAL
 * before the start, -ESRCH when the recording is over.
 */
int waymark_record_snapshot(struct waymark_recording *recording, struct waymark_error *error);

/*
 * Writes a text between the kernel's events, as a write to tracefs' trace_marker does: an event
 * ftrace:print with the text in its field `buf`, from the calling thread, also when another process
 * is recorded. The recording must have the event "ftrace:print", which also records what other
 * programs write to trace_marker. Returns 0; -EINVAL: not started, without that event, or the text
 * is empty; -E2BIG: only the beginning of the text was recorded (the kernel takes at least 1000
 * bytes); -ESRCH when the recording is over.
 */
int waymark_record_mark(struct waymark_recording *recording, const char *text,
			struct waymark_error *error);

struct waymark_totals {
	size_t size;
	uint64_t events;        /* number of events in the trace */
	uint64_t kernel_events; /* number of kernel events among them */
	uint64_t samples;       /* number of samples among them */
	/* Number of lost events, for all causes; see waymark_record_loss() */
	uint64_t lost;
	uint64_t bytes, duration_ns;
	uint32_t nr_processes; /* number of marked programs that joined */
	int32_t command;       /* process id of the command while it runs, else 0 */
	/* Status of the command, as returned by waitpid(2); -1: running, or unknown. */
	int status;
	int is_over;           /* whether the recording is over; until then, the numbers are 0 */
	int err;               /* below 0: the last error in writing the trace */
	uint32_t reserved;     /* 0 */
};

/* Returns 0, or -EINVAL or -E2BIG for a wrong size. */
int waymark_record_totals(const struct waymark_recording *recording, struct waymark_totals *ret);

/*
 * The number of events lost by cause i, which may be 0. Returns 0, or -ERANGE after the last cause.
 */
int waymark_record_loss(const struct waymark_recording *recording, uint32_t i,
			struct waymark_loss *ret);

/* --- reading while recording ----------------------------------------------------------------- */

/*
 * For a recording without a folder: returns 1 and the next event, in time order; 0: the recording
 * is over and all events were returned; -EAGAIN: no event within that many milliseconds (-1: no
 * limit); -errno. The event, with its type and fields, is valid until the next call.
 *
 * Events arrive in batches, about 20 per second, through memory of fixed size: if the caller is too
 * slow, events are lost, and counted, as in any recording.
 */
int waymark_record_next(struct waymark_recording *recording, int timeout_ms,
			const struct waymark_event **ret, struct waymark_error *error);

/*
 * The name of the event's thread or process at that time, as raw bytes; "": unknown. Valid until
 * the next call.
 */
const char *waymark_record_comm(struct waymark_recording *recording,
				const struct waymark_event *event, uint32_t *ret_bytes);

/* --- counting -------------------------------------------------------------------------------- */

/* If all members except size and events are 0: counts this process, with all its threads. */
struct waymark_count_options {
	size_t size;
	const char *const *events; /* names as in waymark-events(7), with *, ? and [...] */
	uint32_t nr_events;
	/* NULL-terminated: counts this command and its children, from its start. */
	const char *const *command;
	/* Or counts these processes; then a command sets the duration. */
	const int32_t *pids;
	uint32_t nr_pids;
	int everything; /* or counts the whole machine; then a command sets the duration */
	int alone;      /* does not count threads and children that are created later */
	/* One filter per event, as in waymark-filter(7); NULL, also as an entry: no filter. */
	const char *const *filters;
	const int32_t *tids; /* or counts these threads; not together with pids */
	uint32_t nr_tids;
	/* Called only from within these functions. */
	void (*say)(const char *sentence, void *data);
	void *data;
	/* Helpers to preload into the command, such as "malloc,pthread,func"; "none": none. */
	const char *preload;
};

/*
 * Begins to count and lets the command run. Returns 0, or -errno for an unknown name or a process
 * that does not exist. An event that cannot be counted does not stop the others.
 *
 * Programs count their own events and are served only within calls: a caller that counts such
 * events must call a wait or read function now and then, several times a second where many
 * processes start and end.
 */
int waymark_count(const struct waymark_count_options *options, struct waymark_counters **ret,
		  struct waymark_error *error);

/* Accepts NULL. A command continues to run. */
void waymark_count_close(struct waymark_counters *counters);

/* Reads all counters, for waymark_counter(). Returns 0 or -errno. */
int waymark_count_read(struct waymark_counters *counters);

/*
 * Waits until the command has ended. Returns 1 and its status as returned by waitpid(2) (-1:
 * unknown); 0 after `timeout_ms` milliseconds (-1: no limit); -ECHILD: there is no command.
 */
int waymark_count_wait(struct waymark_counters *counters, int timeout_ms, int *ret_status);

struct waymark_counter {
	size_t size;
	const char *name;
	uint64_t value;      /* estimated count, as if the counter had run all the time */
	uint64_t counted;    /* actual count, which is smaller when counters shared the hardware */
	uint64_t enabled_ns; /* time it should have counted, summed over threads and CPUs, */
	uint64_t running_ns; /* and the time it did count */
	const char *unit;    /* NULL: the counter counts occurrences */
	double scale;        /* value of one count in that unit */
	/* Whether only user mode was counted, because counting in the kernel is not permitted. */
	int is_user_only;
	int err;             /* below 0: not counted; `why` has the reason and a hint */
	const char *why;
};

/*
 * Gets counter number i, counted from 0. Returns 0, or -ERANGE past the last one. Counters of
 * program events come last: each event found by the last read, then the events named without a
 * wildcard that were not found, with value 0. Their times are 0.
 */
int waymark_counter(const struct waymark_counters *counters, uint32_t i,
		    struct waymark_counter *ret);

/*
 * Like waymark_counter(), for thread k (counted from 0) of the threads that existed at the start.
 * Unless `alone`, this includes the threads and children that it has created since, except for
 * program events, which are counted for that thread only. Returns -ERANGE after the last counter or
 * thread, and always for the whole machine.
 */
int waymark_counter_thread(const struct waymark_counters *counters, uint32_t i, uint32_t k,
			   int32_t *ret_tid, struct waymark_counter *ret);

#ifdef __cplusplus
}
#endif

#endif
