/* SPDX-License-Identifier: MIT */
/*
 * member.h - a process connected to a session, from its connection and its HELLO, MODULE and EVENT
 * messages to its end.
 *
 *   NEW --HELLO--> JOINED --BYE, death, exec, violation--> ENDED
 *
 * The loop's callbacks, which may run during a pump's round (see wm_pump_options.before_write),
 * only read messages and inform the trace writer; changes to the pump's set of sources wait for
 * wm_app_settle().
 *
 * Everything a process sends is hostile. A protocol violation quarantines the process: its
 * connection is closed, the data it has committed so far is kept, other processes are not affected.
 * A closed connection alone does not end a process that is alive and still maps its pool (it may
 * have called closefrom): its events are recorded until it dies.
 */
#ifndef WM_CONTROL_SESSION_MEMBER_H
#define WM_CONTROL_SESSION_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/loop.h"
#include "collect/pump.h"
#include "control/rules.h"
#include "runtime/agent.h"

/*
 * The number of messages that a process may send at once (one for each of 65536 ids, and as many
 * for modules), and how fast this allowance is refilled. Even a program that continuously loads and
 * unloads libraries stays below it.
 */
#define WM_APP_MESSAGES_MAX        131072u
#define WM_APP_MESSAGES_PER_SECOND 50000u

struct wm_app;

enum wm_app_state { WM_APP_NEW, WM_APP_JOINED, WM_APP_ENDED };

/* The state that all of a session's processes share. It outlives them. */
struct wm_app_host {
	struct wm_loop *loop;
	struct wm_trace_writer
	    *writer; /* NULL: the session counts; see control/counting/program_counts.h */
	const struct wm_rules *rules;
	unsigned char *buffer; /* WM_MSG_MAX bytes */
	/*
	 * Called when an event has been announced that will be recorded, or counted, with that id.
	 */
	void (*on_event)(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
	/*
	 * Called for a first message other than HELLO, with a type >= WM_MSG_TOOL; its length has
	 * been checked.
	 */
	void (*on_tool)(struct wm_app *a, const void *message, size_t bytes, void *data);
	void *data;
};

/* Takes ownership of the accepted socket, even on failure. wm_app_owner() returns `owner`. */
int wm_app_create(const struct wm_app_host *host, int sock, void *owner, struct wm_app **ret);
void *wm_app_owner(const struct wm_app *a);
/* Accepts NULL; settle first, because a pump may still be using it. */
void wm_app_destroy(struct wm_app *a);

/*
 * Call it between rounds: hands a new pool to the pump, or removes an ended process from it.
 * Without a pump (NULL) the pool stays available from wm_app_pool(). Returns 1 when the process is
 * finished and may be destroyed, else 0, or -errno (it is then ENDED and removed from the pump).
 */
int wm_app_settle(struct wm_app *a, struct wm_pump *pump);

/* Sends a message without a body; does not wait when the socket is full. */
int wm_app_send(struct wm_app *a, uint32_t type);
int wm_app_reply(struct wm_app *a, const void *message, size_t bytes);

/* The pool of a counting process, valid until the process is destroyed; NULL: no pool. */
struct wm_pool *wm_app_pool(struct wm_app *a);

/*
 * Call it in the pump's before_write; for a counting process, at any time. If this process has data
 * to write, reads the messages that it sent before, but at most as many as a socket holds, so that
 * a process that keeps sending cannot delay the pump.
 */
void wm_app_catch_up(struct wm_app *a);

/*
 * Call it from time to time. When each of the process's own threads has exited by itself, without
 * exit_group(2), the agent is the last thread, and the process would never end: tells the agent to
 * leave.
 */
void wm_app_release(struct wm_app *a);

/* Treats the process as if it had sent BYE. */
void wm_app_end(struct wm_app *a);

enum wm_app_state wm_app_state(const struct wm_app *a);
uint32_t wm_app_pid(const struct wm_app *a);
uint32_t wm_app_uid(const struct wm_app *a);
bool wm_app_has_joined(const struct wm_app *a); /* whether it ever sent a valid HELLO */
uint32_t wm_app_flags(const struct wm_app *a);  /* flags in its HELLO: WM_HELLO_* */
bool wm_app_hears(const struct wm_app *a);      /* whether its socket is open */
/* Its last SYNCED message; generation is 0 if there was none. The numbers are not trusted. */
const struct wm_msg_synced *wm_app_synced(const struct wm_app *a);
/* Number of events that matched a glob but lack a field in its filter. */
uint64_t wm_app_filtered_missing(const struct wm_app *a);
/* Why the process was quarantined; NULL: it was not. */
const char *wm_app_violation(const struct wm_app *a);
/* Whether the pump found (and counted) the violation in shared memory. */
bool wm_app_pump_fault(const struct wm_app *a);

#endif
