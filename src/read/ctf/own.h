/* SPDX-License-Identifier: MIT */
/*
 * own.h - what waymark's own traces say beyond what any CTF trace does.
 * Who the processes and threads were, and what was lost and why, is in the
 * recorder's stream: own.c reads it once, while the trace is opened.
 * Packets and events promise more than CTF asks for: own_check.c holds
 * them to it. Notes about event classes: own_note.c.
 */
#ifndef WM_READ_CTF_OWN_H
#define WM_READ_CTF_OWN_H

#include "read/ctf/plan.h"

struct wm_ctf_frame;
struct wm_ctf_found;

/*
 * A thread the kernel's events speak of, from then on. Either the kernel said
 * so when it happened, or the recorder asked when it met the thread: what it
 * heard may be younger, or, of one that had ended, older.
 */
struct wm_ctf_thread {
	int64_t ns;
	int32_t tid, pid;
	int32_t parent;   /* thread, of a fork */
	const char *comm; /* NULL: as its parent was called then; never after opening */
	bool asked;
};

/* --- own.c -------------------------------------------------------------- */

/* Fills the trace's processes, causes and threads. 0 or -ENOMEM. */
int wm_ctf_own_read(struct wm_trace *t);

/* The same by and by, of a trace that grows: first without packets, then of those from `first` on.
 */
int wm_ctf_own_begin(struct wm_trace *t);
int wm_ctf_own_hear(struct wm_trace *t, uint64_t first);

/* --- own_tasks.c ---------------------------------------------------------- */

/* Threads and processes in order, so that they are found. 0 or -ENOMEM. */
int wm_ctf_own_sort(struct wm_trace *t);

/* Who had that pid then; NULL: nobody known. */
struct wm_trace_process *wm_ctf_own_process(const struct wm_trace *t, uint32_t pid, int64_t ns);

/*
 * Copies what another opening of the same trace knew: losses, and who was who
 * from `ns` on. 0 or -ENOMEM.
 */
int wm_ctf_own_inherit(struct wm_trace *t, const struct wm_trace *from, int64_t ns);

const char *wm_ctf_own_comm(const struct wm_trace *t, const struct wm_event *e);

/* The process of a thread of the kernel's events; the thread's own number when nobody asked. */
int32_t wm_ctf_own_pid(const struct wm_trace *t, int32_t tid, int64_t ns);

/* A field of the event, by its name; NULL: none. */
const struct wm_item *wm_ctf_own_field(const struct wm_event *e, const char *name);

/* --- own_modules.c --------------------------------------------------------- */

/* From events about the recording; of the kernel where there is no process. 0 or -ENOMEM. */
int wm_ctf_own_module(struct wm_trace *t, const struct wm_event *e);
int wm_ctf_own_mmap(struct wm_trace *t, const struct wm_event *e);

/* --- own_check.c ---------------------------------------------------------- */

/* How many events a packet says it has, out of its frame's items; UINT64_MAX: it does not. */
uint64_t wm_ctf_own_count(const struct wm_batch *frame);

/* Can the frame be true, with `left` bytes of the file behind its begin? False: a fault said why.
 */
bool wm_ctf_own_frame(struct wm_trace *t, const char *file, uint64_t at, uint64_t left,
		      const struct wm_ctf_frame *f, uint64_t nr_events);

/* Packets of a stream follow one another in time. */
void wm_ctf_own_follow(struct wm_trace *t, const struct wm_ctf_found *before,
		       const struct wm_ctf_found *now);

/*
 * Files of packets that are gone, but whose index is there: a fault each. `folder`
 * is a path, `below` its name below the trace's.
 */
void wm_ctf_own_gone(struct wm_trace *t, const char *folder, const char *below);

/* The same for anybody: fn gets the name of the stream file and how many packets there were. */
void wm_ctf_own_each_gone(int dirfd, void (*fn)(void *data, const char *name, uint64_t nr_packets),
			  void *data);

/* --- own_kernel.c ------------------------------------------------------------- */

struct wm_ctf_kernel;

/* How the kernel's events print, and which fields are a sample's. 0 or -ENOMEM. */
int wm_ctf_kernel_read(struct wm_trace *t);
void wm_ctf_kernel_done(struct wm_ctf_kernel *k); /* accepts NULL */
bool wm_ctf_kernel_print(const struct wm_trace *t, const struct wm_event *e, struct wm_text *out);

/* --- own_note.c ------------------------------------------------------------ */

/* What the writer noted of a class: its print form, which fields are contexts. 0 or -ENOMEM. */
int wm_ctf_own_note(struct wm_trace *t, const struct wm_ctf_event *e, struct wm_event_type *type);

/* CTF 1.8 knows no booleans and no blobs: the names of our types tell them. */
void wm_ctf_own_types(struct wm_ctf_metadata *m);

#endif
