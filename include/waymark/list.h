/* SPDX-License-Identifier: MIT */
/*
 * list.h - lists the events that can be traced on this machine: the kernel's (tracepoints, system
 * calls, counters), those of marked programs, libraries and running processes, their USDT probes,
 * and the events that match a name (waymark-events(7)). Listing starts, stops and changes nothing.
 * Link libwaymark:
 * cc prog.c $(pkg-config --cflags --libs waymark)
 *
 *   struct waymark_list_options sched = {.size = sizeof(sched), .events = "sched:*"};
 *   struct waymark_listed event = WAYMARK_INIT(event);
 *   struct waymark_error error = WAYMARK_INIT(error);
 *   struct waymark_list *list;
 *
 *   if (waymark_list(&sched, &list, &error))
 *           errx(1, "%s", error.text);
 *   for (uint32_t i = 0; waymark_listed(list, i, &event) == 0; i++)
 *           puts(event.name);
 *   waymark_list_close(list);
 *
 * Errors are as in <waymark/read.h>: a negative errno number, and a message in struct
 * waymark_error. -ENOENT: no event has the name, and the message suggests the closest names;
 * -EINVAL: malformed options; -EACCES: the events may exist, but cannot be read, and the message
 * has a hint. Sizes are as in <waymark/read.h>, too: structures begin with their size.
 *
 * Ownership. The caller closes a list; all strings and pointers obtained from it remain valid until
 * then. Threads. A list belongs to one thread at a time; different lists are independent. No
 * function here prints, exits, changes signals or starts processes. Programs are looked up in
 * $PATH.
 */
#ifndef WAYMARK_LIST_H
#define WAYMARK_LIST_H

#include <waymark/read.h>

#ifdef __cplusplus
extern "C" {
#endif

struct waymark_list; /* a list of events */

#define WAYMARK_LIST_KERNEL    1u /* include the kernel's events */
#define WAYMARK_LIST_PROCESSES 2u /* include this user's processes; for root: all processes */
#define WAYMARK_LIST_PLACES    4u /* also find the places that mark an event; slower */

/* If all members except the size are 0: all events of the kernel and of running processes. */
struct waymark_list_options {
	size_t size;
	/* A name with *, ? and [...], such as "sched:*" or "usdt:BIN:*:*"; NULL: all. */
	const char *events;
	const char *const *files; /* programs and libraries whose events and USDT probes to list */
	uint32_t nr_files;
	const int32_t *pids; /* running processes. With files or pids, the kernel's events */
	uint32_t nr_pids;    /* and those of other processes are listed only by request (flags) */
	uint32_t flags;
};

/*
 * Lists events. `options` may be NULL. Returns 0 or -errno; -ENOENT when no event matches
 * options->events. If that is NULL, the list may be empty.
 */
int waymark_list(const struct waymark_list_options *options, struct waymark_list **ret,
		 struct waymark_error *error);

/* Accepts NULL. */
void waymark_list_close(struct waymark_list *list);

struct waymark_listed {
	size_t size;
	const char *name;      /* "provider:name", in the form that <waymark/record.h> accepts */
	/* "tracepoint", "system-call", "usdt", "event", "marker" and so on. */
	const char *kind;
	const char *help;      /* description; NULL: not known */
	/* Unit of a counter, such as "Joules"; NULL: it counts occurrences. */
	const char *unit;
	double scale;          /* value of one count in that unit; 1 by default */
	const char *level;     /* for programs' events: "info" or another level; else NULL */
	const char *file;      /* the program or library that contains it; NULL: a kernel event */
	const char *source;    /* source file of the declaration; NULL: not known */
	/* Command of the processes that have it; NULL: no process was searched. */
	const char *command;
	uint32_t line;         /* line in `source` */
	uint32_t nr_places;    /* for programs' events: number of places that mark it */
	uint32_t nr_processes; /* number of processes that run `command` and have it */
	uint32_t nr_on;        /* number of these processes in which it is being recorded now */
};

/* Gets event number i, counted from 0. Returns 0, or -ERANGE past the last one. */
int waymark_listed(struct waymark_list *list, uint32_t i, struct waymark_listed *ret);
uint32_t waymark_list_count(const struct waymark_list *list);

/* The event's print format, as the program or the kernel declares it; NULL: not known. */
const char *waymark_listed_print(struct waymark_list *list, uint32_t i);

struct waymark_listed_field {
	size_t size;
	const char *name;
	/* Type as declared, such as "unsigned int"; valid until the next call. */
	const char *type;
	enum waymark_kind kind; /* UNSIGNED, SIGNED, BOOL, FLOAT, TEXT, BYTES or LIST */
	uint32_t bytes;         /* size of a number or of a list's element; 0: not known */
	uint32_t length;        /* elements of a list or text of fixed length; 0: variable length */
	uint32_t nr_labels;     /* above 0 for an enumeration */
	int is_exit;            /* 1: recorded at the exit of a system call, not at its entry */
	uint32_t reserved;      /* 0 */
};

/* Gets field k of event i. Returns 0, -ERANGE past the last one, or -ENOMEM. */
int waymark_listed_field(struct waymark_list *list, uint32_t i, uint32_t k,
			 struct waymark_listed_field *ret);

/*
 * Returns the name of an enumeration's label and stores its value; NULL: no label has this number.
 */
const char *waymark_listed_label(struct waymark_list *list, uint32_t i, uint32_t k, uint32_t label,
				 int64_t *ret_value);

struct waymark_listed_place {
	size_t size;
	uint64_t address;     /* address in the file's symbol table; 0: not known */
	uint64_t offset;      /* for USDT probes and functions: offset in the file; 0: not known */
	const char *function; /* name of the function; NULL: not known */
	const char *source;   /* name of the source file; NULL: not known */
	uint32_t line;
	/* Operands of a USDT probe, such as "-4@%edi 8@-8(%rbp)"; else NULL. */
	const char *operands;
	uint64_t semaphore;   /* offset of the probe's semaphore in the file; 0: none */
};

/*
 * Gets place k of event i (needs WAYMARK_LIST_PLACES, except for probes). Returns 0, or -ERANGE
 * past the last one.
 */
int waymark_listed_place(struct waymark_list *list, uint32_t i, uint32_t k,
			 struct waymark_listed_place *ret);

/* A family of names, such as "syscall" or "usdt". */
struct waymark_family {
	size_t size;
	const char *name;
	const char *what;    /* short description */
	const char *missing; /* why it cannot be used here, and a hint; NULL: it can */
	uint32_t nr_events;  /* WAYMARK_NO_NUMBER: events can be placed anywhere */
	uint32_t reserved;   /* 0 */
};

/* Gets family number i, counted from 0. Returns 0, or -ERANGE past the last one. */
int waymark_family(struct waymark_list *list, uint32_t i, struct waymark_family *ret);

#ifdef __cplusplus
}
#endif

#endif
