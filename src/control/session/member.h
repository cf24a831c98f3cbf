/* SPDX-License-Identifier: MIT */
/*
 * member.h - one connected process of a session: from its connection over HELLO,
 * MODULE and EVENT to its end.
 *
 *   NEW --HELLO--> JOINED --BYE, death, exec, violation--> ENDED
 *
 * Callbacks of the loop (which may run in the middle of a pump's round, see
 * wm_pump_options.before_write) only read messages and tell the trace writer;
 * what changes the pump's set of sources waits for wm_app_settle().
 *
 * Everything a process sends is hostile. Whatever breaks the protocol
 * quarantines that process: its connection is closed, what it committed until
 * then is kept, nobody else notices. A closed connection alone does not end a
 * process that lives and still maps its pool (it may have called closefrom):
 * its events are recorded until it dies.
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
 * Messages a process may send at once (one for each of 65536 ids, and as many
 * for modules), and how fast that allowance comes back. A program that loads
 * and unloads libraries all the time stays below.
 */
#define WM_APP_MESSAGES_MAX        131072u
#define WM_APP_MESSAGES_PER_SECOND 50000u

struct wm_app;

enum wm_app_state { WM_APP_NEW, WM_APP_JOINED, WM_APP_ENDED };

/* What the processes of one session have in common; outlives them. */
struct wm_app_host {
	struct wm_loop *loop;
	struct wm_trace_writer
	    *writer; /* NULL: the session counts, see control/counting/program_counts.h */
	const struct wm_rules *rules;
	unsigned char *buffer; /* WM_MSG_MAX bytes */
	/* An event was announced and will be recorded, or counted, by that id. */
	void (*on_event)(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data);
	/* A first message that is no HELLO, of a type from WM_MSG_TOOL on; its length is right. */
	void (*on_tool)(struct wm_app *a, const void *message, size_t bytes, void *data);
	void *data;
};

/* Takes the accepted socket over (also on failure). `owner` is the caller's, for wm_app_owner(). */
int wm_app_create(const struct wm_app_host *host, int sock, void *owner, struct wm_app **ret);
void *wm_app_owner(const struct wm_app *a);
void wm_app_destroy(struct wm_app *a); /* accepts NULL; no pump must know it: settle first */

/*
 * Between rounds: hands a new pool to the pump, takes an ended process from
 * it; without a pump (NULL) the pool stays where wm_app_pool() finds it. Returns 1 when nothing
 * more will come from it and it may be destroyed, else 0, or -errno (it is then ENDED, and gone
 * from the pump).
 */
int wm_app_settle(struct wm_app *a, struct wm_pump *pump);

/* Sends a message that is nothing but its type; a full socket is not waited for. */
int wm_app_send(struct wm_app *a, uint32_t type);
int wm_app_reply(struct wm_app *a, const void *message, size_t bytes);

/* The pool of a process that counts, until it is destroyed; NULL: it has none. */
struct wm_pool *wm_app_pool(struct wm_app *a);

/*
 * In the pump's before_write: when there is something of this process to write,
 * reads what it had said until here, and no more than a socket holds: one that
 * never stops talking holds nobody up. Of one that counts at any time.
 */
void wm_app_catch_up(struct wm_app *a);

/* From now on the process is as if it had said BYE. */
void wm_app_end(struct wm_app *a);

enum wm_app_state wm_app_state(const struct wm_app *a);
uint32_t wm_app_pid(const struct wm_app *a);
uint32_t wm_app_uid(const struct wm_app *a);
bool wm_app_has_joined(const struct wm_app *a); /* said a good HELLO, whatever came later */
uint32_t wm_app_flags(const struct wm_app *a);  /* of its HELLO: WM_HELLO_* */
bool wm_app_hears(const struct wm_app *a);      /* its socket is open */
/* What it last said of its rules; generation 0: nothing yet. All hostile numbers. */
const struct wm_msg_synced *wm_app_synced(const struct wm_app *a);
/* Events that matched a glob but lack a field of its filter. */
uint64_t wm_app_filtered_missing(const struct wm_app *a);
/* Why it was quarantined; NULL: it was not. */
const char *wm_app_violation(const struct wm_app *a);
/* It was the pump that found it, in shared memory, and counted it. */
bool wm_app_pump_fault(const struct wm_app *a);

#endif
