/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - the one runtime of a process: modules, events, recorders. This
 * is the room's inner header; nothing of it is installed or shared.
 *
 * Life of an event here:
 *   registry.c  modules register their sites; events of one description are joined
 *   rules.c     which recorder wants which event, with what filter and contexts
 *   plan.c      what an event does when hit: the word and the plan behind it
 *   patch.c     sites are flipped; window.c: many at once
 *   slow.c      chunks for threads;  gate.c  complex events
 *   session.c   a recorder is joined or left;  tell.c  what it is told
 *   agent.c     the thread that listens
 *   probe.c     in-process callbacks;  mark.c  those of markers
 *
 * Locking: `lock` serialises changes to everything but threads and pools. It
 * is never taken from an emit path (wm_try_lock() is, when a forked child or
 * an attached process joins) and never held over a call into the loader.
 */
#ifndef WM_RUNTIME_RUNTIME_H
#define WM_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <waymark/abi.h>

#include "event/filter.h"
#include "ring/pool.h"
#include "runtime/agent.h"
#include "runtime/registry.h"
#include "runtime/thread.h"

#define WM_HIDDEN __attribute__((visibility("hidden")))
#define WM_API    __attribute__((visibility("default")))

#define WM_MODULES_MAX 4096u
#define WM_EVENTS_MAX  65536u /* ids are 16 bits */
#define WM_FILTERS_MAX 8u     /* filtered rules that may match one event */
#define WM_PROBES_MAX  32u
#define WM_FOLDER_MAX  512u

/* One rule of a recorder, pointing into its private copy of DIR/rules. */
struct wm_session_rule {
	const char *glob;
	const unsigned char *filter;
	uint32_t glob_bytes, filter_bytes, contexts, level_max, change, flags;
};

/* A recorder this process is joined to. */
struct wm_session {
	uint32_t active;     /* pool and socket are there; emitting threads look (acquire) */
	uint32_t generation; /* bumped when the slot gets a new pool */
	int socket;
	struct wm_pool *pool;    /* of this generation, once joined; */
	struct wm_pool pools[2]; /* the one before stays as it was */
	uint64_t pool_bytes;
	uint32_t clock_kind, mode, block_ms;
	bool counts; /* its chunks hold counts instead of records: ring/counts.h */
	uint32_t next_id;
	uint64_t rules_generation;
	unsigned char *rules; /* private copy of the file; behind it, in the same mapping: */
	struct wm_session_rule *rule;
	size_t rules_bytes;
	uint32_t nr_rules;
	uint64_t matched[WM_RULES_NR_MAX / 64], unfit[WM_RULES_NR_MAX / 64]; /* as in SYNCED */
	char folder[WM_FOLDER_MAX];
	unsigned char *out; /* messages not sent yet */
	size_t out_bytes, out_room;
	bool hidden;            /* in a child: an emit may still end in what the pool was */
	uint64_t socket_inode;  /* ours only while this is what the descriptor names */
	uint64_t missing_field; /* events a glob matched that lack the filter's field, */
	uint64_t missing_told;  /* as the recorder knows it */
};

/* What one recorder gets of one event. */
struct wm_plan_slot {
	bool on;
	uint16_t id;
	uint32_t contexts;
	uint32_t nr_filters; /* 0: everything passes; else any of them */
	const struct wm_filter *filter[WM_FILTERS_MAX];
};

struct wm_probe {
	void (*fn)(void);
	void *data;
};

/*
 * A kind of plan.quick beside those of filters: nothing is asked, the count at
 * `offset` of the chunk of this thread's writer goes up by one.
 */
#define WM_QUICK_COUNT 4u
_Static_assert(WM_QUICK_COUNT > WM_FILTER_QUICK_W8, "a kind of its own");

