/* SPDX-License-Identifier: MIT */
/*
 * own.h - reads what waymark's own traces contain beyond standard CTF. The recorder's stream lists
 * processes, threads, and losses with their causes: own.c reads it when the trace is opened.
 * Packets and events obey stricter rules than CTF's, which own_check.c checks. own_note.c reads
 * notes about event classes.
 */
#ifndef WM_READ_CTF_OWN_H
#define WM_READ_CTF_OWN_H

#include "read/ctf/plan.h"

struct wm_ctf_frame;
struct wm_ctf_found;

/*
 * The name and process of a thread in the kernel's events, valid from time `ns` on. Either the
 * kernel reported the change when it happened, or the recorder read the name later from /proc, in
 * which case it may differ from the name at `ns`.
 */
struct wm_ctf_thread {
	int64_t ns;
	int32_t tid, pid;
	int32_t parent; /* for a fork: the parent thread */
	/* NULL: same as the parent's at that time; replaced before opening is complete */
	const char *comm;
	bool asked;
};

/* --- own.c -------------------------------------------------------------- */

/* Fills the trace's processes, causes and threads. 0 or -ENOMEM. */
int wm_ctf_own_read(struct wm_trace *t);

/*
 * Like wm_ctf_own_read(), in steps, for a growing trace: the first function is called before there
 * are packets, the second one for the packets from `first` on.
 */
int wm_ctf_own_begin(struct wm_trace *t);
int wm_ctf_own_hear(struct wm_trace *t, uint64_t first);

/* --- own_tasks.c ---------------------------------------------------------- */

/* Sorts threads and processes for lookup. 0 or -ENOMEM. */
int wm_ctf_own_sort(struct wm_trace *t);

/* Returns the process that had the pid at that time, or NULL. */
struct wm_trace_process *wm_ctf_own_process(const struct wm_trace *t, uint32_t pid, int64_t ns);

/*
 * Copies the losses, and the processes and threads that matter from `ns` on, from the same trace as
 * opened before. 0 or -ENOMEM.
 */
int wm_ctf_own_inherit(struct wm_trace *t, const struct wm_trace *from, int64_t ns);

const char *wm_ctf_own_comm(const struct wm_trace *t, const struct wm_event *e);

/* Returns the process of a thread in the kernel's events, or the thread's own id when the
 * process is unknown.
 */
int32_t wm_ctf_own_pid(const struct wm_trace *t, int32_t tid, int64_t ns);

/* Returns the event's field with that name, or NULL. */
const struct wm_item *wm_ctf_own_field(const struct wm_event *e, const char *name);

/* --- own_modules.c --------------------------------------------------------- */

/*
 * Add the binary of an event about a mapping: wm_ctf_own_module() for the recorder's event,
 * wm_ctf_own_mmap() for the kernel's. 0 or -ENOMEM.
 */
int wm_ctf_own_module(struct wm_trace *t, const struct wm_event *e);
int wm_ctf_own_mmap(struct wm_trace *t, const struct wm_event *e);

/* --- own_check.c ---------------------------------------------------------- */

/* Returns the number of events that a packet's frame declares; UINT64_MAX when it declares none. */
uint64_t wm_ctf_own_count(const struct wm_batch *frame);

/*
 * Checks a frame that begins `left` bytes before the end of the file. Returns false when it
 * reported a fault.
 */
bool wm_ctf_own_frame(struct wm_trace *t, const char *file, uint64_t at, uint64_t left,
		      const struct wm_ctf_frame *f, uint64_t nr_events);

/* Reports a fault when two successive packets of a stream overlap in time. */
void wm_ctf_own_follow(struct wm_trace *t, const struct wm_ctf_found *before,
		       const struct wm_ctf_found *now);

/*
 * Reports a fault for each stream file that is missing although its index exists. `folder` is the
 * folder's path, `below` is the same relative to the trace's path.
 */
void wm_ctf_own_gone(struct wm_trace *t, const char *folder, const char *below);

/* Calls fn for each of these missing stream files, with the number of packets in its index. */
void wm_ctf_own_each_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
			  void *data);

/* --- own_kernel.c ------------------------------------------------------------- */

struct wm_ctf_kernel;

/*
 * Reads the print forms of the kernel's events, and determines which of their fields belong to a
 * sample. 0 or -ENOMEM.
 */
int wm_ctf_kernel_read(struct wm_trace *t);
void wm_ctf_kernel_done(struct wm_ctf_kernel *k); /* accepts NULL */
bool wm_ctf_kernel_print(const struct wm_trace *t, const struct wm_event *e,
			 const struct wm_kernel_names *names, struct wm_text *out);

/* --- own_note.c ------------------------------------------------------------ */

/*
 * Applies the writer's note about a class: its print form, and which fields are contexts. 0 or
 * -ENOMEM.
 */
int wm_ctf_own_note(struct wm_trace *t, const struct wm_ctf_event *e, struct wm_event_type *type);

/* CTF 1.8 has neither booleans nor blobs: they are recognized by the names of our types. */
void wm_ctf_own_types(struct wm_ctf_metadata *m);

#endif
