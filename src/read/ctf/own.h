/* SPDX-License-Identifier: MIT */
/*
 * own.h - information in waymark's own traces beyond standard CTF. The recorder's stream describes
 * the processes and threads, and records what was lost and why: own.c reads it once, while the
 * trace is opened. Packets and events guarantee more than CTF requires: own_check.c checks this.
 * Notes about event classes: own_note.c.
 */
#ifndef WM_READ_CTF_OWN_H
#define WM_READ_CTF_OWN_H

#include "read/ctf/plan.h"

struct wm_ctf_frame;
struct wm_ctf_found;

/*
 * A thread in the kernel's events, from time `ns` on. The kernel reported it when it happened, or
 * the recorder queried it when it met the thread: such a record may be younger or, when the thread
 * had exited, older.
 */
struct wm_ctf_thread {
	int64_t ns;
	int32_t tid, pid;
	int32_t parent;   /* of a fork: the parent thread */
	const char *comm; /* NULL: as its parent's at that time; never NULL after opening */
	bool asked;
};

/* --- own.c -------------------------------------------------------------- */

/* Fills the trace's processes, causes and threads. 0 or -ENOMEM. */
int wm_ctf_own_read(struct wm_trace *t);

/*
 * The same in steps, for a trace that grows: first without packets, then for packets from `first`
 * on.
 */
int wm_ctf_own_begin(struct wm_trace *t);
int wm_ctf_own_hear(struct wm_trace *t, uint64_t first);

/* --- own_tasks.c ---------------------------------------------------------- */

/* Sorts threads and processes for lookup. 0 or -ENOMEM. */
int wm_ctf_own_sort(struct wm_trace *t);

/* The process that had that pid at that time, or NULL. */
struct wm_trace_process *wm_ctf_own_process(const struct wm_trace *t, uint32_t pid, int64_t ns);

/*
 * Copies from an earlier opening of the same trace: losses, and the tasks from `ns` on. 0 or
 * -ENOMEM.
 */
int wm_ctf_own_inherit(struct wm_trace *t, const struct wm_trace *from, int64_t ns);

const char *wm_ctf_own_comm(const struct wm_trace *t, const struct wm_event *e);

/* The process of a thread in the kernel's events; the thread's own id when the process is unknown.
 */
int32_t wm_ctf_own_pid(const struct wm_trace *t, int32_t tid, int64_t ns);

/* A field of the event by name, or NULL. */
const struct wm_item *wm_ctf_own_field(const struct wm_event *e, const char *name);

/* --- own_modules.c --------------------------------------------------------- */

/* From events about the recording; without a process: from the kernel's events. 0 or -ENOMEM. */
int wm_ctf_own_module(struct wm_trace *t, const struct wm_event *e);
int wm_ctf_own_mmap(struct wm_trace *t, const struct wm_event *e);

/* --- own_check.c ---------------------------------------------------------- */

/* The number of events a packet declares, from its frame's items; UINT64_MAX when it declares none.
 */
uint64_t wm_ctf_own_count(const struct wm_batch *frame);

/*
 * Returns whether the frame is plausible, with `left` bytes of the file from its begin on. False: a
 * fault was reported.
 */
bool wm_ctf_own_frame(struct wm_trace *t, const char *file, uint64_t at, uint64_t left,
		      const struct wm_ctf_frame *f, uint64_t nr_events);

/* Checks that packets of a stream do not overlap in time. */
void wm_ctf_own_follow(struct wm_trace *t, const struct wm_ctf_found *before,
		       const struct wm_ctf_found *now);

/*
 * Reports a fault for each stream file that is missing although its index exists. `folder` is a
 * path, `below` its name relative to the trace's.
 */
void wm_ctf_own_gone(struct wm_trace *t, const char *folder, const char *below);

/* The same for any caller: fn gets the name of the stream file and its number of packets. */
void wm_ctf_own_each_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
			  void *data);

/* --- own_kernel.c ------------------------------------------------------------- */

struct wm_ctf_kernel;

/* Reads how the kernel's events are printed, and which fields are a sample's. 0 or -ENOMEM. */
int wm_ctf_kernel_read(struct wm_trace *t);
void wm_ctf_kernel_done(struct wm_ctf_kernel *k); /* accepts NULL */
bool wm_ctf_kernel_print(const struct wm_trace *t, const struct wm_event *e, struct wm_text *out);

/* --- own_note.c ------------------------------------------------------------ */

/*
 * Applies the writer's note on a class: its print form, and which fields are contexts. 0 or
 * -ENOMEM.
 */
int wm_ctf_own_note(struct wm_trace *t, const struct wm_ctf_event *e, struct wm_event_type *type);

/* CTF 1.8 has no booleans and no blobs: they are recognized by the names of our types. */
void wm_ctf_own_types(struct wm_ctf_metadata *m);

#endif