/* What an event does when it is hit the complex way. Immutable once published. */
struct wm_plan {
	struct wm_filter_quick quick; /* first: entry_*.S looks; kind 0: nothing quick to say */
	struct wm_plan *next_retired;
	bool keep;    /* never freed: a module that went may still lead here */
	size_t bytes; /* of this mapping */
	uint32_t nr_probes;
	const struct waymark_desc *mark; /* a marker's or span's: wm_mark_run() serves the probes */
	struct wm_plan_slot slot[WM_SLOTS];
	struct wm_probe probe[WM_PROBES_MAX];
	/* linked filters follow */
};

struct wm_runtime {
	uint32_t ready;
	uint32_t pid;     /* whose memory this is; a vfork child sees another getpid() */
	uint32_t refused; /* sites with bytes that are not ours */
	uint32_t nr_events;
	uint64_t early; /* events before any pool, since the last HELLO */
	struct wm_module *modules;
	struct wm_event_entry *events, **hash;
	struct wm_session session[WM_SLOTS];
	struct wm_registration *probes;
	bool agent_runs;
	uint32_t agent_tid; /* not 0 until the kernel has ended it; a futex */
	char sessions_env[1024];
};

extern struct wm_runtime wm_rt WM_HIDDEN;
extern struct wm_control waymark_control;

/* lock.c */
void wm_lock(void);
bool wm_try_lock(void); /* wm_rt.ready only, as all here */
void wm_unlock(void);
void wm_lock_wait(unsigned ms); /* until it is free, or that long */

/* arena.c: memory that lives as long as the process; no free */
void *wm_keep(size_t bytes);

/* plan.c: what events do when hit, from rules and probes. Locked. */
void wm_plan_update_all(void);
void wm_plan_update_module(struct wm_module *m);
void wm_plan_drop_module(struct wm_module *m); /* it is being unloaded */
void wm_plan_update_event(struct wm_event_entry *e);
void wm_plan_restore(void); /* what a tool switched on from outside and nobody wants */
void wm_plan_links_lost(struct wm_module *m); /* it was unloaded: its linked markers' probes go */

/* session.c. Locked. */
int wm_session_join(const char *folder, size_t bytes, uint32_t flags);
void wm_session_leave(unsigned slot, bool say_bye);
int wm_session_read_rules(struct wm_session *s);
void wm_session_forked(void); /* forgets the parent's, joins the same anew */
void wm_session_hide(void);   /* private memory in place of the pools: see wm_thread_after_fork() */
/* Asks nobody whether the socket is still ours, as wm_session_is_deaf() does: once an update. */
bool wm_session_announce(struct wm_session *s, const struct wm_event_entry *e, uint32_t id,
			 uint32_t contexts);
int wm_session_flush(struct wm_session *s); /* before what was announced is enabled */
void wm_session_module(const struct wm_module *m, bool unload);
void wm_session_synced(struct wm_session *s);
void wm_session_all_synced(void);
void wm_session_counts(void); /* tells the recorders of events that no filter fits */
bool wm_session_is_deaf(struct wm_session *s); /* the program closed our socket */

/* agent.c */
int wm_agent_start(void);
void wm_agent_stop_in_child(void);

/* enable.c: starts a recorder for this process. Constructor, unlocked. */
void wm_enable_from_environment(const char *globs);

/* probe.c: the callbacks registered for an event. Locked. */
uint32_t wm_probe_fill(const struct wm_event_entry *e, struct wm_probe *ret, uint32_t most);

/* clock in the gate, when the session does not run on cycles */
uint64_t wm_clock_now(uint32_t kind);
void wm_clock_init(void);

/* runtime.c */
bool wm_runtime_ready(void);
intptr_t wm_writer_offset(void);
void wm_runtime_forked(void); /* in a child's first slow path */
void wm_runtime_attach_check(void);

/* C ends of the entries; see entry_*.S for who calls them */
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
bool wm_chunk_next(struct wm_session *s, struct waymark_writer *w, struct wm_level *l,
		   const struct wm_thread *t, unsigned level);
/* The same for a session that counts: a chunk that reaches behind `at`. */
bool wm_counts_next(struct wm_session *s, struct waymark_writer *w, struct wm_level *l,
		    const struct wm_thread *t, unsigned level, uint32_t at);

#endif
