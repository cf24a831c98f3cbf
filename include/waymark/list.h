/* SPDX-License-Identifier: MIT */
/*
 * list.h - which events can be traced here: the kernel's (tracepoints, system
 * calls, counters), those of programs, libraries and running processes that were
 * marked, their USDT probes, and what a name of waymark-events(7) means. Nothing
 * is started, stopped or changed by it. Link libwaymark:
 * cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   struct waymark_list_options sched = {.events = "sched:*"};
 *   struct waymark_error error;
 *   struct waymark_listed event;
 *   struct waymark_list *list;
 *
 *   if (waymark_list(&sched, &list, &error))
 *           errx(1, "%s", error.text);
 *   for (uint32_t i = 0; waymark_listed(list, i, &event) == 0; i++)
 *           puts(event.name);
 *   waymark_list_close(list);
 *
 * Errors are those of <waymark/read.h>: a negative errno number, and a sentence
 * in struct waymark_error. -ENOENT: nothing is called so, and the sentence has
 * the nearest names; -EINVAL: what was asked for is malformed; -EACCES: it may
 * be there, but what there is may not be read, and the sentence has the cure.
 *
 * Ownership. A list is the caller's, to be closed; all that is asked of it lives
 * as long. Threads. A list belongs to one thread at a time; different ones have
 * nothing in common. Nothing here prints, exits, changes signals or starts
 * processes. $PATH is read: programs are looked for there.
 */
#ifndef WAYMARK_LIST_H
#define WAYMARK_LIST_H

#include <waymark/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct waymark_list; /* events that were found */

#define WAYMARK_LIST_KERNEL    1u /* the kernel's */
#define WAYMARK_LIST_PROCESSES 2u /* of this user's processes; for root: of everybody's */
#define WAYMARK_LIST_PLACES    4u /* also where in a program an event is marked; slower */

/* All 0 is: everything the kernel and running processes have. */
struct waymark_list_options {
	const char *events; /* a name, with *, ? and [...]; NULL: all. "sched:*", "usdt:BIN:*:*" */
	const char *const *files; /* programs and libraries: their events and USDT probes, */
	uint32_t nr_files;
	const int32_t *pids; /* and of running processes; with these or files the kernel's */
	uint32_t nr_pids;    /* events and other processes' only by a flag */
	uint32_t flags;
};

/* `options` may be NULL. 0 or -errno; a list may be empty when no name was asked for. */
int waymark_list(const struct waymark_list_options *options, struct waymark_list **ret,
		 struct waymark_error *error);

/* NULL is allowed. */
void waymark_list_close(struct waymark_list *list);

struct waymark_listed {
	const char *name;      /* "provider:name", as <waymark/record.h> takes it */
	const char *kind;      /* "tracepoint", "system-call", "usdt", "event", "marker"... */
	const char *help;      /* what it counts; NULL: not known */
	const char *unit;      /* of what is counted, when it is no number of times: "Joules" */
	double scale;          /* what one count is worth in that unit; 1 */
	const char *level;     /* of programs' events: "info"; NULL */
	const char *file;      /* of its program or library; NULL: it is the kernel's */
	const char *source;    /* where it is declared, with line; NULL: not known */
	const char *command;   /* what the processes that have it run; NULL: none was looked at */
	uint32_t line;         /* of source */
	uint32_t nr_places;    /* of programs' events: where they are marked */
	uint32_t nr_processes; /* that have it, of this command */
	uint32_t nr_on;        /* in so many of them somebody takes it now */
};

/* The event of that number, from 0. 0, or -ERANGE when there is none. */
int waymark_listed(struct waymark_list *list, uint32_t i, struct waymark_listed *ret);
uint32_t waymark_list_count(const struct waymark_list *list);

/* How people are shown it, as the program or the kernel declares; NULL: not known. */
const char *waymark_listed_print(struct waymark_list *list, uint32_t i);

struct waymark_listed_field {
	const char *name;
	const char *type;       /* as declared: "unsigned int"; until the next is asked for */
	enum waymark_kind kind; /* UNSIGNED, SIGNED, BOOL, FLOAT, TEXT, BYTES, LIST */
	uint32_t bytes;         /* of a number, or of each in a list; 0: not known */
	uint32_t length;        /* of a list or text of fixed length; 0: it varies */
	uint32_t nr_labels;     /* > 0: an enumeration */
	int is_exit;            /* it comes with the end of a system call, not with its begin */
};

/* Field k of event i: 0, or -ERANGE when there is none, -ENOMEM. */
int waymark_listed_field(struct waymark_list *list, uint32_t i, uint32_t k,
			 struct waymark_listed_field *ret);

/* A value of an enumeration and its name; NULL: there is none of that number. */
const char *waymark_listed_label(struct waymark_list *list, uint32_t i, uint32_t k, uint32_t label,
				 int64_t *ret_value);

struct waymark_listed_place {
	uint64_t address;     /* as the file's symbols count; 0: not known */
	uint64_t offset;      /* in the file, of USDT probes and functions; 0: not known */
	const char *function; /* NULL: not known */
	const char *source;   /* file name, with line; NULL: not known */
	uint32_t line;
	const char *operands; /* of USDT probes: "-4@%edi 8@-8(%rbp)"; NULL */
	uint64_t semaphore;   /* its offset in the file; 0: none */
};

/* Place k of event i (with WAYMARK_LIST_PLACES, or of a probe). 0, or -ERANGE. */
int waymark_listed_place(struct waymark_list *list, uint32_t i, uint32_t k,
			 struct waymark_listed_place *ret);

/* A kind of names: "syscall", "usdt"... */
struct waymark_family {
	const char *name;
	const char *what;    /* a few words */
	const char *missing; /* why it cannot be used here, and the cure; NULL: it can */
	uint32_t nr_events;  /* WAYMARK_NO_NUMBER: they are put where one wants them */
};

/* The family of that number, from 0. 0, or -ERANGE when there is none. */
int waymark_family(struct waymark_list *list, uint32_t i, struct waymark_family *ret);

#ifdef __cplusplus
}
#endif

#endif
