/* SPDX-License-Identifier: MIT */
/*
 * runtime_int.h - a process's runtime: modules, events, recorders. This header is private to the
 * room: it is neither installed nor included by other rooms.
 *
 * Which file handles which part of an event:
 *   registry.c  modules register their sites; equal descriptions become one event
 *   session.c   joins and leaves a recorder; reads its rules (globs, filters, contexts)
 *   plan.c      computes what an event does when hit: its word and its plan
 *   patch.c     flips one site; window.c flips many at once
 *   slow.c      gets chunks for threads;  gate.c  emits complex events
 *   tell.c      writes messages to the recorders
 *   agent.c     the thread that reads messages from the recorders
 *   probe.c     in-process callbacks;  mark.c  callbacks for markers
 *
 * Locking: `lock` serialises changes to everything but threads and pools. It is never taken from an
 * emit path (except by wm_try_lock(), when a forked child or an attached process joins) and never
 * held over a call into the loader.
 */
#ifndef WM_RUNTIME_RUNTIME_INT_H
#define WM_RUNTIME_RUNTIME_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/filter.h"
#include "ring/pool.h"
#include "runtime/agent.h"
#include "runtime/registry_int.h"
#include "runtime/thread_int.h"

#define WM_HIDDEN    __attribute__((visibility("hidden")))
#define WM_GUEST_API __attribute__((visibility("default")))

#define WM_EVENTS_MAX  65536u /* limited by 16-bit ids */
#define WM_FILTERS_MAX 8u     /* most rules with a filter that may match one event */
#define WM_PROBES_MAX  32u
#define WM_FOLDER_MAX  512u

/* A recorder's rule. It points into the private copy of DIR/rules. */
struct wm_guest_rule {
	const char *glob;
	const unsigned char *filter;
	uint32_t glob_bytes, filter_bytes, contexts, level_max, change, flags;
};

/* A recorder that this process has joined. */
struct wm_guest_session {
	uint32_t active;     /* pool and socket are valid; emitting threads load it with acquire */
	uint32_t generation; /* incremented when the slot gets a new pool */
	int socket;
	struct wm_pool *pool; /* the pool of this generation, once joined */
	/* Two, because the previous generation's pool must not change. */
	struct wm_pool pools[2];
	uint64_t pool_bytes;
	uint32_t clock_kind, mode, block_ms;
	bool counts; /* the chunks contain counts instead of records: see ring/counts.h */
	uint32_t next_id;
	uint64_t rules_generation;
	unsigned char *rules; /* private copy of the file; `rule` follows in the mapping */
	struct wm_guest_rule *rule;
	size_t rules_bytes;
	uint32_t nr_rules;
	/* as in the SYNCED message */
	uint64_t matched[WM_RULES_NR_MAX / 64], unfit[WM_RULES_NR_MAX / 64];
	char folder[WM_FOLDER_MAX];
	unsigned char *out; /* messages not yet sent */
	size_t out_bytes, out_room;
	/*
	 * Set in a child in which an emit of the parent may still finish: private memory is mapped
	 * in place of the pool.
	 */
	bool hidden;
	/* The socket's inode; if the descriptor has another one, the program has reused it. */
	uint64_t socket_inode;
	/* Number of events that matched a glob but lack a field that the filter needs. */
	uint64_t missing_field;
	uint64_t missing_told; /* the part of missing_field already reported to the recorder */
};

/* The part of a plan for one recorder. */
struct wm_plan_slot {
	bool on;
	uint16_t id;
	uint32_t contexts;
	uint32_t nr_filters; /* 0: every event passes; else those that pass any of the filters */
	const struct wm_filter *filter[WM_FILTERS_MAX];
};

struct wm_probe {
	void (*fn)(void);
	void *data;
};

/*
 * A kind of plan.quick beyond those that filters have: increments, without a test, the count at
 * `offset` in the chunk of this thread's writer.
 */
#define WM_QUICK_COUNT 4u
_Static_assert(WM_QUICK_COUNT > WM_FILTER_QUICK_W8, "a kind of its own");

/*
 * How to record an event that has filters, contexts, probes or several recorders. Immutable once
 * published.
 */
struct wm_plan {
	struct wm_filter_quick quick; /* the first member, read by entry_*.S; kind 0: unused */
	struct wm_plan *next_retired;
	bool keep;    /* never freed, because an unloaded module may still refer to it */
	size_t bytes; /* size of this mapping */
	uint32_t nr_probes;
	/* Set for a marker or span, whose probes wm_mark_run() calls. */
	const struct waymark_desc *mark;
	struct wm_plan_slot slot[WM_SLOTS];
	struct wm_probe probe[WM_PROBES_MAX];
	/* the linked filters follow */
};

