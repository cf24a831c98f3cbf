/* SPDX-License-Identifier: MIT */
/*
 * runtime_int.h - the one runtime of a process: modules, events, recorders. This is
 * the room's inner header; it is neither installed nor included by other rooms.
 *
 * Where the work on an event is done:
 *   registry.c  modules register their sites; equal descriptions become one event
 *   session.c   joins and leaves a recorder; reads its rules (globs, filters, contexts)
 *   plan.c      computes what an event does when hit: its word and its plan
 *   patch.c     flips one site; window.c flips many at once
 *   slow.c      gets chunks for threads;  gate.c  emits complex events
 *   tell.c      writes the messages to the recorders
 *   agent.c     the thread that reads the messages of the recorders
 *   probe.c     in-process callbacks;  mark.c  callbacks of markers
 *
 * Locking: `lock` serialises changes to everything but threads and pools. It is
 * never taken from an emit path (except by wm_try_lock(), when a forked child
 * or an attached process joins) and never held over a call into the loader.
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

#define WM_GUEST_MODULES_MAX 4096u
#define WM_EVENTS_MAX        65536u /* ids are 16 bits */
#define WM_FILTERS_MAX       8u     /* most filtered rules that may match one event */
#define WM_PROBES_MAX        32u
#define WM_FOLDER_MAX        512u

/* One rule of a recorder, pointing into its private copy of DIR/rules. */
struct wm_guest_rule {
	const char *glob;
	const unsigned char *filter;
	uint32_t glob_bytes, filter_bytes, contexts, level_max, change, flags;
};

/* A recorder this process is joined to. */
struct wm_guest_session {
	uint32_t active;     /* pool and socket are valid; emitting threads load it with acquire */
	uint32_t generation; /* bumped when the slot gets a new pool */
	int socket;
	struct wm_pool *pool;    /* of this generation, once joined */
	struct wm_pool pools[2]; /* the previous generation's is left unchanged */
	uint64_t pool_bytes;
	uint32_t clock_kind, mode, block_ms;
	bool counts; /* its chunks hold counts instead of records: see ring/counts.h */
	uint32_t next_id;
	uint64_t rules_generation;
	unsigned char *rules; /* private copy of the file; `rule` follows in the mapping */
	struct wm_guest_rule *rule;
	size_t rules_bytes;
	uint32_t nr_rules;
	uint64_t matched[WM_RULES_NR_MAX / 64], unfit[WM_RULES_NR_MAX / 64]; /* as in SYNCED */
	char folder[WM_FOLDER_MAX];
	unsigned char *out; /* messages not sent yet */
	size_t out_bytes, out_room;
	bool hidden; /* in a child: an emit may still finish in the memory where the pool was */
	uint64_t socket_inode; /* the socket is the runtime's while its descriptor has this inode */
	uint64_t missing_field; /* events that a glob matched and that lack the filter's field */
	uint64_t missing_told;  /* the part of missing_field that the recorder knows of */
};

/* What one recorder gets of one event. */
struct wm_plan_slot {
	bool on;
	uint16_t id;
	uint32_t contexts;
	uint32_t nr_filters; /* 0: every event passes; else those that pass any filter */
	const struct wm_filter *filter[WM_FILTERS_MAX];
};

struct wm_probe {
	void (*fn)(void);
	void *data;
};

/*
 * A kind of plan.quick in addition to those of filters: nothing is tested, the
 * count at `offset` of the chunk of this thread's writer is incremented.
 */
#define WM_QUICK_COUNT 4u
_Static_assert(WM_QUICK_COUNT > WM_FILTER_QUICK_W8, "a kind of its own");

/* What an event does when it is hit in the complex case. Immutable once published. */
struct wm_plan {
	struct wm_filter_quick quick; /* first member: entry_*.S reads it; kind 0: unused */
	struct wm_plan *next_retired;
	bool keep;    /* never freed: an unloaded module may still refer to it */
	size_t bytes; /* of this mapping */
	uint32_t nr_probes;
	const struct waymark_desc *mark; /* of a marker or span: wm_mark_run() calls the probes */
	struct wm_plan_slot slot[WM_SLOTS];
	struct wm_probe probe[WM_PROBES_MAX];
	/* linked filters follow */
};

