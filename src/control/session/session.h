/* SPDX-License-Identifier: MIT */
/*
 * session.h - the session folder, through which traced processes find a recorder.
 *
 *   BASE/ID/rules   the rules that select events (written by control/rules.h)
 *   BASE/ID/sock    listening SOCK_SEQPACKET
 *   BASE/ID/lock    flock'ed by the process that serves the session, so that a
 *                   folder whose owner was killed is recognized
 *
 * BASE is $XDG_RUNTIME_DIR/waymark-UID if the user owns that folder and the socket's name fits in a
 * sockaddr_un, else /tmp/waymark-UID; in a user namespace, UID is the id outside of it. ID is 24
 * random hexadecimal digits. Both are 0700. Root's are 0711 and the files readable, because a
 * program recorded by root may change its user: any process that knows the ID can join such a
 * session, which means processes that inherited it.
 *
 * A folder that another user owns or can write to, or that is a symbolic link, is refused, never
 * repaired.
 */
#ifndef WM_CONTROL_SESSION_SESSION_H
#define WM_CONTROL_SESSION_SESSION_H

#include <stdbool.h>

#include "base/diag.h"

#define WM_SESSION_PATH_MAX 108u /* sizeof(sockaddr_un.sun_path) */

struct wm_session {
	char path[WM_SESSION_PATH_MAX]; /* the folder's path, which contains no ':' */
	int dirfd, listen_fd, lock_fd;  /* -1: not open */
	unsigned file_mode;             /* mode of DIR/rules */
};

/*
 * Creates a folder with a listening socket, and removes folders beside it whose owners have exited.
 * `runtime_dir` is $XDG_RUNTIME_DIR (NULL: not set); tests replace /tmp with `fallback` (NULL:
 * /tmp).
 */
int wm_session_create(const char *runtime_dir, const char *fallback, struct wm_session *ret,
		      struct wm_diag *diag);

/*
 * Removes the folder: no more processes can join, but those that have joined stay. May be called
 * twice.
 */
void wm_session_remove(struct wm_session *s);

/* Closes the descriptors but keeps the folder. */
void wm_session_done(struct wm_session *s);

/* Connects to the socket in the folder at `path`. Returns a descriptor or -errno. */
int wm_session_connect(const char *path);

#endif