struct wm_runtime {
	uint32_t ready;
	uint32_t pid; /* owner of this memory; a vfork child shares it but has another pid */
	/* Number of sites that contain foreign bytes (a debugger's, a uprobe's) */
	uint32_t refused;
	uint32_t nr_events;
	/* Number of events since the last HELLO that were counted before any pool existed. */
	uint64_t early;
	struct wm_guest_module *modules;
	struct wm_event_entry *events, **hash;
	struct wm_guest_session session[WM_SLOTS];
	struct wm_registration *probes;
	bool agent_runs;
	uint32_t exit_status; /* the agent's; other than 0 only after WM_MSG_LAST */
	uint32_t agent_tid;   /* a futex; the kernel clears it when the agent thread has ended */
};

extern struct wm_runtime wm_rt WM_HIDDEN;
extern struct wm_control waymark_control;

/* lock.c */
void wm_lock(void);
bool wm_try_lock(void); /* like every function here, uses only wm_rt.ready */
void wm_unlock(void);
void wm_lock_wait(unsigned ms); /* returns when the lock is free, or after `ms` */

/* lock.c: allocates memory that lives as long as the process and is never freed */
void *wm_keep(size_t bytes);

/* plan.c: computes how events are recorded, from rules and probes. Call with the lock held. */
void wm_plan_update_all(void);
void wm_plan_update_module(struct wm_guest_module *m);
void wm_plan_drop_module(struct wm_guest_module *m); /* for a module that is being unloaded */
void wm_plan_update_event(struct wm_event_entry *e);
void wm_plan_restore(void); /* disables events that a tool enabled but no session wants */
/* m is being unloaded: drops the probes of its linked markers. */
void wm_plan_links_lost(struct wm_guest_module *m);

/* session.c. Call with the lock held. */
int wm_guest_session_join(const char *folder, size_t bytes, uint32_t flags);
void wm_guest_session_leave(unsigned slot, bool say_bye);
int wm_guest_session_read_rules(struct wm_guest_session *s);
/* Drops the parent's sessions and rejoins the same folders. */
void wm_guest_session_forked(void);
void wm_guest_session_hide(
    void); /* maps private memory over the pools: see wm_thread_after_fork() */
/* Does not check the socket, unlike wm_guest_session_is_deaf(), which is called once per update. */
bool wm_guest_session_announce(struct wm_guest_session *s, const struct wm_event_entry *e,
			       uint32_t id, uint32_t contexts);
int wm_guest_session_flush(
    struct wm_guest_session *s); /* sends the announced events, before they are enabled */
void wm_guest_session_module(const struct wm_guest_module *m, bool unload);
void wm_guest_session_synced(struct wm_guest_session *s);
void wm_guest_session_all_synced(void);
/* Tells the recorders the number of events that no filter fits. */
void wm_guest_session_counts(void);
/* Whether the program has closed the socket. */
bool wm_guest_session_is_deaf(struct wm_guest_session *s);

/* agent.c */
int wm_agent_start(void);
void wm_agent_stop_in_child(void);

/* enable.c: starts a recorder for this process. Called by the constructor, without the lock. */
void wm_enable_from_environment(const char *globs);

/* probe.c: adds the callbacks registered for an event. Call with the lock held. */
uint32_t wm_guest_probe_fill(const struct wm_event_entry *e, struct wm_probe *ret, uint32_t most);

/* The gate's clock, for sessions whose clock is not the cycle counter. */
uint64_t wm_guest_clock_now(uint32_t kind);
void wm_guest_clock_init(void);

/* runtime.c */
bool wm_runtime_ready(void);
intptr_t wm_guest_writer_offset(void);
void wm_runtime_forked(void); /* called from the first slow path in a child */
void wm_runtime_attach(void); /* handles a pending attach request; needs the lock */
/*
 * Like the function above, for callers without the lock. Does nothing when another thread holds it.
 */
void wm_runtime_attach_check(void);
/*
 * For an event whose word asks for a recorder although its plan has none: handles a pending attach
 * request and brings all words in line with the plans. Returns false when another thread holds the
 * lock and so may be changing the words.
 */
bool wm_runtime_words_check(void);

/* The C functions that the entries in entry_*.S call; described there */
struct waymark_writer *wm_slow(struct waymark_writer *w);
unsigned char *wm_enter(struct waymark_writer *w);
void wm_leave(void);
void wm_gate(unsigned char *end, struct waymark_event_state *event, uintptr_t unused, uintptr_t fp,
	     uintptr_t sp, uintptr_t ip);
void wm_guest_probe_run(unsigned char *slots, struct waymark_event_state *event,
			void (*dispatch)(const unsigned char *, void (*)(void), void *));
bool wm_guest_filter_run_float(const struct wm_filter *f, const unsigned char *payload,
			       size_t bytes, const struct wm_filter_contexts *contexts);
extern uint32_t wm_xsave_bytes WM_HIDDEN;
extern uint8_t wm_xsave_works WM_HIDDEN;

/* slow.c: gets room for the writer of a slot */
/* Counts n events for which no pool existed; they are added to the losses of the next pool. */
void wm_early(uint64_t n);
bool wm_chunk_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
		   const struct wm_thread *t, unsigned level);
/* The same for a session that counts: gets a chunk that extends beyond `at`. */
bool wm_guest_counts_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
			  const struct wm_thread *t, unsigned level, uint32_t at);

#endif