struct wm_runtime {
	uint32_t ready;
	uint32_t pid; /* the process that owns this memory; a vfork child gets another getpid() */
	uint32_t refused; /* sites that hold foreign bytes (a debugger's, a uprobe's) */
	uint32_t nr_events;
	uint64_t early; /* events counted before any pool existed, since the last HELLO */
	struct wm_guest_module *modules;
	struct wm_event_entry *events, **hash;
	struct wm_guest_session session[WM_SLOTS];
	struct wm_registration *probes;
	bool agent_runs;
	uint32_t agent_tid; /* not 0 until the kernel has ended the agent thread; a futex */
	char sessions_env[1024];
};

extern struct wm_runtime wm_rt WM_HIDDEN;
extern struct wm_control waymark_control;

/* lock.c */
void wm_lock(void);
bool wm_try_lock(void); /* uses wm_rt.ready only, like every function here */
void wm_unlock(void);
void wm_lock_wait(unsigned ms); /* returns when the lock is free, or after `ms` */

/* lock.c: memory that lives as long as the process; it is never freed */
void *wm_keep(size_t bytes);

/* plan.c: computes what events do when hit, from rules and probes. Locked. */
void wm_plan_update_all(void);
void wm_plan_update_module(struct wm_guest_module *m);
void wm_plan_drop_module(struct wm_guest_module *m); /* the module is being unloaded */
void wm_plan_update_event(struct wm_event_entry *e);
void wm_plan_restore(void); /* switches off events that a tool switched on and no session wants */
void wm_plan_links_lost(
    struct wm_guest_module *m); /* m is unloaded: drops its linked markers' probes */

/* session.c. Locked. */
int wm_guest_session_join(const char *folder, size_t bytes, uint32_t flags);
void wm_guest_session_leave(unsigned slot, bool say_bye);
int wm_guest_session_read_rules(struct wm_guest_session *s);
void wm_guest_session_forked(void); /* drops the parent's sessions, joins the same folders anew */
void wm_guest_session_hide(
    void); /* maps private memory over the pools: see wm_thread_after_fork() */
/* Does not check the socket, unlike wm_guest_session_is_deaf(), which is called once per update. */
bool wm_guest_session_announce(struct wm_guest_session *s, const struct wm_event_entry *e,
			       uint32_t id, uint32_t contexts);
int wm_guest_session_flush(
    struct wm_guest_session *s); /* sends the announced events before they are enabled */
void wm_guest_session_module(const struct wm_guest_module *m, bool unload);
void wm_guest_session_synced(struct wm_guest_session *s);
void wm_guest_session_all_synced(void);
void wm_guest_session_counts(void); /* reports to the recorders how many events no filter fits */
bool wm_guest_session_is_deaf(struct wm_guest_session *s); /* true: the program closed the socket */

/* agent.c */
int wm_agent_start(void);
void wm_agent_stop_in_child(void);

/* enable.c: starts a recorder for this process. Constructor, unlocked. */
void wm_enable_from_environment(const char *globs);

/* probe.c: the callbacks registered for an event. Locked. */
uint32_t wm_probe_fill(const struct wm_event_entry *e, struct wm_probe *ret, uint32_t most);

/* Clock of the gate, for sessions that do not run on cycles. */
uint64_t wm_clock_now(uint32_t kind);
void wm_clock_init(void);

/* runtime.c */
bool wm_runtime_ready(void);
intptr_t wm_writer_offset(void);
void wm_runtime_forked(void); /* called from a child's first slow path */
void wm_runtime_attach_check(void);

/* C functions called by the entries in entry_*.S, which describes them */
struct waymark_writer *wm_slow(struct waymark_writer *w);
unsigned char *wm_enter(struct waymark_writer *w);
void wm_leave(void);
void wm_gate(unsigned char *end, struct waymark_event_state *event, uintptr_t unused, uintptr_t fp,
	     uintptr_t sp, uintptr_t ip);
void wm_probe_run(unsigned char *slots, struct waymark_event_state *event,
		  void (*dispatch)(const unsigned char *, void (*)(void), void *));
bool wm_filter_run_float_saved(const struct wm_filter *f, const unsigned char *payload,
			       size_t bytes, const struct wm_filter_contexts *contexts);
extern uint32_t wm_xsave_bytes WM_HIDDEN;
extern uint8_t wm_xsave_works WM_HIDDEN;

/* slow.c: space for a writer of a slot */
/* Counts events that no recorder's pool could count, with the next one that can. */
void wm_early(uint64_t n);
bool wm_chunk_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
		   const struct wm_thread *t, unsigned level);
/* The same for a session that counts: gets a chunk that extends beyond `at`. */
bool wm_counts_next(struct wm_guest_session *s, struct waymark_writer *w, struct wm_level *l,
		    const struct wm_thread *t, unsigned level, uint32_t at);

#endif
