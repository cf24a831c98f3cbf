/* SPDX-License-Identifier: MIT */
/*
 * session.h - the session folder: where traced processes find a recorder.
 *
 *   BASE/ID/rules   what to enable (control/rules.h writes it)
 *   BASE/ID/sock    listening SOCK_SEQPACKET
 *   BASE/ID/lock    flock'ed by whoever serves the session, so that a folder
 *                   whose owner was killed can be told from a live one
 *
 * BASE is $XDG_RUNTIME_DIR/waymark-UID when that folder is ours and the
 * socket's name fits a sockaddr_un, else /tmp/waymark-UID; ID is 24 random
 * hexadecimal digits. Both are 0700. Root's are 0711 and the files readable,
 * because a program it records may change its user: there, whoever knows the
 * ID (the processes that inherited it) may join.
 *
 * A folder that is not ours, is writable by others or is a symbolic link is
 * refused, never repaired.
 */
#ifndef WM_CONTROL_SESSION_SESSION_H
#define WM_CONTROL_SESSION_SESSION_H

#include <stdbool.h>

#include "base/diag.h"

#define WM_SESSION_PATH_MAX 108u /* sizeof(sockaddr_un.sun_path) */

struct wm_session {
	char path[WM_SESSION_PATH_MAX]; /* of the folder; no ':' in it */
	int dirfd, listen_fd, lock_fd;  /* -1: none */
	unsigned file_mode;             /* for DIR/rules */
};

/*
 * Creates a folder with its socket listening, and removes folders beside it
 * whose owners are gone. `runtime_dir` is $XDG_RUNTIME_DIR (NULL: none),
 * `fallback` stands in for /tmp in tests (NULL: /tmp).
 */
int wm_session_create(const char *runtime_dir, const char *fallback, struct wm_session *ret,
		      struct wm_diag *diag);

/* Takes the folder away: nobody can join any more; who has joined stays. May be called twice. */
void wm_session_remove(struct wm_session *s);

/* Closes the descriptors, leaves the folder. */
void wm_session_done(struct wm_session *s);

/* Connects to the socket of the folder at `path`; a descriptor or -errno. */
int wm_session_connect(const char *path);

#endif
