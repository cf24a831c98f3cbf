/* SPDX-License-Identifier: MIT */
/*
 * member_int.h - shared by member.c (a process's connection) and member_message.c (its messages).
 * For those two files only.
 */
#ifndef WM_CONTROL_SESSION_MEMBER_INT_H
#define WM_CONTROL_SESSION_MEMBER_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/session/member.h"
#include "ring/pool.h"

struct wm_app {
	const struct wm_app_host *host;
	void *owner;
	int sock, pidfd; /* -1: closed or not present */
	struct wm_watch *sock_watch, *pid_watch;
	enum wm_app_state state;
	uint32_t pid, uid, vpid, flags;
	bool joined; /* whether a valid HELLO was received */
	bool dead;
	bool pool_waits; /* the pool is open, but has not been handed to the pump yet */
	struct wm_pool pool;
	dev_t pool_dev;
	ino_t pool_ino;
	struct wm_producer *producer;
	struct wm_pump_source *source;
	uint64_t allowance;    /* number of messages that the process may still send */
	uint64_t allowance_ns; /* time when the allowance was last raised */
	uint64_t filtered_missing;
	struct wm_msg_synced synced;
	bool pump_fault;
	char violation[192]; /* the reason for the quarantine; "": none */
};

/* One received message: `bytes` equals h.bytes and is at least the size of the type's structure. */
struct wm_app_message {
	const unsigned char *data;
	size_t bytes;
	int fd; /* the descriptor that came with it, or -1; a function that takes it sets -1 */
};

/*
 * Quarantines the process for `what`, which the user sees after "it broke the protocol: ". Returns
 * -EBADMSG. The first reason is kept.
 */
int wm_app_violate(struct wm_app *a, const char *what);

/* Like wm_app_violate(), for a reason that is not the process's fault, such as lack of memory. */
int wm_app_refuse(struct wm_app *a, const char *why);

/*
 * Checks a message and handles it. Returns 0, or -EBADMSG after wm_app_violate() or
 * wm_app_refuse().
 */
int wm_app_dispatch(struct wm_app *a, struct wm_app_message *m);

#endif
